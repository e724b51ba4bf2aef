"""The emulated drives that are on in this process; the end of a test switches them off."""

from collections.abc import Callable

LEFT: list[Callable[[], None]] = []
"""How each is switched off; whoever switches one on adds it."""


def switch_off() -> None:
    """Switch off all that are on, the last one first."""
    while LEFT:
        LEFT.pop()()
