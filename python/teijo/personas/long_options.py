"""Options in words as perl's Getopt::Long reads them: tiobench.pl and sql-bench take theirs so."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class LongOption:
    """One option as it was met: its whole name in small letters, as it was typed, and its value.

    `wrong` is empty, or what Getopt::Long prints of it; then there is no name.
    """

    typed: str
    name: str = ""
    value: str = ""
    wrong: str = ""


def long_options_of(
    words: Sequence[str], *, valued: Collection[str], switches: Collection[str]
) -> Iterator[LongOption]:
    """Return the options in their order, with one dash or two, abbreviated, in any case.

    `valued` are the options with a value, `switches` those without. What is no option is skipped;
    behind "--" there is none.
    """
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return
        if not word.startswith("-") or word == "-":
            continue
        typed, equals, value = word.lstrip("-").partition("=")
        if not typed:
            typed, equals = equals + value, ""
        fits = _fitting(typed.lower(), (*valued, *switches))
        if len(fits) != 1:
            several = f"Option {typed} is ambiguous ({', '.join(sorted(fits))})\n"
            wrong = several if fits else f"Unknown option: {typed}\n"
            yield LongOption(typed=typed, wrong=wrong)
            continue
        name = fits[0].lower()
        if fits[0] in switches:
            wrong = f"Option {typed} does not take an argument\n" if equals else ""
            yield LongOption(typed=typed, name=name, wrong=wrong)
        elif equals or left:
            yield LongOption(typed=typed, name=name, value=value if equals else left.pop(0))
        else:
            yield LongOption(typed=typed, wrong=f"Option {typed} requires an argument\n")


def _fitting(begun: str, known: Sequence[str]) -> list[str]:
    whole = [name for name in known if name.lower() == begun]
    return whole or [name for name in known if begun and name.lower().startswith(begun)]
