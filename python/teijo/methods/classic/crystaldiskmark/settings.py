"""What CrystalDiskMark can be asked for, and the loads that follow: which bytes go where."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from teijo import units
from teijo.methods import forms
from teijo.methods.classic.crystaldiskmark.rows import (
    Like,
    Place,
    Profile,
    Row,
    places_of,
    rows_of,
    shuffled,
)
from teijo.methods.forms import ON_OFF, OnOff, whole
from teijo.methods.knobs import Knob, meaning
from teijo.methods.settings import Settings
from teijo.terms.step import Measure, Precondition
from teijo.terms.workload import Access, ActiveRange, Content, Stream, Workload

PASS: Final = "pass"
PREPARING: Final = "preparing"
"""The pass that the original makes first and throws away, by its own word for it."""
FILL: Final = "fill"
USE: Final = "use"
MEASURE_NS: Final = 5 * units.NS_PER_S
INTERVAL_NS: Final = 5 * units.NS_PER_S
SIZE_BYTES: Final = units.GIB
SIZE_BYTES_3: Final = 1000 * units.MIB
FILL_BLOCK_BYTES: Final = units.MIB
_USE_DEPTH: Final = 8
_REPEATED: Final = "file"
"""One word for all rows: each pass of the original begins anew with the same seed, and so two rows
of one block size have the same offsets."""
Data = Literal["random", "0fill"]
_LIKES: Final = ("3", "5", "8")
_PROFILES: Final = ("default", "nvme", "peak", "real-world", "demo")


def read_percent_of(text: str) -> int | None:
    """Return the share of reads in "R70/W30"; None for "none"."""
    word = text.strip().upper()
    if word == "NONE":
        return None
    read, _, write = word.partition("/")
    shares = read.removeprefix("R"), write.removeprefix("W")
    if read[:1] == "R" and write[:1] == "W" and all(each.isdecimal() for each in shares):
        reads, writes = int(shares[0][:4]), int(shares[1][:4])
        if reads + writes == 100 and 0 < reads < 100 and reads % 10 == 0:
            return reads
    raise ValueError("it is none of R10/W90, R20/W80 … R90/W10")


def show_mix(value: int | None) -> str:
    """Show the share of reads as it is read."""
    return "none" if value is None else f"R{value}/W{100 - value}"


class CrystalDiskMarkSettings(Settings, frozen=True):
    """What the window offers, the version to act as, and `strict`."""

    like: Annotated[Like, Knob(forms.one_of(*_LIKES), "like=8")] = meaning(
        "the version to act as: 3, 5 or 8", "8"
    )
    profile: Annotated[Profile, Knob(forms.one_of(*_PROFILES), "profile=nvme")] = meaning(
        "rows of version 8: default, nvme, peak, real-world or demo", "default"
    )
    mix: Annotated[int | None, Knob(forms.Form(read_percent_of, show_mix), "mix=R70/W30")] = (
        meaning("rows that read and write at once in version 8, as R70/W30, or none", None)
    )
    runs: Annotated[int, Knob(whole(1, 9), "runs=5")] = meaning("how many passes of a row count", 5)
    size_bytes: Annotated[int, Knob(forms.SIZE, "size=1GiB")] = meaning(
        "how large the test file is: on a device, how much of it is the file", SIZE_BYTES
    )
    interval_ns: Annotated[int, Knob(forms.PAUSE, "interval=5s")] = meaning(
        "how long the target is left alone between two rows", INTERVAL_NS
    )
    measure_ns: Annotated[int, Knob(forms.DURATION, "measure=5s", ("seconds",))] = meaning(
        "how long one pass of a row lasts", MEASURE_NS
    )
    data: Annotated[Data, Knob(forms.one_of("random", "0fill"), "data=0fill")] = meaning(
        "what is written: random (one block over and over) or 0fill (zeros)", "random"
    )
    queues: Annotated[int, Knob(whole(1, 512), "queues=32")] = meaning(
        "outstanding I/Os of each thread in the first two rows of version 5", 32
    )
    threads: Annotated[int, Knob(whole(1, 64), "threads=1")] = meaning(
        "threads in the first two rows of version 5", 1
    )
    used_percent: Annotated[int, Knob(forms.percent(0, 99), "used=80%")] = meaning(
        "share of a device that is written before the file, as by other files on it, in percent", 0
    )
    strict: Annotated[OnOff, Knob(ON_OFF, "strict=on")] = meaning(
        "whether the same test is made without the original's defects", "off"
    )
    shuffle: Annotated[int, Knob(whole(0, 2**53 - 1), "shuffle=7")] = meaning(
        "the number that the order of the rows is drawn from, where it is strict", 1
    )

    @property
    def is_strict(self) -> bool:
        """Whether it is without the original's defects."""
        return self.strict == "on"

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the window, from above."""
        return rows_of(self.like, self.profile, queues=self.queues, threads=self.threads)

    @property
    def shown(self) -> tuple[Place, ...]:
        """Every place, in the order of a report: reads, writes, mixes."""
        return places_of("8", self.rows, mixes=self.mix is not None)

    @property
    def order(self) -> tuple[Place, ...]:
        """Every place in the order of its measuring."""
        places = places_of(self.like, self.rows, mixes=self.mix is not None)
        return shuffled(places, self.shuffle) if self.is_strict else places

    @property
    def passes_counted(self) -> int:
        """Passes of a row that count: with `strict` the first one, too."""
        return self.runs + 1 if self.is_strict else self.runs


@dataclass(frozen=True)
class Loads:
    """What is done to a device of a capacity, by settings."""

    settings: CrystalDiskMarkSettings
    capacity_bytes: int

    @property
    def used_bytes(self) -> int:
        """Where the file begins: behind what others use, in whole blocks of the fill."""
        used = self.capacity_bytes * self.settings.used_percent // 100
        return used // FILL_BLOCK_BYTES * FILL_BLOCK_BYTES

    def passes(self, place: Place) -> tuple[Measure, ...]:
        """Return every pass of a row in one direction, the one that is thrown away first."""
        settings = self.settings
        counted = tuple(
            self.measure(place, number) for number in range(1, settings.passes_counted + 1)
        )
        return counted if settings.is_strict else (self.measure(place, None), *counted)

    def measure(self, place: Place, number: int | None) -> Measure:
        """Return one pass; None is the number of the one that is thrown away."""
        return Measure(
            workload=Workload(streams=(self._stream(place),)),
            duration_ns=self.settings.measure_ns,
            phase=PREPARING if number is None else PASS,
            round_number=number,
            cell=place.name,
        )

    @property
    def preparations(self) -> tuple[Precondition, ...]:
        """What is written before anything is measured: other files, then the test file."""
        fill = Precondition(
            workload=_sequential_writes(FILL, 1, self._content, self._file),
            total_bytes=self.settings.size_bytes,
            phase=FILL,
        )
        if not self.used_bytes:
            return (fill,)
        others = ActiveRange(length_bytes=self.used_bytes)
        use = Precondition(
            workload=_sequential_writes(USE, _USE_DEPTH, Content.RANDOM, others),
            total_bytes=self.used_bytes,
            phase=USE,
        )
        return use, fill

    @property
    def _file(self) -> ActiveRange:
        return ActiveRange(first_byte=self.used_bytes, length_bytes=self.settings.size_bytes)

    @property
    def _content(self) -> Content:
        if self.settings.data == "0fill":
            return Content.ZERO
        return Content.RANDOM if self.settings.is_strict else Content.ONE_BLOCK

    def _stream(self, place: Place) -> Stream:
        row, settings = place.row, self.settings
        sequential = row.access is Access.SEQUENTIAL
        # Version 3 draws its random offsets on and on; it only begins its sequential ones anew.
        repeats = not settings.is_strict and (sequential or settings.like != "3")
        stride = None
        if sequential and row.threads > 1:
            blocks = settings.size_bytes // row.threads // row.block_size_bytes
            stride = blocks * row.block_size_bytes if settings.is_strict else 0
        return Stream(
            name=place.name,
            read_percent={"read": 100, "write": 0, "mix": settings.mix or 0}[place.column],
            block_size_bytes=row.block_size_bytes,
            access=row.access,
            threads=row.threads,
            queue_depth=row.queue_depth,
            active_range=self._file,
            content=self._content,
            repeats=_REPEATED if repeats else "",
            thread_stride_bytes=stride,
            census=True,
        )


def _sequential_writes(name: str, depth: int, content: Content, where: ActiveRange) -> Workload:
    stream = Stream(
        name=name,
        read_percent=0,
        block_size_bytes=FILL_BLOCK_BYTES,
        access=Access.SEQUENTIAL,
        queue_depth=depth,
        active_range=where,
        content=content,
        repeats=name,
    )
    return Workload(streams=(stream,))
