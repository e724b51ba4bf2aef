"""Bonnie++'s command line, by version: read as its own getopt loop reads it, in its order.

What it refuses is said in its words and with its exit code; what Teijo cannot do is a named error.
"""

import getpass
import grp
import os
import platform
import pwd
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from teijo.errors import UsageError
from teijo.methods.classic.bonnie.method import usual_size
from teijo.personas.bonnie.output import DEFAULT_CHUNK_BYTES, DEFAULT_SEEKS, Asked
from teijo.personas.paths import is_folder, refuse_windows
from teijo.personas.persona import Refused, Said
from teijo.personas.short_options import leading_number, operands_of, options_of
from teijo.units import KIB, MIB

_OPTIONS: Final = {
    "1.03": "bd:fg:m:n:p:qr:s:u:x:yD",
    "1.97": "bc:d:f::g:l:m:n:p:qr:s:u:x:y:z:Z:D",
    "2.00": "bc:d:f::g:l:m:n:p:qr:s:u:x:y:z:Z:D",
}
_USAGE_1_03: Final = """\
usage: bonnie++ [-d scratch-dir] [-s size(MiB)[:chunk-size(b)]]
                [-n number-to-stat[:max-size[:min-size][:num-directories]]]
                [-m machine-name]
                [-r ram-size-in-MiB]
                [-x number-of-tests] [-u uid-to-use:gid-to-use] [-g gid-to-use]
                [-q] [-f] [-b] [-D] [-p processes | -y]

Version: 1.03e
"""
_USAGE_1_9X: Final = """\
usage:
bonnie++ [-d scratch-dir] [-c concurrency] [-s size(MiB)[:chunk-size(b)]]
      [-n number-to-stat[:max-size[:min-size][:num-directories[:chunk-size]]]]
      [-m machine-name] [-r ram-size-in-MiB]
      [-x number-of-tests] [-u uid-to-use:gid-to-use] [-g gid-to-use]
      [-q] [-f] [-b] [-p processes | -y] [-z seed | -Z random-file]
      [-D]

Version: {version}
"""
_ROOT: Final = 'You must use the "-u" switch when running as root.\n'
_FILES_UNIT: Final = 1024
_CONCURRENCY_MOST: Final = 200
_PER_CHAR_MIB: Final = 3
_UINT: Final = 2**32
_NAME_BYTES: Final = {"1.03": 19 + 6 + 1 + 8, "1.97": 22 + 6 + 1 + 8, "2.00": 22 + 6 + 1 + 8}
"""What one file's name takes of memory, by which too many files are refused."""


@dataclass(frozen=True, kw_only=True)
class Host:
    """What of the host Bonnie++ looks at by itself."""

    ram_mib: int
    name: str
    is_root: bool


def this_host() -> Host:
    """Return this host, its memory cut to MiB as Bonnie++ cuts it."""
    page, pages = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
    ram_mib = page // KIB * (pages // KIB)
    return Host(ram_mib=ram_mib, name=platform.node(), is_root=os.geteuid() == 0)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A command line that asks for a run: what is printed of it, and how it is measured."""

    asked: Asked
    folder: Path
    ram_mib: int
    file_chunk_bytes: int = DEFAULT_CHUNK_BYTES
    runs: int = -1
    quiet: bool = False
    flush: bool = False
    direct: bool = False
    seed: int | None = None
    begins: str = ""

    @property
    def settings(self) -> Mapping[str, str]:
        """What classic.bonnie is to be set to."""
        asked = self.asked
        links = {-1: "hard", -2: "symbolic"}.get(asked.largest, "none")
        return {
            "like": asked.version,
            "size": f"{asked.size_mib}MiB" if asked.size_mib else "none",
            # Both have been held against each other here, in the words of the original.
            "ram": "none",
            "chunk": str(asked.chunk_bytes),
            "per_char": f"{asked.per_char_mib}MiB" if asked.per_char_mib else "none",
            "seeks": str(asked.seeks),
            "seekers": str(asked.seekers),
            "files": str(asked.files * _FILES_UNIT),
            "largest": str(asked.largest) if asked.largest > 0 else "none",
            "smallest": str(asked.smallest) if asked.smallest > 0 < asked.largest else "none",
            "links": links,
            "directories": str(asked.directories),
            "file_chunk": str(self.file_chunk_bytes),
            "flush": "yes" if self.flush else "no",
            "direct": "yes" if self.direct else "no",
            "passes": str(max(1, self.runs)),
        }


@dataclass
class _Reading:
    """What the loop over the options has come to."""

    folder: Path
    ram_mib: int
    name: str
    size_mib: int | None = None
    chunk: int = DEFAULT_CHUNK_BYTES
    seeks: int = DEFAULT_SEEKS
    seekers: int = 5
    files: int = 16
    largest: int = 0
    smallest: int = 0
    directories: int = 1
    file_chunk: int = DEFAULT_CHUNK_BYTES
    per_char: int | None = None
    concurrency: int = 1
    runs: int = -1
    user: str | None = None
    group: str | None = None
    seed: int | None = None
    flags: set[str] = field(default_factory=set)


def usage(version: str) -> str:
    """Return what a version says of its options."""
    if version == "1.03":
        return _USAGE_1_03
    return _USAGE_1_9X.format(version="1.97" if version == "1.97" else "2.00a")


def read(version: str, words: Sequence[str], folder: Path, host: Host) -> Line:
    """Return what a command line asks for.

    Raises:
        Refused: the original would not take it; or it asks for no run.
        UsageError: an option that Teijo does not have, or a Windows path.
    """
    got = _Reading(folder=folder, ram_mib=host.ram_mib, name=host.name)
    got.seekers = 3 if version == "1.03" else 5
    for each in options_of("bonnie++", words, _OPTIONS[version]):
        if each.letter == "?":
            raise _refused(each.wrong + usage(version))
        _take(got, version, each.letter, each.value or "", folder)
    if not 1 <= got.concurrency <= _CONCURRENCY_MOST:
        raise _refused(usage(version))
    if operands_of("bonnie++", words, _OPTIONS[version]):
        raise _refused(usage(version))
    return _checked(got, version, host)


def _refused(stderr: str, exit_code: int = 1) -> Refused:
    return Refused(Said(stderr=stderr, exit_code=exit_code))


def _take(got: _Reading, version: str, letter: str, value: str, folder: Path) -> None:
    match letter:
        case "p" | "y" | "Z":
            raise UsageError(
                f"-{letter}: Teijo's bonnie++ does not have it",
                remedy="Leave it out; a run is one copy, and -z sets its seed.",
            )
        case "b" | "q" | "D":
            got.flags.add(letter)
        case "d":
            got.folder = _directory(value, folder, version)
        case "f":
            got.per_char = leading_number(value)
        case "c":
            got.concurrency = leading_number(value)
        case "m":
            got.name = value
        case "r":
            got.ram_mib = leading_number(value)
        case "x":
            got.runs = leading_number(value)
        case "z":
            # Not a number: the seed stays as it was.
            got.seed = leading_number(value) % _UINT if value[:1].isdecimal() else got.seed
        case "s":
            _take_size(got, version, value)
        case "n":
            _take_files(got, version, value)
        case "u":
            user, colon, group = value.partition(":")
            if got.user is not None or (colon and got.group is not None):
                raise _refused(usage(version))
            got.user, got.group = user, group if colon else got.group
        case "g":
            if got.group is not None:
                raise _refused(usage(version))
            got.group = value
        case _:
            pass  # -l is taken by 1.97's getopt, and nothing comes of it


def _directory(value: str, folder: Path, version: str) -> Path:
    refuse_windows(value)
    path = folder / value
    if not is_folder(path):
        raise _refused(f'Can\'t change to directory "{value}".\n{usage(version)}')
    return path


def _scaled(text: str, units: str) -> int:
    """Return a number with one of some letters behind it, each 1,024 times the one before."""
    number = leading_number(text)
    place = units.find(text[-1:].lower()) if text else -1
    return number * KIB ** (place + 1) if place >= 0 else number


def _take_size(got: _Reading, version: str, value: str) -> None:
    size, *rest = value.split(":")
    got.size_mib = _scaled(size, "g" if version == "1.03" else "gt")
    if rest:
        got.chunk = _scaled(rest[0], "k")
    if len(rest) > 1 and version == "2.00":
        got.seeks = _scaled(rest[1], "k")
    if len(rest) > 2 and version == "2.00":
        got.seekers = leading_number(rest[2])


def _take_files(got: _Reading, version: str, value: str) -> None:
    old = version == "1.03"
    for place, part in enumerate(value.split(":")[:5]):
        match place:
            case 0:
                got.files = leading_number(part) if old else _scaled(part, "m")
            case 1:
                got.largest = leading_number(part) if old else _scaled(part, "kmg")
            case 2:
                got.smallest = leading_number(part) if old else _scaled(part, "kmg")
            case 3:
                got.directories = leading_number(part) if old else _scaled(part, "k")
            case _:
                got.file_chunk = got.file_chunk if old else _scaled(part, "kmg")


def _checked(got: _Reading, version: str, host: Host) -> Line:
    """Return the line where it stands up to the checks, in the order they are made."""
    size_mib = got.size_mib
    if size_mib is None:
        size_mib = usual_size(got.ram_mib * MIB) // MIB if got.ram_mib else 300
    begins = _as_user(got, version, host)
    sound = size_mib >= 0 and got.files >= 0 and bool(size_mib or got.files)
    sound &= _is_chunk(got.chunk) and _is_chunk(got.file_chunk)
    if got.largest not in (-1, -2):
        sound &= 0 <= got.smallest <= got.largest
    # More seekers than a process may have, or none, are refused by nobody: nothing comes of them.
    sound &= got.seeks > 0 and 0 < got.seekers <= 1000 and 0 < got.directories < 100_000
    if not sound:
        raise _refused(begins + usage(version))
    concurrency = 1 if version == "1.03" else got.concurrency
    if size_mib and got.ram_mib and size_mib * concurrency < 2 * got.ram_mib:
        small = "File size should be double RAM for good results, RAM is {}M.\n"
        said = begins + small.format(got.ram_mib)
        raise _refused(said if version == "1.03" else said + usage(version))
    _check_names(got, version, begins)
    line = _line(got, version, size_mib, begins)
    if line.direct and line.asked.size_mib and line.asked.per_char_mib:
        # One byte cannot be written past the page cache: they fail at the first.
        doing = "" if line.quiet else first_words(version)
        raise _refused(f"{begins}{doing}Can't write() - disk full?\n")
    return line


def first_words(version: str) -> str:
    """Return what is said as the first phase begins."""
    return "Writing with putc()..." if version == "1.03" else "Writing a byte at a time..."


def _line(got: _Reading, version: str, size_mib: int, begins: str) -> Line:
    per_char = _PER_CHAR_MIB if got.per_char is None else got.per_char
    if version == "1.03":
        per_char = size_mib if got.per_char is None else 0
    asked = Asked(
        version=version,
        name=got.name,
        seed="" if got.seed is None else str(got.seed),
        size_mib=size_mib,
        per_char_mib=max(0, min(size_mib, per_char)),
        chunk_bytes=got.chunk,
        concurrency=got.concurrency,
        seeks=got.seeks,
        seekers=got.seekers,
        files=got.files,
        largest=got.largest,
        smallest=got.smallest,
        directories=got.directories,
    )
    return Line(
        asked=asked,
        folder=got.folder,
        ram_mib=got.ram_mib,
        file_chunk_bytes=got.file_chunk,
        runs=got.runs,
        quiet="q" in got.flags,
        flush="b" in got.flags,
        direct="D" in got.flags,
        seed=got.seed,
        begins=begins,
    )


def seeded(line: Line, seed: int) -> Line:
    """Return a line whose seed is known: that of -z, else one of the run."""
    return replace(line, seed=seed, asked=replace(line.asked, seed=str(seed)))


def _is_chunk(size: int) -> bool:
    return 256 <= size <= MIB and not size & (size - 1)


def _as_user(got: _Reading, version: str, host: Host) -> str:
    """Return what is said of the user. Teijo measures as who called it; see the documentation."""
    if got.user is None and got.group is None:
        if host.is_root:
            raise _refused(_ROOT + usage(version))
        return ""
    uid, gid = os.getuid(), os.getgid()
    user = got.user if got.user is not None else getpass.getuser()
    try:
        entry = pwd.getpwuid(leading_number(user)) if user.isdecimal() else pwd.getpwnam(user)
        uid, gid = entry.pw_uid, entry.pw_gid
    except (KeyError, OverflowError, ValueError):
        if not user.isdecimal():
            raise _refused(f"Can't find user {user}\n") from None
        uid = leading_number(user)
    if got.group is not None:
        try:
            named = got.group
            gid = leading_number(named) if named.isdecimal() else grp.getgrnam(named).gr_gid
        except (KeyError, ValueError):
            raise _refused(f"Can't find group {got.group}\n") from None
    return "" if "q" in got.flags else f"Using uid:{uid}, gid:{gid}.\n"


def _check_names(got: _Reading, version: str, begins: str) -> None:
    """Refuse more files than they have memory for their names; they do so after the large file."""
    names = got.files * _NAME_BYTES[version]
    if got.ram_mib and names * 2 > got.ram_mib << 10:
        raise _refused(
            f"{begins}When testing {got.files}K of files in {got.ram_mib} MiB of RAM the system is "
            "likely to\nstart paging Bonnie++ data and the test will give suspect\n"
            "results, use less files or install more RAM for this test.\n"
        )
    if names > 1 << 20:
        raise _refused(f"{begins}Not enough ram to test with {got.files}K files.\n")
