"""A classic test as the original runs it beside the same test without its defects: what of the
number was the defect.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from teijo.compare.judged import SHOWN, Judged, Pairing, quantities_by_side
from teijo.compare.sides import Match
from teijo.document import model
from teijo.document.grid import Fields, Figure, listing
from teijo.document.model import Verdict as Answer
from teijo.document.phrase import Verbatim, say
from teijo.errors import PlanError
from teijo.methods.classic import hidden
from teijo.methods.found import Pick
from teijo.methods.knobs import describe
from teijo.methods.parts import Part

KEY: Final = "strict"
"""The setting that two runs of one classic method may differ in."""
MEANING = (
    "As printed is the original's own statistic, which is that of its best, its first or its "
    "last pass where it picks one. The defect is what the printed number has beyond the strict "
    "one, in percent of the strict one: the pick is the part of it that this pass has beyond the "
    "mean of the passes, and the rest is between the two means. The interval is that of the "
    "means, at 95 %. Whether the test or the drive's state made the rest, one run each cannot tell."
)


def strict_of(part: Part) -> str:
    """Return how a run has `strict` set; empty of a method that has no such setting."""
    return str(getattr(part.found.settings, KEY, "")) if _is_classic(part) else ""


def _is_classic(part: Part) -> bool:
    return str(part.method.id).startswith("classic.")


def follows_from_strict(match: Match, condition: str) -> bool:
    """Return whether a condition differs between the runs because `strict` does, and only so.

    In each run it is what the method takes by itself where `strict` is as in that run.
    """
    parts = [entry.part for entry in match.entries]
    if len({strict_of(part) for part in parts}) < 2:
        return False
    return condition == KEY or all(_is_default(part, condition) for part in parts)


def _is_default(part: Part, condition: str) -> bool:
    asked = {KEY: strict_of(part)}
    try:
        usual = part.method.settings("", asked, part.record.geometry)
    except PlanError:
        return False
    own, other = (
        {each.key: each.value for each in describe(settings)}
        for settings in (part.found.settings, usual)
    )
    return condition in own and own[condition] == other[condition]


@dataclass(frozen=True, kw_only=True)
class Defect:
    """One figure of both runs: as the original prints it, its mean, and the strict one."""

    judged: Judged
    printed: float
    mean: float
    strict: float
    is_swapped: bool

    @property
    def total_percent(self) -> float | None:
        """How far the printed number is above the strict one."""
        return (self.printed / self.strict - 1) * 100 if self.strict else None

    @property
    def pick_percent(self) -> float | None:
        """The part of it that picking one pass makes, in percent of the strict number."""
        return (self.printed - self.mean) / self.strict * 100 if self.strict else None

    @property
    def rest_percent(self) -> float | None:
        """The part of it that lies between the two means."""
        return (self.mean / self.strict - 1) * 100 if self.strict else None

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The ends of the interval of that part; none where it has none."""
        found = self.judged.difference
        if found is None:
            return None, None
        low, high = (found.low, found.high) if self.is_swapped else (1 / found.high, 1 / found.low)
        return (low - 1) * 100, (high - 1) * 100


def defects_of(match: Match, pairing: Pairing) -> tuple[Defect, ...]:
    """Return every figure of a pairing of which one side is strict and the other is not."""
    parts = {side: match.of(side)[0].part for side in (pairing.first, pairing.second)}
    kinds = {strict_of(part): side for side, part in parts.items()}
    if set(kinds) != {"on", "off"}:
        return ()
    swapped = kinds["on"] == pairing.first
    original = parts[kinds["off"]]
    passes = {(each.place, each.figure): each for each in quantities_by_side(match)[kinds["off"]]}
    found = []
    for row in pairing.rows:
        mean, strict = (row.second, row.first) if swapped else (row.first, row.second)
        quantity = passes.get((row.place, row.figure))
        each_pass = quantity.batches if quantity is not None and quantity.by_round else ()
        printed = _printed(original.found.pick, each_pass, row.figure) if each_pass else mean
        found.append(
            Defect(judged=row, printed=printed, mean=mean, strict=strict, is_swapped=swapped)
        )
    return tuple(found)


def _printed(pick: Pick, passes: tuple[float, ...], figure: Figure) -> float:
    """Return what an original prints of its passes."""
    match pick:
        case "best":
            return max(passes) if figure.more_is_faster else min(passes)
        case "first":
            return passes[0]
        case "last":
            return passes[-1]
        case "mean":
            return fmean(passes)


def strict_sections(match: Match, pairings: tuple[Pairing, ...]) -> Iterator[model.Section]:
    """Yield the page of each pairing of an original and a strict run of a classic method."""
    for pairing in pairings:
        defects = [each for each in defects_of(match, pairing) if each.total_percent is not None]
        if not defects:
            continue
        rates = [each for each in defects if each.judged.figure.more_is_faster] or defects
        shown = [each for each in defects if each.judged.verdict in SHOWN]
        first = [each for each in shown if each in rates] or shown or rates
        worst = max(first, key=lambda each: abs(each.total_percent or 0))
        side = pairing.second if worst.is_swapped else pairing.first
        original = match.of(side)[0].part
        yield model.Section(
            title="How much of the number was the defect",
            blocks=(
                Answer(text=_headline(worst), good=None),
                _table(defects),
                model.Paragraph(text=MEANING),
                *_hidden(original),
            ),
        )


def _headline(worst: Defect) -> str:
    """Say the largest defect that is shown; where none is, the largest, and that it is not."""
    low, high = worst.ends
    said = say(
        "{place}: {printed:,.5g} {unit} as the original prints it, {strict:,.5g} without its "
        "defects: {percent:+.1f} %, of it {pick:+.1f} % by the pick of a pass",
        place=worst.judged.place,
        printed=worst.printed,
        unit=Verbatim(worst.judged.figure.unit or worst.judged.figure.name),
        strict=worst.strict,
        percent=worst.total_percent,
        pick=worst.pick_percent,
    )
    if low is None or high is None:
        return say(
            "{said}; whether the means differ is not known: no scatter of theirs is", said=said
        )
    if worst.judged.verdict in SHOWN:
        return say(
            "{said}; the means are {low:+.1f} to {high:+.1f} % apart",
            said=said,
            low=low,
            high=high,
        )
    return say(
        "{said}; the means are {low:+.1f} to {high:+.1f} % apart by themselves, and among all "
        "figures it is: {verdict}",
        said=said,
        low=low,
        high=high,
        verdict=worst.judged.verdict,
    )


def _table(defects: list[Defect]) -> model.Table:
    fields: Fields[Defect] = (
        ("Place", "", None, lambda row: row.judged.place),
        ("Figure", "", None, _figure),
        ("As printed", "", 4, lambda row: row.printed),
        ("Mean", "", 4, lambda row: row.mean),
        ("Strict", "", 4, lambda row: row.strict),
        ("Defect", "%", 1, lambda row: row.total_percent),
        ("Pick", "%", 1, lambda row: row.pick_percent),
        ("Rest", "%", 1, lambda row: row.rest_percent),
        ("Low end", "%", 1, lambda row: row.ends[0]),
        ("High end", "%", 1, lambda row: row.ends[1]),
    )
    return listing(defects, fields, caption="Original and strict")


def _figure(row: Defect) -> str:
    figure = row.judged.figure
    if not figure.unit:
        return figure.name
    return say("{figure}, {unit}", figure=figure.name, unit=Verbatim(figure.unit))


def _hidden(original: Part) -> list[model.Block]:
    """Return what the original's own report says is hidden, as that page has it: with its size."""
    sections = original.method.document(original.found).sections
    blocks = [each for page in sections if page.title == hidden.TITLE for each in page.blocks]
    facts = [each for each in blocks if isinstance(each, model.Facts)]
    tables: list[model.Block] = [each for each in blocks if isinstance(each, model.Table)]
    if not facts and not tables:
        return [model.Paragraph(text="The original run shows none of the known defects by itself.")]
    rows = tuple((each.caption, each.rows[hidden.SIZE_ROW][1]) for each in facts)
    told = [model.Facts(caption="What the original run hides", rows=rows)] if rows else []
    return [*told, *tables]
