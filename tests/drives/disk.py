"""What an emulated SATA or SAS drive is made of: image, state file, clock, knobs, command log.

The state file is the drive's non-volatile memory: it outlives a power cut. The model is written
by the standards (ACS-4, SAT-4, SPC-5, SBC-4), not by what Teijo asks of it.
"""

import copy
import ctypes
import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

from tests.drives.switched_on import LEFT

BLOCK = 512
PHYSICAL = 4096
_PUNCH_HOLE_KEEP_SIZE = 0x03
_LIBC = ctypes.CDLL(None, use_errno=True)


class Clock(Protocol):
    """Seconds that only go forward; `tick` is called once at each command."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...

    def tick(self) -> None: ...


@dataclass
class StepClock:
    """A clock that stands still but for `step` seconds a command, and for sleeping."""

    step: float = 1.0
    time: float = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def tick(self) -> None:
        self.time += self.step


class PowerLost(Exception):
    """The drive has no power: it does not answer."""


class TimedOut(Exception):
    """The host gave the command up and has reset the link."""


@dataclass(kw_only=True)
class Knobs:
    """How a drive is set up. What a power cut does to it follows from the standard and from these.

    `frozen`: the BIOS sends SECURITY FREEZE LOCK at each power on; ACS has a locked drive refuse
    that, `freezes_locked` is a firmware that takes it. `password`: a stranger's, set before; the
    drive is locked with it unless `unlocked`. `task_file`: False as behind a USB bridge that drops
    it. `damaged`: the checksum of its identity is wrong. `keeps`: a password that is set is not
    there ("none"), or is still there after the erase ("always"). `fixed_sense`: registers come in
    fixed format sense (SAT, D_SENSE 0). `mode`: what becomes
    of every erasing command: done, failed halfway, or said to be done and nothing erased.
    `refuses`: the drive aborts each command that erases. `operations`: whether it knows REPORT
    SUPPORTED OPERATION CODES, not at all ("none"), as another action ("other"), or answers without
    saying it ("untold"). `next_block`: the length that a format would give its blocks;
    `protection`: the type of protection information that they have.
    """

    duration: float = 4.0
    mode: Literal["ok", "fail", "liar"] = "ok"
    frozen: bool = False
    freezes_locked: bool = False
    password: str = ""
    maximum: bool = False
    unlocked: bool = False
    security: bool = True
    damaged: bool = False
    keeps: Literal["", "none", "always"] = ""
    enhanced: bool = True
    sanitize: tuple[str, ...] = ("crypto", "block", "overwrite")
    erase_minutes: int = 2
    task_file: bool = True
    pass_through: bool = True
    fixed_sense: bool = False
    hpa_sectors: int = 0
    trim: Literal["zeros", "ignored", "none"] = "zeros"
    failing: bool = False
    temperature: int = 33
    wce: bool = True
    rotation: int = 1
    speed: int = 3
    speed_now: int = 3
    format_unit: bool = True
    refuses: bool = False
    operations: Literal["told", "none", "other", "untold"] = "told"
    next_block: int = 0
    protection: int = 0
    serial: str = ""
    model: str = ""
    firmware: str = ""
    wwn: int = 0
    attributes: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """SMART attributes that differ: value, worst, raw by id."""
    percent_used: int = 3


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One command that reached the drive: name and code of the ATA or SCSI command, the CDB."""

    at: float
    name: str
    code: int
    ata: bool
    raw: bytes

    @property
    def line(self) -> str:
        kind = "ata" if self.ata else "scsi"
        return f"{self.at:.3f} {kind} {self.code:02X}h {self.name} {self.raw.hex()}"


class Medium:
    """The blocks, in an image file; a hole in the file is a block that is not allocated."""

    def __init__(self, image: Path, size: int, *, durable: bool = False) -> None:
        synced = os.O_DSYNC if durable else 0
        self.fd = os.open(image, os.O_RDWR | os.O_CREAT | synced, 0o600)
        LEFT.append(self.close)
        if os.fstat(self.fd).st_size != size:
            os.ftruncate(self.fd, size)
        self.size = size
        self.blocks = size // BLOCK

    def close(self) -> None:
        """Let go of the image, once."""
        os.close(self.fd)

    def read(self, block: int, count: int) -> bytes:
        return os.pread(self.fd, count * BLOCK, block * BLOCK)

    def write(self, block: int, data: bytes) -> None:
        os.pwrite(self.fd, data, block * BLOCK)

    def unmap(self, block: int, count: int) -> None:
        """Free a range: it reads as zeros; what is no whole physical block is written so."""
        start, end = block * BLOCK, (block + count) * BLOCK
        first, last = -(-start // PHYSICAL) * PHYSICAL, end // PHYSICAL * PHYSICAL
        if first >= last:
            os.pwrite(self.fd, bytes(end - start), start)
            return
        os.pwrite(self.fd, bytes(first - start), start)
        os.pwrite(self.fd, bytes(end - last), last)
        punched = _LIBC.fallocate(
            self.fd, _PUNCH_HOLE_KEEP_SIZE,
            ctypes.c_long(first), ctypes.c_long(last - first),
        )  # fmt: skip
        if punched:
            for at in range(first, last, 1 << 20):
                os.pwrite(self.fd, bytes(min(1 << 20, last - at)), at)

    def fill(self, pattern: bytes, end: int) -> None:
        """Write a pattern of at most a block over all before byte `end`."""
        piece = (pattern * (BLOCK // len(pattern) + 1))[:BLOCK] * 2048
        for at in range(0, end, len(piece)):
            os.pwrite(self.fd, piece[: end - at], at)

    def scramble(self, key: int, end: int) -> None:
        """Change all before byte `end` as a lost key does: to noise."""
        noise = random.Random(key)
        for at in range(0, end, 1 << 20):
            os.pwrite(self.fd, noise.randbytes(min(1 << 20, end - at)), at)

    def extents(self, block: int) -> Iterator[tuple[int, int, bool]]:
        """Yield (block, count, allocated) of each range of one kind, from a block on."""
        at = block * BLOCK
        while at < self.size:
            try:
                data = os.lseek(self.fd, at, os.SEEK_DATA)
            except OSError:  # ENXIO: nothing but a hole up to the end
                data = self.size
            end = data if data > at else min(os.lseek(self.fd, at, os.SEEK_HOLE), self.size)
            yield at // BLOCK, (end - at) // BLOCK, data == at
            at = end


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A long operation: does it run, how far of 65536, and did the last one fail."""

    running: bool = False
    done: int = 0
    failed: bool = False


def sync(path: Path) -> None:
    """Make a file, or the names in a folder, outlive a power cut."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class Disk:
    """A drive without its commands: power, memory, medium, and operations that take long.

    A `durable` one keeps medium and memory also where its host loses power.
    """

    VOLATILE: ClassVar[dict[str, Any]] = {}
    KEPT: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        image: Path,
        state: Path,
        knobs: Knobs,
        clock: Clock,
        *,
        size: int = 4 << 20,
        log: Path | None = None,
        durable: bool = False,
    ) -> None:
        self.knobs, self.clock, self.path = knobs, clock, state
        self.durable = durable
        self.medium = Medium(image, size, durable=durable)
        self.seen: list[Seen] = []
        self.log = log
        self.powered = False
        self.deadline: float | None = None
        self.cut_when_busy = False
        self.power_cut_at: int | None = None
        self.state: dict[str, Any] = {}
        self.power_on()

    # --- power

    def power_on(self) -> None:
        """Start with what the state file holds; the volatile half as after any power on."""
        if self.path.exists():
            self.state = (
                copy.deepcopy(self.KEPT) | json.loads(self.path.read_text()) | self.VOLATILE
            )
            self.state["power_cycles"] += 1
        else:
            self.state = copy.deepcopy(self.KEPT) | {"power_cycles": 1, "jobs": {}} | self.VOLATILE
            self.first_start()
        for job in self.state["jobs"].values():
            job["at"] = self.clock.now()
        self.powered, self.deadline = True, None
        self.started()
        self.save()

    def power_off(self) -> None:
        """Cut the power now; what ran has come as far as the clock says."""
        if self.powered:
            for name in self.state["jobs"]:
                self.progress(name)
            self.powered = False

    def first_start(self) -> None:
        """Set what the factory, or a stranger, has left."""

    def started(self) -> None:
        """Do what the drive and its BIOS do after each power on."""

    def link_reset(self) -> None:
        """Take a reset of the link: what a command was at is given up."""

    def save(self) -> None:
        """Write the memory that outlives power."""
        kept = {name: value for name, value in self.state.items() if name not in self.VOLATILE}
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(kept))
        if self.durable:
            # The medium first: a freed range must not come back after it is said to be erased.
            os.fsync(self.medium.fd)
            sync(new)
        new.replace(self.path)
        if self.durable:
            sync(self.path.parent)

    # --- time

    def arrive(self, seen: Seen) -> None:
        """Note a command. Raises PowerLost where it finds no power, or the knob cuts it now."""
        if not self.powered:
            raise PowerLost
        self.clock.tick()
        self.seen.append(seen)
        self._write(seen.line)
        if self.power_cut_at is not None and len(self.seen) >= self.power_cut_at:
            self.power_cut_at = None
            self.power_off()
            raise PowerLost

    def turn(self, **knobs: Any) -> None:
        """Turn knobs while it runs; the log of its commands tells of it."""
        self.knobs = replace(self.knobs, **knobs)
        self._write(f"{self.clock.now():.3f} turned {' '.join(knobs)} -")

    def _write(self, line: str) -> None:
        if self.log:
            with self.log.open("a") as lines:
                lines.write(line + "\n")

    def busy(self, seconds: float) -> None:
        """Be busy inside one command. Raises TimedOut or PowerLost if it is cut short."""
        now = self.clock.now()
        if self.cut_when_busy:
            self.cut_when_busy = False
            self.clock.sleep(seconds / 2)
            self.power_off()
            raise PowerLost
        if self.deadline is not None and now + seconds > self.deadline:
            self.clock.sleep(max(0.0, self.deadline - now))
            self.link_reset()
            raise TimedOut
        self.clock.sleep(seconds)

    def begin(self, name: str, **more: Any) -> None:
        """Begin an operation that goes on in the background."""
        self.state["jobs"][name] = {
            "running": True, "done": 0.0, "at": self.clock.now(), "failed": False, **more,
        }  # fmt: skip
        self.save()

    def progress(self, name: str) -> Progress:
        """Bring an operation up to date, and end it when its time has come."""
        job = self.state["jobs"].get(name)
        if job is None:
            return Progress()
        if job["running"]:
            now = self.clock.now()
            job["done"] += now - job["at"]
            job["at"] = now
            if job["done"] >= self.knobs.duration:
                job["running"] = False
                job["failed"] = not self.erase(job["how"], bytes.fromhex(job["pattern"]))
            self.save()
        share = job["done"] / self.knobs.duration if self.knobs.duration else 1.0
        return Progress(
            running=job["running"], done=min(int(share * 65536), 65535), failed=job["failed"]
        )

    def erase(self, how: str, pattern: bytes = b"\0") -> bool:
        """Erase all as the knob says: "block", "crypto" or "overwrite"; return whether it held."""
        mode = self.knobs.mode
        if mode == "liar":
            return True
        end = self.medium.size if mode == "ok" else self.medium.size // 2
        if how == "crypto":
            self.medium.scramble(self.state["power_cycles"], end)
        elif how == "overwrite":
            self.medium.fill(pattern, end)
        else:
            self.medium.unmap(0, end // BLOCK)
        return mode == "ok"

    # --- looking back

    def names(self) -> list[str]:
        """Return the names of all commands but reads, writes and flushes of blocks, in order."""
        return [seen.name for seen in self.seen if not seen.name.startswith(IO)]

    def saw(self, code: int, *, ata: bool) -> int:
        """Return how often a command of this code has come."""
        return sum(seen.code == code and seen.ata == ata for seen in self.seen)


IO = ("READ(", "WRITE(", "SYNCHRONIZE CACHE")
