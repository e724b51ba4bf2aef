"""What a comparison says of its own verdicts: how many, why one run each does not decide, how many
more runs it takes and how that is counted, and how differences are judged.
"""

import math
from collections import Counter
from collections.abc import Iterator

from teijo.analysis.repeats import LEVEL_SHARE, LIKENESS, RUNS_MOST, SHOWN_SHARE, TOLERANCE
from teijo.compare.comparison import Comparison
from teijo.compare.judged import PLANNED_RATIO, Judged, Pairing, Verdict
from teijo.document.phrase import say


def decision_sentences(comparison: Comparison) -> Iterator[str]:
    """Return how many figures differ, and what is said where one run each does not decide."""
    pairings = comparison.pairings
    yield say(
        "{differing} of {judged} figures differ. All figures of a test are judged together, so "
        "that even one false difference among them is a matter of 5 %.",
        differing=sum(pairing.differing for pairing in pairings),
        judged=sum(pairing.judged for pairing in pairings),
    )
    for pairing in pairings:
        if told := _planned_sentence(pairing):
            yield told
    if not any(len(side.records) == 1 for side in comparison.sides):
        return
    yield say(
        "A side of one run shows how its rounds scatter, not how one run of a device differs from "
        "the next: another purge, another day. So from one run each only what is farther apart "
        "than two runs of one device may be is called a difference: each level {level:.0f} % off, "
        "together {apart:.0f} %, beside the scatter of the rounds. Several runs under one name "
        "(NAME=FILE) are judged by how they scatter themselves.",
        level=100 * LEVEL_SHARE,
        apart=100 * (math.exp(TOLERANCE) - 1),
    )
    whys = Counter(row.why for pairing in pairings for row in pairing.rows if row.why is not None)
    for why, count in whys.most_common():
        yield say(
            "Figures not decidable from one run each: {count}, since {why}.",
            count=count,
            why=why.value,
        )
    for pairing in pairings:
        if row := _open_row(pairing):
            yield _needed_sentence(pairing, row)


def method_sentences(comparison: Comparison) -> Iterator[str]:
    """Return how a difference comes about, from values to verdicts."""
    yield (
        "A difference is the ratio of the two printed values, less one. Its interval is Welch's t "
        "on the logarithm of the ratio, at 95 %: the two sides are independent, and each scatters "
        "in its own way."
    )
    yield say(
        "Samples that follow each other resemble each other. So the interval of one run stands on "
        "few large batches (the rounds of the measurement window, or five equal stretches of a "
        "series), and is as wide as neighbouring samples with an autocorrelation of {likeness} "
        "make it: in five rounds it cannot be measured.",
        likeness=LIKENESS,
    )
    yield say(
        "Of one run each the interval reaches {apart:.0f} % farther on either side: the standard "
        "takes rounds within ±{level:.0f} % of their mean for one steady state, so two runs of one "
        "device may lie at its two ends. Windows that differ in kind, windows that are not steady, "
        "and maxima are not decided from one run each at all.",
        apart=100 * (math.exp(TOLERANCE) - 1),
        level=100 * LEVEL_SHARE,
    )
    yield say(
        "The number of runs that are missing is the least that shows a difference of the size "
        "found {shown:.0f} times in 100, if runs scatter as a run's level is known from its "
        "rounds: runs that scatter more need more, and so does a difference that is by chance "
        "larger than it is. It is the least, therefore; two runs of each tell how runs scatter.",
        shown=100 * SHOWN_SHARE,
    )
    yield (
        "The maximum latency compared is the mean of the rounds' maxima, which a single long I/O "
        "in one round does not decide."
    )
    yield (
        "All cells together is the geometric mean of the cells, round by round: what the cells of "
        "a round have in common is in its scatter."
    )
    yield (
        "All figures of one test and pair are judged together: half of the 5 % is that of all "
        "cells together, the other half the figures' by Holm's procedure, and all of it where all "
        "cells together differ."
    )
    if any(len(side.records) > 1 for side in comparison.sides):
        yield (
            "Where a side has several runs, each run is one batch: the interval then holds for "
            "the next run too. A single run beside them is taken to scatter as they do."
        )


def _open_row(pairing: Pairing) -> Judged | None:
    """Return the row whose runs are counted: all cells together, else the farthest apart."""
    overall = pairing.overall
    if overall is not None and overall.verdict is Verdict.NOT_DECIDABLE:
        return overall
    rows = [row for row in pairing.rows if row.verdict is Verdict.NOT_DECIDABLE]
    return max(rows, key=lambda row: row.distance, default=None)


def _planned_sentence(pairing: Pairing) -> str:
    """Say how many runs of each would show 5 % in every figure that shows nothing; empty where it
    was not judged by several runs a side.
    """
    rows = [*pairing.rows, *([] if pairing.overall is None else [pairing.overall])]
    told = [row.planned.runs for row in rows if row.planned and row.verdict is Verdict.NOT_SHOWN]
    if not told:
        return ""
    known = [runs for runs in told if runs is not None]
    names = {**pairing.names, "percent": (PLANNED_RATIO - 1) * 100}
    if len(known) < len(told):
        return say(
            "{second} against {first}: as these runs scatter, not even {most} of each would show "
            "{percent:.0f} % in {count} of the figures without a difference four times in five.",
            most=RUNS_MOST,
            count=len(told) - len(known),
            **names,
        )
    return say(
        "{second} against {first}: as these runs scatter, {least} to {most} of each would show "
        "{percent:.0f} % in the figures without a difference four times in five, by the figure.",
        least=min(known),
        most=max(known),
        **names,
    )


def _needed_sentence(pairing: Pairing, row: Judged) -> str:
    assert row.needed is not None
    found = {
        **pairing.names,
        "place": row.place,
        "figure": row.figure.name,
        "percent": row.percents[0],
        "level": 100 * row.needed.level_share,
    }
    if row.needed.runs is None:
        return say(
            "{second} against {first}, {place}, {figure}: {percent:+.2f} %. From its rounds a "
            "run's level is known to {level:.2f} % (standard error). If runs scatter by that much, "
            "{most} runs of each do not show it yet.",
            most=RUNS_MOST,
            **found,
        )
    return say(
        "{second} against {first}, {place}, {figure}: {percent:+.2f} %. From its rounds a run's "
        "level is known to {level:.2f} % (standard error). If runs scatter by that much, {runs} "
        "runs of each show it four times in five: at least {more} more of each are needed.",
        runs=row.needed.runs,
        more=row.needed.more,
        **found,
    )
