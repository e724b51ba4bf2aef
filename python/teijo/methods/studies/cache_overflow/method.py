"""The study `cache-overflow`: write without a pause until a cache is full, and see what is left.

What a burst is and when it ends is in bursts, the report in pages.
"""

from collections.abc import Generator, Mapping
from dataclasses import replace
from functools import cached_property

from teijo.document.model import Document
from teijo.methods.found import FlatFound
from teijo.methods.method import Method, Steps, no_standard
from teijo.methods.phrases import purge
from teijo.methods.rounds import exchanges_of
from teijo.methods.studies.cache_overflow.bursts import (
    BURST,
    REST,
    Burst,
    Proof,
    bursts_of,
    model_bytes,
    piece,
    pieces_of,
    proof_of,
    recovery_of,
    samples_next,
    series_of,
    why_stop,
)
from teijo.methods.studies.cache_overflow.proof import is_purged, verdict_of
from teijo.methods.studies.cache_overflow.settings import (
    OverflowSettings,
    settings_of,
    stimulus_name,
)
from teijo.terms.finding import Cell, Findings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import Idle, Step
from teijo.terms.watch import Watch


class CacheOverflowFound(FlatFound[OverflowSettings]):
    """What a record of CacheOverflow shows."""

    @cached_property
    def findings(self) -> Findings:
        """Return each burst's cliff with what it tells, and what each rest brought back; of a drive
        that is saturated no cache.
        """
        settings, record = self.settings, self.record
        bursts = bursts_of(settings, record.geometry, exchanges_of(record))
        found = None
        if bursts:
            found = verdict_of(settings, record.geometry, bursts, purged=is_purged(record))
        own = found is not None and found.cause == "saturation"
        return Findings(
            method=record.run.method,
            spec="",
            converged=None,
            rounds=len(bursts),
            scalars=tuple(
                scalar
                for burst in bursts
                for scalar in _scalars(settings, record.geometry, bursts[0], burst)
                if not (own and "cache" in scalar.name)
            ),
            cells=tuple(_cell(settings, burst) for burst in bursts),
        )

    @cached_property
    def watch(self) -> Watch:
        """Return where the run stands."""
        settings, record = self.settings, self.record
        if record.run.ending != "running":
            return Watch(phase=record.run.ending)
        return _watch(settings, record)


class CacheOverflow(Method[OverflowSettings, CacheOverflowFound]):
    """The method `cache-overflow`."""

    id = "cache-overflow"
    title = "Cache overflow"
    summary = "writes until a cache is full: how much it holds, and the rates before and after"
    settings_type = OverflowSettings
    found_type = CacheOverflowFound

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> OverflowSettings:
        """Return the settings asked for; see Method."""
        if spec:
            raise no_standard(self.id, spec)
        return settings_of(overrides, geometry)

    def writes(self, settings: OverflowSettings) -> bool:
        """Return that it does nothing else."""
        del settings
        return True

    def steps(self, settings: OverflowSettings, geometry: Geometry) -> Steps:
        """Purge, then burst after burst with the rests between; from the start after a gap."""
        while True:
            if settings.purged == "yes":
                yield from purge()
            if (yield from _bursts(settings, geometry)):
                return "done"

    def document(self, found: CacheOverflowFound) -> Document:
        """Return the report."""
        from teijo.methods.studies.cache_overflow.pages import pages

        return pages(found.settings, found.record, found.reported)


def _bursts(settings: OverflowSettings, geometry: Geometry) -> Generator[Step, Answer, bool]:
    """Write every burst with the rests between; False when a gap broke one.

    Where no rest is asked for and the first burst overflows, one more tells whether a cache did.
    """
    first = yield from _burst(settings, geometry, 1)
    if first is None:
        return False
    proof = proof_of(settings, geometry, first)
    rests = settings.rests_ns if proof is None else (proof.rest_ns,)
    most = None if proof is None else proof.samples
    for number, rest_ns in enumerate(rests, start=2):
        scaled = settings.scaled_ns(rest_ns, geometry)
        answer = yield Idle(duration_ns=scaled, phase=REST, round_number=number - 1)
        if isinstance(answer, Gap):
            return False
        if (yield from _burst(settings, geometry, number, most=most)) is None:
            return False
    return True


def _burst(
    settings: OverflowSettings, geometry: Geometry, number: int, *, most: int | None = None
) -> Generator[Step, Answer, list[StepResult] | None]:
    """Write until the burst ends, and return its pieces; None when a gap broke it."""
    answers: list[StepResult] = []
    while why_stop(settings, geometry, answers, most=most) is None:
        samples = samples_next(settings, geometry, answers, most=most)
        step = piece(settings, geometry, number, samples)
        answer = yield replace(step, continues=bool(answers))
        if isinstance(answer, Gap):
            return None
        answers.append(answer)
    return answers


def _scalars(
    settings: OverflowSettings, geometry: Geometry, first: Burst, burst: Burst
) -> tuple[Scalar, ...]:
    overflow, cliff = burst.overflow, burst.overflow.cliff
    rows: list[tuple[str, float | None, str]] = [
        ("overflows", float(len(overflow.cliffs)), ""),
        ("written", overflow.written_bytes / 1e9, "GB"),
        ("rate over all", overflow.rate.value / 1e6, "MB/s"),
    ]
    if cliff is not None:
        model, width = model_bytes(settings, burst), cliff.held.half_width
        rows += [
            ("written until the overflow (V*)", cliff.at_bytes / 1e9, "GB"),
            ("time until the overflow", cliff.at_s, "s"),
            ("rate before", cliff.before.value / 1e6, "MB/s"),
            ("rate after", cliff.after.value / 1e6, "MB/s"),
            ("cache", cliff.held.value / 1e9, "GB"),
            ("cache, half width of 95 %", None if width is None else width / 1e9, "GB"),
            ("V* of the model", None if model is None else model / 1e9, "GB"),
        ]
    longest = max((stall.length_s for stall in overflow.stalls), default=0.0)
    rows += [("stalls", float(len(overflow.stalls)), ""), ("longest stall", longest, "s")]
    if burst.number > 1:
        found = recovery_of(first, burst, geometry)
        came_back = None if found is None else found.held.value / 1e9
        rows.append(("cache that came back", came_back, "GB"))
    return tuple(
        Scalar(name=f"burst {burst.number}: {name}", value=value, unit=unit)
        for name, value, unit in rows
    )


def _cell(settings: OverflowSettings, burst: Burst) -> Cell:
    rate = burst.overflow.rate.value
    return Cell(
        labels=(("burst", str(burst.number)), ("stimulus", stimulus_name(settings))),
        iops=rate / settings.block_size_bytes,
        throughput_mb_s=rate / 1e6,
        latency_ns_mean=burst.latency_ns_mean,
        latency_ns_max=burst.latency_ns_max,
    )


def _watch(settings: OverflowSettings, record: Record) -> Watch:
    """Return the watch of a run under way: the burst, and what its bounds leave of it."""
    geometry = record.geometry
    pieces, _ = pieces_of(exchanges_of(record))
    number = max(pieces, default=1)
    answers = pieces.get(number, [])
    proof = proof_of(settings, geometry, pieces.get(1, []))
    over = bool(answers) and why_stop(settings, geometry, answers, most=_most(proof, number))
    planned = settings.rests_ns
    if proof is not None and (over or number > 1):
        planned = (proof.rest_ns,)
    rests, count = planned[number - 1 :], len(planned) + 1
    done = series_of(settings, geometry, answers).lengths_s.size
    most_ns = (_most(proof, number) or settings.samples_most) * settings.sample_ns
    left_ns = 0 if over else max(0, most_ns - done * settings.sample_ns)
    resting = bool(over) and number < count
    begun = pieces or settings.purged == "no"
    return Watch(
        phase=REST if resting else BURST if begun else "purge",
        round_number=number if begun else None,
        rounds_least=count,
        rounds_most=count,
        cell=stimulus_name(settings),
        remaining_ns_least=round(sum(rests) / geometry.scale),
        remaining_ns_most=round(
            (left_ns + sum(rests) + len(rests) * settings.most_ns) / geometry.scale
        ),
    )


def _most(proof: Proof | None, number: int) -> int | None:
    """Return how many samples a burst has at most, None for as many as the settings give it."""
    return proof.samples if proof is not None and number > 1 else None
