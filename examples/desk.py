"""What the examples of articles share: where runs and reports go, a sentence of an article with the
numbers that were found and the bounds they are held to, and the table of them.

A verdict is nobody's to give: it follows from the numbers of a row and their bounds, and both are
printed beside it.
"""

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from teijo import api
from teijo.report import html

SEED = 1
CARD = "iodrive?read_command_us=29.5&read_us=25"
"""The card behind the path of the article's server, which takes 23 µs more for a read."""
HEAD = ("said", "Teijo's simulated device", "held to", "rests on", "within")
WIDTHS = (40, 44, 18, 14, 10)


@dataclass(frozen=True, kw_only=True)
class Held:
    """Numbers that were found, and what they all are held to; a bound that is none holds nothing.

    `least` and `most` may be reached, `above` and `below` may not.
    """

    values: tuple[float, ...]
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    digits: int = 2
    told: str = ""
    """How the bound is told, where it is no number of its own: "± 25 %"."""

    @property
    def met(self) -> bool:
        """Whether there are numbers, and all are within the bounds."""
        return bool(self.values) and all(map(self._holds, self.values))

    def _holds(self, value: float) -> bool:
        return not (
            (self.least is not None and not value >= self.least)
            or (self.most is not None and not value <= self.most)
            or (self.above is not None and not value > self.above)
            or (self.below is not None and not value < self.below)
        )

    @property
    def text(self) -> str:
        """The least and the most of the numbers: "1.47 to 1.64"."""
        return span(self.values, self.digits)

    @property
    def bound(self) -> str:
        """What the numbers are held to: "1.38 to 1.81", "> 10"."""
        if self.told:
            return self.told
        if self.least is not None and self.most is not None:
            return f"{self.least:,g} to {self.most:,g}"
        signs = ((">", self.above), ("<", self.below), ("≥", self.least), ("≤", self.most))
        return " and ".join(f"{sign} {value:,g}" for sign, value in signs if value is not None)


def near(value: float, said: float, percent: float, digits: int = 2) -> Held:
    """Return a number that is held to come as near as this to what was said."""
    share = percent / 100
    return Held(
        values=(value,),
        least=said * (1 - share),
        most=said * (1 + share),
        digits=digits,
        told=f"± {percent:g} %",
    )


def within_times(value: float, said: float, times: float, digits: int = 2) -> Held:
    """Return a number that is held to be at most so many times what was said, and no less."""
    told = f"within {times:g} times"
    least, most = said / times, said * times
    return Held(values=(value,), least=least, most=most, digits=digits, told=told)


def span(values: Iterable[float], digits: int = 2) -> str:
    """Return the least and the most of some values: "1.47 to 1.64"."""
    known = sorted(values)
    told = [f"{value:,.{digits}f}" for value in (known[0], known[-1])] if known else ["nothing"]
    return " to ".join(dict.fromkeys(told))


@dataclass(frozen=True, kw_only=True)
class Result:
    """One sentence of an article, what was found, and whether that is within it."""

    article: str
    said: str
    found: str
    """With a "{}" for the numbers of each `held`, in their order."""
    held: tuple[Held, ...] = ()
    """All of them have to be met. Without any the row is told, and not judged."""
    rests: str = "prediction"
    """Or "fit": a parameter of the device was made to this very sentence (of some devices: "fit of
    SSD"); "arithmetic" and "setting": no device has a part in it; "measured": a real device.
    """
    why: str = ""
    """Of what is not met, and is known not to be, or is not judged: the reason. It is told, and is
    no failure."""

    @property
    def met(self) -> bool | None:
        """Whether the numbers are within their bounds; None: there are none to hold them to."""
        return all(each.met for each in self.held) if self.held else None

    @property
    def verdict(self) -> str:
        """Return what the table says of it; "NO" where nobody knows why."""
        if self.met is None:
            return "not judged"
        return "yes" if self.met else "no" if self.why else "NO"

    @property
    def failed(self) -> bool:
        """Whether it is not met, or not judged, and nothing says why."""
        return not self.met and not self.why

    @property
    def cells(self) -> tuple[str, ...]:
        """Return its columns, as HEAD has them."""
        bounds = ", ".join(dict.fromkeys(each.bound for each in self.held))
        found = self.found.format(*(each.text for each in self.held))
        return self.said, found, bounds or "-", self.rests, self.verdict


def table(results: Sequence[Result]) -> str:
    """Return the results in columns, article by article, with the reason below its row."""
    lines = [_line(HEAD), _line("-" * width for width in WIDTHS)]
    for article, rows in groupby(results, key=lambda each: each.article):
        lines += ["", article]
        for row in rows:
            parts = [textwrap.wrap(*each) for each in zip(row.cells, WIDTHS, strict=True)]
            height = max(map(len, parts))
            columns = [[*part, *[""] * (height - len(part))] for part in parts]
            lines += map(_line, zip(*columns, strict=True))
            if row.why and not row.met:
                told = textwrap.wrap(f"{row.verdict}: {row.why}", sum(WIDTHS))
                lines += [f"    {line}" for line in told]
    return "\n".join(lines)


def _line(texts: Iterable[str]) -> str:
    columns = (text.ljust(width) for text, width in zip(texts, WIDTHS, strict=True))
    return "  ".join(columns).rstrip()


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where runs go, and their reports unless nobody is to read them."""

    folder: Path
    reports: bool = True

    def run(self, name: str, method: str, target: str, **settings: str) -> api.Run:
        """Return a run, measured unless its file is there already, and write its report."""
        path = self.folder / f"{name}.teijo"
        if not path.exists():
            api.run(method, f"sim:{target}", output=path, settings=settings, seed=SEED)
        run = api.open(path)
        if self.reports:
            path.with_suffix(".html").write_text(html.render(run.document()), "utf-8")
        return run


def scalars_of(run: api.Run) -> dict[str, float]:
    """Return the run's figures by name, those that it has."""
    return {each.name: each.value for each in run.findings.scalars if each.value is not None}


Article = Callable[[Desk], list[Result]]
