"""The parts of a document. Numbers stay numbers here; a printer gives them ink and digits."""

from dataclasses import dataclass
from typing import Literal

Value = str | float | int | None
"""A table's cell: text, a number (printed to the column's digits), or None (not available)."""

Tone = Literal["dut", "preparation", "test", "steady", "plain"]
"""Colour family of a header group, as the PTS whitepaper paints them."""

Scale = Literal["linear", "log", "category"]
Style = Literal["line", "points", "line and points", "dashed", "bars"]


@dataclass(frozen=True, kw_only=True)
class HeaderGroup:
    """One titled column pair of the page header."""

    title: str
    tone: Tone
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Header:
    """The header of every page (PTS whitepaper figure 6, and the 2.0 layout)."""

    title: str
    subtitle: str
    organisation: str
    revision: str
    top: tuple[tuple[str, str], ...]
    groups: tuple[HeaderGroup, ...]
    stamp: str = ""
    """A word every page must show: "NON-CONFORMING", "SIMULATED DEVICE" …"""


@dataclass(frozen=True, kw_only=True)
class Column:
    """A table's column. `digits` after the point for numbers; text columns are left-aligned."""

    name: str
    unit: str = ""
    digits: int | None = None


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of values. `marked` are (row, column) places to point out; `folded` says that a printer
    should keep it out of the way where it can (behind a fold, in an appendix).
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    caption: str = ""
    marked: tuple[tuple[int, int], ...] = ()
    folded: bool = False

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), "a cell for each column"
        assert all(
            0 <= row < len(self.rows) and 0 <= column < len(self.columns)
            for row, column in self.marked
        ), "marks lie in the table"


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One axis: its name, its only unit, its scale. Categories make it a band axis."""

    name: str
    unit: str = ""
    scale: Scale = "linear"
    from_zero: bool = True


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line, one set of points, or bars. x and y have one length; y may hold None (a break).

    Bars are over categories, and then all of a chart's series are bars. `spread` is (low, high)
    of each y, drawn through it as an upright stroke: its interval; empty for none.
    """

    name: str
    x: tuple[Value, ...]
    y: tuple[float | None, ...]
    style: Style = "line and points"
    spread: tuple[tuple[float, float] | None, ...] = ()

    def __post_init__(self) -> None:
        assert len(self.x) == len(self.y), "an x for each y"
        assert len(self.spread) in (0, len(self.y)), "an interval for each y"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A level drawn across the chart (average, the 110 % line), or up it (`at="x"`)."""

    name: str
    value: float
    at: Literal["y", "x"] = "y"
    style: Literal["solid", "dashed", "dotted"] = "dashed"


@dataclass(frozen=True, kw_only=True)
class Span:
    """A stretch of the x axis to shade (the measurement window)."""

    name: str
    first: float
    last: float


@dataclass(frozen=True, kw_only=True)
class XYChart:
    """Series over one pair of axes. `table` holds all that is drawn, as numbers."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    table: Table
    rules: tuple[Rule, ...] = ()
    spans: tuple[Span, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        names = [series.name for series in self.series]
        assert len(set(names)) == len(names), "a chart's series have different names"
        bars = [series.style == "bars" for series in self.series]
        assert not any(bars) or (all(bars) and self.x.scale == "category"), "bars by category"


@dataclass(frozen=True, kw_only=True)
class Bars3D:
    """A matrix as bars: values[row][column] over two category axes. `table` is its twin."""

    title: str
    rows: Axis
    row_places: tuple[str, ...]
    columns: Axis
    column_places: tuple[str, ...]
    z: Axis
    values: tuple[tuple[float | None, ...], ...]
    table: Table

    def __post_init__(self) -> None:
        assert len(self.values) == len(self.row_places), "a row of values for each row place"
        assert all(len(row) == len(self.column_places) for row in self.values), "and a column"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Names and values, one pair a line."""

    rows: tuple[tuple[str, str], ...]
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """A few sentences."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The answer in one line, good, bad or neutral: "STEADY STATE: YES, rounds 1–5"."""

    text: str
    good: bool | None


@dataclass(frozen=True, kw_only=True)
class Note:
    """One remark with what to do about it."""

    kind: str
    text: str
    remedy: str
    step: int | None = None


@dataclass(frozen=True, kw_only=True)
class Headline:
    """A chart of a later section shown beside the verdict, without its table and note."""

    chart: XYChart


Block = Table | XYChart | Bars3D | Headline | Facts | Paragraph | Verdict | Note


@dataclass(frozen=True, kw_only=True)
class Section:
    """One page's worth of the report. `label` is the plot's place in the standard's order.

    `header` is on its pages instead of the document's, where a report is made of several
    tests. `appendix` marks what all methods add at the end: settings, device, every step.
    """

    title: str
    blocks: tuple[Block, ...]
    label: str = ""
    header: Header | None = None
    appendix: bool = False


@dataclass(frozen=True, kw_only=True)
class Document:
    """A whole report. `name` is its file name without an ending."""

    name: str
    header: Header
    sections: tuple[Section, ...]
