"""The sentences of the study: its verdict, its answer in one paragraph, its arithmetic."""

from typing import Final

from teijo import units
from teijo.analysis.replicates import Estimate
from teijo.analysis.tiering import KEPT, Cliff
from teijo.document.phrase import say, sentences
from teijo.methods.studies.tier.found import Curve, Tiering
from teijo.methods.studies.tier.settings import PATTERNS, TierSettings

MODELS: Final = (
    "The models: of uniform accesses to a set of W bytes a tier of C bytes answers the share "
    "h = min(1, C / W). If each I/O takes its device's own time, 1/X = h/X₁ + (1 − h)/X₂; if both "
    "devices work at once and the busier one bounds them, X = min(X₁/h, X₂/(1 − h)). X₁ and X₂ are "
    "the measured rates of the fast and the slow device alone. What is moved between the two costs "
    "both, and is in neither model."
)
PATTERN_NAMES: Final[dict[str, str]] = {
    "randread": "random reads",
    "randwrite": "random writes",
    "read": "sequential reads",
    "write": "sequential writes",
}


def verdict(tiering: Tiering) -> str:
    """Return the answer in one line: the deepest cliff, or that there is none."""
    curve = deepest(tiering)
    if curve is None or curve.cliff is None:
        return "NO WORKING SET IS TOO LARGE FOR THE TIER, as far as was measured"
    return say(
        "THE TIER HOLDS {good}, NOT {bad}: {what}",
        good=volume(curve.cliff.good_bytes),
        bad=volume(curve.cliff.bad_bytes),
        what=curve_name(curve),
    )


def answer(settings: TierSettings, tiering: Tiering) -> str:
    """Return what the study found, in one paragraph."""
    parts = [_cliff(tiering), *_held(tiering), *_worn(tiering), *_crossovers(settings, tiering)]
    parts += _stripes(tiering)
    parts += _alone(settings, tiering)
    return sentences([*parts, *_in_part(tiering), *_unsteady(tiering)])


def deepest(tiering: Tiering) -> Curve | None:
    """Return the curve that falls by the largest factor, the smallest block among equals.

    It is one of reads if any of them falls: writes of flash fall with what was written before.
    """
    falling = [curve for curve in tiering.curves if curve.cliff is not None]
    reads = [curve for curve in falling if PATTERNS[curve.pattern][1] == 100]
    return max(reads or falling, key=_fall, default=None)


def hero(tiering: Tiering) -> Curve | None:
    """Return the curve that the first picture shows: the one with the deepest fall, else the
    first that was measured.
    """
    return deepest(tiering) or next((curve for curve in tiering.curves if curve.tier), None)


def curve_name(curve: Curve) -> str:
    """Return a pattern and block size: "random reads of 4 KiB"."""
    return say(
        "{pattern} of {block}",
        pattern=PATTERN_NAMES[curve.pattern],
        block=units.format_block_size(curve.block_bytes),
    )


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


def arithmetic(curve: Curve) -> str:
    """Return how many fast devices it takes, with the sum written out."""
    fast, slow, count = curve.fast_rate, curve.slow_rate, curve.stripes
    assert fast is not None, curve.pattern
    assert slow is not None, curve.pattern
    assert count is not None, curve.pattern
    return say(
        "{what}: {slow} / {fast} = {ratio:.2f}, so N = {count}",
        what=curve_name(curve),
        slow=rate(slow),
        fast=rate(fast),
        ratio=slow / fast,
        count=count,
    )


def _fall(curve: Curve) -> float:
    """Return how many times the largest set's rate the smallest set's is."""
    last = curve.tier[-1].throughput.mean
    return curve.tier[0].throughput.mean / last if last > 0 else 0.0


def _cliff(tiering: Tiering) -> str:
    curve = deepest(tiering)
    if curve is None:
        return say(
            "With no pattern and block size does a larger working set fall below {percent:.0f} % "
            "of the smallest one's rate: the tier holds all sets, or its rate does not depend on "
            "them.",
            percent=100 * KEPT,
        )
    cliff = curve.cliff
    assert isinstance(cliff, Cliff)
    last = curve.tier[-1]
    return say(
        "For {what} the rate falls with the set: up to {good} they run at {level}, at "
        "{bad} at {after}, and at {largest} at {end}, 1/{factor:.0f} of the smallest set's rate.",
        what=curve_name(curve),
        good=volume(cliff.good_bytes),
        level=rate(cliff.level),
        bad=volume(cliff.bad_bytes),
        after=rate(cliff.after),
        largest=volume(last.key.set_bytes),
        end=rate(last.throughput.mean),
        factor=_fall(curve),
    )


def _held(tiering: Tiering) -> list[str]:
    """Say between which sets all cliffs lie, and how many curves have none."""
    cliffs = [curve.cliff for curve in tiering.curves if curve.cliff is not None]
    if len(cliffs) < 2:
        return []
    return [
        say(
            "{count} of {all} patterns and block sizes fall; the largest sets that are held are "
            "{low} to {high}.",
            count=len(cliffs),
            all=sum(1 for curve in tiering.curves if curve.tier),
            low=volume(min(cliff.good_bytes for cliff in cliffs)),
            high=volume(max(cliff.good_bytes for cliff in cliffs)),
        )
    ]


def _worn(tiering: Tiering) -> list[str]:
    """Say why a write may fall at a set that is still held by the deepest fall of reads."""
    curve = deepest(tiering)
    if curve is None or curve.cliff is None or PATTERNS[curve.pattern][1] < 100:
        return []
    held = curve.cliff.good_bytes
    writes = [each for each in tiering.curves if PATTERNS[each.pattern][1] == 0]
    if not any(each.cliff is not None and each.cliff.bad_bytes <= held for each in writes):
        return []
    return [
        "Writes that fall at smaller sets than that are no matter of the tier's size alone: flash "
        "gets slower as it is written over."
    ]


def _crossovers(settings: TierSettings, tiering: Tiering) -> list[str]:
    parts: list[str] = []
    for pattern in settings.patterns:
        size = tiering.crossover(pattern)
        if size is None:
            continue
        smallest = tiering.of(pattern)[0].block_bytes
        if size <= smallest:
            parts.append(
                say(
                    "For {pattern} the slow device alone is faster than the tier at every block "
                    "size.",
                    pattern=PATTERN_NAMES[pattern],
                )
            )
        else:
            parts.append(
                say(
                    "For {pattern} the slow device alone is faster than the tier from blocks of "
                    "about {size} on.",
                    pattern=PATTERN_NAMES[pattern],
                    size=units.format_block_size(rounded(size)),
                )
            )
    return parts


def _stripes(tiering: Tiering) -> list[str]:
    widest = tiering.widest
    if widest is None or widest.stripes is None:
        return []
    if widest.stripes == 1:
        return ["One fast device is nowhere slower than the slow one: the tier can never hurt."]
    return [
        say(
            "{count} fast devices, striped, would be nowhere slower than the slow one: {sum}.",
            count=widest.stripes,
            sum=arithmetic(widest),
        )
    ]


def _alone(settings: TierSettings, tiering: Tiering) -> list[str]:
    if any(curve.fast and curve.slow for curve in tiering.curves):
        return []
    if len(settings.stages) > 1:
        return ["The fast and the slow device alone have not both been measured yet."]
    return [
        "The fast and the slow device alone were not measured, so there is no model beside the "
        "tier, no crossover and no count of devices."
    ]


def _in_part(tiering: Tiering) -> list[str]:
    """Say of sequential streams that they did not get through their sets."""
    if all(curve.swept for curve in tiering.curves):
        return []
    return [
        "Sequential streams did not get through their whole sets in the slices that count: they "
        "show the part they went over, and no model stands beside them."
    ]


def _unsteady(tiering: Tiering) -> list[str]:
    cells = tiering.found.cells.values()
    restless = sum(1 for cell in cells if not cell.steady)
    if not restless:
        return []
    return [
        say(
            "{count} of {all} cells were not steady when their slices were used up; they are "
            "marked.",
            count=restless,
            all=len(cells),
        )
    ]


def rounded(size_bytes: float) -> int:
    """Return a size to whole KiB: a crossover is between two measured sizes."""
    return max(512, round(size_bytes / units.KIB) * units.KIB)
