"""The page of a response-time histogram: how many I/Os took how long, and the confidence levels.

PTS words: ART is the mean response time, MRT the longest, 5 9s the one that 99.999 % kept.
"""

from teijo.analysis import measures, percentile
from teijo.document.model import (
    Axis,
    Block,
    Column,
    Paragraph,
    Rule,
    Section,
    Series,
    Table,
    Value,
    XYChart,
)
from teijo.document.phrase import Phrase, say
from teijo.methods.pages import ms
from teijo.terms.histogram import EMPTY, Histogram
from teijo.terms.result import StepResult

FIVE_NINES = 99.999
FIVE_NINES_IOS = 100_000
"""I/Os of which one lies beyond 99.999 %: fewer cannot tell that level from the maximum."""


def histogram_section(title: str, stimulus: str, latency: Histogram, *, label: str = "") -> Section:
    """Return one page: the levels as a table, the histogram, and the confidence levels.

    `latency` is the merged histogram of all the I/Os shown, `stimulus` the name of what they
    are ("RND 4 KiB 0/100"), `label` the page's place among the plots.
    """
    if not latency.count:
        text = Paragraph(text="No I/O was measured for it yet.")
        return Section(title=title, blocks=(text,), label=label)
    blocks: tuple[Block, ...] = (
        levels_table(stimulus, latency),
        Paragraph(text=backing_words(latency)),
        _counts_chart(stimulus, latency),
        _confidence_chart(stimulus, latency),
    )
    return Section(title=title, blocks=blocks, label=label)


def run_section(stimulus: str, run: StepResult | None) -> Section:
    """Return the page of the histogram's run, None before it took place."""
    latency = EMPTY if run is None else measures.latency_of(run)
    return histogram_section("Response-time histogram and confidence levels", stimulus, latency)


def five_nines_ms(latency: Histogram) -> float | None:
    """Return the response time that 99.999 % kept, in ms; None of fewer than 100,000 I/Os."""
    return _ms(percentile.level_ns(latency, FIVE_NINES))


def backing_words(latency: Histogram) -> Phrase:
    """Say how many I/Os stand behind the levels, and whether that is enough for 5 9s."""
    if percentile.is_resolved(latency.count, FIVE_NINES):
        return say(
            "{count:,} I/Os stand behind these levels, {beyond:,} of them beyond 99.999 %.",
            count=latency.count,
            beyond=percentile.ios_beyond(latency.count, FIVE_NINES),
        )
    return say(
        "Only {count:,} I/Os stand behind these levels: 99.999 % (5 9s) is not resolved, for it "
        "needs at least {needed:,}.",
        count=latency.count,
        needed=FIVE_NINES_IOS,
    )


def level_name(percent: float) -> Phrase:
    """Return a confidence level's name, "99.9 %"."""
    if percent == FIVE_NINES:
        return say("{percent:g} % (5 9s)", percent=percent)
    return say("{percent:g} %", percent=percent)


def levels_table(stimulus: str, latency: Histogram) -> Table:
    """Return ART, every confidence level and MRT, one a row; a level not resolved is empty."""
    rows: list[tuple[Value, ...]] = [("mean (ART)", ms(latency.mean_ns), "")]
    for percent, value in percentile.percentiles_ns(latency):
        beyond = None if value is None else percentile.ios_beyond(latency.count, percent)
        rows.append((level_name(percent), _ms(value), beyond))
    rows.append(("maximum (MRT)", ms(latency.max_ns), 0))
    return Table(
        columns=(
            Column(name="Level"),
            Column(name="Response time", unit="ms", digits=4),
            Column(name="I/Os beyond", digits=0),
        ),
        rows=tuple(rows),
        caption=say("Response time, {stimulus}", stimulus=stimulus),
    )


def _counts_chart(stimulus: str, latency: Histogram) -> XYChart:
    bins = percentile.decade_bins(latency)
    # Where a bin is drawn; its edges are exact in the table, so that few digits will do here.
    middles = tuple(float(f"{ms((low * high) ** 0.5):.4g}") for low, high, _ in bins)
    counts = tuple(count for _, _, count in bins)
    table = Table(
        columns=(
            Column(name="From", unit="ms", digits=5),
            Column(name="Below", unit="ms", digits=5),
            Column(name="Middle", unit="ms", digits=5),
            Column(name="I/Os", digits=0),
            Column(name="Share", unit="%", digits=5),
        ),
        rows=tuple(
            (ms(low), ms(high), middle, count, 100 * count / latency.count)
            for (low, high, count), middle in zip(bins, middles, strict=True)
        ),
        caption="Response-time histogram",
        folded=True,
    )
    return XYChart(
        title="Response-time histogram",
        x=Axis(name="Response time", unit="ms", scale="log"),
        y=Axis(name="I/Os", scale="log"),
        series=(Series(name=stimulus, x=middles, y=tuple(count or None for count in counts)),),
        table=table,
        rules=_levels(latency),
        note="Forty bins a decade; a bin without I/Os breaks the line.",
    )


def _levels(latency: Histogram) -> tuple[Rule, ...]:
    """Return the levels the standard names, drawn up the chart."""
    nines = five_nines_ms(latency)
    found = (
        ("ART", ms(latency.mean_ns)),
        ("5 9s", nines),
        ("MRT", ms(latency.max_ns)),
    )
    return tuple(
        Rule(name=name, value=value, at="x", style="dotted")
        for name, value in found
        if value is not None
    )


def _confidence_chart(stimulus: str, latency: Histogram) -> XYChart:
    points = percentile.curve_ns(latency)
    shares = tuple(100 * share for share, _ in points)
    times = tuple(ms(value) for _, value in points)
    table = Table(
        columns=(
            Column(name="Response time", unit="ms", digits=5),
            Column(name="I/Os as slow or slower", unit="%", digits=6),
            Column(name="Confidence level", unit="%", digits=6),
        ),
        rows=tuple((time, share, 100 - share) for time, share in zip(times, shares, strict=True)),
        caption="Confidence levels",
        folded=True,
    )
    levels = [percent for percent in percentile.HEADLINE if percent >= 99]
    rules = tuple(
        Rule(name=level_name(percent), value=round(100 - percent, 9), style="dotted")
        for percent in levels
        if percentile.is_resolved(latency.count, percent)
    )
    return XYChart(
        title="Confidence levels of the response time",
        x=Axis(name="Response time", unit="ms", scale="log"),
        y=Axis(name="I/Os as slow or slower", unit="%", scale="log"),
        series=(Series(name=stimulus, x=times, y=shares, style="line"),),
        table=table,
        rules=rules,
        note="Where the curve crosses a level's line, that share of the I/Os was faster.",
    )


def _ms(latency_ns: int | None) -> float | None:
    return None if latency_ns is None else ms(latency_ns)
