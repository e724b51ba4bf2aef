"""Numbers and texts in bytes that a drive sent: never believed beyond their place and length."""

from typing import Final

from teijo.units import ZERO_CELSIUS_KELVIN

HOTTEST_KELVIN: Final = 1000
"""More is no temperature but a broken field."""


class Unreadable(OSError):
    """The drive does not tell this, and why; the message is the end of a sentence."""

    def __init__(self, why: str) -> None:
        """Keep the reason where callers look for the kernel's."""
        super().__init__(why)
        self.strerror = why


def little(raw: bytes, at: int, length: int) -> int:
    """Return the little-endian number at a place; what is cut off counts as 0."""
    return int.from_bytes(raw[at : at + length], "little")


def big(raw: bytes, at: int, length: int) -> int | None:
    """Return the big-endian number at a place, None where it is cut off."""
    part = raw[at : at + length]
    return int.from_bytes(part, "big") if len(part) == length else None


def kelvin(value: int) -> int | None:
    """Return a temperature in kelvin; 0 is how a drive says that it does not know."""
    return value if 0 < value <= HOTTEST_KELVIN else None


def from_celsius(value: int | None) -> int | None:
    """Return kelvin of degrees Celsius, None of what is no temperature."""
    return None if value is None else kelvin(value + ZERO_CELSIUS_KELVIN)


def signed(value: int, bits: int = 8) -> int:
    """Return a number read without its sign as a two's complement one."""
    return value - (1 << bits) if value >> (bits - 1) else value


def is_blank(raw: bytes) -> bool:
    """Return whether all bytes are 00h or all are FFh: a read that brought nothing."""
    return not raw.strip(b"\0") or not raw.strip(b"\xff")
