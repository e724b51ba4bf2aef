"""The design: every configuration once in each block, in an order drawn for it, and the control."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from teijo.document.phrase import Verbatim
from teijo.methods.studies.configuration import words
from teijo.methods.studies.configuration.settings import ConfigurationSettings
from teijo.methods.workload.settings import NamedStream
from teijo.terms.geometry import Geometry
from teijo.terms.step import Configure, Idle, Measure, Precondition, Purge, Step
from teijo.terms.workload import Access, ActiveRange, Stream, Workload
from teijo.units import KIB

AS_IT_IS = "as it is"
AGAIN = "again"
RAMP = "ramp"
MEASURE = "measure"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One configuration: `levels` are (factor, level), `place` its number among all, from 0."""

    place: int
    levels: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, str], ...]
    """(factor, the text of the level), as hooks and templates have it."""

    @property
    def name(self) -> str:
        """The levels in one line: "chunk=64KiB, cache=wb"."""
        named = ", ".join(f"{name}={level}" for name, level in self.levels)
        return Verbatim(named) if named else AS_IT_IS


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One measuring of a configuration: `number` in the order of all, `block`, both from 1.

    `copy` is the control's: the same configuration under a second name.
    """

    number: int
    block: int
    cell: Cell
    copy: bool

    @property
    def name(self) -> str:
        """The configuration, and that it is the control's copy where it is."""
        return f"{self.cell.name} ({AGAIN})" if self.copy else str(self.cell.name)


def cells_of(settings: ConfigurationSettings) -> tuple[Cell, ...]:
    """Return every configuration, the last factor's levels the fastest."""
    names = [name for name, _ in settings.factors]
    return tuple(
        Cell(
            place=place,
            levels=tuple((name, level) for name, (level, _) in zip(names, each, strict=True)),
            texts=tuple((name, text) for name, (_, text) in zip(names, each, strict=True)),
        )
        for place, each in enumerate(product(*(levels for _, levels in settings.factors)))
    )


def control_of(settings: ConfigurationSettings) -> Cell | None:
    """Return the configuration that is measured under two names, None for none."""
    cells = cells_of(settings)
    if settings.control == "none":
        return None
    if settings.control == "first":
        return cells[0]
    told = dict(words.levels_in(settings.control))
    return next(cell for cell in cells if dict(cell.levels) == told)


def visits_of(settings: ConfigurationSettings) -> tuple[Visit, ...]:
    """Return every visit in the order of measuring; the same settings, the same order."""
    control = control_of(settings)
    places = [(cell, False) for cell in cells_of(settings)]
    places += [] if control is None else [(control, True)]
    visits: list[Visit] = []
    for block in range(1, settings.repeats + 1):
        for cell, copy in sorted(places, key=lambda each: _lot(settings.shuffle, block, *each)):
            visits.append(Visit(number=len(visits) + 1, block=block, cell=cell, copy=copy))
    return tuple(visits)


def _lot(shuffle: int, block: int, cell: Cell, copy: bool) -> bytes:
    """Return a number drawn for a place in a block; sorted by it, the places are shuffled."""
    text = f"{shuffle}/{block}/{cell.place}/{copy}"
    return hashlib.blake2b(text.encode(), digest_size=16, person=b"teijo order").digest()


def configure_step(settings: ConfigurationSettings, visit: Visit) -> Configure:
    """Return what puts the device in a visit's configuration."""
    return Configure(
        settings=visit.cell.texts if settings.hook else visit.cell.levels,
        device=words.filled(settings.device, dict(visit.cell.texts)),
        hook=settings.hook,
        timeout_ns=settings.timeout_ns,
        round_number=visit.block,
        cell=visit.name,
    )


def steps_of(settings: ConfigurationSettings, visit: Visit, geometry: Geometry) -> Iterator[Step]:
    """Return what follows the configuration, on a device of this size: preparation, workloads."""
    if settings.purge == "on":
        yield Purge()
    fill_bytes = int(settings.precondition_times * geometry.capacity_bytes)
    if fill_bytes:
        yield Precondition(workload=_FILL, total_bytes=fill_bytes)
    for stream in settings.workloads:
        workload = Workload(streams=(_within(settings, stream),))
        cell = cell_name(visit, stream.name)
        if settings.rest_ns:
            yield Idle(duration_ns=settings.rest_ns, round_number=visit.block)
        for phase, length_ns in ((RAMP, settings.ramp_ns), (MEASURE, settings.duration_ns)):
            if length_ns:
                yield Measure(
                    workload=workload,
                    duration_ns=length_ns,
                    phase=phase,
                    round_number=visit.block,
                    cell=cell,
                )


def _within(settings: ConfigurationSettings, stream: NamedStream) -> Stream:
    share_percent = min(settings.range_percent, stream.active_range_percent)
    own = stream.stream(stream.name)
    return replace(own, active_range=ActiveRange(share_percent=share_percent))


def cell_name(visit: Visit, workload: str) -> str:
    """Return what a measurement is called: "chunk=64KiB, cache=wb: 4k-write"."""
    return f"{visit.name}: {workload}"


_FILL = Workload(
    streams=(
        Stream(
            name="fill",
            read_percent=0,
            block_size_bytes=128 * KIB,
            access=Access.SEQUENTIAL,
            queue_depth=32,
        ),
    )
)
