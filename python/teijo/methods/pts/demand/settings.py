"""The settings of DIRTH and of the composite workload: one set of knobs, two sets of defaults."""

from typing import Annotated

from teijo import units
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.document.phrase import say
from teijo.methods import load
from teijo.methods.forms import BLOCK_SIZE, DURATION, MIX, Form, whole, whole_list
from teijo.methods.knobs import Knob, meaning
from teijo.methods.pts import settings as shared
from teijo.methods.workload import words as workload_words
from teijo.methods.workload.words import BlockMix
from teijo.terms.cell import mix_name
from teijo.terms.workload import Access

MINUTES_MOST = 100_000


def _rounds_or_none(text: str) -> int:
    # 0 leaves the preconditioning out; of one to four rounds no window could ever be steady.
    return 0 if text.strip() == "0" else whole(WINDOW_ROUNDS, 10_000).parse(text)


def _blocks(text: str) -> BlockMix:
    """Return the sizes of "8KiB", or of "4KiB:70,8KiB:30"."""
    if ":" not in text:
        return ((BLOCK_SIZE.parse(text), 1),)
    return workload_words.BLOCK_MIX.parse(text)


def show_blocks(value: BlockMix) -> str:
    """Show block sizes as they are written: a single one has no weight."""
    single = len(value) == 1
    return BLOCK_SIZE.show(value[0][0]) if single else workload_words.BLOCK_MIX.show(value)


class DemandSettings(shared.PtsSettings, frozen=True):
    """The numbers of one run, on the device at hand. Minutes are counts of the standard's."""

    content: load.DataPattern
    read_percent: Annotated[int, Knob(MIX, "mix=65/35", ("rw_mix",))] = meaning(
        "R/W mix under test"
    )
    blocks: Annotated[
        BlockMix, Knob(Form(_blocks, show_blocks), "block_size=8KiB", ("bs", "block_sizes"))
    ] = meaning("block size, or sizes with their weights")
    access: Annotated[str, Knob(workload_words.ACCESS, "access=zoned:50/5,30/15,20/80")] = meaning(
        "where the I/Os go: random, shuffled, zipf:THETA, pareto:H or zoned:50/5,…"
    )
    thread_counts: Annotated[
        tuple[int, ...],
        Knob(
            whole_list(1, load.THREADS_MOST, "thread count"),
            "threads=32,16,8,6,4,2,1",
            ("tc", "thread_count"),
        ),
    ] = meaning("thread counts (TC) of a round, the outer loop")
    queue_depths: Annotated[
        tuple[int, ...],
        Knob(
            whole_list(1, load.QUEUE_DEPTH_MOST, "queue depth"),
            "queue_depth=32,16,8,6,4,2,1",
            ("qd",),
        ),
    ] = meaning("queue depths (QD) of a round, the inner loop")
    rounds_most: shared.RoundsMost
    precondition_rounds_most: Annotated[
        int, Knob(Form(_rounds_or_none), "precondition_rounds=25", judges=True)
    ] = meaning("rounds of the preconditioning at most; 0 for no preconditioning")
    precondition_minutes: Annotated[
        int, Knob(whole(1, MINUTES_MOST), "precondition_minutes=30")
    ] = meaning("minutes of a round of the preconditioning; the first is the check minute")
    prewrite_minutes: Annotated[
        int, Knob(whole(0, MINUTES_MOST), "prewrite_minutes=5", ("prewrite",))
    ] = meaning("minutes of the pre-write that begins every round")
    point_prewrite_minutes: Annotated[
        int, Knob(whole(0, MINUTES_MOST), "point_prewrite_minutes=60", ("point_prewrite",))
    ] = meaning("minutes of the pre-write before each operating point's histogram")
    histogram_minutes: Annotated[int, Knob(whole(1, MINUTES_MOST), "histogram_minutes=10")] = (
        meaning("minutes of each operating point's response-time histogram")
    )
    latency_limit_ns: Annotated[int, Knob(DURATION, "latency_limit=5ms", ("art_limit",))] = meaning(
        "mean response time (ART) that MaxIOPS stays below"
    )

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
