"""The settings of the study `tier`. Working sets are those of the full-size device; a device
simulated at a scale has them divided by it. Times and rates are never scaled.
"""

from collections.abc import Mapping
from typing import Annotated, Final

from teijo import units
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.methods import forms, load
from teijo.methods.forms import Form, ascending, optional
from teijo.methods.knobs import Knob, meaning, parse_overrides
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


def _patterns(text: str) -> tuple[str, ...]:
    words = tuple(part.strip().lower() for part in text.split(",") if part.strip())
    unknown = [word for word in words if word not in PATTERNS]
    if unknown or not words or len(set(words)) < len(words):
        raise ValueError(f"it must name some of {', '.join(PATTERNS)}, each once")
    return words


def _device(text: str) -> str:
    word = text.strip()
    return word if word.startswith("sim:") else f"sim:{word}"


def _alone(which: str) -> str:
    return (
        f"the {which} device alone, of a simulated tier: its name as behind sim:, or none; "
        "unless set, the one that a simulated pair is made of"
    )


DEVICE: Final = optional(Form(_device), "")


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
        Knob(optional(ascending(forms.VOLUMES), ()), "sets=256GB,1TB,8TB", ("working_sets",)),
    ] = meaning(
        "working sets from LBA 0, or none: tier_size / 8, doubled up to 8 × tier_size; "
        "where that is none, 1/32 of the device, doubled up to all of it",
        (),
    )
    block_sizes_bytes: Annotated[
        tuple[int, ...],
        Knob(ascending(forms.BLOCK_SIZES), "block_sizes=4KiB,1MiB", ("bs", "block_size")),
    ] = meaning("block sizes", BLOCKS)
    patterns: Annotated[
        tuple[str, ...], Knob(Form(_patterns, ",".join), "patterns=randread,read", ("rw",))
    ] = meaning("orders and directions: some of randread, randwrite, read, write", tuple(PATTERNS))
    threads: load.Threads = 8
    queue_depth: load.QueueDepth = 8
    slice_ns: Annotated[int, Knob(forms.DURATION, "slice=10s")] = meaning(
        "how long a slice of a cell is; a cell is steady over five of them", units.NS_PER_S
    )
    slices_most: Annotated[int, Knob(forms.whole(WINDOW_ROUNDS, 100_000), "slices=100")] = meaning(
        "slices of a cell at most, if its rate is not steady before", 30
    )
    refine: Annotated[int, Knob(forms.whole(0, 20), "refine=0")] = meaning(
        "times the stretch with the cliff is halved by another working set", 3
    )
    fill_times: Annotated[int, Knob(forms.whole(0, 100), "fill=0")] = meaning(
        "times the largest set is written in order before; 0 where no pattern writes", 1
    )
    fast: Annotated[str, Knob(DEVICE, "fast=nvme-2tb")] = meaning(_alone("fast"), "")
    slow: Annotated[str, Knob(DEVICE, "slow=raid50-36")] = meaning(_alone("slow"), "")
    hook: Annotated[tuple[str, ...], Knob(forms.COMMAND, "hook=./pin-to-tier.sh")] = meaning(
        "program that makes a real target the tier, fast or slow alone, or none", ()
    )
    tier_bytes: Annotated[int | None, Knob(optional(forms.VOLUME), "tier_size=2TB")] = meaning(
        "what the fast tier holds, for sets and models, or none: the fast device's "
        "capacity; unless set, what a simulated pair says",
        None,
    )
    content: load.DataPattern = Content.RANDOM

    @property
    def stages(self) -> tuple[str, ...]:
        """The tier, and what it is made of as far as that can be had alone."""
        alone = [("fast", self.fast), ("slow", self.slow)]
        return ("tier", *(name for name, device in alone if device or self.hook))

    def sets_of(self, geometry: Geometry) -> tuple[int, ...]:
        """Return the working sets that lie on this device, in bytes of the full-size one."""
        all_bytes = geometry.nominal_capacity_bytes
        if self.sets_bytes:
            return tuple(each for each in self.sets_bytes if each <= all_bytes)
        base = _three_digits(self.tier_bytes or 0)
        about_tier = tuple(base * eighths // 8 for eighths in TIER_EIGHTHS)
        if base and about_tier[0] <= all_bytes:
            return tuple(each for each in about_tier if each <= all_bytes)
        return tuple(_rounded(all_bytes >> (SET_SHARES - 1 - place)) for place in range(SET_SHARES))


def asked_on(overrides: Mapping[str, str], facts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the overrides, and what a simulated pair says of itself and nobody has set.

    With a hook nothing is added: it is for a real target, which is no simulated pair.
    """
    asked = parse_overrides(TierSettings, overrides)
    if asked.get("hook") or any(fact not in facts for fact in OF_PAIR.values()):
        return overrides
    of_pair = {key: facts[fact].removesuffix(" bytes") for key, fact in OF_PAIR.items()}
    usual = ON_CACHE if OF_CACHE in facts else ON_PAIR
    added = {
        key: text
        for key, text in (usual | of_pair).items()
        # By field and not by key: a person may have written an alias.
        if not asked.keys() & parse_overrides(TierSettings, {key: text}).keys()
    }
    return added | dict(overrides)
