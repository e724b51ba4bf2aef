"""Whose SATA SSD the original takes a drive for: by its model, its firmware, and its first ids.

The rules are CrystalDiskInfo's (AtaSmart.cpp of 9.9.2, CheckSsdSupport), in its order: the first
that fits wins. They say what its names mean, in which unit it counts, and where its life is told.
"""

from dataclasses import dataclass
from typing import Final, Literal

Unit = Literal["unknown", "512 B", "1 MB", "16 MB", "32 MB", "GB"]
Life = Literal["value", "raw", "100 - raw", "raw word", "raw high", "none"]
"""Where the remaining life is: the value; the lowest raw byte, or 100 less it; 100 less a hundredth
of the lowest raw word; 100 less the second raw byte; nowhere."""


@dataclass(frozen=True, kw_only=True)
class Maker:
    """What the original takes a drive for.

    `mark` is what the disk list shows of it, `names` the table of its attributes' names.
    """

    vendor: str
    names: str
    unit: Unit = "unknown"
    life: Life = "value"
    nand_in_mb: bool = False

    @property
    def mark(self) -> str:
        """Two letters, empty of a drive that is nobody's."""
        return MARKS[self.vendor]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What makes a drive a maker's: all of what is given here must fit.

    A pattern has alternatives apart by `|`. Before one: `!` none of it, `~` whatever the case, `^`
    at the start, `>` after the start. `ids` are the first ids of its attributes, `..` any;
    `count` is how many it has. `code` is text at byte 400 of the SMART data.
    """

    maker: Maker
    model: tuple[str, ...] = ()
    firmware: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    count: int | None = None
    code: tuple[bytes, ...] = ()


HDD: Final = "hdd"
GENERAL: Final = "ssd"
MARKS: Final = {
    HDD: "", GENERAL: "", "mtron": "mt", "indilinx": "ix", "jmicron": "jm", "intel": "il",
    "samsung": "sg", "sandforce": "sf", "micron": "mi", "ocz": "oz", "seagate": "st", "wdc": "wd",
    "plextor": "px", "sandisk": "sd", "ocz vector": "oz", "toshiba": "to", "corsair": "co",
    "kingston": "ki", "micron mu03": "m3", "realtek": "re", "skhynix": "sk", "kioxia": "ki",
    "ssstc": "ss", "intel dc": "id", "apacer": "ap", "silicon motion": "sm", "phison": "ph",
    "marvell": "ma", "maxiotek": "mk", "ymtc": "ym", "scy": "sc", "recadata": "re",
    "sandisk dell": "", "sandisk hp": "", "sandisk hp venus": "", "sandisk lenovo": "",
    "sandisk lenovo venus": "", "sandisk cloud": "", "silicon motion cvc": "mc",
    "adata industrial": "ai",
}  # fmt: skip

_OLD: Final = (
    "~^OCZ|~^SPCC|~^PATRIOT|~SOLID|~SSD|~SILICONHARDDISK|~^PHOTOFAST|~^STT_FTM|~^SUPER TALENT"
    "|~^SANDFORCE|~^HANYE|~^INTEL|~^TOSHIBA THNS|~^CSSD"
)
"""Models that are SSDs though they do not say so."""
_ENTERPRISE: Final = "~SM863|~PM863|~SM883|~PM883|~SM843T|~PM853T|~MZ7KM|~MZ7KH|~MZ7LM|~MZ7LH"
"""Samsung's for servers, which tell their life by E9h."""


def _sandisk(
    *models: str, names: str, unit: Unit, life: Life = "raw high", vendor: str = "sandisk",
    ids: tuple[str, ...] = (), nand_in_mb: bool = False,
) -> Rule:  # fmt: skip
    maker = Maker(
        vendor=vendor, names=f"SmartSanDisk{names}", unit=unit, life=life, nand_in_mb=nand_in_mb
    )
    return Rule(maker=maker, model=("SanDisk|SD Ultra|SDLF1", *models), ids=ids)


def _kingston(model: str, names: str, unit: Unit = "GB", **more: object) -> Rule:
    life: Life = "raw" if more.pop("raw", False) else "value"
    maker = Maker(vendor="kingston", names=f"SmartKingston{names}", unit=unit, life=life)
    return Rule(maker=maker, model=("KINGSTON", model), **more)  # type: ignore[arg-type]


_SANDISK: Final = (
    # The X600 only where it is an M.2 2280.
    *(
        _sandisk(*models, names="Dell", unit="512 B", ids=(".. .. AF", ".. .. .. AF"))
        for models in (("X600", "2280"), ("X400|X300|X110|SD5",))
    ),
    _sandisk("X600", "2280", names="Gb", unit="512 B"),
    _sandisk("X400|X300|X110|SD5", names="Gb", unit="512 B"),
    _sandisk("Z400", names="Dell", unit="GB"),
    _sandisk(">1006", ">8U", names="HpVenus", unit="16 MB", vendor="sandisk hp venus"),
    _sandisk(">1006", names="Hp", unit="16 MB", vendor="sandisk hp"),
    _sandisk(
        "G1001", ">6S|>7S|>8U", names="LenovoHelenVenus", unit="GB", life="value",
        vendor="sandisk lenovo venus",
    ),
    _sandisk("G1001", "SD9SB", names="Gb", unit="GB", life="value", nand_in_mb=True),
    _sandisk("G1001", names="Lenovo", unit="GB", life="value", vendor="sandisk lenovo"),
    _sandisk("G1012|Z400s 2.5", names="Dell", unit="GB", vendor="sandisk dell"),
    _sandisk("SSD P4", names="", unit="512 B", life="none"),
    _sandisk("SDSSDP|SDSSDRC", names="", unit="512 B", life="raw word"),
    _sandisk("SSD U100|SSD U110|SSD i100|SSD i110|pSSD", names="", unit="512 B", life="none"),
    _sandisk(
        "SDLF1CRR-|SDLF1DAR-|SDLF1CRM-|SDLF1DAM-", names="Cloud", unit="GB", vendor="sandisk cloud"
    ),
    _sandisk(names="Gb", unit="GB"),
)  # fmt: skip


def _seagate(names: str, life: Life, model: tuple[str, ...] = (), ids: str = "") -> Rule:
    maker = Maker(vendor="seagate", names=f"SmartSeagate{names}", unit="GB", life=life)
    return Rule(maker=maker, model=model, ids=(ids,) if ids else ())


_IS_SEAGATE: Final = ("^Seagate|^ST|^ZA", "!^STT")
_SEAGATE: Final = (
    _seagate("IronWolf", "value", ids="01 05 09 0C 64 66 67 AA AB AC AD AE B1 B7 BB"),
    _seagate("", "raw", ids="01 09 0C 10 11 A8 AA AD AE B1 C0 C2 DA E7 E8 E9 EB F1 F2"),
    _seagate("BarraCuda", "raw", (*_IS_SEAGATE, "BarraCuda")),
    _seagate("", "value", (*_IS_SEAGATE, "HM|FP")),
    _seagate("", "raw", _IS_SEAGATE),
)

_JMICRON: Final = "01 02 03 05 07 08 09 0A 0C"
_INTEL: Final = "03 04 05 09 0C"
_MU03_512_B: Final = (
    "~^MICRON_M600|~^MICRON M600|~^MICRON_M550|~^MICRON M550|~^MICRON_M510|~^MICRON M510"
    "|~^MICRON_M500|~^MICRON M500|~^MICRON_1300|~^MICRON 1300|~^MICRON_1100|~^MICRON 1100|~^MTFDDA"
)
_MU03_32_MB: Final = (
    "~M500SSD|~MX500SSD|~BX500SSD|~MX300SSD|~BX300SSD|~MX200SSD|~BX200SSD|~MX100SSD|~BX100SSD"
    "|~^MTFD"
)
_MICRON_MODELS: Final = (
    "~^P600|~^C600|~^M6-|~^M600|~^P500|~^M5-|~^M500|~^P400|~^C400|~^M4-|~^M400|~^P300|~^C300"
    "|~^M3-|~^M300|~^CRUCIAL|~^MICRON|~^MTFD"
)
_MICRON: Final = Maker(vendor="micron", names="SmartMicron")
_OCZ: Final = Maker(vendor="ocz", names="SmartOcz")
_VECTOR: Final = Maker(vendor="ocz vector", names="SmartOczVector")
_SAMSUNG: Final = Maker(vendor="samsung", names="SmartSamsung")


def _hynix(life: Life, *models: str, unit: Unit = "GB") -> Rule:
    maker = Maker(vendor="skhynix", names="SmartSKhynix", unit=unit, life=life)
    return Rule(maker=maker, model=("SK hynix|^HFS|^SHG", *models))


def _wdc(unit: Unit, *models: str) -> Rule:
    maker = Maker(vendor="wdc", names="SmartWdc", unit=unit, life="raw high")
    return Rule(maker=maker, model=("^WDC |^WD ", *models))


def _toshiba(unit: Unit, *models: str) -> Rule:
    maker = Maker(vendor="toshiba", names="SmartToshiba", unit=unit)
    return Rule(maker=maker, model=("~TOSHIBA", *models))


_FIRST: Final = (
    Rule(
        maker=Maker(vendor="adata industrial", names="SmartAdataIndustrial", unit="512 B"),
        model=("~^ADATA_IM2S|~^ADATA_IMSS|~^ADATA_ISSS|~^IM2S|~^IMSS|~^ISSS",),
    ),
    *_SANDISK,
    _wdc("16 MB", "SA530"), _wdc("GB"),
    *_SEAGATE,
    Rule(maker=Maker(vendor="mtron", names="SmartMtron"), ids=("BB",), count=1),
    Rule(maker=Maker(vendor="mtron", names="SmartMtron"), model=("^MTRON",)),
    _toshiba("32 MB", "THNSNC|THNSNJ|THNSNK|KSG60|TL100|TR150|TR200"), _toshiba("GB"),
    Rule(
        maker=Maker(vendor="jmicron", names="SmartJMicron66x"),
        ids=(f"{_JMICRON} A7 A8 A9 AA AD AF",),
    ),
    Rule(maker=Maker(vendor="jmicron", names="SmartJMicron66x"), model=("^ADATA SU700",)),
    Rule(
        maker=Maker(vendor="jmicron", names="SmartJMicron61x"), ids=(f"{_JMICRON} A8 AF C0 C2",)
    ),
    Rule(maker=Maker(vendor="jmicron", names="SmartJMicron60x"), ids=("0C 09 C2 E5 E8 E9",)),
    Rule(maker=Maker(vendor="indilinx", names="SmartIndilinx"), ids=("01 09 0C B8 C3 C4",)),
    Rule(maker=Maker(vendor="intel dc", names="SmartIntelDc"), model=("INTEL SSDSCKHB",)),
    Rule(maker=Maker(vendor="intel", names="SmartIntel"), model=("~INTEL|~SOLIDIGM",)),
    Rule(
        maker=Maker(vendor="intel", names="SmartIntel"),
        ids=(f"{_INTEL} C0 E8 E9", f"{_INTEL} C0 E1", f"{_INTEL} AA AB AC"),
    ),
    Rule(
        maker=Maker(vendor="samsung", names="SmartSamsung", unit="GB"),
        ids=("05 09 0C AA AB AC AD AE B2 B4",),
    ),
    Rule(
        maker=_SAMSUNG,
        ids=(
            "09 0C B2 B3 B4", "09 0C B1 B2 B3 B4 B7", "09 0C AF B0 B1 B2 B3 B4",
            "05 09 0C B1 B3 B5 B6",
        ),
    ),
    Rule(maker=_SAMSUNG, model=("SAMSUNG|MZ-",)),
)  # fmt: skip

_MIDDLE: Final = (
    Rule(
        maker=Maker(vendor="micron mu03", names="SmartMicronMU03", unit="512 B"),
        model=(_MU03_512_B,),
    ),
    Rule(
        maker=Maker(vendor="micron mu03", names="SmartMicronMU03", unit="32 MB"),
        model=(_MU03_32_MB,), firmware=("!MU01",),
    ),
    Rule(maker=_MICRON, ids=("01 05 09 0C AA AB AC AD AE B5 B7",)),
    Rule(maker=_MICRON, model=(_MICRON_MODELS,)),
    Rule(maker=_MICRON, model=("~^C500",), firmware=("!^H",)),
    Rule(maker=_MICRON, model=("~^CT", "~SSD")),
    Rule(maker=Maker(vendor="sandforce", names="SmartSandForce"), model=("SandForce",)),
    Rule(
        maker=Maker(vendor="sandforce", names="SmartSandForce"),
        ids=(
            "01 05 09 0C 0D 64 AA", "01 05 09 0C AB AC", f"{_JMICRON} A7 A8 A9 AA AD AF B1",
        ),
    ),
    Rule(maker=_OCZ, model=("~^OCZ-TRION",)),
    Rule(maker=_OCZ, model=("~^OCZ",), ids=("01 03 04 05 09 0C E8 E9",)),
    Rule(maker=_VECTOR, model=("~^RADEON R7|~^OCZ|~^PANASONIC RP-SSB",)),
    Rule(maker=_VECTOR, ids=("05 09 0C AB AE C3 C4 C5 C6",)),
    Rule(maker=Maker(vendor="ssstc", names="SmartSsstc"), model=("CV8-|CVB-|ER2-",)),
    Rule(
        maker=Maker(vendor="plextor", names="SmartPlextor"),
        model=("^PLEXTOR|^LITEON|^CV6-CQ|^CSSD-S6T128NM3PQ|^CSSD-S6T256NM3PQ",),
    ),
    Rule(maker=Maker(vendor="plextor", names="SmartPlextor"), ids=("01 05 09 0C B1 B2 B5 B6",)),
    _kingston("SM2280|SEDC400|SKC310|SHSS|SUV300|SKC400", ""),
    _kingston("SA400", "SA400", firmware=("^03070009",)),
    _kingston("SA400", "SA400", raw=True),
    _kingston("KC600", "KC600", "32 MB"),
    _kingston("DC500", "DC500"),
    _kingston("SUV400|SUV500", "Suv"),
    Rule(
        maker=Maker(vendor="corsair", names="SmartCorsair", unit="1 MB"),
        model=("^Corsair", "Voyager GTX"),
    ),
    Rule(maker=Maker(vendor="corsair", names="SmartCorsair"), model=("^Corsair",)),
    Rule(
        maker=Maker(vendor="realtek", names="SmartRealtek", unit="GB"),
        ids=("01 05 09 0C A1 A2 A3 A4 A6 A7",),
    ),
    _hynix("100 - raw", "HFS", "TND"), _hynix("100 - raw", "HFS", "MND"),
    _hynix("raw", "HFS", "TNF"), _hynix("raw", "SC311|SC401", unit="512 B"), _hynix("value"),
    Rule(maker=Maker(vendor="kioxia", names="SmartKioxia", unit="32 MB"), model=("KIOXIA",)),
    Rule(
        maker=Maker(vendor="silicon motion cvc", names="SmartSiliconMotionCVC", unit="GB"),
        model=("CVC-",),
    ),
)  # fmt: skip

_SM_HEAD: Final = "01 05 09 0C A0 A1 A3 A4 A5 A6 A7"
# Longer patterns of the original begin with these, so they are in them.
_SM_IDS: Final = (
    _SM_HEAD, "01 05 09 0C 94 95 96 97 9F A0 A1", "01 05 09 0C A0 A1 A3 94 95 96 97",
)  # fmt: skip


def _motion(life: Life, **fits: tuple[str, ...] | tuple[bytes, ...]) -> Rule:
    maker = Maker(vendor="silicon motion", names="SmartSiliconMotion", unit="GB", life=life)
    return Rule(maker=maker, **fits)  # type: ignore[arg-type]


_PHISON: Final = "01 09 0C A8 AA AD C0"
_MARVELL_TAIL: Final = "05 09 0C A4 A5 A6 A7"


def _phison(life: Life, unit: Unit, model: str, firmware: str) -> Rule:
    return Rule(
        maker=Maker(vendor="phison", names="SmartPhison", unit=unit, life=life),
        model=(model,) if model else (), firmware=(firmware,) if firmware else (),
        ids=(f"{_PHISON} C2 DA E7 F1", f"{_PHISON} DA E7 F1"),
    )  # fmt: skip


def _maxio(unit: Unit, model: str, ids: tuple[str, ...] = (), firmware: str = "") -> Rule:
    return Rule(
        maker=Maker(vendor="maxiotek", names="SmartMaxiotek", unit=unit),
        model=(model,) if model else (), firmware=(firmware,) if firmware else (), ids=ids,
    )  # fmt: skip


def _marvell(unit: Unit, model: str, firmware: str) -> Rule:
    return Rule(
        maker=Maker(vendor="marvell", names="SmartMarvell", unit=unit),
        model=(model,), firmware=(firmware,) if firmware else (),
        ids=("05 09 0C A1 A4 A5 A6 A7", _MARVELL_TAIL),
    )  # fmt: skip


_LEXAR_32_MB: Final = "^SN0|^V6"
_LAST: Final = (
    *(
        _motion("value", ids=_SM_IDS, model=(model,), firmware=(firmware,) if firmware else ())
        for model, firmware in (
            ("^SSD", "^FW"), ("^WT200|^WT100|^WT ", ""), ("^tecmiyo", ""),
            ("^ADATA SU650", "^XD0R3C0A"),
        )
    ),
    _motion("raw", ids=_SM_IDS),
    _motion("raw", model=("^TS",), code=(b"TS", b"SM")),
    _motion("raw", model=("^ADATA SX950",)),
    _phison("value", "1 MB", "^aigo PSSD P6", "^S9"),
    _phison("value", "GB", "^aigo PSSD P6", ""),
    _phison("raw", "1 MB", "", "^S9"),
    _phison("raw", "GB", "", ""),
    _marvell("32 MB", "~^LEXAR", _LEXAR_32_MB), _marvell("GB", "!~^HANYE-Q55", ""),
    _maxio("GB", "~^MAXIO"),
    _maxio("512 B", "~^CUSO C5S-EVO"),
    _maxio("GB", "~^HANYE-Q55", (_MARVELL_TAIL,)),
    _maxio("32 MB", "~^LEXAR", ("05 09 0C A7 A8 A9",), _LEXAR_32_MB),
    _maxio("GB", "", ("05 09 0C A7 A8 A9",)),
    *(
        Rule(
            maker=Maker(vendor="apacer", names="SmartApacer", unit="512 B", life="raw"),
            model=models, firmware=firmware,
        )
        for models, firmware in ((("^Apacer|^ZADAK",), ()), ((), ("^AP|^SF|^PN",)))
    ),
    Rule(maker=Maker(vendor="ymtc", names="SmartYmtc", unit="512 B"), model=("ZHITAI",)),
    Rule(maker=Maker(vendor="scy", names="SmartScy", unit="32 MB"), model=("^SCY",)),
    Rule(maker=Maker(vendor="recadata", names="SmartRecadata", unit="GB"), model=("^RECADATA",)),
    Rule(maker=Maker(vendor=GENERAL, names="SmartSsd")),
)  # fmt: skip
RULES: Final = (*_FIRST, *_MIDDLE, *_LAST)
SPINNING: Final = Maker(vendor=HDD, names="Smart")


def maker_of(*, model: str, firmware: str, ids: tuple[int, ...], data: bytes) -> Maker:
    """Return whose SSD the original takes a drive for; `data` is its SMART data."""
    return next(rule.maker for rule in RULES if _fits(rule, model, firmware, ids, data))


def several(vendors: str) -> frozenset[str]:
    """Return vendors that are written with `|` between them."""
    return frozenset(vendors.split("|"))


def is_old_ssd(model: str) -> bool:
    """Return whether a model is known as an SSD by its name alone."""
    return _matches(_OLD, model)


def is_enterprise(model: str) -> bool:
    """Return whether a Samsung model is one for servers."""
    return _matches(_ENTERPRISE, model)


def _fits(rule: Rule, model: str, firmware: str, ids: tuple[int, ...], data: bytes) -> bool:
    return (
        all(_matches(one, model) for one in rule.model)
        and all(_matches(one, firmware) for one in rule.firmware)
        and (not rule.ids or any(_begins(ids, one) for one in rule.ids))
        and rule.count in (None, len(ids))
        and (not rule.code or data[400:402] in rule.code)
    )


def _begins(ids: tuple[int, ...], pattern: str) -> bool:
    wanted = pattern.split()
    return len(ids) >= len(wanted) and all(
        one in ("..", f"{found:02X}") for one, found in zip(wanted, ids, strict=False)
    )


def _matches(pattern: str, text: str) -> bool:
    if pattern.startswith("!"):
        return not _matches(pattern[1:], text)
    return any(_is_in(one, text) for one in pattern.split("|"))


def _is_in(one: str, text: str) -> bool:
    if one.startswith("~"):
        one, text = one[1:], text.upper()
    match one[:1]:
        case "^":
            return text.startswith(one[1:])
        case ">":
            return text.find(one[1:]) > 0
        case _:
            return one in text
