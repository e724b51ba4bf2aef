"""The step of the free workload, and what its one answer shows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from teijo.analysis import measures, percentile
from teijo.document.phrase import Verbatim, say
from teijo.methods.found import Found
from teijo.methods.workload.read_back import PHASE
from teijo.methods.workload.settings import WorkloadSettings
from teijo.terms.cell import mix_name
from teijo.terms.finding import Cell, Scalar
from teijo.terms.histogram import Histogram
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Precondition
from teijo.terms.verification import joined
from teijo.terms.watch import Watch
from teijo.terms.workload import Workload


def step_of(settings: WorkloadSettings) -> Measure | Precondition:
    """Return the one step: a measurement for a time, or until so many bytes are moved."""
    streams = tuple(stimulus.stream(name) for name, stimulus in settings.stimuli)
    workload = Workload(streams=streams)
    if settings.total_bytes is not None:
        return Precondition(workload=workload, total_bytes=settings.total_bytes, phase="measure")
    assert settings.duration_ns is not None, "a workload has one bound"
    return Measure(
        workload=workload, duration_ns=settings.duration_ns, cell=stimulus_name(settings)
    )


def stimulus_name(settings: WorkloadSettings) -> str:
    """Return the stimulus in one line: "randrw 70/30 4 KiB, 1 × 32", or one after the other."""
    if not settings.streams:
        return settings.title
    return " + ".join(f"{each.name}: {each.title}" for each in settings.streams)


class WorkloadFound(Found[WorkloadSettings]):
    """What a record of the workload shows: the answer of its measured step."""

    @cached_property
    def answer(self) -> StepResult | None:
        """The answer to the measured step, None as long as there is none."""
        answers = [
            each.answer
            for each in self.record.steps
            # The speed of reading back is in no figure.
            if isinstance(each.answer, StepResult) and each.step.phase != PHASE
        ]
        return answers[-1] if answers else None

    @property
    def rounds(self) -> int:
        """One, once the step has taken place."""
        return 0 if self.answer is None else 1

    @cached_property
    def streams(self) -> Mapping[str, StepResult]:
        """The answer of each stream alone, in order."""
        answer = self.answer
        parts = () if answer is None else answer.results
        return {
            name: replace(answer, results=tuple(part for part in parts if part.stream == name))
            for name in dict.fromkeys(part.stream for part in parts)
            if answer is not None
        }

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """The headline numbers of all I/Os, and what verified reads held."""
        if self.answer is None:
            return ()
        return (*_scalars(self.answer), *_verify_scalars(self.record.answers))

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """A cell for each stream."""
        several = len(self.settings.stimuli) > 1
        return tuple(
            measures.cell_over(
                (
                    *((("stream", name),) if several else ()),
                    ("r/w mix", mix_name(stimulus.read_percent)),
                    ("block size", stimulus.block_name),
                ),
                [self.streams[name] if several or self.answer is None else self.answer],
            )
            for name, stimulus in self.settings.stimuli
            if name in self.streams
        )

    @property
    def watch_running(self) -> Watch:
        """What is left of the one step."""
        settings = self.settings
        if self.answer is not None:
            return Watch(phase=PHASE if settings.reads_back else "measure")
        return Watch(
            phase="measure",
            cell=stimulus_name(settings),
            remaining_ns_least=settings.duration_ns or 0,
            remaining_ns_most=settings.duration_ns or 0,
            remaining_bytes=settings.total_bytes or 0,
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


def _verify_scalars(answers: Sequence[StepResult]) -> tuple[Scalar, ...]:
    """Return what verified reads held, over all steps, nothing if nothing was verified."""
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


def _latency_scalars(what: str, latency: Histogram) -> tuple[Scalar, ...]:
    percentiles = [
        Scalar(
            name=say(
                "{what} {percentile}",
                what=what,
                percentile=Verbatim(percentile.percentile_name(percent)),
            ),
            value=None if value is None else float(value),
            unit="ns",
        )
        for percent, value in percentile.percentiles_ns(latency)
    ]
    return (
        Scalar(name=say("{what} mean", what=what), value=latency.mean_ns, unit="ns"),
        *percentiles,
        Scalar(name=say("{what} max", what=what), value=float(latency.max_ns), unit="ns"),
    )
