"""The devices of this machine as somebody looks at them: one at a time, kept for a few seconds."""

import asyncio
import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from teijo.api.looking import Look, look
from teijo.device import FoundDevice, list_devices
from teijo.engine import SimulatedPreset, simulated_kinds, simulated_presets
from teijo.errors import StuckDevice, TargetError

KEPT_S: Final = 5.0
"""Who loads a page again within it is shown what was seen: each answer costs a drive time."""
STUCK_KEPT_S: Final = 60.0
"""A device that did not answer is not asked again so soon."""
_ID_BYTES: Final = 12
_ALL: Final = "all"

Got = TypeVar("Got")


@dataclass(frozen=True, kw_only=True)
class Listed:
    """The devices that there are now; block devices and presets also by their ids."""

    block: tuple[FoundDevice, ...]
    presets: tuple[SimulatedPreset, ...]
    kinds: tuple[tuple[str, str], ...]

    def target_of(self, key: str) -> str:
        """Return the target of an id.

        Raises:
            TargetError: no device that is listed now has it.
        """
        targets = [one.target for one in self.block] + [simulated(one) for one in self.presets]
        found = next((target for target in targets if id_of(target) == key), None)
        if found is None:
            raise TargetError(
                "There is no such device on this machine.",
                remedy="Go to the list of devices; it may have been taken out.",
            )
        return found


def simulated(preset: SimulatedPreset) -> str:
    """Return the target of a simulated device that has a name."""
    return f"sim:{preset.name}"


def id_of(target: str) -> str:
    """Return what a device is called in an address: a digest of its target."""
    return hashlib.blake2b(os.fsencode(target), digest_size=_ID_BYTES).hexdigest()


@dataclass
class _Kept(Generic[Got]):
    """Answers that cost something: one is made at a time, whoever asks, and then kept."""

    kept_s: Callable[[Got], float]
    _answers: dict[str, tuple[float, Got]] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def of(self, key: str, make: Callable[[], Got]) -> Got:
        """Return the answer of a key, made in a thread if there is none or it is too old."""
        async with self._lock:
            now_s = time.monotonic()
            self._answers = {name: each for name, each in self._answers.items() if each[0] > now_s}
            if key not in self._answers:
                made = await asyncio.to_thread(make)
                self._answers[key] = (time.monotonic() + self.kept_s(made), made)
            return self._answers[key][1]


class Drives:
    """The devices of this machine, for all who ask at once."""

    def __init__(self) -> None:
        """Begin without having looked at any."""
        self._lists: _Kept[Listed] = _Kept(lambda _: KEPT_S)
        self._looks: _Kept[Look] = _Kept(_kept_s)

    async def listed(self) -> Listed:
        """Return the devices that there are now; none of them is opened."""
        return await self._lists.of(_ALL, _list)

    async def look(self, key: str) -> Look:
        """Return what is known of a device by its id.

        Raises:
            TargetError: no device that is listed now has it.
        """
        target = (await self.listed()).target_of(key)
        return await self._looks.of(target, lambda: look(target))


def _list() -> Listed:
    return Listed(block=list_devices(), presets=simulated_presets(), kinds=simulated_kinds())


def _kept_s(found: Look) -> float:
    return STUCK_KEPT_S if isinstance(found.trouble, StuckDevice) else KEPT_S
