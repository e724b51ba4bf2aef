"""What the original works out of an ATA drive's bytes: whose it is, and the figures it prints.

As it stands once the program has begun (`/CopyExit`); CrystalDiskInfo 9.9.2, AtaSmart.cpp: AddDisk,
CheckSsdSupport. A figure that the original does not know is None.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from teijo.personas.crystaldiskinfo import vendors
from teijo.personas.crystaldiskinfo.ata_words import Words
from teijo.personas.crystaldiskinfo.attributes import Row, rows_of, with_thresholds
from teijo.personas.crystaldiskinfo.disk import Disk, signed_32
from teijo.personas.crystaldiskinfo.vendors import Maker, Unit, several

HUNDRED: Final = 100
BUGGY: Final = (
    ("OCZ-VERTEX3", "2.02", "sandforce"), ("OCZ-VERTEX2", "1.27", "sandforce"),
    ("SSD G2 Series", "3.6.5", ""),
)  # fmt: skip
"""Model, firmware and maker (any where empty) of drives whose thresholds are known to be wrong."""

BY_E7: Final = several(
    "sandforce|corsair|kingston|skhynix|realtek|sandisk|ssstc|apacer|jmicron|phison|seagate"
    "|maxiotek|ymtc|scy|recadata|adata industrial"
)
BY_CA: Final = several("micron|micron mu03|intel dc|silicon motion cvc")
BY_C9: Final = several("sandisk hp|sandisk hp venus")
_E9: Final = several("intel|ocz|ocz vector|skhynix")
BY_E9: Final = _E9 | {"sandisk lenovo venus"}
BY_E6: Final = several("wdc|sandisk|sandisk lenovo|sandisk dell")
_BY_UNIT: Final = several(
    "sandforce|ocz vector|corsair|kingston|realtek|wdc|ssstc|skhynix|seagate|marvell|maxiotek"
    "|ymtc|scy|recadata|micron mu03|sandisk hp|sandisk hp venus|sandisk lenovo"
    "|sandisk lenovo venus|sandisk dell|adata industrial"
)
_IN_MINUTES: Final = ("522ABBF0", "520I", "LB3I")
"""Firmware of Intel's that counts its hours in minutes."""
_INTEL_LEAST: Final = 0x0DA000
_INTEL_FIRST: Final = 0x0DA753
_GIB: Final = 2 * 1024 * 1024
"""Sectors of 512 bytes in what the original prints as a GB."""
_PER_GB: Final[dict[Unit, int]] = {"512 B": _GIB, "1 MB": 1024, "16 MB": 64, "32 MB": 32}
LOW: Final = 0
"""In the place of a divisor: the lowest four bytes are GB."""
UNIT: Final = -1
"""In the place of a divisor: as the maker's unit has it."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Where one figure is: the id, whose drives tell it there, and how many units make a GB.

    `unit` is one that the maker must have; empty any. `times` comes before the division.
    """

    name: str
    number: int
    makers: frozenset[str]
    per_gb: int
    unit: str = ""
    times: int = 1


def _figure(name: str, number: int, makers: str, per_gb: int, unit: str = "") -> Figure:
    return Figure(name=name, number=number, makers=several(makers), per_gb=per_gb, unit=unit)


_GB_AS_IT_IS: Final = "toshiba|silicon motion cvc|samsung|sandisk"
FIGURES: Final = (
    _figure("erased_gb", 0x64, "sandforce", LOW),
    _figure("wear_count", 0xB1, "samsung", LOW),
    _figure("host_reads_gb", 0xC6, "ocz vector", LOW),
    _figure("host_writes_gb", 0xC7, "ocz vector", LOW),
    _figure("host_writes_gb", 0xE1, "intel", 32),
    _figure("host_writes_gb", 0xE8, "ocz", _GIB),
    _figure("nand_writes_gb", 0xE9, "sandisk|sandisk lenovo|sandisk cloud", LOW, "GB"),
    _figure("nand_writes_gb", 0xE9, "plextor|kingston|wdc|ssstc|seagate|silicon motion cvc", LOW),
    _figure("nand_writes_gb", 0xE9, "jmicron|adata industrial", _GIB),
    _figure("nand_writes_gb", 0xE9, "maxiotek", _GIB, "512 B"),
    _figure("nand_writes_gb", 0xE9, "maxiotek", LOW),
    _figure("nand_writes_gb", 0xEA, "kingston|seagate", LOW),
    _figure("nand_writes_gb", 0xEA, "skhynix", LOW, "GB"),
    _figure("host_writes_gb", 0xEB, "intel dc", 32),
    _figure("host_writes_gb", 0xF1, _GB_AS_IT_IS, LOW, "GB"),
    _figure("nand_writes_gb", 0xF1, "intel dc", 32),
    _figure("host_writes_gb", 0xF1, "intel|toshiba|kioxia|silicon motion|plextor", 32),
    Figure(name="host_writes_gb", number=0xF1, makers=_BY_UNIT | {"phison"}, per_gb=UNIT),
    _figure("host_writes_gb", 0xF1, "samsung|apacer|jmicron|sandisk", _GIB),
    _figure("host_reads_gb", 0xF2, _GB_AS_IT_IS, LOW, "GB"),
    _figure("host_reads_gb", 0xF2, "intel|toshiba|silicon motion|plextor", 32),
    # Reads know no unit of 1 MB.
    Figure(name="host_reads_gb", number=0xF2, makers=_BY_UNIT, per_gb=LOW, unit="1 MB"),
    Figure(name="host_reads_gb", number=0xF2, makers=_BY_UNIT, per_gb=UNIT),
    _figure("host_reads_gb", 0xF2, "samsung|jmicron|sandisk", _GIB),
    _figure("nand_writes_gb", 0xF3, "intel", 32),
    # Of Micron's a page of 8 KiB.
    Figure(
        name="nand_writes_gb", number=0xF5, makers=frozenset({"micron"}), per_gb=1 << 20, times=8
    ),
    _figure("nand_writes_gb", 0xF5, "micron mu03|silicon motion|scy", 32),
    _figure("nand_writes_gb", 0xF5, "kingston", 32, "32 MB"),
    _figure("nand_writes_gb", 0xF5, "recadata", LOW),
    _figure("host_writes_gb", 0xF6, "micron|micron mu03", _GIB),
    _figure(
        "nand_writes_gb", 0xF9,
        "intel|realtek|wdc|sandisk hp|sandisk hp venus|sandisk lenovo venus", LOW,
    ),
    _figure("nand_writes_gb", 0xF9, "sandisk", LOW, "GB"),
    _figure("nand_writes_gb", 0xF9, "ocz vector", 1 << 16),
    _figure("nand_writes_gb", 0xFA, "realtek", LOW),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Sata:
    """An ATA drive as the original has it in mind. `told` are the figures by name.

    `life` is in percent, None where it shows none; `hours` and `starts` as they are printed.
    """

    words: Words
    maker: Maker
    is_ssd: bool
    rows: tuple[Row, ...]
    thresholds_read: bool
    is_correct: bool
    life: int | None = None
    hours: int | None = None
    starts: int = 0
    celsius: int | None = None
    told: dict[str, int] = field(default_factory=dict)

    @property
    def wide_raw(self) -> bool:
        """Whether its raw values have eight bytes and no thresholds."""
        return self.maker.names in ("SmartJMicron60x", "SmartIndilinx")

    @property
    def thresholds_wrong(self) -> bool:
        """Whether its firmware is known for wrong thresholds."""
        return any(
            self.words.model.startswith(model)
            and self.words.firmware.startswith(firmware)
            and maker in ("", self.maker.vendor)
            for model, firmware, maker in BUGGY
        )


def sata_of(disk: Disk) -> Sata:
    """Return what the original makes of an ATA drive's bytes."""
    words = Words(disk.identify)
    rows = rows_of(disk.smart) if words.smart else ()
    is_ssd = words.solid_state or bool(rows and vendors.is_old_ssd(words.model))
    maker = vendors.SPINNING
    if is_ssd and rows:
        ids = tuple(row.number for row in rows)
        maker = vendors.maker_of(
            model=words.model, firmware=words.firmware, ids=ids, data=disk.smart
        )
    # Thresholds that are the data itself are a layer between that answers the wrong thing.
    is_correct = bool(rows) and (disk.smart != disk.thresholds or maker.vendor == "indilinx")
    by_reserved = bool(disk.thresholds) and maker.vendor == "micron"
    return Sata(
        words=words,
        maker=maker,
        is_ssd=is_ssd,
        rows=with_thresholds(rows, disk.thresholds, by_reserved=by_reserved),
        thresholds_read=bool(disk.thresholds),
        is_correct=is_correct,
        life=_life(rows, maker, words.model),
        hours=_hours(rows, words) if is_correct else None,
        starts=_starts(rows) if is_correct else 0,
        celsius=_celsius(rows, maker, words) if is_correct else None,
        told=_figures(rows, maker),
    )


def _figures(rows: tuple[Row, ...], maker: Maker) -> dict[str, int]:
    told: dict[str, int] = {}
    for row in rows:
        for one in FIGURES:
            fits = one.number == row.number and maker.vendor in one.makers
            if fits and one.unit in ("", maker.unit):
                told[one.name] = _in_gb(row, one, maker)
                break
    # -1 is the original's own sign of what is not known.
    return {name: value for name, value in told.items() if value != -1}


def _in_gb(row: Row, figure: Figure, maker: Maker) -> int:
    per_gb = _PER_GB.get(maker.unit, LOW) if figure.per_gb == UNIT else figure.per_gb
    if per_gb == LOW:
        in_mb = figure.name == "nand_writes_gb" and figure.number == 0xE9 and maker.nand_in_mb
        return signed_32(row.low // 1024 if in_mb else row.low)
    return signed_32(row.count * figure.times // per_gb)


def _shown(value: int) -> int | None:
    return value if 0 < value <= HUNDRED else None


def _above_none(value: int) -> int | None:
    return value if value > 0 else None


def by_byte(row: Row, maker: Maker) -> int:
    """Return the life that E7h or A9h tells, in the way of its maker."""
    match maker.life:
        case "raw":
            return row.raw[0]
        case "100 - raw":
            return HUNDRED - row.raw[0]
        case "value" | "raw word" | "raw high" | "none":
            return row.value


def by_e6(row: Row, maker: Maker) -> int:
    """Return the life that E6h of WDC and SanDisk tells, without a bound."""
    if maker.life == "raw word":
        return HUNDRED - (row.raw[1] * 256 + row.raw[0]) // HUNDRED
    return HUNDRED - row.raw[1]


def has_short_a9(maker: Maker) -> bool:
    """Return whether A9h tells the life of a maker's drives."""
    short = maker.vendor == "kingston" and maker.unit == "32 MB"
    return short or maker.vendor in ("realtek", "silicon motion")


def _life_e6(row: Row, maker: Maker, model: str) -> int | None:
    if maker.vendor in ("sandisk lenovo", "sandisk dell"):
        return _bounded(row, maker, model)
    if maker.life == "none":
        return None
    return _above_none(row.value if maker.life == "value" else by_e6(row, maker))


def _life_e9(row: Row, maker: Maker, model: str) -> int | None:
    if maker.vendor == "samsung":
        enterprise = vendors.is_enterprise(model)
        return row.value if enterprise and row.value <= HUNDRED else None
    raw = maker.vendor in _E9 and maker.life == "raw"
    return _shown(row.raw[0] if raw else row.value)


def _bounded(row: Row, _maker: Maker, _model: str) -> int | None:
    """Return a life that its verdict has already brought between 0 and 100."""
    return min(HUNDRED, row.value)


def _by_value(row: Row, _maker: Maker, _model: str) -> int | None:
    return _shown(row.value)


_LIVES: Final[tuple[tuple[int, frozenset[str], Callable[[Row, Maker, str], int | None]], ...]] = (
    (0xAD, frozenset({"toshiba", "kioxia"}), lambda row, _m, _n: _shown(row.value - HUNDRED)),
    (0xB1, frozenset({"samsung"}), _by_value),
    (0xBB, frozenset({"mtron"}), _by_value),
    (0xC9, BY_C9, _bounded),
    (0xCA, BY_CA, _by_value),
    (0xD1, frozenset({"indilinx"}), _by_value),
    (0xE6, BY_E6, _life_e6),
    (0xE7, BY_E7, lambda row, maker, _n: _shown(by_byte(row, maker))),
    (0xE8, frozenset({"plextor"}), _by_value),
    (0xE9, BY_E9, _life_e9),
    # The original itself takes it of a Micron that has F2h.
    (0xF2, frozenset({"micron"}), _by_value),
    (0xF5, frozenset({"sandisk cloud"}), lambda row, _m, _n: row.value),
)


def _life(rows: tuple[Row, ...], maker: Maker, model: str) -> int | None:
    """Return the life that is shown: the last attribute that tells it counts."""
    life: int | None = None
    for row in rows:
        for number, makers, tell in _LIVES:
            if number == row.number and maker.vendor in makers:
                life = tell(row, maker, model)
        if row.number == 0xA9 and has_short_a9(maker):
            life = _shown(by_byte(row, maker))
        if row.number == 0xE9 and maker.vendor == "samsung" and vendors.is_enterprise(model):
            life = _life_e9(row, maker, model)
    return life


def _hours(rows: tuple[Row, ...], words: Words) -> int | None:
    found = [row.low for row in rows if row.number == 0x09]
    if not found:
        return None
    count = found[-1]
    if words.model.startswith("Intel"):
        if words.firmware.upper() in _IN_MINUTES:
            count //= 60
        elif count >= _INTEL_LEAST:
            # The lowest three bytes, counted from a fixed number on.
            count = max(0, (count & 0xFFFFFF) - _INTEL_FIRST)
    hours = signed_32(count // words.per_hour)
    return hours if hours >= 0 else None


def _starts(rows: tuple[Row, ...]) -> int:
    return next((row.low for row in reversed(rows) if row.number == 0x0C), 0)


def _celsius(rows: tuple[Row, ...], maker: Maker, words: Words) -> int | None:
    """Return the temperature that is shown, by the last attribute that tells one."""
    celsius: int | None = None
    for row in rows:
        lowest = row.raw[0]
        match row.number:
            case 0xBE if 0 < lowest < HUNDRED:
                celsius = lowest
            case 0xC2:
                if words.model.startswith("SAMSUNG SV") and (row.raw[1] or lowest > 70):
                    celsius = (row.raw[1] << 8 | lowest) // 10
                elif lowest:
                    celsius = lowest // 2 if words.doubled_temperature else lowest
            case _:
                continue
        if celsius is not None and celsius >= HUNDRED:
            celsius = None
    for row in rows:
        if row.number == 0xF3 and maker.vendor == "ymtc" and row.raw[0]:
            celsius = row.raw[0] if row.raw[0] < HUNDRED else None
    return celsius
