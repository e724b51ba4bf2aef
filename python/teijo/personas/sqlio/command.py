"""SQLIO's command line read: what of it is asked for, and what Teijo does not have."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from teijo.errors import UsageError
from teijo.methods.load import QUEUE_DEPTH_MOST, THREADS_MOST
from teijo.personas.persona import Refused, Said
from teijo.personas.sqlio.usage import USAGE
from teijo.units import MEGA, MIB

DEFAULT_FILE: Final = "testfile.dat"
_SECONDS_MOST: Final = 10 * MEGA
_BLOCK_MOST_KB: Final = MIB
_NUMBER_MOST: Final = MEGA


@dataclass(frozen=True, kw_only=True)
class Command:
    """What a command line asks for. `latency` is the timer of -L, "" for none; `depth` 0: no -o."""

    kind: str = "R"
    threads: int = 1
    seconds: int = 30
    factor: str = "64"
    block_kb: int = 2
    run_ios: int = 64
    depth: int = 0
    sub_blocks: str = ""
    buffering: str = ""
    start_blocks: int = 0
    latency: str = ""
    processors: bool = False
    param_file: str = ""
    files: tuple[str, ...] = ()

    @property
    def asked_buffering(self) -> str:
        """The buffering, N where none was asked for."""
        return self.buffering or "N"


def parse(words: Sequence[str]) -> Command:
    """Return what a command line asks for.

    Raises:
        Refused: it is none of the original's.
        UsageError: it is one, and Teijo does not have it.
    """
    command, seen = Command(), set()
    for word in words:
        if not word.startswith("-") or word == "-":
            command = replace(command, files=(*command.files, word))
            continue
        letter, value = word[1:2], word[2:]
        seen.add(letter)
        command = _option(command, letter, value, word)
    return _checked(command, seen)


def _refused() -> Refused:
    return Refused(Said(stdout=USAGE, exit_code=1))


def _option(command: Command, letter: str, value: str, word: str) -> Command:
    match letter:
        case "k" if value.upper() in ("R", "W"):
            return replace(command, kind=value.upper())
        case "t":
            return replace(command, threads=_number(word, value, THREADS_MOST))
        case "s":
            return replace(command, seconds=_number(word, value, _SECONDS_MOST))
        case "f":
            return replace(command, factor=_factor(word, value))
        case "b":
            return replace(command, block_kb=_number(word, value, _BLOCK_MOST_KB))
        case "o":
            return replace(command, depth=_number(word, value, QUEUE_DEPTH_MOST))
        case "i":
            return replace(command, run_ios=_number(word, value, _NUMBER_MOST))
        case "m" if value[:1].upper() in ("C", "S"):
            _number(word, value[1:], _NUMBER_MOST)
            return replace(command, sub_blocks=value.upper())
        case "L" if value.upper() in ("S", "P"):
            return replace(command, latency=value.upper())
        case "U" if value in ("", "p"):
            return replace(command, processors=True)
        case "B" if value.upper() in ("N", "Y", "H", "S"):
            return replace(command, buffering=value.upper())
        case "S":
            return replace(command, start_blocks=_number(word, value, 2**40, least=0))
        case "F" if value:
            return replace(command, param_file=value)
        case "R" if value and "/" in value:
            names = tuple(each for each in value.split(",") if each)
            return replace(command, files=(*command.files, *names))
        case "6" if value == "4":
            return command  # 64-bit addresses: there are no others
        case _:
            _refuse_absent(letter, value, word)
            raise _refused()


def _refuse_absent(letter: str, value: str, word: str) -> None:
    """Refuse by name what the original has and Teijo has not.

    Raises:
        UsageError: it is such an option.
    """
    if letter in ("p", "a"):
        raise UsageError(
            f"{word}: Teijo's sqlio binds no thread to a processor by itself",
            remedy="Bind the whole run: taskset -c 0,1 teijo as sqlio …",
        )
    if letter == "d" and value:
        raise UsageError(
            f"{word}: there are no drive letters on Linux",
            remedy="Name each file: /mnt/disk1/testfile.dat /mnt/disk2/testfile.dat.",
        )
    if letter == "R" and value:
        raise UsageError(
            f"{word}: there are no drive letters and numbers on Linux",
            remedy="Name the block device: -R/dev/disk/by-id/NAME; `teijo devices` lists them.",
        )
    if letter == "L" and value.lower() in ("i", "si", "pi"):
        raise UsageError(
            f"{word}: how long it took to start an I/O is not measured apart",
            remedy="Write -LS: the time from its start to its end.",
        )
    if letter == "v" and value:
        raise UsageError(
            f"{word}: the defect of version 1.1.1, that blocks are used again, is not imitated",
            remedy="Leave it out.",
        )
    if letter == "D" and value:
        raise UsageError(
            f"{word}: Teijo's sqlio prints no single I/Os",
            remedy="Leave it out; the run file has each second (`teijo export`).",
        )


def _checked(command: Command, seen: set[str]) -> Command:
    """Make sure that the options go together.

    Raises:
        UsageError: they do not.
    """
    if command.depth and command.sub_blocks:
        raise UsageError("-o and -m do not go together", remedy="Leave one of them out.")
    if command.param_file and command.files:
        raise UsageError(
            f"-F{command.param_file} names the files, and {command.files[0]} is one more",
            remedy="Write it as a line of the parameter file.",
        )
    files = command.files or (() if command.param_file else (DEFAULT_FILE,))
    if len(files) > 1 and "o" not in seen:
        raise UsageError(
            f"Without -o each thread takes {len(files)} files in turn, one I/O at a time over all "
            "of them, which Teijo does not do",
            remedy="Add -o1: one I/O at a time for each thread and file.",
        )
    if command.param_file and "o" not in seen:
        command = replace(command, depth=0)
    return replace(command, files=files)


def _factor(word: str, value: str) -> str:
    name = value.lower()
    if name in ("random", "sequential"):
        return name
    return str(_number(word, value, _NUMBER_MOST))


def _number(word: str, value: str, most: int, *, least: int = 1) -> int:
    if not value.isascii() or not value.isdecimal() or len(value) > 18:
        raise _refused()
    number = int(value)
    if not least <= number <= most:
        raise UsageError(
            f"{word[:60]}: {number:,} lies outside {least:,} to {most:,}",
            remedy="Write a number within these.",
        )
    return number
