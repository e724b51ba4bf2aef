"""The report of a comparison: who is compared, what it shows, test by test, how it is judged."""

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from teijo.analysis import measures
from teijo.compare.comparison import Compared, Comparison
from teijo.compare.conditions import Deviation
from teijo.compare.decision import decision_sentences, method_sentences
from teijo.compare.hosts import cautions, hosts_table
from teijo.compare.judged import SHOWN, Pairing, Verdict
from teijo.compare.plots import plots_notes, plots_of
from teijo.compare.sides import Entry, Match, Side
from teijo.compare.strict import strict_sections
from teijo.compare.tables import (
    against,
    counts_table,
    difference_table,
    labelled,
    matrix_table,
    overall_words,
    with_unit,
)
from teijo.document import model
from teijo.document.grid import Fields, listing
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
from teijo.methods.remark_groups import grouped
from teijo.methods.scaled import both_sizes, scale_rule
from teijo.terms.record import Record
from teijo.terms.remark import REMEDIES, RemarkKind
from teijo.terms.result import StepResult
from teijo.units import GIGA

T = TypeVar("T")
TITLE = "Comparison"
_FOLDED_ROWS = 24
_RUNS_WIDE = 8
_HOST = ("CPU", "Kernel")


def pages(comparison: Comparison) -> model.Document:
    """Return the whole report."""
    return model.Document(
        name=document_name(comparison.sides),
        header=_header(comparison),
        sections=(
            _overview(comparison),
            *(
                section
                for one in comparison.tests
                for section in strict_sections(one.match, one.pairings)
            ),
            _runs_section(comparison),
            *(section for one in comparison.tests for section in _test_sections(one)),
            _method_section(comparison),
            _remarks_section(comparison),
        ),
    )


def document_name(sides: Sequence[Side]) -> str:
    """Return a file name: "compare-", then the sides' names."""
    text = "compare " + " ".join(side.name for side in sides)
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:100].strip("-")


# --- the header and the first pages -----------------------------------------------------------


def _header(comparison: Comparison) -> model.Header:
    records = [record for _, record in comparison.runs]
    starts = sorted(record.run.started_at for record in records)
    first = comparison.sides[0].name
    return model.Header(
        title=say("{title} – Report Page", title=TITLE),
        subtitle=listed(_title(one.match) for one in comparison.tests),
        organisation="Teijo",
        revision="",
        top=(
            ("Sides", listed(Verbatim(side.name) for side in comparison.sides)),
            ("Held against", Verbatim(first)),
            ("First run", date_of(starts[0])),
            ("Last run", date_of(starts[-1])),
            (
                "Versions",
                listed(
                    dict.fromkeys(Verbatim(r.run.spec) if r.run.spec else "none" for r in records)
                ),
            ),
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
    if any(not record.run.is_whole for record in records):
        words.append("INCOMPLETE")
    return joined(words)


def _overview(comparison: Comparison) -> model.Section:
    blocks: list[model.Block] = [_answer(comparison), *_scale_rules(comparison)]
    blocks.append(model.Paragraph(text=comparison.kind))
    blocks.append(counts_table(comparison))
    blocks += [model.Paragraph(text=text) for text in decision_sentences(comparison)]
    blocks += [model.Paragraph(text=text) for text in cautions(comparison.hosts)]
    if comparison.deviations:
        blocks.append(_deviations_table(comparison))
    blocks.append(_convergence_table(comparison))
    return model.Section(title="Overview", blocks=tuple(blocks))


def _scale_rules(comparison: Comparison) -> list[model.Paragraph]:
    """Return how volumes and times are given, once where the scaled devices are of one size."""
    rules: dict[str, list[str]] = {}
    for side in comparison.sides:
        for record in side.records:
            rule = scale_rule(record.geometry)
            if rule is not None and side.name not in rules.setdefault(rule.text, []):
                rules[rule.text].append(side.name)
    everywhere = sum(map(len, rules.values())) == len(comparison.sides) and len(rules) == 1
    if everywhere:
        return [model.Paragraph(text=text) for text in rules]
    return [
        model.Paragraph(text=say("{names}: {text}", names=listed(map(Verbatim, names)), text=text))
        for text, names in rules.items()
    ]


def _answer(comparison: Comparison) -> Answer:
    """Return the comparison in one line, as far as one line can say it."""
    pairings = comparison.pairings
    if len(pairings) == 1:
        return Answer(text=_in_a_line(pairings[0]), good=None)
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
    counts = say(
        "{faster} of {judged} figures faster, {slower} slower, {open} not decidable",
        judged=pairing.judged,
        faster=pairing.count(Verdict.FASTER),
        slower=pairing.count(Verdict.SLOWER),
        open=pairing.count(Verdict.NOT_DECIDABLE),
    )
    if pairing.overall is None:
        return say("{second} against {first}: {counts}", counts=counts, **pairing.names)
    return say(
        "{second} against {first}: {overall}; {counts}",
        overall=overall_words(pairing.overall),
        counts=counts,
        **pairing.names,
    )


def _deviations_table(comparison: Comparison) -> model.Table:
    fields: Fields[Deviation] = (
        ("Test", "", None, lambda each: Verbatim(each.test)),
        ("Condition", "", None, lambda each: Verbatim(each.condition)),
        ("Allowed as", "", None, lambda each: Verbatim(each.aspect)),
        ("Values", "", None, _values),
    )
    caption = "Not made alike, and allowed to differ"
    return listing(comparison.deviations, fields, caption=caption)


def _values(deviation: Deviation) -> str:
    return Verbatim(", ".join(f"{label}: {value}" for label, value in deviation.values))


def _convergence_table(comparison: Comparison) -> model.Table:
    entries = [(one.match, entry) for one in comparison.tests for entry in one.match.entries]
    scaled = any(entry.part.record.geometry.scale > 1 for _, entry in entries)
    return model.Table(
        columns=(
            model.Column(name="Test"),
            model.Column(name="Run"),
            model.Column(name="Steady state"),
            model.Column(name="Window"),
            model.Column(name="Rounds", digits=0),
            *both_sizes("Written", "GB", 2, scaled=scaled),
            model.Column(name="Drive fills", digits=2),
        ),
        rows=tuple(_convergence_row(match, entry, scaled=scaled) for match, entry in entries),
        caption="Convergence and windows",
    )


def _convergence_row(match: Match, entry: Entry, *, scaled: bool) -> tuple[model.Value, ...]:
    findings, record = entry.part.findings, entry.part.record
    written = measures.written_in(
        (each.step, each.answer) for each in record.steps if isinstance(each.answer, StepResult)
    )
    written_gb = None if written is None else written / GIGA
    capacity = record.geometry.capacity_bytes if record.geometry.has_capacity else None
    return (
        Verbatim(match.name),
        entry.label,
        convergence_word(findings),
        window_name(findings),
        findings.rounds,
        written_gb,
        *([written_gb and written_gb * record.geometry.scale] if scaled else []),
        written / capacity if written is not None and capacity else None,
    )


def _runs_section(comparison: Comparison) -> model.Section:
    known = [(label, _known(record)) for label, record in comparison.runs]
    if comparison.hosts:  # these have a table of their own
        known = [
            (label, {n: v for n, v in each.items() if n not in _HOST}) for label, each in known
        ]
    tables = [
        model.Table(
            columns=(model.Column(name=""), *(model.Column(name=label) for label, _ in page)),
            rows=tuple((name, *(facts[name] for _, facts in page)) for name in known[0][1]),
            caption="Devices and their state"
            if comparison.hosts
            else "Devices, their state, and the hosts",
        )
        for page in _in_widths(known)
    ]
    tables += [hosts_table(page) for page in _in_widths(comparison.hosts)]
    return model.Section(title="Runs compared", blocks=tuple(tables))


def _in_widths(runs: Sequence[T]) -> list[Sequence[T]]:
    """Return runs in groups of as many as a page is wide."""
    return [runs[at : at + _RUNS_WIDE] for at in range(0, len(runs), _RUNS_WIDE)]


def _known(record: Record) -> dict[str, str]:
    """Return what is known of a run's device and host; another host is no other condition."""
    identity, run = record.identity, record.run
    found = {
        "Model": identity.model,
        "Serial no": identity.serial,
        "Firmware": identity.firmware,
        "Capacity": capacity_name(record) if record.geometry.has_capacity else "",
        "Write cache": identity.write_cache,
        "Purge": purge_method(record),
        "Started": date_of(run.started_at),
        "Ending": run.ending,
        "Method": Verbatim(run.method),
        "Version of the standard": Verbatim(run.spec) if run.spec else "none",
        "Engine": Verbatim(f"{run.engine}, Teijo {run.version}"),
        "Seed": Verbatim(run.seed),
        "CPU": record.environment.get("cpu", ""),
        "Kernel": record.environment.get("kernel", ""),
    }
    return {name: value or NOT_KNOWN for name, value in found.items()}


# --- one test ---------------------------------------------------------------------------------


def _test_sections(one: Compared) -> Iterator[model.Section]:
    match = one.match
    matrices = [table for each in one.pairings if (table := matrix_table(match, each))]
    tables = [
        difference_table(each, folded=bool(matrices) or len(each.rows) > _FOLDED_ROWS)
        for each in one.pairings
    ]
    note = model.Paragraph(
        text="Marked places differ. Less time is faster, and more I/O or data is. The interval is "
        "that of one figure at 95 %; the verdict counts that all of them were looked at, so a "
        "figure whose interval just leaves out zero may still show no difference."
    )
    test = _title(match)
    title = say("{test}: differences", test=test)
    if not any(each.rows for each in one.pairings):
        text = model.Paragraph(text="Nothing of it is measured on two sides yet.")
        yield model.Section(title=title, blocks=(text,))
        return
    facts: list[model.Block] = [_facts(each) for each in one.pairings]
    blocks = (*facts, *matrices, *tables, note, *_scalars_tables(match))
    yield model.Section(title=title, blocks=blocks)
    plots = plots_of(match)
    for place, plot in enumerate(plots, start=1):
        yield model.Section(
            title=say("{test}: {plot}", test=test, plot=plot.title),
            blocks=(plot, *(plots_notes(match) if place == 1 else [])),
            label=say("Plot {place} of {count}", place=place, count=len(plots)),
        )


def _title(match: Match) -> str:
    is_standard = bool(match.method.specs) and match.name == match.method.id.rpartition(".")[2]
    return Verbatim(match.name.upper() if is_standard else match.name)


def _facts(pairing: Pairing) -> model.Facts:
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
        farthest = max(extremes, key=lambda row: row.distance)
        words = say(
            "{place}, {figure}: {words}",
            place=farthest.place,
            figure=farthest.figure.name,
            words=overall_words(farthest),
        )
        rows.append(("Farthest apart", words))
    return model.Facts(caption=against(pairing), rows=tuple(rows))


def _scalars_tables(match: Match) -> list[model.Table]:
    """Return the figures that a test has once, side by side, without an interval."""
    names: dict[tuple[str, str], str] = {}
    found: list[tuple[str, dict[tuple[str, str], float | None]]] = []
    for entry in match.entries:
        scalars = {(str(each.name), each.unit): each for each in entry.part.findings.scalars}
        names |= {key: with_unit(each.name, each.unit) for key, each in scalars.items()}
        found.append((entry.label, {key: each.value for key, each in scalars.items()}))
    measured = [key for key in names if any(values.get(key) is not None for _, values in found)]
    if not measured:
        return []
    return [
        labelled(
            [label for label, _ in page],
            "Figures of the whole run, side by side",
            [(names[key], *(values.get(key) for _, values in page)) for key in measured],
        )
        for page in _in_widths(found)
    ]


# --- how it is judged, and what must be said --------------------------------------------------


def _method_section(comparison: Comparison) -> model.Section:
    return model.Section(
        title="How differences are judged",
        blocks=tuple(model.Paragraph(text=text) for text in method_sentences(comparison)),
        appendix=True,
    )


def _remarks_section(comparison: Comparison) -> model.Section:
    """Return every remark of every run, said once for the runs that share it."""
    all_of_them = (
        (remark, label) for label, record in comparison.runs for remark in record.remarks
    )
    notes: list[model.Block] = [
        model.Note(
            kind=group.kind.value,
            text=say("{runs}: {text}", runs=listed(group.touched), text=group.text),
            remedy=REMEDIES[group.kind],
        )
        for group in grouped(all_of_them)
    ]
    return model.Section(
        title="Remarks of the runs", blocks=tuple(notes) or (model.Paragraph(text="None."),)
    )
