"""The study `block-size`: how many I/Os of each size a device serves at each load, and the unit it
works in.
"""

from collections.abc import Mapping
from typing import Any

from teijo import units
from teijo.errors import PlanError
from teijo.methods.load import check_blocks
from teijo.methods.method import Method, Steps
from teijo.methods.phrases import insist
from teijo.methods.rounds import Exchange, rounds_of
from teijo.methods.studies.block_size.found import BlockSizeFound, block, preconditioning
from teijo.methods.studies.block_size.settings import SIZES, BlockSizeSettings
from teijo.terms.geometry import Geometry
from teijo.terms.result import Gap


class BlockSize(Method[BlockSizeSettings, BlockSizeFound]):
    """The method `block-size`."""

    id = "block-size"
    settings_type = BlockSizeSettings
    found_type = BlockSizeFound

    def asked(self, overrides: Mapping[str, str], geometry: Geometry) -> dict[str, Any]:
        """Return what is asked for.

        By default no size is smaller than the device's logical block, and a mix that only reads
        fills nothing.
        """
        asked = super().asked(overrides, geometry)
        logical = geometry.logical_block_bytes
        asked.setdefault("block_sizes_bytes", tuple(size for size in SIZES if size >= logical))
        # A mix that only reads needs no consent, and a fill would.
        if asked.get("read_percent") == 100:
            asked.setdefault("fill_times", 0)
        return asked

    def check(self, settings: BlockSizeSettings, geometry: Geometry) -> None:
        """Make sure that the device can serve the sizes, the largest at several places."""
        check_blocks(settings.block_sizes_bytes, geometry)
        largest, share = settings.block_sizes_bytes[-1], settings.active_range_percent
        if settings.active_range.span_on(geometry) < 2 * largest:
            raise PlanError(
                f"Blocks of {units.format_block_size(largest)} have no choice of places in "
                f"{share} % of {units.format_size(geometry.capacity_bytes)}",
                remedy="Set smaller sizes or a larger active_range, or take a larger device.",
            )

    def writes(self, settings: BlockSizeSettings) -> bool:
        """Return whether the mix writes, or the range is filled before."""
        return settings.read_percent < 100 or settings.fill_times + settings.random_times > 0

    def steps(self, settings: BlockSizeSettings, geometry: Geometry) -> Steps:
        """Fill the range, then measure block after block; a block anew after a gap in it."""
        for step in preconditioning(settings, geometry):
            yield from insist(step)
        number, exchanges = 1, list[Exchange]()
        while number <= settings.blocks:
            cells = block(settings, geometry, number)
            for cell in cells:
                answer = yield cell
                exchanges.append((cell, answer))
                if isinstance(answer, Gap):
                    break
            number = len(rounds_of(exchanges, len(cells)).whole) + 1
        return "done"
