"""CrystalDiskInfo's verdict on a drive, in the order of its own tests, with what decided it.

CrystalDiskInfo 9.9.2, AtaSmart.cpp, CheckDiskStatus, with its usual settings: 05h, C5h, C6h from 1
on and a life of 10 % or less are a caution. It differs from Teijo's own on purpose: a value at its
threshold passes here. Nothing of it is to be improved.
"""

from dataclasses import dataclass
from typing import Final, Literal

from teijo.document.phrase import say
from teijo.personas.crystaldiskinfo import vendors
from teijo.personas.crystaldiskinfo.attributes import Row
from teijo.personas.crystaldiskinfo.disk import SECTOR_BYTES, Disk
from teijo.personas.crystaldiskinfo.nvme import nvme_of
from teijo.personas.crystaldiskinfo.sata import (
    BY_C9,
    BY_CA,
    BY_E6,
    BY_E7,
    BY_E9,
    HUNDRED,
    Sata,
    by_byte,
    by_e6,
    has_short_a9,
    sata_of,
)

Word = Literal["Good", "Caution", "Bad", "Unknown"]
CAUTION_PERCENT: Final = 10
VIRTUAL: Final = ("Parallels", "VMware", "QEMU")
"""Of a model that begins so, the original says nothing."""
SECTORS: Final = (0x05, 0xC5, 0xC6)
_NOT_COUNTED: Final = 0xFFFFFFFF
_TEMPERATURE: Final = 0xC2
_JUDGED: Final = frozenset(
    number
    for first, last in (
        (0x01, 0x0D), (0x16, 0x16), (0xBB, 0xBD), (0xBF, 0xC1), (0xC3, 0xD1), (0xD3, 0xD4),
        (0xDC, 0xE4), (0xE6, 0xE7), (0xF0, 0xF0), (0xFA, 0xFA), (0xFE, 0xFE),
    )
    for number in range(first, last + 1)
)  # fmt: skip
"""The ids whose thresholds count of a hard disk; of an SSD all do."""
_LIFE_AT: Final = {
    0xAD: frozenset({"kioxia"}),
    0xB1: frozenset({"samsung"}),
    0xBB: frozenset({"mtron"}),
    0xC9: BY_C9,
    0xCA: BY_CA,
    0xD1: frozenset({"indilinx"}),
    0xE6: BY_E6,
    # Seagate's is shown and not judged.
    0xE7: BY_E7 - {"seagate"},
    0xE8: frozenset({"plextor"}),
    0xE9: BY_E9,
}
"""Where the life is that is judged; not all that is shown is."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The original's word, the life in percent that it shows beside it, and what decided.

    `life_percent` is None where it shows none. `rule` has the numbers; several are apart by
    semicolons.
    """

    word: Word
    life_percent: int | None
    rule: str

    def __str__(self) -> str:
        """Return it as the original prints it."""
        share = "" if self.life_percent is None else f" ({self.life_percent} %)"
        return f"{self.word}{share}"


def verdict_of(disk: Disk) -> Verdict:
    """Return the original's verdict; Unknown of a drive whose bytes were not read."""
    match disk.kind:
        case "nvme":
            return _of_nvme(disk)
        case "ata":
            return verdict_of_sata(sata_of(disk))
        case "other":
            return _unread(say("it knows only NVMe's and ATA's own data"))


def _unread(rule: str) -> Verdict:
    return Verdict(word="Unknown", life_percent=None, rule=rule)


def _of_nvme(disk: Disk) -> Verdict:
    seen = nvme_of(disk)
    if len(disk.smart) < SECTOR_BYTES:
        return _unread(say("log 02h was not read"))

    def told(word: Word, rule: str) -> Verdict:
        return Verdict(word=word, life_percent=seen.life, rule=rule)

    warning, spare, threshold = disk.smart[0], disk.smart[3], disk.smart[4]
    if seen.model.startswith(VIRTUAL):
        return told("Unknown", say("the model {model} is of a virtual machine", model=seen.model))
    if warning:
        return told("Bad", say("critical warning {warning:#04x} is not 0", warning=warning))
    # A threshold of 0, or above 100, is none.
    if 0 < threshold <= HUNDRED:
        if spare < threshold:
            return told(
                "Bad",
                say("spare {spare} % < threshold {threshold} %", spare=spare, threshold=threshold),
            )
        if spare == threshold != HUNDRED:
            return told("Caution", say("spare {spare} % = its threshold", spare=spare))
    if seen.life > CAUTION_PERCENT:
        return told("Good", say("life {life} % > {limit} %", life=seen.life, limit=CAUTION_PERCENT))
    rule = say("life {life} % <= {limit} %", life=seen.life, limit=CAUTION_PERCENT)
    return told("Caution", rule)


def verdict_of_sata(sata: Sata) -> Verdict:
    """Return the original's verdict on an ATA drive."""
    word, rule = _word_of(sata)
    return Verdict(word=word, life_percent=sata.life, rule=rule)


def _word_of(sata: Sata) -> tuple[Word, str]:
    if not sata.is_correct:
        return "Unknown", say("there is no SMART data, or it is the same as its thresholds")
    if not sata.is_ssd and not sata.thresholds_read:
        return "Unknown", say("a hard disk without thresholds")
    if sata.thresholds_wrong:
        known = say(
            "firmware {firmware} is known for wrong thresholds", firmware=sata.words.firmware
        )
        return "Unknown", known
    numbers = [row.number for row in sata.rows]
    twice = next((one for place, one in enumerate(numbers) if one in numbers[:place]), None)
    if twice is not None:
        return "Unknown", say("{number:02X}h stands there twice", number=twice)
    found = [one for row in sata.rows for one in (*_by_threshold(row, sata), *_by_rule(row, sata))]
    words: tuple[Word, ...] = ("Bad", "Caution")
    for word in words:
        rules = [rule for each, rule in found if each == word]
        if rules:
            return word, "; ".join(rules)
    if not _is_judged(sata):
        return "Unknown", say("it judges by nothing that this drive tells")
    return "Good", say("no value < its threshold, no sectors, enough life")


def _is_judged(sata: Sata) -> bool:
    if not sata.is_ssd:
        return any(row.number in SECTORS for row in sata.rows)
    return any(row.threshold or _judges_life(row, sata) for row in sata.rows)


def _by_threshold(row: Row, sata: Sata) -> list[tuple[Word, str]]:
    maker = sata.maker
    no_read_errors = maker.vendor == "sandforce" and (row.number, row.value) == (0x01, 0)
    stick = row.number == 0xE8 and maker.vendor == "sandisk" and maker.life == "none"
    if (
        (no_read_errors and not any(row.raw[:2]))
        or stick
        or row.number == _TEMPERATURE
        or (sata.is_ssd and sata.wide_raw)
        or not (sata.is_ssd or row.number in _JUDGED)
        or not row.value < row.threshold
    ):
        return []
    rule = say(
        "{number:02X}h: value {value} < threshold {threshold}",
        number=row.number, value=row.value, threshold=row.threshold,
    )  # fmt: skip
    return [("Bad", rule)]


def _by_rule(row: Row, sata: Sata) -> list[tuple[Word, str]]:
    if row.number in SECTORS:
        # Of the count only two bytes are looked at.
        count = row.low & 0xFFFF
        if sata.is_ssd or row.low == _NOT_COUNTED or count == 0:
            return []
        return [("Caution", say("{number:02X}h: raw {raw} >= 1", number=row.number, raw=count))]
    life = _life_judged(row, sata)
    if life is None:
        return []
    by_value = sata.maker.life not in ("raw", "100 - raw")
    judged_by_threshold = by_value and row.number not in (0xE6, 0xC9)
    if life == 0:
        return [("Bad", say("{number:02X}h: no life is left", number=row.number))]
    if judged_by_threshold and life < row.threshold:
        rule = say(
            "{number:02X}h: life {life} % < threshold {threshold} %",
            number=row.number, life=life, threshold=row.threshold,
        )  # fmt: skip
        return [("Bad", rule)]
    if life > CAUTION_PERCENT:
        return []
    rule = say(
        "{number:02X}h: life {life} % <= {limit} %",
        number=row.number, life=life, limit=CAUTION_PERCENT,
    )  # fmt: skip
    return [("Caution", rule)]


def _judges_life(row: Row, sata: Sata) -> bool:
    """Return whether the original judges a life by this attribute of this drive."""
    maker = sata.maker
    match row.number:
        case 0xA9:
            return has_short_a9(maker)
        case 0xE9 if maker.vendor == "samsung":
            return vendors.is_enterprise(sata.words.model)
        case _:
            return maker.vendor in _LIFE_AT.get(row.number, ())


def _life_judged(row: Row, sata: Sata) -> int | None:
    """Return the life that is judged, None where it is not."""
    maker = sata.maker
    if not _judges_life(row, sata):
        return None
    match row.number:
        case 0xE6 if maker.vendor in ("wdc", "sandisk"):
            return None if maker.life == "none" else min(HUNDRED, max(0, by_e6(row, maker)))
        case 0xE6 | 0xC9:
            return min(HUNDRED, row.value)
        case _:
            life = min(HUNDRED, by_byte(row, maker))
            # 100 less a raw value of 101 is the original's own sign of no life told.
            return None if life == -1 else life
