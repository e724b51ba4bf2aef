"""Limits on page one: a verdict in one line, and each limit with what was measured."""

from collections.abc import Sequence
from dataclasses import replace

from teijo.compare.limit import Judged
from teijo.document.grid import Fields, listing
from teijo.document.model import Block, Document, Table, Value, Verdict
from teijo.document.phrase import Verbatim, say
from teijo.report.numbers import ink

_WORDS = {"met": "met", "not met": "NOT MET", "not known": "cannot be known"}


def with_limits(document: Document, several: Sequence[Judged]) -> Document:
    """Return a report whose first page has the limits, right below its verdict."""
    if not several or not document.sections:
        return document
    first, *rest = document.sections
    after = next((at for at, block in enumerate(first.blocks, 1) if isinstance(block, Verdict)), 0)
    told: tuple[Block, ...] = (headline(several), table_of(several))
    blocks = (*first.blocks[:after], *told, *first.blocks[after:])
    return replace(document, sections=(replace(first, blocks=blocks), *rest))


def headline(several: Sequence[Judged]) -> Verdict:
    """Return how many limits are met, are not, and cannot be known; good if all of them are met."""
    met, missed, unknown = (sum(each.verdict == word for each in several) for word in _WORDS)
    text = say(
        "LIMITS: {met} met, {missed} not met, {open} cannot be known",
        met=met,
        missed=missed,
        open=unknown,
    )
    good = False if missed else None if unknown else True
    return Verdict(text=text, good=good)


def table_of(several: Sequence[Judged]) -> Table:
    """Return each limit with what was measured, its interval and its verdict."""
    fields: Fields[Judged] = (
        ("Limit", "", None, lambda each: Verbatim(each.text)),
        ("Measured", "", None, measured_words),
        ("95 % interval", "", None, interval_words),
        ("Verdict", "", None, verdict_words),
    )
    marked = [(row, 3) for row, each in enumerate(several) if each.verdict == "not met"]
    return listing(several, fields, caption="Limits", marked=marked)


def line_of(each: Judged) -> str:
    """Return one limit in one line, for a terminal."""
    value = "" if each.value is None else f" ({measured_words(each)})"
    return f"limit {each.text}: {verdict_words(each)}{value}"


def measured_words(each: Judged) -> Value:
    """Return what was measured with its unit, None where nothing was."""
    return None if each.value is None else Verbatim(f"{ink(each.value)} {each.unit}".strip())


def interval_words(each: Judged) -> Value:
    """Return both ends of the interval, None where there is none."""
    if each.low is None or each.high is None:
        return None
    return Verbatim(f"{ink(each.low)} … {ink(each.high)}")


def verdict_words(each: Judged) -> str:
    """Return the verdict, with why it cannot be known."""
    word = _WORDS[each.verdict]
    return say("{verdict}: {why}", verdict=word, why=each.why) if each.why else word
