"""The settings of the study `tier`. Working sets are those of the full-size device; a device
simulated at a scale has them divided by it. Times and rates are never scaled.
"""

from collections.abc import Mapping
from typing import Annotated, Final

from teijo import units
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.errors import PlanError
from teijo.methods import knobs
from teijo.methods.knobs import Knob
from teijo.methods.pts import settings as shared
from teijo.methods.settings import Settings
from teijo.terms.geometry import Geometry
from teijo.terms.workload import Access, Content

PATTERNS: Final[dict[str, tuple[Access, int]]] = {
    "randread": (Access.RANDOM, 100),
    "randwrite": (Access.RANDOM, 0),
    "read": (Access.SEQUENTIAL, 100),
    "write": (Access.SEQUENTIAL, 0),
}
"""Order and read percent of fio's words."""
BLOCKS: Final = (4 * units.KIB, 64 * units.KIB, 256 * units.KIB, units.MIB)
SET_SHARES: Final = 6
"""Working sets by default: from 1/32 of the device, each twice the last, to all of it."""
TIER_EIGHTHS: Final = tuple(1 << place for place in range(7))
"""Working sets by default where the tier's size is known: from 1/8 of it to eight times it."""
OF_PAIR: Final = {"fast": "fast", "slow": "slow", "tier_size": "holds"}
"""Settings that follow from a simulated pair, and the facts of it that say them."""
ON_PAIR: Final = {"slice": "100ms", "slices": "15", "refine": "2", "fill": "1"}
"""Of a simulated pair, whose seconds are computed and on which nothing lies before the study."""
ON_CACHE: Final = ON_PAIR | {"slice": "2s", "block_sizes": "4KiB,1024KiB"}
"""Of a pair that fills by what misses it: it warms up for longer than slices of a pair are."""
OF_CACHE: Final = "promote_reads"
"""The fact that only such a pair has."""


def _sets(text: str) -> tuple[int, ...]:
    return () if text.strip().lower() == "none" else tuple(sorted(knobs.sizes(text)))


def show_volume(value: object) -> str:
    """Show bytes as `knobs.size` reads them back, in decimal units where they are whole."""
    assert value is None or isinstance(value, int)
    for unit, name in ((units.TERA, "TB"), (units.GIGA, "GB"), (units.MEGA, "MB")):
        if value and value % unit == 0:
            return f"{value // unit}{name}"
    return knobs.show_size(value)


def _show_sets(value: object) -> str:
    assert isinstance(value, tuple)
    return ",".join(map(show_volume, value)) or "none"


def _patterns(text: str) -> tuple[str, ...]:
    words = tuple(part.strip().lower() for part in text.split(",") if part.strip())
    unknown = [word for word in words if word not in PATTERNS]
    if unknown or not words or len(set(words)) < len(words):
        raise ValueError(f"it must name some of {', '.join(PATTERNS)}, each once")
    return words


def _show_words(value: object) -> str:
    assert isinstance(value, tuple)
    return ",".join(value)


def _device(text: str) -> str:
    word = text.strip()
    if word.lower() == "none":
        return ""
    return word if word.startswith("sim:") else f"sim:{word}"


def _alone(which: str, example: str) -> Knob:
    """Return the knob of one of the two devices that a simulated tier is made of."""
    return Knob(
        key=which,
        meaning=f"the {which} device alone, of a simulated tier: its name as behind sim:, or none; "
        "unless set, the one that a simulated pair is made of",
        example=example,
        parse=_device,
        show=lambda value: str(value) or "none",
    )


def _rounded(size_bytes: int) -> int:
    """Return a volume without odd bytes: down to whole GB, of small ones to whole MiB."""
    grain = units.GIGA if size_bytes >= 10 * units.GIGA else units.MIB
    return max(grain, size_bytes // grain * grain)


def _three_digits(size_bytes: int) -> int:
    """Return a volume without odd bytes: down to three digits."""
    grain: int = 10 ** max(0, len(str(size_bytes)) - 3)
    return size_bytes // grain * grain


class TierSettings(Settings, frozen=True):
    """Working sets by block sizes by patterns, on the tier and on what it is made of."""

    sets_bytes: Annotated[
        tuple[int, ...],
        Knob(
            key="sets",
            aliases=("working_sets",),
            meaning="working sets from LBA 0, or none: tier_size / 8, doubled up to 8 × tier_size; "
            "where that is none, 1/32 of the device, doubled up to all of it",
            example="256GB,1TB,8TB",
            parse=_sets,
            show=_show_sets,
        ),
    ] = ()
    block_sizes_bytes: Annotated[
        tuple[int, ...],
        Knob(
            key="block_sizes",
            aliases=("bs", "block_size"),
            meaning="block sizes",
            example="4KiB,1MiB",
            parse=knobs.block_sizes,
            show=knobs.show_sizes,
        ),
    ] = BLOCKS
    patterns: Annotated[
        tuple[str, ...],
        Knob(
            key="patterns",
            aliases=("rw",),
            meaning="orders and directions: some of randread, randwrite, read, write",
            example="randread,read",
            parse=_patterns,
            show=_show_words,
        ),
    ] = tuple(PATTERNS)
    threads: shared.Threads = 8
    queue_depth: shared.QueueDepth = 8
    slice_ns: Annotated[
        int,
        Knob(
            key="slice",
            meaning="how long a slice of a cell is; a cell is steady over five of them",
            example="10s",
            parse=knobs.duration,
            show=knobs.show_duration,
        ),
    ] = units.NS_PER_S
    slices_most: Annotated[
        int,
        Knob(
            key="slices",
            meaning="slices of a cell at most, if its rate is not steady before",
            example="100",
            parse=knobs.whole_number(WINDOW_ROUNDS, 100_000),
        ),
    ] = 30
    refine: Annotated[
        int,
        Knob(
            key="refine",
            meaning="times the stretch with the cliff is halved by another working set",
            example="0",
            parse=knobs.whole_number(0, 20),
        ),
    ] = 3
    fill_times: Annotated[
        int,
        Knob(
            key="fill",
            meaning="times the largest set is written in order before; 0 where no pattern writes",
            example="0",
            parse=knobs.whole_number(0, 100),
        ),
    ] = 1
    fast: Annotated[str, _alone("fast", "nvme-2tb")] = ""
    slow: Annotated[str, _alone("slow", "raid50-36")] = ""
    hook: Annotated[
        tuple[str, ...],
        Knob(
            key="hook",
            meaning="program that makes a real target the tier, fast or slow alone, or none",
            example="./pin-to-tier.sh",
            parse=knobs.command,
            show=knobs.show_command,
        ),
    ] = ()
    tier_bytes: Annotated[
        int | None,
        Knob(
            key="tier_size",
            meaning="what the fast tier holds, for sets and models, or none: the fast device's "
            "capacity; unless set, what a simulated pair says",
            example="2TB",
            parse=knobs.optional(knobs.size),
            show=show_volume,
        ),
    ] = None
    content: shared.DataPattern = Content.RANDOM

    @property
    def writes(self) -> bool:
        """Whether anything is written."""
        return self.fill_times > 0 or any(PATTERNS[word][1] < 100 for word in self.patterns)

    @property
    def stages(self) -> tuple[str, ...]:
        """The tier, and what it is made of as far as that can be had alone."""
        alone = [("fast", self.fast), ("slow", self.slow)]
        return ("tier", *(name for name, device in alone if device or self.hook))

    def sets_of(self, geometry: Geometry) -> tuple[int, ...]:
        """Return the working sets that lie on this device, in bytes of the full-size one."""
        whole = geometry.nominal_capacity_bytes
        if self.sets_bytes:
            return tuple(each for each in self.sets_bytes if each <= whole)
        base = _three_digits(self.tier_bytes or 0)
        about_tier = tuple(base * eighths // 8 for eighths in TIER_EIGHTHS)
        if base and about_tier[0] <= whole:
            return tuple(each for each in about_tier if each <= whole)
        return tuple(_rounded(whole >> (SET_SHARES - 1 - place)) for place in range(SET_SHARES))


def asked_on(overrides: Mapping[str, str], facts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the overrides, and what a simulated pair says of itself and nobody has set.

    With a hook nothing is added: it is for a real target, which is no simulated pair.
    """
    asked = knobs.parse_overrides(TierSettings, overrides)
    if asked.get("hook") or any(fact not in facts for fact in OF_PAIR.values()):
        return overrides
    of_pair = {key: facts[fact].removesuffix(" bytes") for key, fact in OF_PAIR.items()}
    usual = ON_CACHE if OF_CACHE in facts else ON_PAIR
    added = {
        key: text
        for key, text in (usual | of_pair).items()
        if not asked.keys() & knobs.parse_overrides(TierSettings, {key: text}).keys()
    }
    return added | dict(overrides)


def settings_of(overrides: Mapping[str, str], geometry: Geometry) -> TierSettings:
    """Return the settings that `--set` asks for on this device.

    Raises:
        PlanError: an unknown key, a bad value, sets or blocks that the device cannot serve.
    """
    asked = knobs.parse_overrides(TierSettings, overrides)
    patterns = asked.get("patterns", tuple(PATTERNS))
    assert isinstance(patterns, tuple)
    if all(PATTERNS[word][1] == 100 for word in patterns):
        asked.setdefault("fill_times", 0)
    settings = TierSettings.model_validate(asked)
    blocks = tuple(sorted(settings.block_sizes_bytes))
    settings = knobs.changed(settings, {"block_sizes_bytes": blocks})
    shared.check_blocks(settings.block_sizes_bytes, geometry)
    if settings.hook and (settings.fast or settings.slow):
        raise PlanError(
            "The setting hook is given with fast or slow, and a device is real or simulated",
            remedy="Set hook for a real target, fast and slow for a simulated one.",
        )
    sets = settings.sets_of(geometry)
    dropped = [each for each in settings.sets_bytes if each not in sets]
    if dropped or not sets:
        raise PlanError(
            f"A working set of {show_volume(max(dropped, default=0))} does not lie on "
            f"{units.format_capacity(geometry.nominal_capacity_bytes)}",
            remedy="Set smaller sets, or take a larger device.",
        )
    if sets[0] / geometry.scale < 2 * blocks[-1]:
        raise PlanError(
            f"Blocks of {units.format_block_size(blocks[-1])} have no choice of places in a set of "
            f"{show_volume(sets[0])} at 1:{geometry.scale:g}",
            remedy="Set smaller block_sizes or larger sets.",
        )
    return settings
