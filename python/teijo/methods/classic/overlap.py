"""Which share of the blocks of a pass another had touched, held against what chance makes of it."""

from dataclasses import dataclass
from typing import Final, Self

from teijo.methods.classic.hidden_entry import DEVIATIONS, Hidden, entry, found_of, too_few
from teijo.terms.census import Census

_MORE: Final = 0.1
"""Passes overlap too much where they do so by more than this beyond what chance makes of it."""


@dataclass(frozen=True, kw_only=True, order=True)
class Overlap:
    """Two passes over the same range; the worse one compares as the larger."""

    surely: bool
    """Whether chance makes no such overlap."""
    beyond: float
    """By how much `share` is above `chance`."""
    share: float
    chance: float

    @classmethod
    def of(cls, share: float, chance: float, census: Census) -> Self:
        """Return the overlap of the pass that this census is of with an earlier one."""
        beyond, count = share - chance, max(1, len(census.hashes))
        noise = float((chance * (1 - chance) + 1 / count) / count) ** 0.5
        surely = beyond > max(_MORE, DEVIATIONS * noise)
        return cls(surely=surely, beyond=beyond, share=share, chance=chance)

    def entry(self, size: str) -> Hidden:
        """Return what is told of it; `size` is the sentence with its numbers."""
        found = found_of(seems=self.beyond > _MORE, surely=self.surely)
        return entry(
            found,
            "repeated offsets",
            "Passes repeat their offsets",
            too_few(size) if found == "unknown" else size,
            "Each pass goes to the same places as the one before, which may be in a cache by then.",
            "The samples of the blocks of two passes are held against each other.",
            "Each pass draws offsets of its own, and sequential ones go on where the last ended.",
        )
