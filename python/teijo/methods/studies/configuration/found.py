"""What the study measures and finds: every configuration once in each block, in an order drawn for
it, and the control; what the rates say, and where a cache answered and not what lies behind it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final

import numpy as np

from teijo import units
from teijo.analysis import judged as judging
from teijo.analysis import measures
from teijo.analysis.judged import Choice, Effect, Judged, Rates
from teijo.document.phrase import Verbatim, say
from teijo.errors import PlanError
from teijo.methods.found import Found
from teijo.methods.studies.configuration import words
from teijo.methods.studies.configuration.settings import ConfigurationSettings
from teijo.methods.workload.settings import NamedStream
from teijo.terms.configured import facts_in, geometry_in
from teijo.terms.finding import Cell, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Configure, Measure
from teijo.terms.watch import Watch
from teijo.terms.workload import Access

_LARGE_BYTES: Final = 64 * units.KIB
MEASURE = "measure"
APART_SHARE: Final = 0.01
"""What the same settings differ by at least where no cache is in the way."""
TIMES_LEAST: Final = 2.0
"""How many times as fast as without it a cache is at least."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """One configuration: `levels` are (factor, level), `place` its number among all, from 0."""

    place: int
    levels: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, str], ...]
    """(factor, the text of the level), as hooks and templates have it."""

    @property
    def name(self) -> str:
        """The levels in one line: "chunk=64KiB, cache=wb"."""
        return Verbatim(", ".join(map("=".join, self.levels))) or "as it is"


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One measuring of a configuration: `number` in the order of all, `block`, both from 1.

    `copy` is the control's: the same configuration under a second name.
    """

    number: int
    block: int
    cell: Setup
    copy: bool

    @property
    def title(self) -> str:
        """The configuration, and that it is the control's copy where it is."""
        name = self.cell.name
        return say("{configuration} (again)", configuration=name) if self.copy else name

    @property
    def name(self) -> str:
        """The same, as steps have it: plain text."""
        return str(self.title)


@dataclass(frozen=True, kw_only=True)
class Visited:
    """One visit so far: the configured device, its sizes, and an answer for each workload."""

    visit: Visit
    configured: StepResult
    geometry: Geometry
    answers: tuple[StepResult, ...]

    @property
    def cache_bytes(self) -> float | None:
        """What the device's write cache says it holds, None where it says nothing."""
        facts = facts_in(self.configured.detail)
        # Only a write-back cache answers a write before what lies behind it has done it.
        if facts.get("mode") != "write-back":
            return None
        # At its limit of dirty data a cache makes writes wait, however large it is.
        text = facts.get("dirty_limit") or facts.get("size") or ""
        try:
            return float(units.parse_size(text.removesuffix(" bytes")))
        except ValueError:
            return None

    def written_bytes(self, workload: int) -> float:
        """Return what was written until the end of a workload, on the full-size device."""
        answers = self.answers[: workload + 1]
        return self.geometry.scale * sum(measures.written_bytes(each) for each in answers)

    def write_mb_s(self, workload: int) -> float:
        """Return how fast a workload wrote."""
        answer = self.answers[workload]
        return units.megabytes_per_second(measures.written_bytes(answer), answer.elapsed_ns)


@dataclass(frozen=True, kw_only=True)
class Group:
    """All finished measurements of one workload in one configuration, or in the control's copy."""

    visit: Visit
    stream: NamedStream
    answers: tuple[StepResult, ...]

    @cached_property
    def cell(self) -> Cell:
        """The mean over its visits."""
        labels = (("configuration", self.visit.name), ("workload", self.stream.name))
        return measures.cell_over(labels, self.answers)

    @property
    def rates(self) -> list[float]:
        """The rate of each visit, in the workload's unit."""
        return [rate_of(self.stream, answer) for answer in self.answers]

    @property
    def scatter_percent(self) -> float | None:
        """The rates' standard deviation by their mean; None for a single visit."""
        rates = self.rates
        mean = float(np.mean(rates))
        return float(np.std(rates, ddof=1)) / mean * 100 if len(rates) > 1 and mean else None

    @property
    def p99_ns(self) -> float:
        """The mean of the visits' 99th percentiles."""
        p99 = [measures.latency_of(answer).quantile_ns(0.99) for answer in self.answers]
        return float(np.mean(p99))


@dataclass(frozen=True, kw_only=True)
class Cached:
    """One workload, by its name, that a cache answered at one level of a factor, by their places.

    `spread` is how far the rates differ over the settings of the other factors, None where there
    is only one. `written_bytes` is the most that a visit wrote until its end, `holds_bytes` what
    the device says that the cache holds, None where that is less or not said: both of the
    full-size device.
    """

    workload: str
    factor: int
    level: int
    spread: float | None
    written_bytes: float
    holds_bytes: float | None
    rate_mb_s: float
    """The most that the workload writes in a second there."""
    fill_ns: int
    """How long it takes at this rate to write what the cache holds, 0 where that is not said."""


class ConfigurationFound(Found[ConfigurationSettings]):
    """What a record of the study shows."""

    @cached_property
    def names(self) -> tuple[tuple[Verbatim, tuple[Verbatim, ...]], ...]:
        """The name of each factor, with those of its levels."""
        return tuple(
            (Verbatim(name), tuple(Verbatim(level) for level, _ in levels))
            for name, levels in self.settings.factors
        )

    def together(self, factors: Iterable[int]) -> Verbatim:
        """Return the name of several factors, or of one: "chunk × cache"."""
        return Verbatim(" × ".join(self.names[factor][0] for factor in factors))

    @cached_property
    def setups(self) -> tuple[Setup, ...]:
        """Every configuration, the last factor's levels the fastest."""
        return setups_of(self.settings)

    @cached_property
    def visits(self) -> tuple[Visit, ...]:
        """Every visit of the plan, in the order of measuring."""
        return visits_of(self.settings)

    @cached_property
    def visited(self) -> tuple[Visited, ...]:
        """The visits that took place, in order; the last one may not be whole yet.

        A gap drops what was measured of its visit, which is begun again with its configuration.
        """
        begun: list[tuple[StepResult, list[StepResult]]] = []
        for step, answer in self.exchanges:
            if isinstance(answer, Gap):
                begun = [each for each in begun if len(each[1]) == len(self.settings.workloads)]
            elif isinstance(step, Configure):
                begun.append((answer, []))
            elif isinstance(step, Measure) and step.phase == MEASURE:
                begun[-1][1].append(answer)
        return tuple(
            Visited(
                visit=visit,
                configured=configured,
                geometry=geometry_in(configured.detail) or self.record.geometry,
                answers=tuple(answers),
            )
            # A growing record has fewer.
            for visit, (configured, answers) in zip(self.visits, begun, strict=False)
        )

    @cached_property
    def whole(self) -> int:
        """How many visits were measured to their end."""
        return sum(len(each.answers) == len(self.settings.workloads) for each in self.visited)

    @property
    def rounds(self) -> int:
        """How many blocks were measured to their end."""
        # Blocks follow one another, and all have as many visits.
        return self.whole * self.settings.repeats // len(self.visits)

    @cached_property
    def rates(self) -> tuple[Rates, ...]:
        """Each workload's rates over the whole blocks."""
        settings, blocks = self.settings, self.rounds
        # Without factors there is one configuration, and its noise is the answer.
        shape = (*([len(levels) for _, levels in settings.factors] or [1]), blocks)
        own = len(self.setups) * blocks
        # The arrays below take values in this order: by configuration, then by block.
        counted = sorted(
            (each for each in self.visited if each.visit.block <= blocks),
            key=lambda each: (each.visit.copy, each.visit.cell.place, each.visit.block),
        )
        numbers = np.array([each.visit.number for each in counted], np.int64)
        found = []
        for workload, stream in enumerate(settings.workloads):
            rates = np.array([rate_of(stream, each.answers[workload]) for each in counted], float)
            found.append(
                Rates(
                    name=Verbatim(stream.name),
                    unit=unit_of(stream),
                    values=rates[:own].reshape(shape),
                    again=rates[own:],
                    places=numbers[:own].reshape(shape),
                    places_again=numbers[own:],
                    control=next((each.cell.place for each in self.visits if each.copy), None),
                )
            )
        return tuple(found)

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """What they say, workload by workload."""
        return judging.judged(self.rates)

    @cached_property
    def effects(self) -> list[Effect]:
        """The largest difference of each factor that makes one, the largest of all first."""
        return judging.effects_of(self.judged)

    @cached_property
    def cached(self) -> tuple[Cached, ...]:
        """Where a cache answered writes, workload by workload."""
        return tuple(
            cached
            for workload, stream in enumerate(self.settings.workloads)
            if stream.read_percent < 100 and self.rounds
            for factor in range(len(self.names))
            if (cached := self._cached(workload, factor)) is not None
        )

    def _cached(self, workload: int, factor: int) -> Cached | None:
        """Return the level at which a cache answered: the fastest one, if any."""
        rates, (_, levels) = self.rates[workload], self.names[factor]
        means = np.moveaxis(rates.values.mean(axis=-1), factor, 0).reshape(len(levels), -1)
        level = int(means.max(axis=1).argmax())
        own, others = means[level], np.delete(means, level, axis=0)
        # A rate of 0 has no ratio.
        if not means.all() or own.min() < TIMES_LEAST * others.max():
            return None
        spreads = means.max(axis=1) / means.min(axis=1) - 1
        apart = np.delete(spreads, level).max() >= APART_SHARE
        # Behind a cache that answers alone other settings change nothing; elsewhere they do.
        alike = own.size > 1 and spreads[level] <= judging.ALIKE_SHARE and apart
        visits = [
            each
            for each in self.visited
            if each.visit.cell.levels[factor][1] == levels[level] and len(each.answers) > workload
        ]
        written = max(each.written_bytes(workload) for each in visits)
        said = [each.cache_bytes for each in visits]
        known = [each for each in said if each is not None and each >= written]
        # One visit that wrote more than the cache holds was answered by more than the cache.
        holds = min(known) if len(known) == len(said) else None
        if not alike and holds is None:
            return None
        rate = max(each.write_mb_s(workload) for each in visits)
        # The cache of a scaled device is scaled with it, its rates are not.
        scale = max(each.geometry.scale for each in visits)
        return Cached(
            workload=rates.name,
            factor=factor,
            level=level,
            spread=float(spreads[level]) if own.size > 1 else None,
            written_bytes=written,
            holds_bytes=holds,
            rate_mb_s=rate,
            # A byte takes 1 µs at 1 MB/s.
            fill_ns=round(holds / scale / rate * units.NS_PER_US) if holds and rate else 0,
        )

    @cached_property
    def choice(self) -> Choice | None:
        """The configuration to choose, None where no factor makes a difference."""
        return judging.choice_of(self.judged)

    @cached_property
    def groups(self) -> tuple[tuple[Group, ...], ...]:
        """Every configuration in the order of the plan, each with all workloads."""
        own: dict[tuple[int, bool], list[Visited]] = {}
        for each in self.visited:
            own.setdefault((each.visit.cell.place, each.visit.copy), []).append(each)
        return tuple(
            tuple(
                Group(
                    visit=group[0].visit,
                    stream=stream,
                    answers=tuple(one.answers[place] for one in group if len(one.answers) > place),
                )
                for place, stream in enumerate(self.settings.workloads)
            )
            for _, group in sorted(own.items(), key=lambda item: item[0])
        )

    @cached_property
    def measured(self) -> tuple[Group, ...]:
        """Every configuration and workload that was measured, one after the other."""
        return tuple(each for own in self.groups for each in own if each.answers)

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """Each configuration and workload, the mean over its visits."""
        return tuple(each.cell for each in self.measured)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """Each workload's shares of the variation, ratios of levels, control and drift."""
        return tuple(
            Scalar(
                name=say("{workload}: {figure}", workload=Verbatim(each.rates.name), figure=name),
                value=value,
                unit=unit,
            )
            for each in self.judged
            for name, value, unit in self._numbers(each)
        )

    def _numbers(self, found: Judged) -> Iterator[tuple[str, float, str]]:
        """Name what is said of one workload, with its value and unit."""
        for source in () if found.variance is None else found.variance.sources:
            factors = self.together(source.factors)
            yield say("share of {factors}", factors=factors), source.share * 100, "%"
        for pair in found.pairs:
            name, levels = self.names[pair.factor]
            factor, one, other = map(Verbatim, (name, levels[pair.second], levels[pair.first]))
            yield (
                say("{factor} {one} by {other}", factor=factor, one=one, other=other),
                pair.ratio,
                "",
            )
        for what, ratio in (("control", found.control), ("drift", found.drift)):
            if ratio is not None:
                yield what, ratio.ratio, ""

    @property
    def watch_running(self) -> Watch:
        """Which visit is under way, and what is still to be measured."""
        settings, whole = self.settings, self.whole
        visits, workloads = self.visits, len(settings.workloads)
        begun = self.visited[-1].answers if len(self.visited) > whole else ()
        left = (len(visits) - whole) * workloads - len(begun)
        left_ns = left * (settings.duration_ns + settings.ramp_ns + settings.rest_ns)
        fills = (len(visits) - whole - bool(begun)) * settings.precondition_times
        now = visits[min(whole, len(visits) - 1)]
        return Watch(
            phase="block",
            round_number=now.block,
            rounds_least=settings.repeats,
            rounds_most=settings.repeats,
            cell=now.name,
            remaining_ns_least=left_ns,
            remaining_ns_most=left_ns,
            remaining_bytes=int(fills * self.record.geometry.capacity_bytes),
        )


def unit_of(stream: NamedStream) -> str:
    """Return what a workload is judged by: throughput where it streams, else its I/Os."""
    large = stream.block_size_bytes >= _LARGE_BYTES
    streams = stream.stream(stream.name).access is Access.SEQUENTIAL
    return "MB/s" if large or streams else "IOPS"


def rate_of(stream: NamedStream, answer: StepResult) -> float:
    """Return a measurement's rate in the workload's unit."""
    return measures.throughput_mb_s(answer) if unit_of(stream) == "MB/s" else answer.iops


def setups_of(settings: ConfigurationSettings) -> tuple[Setup, ...]:
    """Return every configuration, the last factor's levels the fastest."""
    names = [name for name, _ in settings.factors]
    return tuple(
        Setup(
            place=place,
            levels=tuple((name, level) for name, (level, _) in zip(names, each, strict=True)),
            texts=tuple((name, text) for name, (_, text) in zip(names, each, strict=True)),
        )
        for place, each in enumerate(product(*(levels for _, levels in settings.factors)))
    )


def visits_of(settings: ConfigurationSettings) -> tuple[Visit, ...]:
    """Return every visit in the order of measuring; the same settings, the same order.

    Raises:
        teijo.errors.PlanError: the control is none of the configurations.
    """
    setups = setups_of(settings)
    places = [
        *((each, False) for each in setups),
        *((each, True) for each in _control(settings, setups)),
    ]
    visits: list[Visit] = []
    for block in range(1, settings.repeats + 1):
        for cell, copy in sorted(places, key=lambda each: _lot(settings.shuffle, block, *each)):
            visits.append(Visit(number=len(visits) + 1, block=block, cell=cell, copy=copy))
    return tuple(visits)


def _control(settings: ConfigurationSettings, setups: Sequence[Setup]) -> Sequence[Setup]:
    """Return the configuration that is measured under two names, if any."""
    if settings.control == "none":
        return ()
    if settings.control == "first":
        return setups[:1]
    levels = dict(words.levels_in(settings.control))
    own = [each for each in setups if dict(each.levels) == levels]
    if not own:
        raise PlanError(
            f"control={settings.control} is none of the configurations",
            remedy="Name one level of every factor, or set control=first.",
        )
    return own


def _lot(shuffle: int, block: int, cell: Setup, copy: bool) -> bytes:
    """Return a number drawn for a place in a block; sorted by it, the places are shuffled."""
    text = f"{shuffle}/{block}/{cell.place}/{copy}"
    return hashlib.blake2b(text.encode(), digest_size=16, person=b"teijo order").digest()
