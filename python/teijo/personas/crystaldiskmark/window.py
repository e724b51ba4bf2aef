"""CrystalDiskMark's window in a terminal: its rows and columns, filled as the passes end."""

from collections.abc import Sequence
from typing import Final

from teijo import units
from teijo.methods.classic.crystaldiskmark.rows import Column, Like, Place, Row
from teijo.terms.step import Idle, Measure, Step

_NAME_WIDTH: Final = 14
_CELL_WIDTH: Final = 14
_WIDTH_MOST: Final = 72
_HEADINGS: Final[dict[Column, str]] = {"read": "Read", "write": "Write", "mix": "Mix"}


class Window:
    """What the window shows; it is drawn again over itself, and knows how high it was."""

    def __init__(
        self, *, like: Like, version: str, places: Sequence[Place], top: str, passes: int
    ) -> None:
        """Begin with empty cells. `top` is the line of what is chosen: passes, size, drive."""
        self._like = like
        self._version = version
        self._places = {place.name: place for place in places}
        self._columns = tuple(dict.fromkeys(place.column for place in places))
        self._rows = tuple(dict.fromkeys(place.row for place in places))
        self._top = top
        self._passes = passes
        self._best: dict[tuple[Row, Column], float] = {}
        self._doing = ""
        self._height = 0

    def begin(self, step: Step) -> None:
        """Show what is done now, as the original's title does."""
        match step:
            case Idle():
                self._doing = f"Interval Time {step.duration_ns // units.NS_PER_S} sec"
            case Measure(cell=str(cell)) if cell in self._places:
                place = self._places[cell]
                what = f"{row_name(place.row)} {_HEADINGS[place.column]}"
                number = step.round_number
                self._doing = (
                    f"Preparing... {what}"
                    if number is None
                    else f"{what} [{number}/{self._passes}]"
                )
            case _:
                self._doing = "Preparing... Create Test File"

    def told(self, cell: str, mb_s: float) -> None:
        """Show a pass's rate where it is the best so far."""
        place = self._places.get(cell)
        if place is not None:
            key = (place.row, place.column)
            self._best[key] = max(mb_s, self._best.get(key, 0.0))

    def end(self) -> None:
        """Show that nothing is done any more."""
        self._doing = ""

    def drawn(self) -> str:
        """Return the text that draws the window over the one before."""
        lines = self._lines()
        up = f"\x1b[{self._height}A" if self._height else ""
        self._height = len(lines)
        return up + "".join(f"\x1b[2K{line}\n" for line in lines)

    def _lines(self) -> list[str]:
        edge = "+" + "-" * _NAME_WIDTH + ("+" + "-" * _CELL_WIDTH) * len(self._columns) + "+"
        headings = [f"{_HEADINGS[column]} [MB/s]" for column in self._columns]
        title = f"CrystalDiskMark {self._version}"
        if self._doing:
            title += f"  {self._doing}"
        lines = [title[:_WIDTH_MOST], self._top[:_WIDTH_MOST], edge, _line("All", headings), edge]
        for row in self._rows:
            cells = [
                "" if (row, column) not in self._best else self._number(self._best[row, column])
                for column in self._columns
            ]
            lines.append(_line(row_name(row), cells))
        return [*lines, edge]

    def _number(self, mb_s: float) -> str:
        if self._like == "8":
            return f"{mb_s:.2f}"
        # Versions 3 and 5 have room for four digits.
        return f"{mb_s:.1f}" if mb_s >= 100 else f"{mb_s:.2f}" if mb_s >= 10 else f"{mb_s:.3f}"


def _line(name: str, cells: Sequence[str]) -> str:
    inner = "".join(f"|{cell:>{_CELL_WIDTH - 1}} " for cell in cells)
    return f"| {name:<{_NAME_WIDTH - 1}}{inner}|"


def row_name(row: Row) -> str:
    """Return a row as the window names it: "SEQ1M Q8T1"."""
    kib = row.block_size_bytes // 1024
    size = f"{kib // 1024}M" if kib >= 1024 else f"{kib}K"
    return f"{row.order}{size} Q{row.queue_depth}T{row.threads}"
