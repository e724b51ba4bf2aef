"""The sentences of the study: its verdict, its answer in one paragraph, and how it was measured."""

from typing import Any

from teijo import units
from teijo.analysis.mean import Mean
from teijo.analysis.overflow import Cliff
from teijo.analysis.overflow_proof import Verdict
from teijo.document.phrase import say, sentences
from teijo.methods.studies.cache_overflow.bursts import Burst, Stop
from teijo.methods.studies.cache_overflow.found import OverflowFound
from teijo.methods.studies.cache_overflow.settings import OverflowSettings
from teijo.terms.geometry import Geometry

MODEL = (
    "The model: a cache of C bytes that is filled at λ and drained at μ is full when "
    "V* = C λ / (λ − μ) bytes have been written. C is told from the measured V*, the time until "
    "then and the rate after it, which is what the cache drains at: C = V* − μ t*."
)
PROVING = (
    "Whether it is a cache that was full is not known: a burst after a rest would tell, "
    "for a rest empties a cache. Set rest to a time in which it drains."
)
NOT_PURGED = (
    "The device was not purged: a drive that had been written over before falls so, "
    "and so does a cache that is not emptied while the device rests."
)
IN_TURNS = (
    "In turns the cache is not full all the time, so more can come back than the rest drains."
)
SLOWER = (
    "A second burst that is slower before its overflow, or after it, than the first tells of "
    "a device that was fresh, and is not any more."
)
METHOD = (
    "Writes go past the host's page cache, unless a remark says otherwise. The series is cut "
    "where its level changes: least squared error, three times the noise's variance times "
    "ln n the price of a cut. An overflow is a cut at which the rate falls by more than 20 % "
    "within 20 samples and stays down; the deepest is the one that parts the series best."
)
STOPS: dict[Stop | None, str] = {
    "level": "The burst ended once the rate had settled after its fall.",
    "volume": "The burst ended with its volume.",
    "time": "The burst ended with its time.",
    None: "The burst has not come to its end.",
}


def verdict(found: OverflowFound) -> str:
    """Return the answer in one line."""
    cliff = found.first.overflow.cliff
    if cliff is None or found.verdict is None:
        return say("NO OVERFLOW up to {volume}: {rate:,.0f} MB/s", **_whole(found.first))
    fell = say("after {volume}: from {before:,.0f} to {after:,.0f} MB/s", **_fall(cliff))
    match found.verdict.cause:
        case "cache" | "undrained":
            return say("OVERFLOW {fell}", fell=fell)
        case "saturation":
            return say("NO CACHE SEEN: the drive is saturated {fell}", fell=fell)
        case "unknown" | "unproven":
            return say("WHETHER A CACHE OVERFLOWED CANNOT BE KNOWN: it fell {fell}", fell=fell)


def answer(found: OverflowFound) -> str:
    """Return what the study found, in one paragraph."""
    cliff, parts = found.first.overflow.cliff, [_first(found.first)]
    if cliff is not None and found.verdict is not None:
        parts.append(_cause(found, cliff, found.verdict))
    parts += _stalls(found.first)
    if cliff is not None and not found.is_saturated:
        parts += _size(found, cliff)
    if found.settings.rests_ns:
        parts += [text for burst in found.later for text in _later(cliff, burst)]
    return sentences([*parts, STOPS[found.first.stop]])


def _first(burst: Burst) -> str:
    cliff, count = burst.overflow.cliff, len(burst.overflow.cliffs)
    if cliff is None:
        return say(
            "Writing went on at {rate:,.1f} MB/s for {time} and {volume}, and never fell to stay: "
            "no cache overflowed that holds more than was written in four samples.",
            **_whole(burst),
        )
    text = say(
        "Writing went on at {before:,.1f} MB/s until {volume} had been written, after {time}; "
        "then it fell to {after:,.1f} MB/s, {share:.0f} % of that.",
        share=100 * cliff.after.value / cliff.before.value,
        **_fall(cliff),
    )
    if count == 1:
        return text
    return say("{text} It fell {count} times in all; this was the deepest.", text=text, count=count)


def _cause(found: OverflowFound, cliff: Cliff, why: Verdict) -> str:
    """Say what a rest and the burst after it show of the fall."""
    if why.later is None:
        return PROVING
    values = {
        "rest": time_text(found.later[why.later].rest_s),
        "back": volume_text(why.back_bytes or 0.0),
        "drained": volume_text(why.drained_bytes),
    }
    lead = say(
        "A rest of {rest} brought back {back}, where the model of a cache drains {drained}.",
        **values,
    )
    times = cliff.at_bytes / found.record.geometry.nominal_capacity_bytes
    match why.cause:
        case "cache" if why.back_bytes is None:
            return say(
                "It is a cache: after a rest of {rest} all of the burst was fast again.", **values
            )
        case "cache":
            return say(
                "It is a cache: a rest of {rest} brought back {back}, where the model drains "
                "{drained}.",
                **values,
            )
        case "saturation":
            over = say(
                "The purged drive had been written {times:.2f} times over when it fell: what falls "
                "is the drive itself as it is written over, and no cache is seen before that.",
                times=times,
            )
            return sentences((lead, over))
        case "undrained":
            fresh = say(
                "But only {percent:.0f} % of the purged device had been written when it fell, "
                "which saturates none: what is full is a tier, or a cache that is not emptied "
                "while the device rests.",
                percent=100 * times,
            )
            return sentences((lead, fresh))
        case "unknown" | "unproven":
            return sentences((lead, NOT_PURGED))


def _stalls(burst: Burst) -> list[str]:
    stalls, cliff = burst.overflow.stalls, burst.overflow.cliff
    if not stalls:
        return []
    count, longest = len(stalls), time_text(burst.longest_stall_s or 0.0)
    if cliff is not None and cliff.in_turns:
        text = say(
            "From then on it stood still and ran on in turns, as a cache with water marks does: "
            "{count} stalls, the longest of {time}.",
            count=count,
            time=longest,
        )
    elif count == 1:
        text = say("There was one stall, of {time}.", time=longest)
    else:
        text = say("There were {count} stalls, the longest of {time}.", count=count, time=longest)
    return [text]


def _size(found: OverflowFound, cliff: Cliff) -> list[str]:
    holds = say(
        "If the cache is drained while it is filled, as the model has it, it holds {size} of "
        "that; if not, all of it.",
        size=size_text(cliff.held),
    )
    model, cache_bytes = found.model_bytes(found.first), found.settings.cache_bytes
    if model is None or cache_bytes is None:
        return [holds]
    stated = say(
        "A cache of {cache} would overflow after {volume} at these rates; the measured "
        "volume differs from that by {share:+.1f} %.",
        cache=volume_text(cache_bytes),
        volume=volume_text(model),
        share=100 * (cliff.at_bytes / model - 1),
    )
    return [holds, stated]


def _later(cliff: Cliff | None, burst: Burst) -> list[str]:
    rest, again = time_text(burst.rest_s), burst.overflow.cliff
    if again is None:
        return [
            say(
                "After a rest of {rest} there was no overflow up to {volume}, at {rate:,.1f} MB/s.",
                rest=rest,
                **_whole(burst),
            )
        ]
    text = say(
        "After a rest of {rest} it overflowed after {volume}, from {before:,.1f} to "
        "{after:,.1f} MB/s.",
        rest=rest,
        **_fall(again),
    )
    if cliff is None or not cliff.held.value:
        return [text]
    share = 100 * again.held.value / cliff.held.value
    return [text, say("That is {share:.0f} % of the cache.", share=share)]


def rests(found: OverflowFound) -> str:
    """Return how the bursts after a rest compare with the first."""
    cliff = found.first.overflow.cliff
    if cliff is None:
        return "The first burst did not overflow, so there is nothing that could come back."
    parts = [_brought_back(found, cliff, burst) for burst in found.later]
    return sentences([*parts, *([IN_TURNS] if cliff.in_turns else []), SLOWER])


def _brought_back(found: OverflowFound, cliff: Cliff, burst: Burst) -> str:
    rest, back = time_text(burst.rest_s), found.came_back(burst)
    if back is None:
        return say("A rest of {rest} brought back more than the burst after it wrote.", rest=rest)
    return say(
        "A rest of {rest} brought back {size} of {whole}; at the rate after the overflow "
        "the model drains {drained} in that time.",
        rest=rest,
        size=size_text(back.held),
        whole=volume_text(cliff.held.value),
        drained=volume_text(back.drained_bytes),
    )


def method_of(geometry: Geometry) -> str:
    """Return what was measured, and what was made of it."""
    if geometry.scale <= 1:
        return METHOD
    scaled = say(
        "Volumes and times are those of the full-size device: the simulation is "
        "{scale:.3g} times smaller, and its seconds that much shorter. Rates, and the "
        "times of single writes, are as they are.",
        scale=geometry.scale,
    )
    return sentences((METHOD, scaled))


def source(settings: OverflowSettings) -> str:
    """Return what the source of the data delivers."""
    rate = settings.rate_bytes_per_second
    if rate is None:
        return "as fast as the device takes it"
    return say("{rate:g} MB/s", rate=rate / units.MEGA)


def bursts(settings: OverflowSettings) -> str:
    """Return how many bursts there are."""
    if settings.rests_ns or settings.proof == "off":
        return str(len(settings.rests_ns) + 1)
    return "1, and 1 after an overflow and a rest"


def ends(settings: OverflowSettings, volume_bytes: int) -> str:
    """Return what ends a burst."""
    bounds = say(
        "{volume} or {time}",
        volume=volume_text(volume_bytes),
        time=time_text(settings.most_ns / units.NS_PER_S),
    )
    if settings.flat_ns is None:
        return bounds
    flat = time_text(settings.flat_ns / units.NS_PER_S)
    return say("{bounds}, or {flat} level after a fall", bounds=bounds, flat=flat)


def _whole(burst: Burst) -> dict[str, Any]:
    """Return what is said of all of a burst."""
    overflow = burst.overflow
    return {
        "volume": volume_text(overflow.written_bytes),
        "time": time_text(overflow.seconds),
        "rate": overflow.rate.value / units.MEGA,
    }


def _fall(cliff: Cliff) -> dict[str, Any]:
    """Return what is said of a fall."""
    return {
        "volume": volume_text(cliff.at_bytes),
        "time": time_text(cliff.at_s),
        "before": cliff.before.value / units.MEGA,
        "after": cliff.after.value / units.MEGA,
    }


def size_text(size: Mean) -> str:
    """Return a volume with its interval, where it has one: "25.1 ± 0.3 GB"."""
    if size.half_width is None:
        return volume_text(size.value)
    name, unit = _unit_of(size.value)
    digits = 1 if size.half_width >= unit / 10 else 2
    return f"{size.value / unit:.{digits}f} ± {size.half_width / unit:.{digits}f} {name}"


def volume_text(size_bytes: float) -> str:
    """Return a volume in decimal units: "47.4 GB"."""
    name, unit = _unit_of(size_bytes)
    return f"{size_bytes / unit:.3g} {name}"


def _unit_of(size_bytes: float) -> tuple[str, int]:
    """Return the largest decimal unit of which a volume has one, at least MB."""
    larger = (("TB", units.TERA), ("GB", units.GIGA))
    return next((each for each in larger if size_bytes >= each[1]), ("MB", units.MEGA))


def time_text(seconds: float) -> str:
    """Return a time for people."""
    return units.format_duration(round(seconds * units.NS_PER_S))
