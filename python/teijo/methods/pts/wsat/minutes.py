"""The minutes of PTS WSAT: their settings, the stimulus, the stop rules, and the check minutes."""

from collections.abc import Sequence
from typing import Annotated, Literal

from teijo import units
from teijo.analysis import measures
from teijo.analysis.saturation import Sample
from teijo.analysis.steady_state import WINDOW_ROUNDS, Tracked, determine
from teijo.conformance.versions import WSAT_BLOCK_BYTES, Version
from teijo.document.phrase import say
from teijo.methods import knobs
from teijo.methods.knobs import Knob
from teijo.methods.phrases import is_steady
from teijo.methods.pts import settings as shared
from teijo.terms.cell import mix_name
from teijo.terms.finding import SteadyState
from teijo.terms.geometry import Geometry
from teijo.terms.result import StepResult
from teijo.terms.step import MINUTE, Measure
from teijo.terms.workload import Stream, Workload

PLATEAU_NAME = "fresh out of the box (FOB), mean of the plateau"
LEVEL_NAME = "level at the end, mean of the last fifth"
Stop = Literal["steady", "capacity", "minutes"]


class WsatSettings(shared.PtsSettings, frozen=True):
    """The numbers of one WSAT run, on the device at hand."""

    threads: shared.Threads
    queue_depth: shared.QueueDepth
    content: shared.DataPattern
    read_percent: Annotated[
        int,
        Knob(
            key="mix",
            meaning="R/W mix of the stimulus",
            example="0/100",
            parse=lambda text: knobs.mixes(text)[0],
            show=lambda value: knobs.show_mixes((value,)),
        ),
    ]
    block_size_bytes: Annotated[
        int,
        Knob(
            key="block_size",
            aliases=("bs",),
            meaning="block size of the stimulus",
            example="4KiB",
            parse=knobs.block_size,
            show=knobs.show_size,
        ),
    ]
    capacity_times: Annotated[
        float,
        Knob(
            key="capacity_times",
            meaning="user capacities written at most",
            example="20",
            parse=knobs.number_between(0.001, 10**6),
            show=knobs.show_optional,
            judges=True,
        ),
    ]
    minutes_most: Annotated[
        int,
        Knob(
            key="max_minutes",
            meaning="the standard's minutes at most",
            example="360",
            parse=knobs.whole_number(1, 1_000_000),
            judges=True,
        ),
    ]
    check_minutes: Annotated[
        int | None,
        Knob(
            key="check_every",
            meaning="minutes between the check minutes that steady state is determined on, or none",
            example="30",
            parse=knobs.optional(knobs.whole_number(1, 10_000)),
            show=knobs.show_optional,
            judges=True,
        ),
    ]
    # Not in the run files of its first days, whose runs had none.
    histogram_minutes: shared.HistogramMinutes = None


def standard(version: Version, geometry: Geometry) -> WsatSettings:
    """Return the settings as the version has them on this device, unchecked."""
    rule = version.saturation
    return WsatSettings.model_validate(
        {
            **shared.shared_defaults(version, geometry),
            "read_percent": 0,
            "block_size_bytes": WSAT_BLOCK_BYTES,
            "capacity_times": rule.capacity_times,
            "minutes_most": rule.minutes,
            "check_minutes": rule.check_minutes,
            "histogram_minutes": version.histogram_minutes,
        }
    )


def stimulus(settings: WsatSettings) -> Workload:
    """Return what is driven in every minute, and in the run for the histogram."""
    stream = Stream(
        read_percent=settings.read_percent,
        block_size_bytes=settings.block_size_bytes,
        threads=settings.threads,
        queue_depth=settings.queue_depth,
        active_range=shared.range_of(settings),
        content=settings.content,
    )
    return Workload(streams=(stream,))


def minute(settings: WsatSettings, number: int) -> Measure:
    """Return one minute of the continuous stimulus, numbered from 1."""
    return Measure(
        workload=stimulus(settings),
        duration_ns=settings.minute_ns,
        phase=MINUTE,
        round_number=number,
        cell=cell_name(settings),
        continues=number > 1,
        open_ended=True,
    )


def cell_name(settings: WsatSettings) -> str:
    """Return the name that the record has for the stimulus: "0/100 4 KiB"."""
    block = units.format_block_size(settings.block_size_bytes)
    return f"{mix_name(settings.read_percent)} {block}"


def stimulus_words(settings: WsatSettings) -> str:
    """Return the stimulus as the reports of all tests write it: "RND 4 KiB 0/100"."""
    block = units.format_block_size(settings.block_size_bytes)
    return f"RND {block} {mix_name(settings.read_percent)}"


def why_stop(
    settings: WsatSettings,
    geometry: Geometry,
    answers: Sequence[StepResult],
    written_bytes: int,
) -> Stop | None:
    """Return which of the version's stop rules ends the run after these minutes, if any.

    `written_bytes` is what they wrote in all; steady state is looked at in check minutes only.
    """
    count, every = len(answers), settings.check_minutes
    checked = every is not None and count > 0 and count % (every + 1) == 0
    if checked and is_steady(determination(settings, answers)):
        return "steady"
    if written_bytes >= settings.capacity_times * geometry.capacity_bytes:
        return "capacity"
    return "minutes" if count >= settings.minutes_most else None


def check_answers(settings: WsatSettings, answers: Sequence[StepResult]) -> list[StepResult]:
    """Return the check minutes: with a check every 30 minutes, minutes 31, 62, 93 and so on."""
    every = settings.check_minutes
    return [] if every is None else list(answers[every :: every + 1])


def determinable(settings: WsatSettings, answers: Sequence[StepResult]) -> bool:
    """Return whether the version determines steady state, and enough check minutes came for it."""
    return len(check_answers(settings, answers)) >= WINDOW_ROUNDS


def determination(settings: WsatSettings, answers: Sequence[StepResult]) -> tuple[SteadyState, ...]:
    """Return the determination over the check minutes; none where the version asks for none."""
    if settings.check_minutes is None:
        return ()
    checks = check_answers(settings, answers)
    variable = say("check minute, {stimulus}", stimulus=stimulus_words(settings))
    values = tuple(measures.exact_iops(answer) for answer in checks)
    tracked = Tracked(variable=variable, unit="IOPS", values=values)
    return determine(range(1, len(checks) + 1), [tracked])


def samples_of(answers: Sequence[StepResult]) -> list[Sample]:
    """Return the saturation curve: one sample a minute, with what was written until its end."""
    samples, elapsed, written = [], 0, 0
    for answer in answers:
        elapsed += answer.elapsed_ns
        written += measures.written_bytes(answer)
        samples.append(Sample(iops=answer.iops, end_ns=elapsed, written_bytes=written))
    return samples


def steady_since(settings: WsatSettings, states: Sequence[SteadyState]) -> int | None:
    """Return how many minutes had gone by when the steady window's first check minute began."""
    window = states[0].window if is_steady(states) else None
    every = settings.check_minutes
    if window is None or every is None:
        return None
    return window.first_round * (every + 1) - 1
