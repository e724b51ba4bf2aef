"""A free workload in one line: what people start fio for, with a report. Not of any standard.

The report is in workload_pages.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from teijo import units
from teijo.analysis import measures, percentile
from teijo.document.model import Document
from teijo.errors import PlanError
from teijo.methods.found import FlatFound
from teijo.methods.method import Method, Steps, no_standard
from teijo.methods.phrases import insist
from teijo.methods.pts.settings import check_blocks
from teijo.methods.read_back import PHASE, read_back
from teijo.methods.workload_settings import (
    THREADS_MOST,
    StreamSettings,
    WorkloadSettings,
    settings_of,
)
from teijo.terms.cell import mix_name
from teijo.terms.finding import Cell, Findings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.histogram import Histogram
from teijo.terms.record import Record
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Precondition
from teijo.terms.verification import joined
from teijo.terms.watch import Watch
from teijo.terms.workload import ActiveRange, Workload


class FreeWorkloadFound(FlatFound[WorkloadSettings]):
    """What a record of FreeWorkload shows."""

    @cached_property
    def findings(self) -> Findings:
        """Return the headline numbers, for all I/Os and for each direction."""
        settings, record = self.settings, self.record
        answer = answer_of(record)
        return Findings(
            method=record.run.method,
            spec="",
            converged=None,
            rounds=0 if answer is None else 1,
            scalars=() if answer is None else _scalars(answer) + _verify_scalars(record),
            cells=() if answer is None else _cells(settings, answer),
        )

    @cached_property
    def watch(self) -> Watch:
        """Return what is left of the one step."""
        settings, record = self.settings, self.record
        if record.run.ending != "running":
            return Watch(phase=record.run.ending)
        if answer_of(record) is not None:
            return Watch(phase=PHASE if settings.reads_back else "measure")
        return Watch(
            phase="measure",
            cell=stimulus_name(settings),
            remaining_ns_least=settings.duration_ns or 0,
            remaining_ns_most=settings.duration_ns or 0,
            remaining_bytes=settings.total_bytes or 0,
        )


class FreeWorkload(Method[WorkloadSettings, FreeWorkloadFound]):
    """The method `workload`."""

    id = "workload"
    title = "Workload"
    summary = "any one workload, in fio's words: rw, bs, threads, qd, seconds or bytes"
    settings_type = WorkloadSettings
    found_type = FreeWorkloadFound

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> WorkloadSettings:
        """Return the stimulus asked for; see Method."""
        if spec:
            raise no_standard(self.id, spec)
        settings = settings_of(overrides)
        stimuli = [stimulus for _, stimulus in settings.stimuli]
        sizes = [stimulus.stream("").sizes_bytes for stimulus in stimuli]
        check_blocks(tuple(size for each in sizes for size in each), geometry)
        for stimulus in stimuli:
            _check_room(stimulus, geometry)
        threads = sum(stimulus.threads for stimulus in stimuli)
        if threads > THREADS_MOST:
            raise PlanError(
                f"The streams have {threads} threads together, and {THREADS_MOST} is the most",
                remedy="Give them fewer threads, and more depth (qd) each.",
            )
        return settings

    def writes(self, settings: WorkloadSettings) -> bool:
        """Return whether any I/O writes."""
        return step_of(settings).workload.writes

    def steps(
        self,
        settings: WorkloadSettings,
        geometry: Geometry,
    ) -> Steps:
        """Drive the workload once, from its start again after a gap; read back what it wrote."""
        asked = step_of(settings)
        answer = yield from insist(asked)
        if settings.reads_back:
            reading = read_back(asked.workload, geometry, answer)
            if reading is not None:
                yield from insist(reading)
        return "done"

    def document(self, found: FreeWorkloadFound) -> Document:
        """Return the report."""
        from teijo.methods.workload_pages import pages

        return pages(found.settings, found.record, found.reported)


def step_of(settings: WorkloadSettings) -> Measure | Precondition:
    """Return the one step: a measurement for a time, or as many bytes as asked."""
    streams = tuple(stimulus.stream(name) for name, stimulus in settings.stimuli)
    workload = Workload(streams=streams)
    if settings.total_bytes is not None:
        return Precondition(workload=workload, total_bytes=settings.total_bytes, phase="measure")
    assert settings.duration_ns is not None, "a workload has one bound"
    return Measure(
        workload=workload, duration_ns=settings.duration_ns, cell=stimulus_name(settings)
    )


def answer_of(record: Record) -> StepResult | None:
    """Return the answer to the measured step, None as long as there is none."""
    answers = [
        each.answer
        for each in record.steps
        if isinstance(each.answer, StepResult) and each.step.phase != PHASE
    ]
    return answers[-1] if answers else None


def stimulus_name(settings: WorkloadSettings) -> str:
    """Return the stimulus in one line: "randrw 70/30 4 KiB, 1 × 32", or one after the other."""
    if not settings.streams:
        return settings.title
    return " + ".join(f"{each.name}: {each.title}" for each in settings.streams)


def _check_room(settings: StreamSettings, geometry: Geometry) -> None:
    active_range = ActiveRange(share_percent=settings.active_range_percent)
    span = active_range.span_bytes(geometry.capacity_bytes, geometry.physical_block_bytes)
    if settings.block_size_bytes > span:
        raise PlanError(
            f"A block of {units.format_block_size(settings.block_size_bytes)} does not fit in "
            f"{settings.active_range_percent} % of {units.format_size(geometry.capacity_bytes)}",
            remedy="Set a smaller bs, a larger range, or take a larger device.",
        )


def streams_of(answer: StepResult) -> dict[str, StepResult]:
    """Return the answer of each stream alone, in order."""
    names = dict.fromkeys(part.stream for part in answer.results)
    return {
        name: replace(answer, results=tuple(p for p in answer.results if p.stream == name))
        for name in names
    }


def _cells(settings: WorkloadSettings, answer: StepResult) -> tuple[Cell, ...]:
    parts = streams_of(answer)
    several = len(settings.stimuli) > 1
    return tuple(
        measures.cell_over(
            (
                *((("stream", name),) if several else ()),
                ("r/w mix", mix_name(stimulus.read_percent)),
                ("block size", stimulus.block_name),
            ),
            [parts[name] if several else answer],
        )
        for name, stimulus in settings.stimuli
        if name in parts
    )


def _scalars(answer: StepResult) -> tuple[Scalar, ...]:
    return (
        Scalar(name="IOPS", value=answer.iops, unit="IOPS"),
        Scalar(name="throughput", value=measures.throughput_mb_s(answer), unit="MB/s"),
        *_latency_scalars("latency", measures.latency_of(answer)),
        *_open_loop_scalars(answer),
        Scalar(name="failed I/Os", value=float(measures.errors_of(answer)), unit=""),
        Scalar(name="write amplification", value=measures.write_amplification([answer]), unit=""),
    )


def _verify_scalars(record: Record) -> tuple[Scalar, ...]:
    """Return what verified reads held, over all steps, nothing if nothing was verified."""
    answers = [each.answer for each in record.steps if isinstance(each.answer, StepResult)]
    parts = [each.verification for each in answers if each.verification is not None]
    if not parts:
        return ()
    found = joined(parts)
    return (
        Scalar(name="sectors judged", value=float(found.sectors), unit="sectors"),
        Scalar(name="sectors not judged", value=float(found.sectors_unjudged), unit="sectors"),
        Scalar(name="sectors wrong", value=float(found.sectors_faulty), unit="sectors"),
    )


def _open_loop_scalars(answer: StepResult) -> tuple[Scalar, ...]:
    """Return response times and backlog of what ran as an open loop, nothing if nothing did."""
    backlogs = {
        part.stream: part.backlog_max for part in answer.results if part.backlog_max is not None
    }
    response = measures.response_of(answer)
    scalars = () if response is None else _latency_scalars("response", response)
    if backlogs:
        most = float(max(backlogs.values()))
        scalars += (Scalar(name="backlog max", value=most, unit="I/Os"),)
    return scalars


def _latency_scalars(name: str, latency: Histogram) -> tuple[Scalar, ...]:
    percentiles = [
        Scalar(
            name=f"{name} {percentile.percentile_name(percent)}",
            value=None if value is None else float(value),
            unit="ns",
        )
        for percent, value in percentile.percentiles_ns(latency)
    ]
    return (
        Scalar(name=f"{name} mean", value=latency.mean_ns, unit="ns"),
        *percentiles,
        Scalar(name=f"{name} max", value=float(latency.max_ns), unit="ns"),
    )
