"""What a drive's own numbers say of its health; each reason has its numbers and its rule's source.

A number that is not told is `None`, and nothing is concluded from it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from teijo.device.health.ata_data import Attribute
from teijo.terms.drive_warning import COUNTER, named_in_bits
from teijo.units import ZERO_CELSIUS_KELVIN

Word = Literal["good", "caution", "bad", "unknown"]

NVME_WARNING: Final = "NVMe base specification, SMART log, byte 0"
NVME_SPARE: Final = "NVMe base specification, SMART log, bytes 3 and 4"
HEAT: Final = "the drive's own limit of temperature"
ENDURANCE: Final = "percentage used: 100 is the end of the life the maker estimates"
LOST_DATA: Final = "data that could not be read or kept: any is a reason for care"
ATA_LIMIT: Final = "ATA-3, SMART: a pre-failure value at or below its threshold"
ATA_WORN: Final = "ATA-3, SMART: an advisory value at or below its threshold"
ATA_SECTORS: Final = "05h, C5h, C6h: sectors reallocated, pending, not correctable"
ATA_STATUS: Final = "ACS, SMART RETURN STATUS"
SCSI_EXCEPTION: Final = "SPC, informational exceptions page 2Fh"

_RANK: Final[Mapping[Word, int]] = {"unknown": 0, "good": 1, "caution": 2, "bad": 3}
_SECTORS: Final = (0x05, 0xC5, 0xC6)
_PRE_FAILURE: Final = 1
_FOREVER: Final = (0x00, 0xFE, 0xFF)
"""Thresholds that are always passed or always failed by definition (FEh is invalid)."""
_EXCEPTIONS: Final[Mapping[int, Word]] = {0x5D: "bad", 0x0B: "caution", 0x00: "good"}
_TEMPERATURES: Final = (0xBE, 0xC2)


@dataclass(frozen=True, kw_only=True)
class Reason:
    """One thing that was looked at: how bad it is, its numbers, and where the rule is from."""

    word: Word
    numbers: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The worst word of all reasons; unknown where nothing could be judged.

    `blind` is what a verdict needs and the drive did not tell: then good is unknown.
    """

    reasons: tuple[Reason, ...] = ()
    blind: tuple[str, ...] = ()

    @property
    def word(self) -> Word:
        """The worst of the reasons."""
        words = [one.word for one in self.reasons]
        worst: Word = max(words, key=_RANK.__getitem__, default="unknown")
        return "unknown" if self.blind and worst == "good" else worst

    @property
    def grounds(self) -> tuple[Reason, ...]:
        """The reasons that make it what it is; of good all, of unknown those that say nothing."""
        return tuple(one for one in self.reasons if one.word == self.word)


def of_counters(counts: Mapping[str, int]) -> Verdict:
    """Judge counters by the names of `Counters`, of any kind of drive."""
    found: list[Reason] = []
    warning = counts.get(COUNTER)
    if warning is not None:
        word: Word = "bad" if warning else "good"
        names = ", ".join(named_in_bits(warning)) or "none"
        numbers = f"critical warning {warning:#04x}: {names}"
        found.append(Reason(word=word, numbers=numbers, source=NVME_WARNING))
    spare = counts.get("available_spare_percent")
    limit = counts.get("spare_threshold_percent")
    if spare is not None and limit is not None:
        word = "bad" if spare < limit else "caution" if spare == limit else "good"
        numbers = f"spare {spare} %, threshold {limit} %"
        found.append(Reason(word=word, numbers=numbers, source=NVME_SPARE))
    used = counts.get("percentage_used")
    if used is not None:
        word = "caution" if used >= 100 else "good"
        found.append(Reason(word=word, numbers=f"{used} % used", source=ENDURANCE))
    kelvin, hottest = counts.get("temperature_kelvin"), counts.get("warning_limit_kelvin")
    if kelvin is not None and hottest is not None:
        word = "caution" if kelvin >= hottest else "good"
        numbers = f"{kelvin - ZERO_CELSIUS_KELVIN} °C, limit {hottest - ZERO_CELSIUS_KELVIN} °C"
        found.append(Reason(word=word, numbers=numbers, source=HEAT))
    lost = counts.get("media_errors")
    if lost is not None:
        word = "caution" if lost else "good"
        found.append(Reason(word=word, numbers=f"{lost} media errors", source=LOST_DATA))
    return Verdict(reasons=tuple(found))


def of_attributes(found: Sequence[Attribute], passed: bool | None) -> Verdict:
    """Judge SMART attributes and the status of SMART; `passed` is None where it is not told."""
    reasons = [reason for one in found for reason in _of_attribute(one)]
    if passed is not None:
        word: Word = "good" if passed else "bad"
        numbers = "the drive says: passed" if passed else "the drive says: threshold exceeded"
        reasons.append(Reason(word=word, numbers=numbers, source=ATA_STATUS))
    return Verdict(reasons=tuple(reasons))


def of_exception(code: tuple[int, int] | None) -> Verdict:
    """Judge the additional sense code and qualifier that a SCSI drive tells of itself."""
    if code is None:
        return Verdict()
    word = _EXCEPTIONS.get(code[0], "unknown")
    says = {"bad": "failure ahead", "caution": "a warning", "good": "nothing"}.get(word, "unknown")
    numbers = f"{says} ({code[0]:02X}h/{code[1]:02X}h)"
    return Verdict(reasons=(Reason(word=word, numbers=numbers, source=SCSI_EXCEPTION),))


def _of_attribute(one: Attribute) -> list[Reason]:
    reasons = []
    shown = f"{one.number:02X}h {one.name}".strip()
    if one.threshold is not None and one.threshold not in _FOREVER:
        failing = bool(one.flags & _PRE_FAILURE)
        worse: Word = "bad" if failing and one.number not in _TEMPERATURES else "caution"
        word: Word = worse if one.value <= one.threshold else "good"
        numbers = f"{shown}: value {one.value}, threshold {one.threshold}"
        source = ATA_LIMIT if failing else ATA_WORN
        reasons.append(Reason(word=word, numbers=numbers, source=source))
    if one.number in _SECTORS:
        # Some makers keep other numbers above the lowest four bytes.
        count = one.raw & 0xFFFFFFFF
        word = "unknown" if count == 0xFFFFFFFF else "caution" if count else "good"
        numbers = f"{shown}: {count} raw"
        reasons.append(Reason(word=word, numbers=numbers, source=ATA_SECTORS))
    return reasons
