"""A free workload in one line: what people start fio for, with a report. Not of any standard.

The report is in workload_pages.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from teijo import units
from teijo.analysis import measures, percentile
from teijo.document.model import Document
from teijo.errors import PlanError
from teijo.methods import knobs
from teijo.methods.knobs import Knob
from teijo.methods.method import Conversation, Settings
from teijo.methods.phrases import insist
from teijo.methods.pts.settings import QUEUE_DEPTH_MOST, THREADS_MOST, check_blocks
from teijo.terms.finding import Cell, Findings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.remark import Remark
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Precondition, Step
from teijo.terms.watch import Watch
from teijo.terms.workload import Access, ActiveRange, Content, Rate, Schedule, Stream, Workload

Word = Literal["randread", "randwrite", "randrw", "read", "write", "rw"]

_WORDS: dict[str, tuple[Access, int | None]] = {
    "randread": (Access.RANDOM, 100),
    "randwrite": (Access.RANDOM, 0),
    "randrw": (Access.RANDOM, None),
    "read": (Access.SEQUENTIAL, 100),
    "write": (Access.SEQUENTIAL, 0),
    "rw": (Access.SEQUENTIAL, None),
}
"""Order and read percent of fio's words; None where `read` says it."""

MIXED_READ_PERCENT = 50
DURATION_NS = 10 * units.NS_PER_S


class WorkloadSettings(Settings, frozen=True):
    """One stimulus. Exactly one of `duration_ns` and `total_bytes` bounds it."""

    rw: Annotated[
        Word,
        Knob(
            key="rw",
            aliases=("readwrite",),
            meaning="order and direction: randread, randwrite, randrw, read, write or rw",
            example="randrw",
            parse=knobs.one_of(*_WORDS),
        ),
    ] = "randread"
    read_percent: Annotated[
        int,
        Knob(
            key="read",
            aliases=("rwmixread",),
            meaning="percent of the I/Os that read, for randrw and rw",
            example="70",
            parse=knobs.percent(0, 100),
        ),
    ] = 100
    block_size_bytes: Annotated[
        int,
        Knob(
            key="bs",
            aliases=("block_size", "blocksize"),
            meaning="block size",
            example="4KiB",
            parse=knobs.size,
            show=knobs.show_size,
        ),
    ] = 4 * units.KIB
    threads: Annotated[
        int,
        Knob(
            key="threads",
            aliases=("tc", "numjobs"),
            meaning="thread count",
            example="4",
            parse=knobs.whole_number(1, THREADS_MOST),
        ),
    ] = 1
    queue_depth: Annotated[
        int,
        Knob(
            key="qd",
            aliases=("iodepth",),
            meaning="outstanding I/Os of each thread",
            example="32",
            parse=knobs.whole_number(1, QUEUE_DEPTH_MOST),
        ),
    ] = 1
    duration_ns: Annotated[
        int | None,
        Knob(
            key="seconds",
            aliases=("duration", "runtime", "time"),
            meaning="how long, unless bytes says how much",
            example="10",
            parse=knobs.duration,
            show=lambda value: "none" if value is None else knobs.show_duration(value),
        ),
    ] = None
    total_bytes: Annotated[
        int | None,
        Knob(
            key="bytes",
            aliases=("size", "io_size"),
            meaning="how much to read and write in total, instead of how long",
            example="1GiB",
            parse=knobs.size,
            show=knobs.show_size,
        ),
    ] = None
    active_range_percent: Annotated[
        int,
        Knob(
            key="range",
            aliases=("active_range", "ar"),
            meaning="share of the device that is touched, from its start, in percent",
            example="50%",
            parse=knobs.percent(1, 100),
        ),
    ] = 100
    content: Annotated[
        Content,
        Knob(
            key="content",
            meaning="what is written: random (unique in every sector) or zero",
            example="zero",
            parse=knobs.one_of(*(content.value for content in Content)),
            show=lambda value: str(value),
        ),
    ] = Content.RANDOM
    ios_per_second: Annotated[
        float | None,
        Knob(
            key="rate",
            aliases=("rate_iops", "iops"),
            meaning="I/Os due each second whether or not the device keeps up, or none",
            example="1000",
            parse=knobs.optional(knobs.positive_number),
            show=knobs.show_optional,
        ),
    ] = None
    schedule: Annotated[
        Schedule,
        Knob(
            key="schedule",
            meaning="arrivals at a rate: fixed or poisson",
            example="poisson",
            parse=knobs.one_of(*(schedule.value for schedule in Schedule)),
            show=lambda value: str(value),
        ),
    ] = Schedule.FIXED


class FreeWorkload:
    """The method `workload`."""

    id = "workload"
    title = "Workload"
    summary = "any one workload, in fio's words: rw, bs, threads, qd, seconds or bytes"
    specs: tuple[str, ...] = ()
    default_spec = ""

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> WorkloadSettings:
        """Return the stimulus asked for; see Method."""
        if spec:
            raise PlanError(
                f"the method workload follows no standard, so it has no version {spec!r}",
                remedy="Leave --spec out.",
            )
        asked = knobs.parse_overrides(WorkloadSettings, overrides)
        settings = WorkloadSettings.model_validate({**asked, **_bound(asked), **_mix(asked)})
        check_blocks((settings.block_size_bytes,), geometry)
        _check_room(settings, geometry)
        return settings

    def settings_from(self, stored: Mapping[str, object]) -> WorkloadSettings:
        """Return the settings a run file holds."""
        return knobs.build(WorkloadSettings, stored)

    def writes(self, settings: Settings) -> bool:
        """Return whether any I/O writes."""
        return _own(settings).read_percent < 100

    def deviations(
        self,
        settings: Settings,  # noqa: ARG002 — the contract's
        geometry: Geometry,  # noqa: ARG002 — the contract's
    ) -> tuple[Remark, ...]:
        """Return nothing: there is no standard to deviate from."""
        return ()

    def steps(
        self,
        settings: Settings,
        geometry: Geometry,  # noqa: ARG002 — the contract's
    ) -> Conversation:
        """Drive the workload once, from its start again after a gap."""
        yield from insist(step_of(_own(settings)))
        return "done"

    def findings(self, record: Record) -> Findings:
        """Return the headline numbers, for all I/Os and for each direction."""
        settings = self.settings_from(record.run.settings)
        answer = answer_of(record)
        return Findings(
            method=self.id,
            spec="",
            converged=None,
            rounds=0 if answer is None else 1,
            scalars=() if answer is None else _scalars(answer),
            cells=() if answer is None else (_cell(settings, answer),),
        )

    def watch(self, record: Record) -> Watch:
        """Return what is left of the one step; see Method."""
        settings = self.settings_from(record.run.settings)
        if record.run.ending != "running":
            return Watch(phase=record.run.ending)
        if answer_of(record) is not None:
            return Watch(phase="measure")
        return Watch(
            phase="measure",
            cell=stimulus_name(settings),
            remaining_ns_least=settings.duration_ns or 0,
            remaining_ns_most=settings.duration_ns or 0,
            remaining_bytes=settings.total_bytes or 0,
        )

    def document(self, record: Record, findings: Findings) -> Document:
        """Return the report."""
        from teijo.methods.workload_pages import pages

        return pages(self.settings_from(record.run.settings), record, findings)


def step_of(settings: WorkloadSettings) -> Step:
    """Return the one step: a measurement for a time, or as many bytes as asked."""
    access, _ = _WORDS[settings.rw]
    rate = settings.ios_per_second
    stream = Stream(
        read_percent=settings.read_percent,
        block_size_bytes=settings.block_size_bytes,
        access=access,
        threads=settings.threads,
        queue_depth=settings.queue_depth,
        active_range=ActiveRange(share_percent=settings.active_range_percent),
        content=settings.content,
        rate=None if rate is None else Rate(ios_per_second=rate, schedule=settings.schedule),
    )
    workload = Workload(streams=(stream,))
    if settings.total_bytes is not None:
        return Precondition(workload=workload, total_bytes=settings.total_bytes, phase="measure")
    assert settings.duration_ns is not None, "a workload has one bound"
    return Measure(
        workload=workload, duration_ns=settings.duration_ns, cell=stimulus_name(settings)
    )


def answer_of(record: Record) -> StepResult | None:
    """Return the answer to the one step, None as long as there is none."""
    answers = [each.answer for each in record.steps if isinstance(each.answer, StepResult)]
    return answers[-1] if answers else None


def stimulus_name(settings: WorkloadSettings) -> str:
    """Return the stimulus in one line: "randrw 70/30 4 KiB, 1 × 32"."""
    mix = f" {knobs.show_mix(settings.read_percent)}" if _WORDS[settings.rw][1] is None else ""
    block = units.format_block_size(settings.block_size_bytes)
    return f"{settings.rw}{mix} {block}, {settings.threads} × {settings.queue_depth}"


def _own(settings: Settings) -> WorkloadSettings:
    assert isinstance(settings, WorkloadSettings), type(settings)
    return settings


def _bound(asked: Mapping[str, object]) -> dict[str, object]:
    if asked.keys() >= {"duration_ns", "total_bytes"}:
        raise PlanError(
            "seconds and bytes are both set, and only one can end the workload",
            remedy="Set seconds for how long, or bytes for how much.",
        )
    return {} if asked.keys() & {"duration_ns", "total_bytes"} else {"duration_ns": DURATION_NS}


def _mix(asked: Mapping[str, object]) -> dict[str, object]:
    word = str(asked.get("rw", WorkloadSettings.model_fields["rw"].default))
    _, fixed = _WORDS[word]
    wanted = asked.get("read_percent")
    if fixed is None:
        return {"read_percent": MIXED_READ_PERCENT if wanted is None else wanted}
    if wanted not in (None, fixed):
        mixed = "randrw" if word.startswith("rand") else "rw"
        raise PlanError(
            f"read={wanted} does not go with rw={word}, which reads {fixed} %",
            remedy=f"Set rw={mixed} for a mix.",
        )
    return {"read_percent": fixed}


def _check_room(settings: WorkloadSettings, geometry: Geometry) -> None:
    active_range = ActiveRange(share_percent=settings.active_range_percent)
    span = active_range.span_bytes(geometry.capacity_bytes, geometry.physical_block_bytes)
    if settings.block_size_bytes > span:
        raise PlanError(
            f"a block of {units.format_block_size(settings.block_size_bytes)} does not fit in "
            f"{settings.active_range_percent} % of {units.format_size(geometry.capacity_bytes)}",
            remedy="Set a smaller bs, a larger range, or take a larger device.",
        )


def _cell(settings: WorkloadSettings, answer: StepResult) -> Cell:
    labels = (
        ("r/w mix", knobs.show_mix(settings.read_percent)),
        ("block size", units.format_block_size(settings.block_size_bytes)),
    )
    return measures.cell_over(labels, [answer])


def _scalars(answer: StepResult) -> tuple[Scalar, ...]:
    latency = measures.latency_of(answer)
    percentiles = [
        Scalar(
            name=f"latency {percentile.percentile_name(percent)}",
            value=None if value is None else float(value),
            unit="ns",
        )
        for percent, value in percentile.percentiles_ns(latency)
    ]
    return (
        Scalar(name="IOPS", value=answer.iops, unit="IOPS"),
        Scalar(name="throughput", value=measures.throughput_mb_s(answer), unit="MB/s"),
        Scalar(name="latency mean", value=measures.latency_ns_mean(answer), unit="ns"),
        *percentiles,
        Scalar(name="latency max", value=float(measures.latency_ns_max(answer)), unit="ns"),
        Scalar(name="failed I/Os", value=float(measures.errors_of(answer)), unit=""),
        Scalar(name="write amplification", value=measures.write_amplification([answer]), unit=""),
    )
