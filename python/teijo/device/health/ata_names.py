"""Common names of SMART attributes, where most makers mean the same by a number.

What an attribute means is each maker's own; these are what the numbers are usually called.
"""

from typing import Final

NAMES: Final = {
    0x01: "raw read error rate", 0x02: "throughput performance", 0x03: "spin-up time",
    0x04: "starts and stops", 0x05: "reallocated sectors", 0x06: "read channel margin",
    0x07: "seek error rate", 0x08: "seek time performance", 0x09: "power-on hours",
    0x0A: "spin-up retries", 0x0B: "recalibration retries", 0x0C: "power cycles",
    0x0D: "soft read error rate", 0x16: "helium level", 0xAA: "available reserved space",
    0xAB: "program failures", 0xAC: "erase failures", 0xAD: "wear levelling",
    0xAE: "unexpected power losses", 0xB0: "erase failures (chip)", 0xB1: "wear levelling count",
    0xB2: "used reserved blocks (chip)", 0xB3: "used reserved blocks",
    0xB4: "unused reserved blocks", 0xB5: "program failures", 0xB6: "erase failures",
    0xB7: "SATA downshifts", 0xB8: "end-to-end errors", 0xBB: "reported uncorrectable errors",
    0xBC: "command time-outs", 0xBD: "high fly writes", 0xBE: "airflow temperature",
    0xBF: "shocks", 0xC0: "power-off retracts", 0xC1: "load cycles", 0xC2: "temperature",
    0xC3: "hardware ECC recovered", 0xC4: "reallocation events", 0xC5: "pending sectors",
    0xC6: "offline uncorrectable sectors", 0xC7: "interface CRC errors",
    0xC8: "write error rate", 0xC9: "soft read errors", 0xCA: "data address mark errors",
    0xCE: "flying height", 0xD2: "vibration during write", 0xE7: "life left",
    0xE8: "endurance remaining", 0xE9: "media wear-out", 0xEA: "average erases",
    0xEB: "good block count", 0xF0: "head flying hours", 0xF1: "host writes",
    0xF2: "host reads", 0xF3: "host writes, upper", 0xF4: "host reads, upper",
    0xF9: "NAND writes", 0xFA: "read error retries", 0xFE: "free falls",
}  # fmt: skip


def name_of(number: int) -> str:
    """Return the usual name of an attribute, "" where there is none."""
    return NAMES.get(number, "")
