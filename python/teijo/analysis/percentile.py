"""Latency percentiles, read off the histogram of every I/O; never averaged."""

import numpy as np

from teijo.terms.histogram import Histogram

HEADLINE = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999)
"""Percentiles of a table, in percent: the median to the standard's five nines."""


def percentile_name(percent: float) -> str:
    """Return a percentile's short name: 99.9 → "p99.9"."""
    return f"p{percent:g}"


def percentiles_ns(latency: Histogram) -> tuple[tuple[float, int | None], ...]:
    """Return (percent, latency in ns) for every headline percentile.

    None where the percentile lies beyond the I/Os there are: 99.999 % of fewer than 100,000
    I/Os would only be the maximum under another name.
    """
    return tuple((percent, level_ns(latency, percent)) for percent in HEADLINE)


def curve_ns(latency: Histogram, points_most: int = 400) -> tuple[tuple[float, int], ...]:
    """Return the curve (I/Os slower than, as a share of all; latency in ns), fastest first.

    The share is what is drawn on a log axis, so that 0.1, 0.01, 0.001 are p90, p99, p99.9. The
    last point is the maximum, at the share of one I/O.
    """
    if not latency.count:
        return ()
    points: list[tuple[float, int]] = []
    slower = latency.count
    step = max(1, len(latency.counts) // points_most)
    for place, (value, count) in enumerate(
        zip(latency.values_ns.tolist(), latency.counts.tolist(), strict=True)
    ):
        if place % step == 0:
            points.append((slower / latency.count, max(value, latency.min_ns)))
        slower -= count
    points.append((1 / latency.count, latency.max_ns))
    return tuple(points)


def level_ns(latency: Histogram, percent: float) -> int | None:
    """Return one percentile in ns; None where it lies beyond the I/Os there are."""
    return latency.quantile_ns(percent / 100) if is_resolved(latency.count, percent) else None


def level(latency: Histogram, percent: float, unit_ns: int) -> float | None:
    """Return one percentile in units of `unit_ns`; None where it lies beyond the I/Os there are."""
    value = level_ns(latency, percent)
    return None if value is None else value / unit_ns


def decade_bins(latency: Histogram, per_decade: int = 40) -> tuple[tuple[float, float, int], ...]:
    """Return (from, below in ns; I/Os) of bins of equal width on a log axis, first to last.

    Empty bins between the fastest and the slowest I/O are included. A histogram's bucket falls in
    the bin that its middle lies in; latencies below 1 ns count as 1 ns.
    """
    if not latency.count:
        return ()
    widths = latency.upper_edges_ns() - latency.values_ns
    middles = np.maximum(latency.values_ns + widths // 2, 1)
    # An edge's own logarithm may come out a hair too small.
    places = np.floor(np.log10(middles) * per_decade + 1e-9).astype(np.int64)
    first, last = int(places[0]), int(places[-1])
    counts = np.zeros(last - first + 1, np.int64)
    np.add.at(counts, places - first, latency.counts)
    edges = [10 ** (place / per_decade) for place in range(first, last + 2)]
    return tuple(zip(edges[:-1], edges[1:], counts.tolist(), strict=True))


def is_resolved(count: int, percent: float) -> bool:
    """Return whether at least one of so many I/Os lies beyond a percentile."""
    return ios_beyond(count, percent) >= 1


def ios_beyond(count: int, percent: float) -> int:
    """Return how many whole I/Os of so many lie beyond a percentile."""
    # In thousandths of a percent, to stay in integers.
    return count * round((100 - percent) * 1000) // 100_000
