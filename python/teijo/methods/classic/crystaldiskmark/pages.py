"""The report of CrystalDiskMark's test: its window, the means beside it, each pass by itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from teijo import units
from teijo.analysis.quantities import THROUGHPUT
from teijo.document import model
from teijo.document.grid import Edge, Fields, Figure, Grid, Line, listing
from teijo.document.phrase import say
from teijo.methods.classic import hidden
from teijo.methods.classic.crystaldiskmark.found import CrystalDiskMarkFound, Score
from teijo.methods.classic.crystaldiskmark.rows import Column, Row
from teijo.methods.classic.crystaldiskmark.settings import CrystalDiskMarkSettings, show_mix
from teijo.methods.classic.statistic import Statistic, statistics_tables
from teijo.methods.report import study_report
from teijo.methods.series_pages import (
    Flow,
    flows_of,
    latency_section,
    time_section,
    times_table,
)

ROW = "Row"
LATENCY_US = Figure(name="Mean latency", unit="µs", digits=2, more_is_faster=False)
BEST = (
    "The original prints the best of its passes, and its latency from the pass with the least, "
    "which may be another. Of passes that scatter by chance around one level, the best of two "
    "lies 0.56 σ above their mean, of three 0.85 σ, of five 1.16 σ and of nine 1.49 σ: so far it "
    "is expected to flatter, without any defect of the drive or the test. More than that says that "
    "one pass was unlike the others. The pass before the first is made and thrown away."
)
_HEADINGS: dict[Column, str] = {"read": "Read", "write": "Write", "mix": "Mix"}
_COURSES: dict[Column, tuple[str, str]] = {
    "read": ("Reads over time", "Latency distribution of reads"),
    "write": ("Writes over time", "Latency distribution of writes"),
    "mix": ("Mixes over time", "Latency distribution of mixes"),
}


def pages(found: CrystalDiskMarkFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    identity, settings, scores = found.record.identity, found.settings, found.scores
    sections = []
    if scores:
        flows = _flows(scores)
        times = model.Section(title="Times", blocks=(times_table(flows, edge=ROW),))
        sections = [
            _score_section(settings, scores),
            _best_section(scores),
            hidden.section(hidden.entries(found.record, pick=found.pick)),
            _passes_section(scores),
            times,
            *_courses(scores),
        ]
    return study_report(
        found,
        title=say("CrystalDiskMark {version}", version=settings.like),
        subtitle=identity.model or identity.target,
        group="CrystalDiskMark",
        test=_test_rows(settings),
        sections=sections,
        empty="No pass has ended yet.",
    )


def _test_rows(settings: CrystalDiskMarkSettings) -> tuple[tuple[str, str], ...]:
    profile = (("Profile", settings.profile),) if settings.like == "8" else ()
    mix = (("Mix", show_mix(settings.mix)),) if settings.mix is not None else ()
    return (
        ("Strict", settings.strict),
        *profile,
        *mix,
        ("Passes", str(settings.passes_counted)),
        ("Each lasts", units.format_duration(settings.measure_ns)),
        ("Test file", units.format_size(settings.size_bytes)),
        ("Data", settings.data),
    )


def _flows(scores: Sequence[Score]) -> list[Flow]:
    """Return a flow for each direction of each row, its passes one after the other."""
    operations = {"read": ("read",), "write": ("write",), "mix": ("read", "write")}
    return [
        flow
        for score in scores
        for flow in flows_of(score.place.name, score.passes, operations[score.place.column])
    ]


def _courses(scores: Sequence[Score]) -> list[model.Section]:
    """Return the course over time and the distribution of each column: all at once are too many
    lines to tell apart.
    """
    sections = []
    for column, title in _COURSES.items():
        flows = _flows([score for score in scores if score.place.column == column])
        if flows:
            over_time, spread = time_section(flows, edge=ROW), latency_section(flows, edge=ROW)
            sections += [
                replace(over_time, title=title[0]),
                replace(spread, title=title[1]),
            ]
    return sections


def headline(scores: Sequence[Score]) -> str:
    """Return the fastest of the window in one line, and what kind of number it is."""
    best = max(scores, key=lambda score: score.score_mb_s)
    if best.is_strict:
        return say(
            "CrystalDiskMark's test without its defects: {mb_s:,.1f} MB/s in {row}, the mean of "
            "{passes} passes",
            mb_s=best.score_mb_s,
            row=best.place.name,
            passes=len(best.passes),
        )
    return say(
        "As CrystalDiskMark scores it: {mb_s:,.1f} MB/s in {row}, the best of {passes} passes; "
        "their mean is {mean:,.1f} MB/s",
        mb_s=best.score_mb_s,
        row=best.place.name,
        passes=len(best.passes),
        mean=best.mean_mb_s.value,
    )


def _score_section(settings: CrystalDiskMarkSettings, scores: Sequence[Score]) -> model.Section:
    blocks: list[model.Block] = [
        model.Verdict(text=headline(scores), good=None),
        _window(settings, scores, "MB/s", 3, lambda score: score.score_mb_s),
        _window(settings, scores, "IOPS", 1, lambda score: score.iops),
    ]
    if settings.like == "8":
        blocks.append(_window(settings, scores, "µs", 2, lambda score: score.latency_us))
    return model.Section(
        title="Score", blocks=(*blocks, *statistics_tables(_statistics(settings, scores)))
    )


def _window(
    settings: CrystalDiskMarkSettings,
    scores: Sequence[Score],
    unit: str,
    digits: int,
    value: Callable[[Score], float | None],
) -> model.Table:
    """Return the window in one of its units: a row for each load, a column for each direction."""
    at = {(score.place.row, score.place.column): value(score) for score in scores}
    columns = tuple(dict.fromkeys(place.column for place in settings.shown))
    fields: Fields[Row] = (
        (ROW, "", None, lambda row: row.name),
        *(
            (_HEADINGS[column], unit, digits, lambda row, column=column: at.get((row, column)))
            for column in columns
        ),
    )
    return listing(settings.rows, fields, caption=say("The window, in {unit}", unit=unit))


def _statistics(settings: CrystalDiskMarkSettings, scores: Sequence[Score]) -> list[Statistic]:
    """Return what the original prints of each row beside its mean; of latency only version 8."""
    found = []
    for score in scores:
        passes = len(score.passes)
        mean = say("mean of {passes}", passes=passes)
        most, least = (
            say("maximum of {passes}", passes=passes),
            say("minimum of {passes}", passes=passes),
        )
        name = score.place.name
        found.append(
            Statistic(
                test=name,
                figure=THROUGHPUT,
                rule=mean if score.is_strict else most,
                told=score.score_mb_s,
                values=score.rates_mb_s,
                resolution=score.resolution,
            )
        )
        if settings.like == "8":
            found.append(
                Statistic(
                    test=name,
                    figure=LATENCY_US,
                    rule=mean if score.is_strict else least,
                    told=score.latency_us,
                    values=score.latencies_us,
                )
            )
    return found


def _best_section(scores: Sequence[Score]) -> model.Section:
    """Return what the best of several passes adds to their mean, and what else passes show."""
    fields: Fields[Score] = (
        (ROW, "", None, lambda score: score.place.name),
        ("Best above mean", "%", 2, lambda score: score.gain_percent),
        ("Expected by chance", "%", 2, lambda score: score.expected_gain_percent),
        ("Best pass", "", 0, lambda score: score.best_pass),
        ("Pass of least latency", "", 0, lambda score: score.quickest_pass),
        ("Thrown away", "MB/s", 2, lambda score: score.discarded_mb_s),
        ("Mean", "MB/s", 2, lambda score: score.mean_mb_s.value),
    )
    table = listing(scores, fields, caption="The best of the passes")
    told = [text for score in scores for text in _told(score)]
    return model.Section(
        title="Best of the passes",
        blocks=(table, model.Paragraph(text=BEST), *(model.Paragraph(text=text) for text in told)),
    )


def _told(score: Score) -> list[str]:
    """Say of a row whose passes are not alike in which way they are not."""
    found: list[str] = []
    name = score.place.name
    if score.levels is not None:
        low, high = score.levels
        found.append(
            say(
                "{name}: the passes are of two kinds, {few} around {low:,.1f} MB/s and {more} "
                "around {high:,.1f} MB/s; the maximum shows only the quicker kind.",
                name=name,
                few=len(low),
                low=sum(low) / len(low),
                more=len(high),
                high=sum(high) / len(high),
            )
        )
    elif score.first_by_rest is not None:
        found.append(
            say(
                "{name}: the first pass has {percent:.0f} % of what the others have; a buffer, a "
                "cache or other work may have part in it, and the mean is no level.",
                name=name,
                percent=score.first_by_rest * 100,
            )
        )
    elif score.trend is not None:
        found.append(_trend(name, score.trend))
    return found


def _trend(name: str, trend: float) -> str:
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


def _passes_section(scores: Sequence[Score]) -> model.Section:
    rows = [
        (score.place.name, number, rate)
        for score in scores
        for number, rate in enumerate(score.rates_mb_s, start=1)
    ]
    edge = Edge(
        name="Pass", digits=0, places=tuple(number for _, number, _ in rows), from_zero=False
    )
    line = Line(
        figure=THROUGHPUT,
        values=tuple(rate for _, _, rate in rows),
        parts=tuple(name for name, _, _ in rows),
    )
    fields: Fields[tuple[str, int, float]] = (
        (ROW, "", None, lambda row: row[0]),
        ("Pass", "", 0, lambda row: row[1]),
        (THROUGHPUT.name, THROUGHPUT.unit, 3, lambda row: row[2]),
    )
    chart = Grid(rows=edge, columns=(line,)).chart(
        "Throughput of each pass",
        THROUGHPUT,
        log=True,
        table=listing(rows, fields, folded=True),
    )
    return model.Section(title="Every pass", blocks=(chart,))
