"""The settings of classic.tiotest and classic.tiobench, and their four phases."""

from dataclasses import dataclass
from typing import Annotated, Final

from teijo import units
from teijo.methods.forms import (
    LIST_MOST,
    ON_OFF,
    SIZE,
    YES_NO,
    Form,
    OnOff,
    YesNo,
    optional,
    whole,
    whole_list,
)
from teijo.methods.knobs import Knob, meaning
from teijo.methods.operations import MEMORY
from teijo.methods.settings import Settings

PHASES: Final = ("write", "rwrite", "read", "rread")
"""The phases of one run in their order, by the names of tiotest's terse lines."""
THREADS_MOST: Final = 4096
_OPS: Final = whole(1, units.GIGA)
_SKIPPED: Final = "skip=rwrite"


def _skipped(text: str) -> tuple[str, ...]:
    words = tuple(word.strip().lower() for word in text.split(",") if word.strip())
    for word in words:
        if word not in PHASES:
            raise ValueError(f"{word!r} is none of {', '.join(PHASES)}")
    if set(words) >= set(PHASES):
        raise ValueError("it leaves nothing to do")
    return tuple(name for name in PHASES if name in words)


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part for part in text.split(",") if part.strip()]
    if not parts or len(parts) > LIST_MOST:
        raise ValueError(f"it must name 1 to {LIST_MOST} sizes")
    values = tuple(map(SIZE.parse, parts))
    if len(set(values)) < len(values):
        raise ValueError("it names one of them twice")
    return values


SKIP: Final = optional(Form(_skipped, ",".join), ())
SIZES: Final = Form(_sizes, lambda values: ",".join(map(SIZE.show, values)))


@dataclass(frozen=True, kw_only=True)
class Combination:
    """One call of tiotest: so many threads, each with a file, blocks, and random calls."""

    threads: int
    file_bytes: int
    block_bytes: int
    random_ops: int
    size_bytes: int
    """What tiobench was asked for, over all threads."""

    @property
    def name(self) -> str:
        """What tells it from others of a run: "1 GiB, 4 KiB, T8"."""
        size, block = units.format_size(self.size_bytes), units.format_size(self.block_bytes)
        return f"{size}, {block}, T{self.threads}"


class TioSettings(Settings, frozen=True):
    """What both have: how the files are opened, read and written."""

    skip: Annotated[tuple[str, ...], Knob(SKIP, _SKIPPED)] = meaning(
        "the phases that are left out: write, rwrite, read, rread (-k)", ()
    )
    mmap: Annotated[YesNo, Knob(YES_NO, "mmap=yes")] = meaning(
        "whether the files are mapped into memory instead of read and written (-M)", "no"
    )
    in_turn: Annotated[YesNo, Knob(YES_NO, "in_turn=yes")] = meaning(
        "whether threads write in order one after the other (-W)", "no"
    )
    synchronous: Annotated[YesNo, Knob(YES_NO, "synchronous=yes")] = meaning(
        "whether the files are opened with O_SYNC (-S)", "no"
    )
    direct: Annotated[YesNo, Knob(YES_NO, "direct=yes")] = meaning(
        "whether the files are opened with O_DIRECT (-X)", "no"
    )
    drop_caches: Annotated[YesNo, Knob(YES_NO, "drop_caches=yes")] = meaning(
        "whether the page cache is written back and emptied before each phase (-F)", "no"
    )
    one_block: Annotated[YesNo, Knob(YES_NO, "one_block=yes")] = meaning(
        "whether the same random block is written over and over, instead of zeros (-c)", "no"
    )
    passes: Annotated[int, Knob(whole(1, 1000), "passes=5", ("numruns",))] = meaning(
        "how often all of it is done", 1
    )
    memory_bytes: Annotated[int | None, MEMORY] = meaning(
        "the memory that this program and its page cache are held to", None
    )
    strict: Annotated[OnOff, Knob(ON_OFF, "strict=on")] = meaning(
        "the same test without its defects: unique random data, an empty page cache before each "
        "phase, the flush inside the latency, files written before they are read",
        "off",
    )

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases of one call, in their order."""
        return tuple(name for name in PHASES if name not in self.skip)

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """The calls of one pass, in their order."""
        raise NotImplementedError

    def cell(self, combination: Combination, phase: str) -> str:
        """Return the name of a phase: of several combinations, with which it is."""
        return phase if len(self.combinations) == 1 else f"{combination.name} {phase}"


class TiotestSettings(TioSettings, frozen=True):
    """One call of tiotest."""

    threads: Annotated[int, Knob(whole(1, THREADS_MOST), "threads=8")] = meaning(
        "how many threads there are, each with a file (-t)", 4
    )
    file_bytes: Annotated[int, Knob(SIZE, "size=128MiB", ("file",))] = meaning(
        "how large the file of one thread is (-f)", 10 * units.MIB
    )
    block_bytes: Annotated[int, Knob(SIZE, "block=4KiB")] = meaning(
        "how much one call moves (-b)", 4 * units.KIB
    )
    random_ops: Annotated[int, Knob(_OPS, "random=32768")] = meaning(
        "how many random calls one thread makes (-r; 1,000 up to 0.4.1)", 100_000
    )

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """The one call."""
        return (
            Combination(
                threads=self.threads,
                file_bytes=self.file_bytes,
                block_bytes=self.block_bytes,
                random_ops=self.random_ops,
                size_bytes=self.threads * self.file_bytes,
            ),
        )


class TiobenchSettings(TioSettings, frozen=True):
    """Several calls of tiotest: sizes, block sizes, and numbers of threads."""

    sizes_bytes: Annotated[tuple[int, ...], Knob(SIZES, "size=48GiB")] = meaning(
        "how large the files of all threads are together (--size)", (units.GIB,)
    )
    blocks_bytes: Annotated[tuple[int, ...], Knob(SIZES, "block=4KiB,64KiB")] = meaning(
        "how much one call moves (--block)", (4 * units.KIB,)
    )
    threads: Annotated[
        tuple[int, ...], Knob(whole_list(1, THREADS_MOST, "numbers"), "threads=1,2,4,8")
    ] = meaning("how many threads there are (--threads)", (1, 2, 4, 8))
    random_ops: Annotated[int, Knob(_OPS, "random=4000")] = meaning(
        "how many random calls all threads make together (--random)", 4000
    )

    @property
    def combinations(self) -> tuple[Combination, ...]:
        """A call for each size, block size and number of threads, in the order of tiobench."""
        return tuple(
            Combination(
                threads=threads,
                # Whole MiB of each thread, at least one, as tiobench hands them on.
                file_bytes=max(1, size // units.MIB // threads) * units.MIB,
                block_bytes=block,
                random_ops=max(1, self.random_ops // threads),
                size_bytes=size,
            )
            for size in self.sizes_bytes
            for block in self.blocks_bytes
            for threads in self.threads
        )
