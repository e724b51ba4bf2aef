"""Features of an emulated NVMe drive: current, default and saved values, and what may be set."""

import struct
from typing import TYPE_CHECKING, Any

from tests.drives.nvme_identify import MAXIMUM_THERMAL, MINIMUM_THERMAL, POWER_STATES
from tests.drives.nvme_state import DNR, Refusal

if TYPE_CHECKING:
    from tests.drives.nvme import NvmeDrive

ARBITRATION, POWER, THRESHOLD, RECOVERY, CACHE, QUEUES = 0x01, 0x02, 0x04, 0x05, 0x06, 0x07
ATOMICITY, EVENTS, AUTONOMOUS, TIMESTAMP, KEEP_ALIVE = 0x0A, 0x0B, 0x0C, 0x0E, 0x0F
THERMAL, IDLE_STATES, SANITIZE_CONFIG = 0x10, 0x11, 0x17
DATA_BYTES = {AUTONOMOUS: 256, TIMESTAMP: 8}
SAVEABLE = {POWER, CACHE, AUTONOMOUS, THERMAL, SANITIZE_CONFIG}
FIXED = {QUEUES}
INVALID_FIELD = 0x02 | DNR
NOT_SAVEABLE = 0x10D | DNR
QUEUE_PAIRS = 4


class Features:
    """Values since the last power-on; a saved one is there again after the next."""

    def __init__(self, drive: "NvmeDrive") -> None:
        """Take the saved values, as a drive does at its start."""
        self._drive = drive
        self._now: dict[str, Any] = dict(drive.state["saved"])
        self._timestamp_at = drive.clock()

    def value(self, identifier: int) -> int:
        """Return a feature's current value."""
        return int(self._now.get(str(identifier), self._default(identifier)))

    def threshold(self, sensor: int, *, under: bool = False) -> int:
        """Return the temperature threshold of a sensor (0 the composite), Kelvin."""
        made = 0 if under else self._drive.knobs.wctemp if sensor == 0 else 0xFFFF
        return int(self._now.get(f"threshold {sensor} {int(under)}", made))

    @property
    def no_deallocate_warns(self) -> bool:
        """Sanitize Config, NODRM: a sanitize without deallocation is taken, and deallocates."""
        return bool(self.value(SANITIZE_CONFIG) & 1)

    @property
    def autonomous_table(self) -> bytes:
        """The 32 entries of the autonomous power state transitions."""
        return bytes.fromhex(self._now.get("table", "00" * 256))

    def get(self, cdw10: int, cdw11: int) -> tuple[int, bytes]:
        """Return dword 0 and the data of Get Features.

        Raises:
            Refusal: the drive has no such feature.
        """
        identifier, select = cdw10 & 0xFF, cdw10 >> 8 & 7
        self._need(identifier)
        if select > 3:
            raise Refusal(INVALID_FIELD)
        if select == 3:
            return (identifier in SAVEABLE) | (identifier not in FIXED) << 2, b""
        if identifier == THRESHOLD:
            sensor, kind = cdw11 >> 16 & 0xF, cdw11 >> 20 & 3
            if sensor > 2 or kind > 1:
                raise Refusal(INVALID_FIELD)
            default = (self._drive.knobs.wctemp if sensor == 0 else 0xFFFF) if kind == 0 else 0
            return default if select else self.threshold(sensor, under=kind == 1), b""
        if select == 0:
            return self.value(identifier), self._data(identifier)
        saved = self._drive.state["saved"] if select == 2 else {}
        data = bytes(DATA_BYTES.get(identifier, 0))
        if identifier == AUTONOMOUS:
            data = bytes.fromhex(saved.get("table", "00" * 256))
        return int(saved.get(str(identifier), self._default(identifier))), data

    def set(self, cdw10: int, cdw11: int, data: bytes) -> int:
        """Set a feature; return dword 0.

        Raises:
            Refusal: there is none, it cannot be saved, or the value is not allowed.
        """
        identifier, save = cdw10 & 0xFF, bool(cdw10 >> 31)
        self._need(identifier)
        if save and identifier not in SAVEABLE:
            raise Refusal(NOT_SAVEABLE)
        changed: dict[str, Any] = {str(identifier): cdw11}
        if identifier == QUEUES:
            return self.value(QUEUES)
        if identifier == THRESHOLD:
            sensor, kind = cdw11 >> 16 & 0xF, cdw11 >> 20 & 3
            if (sensor > 2 and sensor != 0xF) or kind > 1:
                raise Refusal(INVALID_FIELD)
            sensors = (0, 1, 2) if sensor == 0xF else (sensor,)
            changed = {f"threshold {one} {kind}": cdw11 & 0xFFFF for one in sensors}
        elif identifier == POWER:
            if cdw11 & 0x1F >= len(POWER_STATES):
                raise Refusal(INVALID_FIELD)
            self._drive.power_state_changes += cdw11 & 0x1F != self.value(POWER) & 0x1F
        elif identifier == CACHE:
            changed = {str(CACHE): cdw11 & 1}
        elif identifier == THERMAL:
            self._check_thermal(cdw11)
        elif identifier == AUTONOMOUS:
            changed = {str(AUTONOMOUS): cdw11 & 1, "table": self._checked_table(data).hex()}
        elif identifier == TIMESTAMP:
            changed = {"timestamp": int.from_bytes(data[:6].ljust(6, b"\0"), "little")}
            self._timestamp_at = self._drive.clock()
        self._now.update(changed)
        if save:
            self._drive.state["saved"].update(changed)
            self._drive.save()
        return 0

    def _need(self, identifier: int) -> None:
        known = {
            ARBITRATION, POWER, THRESHOLD, RECOVERY, QUEUES, ATOMICITY, EVENTS, AUTONOMOUS,
            TIMESTAMP, KEEP_ALIVE, THERMAL, IDLE_STATES,
        }  # fmt: skip
        if self._drive.knobs.volatile_cache:
            known.add(CACHE)
        if self._drive.knobs.sanicap & 0b111:
            known.add(SANITIZE_CONFIG)
        if identifier not in known:
            raise Refusal(INVALID_FIELD)

    def _default(self, identifier: int) -> int:
        pairs = QUEUE_PAIRS - 1
        return {CACHE: 1, QUEUES: pairs | pairs << 16, KEEP_ALIVE: 0, SANITIZE_CONFIG: 1}.get(
            identifier, 0
        )

    def _data(self, identifier: int) -> bytes:
        if identifier == AUTONOMOUS:
            return self.autonomous_table
        if identifier == TIMESTAMP:
            told = self._now.get("timestamp")
            passed = int((self._drive.clock() - self._timestamp_at) * 1000)
            # Origin (byte 6, 3:1): 0 counts from the power-on, 1 from what the host has set.
            return struct.pack("<Q", (told or 0) + passed | (told is not None) << 49)
        return b""

    @staticmethod
    def _check_thermal(value: int) -> None:
        light, heavy = value >> 16, value & 0xFFFF
        for one in (light, heavy):
            if one and not MINIMUM_THERMAL <= one <= MAXIMUM_THERMAL:
                raise Refusal(INVALID_FIELD)
        if light and heavy and light >= heavy:
            raise Refusal(INVALID_FIELD)

    @staticmethod
    def _checked_table(data: bytes) -> bytes:
        table = data[:256].ljust(256, b"\0")
        for (entry,) in struct.iter_unpack("<Q", table):
            state, idle = entry >> 3 & 0x1F, entry >> 8 & 0xFFFFFF
            # A transition leads to a state in which the drive rests, and to no other.
            if idle and (state >= len(POWER_STATES) or not POWER_STATES[state][1]):
                raise Refusal(INVALID_FIELD)
        return table
