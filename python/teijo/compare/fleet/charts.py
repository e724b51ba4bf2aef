"""The plots of a fleet: a dot a drive, from the slowest to the fastest, or by what drives have in
common.
"""

from collections.abc import Sequence
from typing import Final

from teijo.compare.fleet.drive import Key
from teijo.compare.fleet.factors import Factor
from teijo.compare.fleet.findings import Fleet, value_of
from teijo.compare.fleet.tables import place_of
from teijo.document.grid import Figure
from teijo.document.model import Axis, Column, Rule, Series, Table, XYChart
from teijo.document.phrase import say

LEVEL: Final = Figure(name="All figures together, against the median", unit="%", digits=2)
GROUPS_DRAWN: Final = 24
_NAMED_SERIES: Final = 6
"""As many drives that differ have a colour of their own."""
Dot = tuple[int, float]
"""The place of a drive in the fleet, and its value."""


def level_chart(fleet: Fleet) -> XYChart:
    """Return the drives by their level."""
    dots = list(enumerate(fleet.level_percents))
    rules = (Rule(name="median", value=0.0, style="dotted"),)
    title = "The drives, all figures together"
    return _in_order(fleet, title, LEVEL, dots, rules)


def key_chart(fleet: Fleet, key: Key) -> XYChart:
    """Return the drives by one figure."""
    values = (value_of(each, key) for each in fleet.drives)
    dots = [(at, value) for at, value in enumerate(values) if value is not None]
    spread = next(each.distribution for each in fleet.spreads if each.key == key)
    names = ("lower quartile", "median", "upper quartile")
    rules = tuple(
        Rule(name=name, value=value, style="dotted")
        for name, value in zip(names, spread.quartiles, strict=True)
    )
    title = say("The drives by {place}", place=place_of(key, fleet))
    return _in_order(fleet, title, key.figure, dots, rules)


def _in_order(
    fleet: Fleet, title: str, figure: Figure, dots: Sequence[Dot], rules: tuple[Rule, ...]
) -> XYChart:
    """Return dots from the slowest drive to the fastest; those that differ have names."""
    ordered = sorted(dots, key=lambda dot: dot[1], reverse=not figure.more_is_faster)
    places = {at: place for place, (at, _) in enumerate(ordered, start=1)}
    values = dict(ordered)
    apart = [each.run_id for each in fleet.named_drives][:_NAMED_SERIES]
    named = {at: each.name for at, each in enumerate(fleet.drives) if each.run_id in apart}
    series = [_dots("drive", [at for at, _ in ordered if at not in named], places, values)]
    series += [_dots(name, [at], places, values) for at, name in named.items() if at in values]
    return XYChart(
        title=title,
        x=Axis(name="Drive, from the slowest to the fastest", from_zero=False),
        y=Axis(name=figure.name, unit=figure.unit, from_zero=False),
        series=tuple(each for each in series if each.x),
        table=Table(
            columns=(Column(name="Place", digits=0), Column(name="Drive"), figure.column()),
            rows=tuple((places[at], fleet.drives[at].name, value) for at, value in ordered),
            caption=title,
            folded=True,
        ),
        rules=rules,
    )


def _dots(
    name: str, drives: Sequence[int], places: dict[int, int], values: dict[int, float]
) -> Series:
    return Series(
        name=name,
        x=tuple(places[at] for at in drives),
        y=tuple(values[at] for at in drives),
        style="points",
    )


def group_chart(fleet: Fleet, factor: Factor) -> XYChart | None:
    """Return the drives' levels by their group, None where these are too many to be drawn."""
    names = [each.name for each in factor.groups]
    if not names or len(names) > GROUPS_DRAWN:
        return None
    dots = [
        (getattr(each, factor.name), each.name, percent)
        for each, percent in zip(fleet.drives, fleet.level_percents, strict=True)
        if getattr(each, factor.name) in names
    ]
    dots.sort(key=lambda dot: (names.index(dot[0]), dot[2]))
    title = say("The drives by {name}", name=factor.name)
    return XYChart(
        title=title,
        x=Axis(name=factor.name.capitalize(), scale="category"),
        y=Axis(name=LEVEL.name, unit=LEVEL.unit, from_zero=False),
        series=(
            Series(
                name="drive",
                x=tuple(dot[0] for dot in dots),
                y=tuple(dot[2] for dot in dots),
                style="points",
            ),
        ),
        table=Table(
            columns=(
                Column(name=factor.name.capitalize()),
                Column(name="Drive"),
                LEVEL.column(),
            ),
            rows=tuple(dots),
            caption=title,
            folded=True,
        ),
    )


def temperature_chart(fleet: Fleet) -> XYChart:
    """Return the drives' levels by their temperature."""
    dots = [
        (each.temperature_c, each.name, percent)
        for each, percent in zip(fleet.drives, fleet.level_percents, strict=True)
        if each.temperature_c is not None
    ]
    dots.sort(key=lambda dot: (dot[0], dot[2]))
    title = say("The drives by {name}", name="temperature")
    return XYChart(
        title=title,
        x=Axis(name="Hottest", unit="°C", from_zero=False),
        y=Axis(name=LEVEL.name, unit=LEVEL.unit, from_zero=False),
        series=(
            Series(
                name="drive",
                x=tuple(dot[0] for dot in dots),
                y=tuple(dot[2] for dot in dots),
                style="points",
            ),
        ),
        table=Table(
            columns=(
                Column(name="Hottest", unit="°C", digits=0),
                Column(name="Drive"),
                LEVEL.column(),
            ),
            rows=tuple(dots),
            caption=title,
            folded=True,
        ),
    )
