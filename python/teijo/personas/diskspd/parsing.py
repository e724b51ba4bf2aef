"""DiskSpd's words become a command: what the original refuses in its words, what Teijo has not."""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from teijo.errors import UsageError
from teijo.personas.diskspd.command import CACHED, NO_OS_CACHE, UNITS, Command
from teijo.personas.persona import Refused, Said

_SIZE: Final = re.compile(r"([0-9]{1,19})([KkMmGgTtBb]?)")
_LEADING: Final = re.compile(r"[0-9]{1,10}")
_UINT32: Final = 2**32
WRONG_LINE: Final = 3
"""The original's exit code of a command line that it refuses."""


ABSENT: Final[Mapping[str, tuple[str, str]]] = {
    "e": ("event tracing is of Windows", "Trace the block layer beside the run: blktrace."),
    "g": (
        "a throttled closed loop is not what Teijo drives",
        "Drive a rate whose lateness is measured: teijo run workload TARGET --set rate=1000.",
    ),
    "i": ("bursts are not driven", "Leave -i and -j out."),
    "j": ("bursts are not driven", "Leave -i and -j out."),
    "I": ("Teijo sets no I/O priority", "Set it for the whole run: ionice -c 2 -n 7 teijo as …"),
    "l": ("Teijo's buffers are on pages as the kernel has them", "Leave -l out."),
    "N": ("nothing is mapped to memory, so nothing is flushed from it", "Leave -N and -Sm out."),
    "p": ("requests that all begin at one offset are not driven", "Leave -p out."),
    "P": ("no progress dots are printed", "Leave -P out; stderr tells how far the run is."),
    "X": ("profiles in XML are not read", "Write the options on the command line."),
    "y": ("events are of Windows", "Start and stop the run by a shell: SIGINT ends it early."),
    ":": ("there are no experiments here", "Leave it out."),
}
"""Options of the original that Teijo has not: why, and what to write."""


def parse(words: Sequence[str]) -> Command:
    """Return what a command line asks for.

    Raises:
        Refused: the original refuses it.
        UsageError: Teijo has not what it asks for.
    """
    targets = _targets(words)
    command = Command(line=" ".join(("diskspd", *words)), targets=targets)
    options = [word for word in words if word.startswith("-")]
    for word in options:  # sizes in blocks need the block, wherever it stands
        if word[1:2] == "b":
            command = replace(command, block=_block(word))
    for word in options:
        command = _option(command, word)
    if not targets:
        raise _refused("ERROR: need to provide at least one filename\n")
    return _checked(command, options)


def _targets(words: Sequence[str]) -> tuple[str, ...]:
    targets: list[str] = []
    for word in words:
        # Of Linux paths, which begin with the second switch character of Windows, none is an
        # option: those have a dash.
        if not word.startswith("-"):
            targets.append(word)
        elif targets:
            raise _refused(
                f"ERROR: parameters ({word}) must come before targets on the command line\n"
            )
    return tuple(targets)


def _option(command: Command, word: str) -> Command:
    letter, value = word[1:2], word[2:]
    if letter in ABSENT:
        why, remedy = ABSENT[letter]
        raise UsageError(f"{word[:60]}: {why}", remedy=remedy)
    reader = _READERS.get(letter)
    if reader is None:
        raise _refused(f"ERROR: invalid option: '{word}'\n")
    return replace(command, **reader(command, word, value))


Fields = dict[str, Any]


def _refused(stderr: str) -> Refused:
    return Refused(Said(stderr=stderr, exit_code=WRONG_LINE))


def _wrong(word: str, cause: str = "") -> Refused:
    return _refused(f"{cause}ERROR: incorrectly provided option: '{word}'\n")


def size_of(text: str, block: int) -> int | None:
    """Return the bytes of "8K", "1G" or "4b" (blocks); None for what is no size."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    unit = match[2].lower()
    size = int(match[1]) * (block if unit == "b" else UNITS.get(unit, 1))
    return size if size < 2**64 else None


def _size(command: Command, word: str, text: str, cause: str) -> int:
    size = size_of(text, command.block)
    if size is None:
        raise _wrong(word, cause)
    return size


def _block(word: str) -> int:
    size = size_of(word[2:], Command().block)
    if not size or size >= _UINT32:
        raise _refused("ERROR: invalid block size passed to -b\n")
    return size


def _count(word: str, value: str, *, least: int = 1) -> int:
    """Return a number as the original reads it: its leading digits."""
    match = _LEADING.match(value)
    number = int(match[0]) if match else 0
    if number < least or number >= _UINT32:
        raise _wrong(word)
    return number


def _seconds(what: str, option: str) -> Callable[[str], int]:
    def read(value: str) -> int:
        match = _LEADING.match(value)
        if value.startswith("-"):
            raise _refused(f"ERROR: invalid {what} time ({option}): '{value}'\n")
        return int(match[0]) if match else 0

    return read


def _affinity(_: Command, word: str, value: str) -> Fields:
    if value in ("", "g"):
        return {}
    raise UsageError(
        f"{word[:60]}: Teijo's diskspd binds no thread to a processor by itself",
        remedy="Bind the whole run: taskset -c 0,1 teijo as diskspd …",
    )


def _bounds(command: Command, word: str, value: str) -> Fields:
    base_text, colon, length_text = value.partition(":")
    base = _size(command, word, base_text, "ERROR: invalid base target offset passed to -B\n")
    if not colon:
        return {"base": base}
    if not length_text:
        raise _wrong(word, "ERROR: -Bbase:length - no length provided\n")
    if command.end:
        raise _wrong(word, _TWO_ENDS)
    cause = "ERROR: invalid target length passed to -B\n"
    return {"base": base, "end": base + _size(command, word, length_text, cause)}


_TWO_ENDS: Final = (
    "ERROR: maximum target offset (-Bbase:length or -fsize) can only be specified once\n"
)


def _end(command: Command, word: str, value: str) -> Fields:
    if not value:
        raise _wrong(word)
    if not value[0].isdigit():
        raise UsageError(
            f"{word[:60]}: hints to the cache of Windows have no meaning here",
            remedy="Leave it out.",
        )
    if command.end:
        raise _wrong(word, _TWO_ENDS)
    return {"end": _size(command, word, value, "ERROR: invalid max target size passed to -f\n")}


def _create(command: Command, word: str, value: str) -> Fields:
    return {"create": _size(command, word, value, "ERROR: invalid target size passed to -c\n")}


def _interval(_: Command, __: str, value: str) -> Fields:
    match = _LEADING.match(value)
    length = int(match[0]) if match else 0
    return {"deviations": True} | ({"bucket_ms": length} if length else {})


def _random(command: Command, word: str, value: str) -> Fields:
    if value.startswith("s"):
        if value[1:] == "100":
            return {"random": True}
        raise UsageError(
            f"{word[:60]}: a mix of random and sequential I/O is not driven by one thread",
            remedy="Write -r, or -s; or two streams: teijo run workload --set stream.NAME=…",
        )
    if value.startswith("d"):
        raise UsageError(
            f"{word[:60]}: Teijo's diskspd spreads random I/O evenly",
            remedy="Write it as zones: teijo run workload --set access=zoned:90/10,10/90.",
        )
    if command.alignment and not command.random:
        cause = "ERROR: sequential IO (-s) conflicts with random IO (-r/-rs)\n"
        raise _wrong(word, cause)
    if command.alignment:
        raise _wrong(word, "ERROR: random IO (-r) specified multiple times\n")
    if not value:
        return {"random": True, "alignment": command.block}
    grid = size_of(value, command.block)
    if not grid:
        raise _wrong(word, "ERROR: invalid alignment passed to -r\n")
    return {"random": True, "alignment": grid}


def _sequential(command: Command, word: str, value: str) -> Fields:
    interlocked = value.startswith("i")
    text = value[1:] if interlocked else value
    if command.random:
        cause = "ERROR: sequential IO (-s) conflicts with random IO (-r/-rs)\n"
        raise _wrong(word, cause)
    grid = command.block if not text else size_of(text, command.block)
    if grid is None:
        raise _wrong(word, "ERROR: invalid stride size passed to -s\n")
    if grid != command.block:
        raise UsageError(
            f"{word[:60]}: sequential I/O goes on where the last block ended, with no stride of "
            "its own",
            remedy="Write -s, with the block size as the stride.",
        )
    return {"interlocked": command.interlocked or interlocked, "alignment": grid}


_CACHE_WORDS: Final[Mapping[str, Fields]] = {
    "b": {"cache": CACHED},
    "u": {"cache": NO_OS_CACHE},
    "w": {"write_through": True},
    "h": {"cache": NO_OS_CACHE, "write_through": True},
}


def _caching(_: Command, word: str, value: str) -> Fields:
    found: Fields = {}
    for letter in value or "u":
        if letter in ("m", "r"):
            what = "maps no file to memory" if letter == "m" else "knows no cache of a remote host"
            raise UsageError(
                f"{word[:60]}: Teijo's diskspd {what}",
                remedy="Write -Sb for the page cache, -Su or -Sh to go around it.",
            )
        own = _CACHE_WORDS.get(letter)
        if own is None:
            raise _wrong(word, "ERROR: unrecognized option provided to -S\n")
        if own.keys() & found.keys():
            raise _wrong(word, f"ERROR: -S{letter} conflicts with earlier specification\n")
        found |= own
    return found


def _share(_: Command, word: str, value: str) -> Fields:
    if not value:
        raise _wrong(word, "ERROR: no write ratio passed to -w\n")
    match = _LEADING.match(value)
    share = int(match[0]) if match else 0
    if share > 100 or value.startswith("-"):
        cause = "ERROR: write ratio passed to -w must be between 0 and 100 (percent)\n"
        raise _wrong(word, cause)
    return {"write": share}


def _seed(_: Command, __: str, value: str) -> Fields:
    if not value:
        return {"seed": secrets.randbelow(_UINT32)}
    if not value.isascii() or not value.isdecimal() or len(value) > 10:
        raise _refused(
            f"ERROR: invalid random seed value '{value}' specified - must be a valid 32 bit "
            "integer\n"
        )
    return {"seed": min(int(value), _UINT32 - 1)}


def _data(command: Command, word: str, value: str) -> Fields:
    if not value:
        return {"zero": True}
    if value == "r":
        return {"random_data": True}
    size, comma, _ = value.partition(",")
    if comma:
        raise UsageError(
            f"{word[:60]}: no file is taken for what is written",
            remedy="Write -Z<size>, for a buffer of random data.",
        )
    found = size_of(size, command.block)
    if not found:
        raise _wrong(word, "ERROR: invalid size passed to -Z\n")
    return {"buffer_bytes": found}


def _format(_: Command, __: str, value: str) -> Fields:
    only = value.startswith("p")
    name = value.removeprefix("p")
    if name not in ("text", "xml") and not (only and not name):
        cause = f"ERROR: invalid results format (-R): '{name}'\n"
        if not value:
            cause = "ERROR: unspecified results format -R: use [p]<text|xml>\n"
        raise _refused(cause)
    return {"profile_only": only, "xml": name == "xml"}


def _verbose(_: Command, word: str, value: str) -> Fields:
    if not value:
        return {"verbose": True}
    if value == "s":
        raise UsageError(
            f"{word}: how its threads waited is not counted",
            remedy="Leave it out; the report has the depth that was reached.",
        )
    raise _refused(f"ERROR: invalid verbose mode (-v): '{value}'\n")


_WARM_UP = _seconds("warmup", "-W")
_COOL_DOWN = _seconds("cooldown", "-C")
_DURATION = _seconds("measured duration", "-d")

_READERS: Final[Mapping[str, Callable[[Command, str, str], Fields]]] = {
    "a": _affinity,
    "b": lambda *_: {},
    "B": _bounds,
    "c": _create,
    "C": lambda _, __, value: {"cool_down": _COOL_DOWN(value)},
    "d": lambda _, __, value: {"duration": _DURATION(value)},
    "D": _interval,
    "f": _end,
    "F": lambda _, word, value: {"threads": _count(word, value)},
    "h": lambda *_: dict(_CACHE_WORDS["h"]),
    "L": lambda *_: {"latency": True},
    "n": lambda *_: {"no_affinity": True},
    "o": lambda _, word, value: {"outstanding": _count(word, value)},
    "O": lambda _, word, value: {"requests": _count(word, value)},
    "r": _random,
    "R": _format,
    "s": _sequential,
    "S": _caching,
    "t": lambda _, word, value: {"threads_per_target": _count(word, value)},
    "T": lambda command, word, value: {
        "stride": _size(command, word, value, "ERROR: invalid offset passed to -T\n")
    },
    "v": _verbose,
    "w": _share,
    "W": lambda _, __, value: {"warm_up": _WARM_UP(value)},
    "x": lambda *_: {"routines": True},
    "z": _seed,
    "Z": _data,
}


def _checked(command: Command, options: Sequence[str]) -> Command:
    """Make sure that the options go together, as the original does.

    Raises:
        Refused: they do not.
        UsageError: Teijo cannot do what they ask for together.
    """
    several = command.threads > 1 or command.threads_per_target > 1
    letters = {option[1:2] for option in options}
    wrong = []
    if command.threads and command.threads_per_target > 1:
        wrong.append("ERROR: -F and -t parameters cannot be used together")
    if command.random and command.stride:
        wrong.append("ERROR: -T conflicts with -r")
    if command.random and command.interlocked:
        wrong.append("ERROR: -si conflicts with -r")
    if command.interlocked and command.stride:
        wrong.append("ERROR: -si conflicts with -T")
    if command.stride and not several and not command.random:
        wrong.append("ERROR: -T has no effect unless multiple threads per target are used")
    if command.end and command.end <= command.base:
        wrong.append("ERROR: maximum (-f) target offset must be greater than base (-B)")
    if 0 < command.buffer_bytes < command.block:
        wrong.append(
            "ERROR: custom write buffer (-Z) is smaller than the block size. Write buffer size: "
            f"{command.buffer_bytes} block size: {command.block}"
        )
    if wrong:
        raise _refused("\n".join(wrong) + "\n")
    if "O" in letters and (not command.threads or len(command.targets) > 1):
        raise UsageError(
            "-O is the depth of a thread over all targets, which Teijo drives for one target only",
            remedy="Write -F and -O with one target, or -o for each target.",
        )
    if not command.duration:
        raise UsageError("-d0: nothing would be measured", remedy="Write -d10.")
    return command
