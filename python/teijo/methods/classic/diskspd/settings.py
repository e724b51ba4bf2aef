"""What DiskSpd may be asked for: the settings of a run, each with the option it stands for."""

from typing import Annotated, Final, Literal

from teijo import units
from teijo.methods import forms
from teijo.methods.classic.pools import POOLS, Pool
from teijo.methods.forms import YES_NO, YesNo, optional
from teijo.methods.knobs import Knob, meaning
from teijo.methods.load import QUEUE_DEPTH_MOST, THREADS_MOST
from teijo.methods.settings import Settings
from teijo.terms.workload import Content

PASSES_MOST: Final = 100
SEEDS: Final = 2**32 - 1
Access = Literal["sequential", "random"]
Data = Literal["counting", "zero", "random", "one-block"]
DATA: Final[dict[str, Content]] = {
    "counting": Content.COUNTING,
    "zero": Content.ZERO,
    "random": Content.REFILL,
    "one-block": Content.ONE_BLOCK,
}
"""What -Z says: nothing, -Z, -Zr, -Z<size>."""
Buffering = Literal["b", "u", "w", "uw"]
Prepare = Literal["none", "zero", "random"]


def _offset(text: str) -> int:
    return units.parse_size(text)


class DiskspdSettings(Settings, frozen=True):
    """One run of DiskSpd."""

    block_size_bytes: Annotated[
        int, Knob(forms.BLOCK_SIZE, "block=8KiB", ("b", "bs", "block_size"))
    ] = meaning("block size (-b)", 64 * units.KIB)
    outstanding: Annotated[
        int, Knob(forms.whole(1, QUEUE_DEPTH_MOST), "outstanding=32", ("o", "qd"))
    ] = meaning("outstanding I/Os of each thread for each target (-o)", 2)
    threads: Annotated[int, Knob(forms.whole(1, THREADS_MOST), "threads=4", ("t",))] = meaning(
        "threads, on the whole target (-t, -F)", 1
    )
    access: Annotated[
        Access, Knob(forms.one_of("sequential", "random"), "access=random", ("r", "s"))
    ] = meaning("random (-r) or sequential (-s)", "sequential")
    alignment_bytes: Annotated[int | None, Knob(optional(forms.BLOCK_SIZE), "alignment=4KiB")] = (
        meaning("grid of random offsets (-r4K), or none: that of the blocks", None)
    )
    interlocked: Annotated[YesNo, Knob(YES_NO, "interlocked=yes", ("si",))] = meaning(
        "whether threads share one sequential offset (-si)", "no"
    )
    stride_bytes: Annotated[int | None, Knob(optional(forms.SIZE), "stride=1GiB")] = meaning(
        "how far apart the threads of a sequential run begin (-T), or none: together", None
    )
    base_bytes: Annotated[int, Knob(forms.Form(_offset, forms.SIZE.show), "base=1GiB")] = meaning(
        "where the range of each target begins (-B)", 0
    )
    length_bytes: Annotated[int | None, Knob(optional(forms.SIZE), "length=8GiB", ("f",))] = (
        meaning("how long the range is (-B base:length, -f), or none: to the end", None)
    )
    write_percent: Annotated[int, Knob(forms.percent(0, 100), "write=30", ("w",))] = meaning(
        "percent of the I/Os that write (-w)", 0
    )
    duration_ns: Annotated[int, Knob(forms.DURATION, "seconds=60", ("duration", "d"))] = meaning(
        "how long a pass is measured (-d)", 10 * units.NS_PER_S
    )
    warm_up_ns: Annotated[int, Knob(forms.PAUSE, "warm_up=5s")] = meaning(
        "how long the load is driven before it is measured (-W)", 5 * units.NS_PER_S
    )
    cool_down_ns: Annotated[int, Knob(forms.PAUSE, "cool_down=0s")] = meaning(
        "how long the load goes on after it (-C)", 0
    )
    interval_ns: Annotated[int, Knob(forms.DURATION, "interval=250ms")] = meaning(
        "length of an interval of the time series (-D)", units.NS_PER_S
    )
    data: Annotated[Data, Knob(forms.one_of(*DATA), "data=random")] = meaning(
        "what is written: counting bytes, zero (-Z), random (-Zr) or one-block (-Z1M)", "counting"
    )
    buffering: Annotated[Buffering, Knob(forms.one_of("b", "u", "w", "uw"), "buffering=uw")] = (
        meaning(
            "b: all caches, u: not the file's (-Su), w: write-through (-Sw), uw: both (-Sh); b and "
            "w want a buffered target",
            "b",
        )
    )
    seed: Annotated[int, Knob(forms.whole(0, SEEDS), "seed=1", ("z",))] = meaning(
        "names the random offsets: passes of one seed have the same ones (-z)", 0
    )
    prepare: Annotated[Prepare, Knob(forms.one_of("none", "zero", "random"), "prepare=zero")] = (
        meaning("what is written over each target first, as -c does: none, zero or random", "none")
    )
    pools: Annotated[tuple[Pool, ...], Knob(POOLS, "pools=2@0+1GiB,2@1GiB+1GiB")] = meaning(
        "threads for each target of several: THREADS@FIRST+LENGTH, or none", ()
    )
    all_targets: Annotated[YesNo, Knob(YES_NO, "all_targets=yes")] = meaning(
        "whether each thread works on all targets (-F), or on one of them (-t)", "no"
    )
    passes: Annotated[int, Knob(forms.whole(1, PASSES_MOST), "passes=5")] = meaning(
        "how often it is run, each time as the original is by hand", 1
    )
    strict: Annotated[forms.OnOff, Knob(forms.ON_OFF, "strict=on")] = meaning(
        "on: new offsets each pass, unique data, no block read twice by two threads, written first",
        "off",
    )

    @property
    def name(self) -> str:
        """The test in one line, the same in every language: "70/30 RND 8 KiB, 4 × 32"."""
        order = "RND" if self.access == "random" else "SEQ"
        mix = f"{100 - self.write_percent}/{self.write_percent}"
        block = units.format_block_size(self.block_size_bytes)
        threads = sum(pool.threads for pool in self.pools) or self.threads
        return f"{mix} {order} {block}, {threads} × {self.outstanding}"

    @property
    def targets(self) -> tuple[Pool, ...]:
        """Each target with its threads; of a single one, the whole of it."""
        return self.pools or (Pool(threads=self.threads),)
