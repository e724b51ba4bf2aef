"""Self-test logs of NVMe (06h), ATA (SMART log 06h) and SCSI (page 10h) in one shape.

Newest first. Places are those of the NVMe base specification, ACS and SPC.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from teijo.device.health.raw import Unreadable, big, little
from teijo.device.health.scsi_pages import Page

Ended = Literal["passed", "failed", "aborted", "running"]

NVME_BYTES: Final = 564
NVME_RESULTS: Final = 20
ATA_RESULTS: Final = 21
_ATA_AT, _ATA_ENTRY, _ATA_INDEX = 2, 24, 508
_NOTHING: Final = 0xF
_NO_LBA: Final = 0xFFFFFFFF
_NO_LONG_LBA: Final = 0xFFFFFFFFFFFFFFFF

_NVME_KINDS: Final = {1: "short", 2: "extended", 0xE: "vendor"}
_ATA_KINDS: Final = {0: "offline", 1: "short", 2: "extended", 3: "conveyance", 4: "selective"}
_SCSI_KINDS: Final = {
    0: "default", 1: "short", 2: "extended", 5: "short, captive", 6: "extended, captive",
}  # fmt: skip
_NVME_FAILED: Final = (5, 6, 7)
_ATA_FAILED: Final = range(3, 9)
_SCSI_FAILED: Final = range(3, 8)


@dataclass(frozen=True, kw_only=True)
class SelfTest:
    """One self-test that ended: `code` is the drive's own result, `hours` when, powered on."""

    kind: str
    ended: Ended
    code: int
    hours: int
    failing_lba: int | None = None


@dataclass(frozen=True, kw_only=True)
class SelfTests:
    """What a drive tested of itself; `running` names the test under way, "" for none."""

    running: str = ""
    done_percent: int | None = None
    results: tuple[SelfTest, ...] = ()

    @property
    def failed(self) -> tuple[SelfTest, ...]:
        """Those that found the drive at fault."""
        return tuple(one for one in self.results if one.ended == "failed")


def of_nvme(raw: bytes) -> SelfTests:
    """Return what log 06h says.

    Raises:
        Unreadable: it is too short.
    """
    if len(raw) < NVME_BYTES:
        raise Unreadable("the drive's self-test log (06h) is cut short")
    now = raw[0] & 0xF
    return SelfTests(
        running=_NVME_KINDS.get(now, f"{now:X}h") if now else "",
        done_percent=min(raw[1] & 0x7F, 100) if now else None,
        results=tuple(_of_nvme(raw)),
    )


def _of_nvme(raw: bytes) -> Iterator[SelfTest]:
    for number in range(NVME_RESULTS):
        entry = raw[4 + 28 * number : 32 + 28 * number]
        result = entry[0] & 0xF
        if result == _NOTHING:
            continue
        kind = entry[0] >> 4
        yield SelfTest(
            kind=_NVME_KINDS.get(kind, f"{kind:X}h"),
            ended=_ended(result, _NVME_FAILED),
            code=result,
            hours=little(entry, 4, 8),
            # Bit 1 of the valid diagnostic information says whether there is one.
            failing_lba=little(entry, 16, 8) if entry[2] & 0b10 else None,
        )


def of_ata(log: bytes, data: bytes) -> SelfTests:
    """Return what SMART log 06h says, and of SMART's data whether a test runs.

    Raises:
        Unreadable: the log is too short.
    """
    if len(log) <= _ATA_INDEX:
        raise Unreadable("the drive's self-test log (06h) is cut short")
    status = data[363] if len(data) > 363 else 0
    runs = status >> 4 == _NOTHING
    # The index counts from 1 and names the newest; the entries are a ring.
    newest = log[_ATA_INDEX]
    order = [(newest - 1 - n) % ATA_RESULTS for n in range(ATA_RESULTS)] if newest else []
    found = []
    for place in order:
        entry = log[_ATA_AT + _ATA_ENTRY * place : _ATA_AT + _ATA_ENTRY * (place + 1)]
        if not any(entry):
            continue
        result, lba = entry[1] >> 4, little(entry, 5, 4)
        found.append(
            SelfTest(
                kind=_ATA_KINDS.get(entry[0] & 0x7F, f"{entry[0]:02X}h"),
                ended=_ended(result, _ATA_FAILED),
                code=result,
                hours=little(entry, 2, 2),
                failing_lba=lba if result in _ATA_FAILED and lba not in (0, _NO_LBA) else None,
            )
        )
    left = (status & 0xF) * 10
    return SelfTests(
        running="self-test" if runs else "",
        done_percent=max(0, 100 - left) if runs else None,
        results=tuple(found),
    )


def of_scsi(page: Mapping[int, bytes]) -> SelfTests:
    """Return what log page 10h says; its lowest parameter is the newest."""
    found = [_of_scsi(page, code) for code in sorted(page)]
    results = [one for one in found if one is not None]
    running = next((one.kind for one in results if one.ended == "running"), "")
    ended = tuple(one for one in results if one.ended != "running")
    return SelfTests(running=running, results=ended)


def _of_scsi(page: Page, code: int) -> SelfTest | None:
    entry = page[code]
    if len(entry) < 12 or not any(entry):
        return None
    kind, result = entry[0] >> 5, entry[0] & 0xF
    lba = big(entry, 4, 8)
    return SelfTest(
        kind=_SCSI_KINDS.get(kind, f"{kind}h"),
        ended=_ended(result, _SCSI_FAILED),
        code=result,
        hours=big(entry, 2, 2) or 0,
        failing_lba=lba if result in _SCSI_FAILED and lba != _NO_LONG_LBA else None,
    )


def _ended(result: int, failed: range | tuple[int, ...]) -> Ended:
    if result == 0:
        return "passed"
    if result == _NOTHING:
        return "running"
    return "failed" if result in failed else "aborted"
