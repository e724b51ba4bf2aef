"""The versions of the PTS as data: what differs between them, and nothing that runs.

Facts marked [M] in the methods' pages could not be checked against the standard's text.
"""

from dataclasses import dataclass
from typing import Literal

from teijo.methods.knobs import unknown
from teijo.units import GIB, KIB

READ_PERCENTS = (100, 95, 65, 50, 35, 5, 0)
"""R/W mixes in the mandated order, the outer loop of the IOPS matrix."""

BLOCK_SIZES = tuple(round(kib * KIB) for kib in (1024, 128, 64, 32, 16, 8, 4, 0.5))
"""Block sizes in the mandated order, the inner loop of the IOPS matrix."""

MINUTE_NS = 60_000_000_000
ROUNDS_MOST = 25
PRECONDITION_BLOCK_BYTES = 128 * KIB
PRECONDITION_TIMES = 2
WSAT_BLOCK_BYTES = 4 * KIB


@dataclass(frozen=True, kw_only=True)
class TrackingCell:
    """One cell of the matrix whose IOPS steady state is determined on."""

    read_percent: int
    block_size_bytes: int


@dataclass(frozen=True, kw_only=True)
class RangeRule:
    """Active range: the default, what else the version allows, and its amount and segments."""

    share_percent: int
    allowed_percents: tuple[int, ...]
    amount_bytes: int | None = None
    allowed_amounts_bytes: tuple[int | None, ...] = (None,)
    segments: int = 1


@dataclass(frozen=True, kw_only=True)
class LoadRule:
    """Threads × queue depth: the operator's choice in every version, recommended in some."""

    threads: int
    queue_depth: int
    recommended: bool


@dataclass(frozen=True, kw_only=True)
class SaturationRule:
    """When WSAT stops: the first of these. With `check_minutes`, also at five-round steady state
    of the check minute that follows every so many minutes.
    """

    capacity_times: int
    minutes: int
    check_minutes: int | None


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of the standard. `required` names its methods that are (None: unverified)."""

    id: str
    revision: str
    family: Literal["enterprise", "client"]
    layout: Literal["1.0", "2.0"]
    write_cache: Literal["enabled", "disabled"]
    active_range: RangeRule
    load: LoadRule
    tracking: tuple[TrackingCell, ...]
    saturation: SaturationRule
    required: frozenset[str] | None
    aliases: tuple[str, ...]

    @property
    def class_name(self) -> str:
        """The class as titles write it."""
        return self.family.capitalize()


_ONE_VARIABLE = (TrackingCell(read_percent=0, block_size_bytes=4 * KIB),)
_THREE_VARIABLES = (
    *_ONE_VARIABLE,
    TrackingCell(read_percent=65, block_size_bytes=64 * KIB),
    TrackingCell(read_percent=100, block_size_bytes=1024 * KIB),
)
_WHOLE = RangeRule(share_percent=100, allowed_percents=(100,))

VERSIONS: tuple[Version, ...] = (
    Version(
        id="2.0.2-client",
        revision="PTS 2.0.2",
        family="client",
        layout="2.0",
        write_cache="enabled",
        active_range=RangeRule(share_percent=75, allowed_percents=(75,)),
        load=LoadRule(threads=2, queue_depth=16, recommended=True),
        tracking=_THREE_VARIABLES,
        saturation=SaturationRule(capacity_times=4, minutes=6 * 60, check_minutes=30),
        required=None,
        aliases=("2.0.2", "2.0", "2.0.2-c", "2.0-client", "2.0-c", "c-2.0.2", "client"),
    ),
    Version(
        id="2.0.2-enterprise",
        revision="PTS 2.0.2",
        family="enterprise",
        layout="2.0",
        write_cache="disabled",
        active_range=_WHOLE,
        load=LoadRule(threads=4, queue_depth=32, recommended=True),
        tracking=_THREE_VARIABLES,
        saturation=SaturationRule(capacity_times=4, minutes=6 * 60, check_minutes=30),
        required=None,
        aliases=("2.0.2-e", "2.0-enterprise", "2.0-e", "e-2.0.2", "enterprise"),
    ),
    Version(
        id="1.1-enterprise",
        revision="PTS-E 1.1",
        family="enterprise",
        layout="2.0",
        write_cache="disabled",
        active_range=_WHOLE,
        load=LoadRule(threads=2, queue_depth=16, recommended=False),
        tracking=_ONE_VARIABLE,
        saturation=SaturationRule(capacity_times=4, minutes=24 * 60, check_minutes=30),
        required=None,
        aliases=("1.1", "1.1-e", "e-1.1", "pts-e-1.1"),
    ),
    Version(
        id="1.0-enterprise",
        revision="PTS-E 1.0",
        family="enterprise",
        layout="1.0",
        write_cache="disabled",
        active_range=_WHOLE,
        load=LoadRule(threads=2, queue_depth=16, recommended=False),
        tracking=_ONE_VARIABLE,
        saturation=SaturationRule(capacity_times=4, minutes=24 * 60, check_minutes=None),
        required=frozenset({"pts.wsat", "pts.iops"}),
        aliases=("1.0-e", "e-1.0", "pts-e-1.0"),
    ),
    Version(
        id="1.0-client",
        revision="PTS-C 1.0",
        family="client",
        layout="1.0",
        write_cache="enabled",
        active_range=RangeRule(
            share_percent=100,
            allowed_percents=(75, 100),
            amount_bytes=16 * GIB,
            allowed_amounts_bytes=(8 * GIB, 16 * GIB),
            segments=2048,
        ),
        load=LoadRule(threads=1, queue_depth=8, recommended=False),
        tracking=_ONE_VARIABLE,
        saturation=SaturationRule(capacity_times=4, minutes=24 * 60, check_minutes=None),
        required=frozenset({"pts.iops"}),
        aliases=("1.0-c", "c-1.0", "pts-c-1.0", "1.x-client", "1.x-c", "1.2-client"),
    ),
)
SPECS = tuple(version.id for version in VERSIONS)
DEFAULT_SPEC = "2.0.2-client"


def version_of(text: str) -> Version:
    """Return the version of a full id or a short form; the default for empty text.

    Raises:
        PlanError: no version has this name.
    """
    name = text.strip().lower() or DEFAULT_SPEC
    for version in VERSIONS:
        if name in (version.id, *version.aliases):
            return version
    raise unknown("version of the standard", text, SPECS)
