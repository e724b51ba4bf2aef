"""A command-level NVMe drive: every admin command answered by the base specification's rules.

The fronts (`in_process`, `nvme_tcp`) hand commands in and carry data out; nothing else is in them.
"""

import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.drives.nvme_features import Features
from tests.drives.nvme_identify import (
    INVALID_FIELD,
    INVALID_NAMESPACE,
    MAXIMUM_NAMESPACES,
    identify,
)
from tests.drives.nvme_logs import CHANGED, ERRORS, SANITIZE, SMART, log_page
from tests.drives.nvme_media import Media
from tests.drives.nvme_purge import FAILED, RUNNING, SANITIZE_FAILED, SANITIZE_RUNS, Purging
from tests.drives.nvme_state import (
    DNR,
    WHOLE_SUBSYSTEM,
    Clock,
    Knobs,
    PowerCut,
    Refusal,
    Store,
    VirtualClock,
    first_state,
)
from tests.drives.nvme_thermal import Thermal

GET_LOG, IDENTIFY, ABORT, SET_FEATURES, GET_FEATURES = 0x02, 0x06, 0x08, 0x09, 0x0A
MANAGE, SELF_TEST, ATTACH, KEEP_ALIVE, FORMAT, SANITIZE_NVM = 0x0D, 0x14, 0x15, 0x18, 0x80, 0x84
WHILE_SANITIZED = {GET_LOG, IDENTIFY, ABORT, SET_FEATURES, GET_FEATURES, KEEP_ALIVE, SANITIZE_NVM}
"""What a drive does while a sanitize runs, or after it failed; the rest waits for its end."""
LOGS_WHILE_SANITIZED = {ERRORS, SMART, CHANGED, SANITIZE} | set(range(0xC0, 0x100))
SELF_TEST_SECONDS = {1: 60.0, 2: 60.0}
Answer = tuple[int, int, bytes]
"""Status without the phase bit, dword 0 of the completion, data for the host."""


class NvmeDrive:
    """One drive from a power-on to a power cut; the state file carries it into the next."""

    def __init__(
        self,
        knobs: Knobs,
        state: Path,
        images: list[Path],
        *,
        clock: Clock | None = None,
        told: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        """Switch it on. `images` are the namespaces' files; `told` hears of every command."""
        self.knobs = knobs
        self.clock = clock or VirtualClock()
        self.lock = threading.RLock()
        self._store = Store(state, lambda: first_state(knobs))
        self.state = self._store.values
        self.powered = True
        self.commands: list[dict[str, Any]] = []
        self._told = told or (lambda entry: None)
        self.errors: list[bytes] = []
        self.power_state_changes = 0
        self._self_test: tuple[int, float] | None = None
        self.media = Media(dict(enumerate(images, 1)))
        self._media_commands, self._media_second = 0, self.clock()
        for number, values in self.namespaces.items():
            self.media.open(int(number), values["bytes"])
        self.counters["power_cycles"] += 1
        self.counters["unsafe_shutdowns"] += not self.state["clean"]
        self.state["clean"] = False
        self.features = Features(self)
        self.thermal = Thermal(self)
        self.purging = Purging(self)
        self.save()

    @property
    def namespaces(self) -> dict[str, dict[str, Any]]:
        """The namespaces by their numbers as text, as JSON keeps them."""
        found: dict[str, dict[str, Any]] = self.state["namespaces"]
        return found

    @property
    def counters(self) -> dict[str, Any]:
        """What the drive counts over its life."""
        found: dict[str, Any] = self.state["counters"]
        return found

    @property
    def allocated(self) -> list[int]:
        """Every namespace that exists."""
        return sorted(int(number) for number in self.namespaces)

    @property
    def attached(self) -> list[int]:
        """The namespaces that the first controller sees."""
        own = self.knobs.controllers[0]
        return [one for one in self.allocated if own in self.namespaces[str(one)]["attached"]]

    def save(self) -> None:
        """Make the state durable."""
        self._store.save()

    def shut_down(self) -> None:
        """End as a host that says goodbye does."""
        with self.lock:
            self.purging.advance()
            self.state["clean"] = True
            self.save()
            self.cut()

    def cut(self) -> None:
        """Take the power away: nothing more is written, to the state or to the media."""
        self.powered = False
        self.media.close()

    def control(self, **values: Any) -> None:
        """Turn knobs while it runs, as `Knobs.changed` takes them, and tell so."""
        with self.lock:
            self.thermal.advance()
            self.purging.advance()
            self.knobs = self.knobs.changed(values)
            self._told({"turned": values, "second": self.clock()})

    def wait(self, seconds: float) -> None:
        """Be busy with one command; the others are answered meanwhile."""
        self.lock.release()
        try:
            self.clock.sleep(seconds)
        finally:
            self.lock.acquire()

    def admin(self, command: bytes, data: bytes = b"") -> Answer:
        """Answer one admin command of 64 bytes as it goes over the wire.

        Raises:
            PowerCut: it was told to lose its power now; the command did not happen.
        """
        opcode, (number,) = command[0], struct.unpack_from("<I", command, 4)
        words = struct.unpack_from("<6I", command, 40)
        with self.lock:
            if self.knobs.power_cut_at_command == len(self.commands) + 1:
                raise PowerCut
            entry: dict[str, Any] = {
                "number": len(self.commands) + 1, "second": self.clock(), "opcode": opcode,
                "nsid": number, "cdw": list(words), "data": data.hex(), "status": None,
            }  # fmt: skip
            self.commands.append(entry)
            try:
                result, answered = self._answer(opcode, number, words, data)
                status = 0
            except Refusal as refusal:
                status, result, answered = refusal.status, 0, b""
                self._note_error(command, status)
            entry["status"] = status
            self._told(entry)
            return status, result, answered

    def note_media(self) -> None:
        """Count a command for the blocks; tell of the silence before it, if that is asked for."""
        began, now = self._media_second, self.clock()
        if 0 < self.knobs.silence_seconds <= now - began:
            self._told({"silence": [began, now], "media_commands": self._media_commands})
        self._media_commands, self._media_second = self._media_commands + 1, now

    def media_refusal(self, number: int, blocks: tuple[int, int] | None = None) -> int:
        """Return the status that a media command to these (first, count) blocks gets, or 0."""
        if number not in self.attached:
            return INVALID_NAMESPACE if number not in self.allocated else INVALID_FIELD
        refusal = self.purging.media_refusal
        if not refusal and blocks and sum(blocks) > self.size_blocks(number):
            return 0x80 | DNR
        return refusal

    def block_shift(self, number: int) -> int:
        """Return the power of two of a namespace's block."""
        return self.knobs.lba_formats[self.namespaces[str(number)]["lba_format"]][0]

    def size_blocks(self, number: int) -> int:
        """Return how many blocks a namespace has."""
        return int(self.namespaces[str(number)]["bytes"]) >> self.block_shift(number)

    def count_media(self, *, read: int = 0, written: int = 0) -> None:
        """Count bytes that a front moved; a write ends the certificate of an erased drive."""
        if read:
            self.counters["bytes_read"] += read
            self.counters["reads"] += 1
        if written:
            self.counters["bytes_written"] += written
            self.counters["writes"] += 1
            if self.state["data_erased"]:
                self.state["data_erased"] = False
                self.save()

    def need_possible(self, number: int) -> None:
        """Refuse a namespace number that the drive can never have."""
        if not 1 <= number <= MAXIMUM_NAMESPACES:
            raise Refusal(INVALID_NAMESPACE)

    def need_active(self, number: int) -> None:
        """Refuse a namespace that the controller does not see."""
        self.need_possible(number)
        if number not in self.attached:
            raise Refusal(INVALID_FIELD)

    def self_test_now(self) -> tuple[int, int]:
        """Return the kind of the self-test that runs, 0 for none, and its percent."""
        if self._self_test is None:
            return 0, 0
        kind, began = self._self_test
        share = (self.clock() - began) / SELF_TEST_SECONDS[kind]
        if share < 1:
            return kind, int(share * 100)
        self._end_self_test(0)
        return 0, 0

    def _answer(
        self, opcode: int, number: int, words: tuple[int, ...], data: bytes
    ) -> tuple[int, bytes]:
        self.thermal.advance()
        self._guard(opcode, words[0])
        match opcode:
            case 0x06:
                return 0, identify(self, number, words[0])
            case 0x02:
                offset = words[2] | words[3] << 32
                return 0, log_page(self, number, words[0], words[1], offset)
            case 0x0A:
                return self.features.get(words[0], words[1])
            case 0x09:
                return self.features.set(words[0], words[1], data), b""
            case 0x08:
                return 1, b""  # dword 0, bit 0: it was not aborted
            case 0x18:
                return 0, b""
            case 0x80:
                return self.purging.format(number, words[0]), b""
            case 0x84:
                result = self.purging.sanitize(words[0], words[1])
                self._abort_self_test(3)
                return result, b""
            case 0x14 if self.knobs.oacs & 0b10000:
                return self._begin_self_test(words[0] & 0xF), b""
            case 0x15 if self.knobs.oacs & 0b1000:
                return self._attach(number, words[0] & 0xF, data), b""
            case 0x0D if self.knobs.oacs & 0b1000:
                return self._delete(number, words[0] & 0xF), b""
        raise Refusal(0x01 | DNR)

    def _guard(self, opcode: int, cdw10: int) -> None:
        """Refuse what must wait for the end of a sanitize."""
        status = self.purging.status
        refusal = {RUNNING: SANITIZE_RUNS, FAILED: SANITIZE_FAILED}.get(status)
        if refusal is None or (status == FAILED and self.state["sanitize"]["left"]):
            return
        if opcode not in WHILE_SANITIZED:
            raise Refusal(refusal | DNR)
        if opcode == GET_LOG and cdw10 & 0xFF not in LOGS_WHILE_SANITIZED:
            raise Refusal(refusal | DNR)

    def _note_error(self, command: bytes, status: int) -> None:
        self.counters["errors"] += 1
        identifier, number = struct.unpack_from("<H", command, 2)[0], command[4:8]
        entry = struct.pack("<QHHHHQ", self.counters["errors"], 0, identifier, status << 1, 0, 0)
        self.errors = [*self.errors[-63:], (entry + number).ljust(64, b"\0")]

    def _begin_self_test(self, kind: int) -> int:
        if kind == 0xF:
            self._abort_self_test(1)
            return 0
        if kind not in SELF_TEST_SECONDS:
            raise Refusal(INVALID_FIELD)
        if self.self_test_now()[0]:
            raise Refusal(0x11D | DNR)
        self._self_test = (kind, self.clock())
        return 0

    def _abort_self_test(self, result: int) -> None:
        if self.self_test_now()[0]:
            self._end_self_test(result)

    def _end_self_test(self, result: int) -> None:
        assert self._self_test is not None
        hours = int(self.counters["seconds_on"] // 3600)
        self.state["self_tests"].append([self._self_test[0], result, hours])
        self._self_test = None
        self.save()

    def _attach(self, number: int, how: int, data: bytes) -> int:
        self.need_possible(number)
        if number not in self.allocated or how > 1:
            raise Refusal(INVALID_FIELD)
        (count,) = struct.unpack_from("<H", data.ljust(4096, b"\0"))
        named = struct.unpack_from(f"<{min(count, 2047)}H", data.ljust(4096, b"\0"), 2)
        attached = self.namespaces[str(number)]["attached"]
        if not named or any(one not in self.knobs.controllers for one in named):
            raise Refusal(0x11C | DNR)  # controller list invalid
        for one in named:
            if how == 0 and one in attached:
                raise Refusal(0x118 | DNR)  # already attached
            if how == 1 and one not in attached:
                raise Refusal(0x11A | DNR)  # not attached
        for one in named:
            (attached.append if how == 0 else attached.remove)(one)
        self.save()
        return 0

    def _delete(self, number: int, how: int) -> int:
        if how != 1:
            raise Refusal(0x115 | DNR)  # insufficient capacity: all of it is in the namespaces
        victims = self.allocated if number == WHOLE_SUBSYSTEM else [number]
        for one in victims:
            self.need_possible(one)
            if one not in self.allocated:
                raise Refusal(INVALID_FIELD)
        for one in victims:
            self.media.zeros(one)
            del self.namespaces[str(one)]
        self.save()
        return 0
