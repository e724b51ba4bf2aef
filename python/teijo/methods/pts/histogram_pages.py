"""The page of a response-time histogram: how many I/Os took how long, and the confidence levels.

PTS words: ART is the mean response time, MRT the longest, 5 9s the one that 99.999 % kept.
"""

from collections.abc import Iterable, Iterator

from teijo.analysis import measures, percentile
from teijo.document import model
from teijo.document.grid import Beside, Edge, Figure, Grid, Line
from teijo.document.phrase import Phrase, say
from teijo.methods.pages import ms
from teijo.terms.histogram import EMPTY, Histogram
from teijo.terms.result import StepResult

FIVE_NINES = 99.999
FIVE_NINES_IOS = 100_000
"""I/Os of which one lies beyond 99.999 %: fewer cannot tell that level from the maximum."""


def histogram_section(
    title: str, stimulus: str, latency: Histogram, *, label: str = ""
) -> model.Section:
    """Return one page: the levels as a table, the histogram, and the confidence levels.

    `latency` is the merged histogram of all the I/Os shown, `stimulus` the name of what they
    are ("RND 4 KiB 0/100"), `label` the page's place among the plots.
    """
    if not latency.count:
        text = model.Paragraph(text="No I/O was measured for it yet.")
        return model.Section(title=title, blocks=(text,), label=label)
    blocks: tuple[model.Block, ...] = (
        levels_table(stimulus, latency),
        model.Paragraph(text=backing_words(latency)),
        _counts_chart(stimulus, latency),
        _confidence_chart(stimulus, latency),
    )
    return model.Section(title=title, blocks=blocks, label=label)


def run_section(stimulus: str, run: StepResult | None) -> model.Section:
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


def levels_table(stimulus: str, latency: Histogram) -> model.Table:
    """Return ART, every confidence level and MRT, one a row; a level not resolved is empty."""
    rows: list[tuple[model.Value, ...]] = [("mean (ART)", ms(latency.mean_ns), "")]
    for percent, value in percentile.percentiles_ns(latency):
        beyond = None if value is None else percentile.ios_beyond(latency.count, percent)
        rows.append((level_name(percent), _ms(value), beyond))
    rows.append(("maximum (MRT)", ms(latency.max_ns), 0))
    return model.Table(
        columns=(
            model.Column(name="Level"),
            model.Column(name="Response time", unit="ms", digits=4),
            model.Column(name="I/Os beyond", digits=0),
        ),
        rows=tuple(rows),
        caption=say("Response time, {stimulus}", stimulus=stimulus),
    )


def _counts_chart(stimulus: str, latency: Histogram) -> model.XYChart:
    bins = percentile.decade_bins(latency)
    lows, highs, counts = zip(*bins, strict=True)
    # Where a bin is drawn; its edges are exact in the table, so that few digits will do here.
    middles = [float(f"{ms((low * high) ** 0.5):.4g}") for low, high, _ in bins]
    grid = Grid(
        leading=(_beside("From", "ms", map(ms, lows)), _beside("Below", "ms", map(ms, highs))),
        rows=_times("Middle", middles),
        columns=(
            Line(figure=Figure(name="I/Os", digits=0), name=stimulus, values=counts),
            _beside("Share", "%", (100 * count / latency.count for count in counts)),
        ),
    )
    return grid.chart(
        "Response-time histogram",
        Figure(name="I/Os"),
        log=True,
        table=grid.table("Response-time histogram", folded=True),
        rules=_levels(latency),
        note="Forty bins a decade; a bin without I/Os breaks the line.",
    )


def _times(name: str, places: Iterable[float]) -> Edge:
    """Return the axis of response times, under the name that the table has for them."""
    return Edge(
        name=name,
        drawn_as="Response time",
        unit="ms",
        digits=5,
        places=tuple(places),
        scale="log",
        from_zero=True,
    )


def _beside(name: str, unit: str, values: Iterable[float], digits: int = 5) -> Beside:
    return Beside(column=model.Column(name=name, unit=unit, digits=digits), values=tuple(values))


def _levels(latency: Histogram) -> Iterator[model.Rule]:
    """Yield the levels the standard names, drawn up the chart."""
    mean, longest = ms(latency.mean_ns), ms(latency.max_ns)
    for name, value in (("ART", mean), ("5 9s", five_nines_ms(latency)), ("MRT", longest)):
        if value is not None:
            yield model.Rule(name=name, value=value, at="x", style="dotted")


def _confidence_chart(stimulus: str, latency: Histogram) -> model.XYChart:
    points = percentile.curve_ns(latency)
    shares = tuple(100 * share for share, _ in points)
    figure = Figure(name="I/Os as slow or slower", unit="%", digits=6)
    grid = Grid(
        rows=_times("Response time", (ms(value) for _, value in points)),
        columns=(
            Line(figure=figure, name=stimulus, values=shares, style="line"),
            _beside("Confidence level", "%", (100 - share for share in shares), digits=6),
        ),
    )
    rules = (
        # 100 - 99.999 is 0.00100000000000477 in doubles.
        model.Rule(name=level_name(percent), value=round(100 - percent, 9), style="dotted")
        for percent in percentile.HEADLINE
        if percent >= 99 and percentile.is_resolved(latency.count, percent)
    )
    return grid.chart(
        "Confidence levels of the response time",
        figure,
        log=True,
        table=grid.table("Confidence levels", folded=True),
        rules=rules,
        note="Where the curve crosses a level's line, that share of the I/Os was faster.",
    )


def _ms(latency_ns: int | None) -> float | None:
    return None if latency_ns is None else ms(latency_ns)
