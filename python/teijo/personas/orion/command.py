"""ORION's command line and its .lun file, read: what is asked for, and on which targets."""

import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from teijo.errors import UsageError
from teijo.methods.classic.orion.points import Loads
from teijo.methods.classic.orion.settings import OrionSettings
from teijo.methods.knobs import parse_overrides
from teijo.outside.file import Unreadable, read_bytes
from teijo.outside.text import unspeakable, visible
from teijo.personas.paths import refuse_windows

LUNS_MOST: Final = 256
_LUN_BYTES_MOST: Final = 1024 * 1024
_NUMBER: Final = re.compile(r"[0-9]{1,9}")

WITH_VALUE: Final = (
    "run", "testname", "num_disks", "size_small", "size_large", "type", "num_streamio", "simulate",
    "stripe", "write", "cache_size", "duration", "matrix", "num_small", "num_large", "storax",
)  # fmt: skip
ALONE: Final = ("verbose", "hugenotneeded", "help")
_SINCE: Final = {"storax": ("12.2",), "hugenotneeded": ("12.2",)}
_LATER_RUNS: Final = ("oltp", "dss")
_MANDATORY: Final = {"10.2": ("run", "testname", "num_disks"), "11.1": ("run",), "12.2": ("run",)}


@dataclass(frozen=True, kw_only=True)
class Lun:
    """A line of the .lun file; its size is None of a simulated device, which is not made yet."""

    path: str
    size_bytes: int | None
    is_file: bool = False


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command line of ORION: its words, and the options by their names in small letters."""

    words: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str, usual: int) -> int:
        """Return an option that is a whole number."""
        return int(self.options.get(name, usual))

    @property
    def testname(self) -> str:
        """The name that all files begin with."""
        return self.options.get("testname", "orion")

    @property
    def is_striped(self) -> bool:
        """Whether the lines of the .lun file are striped, and not put one behind the other."""
        return self.options.get("simulate", "concat") == "raid0"

    @property
    def stripe_kb(self) -> int:
        """The depth of a stripe."""
        return self.number("stripe", 1024)

    @property
    def duration_s(self) -> int:
        """How long a point lasts."""
        return self.number("duration", 60)

    def settings(self, luns: int) -> dict[str, str]:
        """Return the settings of the method that the options are, over so many lines of .lun.

        What is not asked for is left to the method, which scales it with a simulated device.
        """
        options = self.options
        found = {"run": options["run"], "num_disks": str(self.number("num_disks", luns))}
        for name, key, form in _SETTINGS:
            if name in options:
                found[key] = form(options[name])
        return found

    def loads(self, luns: int) -> Loads:
        """Return what decides the points.

        Raises:
            teijo.errors.PlanError: an option has a value that the test cannot have.
        """
        fields = parse_overrides(OrionSettings, self.settings(luns))
        return OrionSettings.model_validate(fields).loads


def _same(text: str) -> str:
    return text


def _kb(text: str) -> str:
    return f"{text}KiB"


def _mb(text: str) -> str:
    return "0" if not int(text) else f"{text}MiB"


def _seconds(text: str) -> str:
    return f"{text}s"


_SETTINGS: Final[tuple[tuple[str, str, Callable[[str], str]], ...]] = (
    ("matrix", "matrix", _same),
    ("size_small", "size_small", _kb),
    ("size_large", "size_large", _kb),
    ("type", "type", _same),
    ("num_streamio", "num_streamio", _same),
    ("write", "write", _same),
    ("cache_size", "cache_size", _mb),
    ("duration", "duration", _seconds),
    ("num_small", "num_small", _same),
    ("num_large", "num_large", _same),
)
_VALUES: Final = {
    "run": ("simple", "normal", "advanced", "oltp", "dss"),
    "type": ("rand", "seq"),
    "simulate": ("concat", "raid0"),
    "matrix": ("basic", "detailed", "point", "col", "row", "max"),
    "storax": ("skgfr", "oss", "asmlib", "odmlib"),
}
_NUMBERS: Final = tuple(name for name in WITH_VALUE if name not in _VALUES and name != "testname")


def parse(words: Sequence[str], like: str) -> Command:
    """Return what a command line says to the original of a version; "help" alone is enough.

    Names of options, and of the values that are words, are taken in any case.

    Raises:
        UsageError: an option that the version has not, one that Teijo has not, or a value that
            cannot be.
    """
    options: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name = word.removeprefix("-").lower()
        if not word.startswith("-") or name not in (*WITH_VALUE, *ALONE):
            raise UsageError(
                f"ORION has no option {visible(word, most=80)!r}",
                remedy="`orion -help` lists them; an option begins with one - .",
            )
        if like not in _SINCE.get(name, (like,)):
            raise UsageError(
                f"ORION {like} has no option -{name}", remedy="Act as a later one: --like 12.2."
            )
        if name in options:
            raise UsageError(f"-{name} is given twice", remedy="Give it once.")
        if name in ALONE:
            options[name] = ""
            continue
        if not rest:
            raise UsageError(
                f"-{name} has no value behind it", remedy=f"Write -{name} and its value."
            )
        options[name] = _value(name, rest.pop(0))
    command = Command(words=tuple(words), options=options)
    if "help" not in options:
        _check(command, like)
    return command


def _value(name: str, text: str) -> str:
    if name == "testname":
        return text
    if name in _VALUES:
        if text.lower() not in _VALUES[name]:
            raise UsageError(
                f"-{name} {visible(text, most=80)!r} is none of {', '.join(_VALUES[name])}",
                remedy=f"Write one of them behind -{name}.",
            )
        return text.lower()
    assert name in _NUMBERS, name
    if not _NUMBER.fullmatch(text):
        raise UsageError(
            f"-{name} {visible(text, most=80)!r} is no whole number",
            remedy=f"Write a number of up to nine digits behind -{name}.",
        )
    return str(int(text))


def _check(command: Command, like: str) -> None:
    """Make sure that all is there, and nothing that cannot be done.

    Raises:
        UsageError: something is missing, or cannot.
    """
    options, name = command.options, command.testname
    for each in _MANDATORY[like]:
        if each not in options:
            raise UsageError(
                f"ORION {like} needs -{each}",
                remedy="For example: orion -run simple -testname mytest -num_disks 1",
            )
    if options["run"] in _LATER_RUNS and like == "10.2":
        raise UsageError(
            f"ORION 10.2 has no -run {options['run']}", remedy="Act as a later one: --like 11.1."
        )
    if "matrix" in options and options["run"] != "advanced":
        raise UsageError(
            f"-matrix is of -run advanced, and -run {options['run']} has its own",
            remedy=f"Write -run advanced -matrix {options['matrix']}.",
        )
    if options.get("storax", "skgfr") != "skgfr":
        raise UsageError(
            f"-storax {options['storax']} is a library of Oracle's, which Teijo has not",
            remedy="Leave -storax out: the kernel's own asynchronous I/O is used.",
        )
    refuse_windows(name)
    if not name or name.endswith("/") or unspeakable(name) or visible(name) != name:
        raise UsageError(
            f"-testname {visible(name, most=80)!r} cannot begin the name of a file",
            remedy="Write a name like mytest.",
        )


def read_luns(path: Path, folder: Path) -> tuple[Lun, ...] | None:
    """Return the lines of a .lun file, None where it cannot be read.

    A line is a path as it stands: no comments, no blanks around it. One that is relative begins at
    `folder`, where the program was called, wherever the .lun file is. A simulated device may stand
    in it alone (`sim:NAME`), which the original has not.

    Raises:
        UsageError: it names no path, too many, a path of Windows, or one that is not there.
    """
    try:
        lines = read_bytes(path, most_bytes=_LUN_BYTES_MOST).decode("utf-8", "surrogateescape")
    except Unreadable:
        return None
    paths = [line for line in lines.split("\n") if line]
    if not 1 <= len(paths) <= LUNS_MOST:
        raise UsageError(
            f"{path.name} names {len(paths)} paths, and 1 to {LUNS_MOST} can be",
            remedy="Write a path on each line.",
        )
    if len(paths) == 1 and paths[0].startswith("sim:"):
        return (Lun(path=paths[0], size_bytes=None),)
    return tuple(_lun(path, line, folder) for line in paths)


def _lun(file: Path, line: str, folder: Path) -> Lun:
    refuse_windows(line)
    if unspeakable(line) or visible(line) != line or "?" in line:
        raise UsageError(
            f"{file.name} names {visible(line, most=80)!r}, and a path with such a letter is not "
            "taken",
            remedy="Give the file or device another name, or a link to it.",
        )
    try:
        status = (folder / line).stat()
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or "its name cannot be one"
        raise UsageError(
            f"{file.name} names {line!r}, which cannot be looked at: {why}",
            remedy="Write one path on each line, without blanks behind it or comments.",
        ) from error
    if stat.S_ISDIR(status.st_mode):
        raise UsageError(
            f"{file.name} names {line!r}, which is a directory",
            remedy="Name a file that is there, or a block device, on each line.",
        )
    if stat.S_ISBLK(status.st_mode):
        return Lun(path=line, size_bytes=_block_bytes(status.st_rdev))
    return Lun(path=line, size_bytes=status.st_size, is_file=stat.S_ISREG(status.st_mode))


def _block_bytes(device: int) -> int | None:
    """Return the size of a block device as the kernel tells it without opening it."""
    place = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/size")
    try:
        return int(read_bytes(place, most_bytes=64)) * 512
    except (Unreadable, ValueError):
        return None


def target_of(command: Command, luns: Sequence[Lun]) -> str:
    """Return the target text that the lines of a .lun file are together."""
    texts = [_member(lun.path) for lun in luns]
    if len(texts) == 1:
        return texts[0]
    several = ",".join(text.replace(",", r"\,") for text in texts)
    if command.is_striped:
        return f"stripe?chunk={command.stripe_kb}KiB:{several}"
    return f"concat:{several}"


def _member(path: str) -> str:
    # A path from here may begin as another kind of target does: "dir:", "concat:", "~".
    return path if path.startswith(("/", "sim:")) else f"./{path}"
