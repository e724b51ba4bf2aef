"""The sentences of the study: its verdict, its answer in one paragraph, and how it was measured."""

from collections.abc import Sequence

from teijo import units
from teijo.analysis.overflow import Cliff
from teijo.analysis.recovery import Mean
from teijo.document.phrase import say, sentences
from teijo.methods.studies.cache_overflow.bursts import Burst, Recovery, model_bytes
from teijo.methods.studies.cache_overflow.proof import Verdict
from teijo.methods.studies.cache_overflow.settings import OverflowSettings
from teijo.terms.geometry import Geometry

MODEL = (
    "The model: a cache of C bytes that is filled at λ and drained at μ is full when "
    "V* = C λ / (λ − μ) bytes have been written. C is told from the measured V*, the time until "
    "then and the rate after it, which is what the cache drains at: C = V* − μ t*."
)

NOTHING_BACK = "The first burst did not overflow, so there is nothing that could come back."


def verdict(burst: Burst, found: Verdict | None) -> str:
    """Return the answer in one line."""
    cliff, overflow = burst.overflow.cliff, burst.overflow
    if cliff is None or found is None:
        return say(
            "NO OVERFLOW up to {volume}: {rate:,.0f} MB/s",
            volume=volume_text(overflow.written_bytes),
            rate=overflow.rate.value / 1e6,
        )
    fell = say(
        "after {volume}: from {before:,.0f} to {after:,.0f} MB/s",
        volume=volume_text(cliff.at_bytes),
        before=cliff.before.value / 1e6,
        after=cliff.after.value / 1e6,
    )
    match found.cause:
        case "cache" | "undrained":
            return say("OVERFLOW {fell}", fell=fell)
        case "saturation":
            return say("NO CACHE SEEN: the drive is saturated {fell}", fell=fell)
        case "unknown" | "unproven":
            return say("WHETHER A CACHE OVERFLOWED CANNOT BE KNOWN: it fell {fell}", fell=fell)


def answer(
    settings: OverflowSettings,
    geometry: Geometry,
    bursts: Sequence[Burst],
    found: Verdict | None,
) -> str:
    """Return what the study found, in one paragraph."""
    first = bursts[0]
    parts = [_first(first)]
    if found is not None:
        parts.append(_cause(geometry, first, found))
    parts += _stalls(first)
    if first.overflow.cliff is not None and (found is None or found.cause != "saturation"):
        parts += _size(settings, first, first.overflow.cliff)
    if settings.rests_ns:
        parts += [text for burst in bursts[1:] for text in _later(geometry, first, burst)]
    parts.append(_stop(first))
    return sentences(parts)


def _first(burst: Burst) -> str:
    overflow, cliff = burst.overflow, burst.overflow.cliff
    if cliff is None:
        return say(
            "Writing went on at {rate:,.1f} MB/s for {time} and {volume}, and never fell to stay: "
            "no cache overflowed that holds more than was written in four samples.",
            rate=overflow.rate.value / 1e6,
            time=time_text(overflow.seconds),
            volume=volume_text(overflow.written_bytes),
        )
    text = say(
        "Writing went on at {before:,.1f} MB/s until {volume} had been written, after {time}; "
        "then it fell to {after:,.1f} MB/s, {share:.0f} % of that.",
        before=cliff.before.value / 1e6,
        volume=volume_text(cliff.at_bytes),
        time=time_text(cliff.at_s),
        after=cliff.after.value / 1e6,
        share=100 * cliff.after.value / cliff.before.value,
    )
    others = [each for each in overflow.cliffs if each is not cliff]
    if not others:
        return text
    return say(
        "{text} It fell {count} times in all; this was the deepest.",
        text=text,
        count=len(overflow.cliffs),
    )


def _cause(geometry: Geometry, first: Burst, found: Verdict) -> str:
    """Say what a rest and the burst after it tell of the fall."""
    cliff = first.overflow.cliff
    assert cliff is not None, "something fell"
    if found.burst is None:
        return (
            "Whether it is a cache that was full is not known: a burst after a rest would tell, "
            "for a rest empties a cache. Set rest to a time in which it drains."
        )
    rest = time_text(found.burst.rest_ns * geometry.scale / units.NS_PER_S)
    back = volume_text(found.back_bytes or 0.0)
    drained = volume_text(found.drained_bytes)
    if found.cause == "cache" and found.back_bytes is None:
        return say(
            "It is a cache: after a rest of {rest} all of the burst was fast again.", rest=rest
        )
    if found.cause == "cache":
        return say(
            "It is a cache: a rest of {rest} brought back {back}, where the model drains "
            "{drained}.",
            rest=rest,
            back=back,
            drained=drained,
        )
    lead = say(
        "A rest of {rest} brought back {back}, where the model of a cache drains {drained}.",
        rest=rest,
        back=back,
        drained=drained,
    )
    why: str
    match found.cause:
        case "saturation":
            why = say(
                "The purged drive had been written {times:.2f} times over when it fell: what falls "
                "is the drive itself as it is written over, and no cache is seen before that.",
                times=cliff.at_bytes / geometry.nominal_capacity_bytes,
            )
        case "undrained":
            why = say(
                "But only {percent:.0f} % of the purged device had been written when it fell, "
                "which saturates none: what is full is a tier, or a cache that is not emptied "
                "while the device rests.",
                percent=100 * cliff.at_bytes / geometry.nominal_capacity_bytes,
            )
        case "unknown" | "unproven" | "cache":
            why = (
                "The device was not purged: a drive that had been written over before falls so, "
                "and so does a cache that is not emptied while the device rests."
            )
    return sentences([lead, why])


def _stalls(burst: Burst) -> list[str]:
    stalls = burst.overflow.stalls
    if not stalls:
        return []
    longest = max(stall.length_s for stall in stalls)
    cliff = burst.overflow.cliff
    if cliff is not None and cliff.in_turns:
        return [
            say(
                "From then on it stood still and ran on in turns, as a cache with water marks "
                "does: {count} stalls, the longest of {time}.",
                count=len(stalls),
                time=time_text(longest),
            )
        ]
    if len(stalls) == 1:
        return [say("There was one stall, of {time}.", time=time_text(longest))]
    return [
        say(
            "There were {count} stalls, the longest of {time}.",
            count=len(stalls),
            time=time_text(longest),
        )
    ]


def _size(settings: OverflowSettings, burst: Burst, cliff: Cliff) -> list[str]:
    parts: list[str] = [
        say(
            "If the cache is drained while it is filled, as the model has it, it holds {size} of "
            "that; if not, all of it.",
            size=size_text(cliff.held),
        )
    ]
    model = model_bytes(settings, burst)
    if model is not None and settings.cache_bytes is not None:
        parts.append(
            say(
                "A cache of {cache} would overflow after {volume} at these rates; the measured "
                "volume differs from that by {share:+.1f} %.",
                cache=volume_text(settings.cache_bytes),
                volume=volume_text(model),
                share=100 * (cliff.at_bytes / model - 1),
            )
        )
    return parts


def _later(geometry: Geometry, first: Burst, burst: Burst) -> list[str]:
    rest = time_text(burst.rest_ns * geometry.scale / units.NS_PER_S)
    cliff, again = first.overflow.cliff, burst.overflow.cliff
    if again is None:
        return [
            say(
                "After a rest of {rest} there was no overflow up to {volume}, at {rate:,.1f} MB/s.",
                rest=rest,
                volume=volume_text(burst.overflow.written_bytes),
                rate=burst.overflow.rate.value / 1e6,
            )
        ]
    text = say(
        "After a rest of {rest} it overflowed after {volume}, from {before:,.1f} to "
        "{after:,.1f} MB/s.",
        rest=rest,
        volume=volume_text(again.at_bytes),
        before=again.before.value / 1e6,
        after=again.after.value / 1e6,
    )
    if cliff is None or not cliff.held.value:
        return [text]
    return [
        text,
        say(
            "That is {share:.0f} % of the cache.",
            share=100 * again.held.value / cliff.held.value,
        ),
    ]


def _stop(burst: Burst) -> str:
    match burst.stop:
        case "level":
            return "The burst ended once the rate had settled after its fall."
        case "volume":
            return "The burst ended with its volume."
        case "time":
            return "The burst ended with its time."
        case None:
            return "The burst has not come to its end."


def rests(geometry: Geometry, first: Burst, found: Sequence[tuple[Burst, Recovery | None]]) -> str:
    """Return how the bursts after a rest compare with the first."""
    cliff, parts = first.overflow.cliff, list[str]()
    if cliff is None:
        return NOTHING_BACK
    for burst, recovery in found:
        rest = time_text(burst.rest_ns * geometry.scale / units.NS_PER_S)
        if recovery is None:
            parts.append(
                say(
                    "A rest of {rest} brought back more than the burst after it wrote.",
                    rest=rest,
                )
            )
            continue
        parts.append(
            say(
                "A rest of {rest} brought back {size} of {whole}; at the rate after the overflow "
                "the model drains {drained} in that time.",
                rest=rest,
                size=size_text(recovery.held),
                whole=volume_text(cliff.held.value),
                drained=volume_text(recovery.drained_bytes),
            )
        )
    if cliff.in_turns:
        parts.append(
            "In turns the cache is not full all the time, so more can come back than the rest "
            "drains."
        )
    parts.append(
        "A second burst that is slower before its overflow, or after it, than the first tells of "
        "a device that was fresh, and is not any more."
    )
    return sentences(parts)


def method_of(geometry: Geometry) -> str:
    """Return what was measured, and what was made of it."""
    text = (
        "Writes go past the host's page cache, unless a remark says otherwise. The series is cut "
        "where its level changes: least squared error, three times the noise's variance times "
        "ln n the price of a cut. An overflow is a cut at which the rate falls by more than 20 % "
        "within 20 samples and stays down; the deepest is the one that parts the series best."
    )
    if geometry.scale <= 1:
        return text
    return sentences(
        (
            text,
            say(
                "Volumes and times are those of the full-size device: the simulation is "
                "{scale:.3g} times smaller, and its seconds that much shorter. Rates, and the "
                "times of single writes, are as they are.",
                scale=geometry.scale,
            ),
        )
    )


def source(settings: OverflowSettings) -> str:
    """Return what the source of the data delivers."""
    rate = settings.rate_bytes_per_second
    if rate is None:
        return "as fast as the device takes it"
    return say("{rate:g} MB/s", rate=rate / 1e6)


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
    return say(
        "{bounds}, or {flat} level after a fall",
        bounds=bounds,
        flat=time_text(settings.flat_ns / units.NS_PER_S),
    )


def size_text(size: Mean) -> str:
    """Return a volume with its interval, where it has one: "25.1 ± 0.3 GB"."""
    if size.half_width is None:
        return volume_text(size.value)
    for name, unit in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size.value >= unit or name == "MB":
            digits = 1 if size.half_width >= unit / 10 else 2
            return f"{size.value / unit:.{digits}f} ± {size.half_width / unit:.{digits}f} {name}"
    raise AssertionError("a volume has a unit")


def volume_text(size_bytes: float) -> str:
    """Return a volume in decimal units: "47.4 GB"."""
    for name, unit in (("TB", 1e12), ("GB", 1e9)):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.3g} {name}"
    return f"{size_bytes / 1e6:.3g} MB"


def time_text(seconds: float) -> str:
    """Return a time for people."""
    return units.format_duration(round(seconds * units.NS_PER_S))
