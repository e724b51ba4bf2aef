"""A curve of one run that others are drawn over: a comparison puts those of one title together."""

from collections.abc import Callable
from dataclasses import dataclass

from teijo.document.model import Axis, Style, Table, Value


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What a comparison draws of a run: points on two axes.

    `table` gives what it prints of a run of this name where that is not just the points: its
    first column says where a row belongs.
    Of curves that `tracks` steady state only the first is drawn that every run has.
    """

    title: str
    x: Axis
    y: Axis
    points: tuple[tuple[Value, float | None], ...]
    style: Style = "line and points"
    table: Callable[[str], Table] | None = None
    note: str = ""
    tracks: bool = False
