"""Drives of a fleet without a device: records whose rates are drawn, and drives made by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from teijo.analysis.drive_changes import TEMPERATURE
from teijo.analysis.quantities import IOPS
from teijo.compare.fleet.drive import Drive, Key, Value
from teijo.document.grid import Figure
from teijo.document.phrase import Verbatim
from teijo.terms.provenance import GroupName
from teijo.terms.reading import Reading
from teijo.terms.record import Record
from tests.compare import drawn

ZERO_CELSIUS_K = 273
_NAMES = {"host", "firmware", "slot"}


def record(
    number: int,
    *,
    iops: float = 10_000,
    scatter: float = 0.01,
    host: str = "h1",
    firmware: str = "F1",
    fleet: str = "spring",
    celsius: int | None = None,
    test: str = "iops",
    environment: Mapping[str, str] | None = None,
) -> Record:
    """Return a whole run of a drive of a fleet."""
    made = drawn.record(
        number,
        test=test,
        iops=iops,
        scatter=scatter,
        identity=drawn.drive(serial=f"S{number:03}", firmware=firmware),
    )
    group = {GroupName.FLEET: fleet, GroupName.HOST: host, GroupName.DRIVE: f"bay-{number:02}"}
    readings = []
    if celsius is not None:
        counters = {TEMPERATURE: celsius + ZERO_CELSIUS_K}
        readings.append(Reading(step=1, at_ns=0, cost_ns=1, counters=counters))
    return replace(
        made,
        run=replace(made.run, group={name: value for name, value in group.items() if value}),
        environment={**made.environment, **(environment or {})},
        readings=tuple(readings),
    )


def keys(count: int = 6, figure: Figure = IOPS) -> list[Key]:
    """Return keys of so many places of one test."""
    return [
        Key(test="iops", place=Verbatim(f"RND {2**at} KiB 0/100"), figure=figure)
        for at in range(count)
    ]


def drive(number: int, values: Mapping[Key, float], **changes: object) -> Drive:
    """Return a drive with these figures, made by hand."""
    made = Drive(
        file=Verbatim(f"d{number:04}.teijo"),
        run_id=f"run-{number}",
        name=Verbatim(f"bay-{number:04}"),
        serial=Verbatim(f"S{number:04}"),
        fleet=Verbatim("spring"),
        host=Verbatim(f"h{number % 4}"),
        slot=Verbatim(""),
        firmware=Verbatim("F1"),
        temperature_c=None,
        method=Verbatim("pts.iops"),
        started_at=f"2026-11-{1 + number % 28:02}T10:00:00+00:00",
        ending="steady",
        is_whole=True,
        steps=100,
        rounds=8,
        converged=True,
        simulated=False,
        conditions={("", "model"): "Example Drive", ("iops", "oio"): "32"},
        values={key: Value(value=value, resolution=0.0, by_round=True)
                for key, value in values.items()},
        headlines=frozenset(str(key.place) for key in list(values)[:3]),
        limits=(),
        remarks=(),
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


def fleet_of(
    count: int,
    *,
    seed: int = 1,
    places: int = 6,
    scatter: float = 0.01,
    factors: Mapping[int, float] | None = None,
    changes: Sequence[Mapping[str, object]] = (),
) -> list[Drive]:
    """Return drives whose levels scatter; `factors` multiply the figures of single ones."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        level = (factors or {}).get(number, 1.0) * float(np.exp(scatter * rng.standard_normal()))
        values = {
            key: 1_000 * (at + 1) * level * float(np.exp(0.2 * scatter * rng.standard_normal()))
            for at, key in enumerate(keys(places))
        }
        more = {
            name: Verbatim(value) if name in _NAMES and isinstance(value, str) else value
            for name, value in (changes[number] if number < len(changes) else {}).items()
        }
        found.append(drive(number, values, **more))
    return found
