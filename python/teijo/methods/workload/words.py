"""How a free workload writes what takes more than a number: sizes by weight, places, content."""

import math
from collections.abc import Sequence
from typing import Annotated, Final

from teijo import units
from teijo.errors import PlanError
from teijo.methods.forms import (
    BLOCK_SIZE,
    Form,
    optional,
    percent,
    positive_number,
    show_number,
    whole,
)
from teijo.methods.knobs import Knob, meaning
from teijo.terms.workload import Access, Content

# The engine's own limits (crates/engine/src/check.rs), refused before a run begins.
SIZES_MOST = 32
ZONES_MOST = 256
THETA_MOST = 20.0
ZONES_ROUNDING_PERCENT: Final = 0.5
"""What the shares of zones may miss 100 % by, for three thirds are 99.9 %."""

BlockMix = tuple[tuple[int, int], ...]
"""(block size in bytes, weight) of each size."""
_WEIGHT = whole(1, units.MEGA)
Zones = tuple[tuple[float, float], ...]
"""(share of the accesses, share of the range) of each zone, from the start of the range."""


def _block_mix(text: str) -> BlockMix:
    mix = []
    for part in text.split(","):
        size, colon, weight = part.partition(":")
        if not colon:
            raise ValueError(f"{part.strip()!r} has no weight")
        mix.append((BLOCK_SIZE.parse(size), _WEIGHT.parse(weight.strip().removesuffix("%"))))
    if len({size for size, _ in mix}) < len(mix):
        raise ValueError("a block size comes twice")
    if len(mix) > SIZES_MOST:
        raise ValueError(f"it has more than {SIZES_MOST} block sizes")
    return tuple(mix)


def _show_block_mix(value: BlockMix) -> str:
    return ",".join(f"{BLOCK_SIZE.show(size)}:{weight}" for size, weight in value)


def parse_access(text: str) -> tuple[Access, float, Zones]:
    """Return (access, its exponent or share, zones) of what `ACCESS` takes."""
    word, _, rest = text.strip().lower().partition(":")
    match word:
        case "random" | "shuffled" if not rest:
            return Access(word), 0.0, ()
        case "zipf":
            return Access.ZIPF, _between(rest, 0.0, THETA_MOST), ()
        case "pareto":
            # The engine takes no share of a half or more.
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
            return f"{kind}:{show_number(skew)}"
        case Access.ZONED:
            return "zoned:" + ",".join(
                f"{show_number(share)}/{show_number(size)}" for share, size in zones
            )
        case Access.RANDOM | Access.SHUFFLED | Access.SEQUENTIAL:
            return str(kind)


def _content(text: str) -> str:
    kind, share = parse_content(text)
    with_percent = kind in (Content.COMPRESSIBLE, Content.DEDUPABLE)
    return f"{kind}:{share}" if with_percent else str(kind)


def parse_content(text: str) -> tuple[Content, int]:
    """Return (content, its percent) of what `CONTENT` takes."""
    word, colon, rest = text.strip().lower().partition(":")
    word = "dedupable" if word == "dedup" else word
    if word in ("compressible", "dedupable") and colon:
        return Content(word), percent(0, 100).parse(rest)
    if word in ("random", "refill", "zero") and not colon:
        return Content(word), 0
    raise ValueError("it is none of random, refill, zero, compressible:PERCENT and dedup:PERCENT")


def _between(text: str, low: float, high: float) -> float:
    value = positive_number(text)
    if not low < value < high:
        raise ValueError(f"it must lie between {low:g} and {high:g}")
    return value


def _zones(text: str) -> Zones:
    zones = [_zone(part.split("/")) for part in text.split(",")]
    if len(zones) > ZONES_MOST:
        raise ValueError(f"it has more than {ZONES_MOST} zones")
    return tuple(zones)


def insist_whole_zones(access: str) -> None:
    """Make sure that the zones of an access are the whole range and all accesses.

    The engine would stretch them until they are: one zone of 80/20 would be the whole range.
    A run that was recorded with such zones is still read, so this is asked of a plan only.

    Raises:
        PlanError: they are not.
    """
    kind, _, zones = parse_access(access)
    if kind is not Access.ZONED:
        return
    accesses, size = (math.fsum(shares) for shares in zip(*zones, strict=True))
    if max(abs(accesses - 100), abs(size - 100)) <= ZONES_ROUNDING_PERCENT:
        return
    cause = (
        f"access={access[:200]}: the zones have {accesses:.6g} % of the accesses and {size:.6g} % "
        "of the range; both must be 100 %"
    )
    if accesses > 100 or size >= 100:
        raise PlanError(
            cause, remedy="Give every part of the range a zone, as in access=zoned:80/20,20/80."
        )
    rest = (*zones, (round(100 - accesses, 6), round(100 - size, 6)))
    whole = show_access(Access.ZONED, 0.0, rest)
    raise PlanError(cause, remedy=f"With the rest of the range: access={whole}")


def _zone(parts: Sequence[str]) -> tuple[float, float]:
    if len(parts) != 2:
        raise ValueError("a zone is a share of the accesses and a share of the range, as in 50/5")
    accesses, size = (positive_number(part.strip().removesuffix("%")) for part in parts)
    return accesses, size


BLOCK_MIX: Final[Form[BlockMix]] = optional(Form(_block_mix, _show_block_mix), ())
"""Block sizes with their weights, as in "4KiB:70,8KiB:30", or none."""
ACCESS: Final = Form(lambda text: show_access(*parse_access(text)))
"""Where random I/Os go, in one spelling, as in "zipf:1.1"."""
CONTENT: Final = Form(_content)
"""What is written, in one spelling, as in "compressible:40"."""
ContentText = Annotated[
    str,
    Knob(CONTENT, "content=compressible:40"),
    meaning("what is written: random, refill, compressible:PERCENT, dedup:PERCENT or zero"),
]
