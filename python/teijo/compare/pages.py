"""The report of a comparison: who is compared, what it shows, test by test, how it is judged."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from teijo.analysis import measures
from teijo.compare.comparison import Compared, Comparison
from teijo.compare.decision import decision_sentences, method_sentences
from teijo.compare.judged import SHOWN, Judged, Pairing, Verdict
from teijo.compare.plots import plots_notes, plots_of
from teijo.compare.sides import Entry, Match, Side
from teijo.compare.tables import (
    against,
    counts_table,
    difference_table,
    labelled,
    matrix_table,
    overall_words,
)
from teijo.document.model import (
    Block,
    Column,
    Document,
    Facts,
    Header,
    Note,
    Paragraph,
    Section,
    Table,
    Value,
)
from teijo.document.model import Verdict as Answer
from teijo.document.phrase import Verbatim, joined, listed, say
from teijo.methods.pages import (
    NOT_KNOWN,
    capacity_name,
    convergence_word,
    date_of,
    purge_method,
    window_name,
)
from teijo.methods.scaled import both_sizes, scale_rule
from teijo.terms.finding import Scalar
from teijo.terms.record import Record
from teijo.terms.remark import REMEDIES, Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.units import GIGA

TITLE = "Comparison"
_FOLDED_ROWS = 24
_RUNS_WIDE = 8


def pages(comparison: Comparison) -> Document:
    """Return the whole report."""
    return Document(
        name=document_name(comparison.sides),
        header=_header(comparison),
        sections=(
            _overview(comparison),
            _runs_section(comparison),
            *(section for one in comparison.tests for section in _test_sections(one)),
            _method_section(comparison),
            _remarks_section(comparison.sides),
        ),
    )


def document_name(sides: Sequence[Side]) -> str:
    """Return a file name: "compare-", then the sides' names."""
    text = "compare " + " ".join(side.name for side in sides)
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:100].strip("-")


# --- the header and the first pages -----------------------------------------------------------


def _header(comparison: Comparison) -> Header:
    records = [record for side in comparison.sides for record in side.records]
    starts = sorted(record.run.started_at for record in records)
    first = comparison.sides[0].name
    return Header(
        title=say("{title} – Report Page", title=TITLE),
        subtitle=listed(_title(one.match) for one in comparison.tests),
        organisation="Teijo",
        revision="",
        top=(
            ("Sides", listed(Verbatim(side.name) for side in comparison.sides)),
            ("Held against", Verbatim(first)),
            ("First run", date_of(starts[0])),
            ("Last run", date_of(starts[-1])),
            ("Versions", listed(dict.fromkeys(Verbatim(r.run.spec or "none") for r in records))),
        ),
        groups=(),
        stamp=_stamp(comparison, records),
    )


def _stamp(comparison: Comparison, records: Sequence[Record]) -> str:
    kinds = {remark.kind for record in records for remark in record.remarks}
    words: list[str] = []
    if RemarkKind.SIMULATED in kinds:
        words.append("SIMULATED DEVICE")
    names = dict.fromkeys(each.aspect for each in comparison.deviations)
    if names:
        words.append(say("NOT MADE ALIKE: {names}", names=Verbatim(", ".join(names))))
    if any(record.run.ending in ("running", "interrupted", "failed") for record in records):
        words.append("INCOMPLETE")
    return joined(words)


def _overview(comparison: Comparison) -> Section:
    blocks: list[Block] = [_answer(comparison), *_scale_rules(comparison)]
    blocks.append(Paragraph(text=comparison.kind))
    blocks.append(counts_table(comparison))
    blocks += [Paragraph(text=text) for text in decision_sentences(comparison)]
    if comparison.deviations:
        blocks.append(_deviations_table(comparison))
    blocks.append(_convergence_table(comparison))
    return Section(title="Overview", blocks=tuple(blocks))


def _scale_rules(comparison: Comparison) -> list[Paragraph]:
    """Return how volumes and times are told, once where the scaled devices are of one size."""
    rules: dict[str, list[str]] = {}
    for side in comparison.sides:
        for record in side.records:
            rule = scale_rule(record.geometry)
            if rule is not None and side.name not in rules.setdefault(rule.text, []):
                rules[rule.text].append(side.name)
    everywhere = sum(map(len, rules.values())) == len(comparison.sides) and len(rules) == 1
    if everywhere:
        return [Paragraph(text=text) for text in rules]
    return [
        Paragraph(text=say("{names}: {text}", names=listed(map(Verbatim, names)), text=text))
        for text, names in rules.items()
    ]


def _answer(comparison: Comparison) -> Answer:
    """Return the comparison in one line, as far as one line can say it."""
    pairings = [pairing for one in comparison.tests for pairing in one.pairings]
    if len(pairings) == 1:
        text = _in_a_line(pairings[0])
    else:
        text = say(
            "{differing} of {judged} figures differ, {open} are not decidable, in {pairings} "
            "comparisons",
            differing=sum(pairing.differing for pairing in pairings),
            judged=sum(pairing.judged for pairing in pairings),
            open=sum(pairing.count(Verdict.NOT_DECIDABLE) for pairing in pairings),
            pairings=len(pairings),
        )
    return Answer(text=text, good=None)


def _in_a_line(pairing: Pairing) -> str:
    counts = {
        "judged": pairing.judged,
        "faster": pairing.count(Verdict.FASTER),
        "slower": pairing.count(Verdict.SLOWER),
        "open": pairing.count(Verdict.NOT_DECIDABLE),
    }
    told = say(
        "{faster} of {judged} figures faster, {slower} slower, {open} not decidable", **counts
    )
    names = {"second": Verbatim(pairing.second), "first": Verbatim(pairing.first)}
    if pairing.overall is None:
        return say("{second} against {first}: {counts}", counts=told, **names)
    return say(
        "{second} against {first}: {overall}; {counts}",
        overall=overall_words(pairing.overall),
        counts=told,
        **names,
    )


def _deviations_table(comparison: Comparison) -> Table:
    return Table(
        columns=(
            Column(name="Test"),
            Column(name="Condition"),
            Column(name="Allowed as"),
            Column(name="Values"),
        ),
        rows=tuple(
            (
                Verbatim(each.test),
                Verbatim(each.condition),
                Verbatim(each.aspect),
                Verbatim(", ".join(f"{label}: {value}" for label, value in each.values)),
            )
            for each in comparison.deviations
        ),
        caption="Not made alike, and allowed to differ",
    )


def _convergence_table(comparison: Comparison) -> Table:
    entries = [(one.match, entry) for one in comparison.tests for entry in one.match.entries]
    scaled = any(entry.part.record.geometry.scale > 1 for _, entry in entries)
    return Table(
        columns=(
            Column(name="Test"),
            Column(name="Run"),
            Column(name="Steady state"),
            Column(name="Window"),
            Column(name="Rounds", digits=0),
            *both_sizes("Written", "GB", 2, scaled=scaled),
            Column(name="Drive fills", digits=2),
        ),
        rows=tuple(_convergence_row(match, entry, scaled=scaled) for match, entry in entries),
        caption="Convergence and windows",
    )


def _convergence_row(match: Match, entry: Entry, *, scaled: bool) -> tuple[Value, ...]:
    findings, record = entry.part.findings, entry.part.record
    answers = [each.answer for each in record.steps if isinstance(each.answer, StepResult)]
    written = sum(measures.written_bytes(answer) for answer in answers)
    return (
        Verbatim(match.name),
        entry.label,
        convergence_word(findings),
        window_name(findings),
        findings.rounds,
        written / GIGA,
        *([written / GIGA * record.geometry.scale] if scaled else []),
        written / record.geometry.capacity_bytes if record.geometry.has_capacity else None,
    )


def _runs_section(comparison: Comparison) -> Section:
    records = [record for side in comparison.sides for record in side.records]
    labels = [label for side in comparison.sides for label in side.labels]
    known = [_known(record) for record in records]
    tables = [
        Table(
            columns=(Column(name=""), *(Column(name=labels[place]) for place in places)),
            rows=tuple((name, *(known[place][name] for place in places)) for name in known[0]),
            caption="Devices, their state, and the hosts",
        )
        for places in _in_widths(len(records))
    ]
    return Section(title="Runs compared", blocks=tuple(tables))


def _in_widths(count: int) -> list[range]:
    """Return the places of runs in as many as a page is wide."""
    return [range(at, min(at + _RUNS_WIDE, count)) for at in range(0, count, _RUNS_WIDE)]


def _known(record: Record) -> dict[str, str]:
    """Return what is known of a run's device and host; another host is no other condition."""
    identity, run = record.identity, record.run
    found = {
        "Model": identity.model,
        "Serial no": identity.serial,
        "Firmware": identity.firmware,
        "Capacity": capacity_name(record),
        "Write cache": identity.write_cache,
        "Purge": purge_method(record),
        "Started": date_of(run.started_at),
        "Ending": run.ending,
        "Method": Verbatim(run.method),
        "Version of the standard": Verbatim(run.spec or "none"),
        "Engine": Verbatim(f"{run.engine}, Teijo {run.version}"),
        "Seed": Verbatim(run.seed),
        "CPU": record.environment.get("cpu", ""),
        "Kernel": record.environment.get("kernel", ""),
    }
    return {name: value or NOT_KNOWN for name, value in found.items()}


# --- one test ---------------------------------------------------------------------------------


def _test_sections(one: Compared) -> Iterator[Section]:
    match = one.match
    matrices = [table for each in one.pairings if (table := matrix_table(match, each))]
    tables = [
        difference_table(each, folded=bool(matrices) or len(each.rows) > _FOLDED_ROWS)
        for each in one.pairings
    ]
    note = Paragraph(
        text="Marked places differ. Less time is faster, and more I/O or data is. The interval is "
        "that of one figure at 95 %; the verdict counts that all of them were looked at, so a "
        "figure whose interval just leaves out zero may still show no difference."
    )
    title = _title(match)
    if not any(each.rows for each in one.pairings):
        text = Paragraph(text="Nothing of it is measured on two sides yet.")
        yield Section(title=say("{test}: differences", test=title), blocks=(text,))
        return
    blocks: list[Block] = [_facts(each) for each in one.pairings]
    yield Section(
        title=say("{test}: differences", test=title),
        blocks=(*blocks, *matrices, *tables, note, *_scalars_tables(match)),
    )
    plots = plots_of(match)
    said = plots_notes(match)
    for place, plot in enumerate(plots, start=1):
        told = said if place == 1 else []
        label = say("Plot {place} of {count}", place=place, count=len(plots))
        yield Section(
            title=say("{test}: {plot}", test=title, plot=plot.title),
            blocks=(replace(plot, title=plot.title), *told),
            label=label,
        )


def _title(match: Match) -> str:
    is_standard = bool(match.method.specs) and match.name == match.method.id.rpartition(".")[2]
    return Verbatim(match.name.upper() if is_standard else match.name)


def _facts(pairing: Pairing) -> Facts:
    rows: list[tuple[str, str]] = []
    if pairing.overall is not None:
        rows.append(("All cells together, geometric mean", overall_words(pairing.overall)))
    rows += [
        (
            say("{verdict}, of {judged}", verdict=verdict.value, judged=pairing.judged),
            str(pairing.count(verdict)),
        )
        for verdict in Verdict
    ]
    extremes = [row for row in pairing.rows if row.verdict in SHOWN]
    if extremes:
        farthest = max(extremes, key=_distance)
        rows.append(
            (
                "Farthest apart",
                say(
                    "{place}, {figure}: {words}",
                    place=farthest.place,
                    figure=farthest.figure.name,
                    words=overall_words(farthest),
                ),
            )
        )
    return Facts(
        caption=against(pairing),
        rows=tuple(rows),
    )


def _distance(row: Judged) -> float:
    assert row.difference is not None
    ratio = row.difference.ratio
    return max(ratio, 1 / ratio)


def _scalars_tables(match: Match) -> list[Table]:
    """Return the figures that a test has once: no interval, but they stand side by side."""
    found = [
        {(str(scalar.name), scalar.unit): scalar for scalar in entry.part.findings.scalars}
        for entry in match.entries
    ]
    keys = dict.fromkeys(key for each in found for key in each)
    rows: list[tuple[str, list[float | None]]] = []
    for key in keys:
        values = [each.get(key) for each in found]
        known = next(each for each in values if each is not None)
        numbers = [None if each is None else each.value for each in values]
        if any(number is not None for number in numbers):
            rows.append((_scalar_name(known), numbers))
    if not rows:
        return []
    caption = "Figures of the whole run, side by side"
    return [
        labelled(
            [match.entries[place].label for place in places],
            caption,
            [(name, *(numbers[place] for place in places)) for name, numbers in rows],
        )
        for places in _in_widths(len(match.entries))
    ]


def _scalar_name(scalar: Scalar) -> str:
    name = scalar.name
    return say("{name} ({unit})", name=name, unit=scalar.unit) if scalar.unit else name


# --- how it is judged, and what must be said --------------------------------------------------


def _method_section(comparison: Comparison) -> Section:
    return Section(
        title="How differences are judged",
        blocks=tuple(Paragraph(text=text) for text in method_sentences(comparison)),
        appendix=True,
    )


def _remarks_section(sides: Sequence[Side]) -> Section:
    """Return every remark of every run, said once for the runs that share it."""
    touched: dict[tuple[RemarkKind, str], list[str]] = {}
    for side in sides:
        for label, record in zip(side.labels, side.records, strict=True):
            for kind, text in dict.fromkeys(_key(remark) for remark in record.remarks):
                touched.setdefault((kind, text), []).append(label)
    notes: list[Block] = [
        Note(
            kind=kind.value,
            text=say("{runs}: {text}", runs=listed(labels), text=text),
            remedy=REMEDIES[kind],
        )
        for (kind, text), labels in touched.items()
    ]
    return Section(title="Remarks of the runs", blocks=tuple(notes) or (Paragraph(text="None."),))


def _key(remark: Remark) -> tuple[RemarkKind, str]:
    return remark.kind, remark.text
