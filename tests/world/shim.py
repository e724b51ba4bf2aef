"""The preloaded library world.c: built, told what befalls which call, its log of the disk read.

A process lives in the world only after `begin`; the library must have been preloaded by then.
"""

import ctypes
import os
import random
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

SOURCE: Final = Path(__file__).with_name("world.c")
NAME, TRIGGERS, KINDS = 512, 32, 16
LOG_BYTES: Final = 128 << 20
EPOCH_NS: Final = 1_800_000_000 * 10**9

Action = Literal["fail", "short", "lie", "kill", "tear", "signal", "step", "suspend"]
ACTIONS: Final[Mapping[Action, int]] = {
    "fail": 1, "short": 2, "lie": 3, "kill": 4, "tear": 5, "signal": 6, "step": 7, "suspend": 8,
}  # fmt: skip
WRITE, SIZE, MAKE, UNLINK, RENAME = 1, 2, 3, 4, 5
DURABLE, DOOMED = 1, 2


class Trigger(ctypes.Structure):
    """At the so manieth call on, `lasts` calls long."""

    _fields_ = [(name, ctypes.c_int64) for name in ("at", "action", "value", "lasts", "done")]


class Head(ctypes.Structure):
    """What world.c calls `struct world`, without its log."""

    _fields_ = [
        ("prefix", ctypes.c_char * NAME),
        ("grave", ctypes.c_char * NAME),
        *((name, ctypes.c_int64) for name in ("calls", "triggers", "now_ns", "tick_ns")),
        *((name, ctypes.c_int64) for name in ("wall_ns", "asleep_ns", "lying", "overflow")),
        ("injected", ctypes.c_int64 * KINDS),
        ("trigger", Trigger * TRIGGERS),
        ("log_used", ctypes.c_uint64),
        ("log_size", ctypes.c_uint64),
    ]


class Entry(ctypes.Structure):
    """One line of the log; `before` and then `after` bytes follow it."""

    _fields_ = [
        ("type", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        *((name, ctypes.c_uint64) for name in ("inode", "other", "offset", "size_before")),
        *((name, ctypes.c_uint64) for name in ("size_after", "before", "after", "whole")),
        ("name", ctypes.c_char * NAME),
        ("name_to", ctypes.c_char * NAME),
    ]


def built(folder: Path | None = None) -> Path:
    """Return the library, built if its source is newer."""
    folder = folder or Path(tempfile.gettempdir())
    made = folder / f"teijo-world-{os.getuid()}-{SOURCE.stat().st_mtime_ns:x}.so"
    if not made.exists():
        part = made.with_suffix(f".{os.getpid()}")
        command = ["gcc", "-O1", "-shared", "-fPIC", "-o", str(part), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True)
        part.rename(made)
    return made


@dataclass(frozen=True)
class Change:
    """One change of the disk that was not flushed, with its bytes."""

    entry: Entry
    before: bytes
    after: bytes


@dataclass
class Disk:
    """The results disk and the clocks of one world, seen from outside."""

    folder: Path
    grave: Path
    _library: ctypes.CDLL = field(default_factory=lambda: ctypes.CDLL(None))

    def __post_init__(self) -> None:
        """Map what the library and this process share."""
        shared = self.grave.parent / "shared"
        size = ctypes.sizeof(Head) + LOG_BYTES
        self._library.world_map(os.fsencode(shared), ctypes.c_uint64(size))
        self._library.world_state.restype = ctypes.c_void_p
        self._address: int = self._library.world_state()
        self.head = Head.from_address(self._address)

    def new(self, tick_ns: int) -> None:
        """Begin a new world: an empty, flushed disk, and a clock that no step was made on."""
        for place in (self.folder, self.grave):
            place.mkdir(parents=True, exist_ok=True)
            for item in place.iterdir():
                item.unlink()
        head = self.head
        head.prefix, head.grave = os.fsencode(self.folder), os.fsencode(self.grave)
        head.calls = head.triggers = head.wall_ns = head.asleep_ns = head.lying = 0
        head.now_ns, head.tick_ns, head.overflow, head.log_used = EPOCH_NS, tick_ns, 0, 0

    def arm(self, triggers: list[tuple[int, Action, int, int]]) -> None:
        """Say what befalls the next life: (at call, action, value, for so many calls)."""
        head = self.head
        head.calls, head.triggers = 0, len(triggers)
        for place, (at, action, value, lasts) in enumerate(triggers):
            head.trigger[place] = Trigger(at, ACTIONS[action], value, lasts, 0)
        for place in range(KINDS):
            head.injected[place] = 0

    def begin(self) -> None:
        """Let this process live in the world from now on."""
        self._library.world_begin()

    def advance(self, ns: int) -> None:
        """Let time pass."""
        self._library.world_advance(ctypes.c_int64(ns))

    def injected(self, action: Action) -> int:
        """Return how often an action took place in the last life."""
        return int(self.head.injected[ACTIONS[action]])

    def changes(self) -> Iterator[Change]:
        """Yield the log."""
        at, base = 0, self._address + ctypes.sizeof(Head)
        while at < self.head.log_used:
            entry = Entry.from_address(base + at)
            body = base + at + ctypes.sizeof(Entry)
            yield Change(
                entry,
                ctypes.string_at(body, entry.before),
                ctypes.string_at(body + entry.before, entry.after),
            )
            at += entry.whole

    def cut_power(self, draw: random.Random) -> int:
        """Take back what was not flushed, all or some of it; return how many changes were lost.

        Names go from the last backwards, as a journal has them; of data any piece of a sector may
        have come to the disk and any may not.
        """
        assert not self.head.overflow, "the log was too small for this world"
        log = list(self.changes())
        contents = {
            item.stat().st_ino: bytearray(item.read_bytes())
            for place in (self.grave, self.folder)
            for item in place.iterdir()
        }
        data = [one for one in log if one.entry.type in (WRITE, SIZE)]
        for one in reversed(data):
            _undo(contents, one)
        mood = draw.choice(("nothing", "some", "some", "a prefix", "all"))
        until = draw.randint(0, len(data))
        lost = 0
        for place, one in enumerate(data):
            kept = {"nothing": False, "all": True, "a prefix": place < until}.get(mood)
            lost += _redo(contents, one, True if one.entry.flags & DURABLE else kept, draw)
        lost += self._lose_names(log, contents, draw)
        self.head.log_used = 0
        return lost

    def _lose_names(
        self, log: list[Change], contents: dict[int, bytearray], draw: random.Random
    ) -> int:
        names = {item.name: item.stat().st_ino for item in self.folder.iterdir()}
        loose = [one for one in log if one.entry.type >= MAKE and not one.entry.flags & DURABLE]
        lost = loose[draw.randint(0, len(loose)) :]
        for one in reversed(lost):
            entry, name, to = one.entry, one.entry.name.decode(), one.entry.name_to.decode()
            match entry.type:
                case 3:  # MAKE
                    names.pop(name, None)
                case 4:  # UNLINK
                    names[name] = entry.inode
                case 5:  # RENAME
                    names.pop(to, None)
                    names[name] = entry.inode
                    if entry.other:
                        names[to] = entry.other
        for place in (self.folder, self.grave):
            for item in place.iterdir():
                item.unlink()
        made: dict[int, Path] = {}
        for name, inode in names.items():
            path = self.folder / name
            if inode in made:
                os.link(made[inode], path)
                continue
            path.write_bytes(contents.get(inode, b""))
            made[inode] = path
        return len(lost)


def _undo(contents: dict[int, bytearray], one: Change) -> None:
    entry, body = one.entry, contents.setdefault(one.entry.inode, bytearray())
    body.extend(bytes(max(0, entry.offset + len(one.before) - len(body))))
    body[entry.offset : entry.offset + len(one.before)] = one.before
    del body[entry.size_before :]
    body.extend(bytes(max(0, entry.size_before - len(body))))


def _redo(
    contents: dict[int, bytearray], one: Change, kept: bool | None, draw: random.Random
) -> int:
    """Let a change come to the disk: all of it, none, or (`kept` None) any sectors of it."""
    entry, body = one.entry, contents.setdefault(one.entry.inode, bytearray())
    if entry.type == SIZE:
        if kept is False or (kept is None and draw.random() < 0.5):
            return 1
        del body[entry.size_after :]
        body.extend(bytes(max(0, entry.size_after - len(body))))
        return 0
    lost = 0
    whole = kept is None and draw.random() < 0.5
    for at in range(0, len(one.after), 512):
        stays = kept if kept is not None else whole or draw.random() < 0.7
        if (entry.flags & DOOMED and not entry.flags & DURABLE) or not stays:
            lost += 1
            continue
        piece = one.after[at : at + 512]
        start = entry.offset + at
        body.extend(bytes(max(0, start + len(piece) - len(body))))
        body[start : start + len(piece)] = piece
    return lost
