"""The settings of DIRTH and of the composite workload: one set of knobs, two sets of defaults."""

from typing import Annotated

from teijo import units
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.document.phrase import say
from teijo.methods import knobs
from teijo.methods.knobs import Knob
from teijo.methods.pts import settings as shared
from teijo.methods.workload import words as workload_words
from teijo.methods.workload.words import BlockMix
from teijo.terms.cell import mix_name
from teijo.terms.workload import Access

MINUTES_MOST = 100_000


def _rounds_or_none(text: str) -> object:
    return 0 if text.strip() == "0" else knobs.whole_number(WINDOW_ROUNDS, 10_000)(text)


def _blocks(text: str) -> BlockMix:
    """Return the sizes of "8KiB", or of "4KiB:70,8KiB:30"."""
    if ":" not in text:
        return ((knobs.block_size(text), 1),)
    return workload_words.block_mix(text)


def show_blocks(value: object) -> str:
    """Show block sizes as they are written: a single one has no weight."""
    assert isinstance(value, tuple)
    single = len(value) == 1
    return knobs.show_size(value[0][0]) if single else workload_words.show_block_mix(value)


class DemandSettings(shared.PtsSettings, frozen=True):
    """The numbers of one run, on the device at hand. Minutes are counts of the standard's."""

    content: shared.DataPattern
    read_percent: Annotated[
        int,
        Knob(
            key="mix",
            aliases=("rw_mix",),
            meaning="R/W mix under test",
            example="65/35",
            parse=lambda text: knobs.mixes(text)[0],
            show=lambda value: knobs.show_mixes((value,)),
        ),
    ]
    blocks: Annotated[
        BlockMix,
        Knob(
            key="block_size",
            aliases=("bs", "block_sizes"),
            meaning="block size, or sizes with their weights",
            example="8KiB",
            parse=_blocks,
            show=show_blocks,
        ),
    ]
    access: Annotated[
        str,
        Knob(
            key="access",
            meaning="where the I/Os go: random, shuffled, zipf:THETA, pareto:H or zoned:50/5,…",
            example="zoned:50/5,30/15,20/80",
            parse=workload_words.access,
        ),
    ]
    thread_counts: Annotated[
        tuple[int, ...],
        Knob(
            key="threads",
            aliases=("tc", "thread_count"),
            meaning="thread counts (TC) of a round, the outer loop",
            example="32,16,8,6,4,2,1",
            parse=knobs.whole_numbers(1, shared.THREADS_MOST, "thread count"),
            show=knobs.show_numbers,
        ),
    ]
    queue_depths: Annotated[
        tuple[int, ...],
        Knob(
            key="queue_depth",
            aliases=("qd",),
            meaning="queue depths (QD) of a round, the inner loop",
            example="32,16,8,6,4,2,1",
            parse=knobs.whole_numbers(1, shared.QUEUE_DEPTH_MOST, "queue depth"),
            show=knobs.show_numbers,
        ),
    ]
    rounds_most: shared.RoundsMost
    precondition_rounds_most: Annotated[
        int,
        Knob(
            key="precondition_rounds",
            meaning="rounds of the preconditioning at most; 0 for no preconditioning",
            example="25",
            parse=_rounds_or_none,
            judges=True,
        ),
    ]
    precondition_minutes: Annotated[
        int,
        Knob(
            key="precondition_minutes",
            meaning="minutes of a round of the preconditioning; the first is the check minute",
            example="30",
            parse=knobs.whole_number(1, MINUTES_MOST),
        ),
    ]
    prewrite_minutes: Annotated[
        int,
        Knob(
            key="prewrite_minutes",
            aliases=("prewrite",),
            meaning="minutes of the pre-write that begins every round",
            example="5",
            parse=knobs.whole_number(0, MINUTES_MOST),
        ),
    ]
    point_prewrite_minutes: Annotated[
        int,
        Knob(
            key="point_prewrite_minutes",
            aliases=("point_prewrite",),
            meaning="minutes of the pre-write before each operating point's histogram",
            example="60",
            parse=knobs.whole_number(0, MINUTES_MOST),
        ),
    ]
    histogram_minutes: Annotated[
        int,
        Knob(
            key="histogram_minutes",
            meaning="minutes of each operating point's response-time histogram",
            example="10",
            parse=knobs.whole_number(1, MINUTES_MOST),
        ),
    ]
    latency_limit_ns: Annotated[
        int,
        Knob(
            key="latency_limit",
            aliases=("art_limit",),
            meaning="mean response time (ART) that MaxIOPS stays below",
            example="5ms",
            parse=knobs.duration,
            show=knobs.show_duration,
        ),
    ]

    @property
    def threads(self) -> int:
        """Thread count of the greatest demand: preconditioning, pre-writes, tracking."""
        return max(self.thread_counts)

    @property
    def queue_depth(self) -> int:
        """Queue depth of the greatest demand."""
        return max(self.queue_depths)

    @property
    def block_sizes_bytes(self) -> tuple[int, ...]:
        """Every block size."""
        return tuple(size for size, _ in self.blocks)


def stimulus_name(settings: DemandSettings) -> str:
    """Return what the I/Os are, without their mix: "RND 8 KiB", "12 block sizes, zoned"."""
    kind, _, _ = workload_words.parse_access(settings.access)
    if len(settings.blocks) > 1:
        return say("{count} block sizes, {access}", count=len(settings.blocks), access=str(kind))
    block = units.format_block_size(settings.blocks[0][0])
    if kind is Access.RANDOM:
        return say("RND {block}", block=block)
    return say("{block}, {access}", block=block, access=str(kind))


def stimulus_with(settings: DemandSettings, read_percent: int) -> str:
    """Return what the I/Os are at a mix: "RND 8 KiB 0/100"."""
    name, mix = stimulus_name(settings), mix_name(read_percent)
    return say("{stimulus} {mix}", stimulus=name, mix=mix)
