"""What the reports of SQLIO and DiskSpd have in common: the mean beside what is printed, series."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from teijo import units
from teijo.analysis.quantities import Quantity
from teijo.analysis.repeats import estimate_of_run
from teijo.document import model
from teijo.document.grid import Fields, Figure, listing
from teijo.document.phrase import Verbatim, say
from teijo.methods.classic import hidden
from teijo.methods.classic.statistic import Statistic, statistics_tables
from teijo.methods.classic.timed import TimedFound
from teijo.methods.report import Rows, study_report
from teijo.methods.series_pages import Flow, flows_of, latency_section, time_section, times_table
from teijo.terms.result import STOPPED

OF_ONE_PASS = (
    "One run is one pass, so its interval (95 %) is from five equal stretches of it, and allows "
    "for neighbouring seconds being alike. It says how well this run knows its own mean, nothing "
    "of another day or of a target in another state."
)
NO_LEVEL = (
    "A mean lies outside its interval: its stretches leave the first seconds out where they do not "
    "divide evenly, and those were unlike the rest. A cache that filled or emptied may have part "
    "in it, and the mean is no level."
)
DIRECTIONS = ("read", "write")


@dataclass(frozen=True, kw_only=True)
class Told:
    """One figure as the original prints it: `text` in its own digits, `value` as a number.

    `figure` is what of a pass it is compared with; `factor` makes the original's unit of that.
    """

    name: str
    text: str
    value: float
    figure: Figure
    factor: float = 1.0


def timed_report(
    found: TimedFound[Any],
    tool: str,
    asked: Rows,
    result: Callable[[], Sequence[model.Block]],
    hides: Callable[[], Sequence[hidden.Hidden]] = tuple,
) -> model.Document:
    """Return the whole report of a record, growing or sealed.

    `asked` are the rows of what was asked for, `result` is what the first page says, and `hides`
    what this tool's numbers alone may hide; both are asked for when a pass has ended.
    """
    sections: list[model.Section] = []
    if found.passes:
        first = model.Section(title="Result", blocks=tuple(result()))
        sections = [first, *_course_sections(found, hides())]
    return study_report(
        found,
        title=Verbatim(tool),
        subtitle=Verbatim(found.load.name),
        group=Verbatim(tool),
        test=asked,
        sections=sections,
        empty="No pass has ended yet.",
    )


def told_table(told: Sequence[tuple[str, str]], caption: str) -> model.Table:
    """Return the original's figures as it prints them."""
    fields: Fields[tuple[str, str]] = (
        ("Figure", "", None, lambda row: row[0]),
        ("As printed", "", None, lambda row: row[1]),
    )
    return listing(told, fields, caption=caption)


def means_blocks(found: TimedFound[Any], told: Sequence[Told], test: str) -> list[model.Block]:
    """Return the mean of each figure with its interval, beside what the original prints.

    Over passes where there are several; else over stretches of the only one.
    """
    if len(found.passes) > 1:
        return statistics_tables(_over_passes(found, told, test))
    quantities = {each.figure: each for each in found.quantities}
    rows = [(each, quantities[each.figure]) for each in told if each.figure in quantities]
    fields: Fields[tuple[Told, Quantity]] = (
        ("Figure", "", None, lambda row: Verbatim(row[0].name)),
        ("As printed", "", None, lambda row: row[0].text),
        ("Mean", "", 4, lambda row: row[1].value * row[0].factor),
        ("From (95 %)", "", 4, lambda row: _end(row, low=True)),
        ("To (95 %)", "", 4, lambda row: _end(row, low=False)),
    )
    table = listing(rows, fields, caption="The mean and how sure it is")
    return [table, model.Paragraph(text=OF_ONE_PASS), *_level_blocks(found), *_early_blocks(found)]


def _end(row: tuple[Told, Quantity], *, low: bool) -> float | None:
    told, quantity = row
    estimate = estimate_of_run(quantity.batches, quantity.batch_samples)
    end = None if estimate is None else estimate.low if low else estimate.high
    return None if end is None else end * told.factor


def _over_passes(found: TimedFound[Any], told: Sequence[Told], test: str) -> list[Statistic]:
    quantities = {each.figure: each for each in found.quantities}
    return [
        Statistic(
            test=Verbatim(test),
            figure=Figure(
                name=Verbatim(each.name),
                digits=each.figure.digits,
                more_is_faster=each.figure.more_is_faster,
            ),
            rule=say("all {passes} passes", passes=len(found.passes)),
            told=each.value,
            values=tuple(value * each.factor for value in quantities[each.figure].batches),
            resolution=quantities[each.figure].resolution,
        )
        for each in told
        if each.figure in quantities
    ]


def _early_blocks(found: TimedFound[Any]) -> list[model.Block]:
    """Say which passes somebody ended before their time."""
    return [
        model.Paragraph(
            text=say(
                "Ended early by {who}: {measured} of {asked} were measured.",
                who=answer.detail[STOPPED],
                measured=units.format_duration(answer.elapsed_ns),
                asked=units.format_duration(found.load.duration_ns),
            )
        )
        for answer in found.passes
        if STOPPED in answer.detail
    ]


def _level_blocks(found: TimedFound[Any]) -> list[model.Block]:
    """Say so where the mean of a single pass lies outside its own interval."""
    if len(found.passes) != 1:
        return []
    for each in found.quantities:
        estimate = estimate_of_run(each.batches, each.batch_samples)
        if estimate is None or estimate.low is None or estimate.high is None:
            continue
        if not estimate.low <= each.value <= estimate.high:
            return [model.Paragraph(text=NO_LEVEL)]
    return []


def _flows_in(found: TimedFound[Any]) -> list[Flow]:
    """Return reads and writes of all passes, each with what it did."""
    return flows_of(found.load.name, found.passes, DIRECTIONS)


def _course_sections(found: TimedFound[Any], own: Sequence[hidden.Hidden]) -> list[model.Section]:
    """Return percentiles, the time series, the distribution, and what the number hides."""
    flows = _flows_in(found)
    times = model.Section(title="Percentiles", blocks=(times_table(flows),))
    page = hidden.section((*own, *hidden.entries(found.record, pick=found.pick)))
    return [times, time_section(flows), latency_section(flows), page]
