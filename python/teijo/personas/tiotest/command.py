"""tiotest's command line, read as its own getopt loop reads it, in its order."""

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from teijo.errors import UsageError
from teijo.methods.classic.tiotest.settings import PHASES
from teijo.personas.paths import is_folder, refuse_windows
from teijo.personas.persona import Refused, Said
from teijo.personas.short_options import leading_number, options_of
from teijo.personas.tiotest.output import Layout, tables, terse

_OPTIONS: Final = "f:b:d:t:r:D:k:o:hLRTWSOcMFX"
_SINCE_0_4: Final = "FX"
_TRY: Final = "Try 'tiotest -h' for more information"
_HELP: Final = (
    ("f", "Filesize per thread in MBytes", "10"),
    ("b", "Blocksize to use in bytes", "4096"),
    ("d", "Directory for test files", "."),
    ("t", "Number of concurrent test threads", "4"),
    ("r", "Random I/O operations per thread", "100000"),
    ("o", "Offset in Mb on disk between threads. Use with -R option", ""),
    ("k", "Skip test number n. Could be used several times.", ""),
    ("L", "Hide latency output", ""),
    ("R", "Use raw devices. Set device name with -d option", ""),
    ("T", "More terse output", ""),
    ("M", "Use mmap for I/O", ""),
    ("W", "Do writing phase sequentially", ""),
    ("S", "Do writing synchronously", ""),
    ("O", "Use offset from -o option for first thread. Use with -R option", ""),
    ("c", "Consistency check data (will slow io and raise cpu%)", ""),
    ("D", "Debug level", "0"),
    ("F", "Flush OS caches before running test (requires root)", ""),
    (
        "X",
        "Use direct I/O to bypass buffer cache (blocksize must be a multiple of logical blocksize "
        "of underlying filesystem)",
        "",
    ),
    ("h", "Print this help and exit", ""),
)
_NUMBERS: Final = {
    "f": ("size_mib", "Wrong file size\n"),
    "b": ("block", "Wrong block size\n"),
    "t": ("threads", "Wrong number of threads\n"),
    "r": ("random", "Wrong number of random I/O operations\n"),
}
_TALKS_FROM: Final = 40
"""From this debug level on tiotest tells what its threads do."""


@dataclass
class Line:
    """What a command line asks for."""

    like: str
    folder: Path
    size_mib: int = 10
    block: int = 4096
    threads: int = 4
    random: int = 100_000
    skip: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)

    @property
    def layout(self) -> Layout:
        """How its result is printed."""
        return Layout(like=self.like, threads=self.threads, with_latency="L" not in self.flags)

    @property
    def settings(self) -> Mapping[str, str]:
        """What classic.tiotest is to be set to."""
        return {
            "threads": str(self.threads),
            "size": f"{self.size_mib}MiB",
            "block": str(self.block),
            "random": str(self.random),
            "skip": ",".join(name for name in PHASES if name in self.skip) or "none",
            **switches(self.flags),
        }


def switches(flags: set[str]) -> dict[str, str]:
    """Return the settings of the options without a value."""
    letters = {
        "mmap": "M",
        "in_turn": "W",
        "synchronous": "S",
        "direct": "X",
        "drop_caches": "F",
        "one_block": "c",
    }
    return {name: "yes" if letter in flags else "no" for name, letter in letters.items()}


def help_text(like: str) -> str:
    """Return what -h prints; of versions before 0.4.2 the defaults alone are known to differ."""
    told = f"tiotest v{like} (C) 1999-2008 tiobench team <http://tiobench.sf.net/>\n"
    told += "Usage: tiotest [options]\n"
    for letter, meaning, default in _HELP:
        if like.startswith("0.3") and letter in _SINCE_0_4:
            continue
        usual = _random_of(like) if letter == "r" else default
        told += f"  -{letter}          {meaning}{f' (default: {usual})' if usual else ''}\n"
    return told


def _random_of(like: str) -> int:
    return 1000 if like.startswith("0.3") else 100_000


def read(like: str, words: Sequence[str], folder: Path) -> Line:
    """Return what a command line asks for.

    Raises:
        Refused: the original would not take it; or it asks for help.
        UsageError: an option that Teijo does not have, or a Windows path.
    """
    line = Line(like=like, folder=folder, random=_random_of(like))
    named: list[str] = []
    known = _OPTIONS
    if like.startswith("0.3"):
        known = known.translate(dict.fromkeys(map(ord, _SINCE_0_4)))
    for each in options_of("tiotest", words, known):
        if each.letter == "?":
            raise Refused(Said(stderr=f"{each.wrong}{_TRY}\n", exit_code=1))
        _take(line, each.letter, each.value or "", named)
    if "R" in line.flags:
        raise UsageError(
            "-R: Teijo's tiotest works on files, not on raw devices",
            remedy="Measure the device itself: teijo run workload TARGET --set rw=randread …",
        )
    if len(named) > 1:
        raise UsageError(
            f"-d: {len(named)} directories are named, and a run works in one",
            remedy="Name one, and start a run for each of the others.",
        )
    if named:
        refuse_windows(named[0])
        line.folder = folder / named[0]
        if not is_folder(line.folder):
            raise Refused(_nowhere(line, named[0]))
    return line


def _take(line: Line, letter: str, value: str, named: list[str]) -> None:
    match letter:
        case "f" | "b" | "t" | "r":
            name, wrong = _NUMBERS[letter]
            number = leading_number(value)
            if number <= 0:
                raise Refused(Said(stderr=f"{wrong}{_TRY}.\n", exit_code=1))
            setattr(line, name, number)
        case "d":
            named.append(value)
        case "h":
            raise Refused(Said(stdout=help_text(line.like), exit_code=1))
        case "o":
            if leading_number(value) < 0:
                wrong = f"Wrong offset between threads\n{_TRY}\n"
                raise Refused(Said(stderr=wrong, exit_code=1))
        case "k":
            number = leading_number(value)
            if number >= len(PHASES):
                raise Refused(Said(stderr=f"Wrong test number {number}\n{_TRY}\n", exit_code=1))
            line.skip |= {PHASES[number]} if number >= 0 else set()
        case "D":
            if leading_number(value) >= _TALKS_FROM:
                raise UsageError(
                    f"-D {value}: Teijo does not tell what each thread does",
                    remedy="Leave it out; --progress ndjson before tiotest tells of each phase.",
                )
        case _:
            # -o and -O alone change nothing: they are of -R.
            line.flags.add(letter)


def _nowhere(line: Line, directory: str) -> Said:
    """Return what is said where there is no such directory: empty tables, and no failure."""
    # A file in its place is known by another error of open(2).
    why = os.strerror(errno.ENOTDIR if line.folder.exists() else errno.ENOENT)
    told = terse(line.layout, {}) if "T" in line.flags else tables(line.layout, {})
    # Each thread says it of its file, once a phase; theirs has the process's number in it.
    stderr = "".join(
        f"{why}: {directory}/_tiotest_pid0.thr{number}\n"
        for name in PHASES
        if name not in line.skip
        for number in range(min(line.threads, 1000))
    )
    return Said(stdout=told, stderr=stderr)
