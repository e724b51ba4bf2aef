"""The write-ahead log of a file that nobody writes: whole, cut short, or damaged.

SQLite leaves out all that follows a frame whose checksum is wrong, and says nothing.
Source: https://sqlite.org/fileformat2.html, section 4.
"""

import fcntl
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from teijo.errors import RunFileError
from teijo.runfile import guard
from teijo.terms.remark import Remark, RemarkKind

_HEAD_BYTES: Final = 32
_FRAME_HEAD_BYTES: Final = 24
_MAGIC: Final = 0x377F0682
_AT_ONCE_BYTES: Final = 4 << 20
_UNFLUSHED: Final = 2
"""Transactions a power cut may tear: a step's beginning is flushed with what follows it."""

_WORD: Final = 1 << 32

CUT: Final = Remark(
    kind=RemarkKind.RECORD_CUT,
    text="The run file's log was cut short: what was recorded in its last moment is missing.",
)

Sum = tuple[int, int]


class State(Enum):
    """What a log shows."""

    WHOLE = "whole"
    CUT = "cut short: the last transaction or two are not all there"
    DAMAGED = "damaged: a part of it that was flushed has changed"


@dataclass(frozen=True)
class _Frame:
    page: int
    content: NDArray[np.uint8]
    commits: bool
    salts: Sum
    stored: Sum
    own: Sum
    """The part of the checksum that comes from the frame's content."""


def check(path: Path, *, locked: bool = False) -> bool:
    """Look at the log beside a run file; tell whether its end was cut short.

    `locked` says that the caller holds the lock of the one writer, and has not written yet.

    Raises:
        RunFileError: it is damaged in a part that was flushed.
        HostError: it cannot be read.
    """
    state = _state(path)
    if state is not State.WHOLE and not locked and _is_written(path):
        return False  # by another process, between our two looks at it
    if state is State.DAMAGED:
        raise RunFileError(
            f"{path} is damaged: its log {path.name}-wal is not what was written.",
            remedy="Use a copy of both that is whole.",
        )
    return state is State.CUT


def _state(path: Path) -> State:
    try:
        descriptor = os.open(
            path.with_name(path.name + "-wal"),
            os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK,
        )
    except FileNotFoundError:
        return State.WHOLE
    except OSError as error:
        raise guard.unreadable(path, error) from error
    with os.fdopen(descriptor, "rb") as file:
        return _examine(file, path)


def _examine(file: BinaryIO, path: Path) -> State:
    head = file.read(_HEAD_BYTES)
    if len(head) < _HEAD_BYTES or not any(head):
        # Made, and nothing was flushed to it yet.
        return State.DAMAGED if any(file.read(_FRAME_HEAD_BYTES)) else State.WHOLE
    magic, _, page_bytes, _, *rest = struct.unpack(">8I", head)
    salts, stored = (rest[0], rest[1]), (rest[2], rest[3])
    # The last bit says in which byte order the writer summed; stored words are big-endian anyway.
    order = ">u4" if magic & 1 else "<u4"
    (own,) = _summed(np.frombuffer(head[:24], np.uint8).reshape(1, -1), order)
    sizes = [1 << power for power in range(9, 17)]  # all that SQLite has: 512 B to 64 KiB
    if magic & ~1 != _MAGIC or page_bytes not in sizes:
        return State.DAMAGED
    frames = _frames(file, page_bytes, order)
    if own != stored:
        # SQLite leaves out the whole log then. It writes a header anew, in place, once all that
        # the log holds is in the file and flushed: a header torn by that has lost nothing.
        return State.CUT if _is_copied(frames, path, page_bytes) else State.DAMAGED
    return _judge(frames, stored, salts, page_bytes)


def _is_copied(frames: Iterator[_Frame], path: Path, page_bytes: int) -> bool:
    """Tell whether the file beside a log holds each page as the log wrote it last.

    False too where the log's chain of checksums breaks, for then nobody knows what it held. What
    is left behind its end of a log before it has other salts.

    Raises:
        HostError: the file cannot be read.
    """
    # Pairs of words: one of the frame's head, the others of its page.
    power = _power(1 + page_bytes // 8)
    last: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    first = before = None
    for frame in frames:
        if first is None:
            first = frame
        elif frame.salts != first.salts:
            break
        elif before is None or _join(before, frame.own, power) != frame.stored:
            return False
        pending[frame.page] = sha256(frame.content.tobytes()).digest()
        if frame.commits:
            last |= pending
            pending = {}
        before = frame.stored
    try:
        with path.open("rb") as file:
            for page, digest in last.items():
                file.seek(max(0, page - 1) * page_bytes)
                if sha256(file.read(page_bytes)).digest() != digest:
                    return False
    except OSError as error:
        raise guard.unreadable(path, error) from error
    return bool(last)


def _judge(frames: Iterator[_Frame], before: Sum, salts: Sum, page_bytes: int) -> State:
    """Follow the chain of checksums to its first break, then see whether it goes on behind that."""
    power = _power(1 + page_bytes // 8)
    broken, open_ended, behind, stretch, longest = False, False, False, 0, 0
    for frame in frames:
        joined = _join(before, frame.own, power) == frame.stored
        ours = frame.salts == salts
        if not broken and not (joined and ours):
            broken = True
            # A frame's checksum leaves its salts out: where the chain holds, they have changed.
            # Frames with other salts that do not join are of a log before this one.
            behind = joined
        elif not broken:
            open_ended = not frame.commits
        if broken and ours:
            behind = True
            # What a failing disk took back lies behind as well, one transaction a stretch.
            stretch = stretch + frame.commits if joined else 0
            longest = max(longest, stretch)
        before = frame.stored
    if longest >= _UNFLUSHED:
        return State.DAMAGED
    return State.CUT if behind or open_ended else State.WHOLE


def _frames(file: BinaryIO, page_bytes: int, order: str) -> Iterator[_Frame]:
    """Give the frames of a log in their order; a piece of one at the end is one, filled up."""
    size = _FRAME_HEAD_BYTES + page_bytes
    while piece := file.read(max(1, _AT_ONCE_BYTES // size) * size):
        whole = piece + bytes(-len(piece) % size)
        table = np.frombuffer(whole, np.uint8).reshape(-1, size)
        heads = table[:, :_FRAME_HEAD_BYTES].copy().view(">u4")
        # A frame's checksum covers the first 8 bytes of its head, and the page.
        content = np.concatenate((table[:, :8], table[:, _FRAME_HEAD_BYTES:]), axis=1)
        sums = _summed(content, order)
        for line, head, own in zip(table, heads.tolist(), sums, strict=True):
            page, commit, salt_1, salt_2, *stored = head
            yield _Frame(
                page=page,
                content=line[_FRAME_HEAD_BYTES:],
                commits=bool(commit),
                salts=(salt_1, salt_2),
                stored=(stored[0], stored[1]),
                own=own,
            )


def _summed(content: NDArray[np.uint8], order: str) -> list[Sum]:
    """Return, for each line, its part of SQLite's checksum.

    The checksum goes through pairs of words x: s0 += x0 + s1; s1 += x1 + s0, modulo 2³². That is
    s' = A s + B x with A = (1 1; 1 2), B = (1 0; 1 1), so the last is Aⁿ s plus a weighted sum.
    """
    words = np.ascontiguousarray(content).view(order).astype(np.uint32)
    sums = words @ _weights(words.shape[1] // 2)
    return [(first, second) for first, second in sums.tolist()]


@cache
def _weights(pairs: int) -> NDArray[np.uint32]:
    """Return A^(pairs − 1 − i) B for each pair i, as the columns of both sums."""
    weights = np.empty((2 * pairs, 2), np.uint32)
    a, b, c, d = 1, 0, 0, 1
    for pair in reversed(range(pairs)):
        weights[2 * pair] = ((a + b) % _WORD, (c + d) % _WORD)
        weights[2 * pair + 1] = (b, d)
        a, b, c, d = ((a + b) % _WORD, (a + 2 * b) % _WORD, (c + d) % _WORD, (c + 2 * d) % _WORD)
    return weights


@cache
def _power(pairs: int) -> tuple[int, int, int, int]:
    """Return Aⁿ by lines."""
    a, b, c, d = 1, 0, 0, 1
    for _ in range(pairs):
        a, b, c, d = ((a + b) % _WORD, (a + 2 * b) % _WORD, (c + d) % _WORD, (c + 2 * d) % _WORD)
    return a, b, c, d


def _join(before: Sum, own: Sum, power: tuple[int, int, int, int]) -> Sum:
    a, b, c, d = power
    first, second = before
    return (a * first + b * second + own[0]) % _WORD, (c * first + d * second + own[1]) % _WORD


def _is_written(path: Path) -> bool:
    """Tell whether another process holds the lock of the one writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
