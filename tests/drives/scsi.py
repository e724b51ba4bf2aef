"""The SAS drive: sanitize and format with their states, mode pages that are saved, log pages.

SPC-5 and SBC-4. What it has in common with a SATA drive behind a translation layer is in target.py.
"""

import struct
from typing import Any, ClassVar

from tests.drives.disk import BLOCK, Disk
from tests.drives.sense import (
    INVALID_FIELD,
    INVALID_PARAMETER,
    LIST_LENGTH,
    Check,
)
from tests.drives.target import Target

SERIAL, MODEL, FIRMWARE, WWN = "EMUSAS0001", "EMULATED SAS SSD", "E1.0", 0x5000C500ABCDEF01
SANITIZING, SANITIZE_FAILED = (2, 0x04, 0x1B), (3, 0x31, 0x03)
FORMATTING, FORMAT_FAILED, CORRUPT = (2, 0x04, 0x04), (3, 0x31, 0x01), (3, 0x31, 0x00)
WAYS = {1: "overwrite", 2: "block", 3: "crypto"}
EXIT_FAILURE = 0x1F
# What is answered whatever goes on: INQUIRY, REQUEST SENSE, LOG SENSE, REPORT LUNS, and the list
# of operation codes.
ALWAYS = {0x03, 0x12, 0x4D, 0xA0, 0xA3}
NO_MEDIUM_NEEDED = {0x15, 0x1A, 0x1B, 0x55, 0x5A, 0x04, 0x48}
SELF_TEST_SECONDS = 4.0


class SasDisk(Disk):
    """The memory of a SAS drive."""

    VOLATILE: ClassVar[dict[str, Any]] = {"standby": False}
    KEPT: ClassVar[dict[str, Any]] = {
        "wce": None, "wce_saved": None, "corrupt": False, "self_tests": [], "written": 0,
        "read": 0, "minutes": 74040,
    }  # fmt: skip

    def started(self) -> None:
        if self.state["wce_saved"] is None:
            self.state["wce_saved"] = self.knobs.wce
        self.state["wce"] = self.state["wce_saved"]
        # A format does not go on after power was lost: nothing but a new one helps (SBC-4, 4.34).
        job = self.state["jobs"].get("format")
        if job and job["running"]:
            del self.state["jobs"]["format"]
            self.state["corrupt"] = True

    def link_reset(self) -> None:
        """Go on: a reset ends no sanitize, and no format that has begun."""


class SasTarget(Target):
    """A SAS drive as a logical unit."""

    disk: SasDisk

    def __init__(self, disk: SasDisk) -> None:
        super().__init__(disk)
        knobs = disk.knobs
        self.commands |= {0x1D: self.send_diagnostic, 0x37: self.defects, 0x4D: self.log_sense}
        if knobs.format_unit:
            self.commands[0x04] = self.format_unit
        if knobs.sanitize:
            self.commands[0x48] = self.sanitize
        if knobs.trim == "none":
            del self.commands[0x42]

    # --- states

    def condition(self) -> tuple[int, int, int, int | None]:
        disk = self.disk
        disk.progress("self_test")
        now, formatting = disk.progress("sanitize"), disk.progress("format")
        if now.running:
            return *SANITIZING, now.done
        if formatting.running:
            return *FORMATTING, formatting.done
        if now.failed:
            return *SANITIZE_FAILED, None
        if formatting.failed:
            return *FORMAT_FAILED, None
        return (*CORRUPT, None) if disk.state["corrupt"] else (0, 0, 0, None)

    def admit(self, cdb: bytes) -> None:
        key, code, qualifier, progress = self.condition()
        code_of = cdb[0]
        if code_of in ALWAYS:
            return
        if progress is not None:
            raise Check(key, code, qualifier, progress)
        sanitize_failed = self.disk.progress("sanitize").failed
        if key and (code_of not in NO_MEDIUM_NEEDED or (sanitize_failed and code_of != 0x48)):
            raise Check(key, code, qualifier)
        if self.disk.state["standby"] and code_of not in NO_MEDIUM_NEEDED:
            raise Check(2, 0x04, 0x02)

    # --- erasing

    def sanitize(self, cdb: bytes, out: bytes) -> bytes:
        action, unrestricted = cdb[1] & 0x1F, bool(cdb[1] & 0x20)
        jobs = self.disk.state["jobs"]
        failed = self.disk.progress("sanitize").failed
        restricted = failed and not jobs["sanitize"]["exit"]
        if action == EXIT_FAILURE:
            if restricted:
                raise Check(*INVALID_FIELD)
            if failed:
                del jobs["sanitize"]
                self.disk.save()
            return b""
        how = WAYS.get(action)
        if how is None or how not in self.disk.knobs.sanitize or (restricted and unrestricted):
            raise Check(*INVALID_FIELD)
        length = int.from_bytes(cdb[7:9], "big")
        if length and how != "overwrite":
            raise Check(*INVALID_FIELD)
        pattern = overwrite_pattern(out[:length]) if how == "overwrite" else b"\0"
        if self.disk.knobs.refuses:
            raise Check(7, 0x27, 0x00)  # write protected
        self.disk.begin("sanitize", how=how, pattern=pattern.hex(), exit=unrestricted)
        if not cdb[1] & 0x80:
            self.wait("sanitize", SANITIZE_FAILED)
        return b""

    def wait(self, job: str, failure: tuple[int, int, int]) -> None:
        """Answer no sooner than an operation has ended."""
        self.disk.busy(self.disk.knobs.duration)
        if self.disk.progress(job).failed:
            raise Check(*failure)

    def format_unit(self, cdb: bytes, out: bytes) -> bytes:
        immediate = False
        if cdb[1] & 0x10:
            head = 8 if cdb[1] & 0x20 else 4
            if len(out) < head:
                raise Check(*LIST_LENGTH)
            immediate = bool(out[1] & 0x02)
            if out[1] & 0x78 and not out[1] & 0x80:
                raise Check(*INVALID_PARAMETER)  # options only count with FOV
            if int.from_bytes(out[head // 2 : head], "big"):
                raise Check(*INVALID_PARAMETER)  # no defect lists
        elif cdb[1] & 0x2F:
            raise Check(*INVALID_FIELD)
        if cdb[1] & 0xC0:
            raise Check(*INVALID_FIELD)  # no protection information
        if self.disk.knobs.refuses:
            raise Check(7, 0x27, 0x00)
        self.disk.begin("format", how="block", pattern="00")
        # From here on the medium is as it must be only when the format has ended.
        self.disk.state["corrupt"] = False
        self.disk.save()
        if not immediate:
            self.wait("format", FORMAT_FAILED)
        return b""

    # --- identity

    def names(self) -> tuple[str, str, str]:
        knobs = self.disk.knobs
        return "TEIJO", knobs.model or MODEL, knobs.firmware or FIRMWARE

    def pages(self) -> dict[int, bytes]:
        name = self.disk.knobs.wwn or WWN
        serial = (self.disk.knobs.serial or SERIAL).ljust(20)
        # NAA of the unit; NAA of its port with the protocol (SAS).
        names = struct.pack(">BBBBQ", 1, 3, 0, 8, name)
        names += struct.pack(">BBBBQ", 0x61, 0x93, 0, 8, name + 1)
        return super().pages() | {0x80: serial.encode(), 0x83: names}

    # --- mode pages

    def mode_pages(self, which: int) -> dict[int, bytes]:
        state = self.disk.state
        wce = {0: state["wce"], 1: True, 2: self.disk.knobs.wce, 3: state["wce_saved"]}[which]
        caching = bytearray(20)
        caching[0], caching[1], caching[2] = 0x88, 18, bool(wce) << 2
        return {
            0x01: bytes((0x01, 10)) + bytes(10),
            0x08: bytes(caching),
            0x0A: bytes((0x0A, 10)) + bytes(10),
            0x1C: bytes((0x1C, 10)) + bytes(10),
        }

    def set_mode(self, page: bytes, *, save: bool) -> None:
        if page[0] & 0x3F == 0x08:
            self.disk.state["wce"] = bool(page[2] & 4)
            if save:
                self.disk.state["wce_saved"] = self.disk.state["wce"]
            self.disk.save()

    # --- logs

    def log_sense(self, cdb: bytes, out: bytes) -> bytes:
        page, subpage = cdb[2] & 0x3F, cdb[3]
        length = int.from_bytes(cdb[7:9], "big")
        found = self.logs()
        if subpage or page not in found:
            raise Check(*INVALID_FIELD)
        body = found[page]
        return (bytes((page, 0)) + struct.pack(">H", len(body)) + body)[:length]

    def logs(self) -> dict[int, bytes]:
        """Return the log pages without their heads."""
        disk, knobs = self.disk, self.disk.knobs
        state = disk.state
        errors = {
            2: state["written"], 3: state["read"], 5: 0,
        }  # fmt: skip
        pages = {
            page: b"".join(parameter(code, value, 8) for code, value in (
                (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, blocks * BLOCK), (6, 0),
            ))
            for page, blocks in errors.items()
        }  # fmt: skip
        pages[0x06] = parameter(0, 0, 4)
        pages[0x0D] = parameter(0, knobs.temperature, 2) + parameter(1, 70, 2)
        pages[0x0E] = (
            struct.pack(">HBB6s", 1, 3, 6, b"202601") + struct.pack(">HBB6s", 2, 3, 6, b"202602")
            + parameter(3, 10000, 4) + parameter(4, state["power_cycles"], 4)
        )  # fmt: skip
        pages[0x10] = b"".join(
            self.self_test_result(place + 1, test)
            for place, test in enumerate((state["self_tests"] + [None] * 20)[:20])
        )
        pages[0x11] = parameter(1, knobs.percent_used, 4)
        pages[0x15] = struct.pack(">HBBIBBHHH", 0, 3, 12, state["minutes"], 0, 0, 0, 0, 0)
        # Asc 5D: failure prediction threshold exceeded.
        pages[0x2F] = struct.pack(
            ">HBBBBBB4x", 0, 3, 8, 0x5D if knobs.failing else 0, 0x10 if knobs.failing else 0,
            knobs.temperature, 70,
        )  # fmt: skip
        pages[0x00] = bytes(sorted((0, *pages)))
        return pages

    def self_test_result(self, code: int, test: dict[str, int] | None) -> bytes:
        if test is None:
            return struct.pack(">HBB16x", code, 3, 16)
        return struct.pack(
            ">HBBBBHQBBBB", code, 3, 16, test["which"] << 5 | test["result"], 0,
            test["hours"], 0xFFFFFFFFFFFFFFFF, 0, 0, 0, 0,
        )  # fmt: skip

    def send_diagnostic(self, cdb: bytes, out: bytes) -> bytes:
        which = cdb[1] >> 5
        if cdb[1] & 4 and not which:
            return b""  # the default self-test, at once
        if which not in (1, 2, 5, 6):
            raise Check(*INVALID_FIELD)
        if which in (5, 6):
            self.disk.busy(SELF_TEST_SECONDS)
        result = {
            "which": which, "result": 7 if self.disk.knobs.failing else 0,
            "hours": self.disk.state["minutes"] // 60,
        }  # fmt: skip
        self.disk.state["self_tests"] = [result, *self.disk.state["self_tests"]][:20]
        self.disk.save()
        return b""

    def defects(self, cdb: bytes, out: bytes) -> bytes:
        return bytes((0, cdb[2] & 0x1F, 0, 0))[: int.from_bytes(cdb[7:9], "big")]

    # --- blocks

    def read(self, cdb: bytes, out: bytes) -> bytes:
        data = super().read(cdb, out)
        self.disk.state["read"] += len(data) // BLOCK
        return data

    def write(self, cdb: bytes, out: bytes) -> bytes:
        done = super().write(cdb, out)
        self.disk.state["written"] += len(out) // BLOCK
        return done

    def service_actions(self) -> dict[int, tuple[int, ...]]:
        ways = tuple(code for code, how in WAYS.items() if how in self.disk.knobs.sanitize)
        return super().service_actions() | {0x48: (*ways, EXIT_FAILURE)}


def parameter(code: int, value: int, length: int) -> bytes:
    """Return a log parameter of a binary number."""
    return struct.pack(">HBB", code, 3, length) + value.to_bytes(length, "big")


def overwrite_pattern(given: bytes) -> bytes:
    """Return the pattern of an overwrite from its parameter list."""
    if len(given) < 5:
        raise Check(*LIST_LENGTH)
    passes, length = given[0] & 0x1F, int.from_bytes(given[2:4], "big")
    if not passes or not 1 <= length <= BLOCK:
        raise Check(*INVALID_PARAMETER)
    if len(given) != 4 + length:
        raise Check(*LIST_LENGTH)
    pattern = given[4:]
    if given[0] & 0x80 and passes % 2 == 0:
        pattern = bytes(byte ^ 0xFF for byte in pattern)
    return pattern
