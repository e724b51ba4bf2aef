"""The settings of classic.bonnie, and the phases of one pass in the order of the original."""

from typing import Annotated, Final, Literal

from teijo import units
from teijo.methods.forms import ON_OFF, SIZE, YES_NO, Form, OnOff, YesNo, one_of, optional, whole
from teijo.methods.knobs import Knob, meaning
from teijo.methods.operations import MEMORY
from teijo.methods.settings import Settings

IO_PHASES: Final = ("putc", "put_block", "rewrite", "getc", "get_block", "seeks")
FILE_PHASES: Final = ("seq_create", "seq_stat", "seq_del", "ran_create", "ran_stat", "ran_del")
PHASES: Final = (*IO_PHASES, *FILE_PHASES)
"""The tests of one run in their order, by the names that Bonnie++ has for them in its CSV."""

Like = Literal["2.00", "1.97", "1.03"]
Links = Literal["none", "hard", "symbolic"]
LIKES: Final[tuple[Like, ...]] = ("2.00", "1.97", "1.03")
CHUNK_LEAST, CHUNK_MOST = 256, units.MIB
SIZE_LEAST: Final = 300 * units.MIB
PER_CHAR: Final = 3 * units.MIB
FILES_UNIT: Final = 1024
_NOTHING_OR_SIZE: Final = optional(SIZE, 0)
_FILES_MOST: Final = 10_000_000


def _chunk(text: str) -> int:
    value = SIZE.parse(text)
    if not CHUNK_LEAST <= value <= CHUNK_MOST or value & (value - 1):
        raise ValueError("it must be a power of two from 256 bytes to 1 MiB")
    return value


CHUNK: Final = Form(_chunk, SIZE.show)


class BonnieSettings(Settings, frozen=True):
    """What one run of Bonnie++ is made of."""

    like: Annotated[Like, Knob(one_of(*LIKES), "like=1.97", ("version",))] = meaning(
        "the version whose phases and defaults it has", "2.00"
    )
    size_bytes: Annotated[int, Knob(_NOTHING_OR_SIZE, "size=48GiB")] = meaning(
        "how large the one file is; none leaves its phases out", SIZE_LEAST
    )
    ram_bytes: Annotated[int, Knob(_NOTHING_OR_SIZE, "ram=16GiB")] = meaning(
        "the memory that the file must be twice as large as; none lets any file pass", 0
    )
    chunk_bytes: Annotated[int, Knob(CHUNK, "chunk=64KiB")] = meaning(
        "how much one call of the block phases moves", 8 * units.KIB
    )
    per_char_bytes: Annotated[int, Knob(_NOTHING_OR_SIZE, "per_char=20MiB")] = meaning(
        "how much is moved a byte at a time (all of it in 1.03); none leaves it out", PER_CHAR
    )
    seeks: Annotated[int, Knob(whole(1, units.GIGA), "seeks=100000")] = meaning(
        "how many seeks there are", 8192
    )
    seekers: Annotated[int, Knob(whole(1, 1000), "seekers=16")] = meaning(
        "how many processes do the seeks (3 in 1.03)", 5
    )
    files: Annotated[int, Knob(whole(0, _FILES_MOST), "files=131072")] = meaning(
        "how many files are created; 0 leaves their phases out", 16 * FILES_UNIT
    )
    largest_bytes: Annotated[int, Knob(_NOTHING_OR_SIZE, "largest=100KiB")] = meaning(
        "how large a file is at most; none for empty ones", 0
    )
    smallest_bytes: Annotated[int, Knob(_NOTHING_OR_SIZE, "smallest=1KiB")] = meaning(
        "how large a file is at least", 0
    )
    links: Annotated[Links, Knob(one_of("none", "hard", "symbolic"), "links=hard")] = meaning(
        "whether links to the first file are made instead of files", "none"
    )
    directories: Annotated[int, Knob(whole(1, 99_999), "directories=10")] = meaning(
        "how many folders the files lie in", 1
    )
    file_chunk_bytes: Annotated[int, Knob(CHUNK, "file_chunk=64KiB")] = meaning(
        "how much one call writes to and reads from a created file", 8 * units.KIB
    )
    flush: Annotated[YesNo, Knob(YES_NO, "flush=yes")] = meaning(
        "whether each updated chunk, created and deleted file is flushed (-b)", "no"
    )
    direct: Annotated[YesNo, Knob(YES_NO, "direct=yes")] = meaning(
        "whether the file is opened with O_DIRECT where the original does it (-D)", "no"
    )
    passes: Annotated[int, Knob(whole(1, 1000), "passes=5", ("runs",))] = meaning(
        "how often all of it is done (-x)", 1
    )
    memory_bytes: Annotated[int | None, MEMORY] = meaning(
        "the memory that this program and its page cache are held to", None
    )
    strict: Annotated[OnOff, Knob(ON_OFF, "strict=on")] = meaning(
        "the same test without its defects: unique random data, an empty page cache before each "
        "reading phase, the flush inside the latency, phases long enough to print",
        "off",
    )

    @property
    def phases(self) -> tuple[str, ...]:
        """The phases of one pass, in their order."""
        own: tuple[str, ...] = ()
        if self.size_bytes:
            char = {"putc", "getc"} if not self.per_char_bytes else set()
            own = tuple(name for name in IO_PHASES if name not in char)
        return own + (FILE_PHASES if self.files else ())
