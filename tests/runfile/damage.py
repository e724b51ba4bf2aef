"""Files as a kill leaves them, damaged in a seeded place; and what may come of that."""

import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from teijo.errors import RunFileError
from teijo.runfile import reader
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind

PAGE = 4096

_KILLED = """
import os, sys
from pathlib import Path
from tests.runfile.samples import SECOND, measure, open_run
from tests.runfile.test_recorder import columns
recorder = open_run(Path(sys.argv[1]))
recorder.begin(7, measure(3), 1, interval_ns=SECOND)
recorder.append(7, [("oltp", "read", columns(0, *range(1, 40)))])
if sys.argv[2] == "flushed":
    recorder._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
os.kill(os.getpid(), 9)
"""


@dataclass(frozen=True)
class Left:
    """The bytes of a run file and of its log."""

    file: bytes
    log: bytes

    def write(self, path: Path) -> None:
        """Write both, and nothing else that SQLite looks for."""
        path.write_bytes(self.file)
        path.with_name(path.name + "-shm").unlink(missing_ok=True)
        log = path.with_name(path.name + "-wal")
        log.write_bytes(self.log) if self.log else log.unlink(missing_ok=True)

    @property
    def size(self) -> int:
        """Bytes of both."""
        return len(self.file) + len(self.log)

    def flipped(self, bit: int) -> "Left":
        """Return it with one bit changed."""
        content = bytearray(self.file + self.log)
        content[bit // 8] ^= 1 << bit % 8
        return Left(bytes(content[: len(self.file)]), bytes(content[len(self.file) :]))


def killed(folder: Path, *, flushed: bool) -> Left:
    """Return what a run leaves that is killed in a step, with its log or with all in the file."""
    where = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    how = "flushed" if flushed else "logged"
    arguments = [sys.executable, "-c", _KILLED, str(folder / "run"), how]
    assert subprocess.run(arguments, env=where, check=False).returncode == -9
    path = folder / "run.teijo.open"
    left = Left(path.read_bytes(), path.with_name(path.name + "-wal").read_bytes())
    assert bool(left.log) is not flushed
    return left


def outcome(path: Path, whole: Record, running: object) -> str:
    """Return what reading gives: the same record, a refusal, or one that says what is missing."""
    try:
        found, step = reader.read(path), reader.read_running(path)
    except RunFileError:
        return "refused"
    if found == whole and repr(step) == repr(running):
        return "same"
    earlier = found.steps == whole.steps[: len(found.steps)]
    if earlier and found.remarks[-1].kind is RemarkKind.RECORD_CUT:
        return "told"
    return "other"


def outcomes(path: Path, left: Left, damaged: Iterable[tuple[object, Left]]) -> Counter[str]:
    """Count what reading each of the damaged files gives; one read as other data fails."""
    left.write(path)
    whole, running = reader.read(path), reader.read_running(path)
    assert running is not None
    counts: Counter[str] = Counter()
    for place, one in damaged:
        one.write(path)
        what = outcome(path, whole, running)
        assert what != "other", place
        counts[what] += 1
    return counts


def flips(left: Left, *, seed: int, count: int) -> Iterable[tuple[object, Left]]:
    """Give files with one bit changed each, all pages in turn."""
    draw = random.Random(seed)
    pages = max(1, left.size // PAGE)
    for number in range(count):
        first = number % pages * PAGE * 8
        bit = min(first + draw.randrange(PAGE * 8), left.size * 8 - 1)
        yield f"bit {bit}", left.flipped(bit)


def pages_moved(left: Left) -> Iterable[tuple[object, Left]]:
    """Give the file cut at each page, and each page zeroed, doubled and swapped with the next."""
    file = left.file
    for start in range(0, len(file), PAGE):
        page, rest = file[start : start + PAGE], file[start + PAGE :]
        head = file[:start]
        yield f"cut {start}", Left(head, left.log)
        yield f"zeroed {start}", Left(head + bytes(PAGE) + rest, left.log)
        if rest:
            after = rest[:PAGE]
            yield f"doubled {start}", Left(head + page + page + rest[PAGE:], left.log)
            yield f"swapped {start}", Left(head + after + page + rest[PAGE:], left.log)
