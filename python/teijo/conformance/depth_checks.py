"""What the record shows of the load: I/Os in flight, in the test and before it, and that none
failed. Each verdict follows from the shares and limits printed beside it.
"""

import errno
from collections import Counter
from collections.abc import Sequence

from teijo import units
from teijo.analysis import measures
from teijo.analysis.cross_check import DEPTH_LIMITS, Depth, depths_of, stimuli
from teijo.analysis.validity import LEAST_NS
from teijo.conformance.requirement import Case, Found, Loaded, Measured
from teijo.conformance.verdicts import digits_beside, judging, met_if, untold
from teijo.document.phrase import joined, say
from teijo.terms.step import Measure, Precondition

_KINDS_NAMED = 4
DEPTH_ASKED = say(
    "the threads × queue depth that the header names, {low} to {high} of it (this program's "
    "limits)",
    low=DEPTH_LIMITS[0],
    high=DEPTH_LIMITS[1],
)
_UNCOUNTED = say(
    "nothing was in flight that could be counted (steps under {least} tell nothing)",
    least=units.format_duration(LEAST_NS),
)


def _in_the_test(case: Case) -> list[Depth]:
    return _depths(case, Measure)


@judging(_in_the_test, _UNCOUNTED)
def depth(_: Case, found: Sequence[Depth]) -> Found:
    """Judge whether threads × queue depth I/Os were in flight, in every step or stimulus."""
    counted = [each for each in found if each.counted]
    others = [each for each in found if not each.counted]
    texts = []
    if counted:
        texts.append(
            say(
                "{low:.{digits}f} to {high:.{digits}f} of threads × queue depth in flight, counted "
                "in {count:,} steps while I/O was issued",
                count=len(counted),
                **_ends(counted),
            )
        )
    if others:
        texts.append(
            say(
                "{low:.{digits}f} to {high:.{digits}f} of threads × queue depth in flight by "
                "Little's law in {count:,} stimuli that nobody counted",
                count=len(others),
                **_ends(others),
            )
        )
    return _by_limits(found, joined(texts))


@judging(_in_the_test)
def single_io(_: Case, found: Sequence[Depth]) -> Found:
    """Judge whether never more than one I/O was in flight."""
    most = max(each.most * each.asked for each in found)
    least = max(each.least * each.asked for each in found)
    text = say(
        "at most {most:.{digits}f} in flight on average in any of {count:,} steps (limit: {limit})",
        most=most,
        digits=digits_beside([(most, DEPTH_LIMITS[1])], least=4),
        count=len(found),
        limit=DEPTH_LIMITS[1],
    )
    if least <= DEPTH_LIMITS[1] < most:
        return untold(text)
    return met_if(most <= DEPTH_LIMITS[1], text)


@judging(lambda case: case.measured)
def same_load(case: Case, measured: Sequence[Measured]) -> Found:
    """Judge whether as many I/Os were in flight before the test as in it."""
    _, first, _ = measured[0]
    asked = sum(stream.outstanding_ios for stream in first.workload.streams)
    found = _depths(case, Precondition)
    if not found:
        return untold("the latencies of the preconditioning do not tell how many were in flight")
    text = say(
        "{low:.2f} to {high:.2f} in flight on average, against {asked} of the test",
        low=min(each.least * each.asked for each in found),
        high=max(each.most * each.asked for each in found),
        asked=asked,
    )
    if any(each.asked != asked for each in found):
        return met_if(False, text)
    return _by_limits(found, text)


@judging(lambda case: list(case.loaded()))
def failed(_case: Case, loaded: Sequence[Loaded]) -> Found:
    """Judge whether every I/O of the run succeeded, those before the test among them."""
    kinds: Counter[tuple[str, int]] = Counter()
    for _, _, answer in loaded:
        for part in (*answer.results, *answer.commands):
            kinds.update({(part.operation, code): count for code, count in part.errors.items()})
    lost = +kinds  # without what is listed with no error at all
    done = sum(answer.ios for _, _, answer in loaded)
    if not lost:
        text = say("none of {ios:,} I/Os in {steps:,} steps", ios=done, steps=len(loaded))
        return met_if(True, text)
    by_step = [(measures.errors_of(answer), record.seq) for record, _, answer in loaded]
    most, worst = max(by_step, key=lambda pair: (pair[0], -pair[1]))
    text = say(
        "{failed:,} failed and {ios:,} succeeded; in {steps:,} of {count:,} steps, most in step "
        "{worst} ({most:,}): {kinds}",
        failed=lost.total(),
        ios=done,
        steps=sum(count > 0 for count, _ in by_step),
        count=len(loaded),
        worst=worst,
        most=most,
        kinds=joined(_kind(*kind, count) for kind, count in lost.most_common(_KINDS_NAMED)),
    )
    return met_if(False, text, "failed I/Os")


def _kind(direction: str, code: int, count: int) -> str:
    name = errno.errorcode.get(code, str(code)) if code else "short"
    return say("{direction} {error}: {count:,}", direction=direction, error=name, count=count)


def _depths(case: Case, kind: type[Measure] | type[Precondition]) -> list[Depth]:
    return [
        depth
        for stretch in case.stretches
        for stimulus in stimuli([each for each in stretch.steps if isinstance(each.step, kind)])
        for depth in depths_of(stimulus)
    ]


def _ends(found: Sequence[Depth]) -> dict[str, float]:
    """Return the least and the most of several depths, with the digits that set them apart from
    the limits.
    """
    low, high = min(each.least for each in found), max(each.most for each in found)
    pairs = [(end, limit) for end in (low, high) for limit in DEPTH_LIMITS]
    return {"low": low, "high": high, "digits": digits_beside(pairs, least=4)}


def _by_limits(found: Sequence[Depth], text: str) -> Found:
    verdicts = [each.kept for each in found]
    if False in verdicts:
        return met_if(False, text)
    return untold(text) if None in verdicts else met_if(True, text)
