"""The report of a quick look: one table, what ± means, what it is not, and each pass."""

import math
from collections.abc import Sequence

from teijo import units
from teijo.analysis.mean import Mean
from teijo.analysis.quantities import IOPS
from teijo.document import model
from teijo.document.grid import Edge, Fields, Grid, Line, listing
from teijo.document.phrase import say
from teijo.methods.quick.found import QuickFigure, QuickFound
from teijo.methods.report import study_report
from teijo.terms.result import StepResult

MEANING = (
    "± is the half-width of a 95 % interval of the mean, by Student's t from the scatter between "
    "the passes of a test. If all of this were repeated from the same state with other offsets, "
    "95 of 100 such intervals would hold the mean of all the repetitions. It says nothing of "
    "another day, another fill level or another temperature."
)
PASSES: Fields[tuple[str, int, StepResult]] = (
    ("Test", "", None, lambda row: row[0]),
    ("Pass", "", 0, lambda row: row[1]),
    (IOPS.name, IOPS.unit, IOPS.digits, lambda row: row[2].iops),
    ("Moved", "MB", 1, lambda row: (row[2].bytes or 0) / units.MEGA),
)
_SIGNIFICANT = 3
_DIGITS_MOST = 4


def pages(found: QuickFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    identity, settings, figures = found.record.identity, found.settings, found.figures
    blocks: list[model.Block] = [model.Verdict(text=headline(figures), good=None)]
    if figures:
        blocks += [table_of(figures), model.Paragraph(text=MEANING), *_trends(figures)]
    sections = [model.Section(title="Result", blocks=tuple(blocks))]
    if figures:
        sections.append(_passes_section(found))
    touched = min(settings.amount_bytes, found.record.geometry.capacity_bytes)
    return study_report(
        found,
        title="Quick look",
        subtitle=identity.model or identity.target,
        group="Quick look",
        test=(
            ("Passes", str(settings.passes)),
            ("Each lasts", units.format_duration(settings.pass_ns)),
            ("Touched", units.format_size(touched)),
            ("Writes", settings.writing),
        ),
        sections=sections,
    )


def headline(figures: Sequence[QuickFigure]) -> str:
    """Return the fastest of the table in one line, and what all of it is not."""
    if not figures:
        return "A quick look: no pass has ended yet."
    return say(
        "A quick look, not a steady-state test: up to {mb_s:,.0f} MB/s and {iops:,.0f} IOPS",
        mb_s=max(each.mb_s.value for each in figures),
        iops=max(each.iops.value for each in figures),
    )


def table_of(figures: Sequence[QuickFigure]) -> model.Table:
    """Return every test with its three figures, each with its interval."""
    columns, means = [model.Column(name="Test")], []
    for name, unit, of in (
        ("MB/s", "", [each.mb_s for each in figures]),
        ("IOPS", "", [each.iops for each in figures]),
        ("Latency", "µs", [each.latency_us for each in figures]),
    ):
        digits = _digits([mean.value for mean in of if mean is not None])
        columns += [
            model.Column(name=name, unit=unit, digits=digits),
            model.Column(name="±", digits=digits),
        ]
        means.append(of)
    rows = tuple(
        (figure.name, *(value for of in means for value in _shown(of[place])))
        for place, figure in enumerate(figures)
    )
    return model.Table(columns=tuple(columns), rows=rows, caption="Result")


def _shown(mean: Mean | None) -> tuple[model.Value, model.Value]:
    return (None, None) if mean is None else (mean.value, mean.half_width)


def _digits(values: Sequence[float]) -> int:
    """Return the digits after the point with which the smallest value has three figures."""
    least = min((value for value in values if value > 0), default=1.0)
    return min(_DIGITS_MOST, max(0, _SIGNIFICANT - 1 - math.floor(math.log10(least))))


def _trends(figures: Sequence[QuickFigure]) -> list[model.Block]:
    """Say of each test whose passes are not alike that its mean is no level."""
    told = [_trend(each) for each in figures]
    return [model.Paragraph(text=text) for text in told if text]


def _trend(figure: QuickFigure) -> str:
    name, trend = figure.name, figure.trend
    if figure.first_by_rest is not None:
        return say(
            "{name}: the first pass has {percent:.0f} % of what the others have; a buffer, a "
            "cache or other work may have part in it, and the mean is no level.",
            name=name,
            percent=figure.first_by_rest * 100,
        )
    if trend is None:
        return ""
    if trend < 1:
        return say(
            "{name}: every pass is slower than the one before, the last has {percent:.0f} % of the "
            "first, and the mean is no level.",
            name=name,
            percent=trend * 100,
        )
    return say(
        "{name}: every pass is faster than the one before, the last has {percent:.0f} % of the "
        "first, and the mean is no level.",
        name=name,
        percent=trend * 100,
    )


def _passes_section(found: QuickFound) -> model.Section:
    rows = [
        (figure.name, number, answer)
        for figure in found.figures
        for number, answer in enumerate(found.passes[figure.stimulus, figure.direction], start=1)
    ]
    names = tuple(name for name, _, _ in rows)
    rates = tuple(answer.iops for _, _, answer in rows)
    passes = tuple(number for _, number, _ in rows)
    grid = Grid(
        rows=Edge(name="Pass", digits=0, places=passes, from_zero=False),
        columns=(Line(figure=IOPS, values=rates, parts=names),),
    )
    table = listing(rows, PASSES, folded=True)
    chart = grid.chart("IOPS of each pass", IOPS, log=True, table=table)
    return model.Section(title="Every pass", blocks=(chart,))
