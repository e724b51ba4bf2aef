"""The report of a fleet: what differs, the drives, their distributions, what they have in common,
and what was left out.
"""

import re
from collections.abc import Iterator

from teijo.compare.fleet import charts, sharing, tables
from teijo.compare.fleet.drive import Drive
from teijo.compare.fleet.factors import Verdict
from teijo.compare.fleet.findings import Fleet
from teijo.compare.fleet.sentences import (
    answer,
    factor_sentences,
    limits_answer,
    method_sentences,
    seen_sentences,
)
from teijo.document import model
from teijo.document.phrase import Verbatim, joined, listed, say
from teijo.methods.pages import NOT_KNOWN, date_of

TITLE = "Fleet"


def pages(fleet: Fleet) -> model.Document:
    """Return the whole report."""
    sections = [_overview(fleet)]
    if fleet.limits:
        sections.append(_limits_section(fleet))
    if fleet.drives:
        sections += [_drives_section(fleet), *_figure_sections(fleet)]
        sections += [*_common_sections(fleet), _distribution_section(fleet)]
    sections += [sharing.section(each) for each in fleet.sharing]
    sections += [_left_out_section(fleet), _remarks_section(fleet), _method_section()]
    return model.Document(
        name=document_name(fleet), header=_header(fleet), sections=tuple(sections)
    )


def document_name(fleet: Fleet) -> str:
    """Return a file name: "fleet-", then the fleet's name, or the method's where it has none."""
    text = f"fleet {fleet.chosen.fleet or fleet.chosen.method}"
    return Verbatim(re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:100].strip("-"))


def _header(fleet: Fleet) -> model.Header:
    runs = _runs(fleet)
    starts = sorted(each.started_at for each in runs)
    versions = sorted({value for each in runs for at, value in each.conditions.items()
                       if at[1] == "spec"})  # fmt: skip
    return model.Header(
        title=say("{title} – Report Page", title=TITLE),
        subtitle=fleet.chosen.method,
        organisation="Teijo",
        revision="",
        top=(
            ("Fleet", fleet.chosen.fleet or "without a name"),
            ("Drives", str(len(fleet.drives))),
            ("First run", date_of(starts[0])),
            ("Last run", date_of(starts[-1])),
            ("Versions", listed(Verbatim(each) if each else "none" for each in versions)),
        ),
        groups=(),
        stamp=_stamp(fleet),
    )


def _runs(fleet: Fleet) -> tuple[Drive, ...]:
    return (*fleet.drives, *fleet.chosen.unfinished)


def _stamp(fleet: Fleet) -> str:
    words: list[str] = []
    if any(each.simulated for each in _runs(fleet)):
        words.append("SIMULATED DEVICE")
    names = dict.fromkeys(each.aspect for each in fleet.chosen.deviations)
    if names:
        words.append(say("NOT MADE ALIKE: {names}", names=Verbatim(", ".join(names))))
    if fleet.chosen.unfinished:
        words.append("INCOMPLETE")
    return joined(words)


def _overview(fleet: Fleet) -> model.Section:
    blocks: list[model.Block] = [answer(fleet)]
    if fleet.limits:
        blocks.append(limits_answer(fleet))
    if fleet.drives:
        blocks.append(model.Headline(chart=charts.level_chart(fleet)))
    blocks.append(_facts(fleet))
    if fleet.named:
        blocks.append(tables.named_table(fleet))
    if fleet.drives:
        blocks += [model.Paragraph(text=text) for text in seen_sentences(fleet)]
    blocks += [model.Paragraph(text=text) for text in factor_sentences(fleet)]
    if fleet.chosen.deviations:
        blocks.append(tables.deviations_table(fleet.chosen.deviations))
    return model.Section(title="Overview", blocks=tuple(blocks))


def _facts(fleet: Fleet) -> model.Facts:
    chosen = fleet.chosen
    drives = fleet.drives
    models = sorted({each.conditions.get(("", "model"), "") for each in _runs(fleet)})
    rows: list[tuple[str, str]] = [
        ("Drives compared", str(len(drives))),
        ("Models", listed(Verbatim(each) if each else NOT_KNOWN for each in models)),
        ("Hosts", str(len({each.host for each in drives if each.host}))),
        ("Firmware versions", str(len({each.firmware for each in drives if each.firmware}))),
        ("Runs that have not come to their end", str(len(chosen.unfinished))),
        ("Run files left out", str(len(chosen.left_out))),
    ]
    judged = [each.converged for each in drives if each.converged is not None]
    if judged:
        rows.append(("Drives without steady state", str(judged.count(False))))
    return model.Facts(caption="The fleet", rows=tuple(rows))


def _limits_section(fleet: Fleet) -> model.Section:
    blocks: list[model.Block] = [tables.limits_table(fleet)]
    missed = tables.not_met_table(fleet)
    if missed is not None:
        blocks.append(missed)
    return model.Section(title="Limits", blocks=tuple(blocks))


def _drives_section(fleet: Fleet) -> model.Section:
    note = model.Paragraph(
        text="Marked drives differ from the others. All together is how far a drive is off the "
        "fleet's median over all places of one figure: less than 0 % is slower. Remarks that all "
        "runs share are on the page of remarks alone."
    )
    notes = [note]
    if fleet.incomplete:
        text = say(
            "These drives have no value, or zero, in a figure that others have, and are not judged "
            "in it: {names}.",
            names=tables.names_of(fleet.incomplete),
        )
        notes.append(model.Paragraph(text=text))
    # Its chart is on the first page, and its numbers are a column of this table.
    blocks: list[model.Block] = [tables.drives_table(fleet), *notes]
    if fleet.named:
        blocks.append(tables.named_figures_table(fleet))
    return model.Section(title="The drives", blocks=tuple(blocks))


def _figure_sections(fleet: Fleet) -> Iterator[model.Section]:
    known = {each.key for each in fleet.spreads}
    keys = [key for key in fleet.key_figures if key in known]
    for place, key in enumerate(keys, start=1):
        chart = charts.key_chart(fleet, key)
        label = say("Plot {place} of {count}", place=place, count=len(keys))
        yield model.Section(title=chart.title, blocks=(chart,), label=label)


def _common_sections(fleet: Fleet) -> Iterator[model.Section]:
    """Return whether drives differ by host, firmware, slot and temperature, and a plot of each."""
    if not fleet.factors:
        return
    arrangements = [
        say(
            "{name}: held against {count:,} arrangements of the drives, {how}.",
            name=each.name.capitalize(),
            count=each.arrangements,
            how="all there are" if each.exact else "drawn",
        )
        for each in fleet.factors
        if each.arrangements
    ]
    notes = [model.Paragraph(text=text) for text in (*factor_sentences(fleet), *arrangements)]
    groups = [tables.groups_table(each) for each in fleet.factors if each.groups]
    yield model.Section(
        title="What the drives have in common",
        blocks=(tables.factors_table(fleet), *notes, *groups),
    )
    for each in fleet.factors:
        if each.verdict is Verdict.NOT_KNOWN and not each.drives:
            continue
        chart = (
            charts.temperature_chart(fleet) if each.is_number else charts.group_chart(fleet, each)
        )
        if chart is not None:
            yield model.Section(title=chart.title, blocks=(chart,))


def _distribution_section(fleet: Fleet) -> model.Section:
    return model.Section(title="Figures over the drives", blocks=tuple(tables.spread_tables(fleet)))


def _left_out_section(fleet: Fleet) -> model.Section:
    blocks: list[model.Block] = []
    if fleet.chosen.unfinished:
        blocks.append(tables.unfinished_table(fleet))
    if fleet.chosen.left_out:
        blocks.append(tables.left_out_table(fleet))
    if not blocks:
        blocks.append(model.Paragraph(text="Nothing: every run file that was named is in it."))
    return model.Section(title="What is not in the figures", blocks=tuple(blocks))


def _remarks_section(fleet: Fleet) -> model.Section:
    if not any(each.remarks for each in _runs(fleet)):
        return model.Section(title="Remarks of the runs", blocks=(model.Paragraph(text="None."),))
    return model.Section(title="Remarks of the runs", blocks=(tables.remarks_table(fleet),))


def _method_section() -> model.Section:
    return model.Section(
        title="How a fleet is judged",
        blocks=tuple(model.Paragraph(text=text) for text in method_sentences()),
        appendix=True,
    )
