"""What the record shows of the active range: by cursors of sequential streams; random cells by the
range and amount that they themselves were given.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from teijo.conformance.offsets import Course, range_bytes_of
from teijo.conformance.pieces import pieces_of
from teijo.conformance.requirement import Case, Found
from teijo.conformance.verdicts import met_if, untold
from teijo.conformance.versions import RangeRule
from teijo.document.phrase import joined, say
from teijo.terms.geometry import Geometry
from teijo.terms.workload import Access, ActiveRange


@dataclass(frozen=True, kw_only=True)
class _Reach:
    """Bytes that a stream may touch, the LBA range they lie in, and in how many pieces."""

    bytes: int
    span_bytes: int
    segments: int


def active_range(case: Case) -> Found:
    """Judge the range: of sequential streams by where they turned back, of random ones as asked.

    Random I/O leaves no trace of its places, so a right range of its cells is not verifiable; a
    wrong one deviates, for nothing outside of it can have been touched.
    """
    geometry = case.record.geometry
    asked = [
        (stream.access, _reach(stream.active_range, geometry))
        for _, step, _ in case.measured
        for stream in step.workload.streams
    ]
    wrapped = [each for each in case.courses
               if each.start_bytes + each.moved_bytes > each.range_bytes]  # fmt: skip
    if not asked and not wrapped:
        return untold("not yet")
    allowed = _allowed(case.version.active_range, geometry)
    spans = {each.bytes for each in _shares(case.version.active_range, geometry)}
    random = [reach for access, reach in asked if access is not Access.SEQUENTIAL]
    text = joined(filter(None, (_cells(random, geometry), _turns(wrapped, geometry))))
    preparing = [each for each in wrapped if each.is_precondition]
    holds = all(reach in allowed for _, reach in asked)
    holds &= all(each.in_order for each in wrapped)
    holds &= all(each.range_bytes in spans for each in preparing)
    if not holds:
        return met_if(False, text)
    if random:
        return untold(say("{told}; random I/O leaves no trace of its places", told=text))
    if not any(not each.is_precondition for each in wrapped) and not preparing:
        return untold("no sequential stream came to the end of its range")
    return met_if(True, text)


def range_asked(case: Case) -> str:
    """Return the active range as the version has it."""
    rule = case.version.active_range
    if rule.amount_bytes is None:
        return say("{share} % of the user capacity", share=rule.share_percent)
    return say(
        "8 or 16 GiB in {segments} equal segments, within 75 or 100 %", segments=rule.segments
    )


def _reach(asked: ActiveRange, geometry: Geometry) -> _Reach:
    span = asked.span_on(geometry)
    touched = range_bytes_of(asked, geometry)
    return _Reach(bytes=touched, span_bytes=span, segments=asked.segments if touched < span else 1)


def _shares(rule: RangeRule, geometry: Geometry) -> set[_Reach]:
    """Return the version's ranges without amounts, as preconditioning has them."""
    shares = (ActiveRange(share_percent=share) for share in rule.allowed_percents)
    return {_reach(share, geometry) for share in shares}


def _allowed(rule: RangeRule, geometry: Geometry) -> set[_Reach]:
    """Return what a cell of the version may touch on this device."""
    found = set()
    for share in rule.allowed_percents:
        for amount in rule.allowed_amounts_bytes:
            pieces = pieces_of(amount, rule.segments, geometry)
            one = ActiveRange(
                share_percent=share, amount_bytes=pieces.amount_bytes, segments=pieces.segments
            )
            found.add(_reach(one, geometry))
    return found


def _cells(reaches: Sequence[_Reach], geometry: Geometry) -> str:
    """Return what random cells were given, of the narrowest and the widest of them."""
    if not reaches:
        return ""
    kinds = sorted(set(reaches), key=lambda each: (each.bytes, each.span_bytes, each.segments))
    told = joined(_words(each, geometry) for each in dict.fromkeys((kinds[0], kinds[-1])))
    return say("{count:,} random cells within {told}", count=len(reaches), told=told)


def _words(reach: _Reach, geometry: Geometry) -> str:
    if reach.segments == 1 and reach.bytes == reach.span_bytes:
        return _share(reach.bytes, geometry)
    return say(
        "{bytes:,} B, {percent:.2f} % of the user capacity, in {segments:,} pieces over {span:,} B",
        bytes=reach.bytes,
        percent=100 * reach.bytes / geometry.capacity_bytes,
        segments=reach.segments,
        span=reach.span_bytes,
    )


def _share(range_bytes: int, geometry: Geometry) -> str:
    percent = 100 * range_bytes / geometry.capacity_bytes
    return say(
        "{bytes:,} B, {percent:.2f} % of the user capacity", bytes=range_bytes, percent=percent
    )


def _turns(wrapped: Iterable[Course], geometry: Geometry) -> str:
    """Return where sequential writes turned back, the narrowest and the widest."""
    ends = sorted({each.range_bytes for each in wrapped})
    if not ends:
        return ""
    told = joined(_share(end, geometry) for end in dict.fromkeys((ends[0], ends[-1])))
    return say("sequential writes turned back at {told}", told=told)
