"""The cells of a matrix by what they are, not by the text that the record has for them."""

from dataclasses import dataclass
from typing import Protocol

from teijo.units import format_block_size


class CellKey(Protocol):
    """What a cell is. Two keys are one cell when they are equal."""

    @property
    def name(self) -> str:
        """The name that the record has for it."""
        ...

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Its place on each axis, by the axis's name."""
        ...


def mix_name(read_percent: int) -> str:
    """Return an R/W mix as the standard writes it: 0 → "0/100", all writes."""
    return f"{read_percent}/{100 - read_percent}"


@dataclass(frozen=True, kw_only=True)
class MatrixCell:
    """One cell of a matrix of R/W mixes and block sizes."""

    read_percent: int
    block_size_bytes: int

    @property
    def mix(self) -> str:
        """The R/W mix: "65/35"."""
        return mix_name(self.read_percent)

    @property
    def block(self) -> str:
        """The block size: "64 KiB"."""
        return format_block_size(self.block_size_bytes)

    @property
    def name(self) -> str:
        """The name that the record has for it: "65/35 64 KiB"."""
        return f"{self.mix} {self.block}"

    @property
    def stimulus(self) -> str:
        """What is driven in it, as tracking variables are named: "RND 64 KiB 65/35"."""
        return f"RND {self.block} {self.mix}"

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Its place on the axes of the matrix."""
        return (("r/w mix", self.mix), ("block size", self.block))
