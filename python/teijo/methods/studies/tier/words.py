"""The sentences of the study: its verdict, its answer in one paragraph, its arithmetic."""

from typing import Final

from teijo import units
from teijo.analysis.replicates import Estimate
from teijo.analysis.tiering import KEPT, Fall, FallKind
from teijo.document.phrase import capitalised, say, sentences
from teijo.methods.studies.tier.found import Curve, Reason, TierFound, deepest_of
from teijo.methods.studies.tier.settings import PATTERNS

MODELS: Final = (
    "The models: of uniform accesses to a set of W bytes a tier of C bytes answers the share "
    "h = min(1, C / W). If each I/O takes its device's own time, 1/X = h/X₁ + (1 − h)/X₂; if both "
    "devices work at once and the busier one bounds them, X = min(X₁/h, X₂/(1 − h)). X₁ and X₂ are "
    "the measured rates of the fast and the slow device alone. What is moved between the two costs "
    "both, and is in neither model."
)
HELD: Final = (
    "A set is held where it keeps 97 % of the smallest set's rate, as far as the scatter lets that "
    "be known, and is not held below 70 %. The rate falls between the two."
)
HELD_WITH_MODELS: Final = HELD + " The models are for the largest set."
CACHED_TIMES: Final = 2.0
"""A smaller set that the slow device alone does more than so many times as fast is remarked on:
what the arm saves in a shorter stretch is less.
"""
STRIPES: Final = (
    "N fast devices, striped, are no slower than the slow one where N · B₁ ≥ B₂: the smallest such "
    "N, from the measured rates of each alone, the slow one's at the largest set; within 2 % they "
    "are taken as equal. Nothing is said of what striping itself costs."
)
SLICES: Final = (
    "A cell is driven in slices until five in a row are steady (a range of at most 20 % of their "
    "average, a slope excursion of at most 10 %: the standard's rule for rounds); its numbers are "
    "over those five. The 95 % are of one run whose slices resemble their neighbours."
)
NOT_YET_ALONE: Final = "The fast and the slow device alone have not both been measured yet."
NOT_ALONE: Final = (
    "The fast and the slow device alone were not measured, so there is no model beside the "
    "tier, no crossover and no count of devices."
)
NOT_SWEPT: Final = (
    "Sequential streams did not get through their whole sets in the slices that count: they "
    "show the part they went over, and no model stands beside them."
)
PATTERN_NAMES: Final[dict[str, str]] = {
    "randread": "random reads",
    "randwrite": "random writes",
    "read": "sequential reads",
    "write": "sequential writes",
}


EVIDENCE: Final[dict[FallKind, str]] = {
    "tier": "a tier: sharp, and again",
    "gentle": "no tier: slower with every set",
    "worn": "no tier: does not come back",
    "once": "unknown: not a second time",
    "bent": "unknown: level, then gentle",
    "broad": "unknown: neither sharp nor gentle",
    "unreturned": "unknown: does not come back",
    "unfinished": "unknown: not measured again",
    "scattered": "unknown: within the scatter",
}
_LIKE_SEEKS: Final = (
    "The rate is level before and falls no more steeply than seeks make it: a tier that is less "
    "than about three times as fast as what lies behind it would show no better."
)
UNCLEAR: Final[dict[FallKind, str]] = {
    "unreturned": "When the smaller set was read again it stayed slow: a cache that warms up more "
    "slowly than the slices last would, and so would a device that something else kept busy. Set "
    "longer slices.",
    "once": "When both were read again the larger one was no slower: the first time it was not "
    "warm yet, or something else kept the device busy. Set longer slices.",
    "scattered": "Slices resemble their neighbours, so a cell of few slices is known less well "
    "than they suggest; with that allowed for, the fall may be no steeper than seeks make it, or "
    "none. Set longer slices.",
    "broad": "That is more than seeks or spare flash cost, and less than a tier does at once. Set "
    "more sets between the two, or refine.",
    "unfinished": "The two sets were not measured again, which would tell.",
    **dict.fromkeys(("bent", "gentle", "worn", "tier"), _LIKE_SEEKS),
}
"""Why reads may fall, and what would decide it."""
REASONS: Final[dict[Reason, tuple[str, str]]] = {
    "unfilled": (
        "nothing was written before it was read",
        "What was never written is answered without the medium, and where it begins a rate changes "
        "as sharply as at the end of a tier; nothing was written here before it was read. Set "
        "fill=1 to have the largest set written first.",
    ),
    "few sets": (
        "no random accesses to two sets or more",
        "A tier shows in random accesses to sets of growing size, and those were not measured over "
        "two sets or more. Set patterns=randread.",
    ),
    "no reads": (
        "writes fall, and no reads were measured",
        "Writes fall with the set, or with what was written before: a tier, a full cache and a "
        "worn drive all do that. Reads wear nothing. Set patterns=randread,randwrite.",
    ),
}
"""Why it cannot be known, in few words, and in full with what would decide it."""


def verdict(found: TierFound) -> str:
    """Return the answer in one line: where the tier ends, that none is seen, or that it cannot be
    known.
    """
    match found.seen:
        case "unknown":
            return say("WHETHER THERE IS A TIER CANNOT BE KNOWN: {why}", why=_unknown(found)[0])
        case "none":
            curves = found.witnesses
            if any(curve.fast for curve in curves) and not any(curve.cliff for curve in curves):
                return "NO WORKING SET IS TOO LARGE FOR THE TIER, as far as was measured"
            low, high = map(volume, found.looked_at)
            return say("NO TIER SEEN FROM {low} TO {high}", low=low, high=high)
        case "tier":
            curve = found.deepest
            assert curve is not None, "one is proven"
            assert curve.cliff is not None, curve.pattern
            return say(
                "THE TIER HOLDS {good}, NOT {bad}: {what}",
                good=volume(curve.cliff.good_bytes),
                bad=volume(curve.cliff.bad_bytes),
                what=curve_name(curve),
            )


def answer(found: TierFound) -> str:
    """Return what the study found, in one paragraph."""
    match found.seen:
        case "tier":
            parts = [*_cliff(found), _held(found), *_crossovers(found), _stripes(found)]
        case "none":
            parts = [_none(found), *_crossovers(found), _stripes(found)]
        case "unknown":
            parts = [_unknown(found)[1]]
    return sentences(part for part in (*parts, _worn(found), *_caveats(found)) if part)


def evidence(curve: Curve) -> str:
    """Return what a curve that could show a tier shows, in a few words."""
    fall = curve.fall
    if fall is None:
        rates = [cell.rate for cell in curve.tier.values()]
        share = 100 * min(rates) / rates[0] if rates[0] else 0.0
        return say("no fall: every set keeps {share:.0f} %", share=share)
    if fall.kind == "once" and not curve.reads:
        return "no tier: not a second time"
    return EVIDENCE[fall.kind]


def _unknown(found: TierFound) -> tuple[str, str]:
    """Return why it cannot be known, in few words, and in full with what would decide it."""
    reason = found.unknown
    if reason is not None and reason != "falls":
        return REASONS[reason]
    curve = found.hero
    assert curve is not None, "one falls"
    fall, what = curve.fall, curve_name(curve)
    assert fall is not None, curve.pattern
    lead = say(
        "{what} fall between {good} ({fast}) and {bad} ({slow}).",
        what=capitalised(what),
        **_values(fall),
    )
    why = UNCLEAR[fall.kind]
    return say("{what} fall, and it is not clear why", what=what), sentences([lead, why])


def _none(found: TierFound) -> str:
    """Say why there is no tier among the sets."""
    low, high = map(volume, found.looked_at)
    curves = found.best_witnesses
    curve = deepest_of(each for each in curves if each.fall is not None)
    if curve is None:
        return say(
            "From {low} to {high} {what} of every block size keep at least {percent:.0f} % of the "
            "smallest set's rate: nothing that answers a small set faster is in the way, or it "
            "holds all of them, or less than the smallest.",
            low=low,
            high=high,
            what="random reads" if curves[0].reads else "random writes",
            percent=100 * KEPT,
        )
    return say(
        "From {low} to {high} {what} get slower with every set, to 1/{factor:.1f}, and nowhere "
        "sharply: the seeks of a disk grow so with the stroke. A tier is level as far as it "
        "holds, and falls at its end.",
        low=low,
        high=high,
        what=curve_name(curve),
        factor=curve.fall_factor,
    )


def curve_name(curve: Curve) -> str:
    """Return a pattern and block size: "random reads of 4 KiB"."""
    block = units.format_block_size(curve.block_size_bytes)
    return say("{pattern} of {block}", pattern=PATTERN_NAMES[curve.pattern], block=block)


def volume(size_bytes: float) -> str:
    """Return a volume in the vendors' units."""
    return units.format_capacity(round(size_bytes))


def rate(throughput_mb_s: float) -> str:
    """Return MB/s with as many digits as matter."""
    digits = 0 if throughput_mb_s >= 100 else 1 if throughput_mb_s >= 10 else 2
    return f"{throughput_mb_s:,.{digits}f} MB/s"


def interval(estimate: Estimate) -> str:
    """Return how far the 95 % interval of a rate reaches, empty where there is none."""
    share = estimate.reach_share
    return "" if share is None else f"± {100 * share:.1f} %"


def _values(fall: Fall) -> dict[str, str]:
    """Return the sets and rates of a fall as sentences name them."""
    return {
        "good": volume(fall.cliff.good_bytes),
        "fast": rate(fall.good),
        "bad": volume(fall.cliff.bad_bytes),
        "slow": rate(fall.bad),
        "small": volume(fall.back_bytes),
        "back": rate(fall.back or 0.0),
        "again": rate(fall.again or 0.0),
    }


def _cliff(found: TierFound) -> tuple[str, ...]:
    """Say where the tier ends, and what shows that it is one."""
    curve = found.deepest
    assert curve is not None, "one is proven"
    cliff, fall = curve.cliff, curve.fall
    assert cliff is not None, curve.pattern
    assert fall is not None, curve.pattern
    where = say(
        "For {what} the rate falls with the set: up to {good} they run at {level}, at {bad} at "
        "{after}, and at {largest} at {end}, 1/{factor:.0f} of the smallest set's rate.",
        what=curve_name(curve),
        good=volume(cliff.good_bytes),
        level=rate(cliff.level),
        bad=volume(cliff.bad_bytes),
        after=rate(cliff.after),
        largest=volume(max(curve.tier)),
        end=rate(curve.largest.rate),
        factor=curve.fall_factor,
    )
    proof = say(
        "It is the set that does it: measured once more after that, {small} ran at {back} and "
        "{bad} at {again}.",
        **_values(fall),
    )
    if not curve.warmed:
        return where, proof
    sets = ", ".join(map(volume, curve.warmed))
    warmed = say(
        "{sets} was slow at first and as fast as the smaller ones when read again.", sets=sets
    )
    return where, proof, warmed


def _held(found: TierFound) -> str:
    """Say between which sets all falls of a tier lie, and how many curves have none."""
    held = [curve.cliff.good_bytes for curve in found.proven if curve.cliff is not None]
    if len(held) < 2:
        return ""
    return say(
        "{count} of {all} patterns and block sizes fall; the largest sets that are held are {low} "
        "to {high}.",
        count=len(held),
        all=len(found.witnesses),
        low=volume(min(held)),
        high=volume(max(held)),
    )


def _worn(found: TierFound) -> str:
    """Say why writes fall that do not come back at the smaller set."""
    curve = deepest_of(each for each in found.falling("worn") if not each.reads)
    if curve is None or curve.fall is None:
        return ""
    return say(
        "{what} fall from {fast} at {good} to {slow} at {bad}, and stay at {again} when {good} is "
        "written again: what falls is the device as it is written over (a drive's saturation, or "
        "a full cache of writes, which the study cache-overflow tells apart), not the set.",
        what=capitalised(curve_name(curve)),
        # Writes go back to the set before the fall, not to the smallest one as reads do.
        **_values(curve.fall) | {"again": rate(curve.fall.back or 0.0)},
    )


def _crossovers(found: TierFound) -> list[str]:
    texts: list[str] = []
    for pattern in found.settings.patterns:
        size, name = found.crossover(pattern), PATTERN_NAMES[pattern]
        if size is None:
            continue
        if size <= found.of(pattern)[0].block_size_bytes:
            text = say(
                "For {pattern} the slow device alone is faster than the tier at every block size.",
                pattern=name,
            )
        else:
            text = say(
                "For {pattern} the slow device alone is faster than the tier from blocks of about "
                "{size} on.",
                pattern=name,
                size=faster_from(found, pattern),
            )
        texts.append(text)
    return texts


def faster_from(found: TierFound, pattern: str) -> str:
    """Return the crossover to whole KiB, since it is between two measured sizes."""
    size_bytes = found.crossover(pattern)
    if size_bytes is None:
        return "nowhere"
    # 512 B would be rounded to nothing.
    return units.format_block_size(max(512, round(size_bytes / units.KIB) * units.KIB))


def _stripes(found: TierFound) -> str:
    curve = found.widest
    if curve is None or curve.stripes is None:
        return ""
    if curve.stripes > 1:
        return say(
            "{count} fast devices, striped, would be no slower than the slow one at the largest "
            "set: {sum}.",
            count=curve.stripes,
            sum=say(
                "{what}: {slow} / {fast} = {ratio:.2f}, so N = {count}",
                what=curve_name(curve),
                slow=rate(curve.slow_rate or 0.0),
                fast=rate(curve.fast_rate or 0.0),
                ratio=curve.slow_by_fast,
                count=curve.stripes,
            ),
        )
    if any(found.crossover(pattern) is not None for pattern in PATTERNS):
        return "One fast device is no slower than the slow one at the largest set."
    return (
        "One fast device is no slower than the slow one at the largest set: there the tier does "
        "not hurt."
    )


def _caveats(found: TierFound) -> list[str]:
    """Say what was not measured, or not as it should be."""
    texts: list[str] = []
    if not any(curve.fast and curve.slow for curve in found.curves):
        texts.append(NOT_YET_ALONE if len(found.settings.stages) > 1 else NOT_ALONE)
    if not all(curve.swept for curve in found.curves):
        texts.append(NOT_SWEPT)
    widest = max(found.curves, key=lambda curve: curve.cached_times, default=None)
    if widest is not None and widest.cached_times > CACHED_TIMES:
        text = say(
            "The slow device alone does {what} {times:.1f} times as fast at a smaller set as at "
            "the largest: a smaller set may lie in its own caches, which a simulated device has at "
            "full size at every scale.",
            what=curve_name(widest),
            times=widest.cached_times,
        )
        texts.append(text)
    restless = sum(1 for cell in found.measured.values() if not cell.steady)
    if restless:
        text = say(
            "{count} of {all} cells were not steady when their slices were used up; they are "
            "marked.",
            count=restless,
            all=len(found.measured),
        )
        texts.append(text)
    return texts
