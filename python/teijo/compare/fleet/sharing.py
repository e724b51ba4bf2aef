"""What drives share, in words and tables: as the host tells it, and as reading them shows it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from teijo.analysis.bottleneck import LOSS_LEAST, Bottlenecks, Comparison, Shared, Verdict
from teijo.compare.fleet.tables import FOLDED_ROWS
from teijo.document import model
from teijo.document.grid import Fields, listing
from teijo.document.phrase import Verbatim, listed, say, sentences
from teijo.terms.bottleneck import BLOCK_BYTES
from teijo.terms.topology import Kind, Part, Sharers, ranges
from teijo.units import GIGA, MEGA

_NAMES_SHOWN: Final = 8
_PERCENT: Final = 100
_HALF_A_DIGIT: Final = 0.05
"""So that a bound is never rounded to the better side."""
LOAD_WORDS: Final = {
    "sequential": "SEQ 128 KiB QD 32, reads",
    "random": "RND 4 KiB QD 32, reads",
}


def drive_names(drives: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    shown: list[str] = [Verbatim(each) for each in drives[:_NAMES_SHOWN]]
    if len(drives) > _NAMES_SHOWN:
        shown.append(say("{count} more", count=len(drives) - _NAMES_SHOWN))
    return listed(shown)


def parts_words(parts: Sequence[Part]) -> str:
    """Return what a group shares, the nearest to the drives first."""
    told: list[str] = [
        _part_words(part) for part in parts if part.kind not in ("interrupts", "host")
    ]
    served = [int(part.name) for part in parts if part.kind == "interrupts" and _is_number(part)]
    if served:
        told.append(
            say("interrupts of several on processors {cpus}", cpus=Verbatim(ranges(served)))
        )
    if host := next((part for part in parts if part.kind == "host"), None):
        told.append(say("the host: processors ({count}) and memory", count=Verbatim(host.detail)))
    return listed(told)


def _is_number(part: Part) -> bool:
    return part.name.isascii() and part.name.isdecimal()


def _part_words(part: Part) -> str:
    words = say("{kind} {name}", kind=part.kind, name=Verbatim(part.name))
    if part.detail:
        words = say("{part} ({detail})", part=words, detail=Verbatim(part.detail))
    if part.link and part.usable:
        words = say(
            "{part}, link {link}, about {gb:.1f} GB/s",
            part=words,
            link=Verbatim(part.link),
            gb=part.usable / GIGA,
        )
    return words


def unknown_words(kind: Kind, drives: Sequence[str]) -> str:
    """Return of which drives nothing tells whether they share a kind of thing."""
    return say("Not told of {drives}: {kind}.", kind=kind, drives=drive_names(drives))


@dataclass(frozen=True, kw_only=True)
class _Row:
    shared: Shared
    comparison: Comparison


def _rows(found: Bottlenecks) -> list[_Row]:
    return [_Row(shared=each, comparison=one) for each in found.shared for one in each.comparisons]


def shared_table(found: Bottlenecks) -> model.Table:
    """Return a row for each drive of each group at each load, with its verdict."""
    rows = _rows(found)
    fields: Fields[_Row] = (
        ("Host", "", None, lambda row: Verbatim(row.shared.group.host)),
        ("Group", "", 0, lambda row: found.measured.groups.index(row.shared.group) + 1),
        ("Load", "", None, lambda row: LOAD_WORDS[row.shared.load]),
        ("Drive", "", None, lambda row: Verbatim(row.comparison.drive)),
        ("Without the others", "MB/s", 1, lambda row: _mb_s(row, row.comparison.alone_iops)),
        ("With the others", "MB/s", 1, lambda row: _mb_s(row, row.comparison.together_iops)),
        ("Ratio", "", 3, lambda row: row.comparison.ratio),
        ("From", "", 3, lambda row: row.comparison.low),
        ("To", "", 3, lambda row: row.comparison.high),
        ("Verdict", "", None, lambda row: _verdict_words(row.comparison)),
    )
    marked = [
        (at, len(fields) - 1)
        for at, row in enumerate(rows)
        if row.comparison.verdict in (Verdict.SHARES, Verdict.HOST)
    ]
    return listing(
        rows,
        fields,
        caption="Drives read together, and without the others of their group",
        marked=marked,
        folded=len(rows) > FOLDED_ROWS,
    )


def _mb_s(row: _Row, iops: float) -> float:
    return iops * BLOCK_BYTES[row.shared.load] / MEGA


def _verdict_words(each: Comparison) -> str:
    """Return the verdict on one drive, with the number it goes by."""
    match each.verdict:
        case Verdict.NOT:
            assert each.low is not None, "it has an interval"
            return say(
                "does not share one: by less than {percent:.1f} %",
                percent=max(0.0, _PERCENT * (1 - each.low)) + _HALF_A_DIGIT,
            )
        case Verdict.SHARES | Verdict.HOST:
            assert each.high is not None, "it has an interval"
            return say(
                "{verdict}: by at least {percent:.1f} %",
                verdict=each.verdict.value,
                percent=max(0.0, _PERCENT * (1 - each.high) - _HALF_A_DIGIT),
            )
        case Verdict.NOT_KNOWN:
            if not each.why:
                return each.verdict.value
            return say("{verdict}: {why}", verdict=each.verdict.value, why=each.why)


def groups_table(found: Bottlenecks) -> model.Table:
    """Return what each group shares, and the sum of its drives."""
    fields: Fields[Sharers] = (
        ("Group", "", 0, lambda each: found.measured.groups.index(each) + 1),
        ("Host", "", None, lambda each: Verbatim(each.host)),
        ("Its drives", "", None, lambda each: drive_names(each.drives)),
        ("They share", "", None, lambda each: parts_words(each.parts)),
    )
    return listing(found.measured.groups, fields, caption="What drives share, as the host tells it")


def shared_sentences(found: Bottlenecks) -> Iterator[str]:
    """Return one sentence for each group and load, then what the verdicts are worth."""
    for each in found.shared:
        yield shared_words(each)
    for host, drives in found.measured.hosts.items():
        yield from (
            say(
                "Of {drive} on {host} {percent:.0f} % was never written, by its own word: reads of "
                "that ask no medium, and are faster.",
                drive=Verbatim(drive),
                host=Verbatim(host),
                percent=_PERCENT * seen.unwritten,
            )
            for drive, seen in drives.items()
            if seen.unwritten
        )
        yield from (
            say(
                "{drive} on {host} was not read: {why}.",
                drive=Verbatim(drive),
                host=Verbatim(host),
                why=seen.why_not.rstrip("."),
            )
            for drive, seen in drives.items()
            if seen.why_not
        )


def shared_words(each: Shared) -> str:
    """Return what a group shows at one load: who loses, and the sum by what its link carries."""
    sharing = each.sharing
    known = [one for one in each.comparisons if one.verdict is not Verdict.NOT_KNOWN]
    values = {
        "drives": drive_names(each.group.drives),
        "load": LOAD_WORDS[each.load],
        "alone": each.alone_bytes / MEGA,
        "together": each.together_bytes / MEGA,
    }
    parts: list[str] = [
        say(
            "{drives}, {load}: {together:,.1f} MB/s together, {alone:,.1f} MB/s if each is alone.",
            **values,
        )
    ]
    if any(one.verdict is Verdict.HOST for one in sharing):
        parts.append(_host_words(each))
    elif sharing:
        parts.append(
            say(
                "They share a bottleneck: {count} of {all} lose by the others.",
                count=len(sharing),
                all=len(each.comparisons),
            )
        )
    elif len(known) == len(each.comparisons):
        parts.append(
            say("None loses {percent:.0f} % by the others.", percent=_PERCENT * LOSS_LEAST)
        )
    else:
        parts.append(
            say(
                "Of {count} of {all} it cannot be known.",
                count=len(each.comparisons) - len(known),
                all=len(each.comparisons),
            )
        )
    if each.bound is not None:
        parts.append(
            say(
                "That is {percent:.0f} % of what their link carries.",
                percent=_PERCENT * each.together_bytes / each.bound,
            )
        )
        if each.is_at_bound:
            parts.append("The link is at its bound.")
        if each.is_beyond_bound:
            parts.append("That much did not come over it: memory may have answered for the drives.")
    return sentences(parts)


def _host_words(each: Shared) -> str:
    if each.busy is None or each.busy_alone is None:
        return (
            "They share a bottleneck, which may be the host: what makes the I/O was busy, or "
            "waited for a processor."
        )
    return say(
        "They share a bottleneck, which may be the host: what makes the I/O was busy, or waited "
        "for a processor (processors {together:.0f} % busy, and {alone:.0f} % if each is alone).",
        together=_PERCENT * each.busy,
        alone=_PERCENT * each.busy_alone,
    )


def method_words(found: Bottlenecks) -> str:
    """Return how it was measured and judged, with the error rate that was counted."""
    measured = found.measured
    return say(
        "Drives were read {rounds} rounds long, {seconds:g} s at a time, each alone and all of a "
        "group together, in an order that was drawn (seed {seed}) and then reversed. A ratio is "
        "the mean of the rounds' logarithms; its interval is Student's t at 5 % over all {count} "
        "comparisons. A drive shares a bottleneck where the whole interval is below {bound:.2f}, "
        "and shares none where it is above. Counted on drawn rates, a verdict was false in 46 of "
        "1,000 measurements (95 % interval: 3.4 to 6.1 %) where the loss was just at that bound, "
        "and in none of 1,000 without a loss (0 to 0.4 %).",
        rounds=measured.rounds,
        seconds=measured.seconds,
        seed=measured.seed,
        count=found.comparisons,
        bound=1 - LOSS_LEAST,
    )


def section(found: Bottlenecks) -> model.Section:
    """Return the page of a fleet's report on what its drives share."""
    notes = [model.Paragraph(text=text) for text in shared_sentences(found)]
    blocks: list[model.Block] = [groups_table(found)]
    if found.shared:
        blocks.append(shared_table(found))
    blocks += [*notes, model.Paragraph(text=method_words(found))]
    return model.Section(title="What drives share", blocks=tuple(blocks))


def document_of(found: Bottlenecks) -> model.Document:
    """Return a report of this alone."""
    measured = found.measured
    return model.Document(
        name=Verbatim("bottleneck"),
        header=model.Header(
            title=say("{title} – Report Page", title="What drives share"),
            subtitle=Verbatim(measured.fleet),
            organisation="Teijo",
            revision="",
            top=(("Fleet", Verbatim(measured.fleet)), ("Begun", Verbatim(measured.began_at))),
            groups=(),
            stamp="",
        ),
        sections=(section(found),),
    )
