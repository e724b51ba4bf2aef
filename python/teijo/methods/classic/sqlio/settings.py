"""What SQLIO may be asked for, and the load that follows: each option's Linux meaning."""

from typing import Annotated, Final, Literal

from teijo import units
from teijo.methods import forms
from teijo.methods.classic.pools import POOLS, Pool, written_once
from teijo.methods.classic.timed import TimedLoad
from teijo.methods.knobs import Knob, meaning
from teijo.methods.load import QUEUE_DEPTH_MOST, THREADS_MOST
from teijo.methods.settings import Settings
from teijo.terms.geometry import Geometry
from teijo.terms.step import Precondition
from teijo.terms.workload import Access, ActiveRange, Content, Stream, Workload

FACTOR_MOST: Final = units.MEGA
RUN_IOS_MOST: Final = units.MEGA
PASSES_MOST: Final = 100
BUFFERINGS: Final = ("N", "H", "S", "Y")
RANDOM, SEQUENTIAL = "random", "sequential"

Kind = Literal["read", "write"]


def _factor(text: str) -> str:
    word = text.strip().lower()
    if word in (RANDOM, SEQUENTIAL):
        return word
    try:
        return str(forms.whole(1, FACTOR_MOST).parse(word))
    except ValueError as error:
        raise ValueError(f"{error}, nor random, nor sequential") from None


def _buffering(text: str) -> str:
    word = text.strip().upper()
    if word not in BUFFERINGS:
        raise ValueError(f"it is none of {', '.join(BUFFERINGS)}")
    return word


class SqlioSettings(Settings, frozen=True):
    """One run of SQLIO, in its own words."""

    kind: Annotated[Kind, Knob(forms.one_of("read", "write"), "kind=write", ("k",))] = meaning(
        "read or write (-k)", "read"
    )
    threads: Annotated[int, Knob(forms.whole(1, THREADS_MOST), "threads=8", ("t",))] = meaning(
        "threads, on the whole target (-t)", 1
    )
    duration_ns: Annotated[int, Knob(forms.DURATION, "seconds=360", ("duration", "s"))] = meaning(
        "how long a pass is measured (-s)", 30 * units.NS_PER_S
    )
    factor: Annotated[str, Knob(forms.Form(_factor), "factor=random", ("f", "access"))] = meaning(
        "blocks from one I/O to the next, or random, or sequential (-f)", "64"
    )
    block_size_bytes: Annotated[
        int, Knob(forms.BLOCK_SIZE, "block=8KiB", ("b", "bs", "block_size"))
    ] = meaning("block size (-b)", 2 * units.KIB)
    depth: Annotated[int, Knob(forms.whole(0, QUEUE_DEPTH_MOST), "depth=8", ("o", "qd"))] = meaning(
        "outstanding I/Os of each thread for each file, or 0: one after the other (-o)", 0
    )
    run_ios: Annotated[int, Knob(forms.whole(1, RUN_IOS_MOST), "run_ios=64", ("i",))] = meaning(
        "I/Os of a run over the strip, before the next run begins one block later (-i)", 64
    )
    buffering: Annotated[str, Knob(forms.Form(_buffering), "buffering=H")] = meaning(
        "N: no cache, H: the drive's, S: the file's, Y: both (-B); S and Y want a buffered target",
        "N",
    )
    start_blocks: Annotated[int, Knob(forms.whole(0, 2**40), "start=128")] = meaning(
        "blocks at the front of each file that are left alone (-S)", 0
    )
    pools: Annotated[tuple[Pool, ...], Knob(POOLS, "pools=2@0+100MiB,2@100MiB+100MiB")] = meaning(
        "threads for each file of several: THREADS@FIRST+LENGTH, or none (-F)", ()
    )
    prepare: Annotated[
        Literal["none", "random"], Knob(forms.one_of("none", "random"), "prepare=random")
    ] = meaning("what is written over what will be touched first: none or random", "none")
    passes: Annotated[int, Knob(forms.whole(1, PASSES_MOST), "passes=5")] = meaning(
        "how often it is run, each time as the original is by hand", 1
    )
    strict: Annotated[forms.OnOff, Knob(forms.ON_OFF, "strict=on")] = meaning(
        "on: the whole target in place of the strip, written before it is read; unique data", "off"
    )

    @property
    def name(self) -> str:
        """The test in one line, the same in every language: "R RND 8 KiB, 4 × 8"."""
        order = {RANDOM: "RND", SEQUENTIAL: "SEQ"}.get(self.factor, f"F{self.factor}")
        threads = sum(pool.threads for pool in self.pools) or self.threads
        return (
            f"{self.kind[0].upper()} {order} {units.format_block_size(self.block_size_bytes)}, "
            f"{threads} × {max(1, self.depth)}"
        )

    @property
    def strip_bytes(self) -> int | None:
        """How much of each file is touched where a factor is set: 64 × 64 × 2 KB by default."""
        if not self.factor.isdecimal() or self.strict == "on":
            return None
        return int(self.factor) * self.run_ios * self.block_size_bytes

    @property
    def is_prepared(self) -> bool:
        """Whether what will be touched is written first: also what is read strictly."""
        return self.prepare != "none" or (self.strict == "on" and self.kind == "read")

    @property
    def files(self) -> tuple[Pool, ...]:
        """Each file with its threads; of a single one, the whole target."""
        return self.pools or (Pool(threads=self.threads),)


def stream_names(settings: SqlioSettings) -> tuple[str, ...]:
    """Return the name of each file's stream, in order."""
    count = len(settings.files)
    return ("main",) if count == 1 else tuple(f"file {place + 1}" for place in range(count))


def piece_of(settings: SqlioSettings, pool: Pool) -> ActiveRange:
    """Return what of a file is touched."""
    skipped = settings.start_blocks * settings.block_size_bytes
    return pool.piece(skipped, settings.strip_bytes)


def streams_of(settings: SqlioSettings) -> tuple[Stream, ...]:
    """Return the load: a stream for each file."""
    return tuple(
        _stream(settings, name, pool)
        for name, pool in zip(stream_names(settings), settings.files, strict=True)
    )


def _stream(settings: SqlioSettings, name: str, pool: Pool) -> Stream:
    strict = settings.strict == "on"
    sequential = settings.factor == SEQUENTIAL
    return Stream(
        name=name,
        read_percent=100 if settings.kind == "read" else 0,
        block_size_bytes=settings.block_size_bytes,
        access=_access(settings),
        threads=pool.threads,
        queue_depth=max(1, settings.depth),
        active_range=piece_of(settings, pool),
        # What the original writes is not known but for this: a thread's buffer is filled once.
        content=Content.RANDOM if strict else Content.ONE_BLOCK,
        # Each thread goes through the file by itself, so that they read one another's blocks.
        thread_stride_bytes=0 if sequential and not strict and pool.threads > 1 else None,
        # Each run of it begins at the start of the file.
        repeats="run" if sequential and not strict else "",
        write_through=settings.kind == "write" and settings.buffering in ("N", "S"),
        census=True,
    )


def _access(settings: SqlioSettings) -> Access:
    if settings.factor == RANDOM:
        return Access.RANDOM
    if settings.factor == SEQUENTIAL:
        return Access.SEQUENTIAL
    # A run goes over the strip in steps of the factor, the next one a block further: every block
    # once before any comes back. A shuffle has the same blocks as often, in another order.
    return Access.SHUFFLED


def load_of(settings: SqlioSettings, geometry: Geometry) -> TimedLoad:
    """Return the load on a device, with what is written before it."""
    prepare: tuple[Precondition, ...] = ()
    if settings.is_prepared:
        prepare = tuple(
            written_once(
                piece_of(settings, pool),
                geometry,
                Content.RANDOM,
                block_size_bytes=settings.block_size_bytes,
            )
            for pool in settings.files
        )
    return TimedLoad(
        name=settings.name,
        workload=Workload(streams=streams_of(settings)),
        duration_ns=settings.duration_ns,
        passes=settings.passes,
        prepare=prepare,
    )
