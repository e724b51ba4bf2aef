"""The matrix of PTS LAT: its settings, cells, tracking variable, preconditioning and the run for
the histogram, as data. One I/O is outstanding at a time (TC 1 × QD 1).
"""

from collections.abc import Sequence
from typing import Annotated

from teijo import units
from teijo.analysis import measures
from teijo.analysis.steady_state import Tracked, determine
from teijo.document.phrase import Phrase, say
from teijo.methods import knobs
from teijo.methods.knobs import Knob
from teijo.methods.phrases import sequential_writes
from teijo.methods.pts import settings as shared
from teijo.methods.pts.versions import (
    LATENCY_BLOCK_SIZES,
    LATENCY_READ_PERCENTS,
    PRECONDITION_BLOCK_BYTES,
    PRECONDITION_TIMES,
    ROUNDS_MOST,
    TrackingCell,
    Version,
)
from teijo.methods.rounds import ROUND, Round, Rounds
from teijo.terms.finding import SteadyState
from teijo.terms.geometry import Geometry
from teijo.terms.histogram import Histogram, merged
from teijo.terms.step import Measure
from teijo.terms.workload import Stream, Workload

TRACKED = TrackingCell(read_percent=0, block_size_bytes=4 * units.KIB)
"""Steady state is determined on the average latency of RND 4 KiB 0/100."""


class LatSettings(shared.PtsSettings, frozen=True):
    """The numbers of one LAT run, on the device at hand. The load of the test is 1 × 1."""

    content: shared.DataPattern
    mixes_read_percent: shared.Mixes
    block_sizes_bytes: shared.BlockSizes
    rounds_most: shared.RoundsMost
    histogram_minutes: shared.HistogramMinutes
    precondition_times: shared.PreconditionTimes
    precondition_block_bytes: shared.PreconditionBlock
    precondition_threads: Annotated[
        int,
        Knob(
            key="precondition_threads",
            meaning="thread count of the preconditioning; the test's own is 1",
            example="4",
            parse=knobs.whole_number(1, shared.THREADS_MOST),
        ),
    ]
    precondition_queue_depth: Annotated[
        int,
        Knob(
            key="precondition_qd",
            meaning="outstanding I/Os of each thread of the preconditioning; the test's own is 1",
            example="32",
            parse=knobs.whole_number(1, shared.QUEUE_DEPTH_MOST),
        ),
    ]

    @property
    def threads(self) -> int:
        """Thread count of the test: it is latency at one I/O."""
        return 1

    @property
    def queue_depth(self) -> int:
        """Queue depth of the test."""
        return 1


def standard(version: Version, geometry: Geometry) -> LatSettings:
    """Return the settings as the version has them on this device, unchecked."""
    defaults = shared.shared_defaults(version, geometry)
    dropped = dropped_blocks(geometry)
    return LatSettings.model_validate(
        {
            **{name: value for name, value in defaults.items() if name in LatSettings.model_fields},
            "mixes_read_percent": LATENCY_READ_PERCENTS,
            "block_sizes_bytes": tuple(b for b in LATENCY_BLOCK_SIZES if b not in dropped),
            "rounds_most": ROUNDS_MOST,
            "histogram_minutes": version.histogram_minutes,
            "precondition_times": PRECONDITION_TIMES,
            "precondition_block_bytes": PRECONDITION_BLOCK_BYTES,
            "precondition_threads": version.load.threads,
            "precondition_queue_depth": version.load.queue_depth,
        }
    )


def dropped_blocks(geometry: Geometry) -> tuple[int, ...]:
    """Return the standard's block sizes that this device cannot serve (0.5 KiB on 4Kn)."""
    return tuple(size for size in LATENCY_BLOCK_SIZES if size % geometry.logical_block_bytes)


def cell_name(read_percent: int, block_size_bytes: int) -> str:
    """Return a cell's name within the matrix: "65/35 4 KiB"."""
    return f"{knobs.show_mix(read_percent)} {units.format_block_size(block_size_bytes)}"


def stimulus_name(read_percent: int, block_size_bytes: int) -> Phrase:
    """Return a cell's stimulus: "RND 4 KiB 0/100"."""
    return say(
        "RND {block} {mix}",
        block=units.format_block_size(block_size_bytes),
        mix=knobs.show_mix(read_percent),
    )


def variable_name() -> Phrase:
    """Return the tracking variable's name."""
    stimulus = stimulus_name(TRACKED.read_percent, TRACKED.block_size_bytes)
    return say("average latency, {stimulus}", stimulus=stimulus)


def matrix(settings: LatSettings, round_number: int) -> tuple[Measure, ...]:
    """Return a round's cells: mixes outside, block sizes inside, a minute each."""
    return tuple(
        Measure(
            workload=_workload(settings, read_percent, block),
            duration_ns=settings.minute_ns,
            phase=ROUND,
            round_number=round_number,
            cell=cell_name(read_percent, block),
        )
        for read_percent in settings.mixes_read_percent
        for block in settings.block_sizes_bytes
    )


def histogram_stimulus(settings: LatSettings) -> Workload:
    """Return what is driven after the rounds: the tracked cell's stimulus."""
    return _workload(settings, TRACKED.read_percent, TRACKED.block_size_bytes)


def preconditioning(settings: LatSettings, geometry: Geometry) -> tuple[Workload, int]:
    """Return the WIPC stimulus and its volume in bytes, as in pts.iops but for its own load."""
    workload = sequential_writes(
        settings.precondition_block_bytes,
        active_range=shared.share_of(settings),
        threads=settings.precondition_threads,
        queue_depth=settings.precondition_queue_depth,
        content=settings.content,
    )
    align = geometry.physical_block_bytes
    return workload, settings.precondition_times * (geometry.capacity_bytes // align * align)


def determination(rounds: Rounds) -> tuple[SteadyState, ...]:
    """Return the determination of the average latency in ms over the unbroken rounds."""
    name = cell_name(TRACKED.read_percent, TRACKED.block_size_bytes)
    values = tuple(measures.exact_latency_ms(each.at(name)) for each in rounds.unbroken)
    tracked = Tracked(variable=variable_name(), unit="ms", values=values)
    return determine([each.number for each in rounds.unbroken], [tracked])


def latency_over(window: Sequence[Round], cell: str) -> Histogram:
    """Return the latencies of all a cell's I/Os in the window's rounds, exactly merged."""
    return merged(measures.latency_of(each.at(cell)) for each in window)


def _workload(settings: LatSettings, read_percent: int, block_size_bytes: int) -> Workload:
    stream = Stream(
        read_percent=read_percent,
        block_size_bytes=block_size_bytes,
        threads=settings.threads,
        queue_depth=settings.queue_depth,
        active_range=shared.range_of(settings),
        content=settings.content,
    )
    return Workload(streams=(stream,))
