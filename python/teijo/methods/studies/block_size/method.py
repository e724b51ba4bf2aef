"""The study `block-size`: how many I/Os of each size a device serves at each load, and the unit it
works in.
"""

from collections.abc import Mapping

from teijo.methods.method import Method, Steps, no_standard
from teijo.methods.phrases import insist
from teijo.methods.rounds import Exchange, rounds_of
from teijo.methods.studies.block_size.found import BlockSizeFound, block, preconditioning
from teijo.methods.studies.block_size.settings import BlockSizeSettings, settings_of
from teijo.terms.geometry import Geometry
from teijo.terms.result import Gap


class BlockSize(Method[BlockSizeSettings, BlockSizeFound]):
    """The method `block-size`."""

    id = "block-size"
    settings_type = BlockSizeSettings
    found_type = BlockSizeFound

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> BlockSizeSettings:
        """Return the settings with these overrides; there is no version of a standard."""
        if spec:
            raise no_standard(self.id, spec)
        return settings_of(overrides, geometry)

    def writes(self, settings: BlockSizeSettings) -> bool:
        """Return whether the mix writes, or the range is filled before."""
        return settings.writes

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
