"""One drive of a fleet: what is kept of its run, so that a thousand runs need not be held."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from teijo import units
from teijo.analysis.drive_changes import TEMPERATURE
from teijo.compare.conditions import conditions_of
from teijo.compare.limit import Judged, recorded_limits
from teijo.compare.limits import judged
from teijo.document.grid import Figure
from teijo.document.phrase import Verbatim
from teijo.methods.parts import Part, found_in, parts_of
from teijo.terms.provenance import GroupName
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult

MODEL, CAPACITY = "model", "capacity"
"""Conditions of a fleet besides the settings: drives of one kind are compared."""
SLOT: Final = "slot"
"""The row of the environment that says where in its host a drive sits, where anybody knows."""
_UNKNOWN: Final = "unknown"
_BY_PATH: Final = "/by-path/"


@dataclass(frozen=True)
class Key:
    """Which figure of which test, and where: what all drives have one value of."""

    test: str
    place: str
    figure: Figure


@dataclass(frozen=True, kw_only=True)
class Value:
    """A drive's value of one figure. `resolution` is the share that one I/O is of it."""

    value: float
    resolution: float
    by_round: bool


@dataclass(frozen=True, kw_only=True)
class Drive:
    """One run of a drive, as a fleet's report needs it.

    `file` is where the run was read; `name` the drive's; what is not known of a drive is "" or
    None. `headlines` are the names of what the method's own summary shows. `steps` and `rounds`
    say how far the run came.
    """

    file: str
    run_id: str
    name: str
    serial: str
    fleet: str
    host: str
    slot: str
    firmware: str
    temperature_c: int | None
    method: str
    started_at: str
    ending: str
    is_whole: bool
    steps: int
    rounds: int
    converged: bool | None
    simulated: bool
    conditions: Mapping[tuple[str, str], str]
    values: Mapping[Key, Value]
    headlines: frozenset[str]
    limits: tuple[Judged, ...]
    remarks: tuple[Remark, ...]

    @property
    def identity(self) -> tuple[str, str]:
        """What is the same in all runs of one drive, and in none of another."""
        return (self.name, self.serial or f"{self.host} {self.slot}")

    @property
    def remark_kinds(self) -> tuple[RemarkKind, ...]:
        """The kinds of its remarks, each once, in order."""
        return tuple(dict.fromkeys(each.kind for each in self.remarks))


def drive_of(record: Record, file: str, asked: Iterable[str] = ()) -> Drive:
    """Return what a fleet's report needs of a run; `asked` are limits besides its own.

    Raises:
        PlanError: a text is no limit. TeijoError: the record is none that its method makes.
    """
    parts = parts_of(record)
    run, identity = record.run, record.identity
    limits = tuple(dict.fromkeys((*recorded_limits(record), *asked)))
    converged = {part.found.converged for part in parts} - {None}
    return Drive(
        file=Verbatim(file),
        run_id=run.id,
        name=Verbatim(run.group.get(GroupName.DRIVE) or identity.serial or identity.target),
        serial=Verbatim(identity.serial),
        fleet=Verbatim(run.group.get(GroupName.FLEET, "")),
        host=Verbatim(run.group.get(GroupName.HOST) or record.environment.get("host", "")),
        slot=Verbatim(slot_of(record)),
        firmware=Verbatim(identity.firmware),
        temperature_c=hottest_c(record),
        method=Verbatim(run.method),
        started_at=run.started_at,
        ending=run.ending,
        is_whole=run.is_whole,
        steps=len(record.steps),
        rounds=_rounds(record, parts),
        converged=None if not converged else all(converged),
        simulated=any(each.kind is RemarkKind.SIMULATED for each in record.remarks),
        conditions=_conditions(record, parts),
        values=_values(parts),
        headlines=frozenset(
            str(scalar.name) for part in parts for scalar in part.found.headlines
        ),
        limits=judged(record, limits),
        remarks=record.remarks,
    )  # fmt: skip


def in_order(name: str) -> list[tuple[str, int]]:
    """Return what names are sorted by: "host-9" stands before "host-10"."""
    parts = re.split(r"([0-9]{1,9})", name)
    return [
        (text, int(number or 0))
        for text, number in zip(parts[::2], [*parts[1::2], ""], strict=True)
    ]


def hottest_c(record: Record) -> int | None:
    """Return a drive's highest temperature while it was watched or between steps, in °C."""
    told: list[Mapping[str, int]] = [each.counters for each in record.readings]
    for each in record.steps:
        if isinstance(each.answer, StepResult):
            told += [each.answer.health_before, each.answer.health_after]
    kelvins = [each[TEMPERATURE] for each in told if TEMPERATURE in each]
    return max(kelvins) - units.ZERO_CELSIUS_KELVIN if kelvins else None


def slot_of(record: Record) -> str:
    """Return where in its host a drive sits: as was recorded, or by the path it was named by."""
    known = record.environment.get(SLOT, "")
    known = "" if known == _UNKNOWN else known
    _, by_path, name = record.identity.target.partition(_BY_PATH)
    return known or (name if by_path else "")


def _conditions(record: Record, parts: Sequence[Part]) -> dict[tuple[str, str], str]:
    """Return each condition by its test, "" for those of the whole run."""
    found = {
        ("", MODEL): record.identity.model,
        ("", CAPACITY): str(record.geometry.nominal_capacity_bytes),
    }
    for part in parts:
        found |= {(part.name, name): value for name, value in conditions_of(part).items()}
    return found


def _values(parts: Sequence[Part]) -> dict[Key, Value]:
    found: dict[Key, Value] = {}
    for part in parts:
        for one in part.found.quantities:
            key = Key(test=part.name, place=one.place, figure=one.figure)
            found[key] = Value(
                value=one.value, resolution=one.resolution, by_round=one.by_round
            )  # fmt: skip
    return found


def _rounds(record: Record, parts: Sequence[Part]) -> int:
    found: Any = found_in(record)
    return max([int(found.rounds), *(part.found.rounds for part in parts)])
