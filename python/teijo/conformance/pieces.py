"""An active range amount and its segments, brought from the full-size device to the one at hand."""

from dataclasses import dataclass

from teijo.terms.geometry import Geometry


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """An active range amount and its segments on the device at hand."""

    amount_bytes: int | None
    segments: int


def pieces_of(amount_bytes: int | None, segments: int, geometry: Geometry) -> Pieces:
    """Return an amount of the full-size device on the device at hand.

    A scaled device has fewer segments, not smaller ones: a segment must still hold the largest
    block, and what a block does within a segment does not depend on the capacity.
    """
    if amount_bytes is None:
        return Pieces(amount_bytes=None, segments=1)
    align = geometry.physical_block_bytes
    piece = amount_bytes // segments // align * align
    count = max(1, round(segments / geometry.scale))
    return Pieces(amount_bytes=piece * count, segments=count)
