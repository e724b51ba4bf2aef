"""How a report says the volumes and times of a device that is simulated at a scale: one rule.

They are printed as measured on the device at hand. What is the full-size drive's instead says "at
full size". The rule is on page one of every such report.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final, TypeVar

from teijo import units
from teijo.document.model import Axis, Bars3D, Block, Column, Paragraph, Section, Table, XYChart
from teijo.document.phrase import say
from teijo.terms.finding import Scalar
from teijo.terms.geometry import Geometry

NOT_AVAILABLE: Final = "n/a"
Measured = TypeVar("Measured", Axis, Column)
"""What has a unit."""

_STUDY_RULE: Final = (
    "One exception: the volumes and times in the sentences and settings of this study are those "
    "of the drive it stands for, at full size."
)


def scale_rule(geometry: Geometry) -> Paragraph | None:
    """Return the rule that a report's volumes and times follow; None on a device at full size."""
    if geometry.scale <= 1:
        return None
    text = say(
        "Scale 1:{scale:.3g}: the simulated drive has {own} and stands for one of {nominal}. "
        "Volumes and times are as measured on it. Those that say “at full size”, and the "
        "standard's own numbers in the names of steps and settings (idle 5 s), are of the drive "
        "it stands for, {scale:.3g} times as large. Rates and response times are the same for "
        "both.",
        scale=geometry.scale,
        own=units.format_capacity(geometry.capacity_bytes),
        nominal=units.format_capacity(geometry.nominal_capacity_bytes),
    )
    return Paragraph(text=text)


def with_rule(sections: Iterable[Section], geometry: Geometry) -> tuple[Section, ...]:
    """Return the sections with the rule after the first block of the first: the answer."""
    rule = scale_rule(geometry)
    return tuple(sections) if rule is None else _after_answer(sections, rule)


def _after_answer(sections: Iterable[Section], rule: Paragraph) -> tuple[Section, ...]:
    first, *others = sections
    return (replace(first, blocks=(*first.blocks[:1], rule, *first.blocks[1:])), *others)


def without_rule(section: Section, geometry: Geometry) -> Section:
    """Return a section without the rule, of a report whose first page has it already."""
    rule = scale_rule(geometry)
    return replace(section, blocks=tuple(block for block in section.blocks if block != rule))


def scalar_told(scalar: Scalar, form: str, geometry: Geometry) -> str:
    """Return a figure in a form (",.3f") with its unit; a volume has the full size beside it."""
    if scalar.value is None:
        return NOT_AVAILABLE
    own = f"{scalar.value:{form}} {scalar.unit}".strip()
    if geometry.scale <= 1 or scalar.unit != "GB":
        return own
    return say("{own} ({full:,.4g} GB at full size)", own=own, full=scalar.value * geometry.scale)


def both_sizes(name: str, unit: str, digits: int, *, scaled: bool) -> tuple[Column, ...]:
    """Return the column of a volume or a time; where a device is scaled, with its full size's."""
    own = Column(name=name, unit=unit, digits=digits)
    if not scaled:
        return (own,)
    return (own, replace(own, unit=say("{unit} at full size", unit=unit)))


def full_size(unit: str, geometry: Geometry) -> str:
    """Return the unit of a number that is the full-size drive's."""
    return unit if geometry.scale <= 1 else say("{unit} at full size", unit=unit)


def in_both_sizes(value: float, geometry: Geometry) -> tuple[float, ...]:
    """Return the cells of `both_sizes`."""
    return (value,) if geometry.scale <= 1 else (value, value * geometry.scale)


def with_full_size_word(told: str, geometry: Geometry) -> str:
    """Return a number of the full-size drive in a sentence: "5 s (at full size)"."""
    return told if geometry.scale <= 1 else say("{told} (at full size)", told=told)


def at_full_size(
    sections: Iterable[Section], geometry: Geometry, own: Collection[str]
) -> tuple[Section, ...]:
    """Return the sections of a study whose volumes and times are the full-size drive's.

    `own` are their units; each column and axis of them says so, and the first section says it of
    the sentences.
    """
    if geometry.scale <= 1:
        return tuple(sections)

    def unit(one: Measured) -> Measured:
        return replace(one, unit=full_size(one.unit, geometry)) if one.unit in own else one

    def table(one: Table) -> Table:
        return replace(one, columns=tuple(map(unit, one.columns)))

    def block(one: Block) -> Block:
        match one:
            case Table():
                return table(one)
            case XYChart():
                return replace(one, x=unit(one.x), y=unit(one.y), table=table(one.table))
            case _:
                assert not isinstance(one, Bars3D), "no study draws bars in depth"
                return one

    named = (replace(each, blocks=tuple(map(block, each.blocks))) for each in sections)
    return _after_answer(named, Paragraph(text=_STUDY_RULE))
