"""tiobench.pl's command line, read as perl's Getopt::Long reads it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from teijo.errors import UsageError
from teijo.personas.long_options import long_options_of
from teijo.personas.paths import is_folder, refuse_windows
from teijo.personas.persona import Refused, Said

_TEXTS: Final = ("target", "identifier")
_NUMBERS: Final = ("size", "block", "random", "numruns", "debug", "timeout", "threads")
_SWITCHES: Final = ("help", "nofrag", "dump", "progress", "flushCaches", "directio")
_USAGE: Final = """\
Usage: {name} [<options>]
Available options:
\t[--help] (this help text)
\t[--identifier IdentString] (use IdentString as identifier in output)
\t[--nofrag] (don't write fragmented files)
\t[--raw] (use raw device defined with --dir)
\t[--size SizeInMB]+
\t[--numruns NumberOfRuns]
\t[--target DirOrDisk]+
\t[--block BlkSizeInBytes]+
\t[--random NumberRandOpsAllThreads]+
\t[--threads NumberOfThreads]+
\t[--dump] (dump in Data::Dumper format, no report)
\t[--progress] (monitor progress with Term::ProgressBar)
\t[--timeout TimeoutInSeconds]
\t[--flushCaches] (requires root)
\t[--debug DebugLevel]

+ means you can specify this option multiple times to cover multiple
cases, for instance: {name} --block 4096 --block 8192 will first run
through with a 4KB block size and then again with a 8KB block size.

--numruns specifies over how many runs each test combination of
parameters should be averaged
"""
_NEITHER: Final = "--target params must be either all devices or all directories\n"


@dataclass(frozen=True, kw_only=True)
class Line:
    """What a command line asks for; sizes in MiB, blocks in bytes."""

    folder: Path
    identifier: str
    sizes: tuple[int, ...]
    blocks: tuple[int, ...] = (4096,)
    threads: tuple[int, ...] = (1, 2, 4, 8)
    random: int = 4000
    runs: int = 1
    switches: frozenset[str] = frozenset()

    @property
    def settings(self) -> Mapping[str, str]:
        """What classic.tiobench is to be set to."""
        return {
            # What is named twice is run twice by theirs; the table shows the last of both.
            "size": ",".join(f"{size}MiB" for size in dict.fromkeys(self.sizes)),
            "block": ",".join(map(str, dict.fromkeys(self.blocks))),
            "threads": ",".join(map(str, dict.fromkeys(self.threads))),
            "random": str(self.random),
            "passes": str(self.runs),
            "in_turn": "yes" if "nofrag" in self.switches else "no",
            "direct": "yes" if "directio" in self.switches else "no",
            "drop_caches": "yes" if "flushcaches" in self.switches else "no",
        }


@dataclass
class _Given:
    values: dict[str, list[str]] = field(default_factory=dict)
    wrong: str = ""


def read(name: str, words: Sequence[str], folder: Path, *, memory_mib: int, release: str) -> Line:
    """Return what a command line asks for; `release` is what `uname -r` says.

    Raises:
        Refused: the original would not take it; or it asks for help.
        UsageError: an option that Teijo does not have, or a Windows path.
    """
    given = _given(words)
    if given.wrong or "help" in given.values:
        raise Refused(Said(stdout=_USAGE.format(name=name), stderr=given.wrong, exit_code=1))
    for word in ("dump", "progress", "debug", "timeout"):
        # Perl takes a 0 for an option that was not given.
        if any(int(value or "1") for value in given.values.get(word, ())):
            raise UsageError(
                f"--{word}: Teijo's tiobench does not have it",
                remedy="Leave it out; --progress before tiobench shows how far it is.",
            )
    targets = given.values.get("target", ["."])
    for target in targets:
        refuse_windows(target)
    if any(not is_folder(folder / target) for target in targets):
        raise Refused(Said(stderr=_NEITHER, exit_code=1))
    if len(targets) > 1:
        raise UsageError(
            f"--target: {len(targets)} directories are named, and a run works in one",
            remedy="Name one, and start a run for each of the others.",
        )
    return Line(
        folder=folder / targets[0],
        identifier=given.values.get("identifier", [""])[-1] or release,
        sizes=_numbers(given, "size") or (2 * memory_mib,),
        blocks=_numbers(given, "block") or (4096,),
        threads=_numbers(given, "threads") or (1, 2, 4, 8),
        random=_last(given, "random") or 4000,
        runs=max(1, _last(given, "numruns")),
        switches=frozenset(word for word in map(str.lower, _SWITCHES) if word in given.values),
    )


def _numbers(given: _Given, word: str) -> tuple[int, ...]:
    return tuple(map(int, given.values.get(word, ())))


def _last(given: _Given, word: str) -> int:
    return int(given.values.get(word, ["0"])[-1])


def _given(words: Sequence[str]) -> _Given:
    """Return the options by their whole names; what is wrong with one is printed, and it is left
    out.
    """
    given = _Given()
    for each in long_options_of(words, valued=(*_TEXTS, *_NUMBERS), switches=_SWITCHES):
        given.wrong += each.wrong
        if each.name in _NUMBERS and not each.value.removeprefix("-").isdecimal():
            given.wrong += (
                f'Value "{each.value}" invalid for option {each.typed} (number expected)\n'
            )
        elif each.name:
            given.values.setdefault(each.name, []).append(each.value)
    return given
