"""How a free workload writes what takes more than a number: sizes by weight, places, content."""

from collections.abc import Sequence

from teijo import units
from teijo.methods import knobs
from teijo.terms.workload import Access, Content

SIZES_MOST = 32
ZONES_MOST = 256
THETA_MOST = 20.0

BlockMix = tuple[tuple[int, int], ...]
"""(block size in bytes, weight) of each size."""
Zones = tuple[tuple[float, float], ...]
"""(share of the accesses, share of the range) of each zone, from the start of the range."""


def block_mix(text: str) -> BlockMix:
    """Return the sizes of "4KiB:70,8KiB:30"; "none" is no mix.

    Raises:
        ValueError: a part is no size and weight, a size comes twice, or there are too many.
    """
    if text.strip().lower() == "none":
        return ()
    mix = []
    for part in text.split(","):
        size, colon, weight = part.partition(":")
        if not colon:
            raise ValueError(f"{part.strip()!r} has no weight")
        mix.append((knobs.block_size(size), _weight(weight)))
    if len({size for size, _ in mix}) < len(mix):
        raise ValueError("a block size comes twice")
    if len(mix) > SIZES_MOST:
        raise ValueError(f"it has more than {SIZES_MOST} block sizes")
    return tuple(mix)


def show_block_mix(value: object) -> str:
    """Show a mix as `block_mix` reads it back."""
    assert isinstance(value, tuple)
    return ",".join(f"{knobs.show_size(size)}:{weight}" for size, weight in value) or "none"


def access(text: str) -> str:
    """Return where random I/Os go, in one spelling: "zipf:1.1".

    Raises:
        ValueError: the word or its number is none that exists.
    """
    return show_access(*parse_access(text))


def parse_access(text: str) -> tuple[Access, float, Zones]:
    """Return (access, its exponent or share, zones) of what `access` takes."""
    word, _, rest = text.strip().lower().partition(":")
    match word:
        case "random" | "shuffled" if not rest:
            return Access(word), 0.0, ()
        case "zipf":
            return Access.ZIPF, _between(rest, 0.0, THETA_MOST), ()
        case "pareto":
            return Access.PARETO, _between(rest, 0.0, 0.5), ()
        case "zoned":
            return Access.ZONED, 0.0, _zones(rest)
        case _:
            raise ValueError(
                "it is none of random, shuffled, zipf:THETA, pareto:H and "
                "zoned:ACCESSES/RANGE,ACCESSES/RANGE"
            )


def show_access(kind: Access, skew: float, zones: Zones) -> str:
    """Show an access as `parse_access` reads it back."""
    match kind:
        case Access.ZIPF | Access.PARETO:
            return f"{kind}:{skew:g}"
        case Access.ZONED:
            return "zoned:" + ",".join(f"{share:g}/{size:g}" for share, size in zones)
        case Access.RANDOM | Access.SHUFFLED | Access.SEQUENTIAL:
            return str(kind)


def content(text: str) -> str:
    """Return what is written, in one spelling: "compressible:40".

    Raises:
        ValueError: the word or its percent is none that exists.
    """
    kind, percent = parse_content(text)
    with_percent = kind in (Content.COMPRESSIBLE, Content.DEDUPABLE)
    return f"{kind}:{percent}" if with_percent else str(kind)


def parse_content(text: str) -> tuple[Content, int]:
    """Return (content, its percent) of what `content` takes."""
    word, colon, rest = text.strip().lower().partition(":")
    word = "dedupable" if word == "dedup" else word
    if word in ("compressible", "dedupable") and colon:
        percent = knobs.percent(0, 100)(rest)
        assert isinstance(percent, int)
        return Content(word), percent
    if word in ("random", "refill", "zero") and not colon:
        return Content(word), 0
    raise ValueError("it is none of random, refill, zero, compressible:PERCENT and dedup:PERCENT")


def _weight(text: str) -> int:
    value = knobs.whole_number(1, units.MEGA)(text.strip().removesuffix("%"))
    assert isinstance(value, int)
    return value


def _between(text: str, low: float, high: float) -> float:
    value = knobs.positive_number(text)
    if not low < value < high:
        raise ValueError(f"it must lie between {low:g} and {high:g}")
    return value


def _zones(text: str) -> Zones:
    zones = [_zone(part.split("/")) for part in text.split(",")]
    if len(zones) > ZONES_MOST:
        raise ValueError(f"it has more than {ZONES_MOST} zones")
    return tuple(zones)


def _zone(parts: Sequence[str]) -> tuple[float, float]:
    if len(parts) != 2:
        raise ValueError("a zone is a share of the accesses and a share of the range, as in 50/5")
    accesses, size = (knobs.positive_number(part.strip().removesuffix("%")) for part in parts)
    return accesses, size
