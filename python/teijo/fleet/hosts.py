"""A host as the conductor of a fleet reaches it: this machine, or what stands behind a wire."""

from dataclasses import dataclass
from typing import Any, Protocol

from teijo.fleet.hand import Hand


class HostLost(Exception):
    """A host does not answer any more; its runs may go on there all the same."""


class Host(Protocol):
    """One host. `ask` calls what `Hand` has by that name, with JSON in and out.

    Raises:
        HostLost: it does not answer. TeijoError: it refuses.
    """

    @property
    def name(self) -> str:
        """Its name in the plan."""

    def ask(self, what: str, *given: Any) -> Any:
        """Return its answer."""


@dataclass(frozen=True)
class ThisHost:
    """The machine that the fleet is conducted from."""

    name: str
    hand: Hand

    def ask(self, what: str, *given: Any) -> Any:
        """Return its answer."""
        return getattr(self.hand, what)(*given)
