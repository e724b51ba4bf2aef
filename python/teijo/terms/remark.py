"""The closed list of warnings. Each has a cause and a remedy; every number it touches shows it."""

from dataclasses import dataclass
from enum import StrEnum


class RemarkKind(StrEnum):
    """Why a number must be read with care."""

    SIMULATED = "simulated"
    CAPACITY_SCALED = "capacity scaled"
    NOT_PURGED = "not purged"
    PURGE_CLAIMED = "purge equivalent claimed"
    PURGE_CRYPTOGRAPHIC = "purge only cryptographic"
    PURGE_UNPROVEN = "purge unproven"
    CACHE_UNKNOWN = "cache state unknown"
    CACHE_DISAGREES = "cache: kernel disagrees"
    DEVIATION = "deviation from the standard"
    NOT_STEADY = "steady state not reached"
    RESCORED = "re-scored"
    STEPS_MISSING = "steps missing"
    RESUMED = "resumed"
    INTERRUPTED = "interrupted"
    IO_ERRORS = "i/o errors"
    IO_STUCK = "i/o stuck"
    WRONG_DATA = "wrong data"
    BUFFERED = "not direct"
    ENGINE_FALLBACK = "engine fallback"
    CLOCK_STEPPED = "clock stepped"
    HOST_LIMITED = "host limited"
    DEPTH_LIMITED = "depth limited"
    SCHEDULE_NOT_KEPT = "schedule not kept"
    IO_PUNTED = "i/o punted"
    IO_SPLIT = "i/o split"
    SAMPLER_GAP = "sampler gap"
    FOREIGN_IO = "foreign i/o"
    CONTRADICTION = "contradiction"
    CHECK_BLIND = "check blind"
    RESULTS_DISK = "results disk"
    DRIVE_WARNS = "drive warns"
    THROTTLED = "throttled"
    POWER_CYCLED = "power cycled"
    LINK_DEGRADED = "link degraded"
    RECORD_CUT = "record cut short"
    RECORD_UNCHECKED = "record unchecked"
    QUICK_LOOK = "quick look"
    CACHE_MAY_HOLD = "cache may hold it"
    UNWRITTEN = "blocks may be unwritten"
    RECORD_UNSEALED = "record unsealed"
    RECORD_INCONSISTENT = "record inconsistent"


@dataclass(frozen=True, kw_only=True)
class Remark:
    """One warning of a run. `step` is the sequence number it touches, None for the whole run."""

    kind: RemarkKind
    text: str
    step: int | None = None


REMEDIES: dict[RemarkKind, str] = {
    RemarkKind.SIMULATED: "Measure a real device before you buy or publish.",
    RemarkKind.CAPACITY_SCALED: "Run with ?scale=1 for the full capacity and full minutes.",
    RemarkKind.NOT_PURGED: "Measure a whole block device, which can be purged.",
    RemarkKind.PURGE_CLAIMED: "Use a drive with NVMe Format, Sanitize or ATA Secure Erase.",
    RemarkKind.PURGE_CRYPTOGRAPHIC: "Purge with nvme-format, which erases the data itself.",
    RemarkKind.PURGE_UNPROVEN: "Purge by a method that leaves none of the stamps.",
    RemarkKind.CACHE_UNKNOWN: "Read the write cache with the drive's own tool and note it.",
    RemarkKind.CACHE_DISAGREES: "Have the kernel look again: echo 1 > …/device/rescan.",
    RemarkKind.DEVIATION: "Leave the setting at the standard's value.",
    RemarkKind.NOT_STEADY: "Allow more rounds, or look for throttling and foreign I/O.",
    RemarkKind.RESCORED: "Leave --spec away to see the run as it was made.",
    RemarkKind.STEPS_MISSING: "Run the method anew under this version.",
    RemarkKind.RESUMED: "Run again without an interruption for an unbroken window.",
    RemarkKind.INTERRUPTED: "Continue with `teijo resume FILE`.",
    RemarkKind.IO_ERRORS: "Look at the kernel log and the drive's error log.",
    RemarkKind.IO_STUCK: "Look at the kernel log; continue with `teijo resume FILE`.",
    RemarkKind.WRONG_DATA: "Keep nothing on the device, and look at what lies between it and you.",
    RemarkKind.BUFFERED: "Put the file on a file system that accepts O_DIRECT.",
    RemarkKind.ENGINE_FALLBACK: "Use a kernel with io_uring enabled.",
    RemarkKind.CLOCK_STEPPED: "Do not suspend or step the clock during a run.",
    RemarkKind.HOST_LIMITED: "Use more threads, a faster host, or pin the run to idle cores.",
    RemarkKind.DEPTH_LIMITED: "Use more threads of less depth, or raise the device's nr_requests.",
    RemarkKind.SCHEDULE_NOT_KEPT: "Ask for a lower rate, or allow more I/Os in flight.",
    RemarkKind.IO_PUNTED: "Read QD 1 as that of a plain system call; measure a block device.",
    RemarkKind.IO_SPLIT: "Use blocks of at most queue/max_sectors_kb, and set queue/nomerges to 2.",
    RemarkKind.SAMPLER_GAP: "Leave the program running, and the CPUs to it.",
    RemarkKind.FOREIGN_IO: "Stop whatever else uses the device, and run again.",
    RemarkKind.CONTRADICTION: "Trust neither figure; look at the steps behind both.",
    RemarkKind.CHECK_BLIND: "Run as root, or install the program the check needs.",
    RemarkKind.RESULTS_DISK: "Free space where the run file is written.",
    RemarkKind.DRIVE_WARNS: "Save what the drive holds, and do not take it for a good one.",
    RemarkKind.LINK_DEGRADED: "Seat the drive anew, and look at its slot, its cable and the BIOS.",
    RemarkKind.THROTTLED: "Cool the drive, and run again.",
    RemarkKind.POWER_CYCLED: "Look at its power and its plug, and run again.",
    RemarkKind.RECORD_CUT: "Continue with `teijo resume FILE`: what is missing is measured again.",
    RemarkKind.RECORD_UNCHECKED: "Run again with this version, whose rows have checksums.",
    RemarkKind.QUICK_LOOK: "Run a method of the standard (`teijo run iops`) for a steady level.",
    RemarkKind.CACHE_MAY_HOLD: "Touch more than any cache holds: --size 64GiB.",
    RemarkKind.UNWRITTEN: "Write it first, or let the quick look write: with --destroy SERIAL.",
    RemarkKind.RECORD_UNSEALED: "Seal it where it was made: `teijo seal FILE`.",
    RemarkKind.RECORD_INCONSISTENT: "Trust none of it, and see all with `teijo verify FILE`.",
}
