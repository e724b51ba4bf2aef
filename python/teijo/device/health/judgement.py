"""The verdict on all that a drive told: every rule of `verdict.py`, and those on its own tests.

What is blind is a reason too, and no drive is called good of which the main log was not told.
"""

from collections.abc import Iterator
from typing import Final

from teijo.device.health.self_tests import SelfTests
from teijo.device.health.smartctl_answer import EXIT_BITS, SmartctlAnswer
from teijo.device.health.snapshot import Snapshot
from teijo.device.health.verdict import (
    Reason,
    Verdict,
    Word,
    of_attributes,
    of_counters,
    of_exception,
)
from teijo.terms.drive_warning import COUNTER

SELF_TEST: Final = "the drive's own self-test log: the newest result, and whether any failed"
GROUP: Final = "NVMe base specification, endurance group log, byte 0"
SMARTCTL: Final = "smartctl(8), exit status"
_MAIN: Final = {"nvme": ("smart",), "ata": ("smart_status", "attributes"), "scsi": ("exception",)}
_JUDGED_BITS: Final[dict[int, Word]] = {3: "bad", 4: "bad", 5: "caution", 7: "caution"}


def judge(seen: Snapshot) -> Verdict:
    """Return the verdict on a snapshot, with what it could not see among its reasons."""
    counts = seen.counts
    reasons: list[Reason] = []
    if seen.scsi is not None or seen.ata is not None:
        counts.pop(COUNTER, None)
    reasons += of_counters(counts).reasons
    if seen.nvme is not None:
        reasons += _groups(seen)
        reasons += _self_tests(seen.nvme.self_tests)
    if seen.ata is not None:
        passed = None if seen.ata.fails is None else not seen.ata.fails
        reasons += of_attributes(seen.ata.attributes or (), passed).reasons
        reasons += _self_tests(seen.ata.self_tests)
    if seen.scsi is not None:
        told = seen.scsi.exception
        code = None if told is None else (told["code"], told["qualifier"])
        reasons += of_exception(code).reasons
        reasons += _self_tests(seen.scsi.self_tests)
    if seen.smartctl is not None:
        reasons += of_attributes(seen.smartctl.attributes, seen.smartctl.passed).reasons
        reasons += _exit_bits(seen.smartctl)
    return Verdict(reasons=tuple(reasons), blind=tuple(_blind(seen)))


def told_by(seen: Snapshot) -> str:
    """Return which log a verdict rests on first, "" where none was told."""
    main = [log for log in seen.logs if seen.kind is not None and log.name in _MAIN[seen.kind]]
    sources = [log.source for log in (*main, *seen.logs) if log.told is not None]
    return sources[0] if sources else ""


def _groups(seen: Snapshot) -> Iterator[Reason]:
    groups = seen.nvme.endurance_groups if seen.nvme else None
    for group in groups or ():
        word: Word = "bad" if group.critical_warning else "good"
        numbers = f"endurance group {group.number}: bits {group.critical_warning:#04x}"
        yield Reason(word=word, numbers=numbers, source=GROUP)


def _self_tests(told: SelfTests | None) -> Iterator[Reason]:
    """Judge by the newest test that ended; one that failed before it, and passed since, is care."""
    if told is None or not told.results:
        return
    ended = [one for one in told.results if one.ended in ("passed", "failed")]
    if not ended:
        return
    failed = len(told.failed)
    newest: Word = "bad" if ended[0].ended == "failed" else "caution" if failed else "good"
    numbers = f"{failed} of {len(ended)} self-tests failed, the newest {ended[0].ended}"
    yield Reason(word=newest, numbers=numbers, source=SELF_TEST)


def _exit_bits(answer: SmartctlAnswer) -> Iterator[Reason]:
    for bit in answer.exit_bits:
        if bit in _JUDGED_BITS:
            yield Reason(
                word=_JUDGED_BITS[bit], numbers=f"bit {bit}: {EXIT_BITS[bit]}", source=SMARTCTL
            )


def _blind(seen: Snapshot) -> Iterator[str]:
    """Yield what a verdict needs and was not told: of each kind of drive its main log.

    Where smartctl told in its place what the drive did not tell us, that is enough.
    """
    if seen.smartctl is not None and not seen.smartctl.is_blind:
        return
    if seen.kind is None:
        yield seen.not_told.get("commands", "the drive takes no commands of a drive's own")
    main = [log for log in seen.logs if seen.kind is not None and log.name in _MAIN[seen.kind]]
    if all(log.not_told for log in main):
        yield from (f"{log.source}: {log.not_told}" for log in main)
    if seen.smartctl is not None:
        yield "smartctl tells nothing of its health"
