"""The versions of the PTS as data: what differs between them, and nothing that runs.

Facts marked **Unverified** in the methods' pages could not be checked against the standard's text.
"""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from teijo.outside.names import unknown
from teijo.terms.cell import MatrixCell
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
HIR_BLOCK_BYTES = 4 * KIB

LATENCY_READ_PERCENTS = (100, 65, 0)
LATENCY_BLOCK_SIZES = tuple(round(kib * KIB) for kib in (8, 4, 0.5))
"""The LAT matrix in the mandated order: mixes outside, block sizes inside."""

THROUGHPUT_READ_PERCENTS = (100, 0)
"""The two cells of a TP round, in their order."""

DEMAND_LEVELS = (32, 16, 8, 6, 4, 2, 1)
"""Thread counts and queue depths of DIRTH and the composite workload, in their order."""

DIRTH_BLOCK_BYTES = 8 * KIB
DIRTH_READ_PERCENT = 65
COMPOSITE_READ_PERCENT = 40
COMPOSITE_BLOCKS = tuple(
    (round(kib * KIB), percent)
    for kib, percent in (
        *((0.5, 4), (1, 1), (1.5, 1), (2, 1), (2.5, 1), (3, 1), (3.5, 1), (4, 67)),
        *((8, 10), (16, 7), (32, 3), (64, 3)),
    )
)
"""(block size in bytes, percent of the accesses) of the composite workload."""

COMPOSITE_ZONES = ((50.0, 5.0), (30.0, 15.0), (20.0, 80.0))
"""(percent of the accesses, percent of the range), from LBA 0."""


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
class ThroughputRule:
    """TP: its block sizes, each a separate test with its own purge, and its load.

    `precondition_block_bytes` is None where a test is preconditioned with its own block size.
    """

    block_sizes_bytes: tuple[int, ...]
    load: LoadRule
    precondition_block_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class SaturationRule:
    """When WSAT stops: the first of these. With `check_minutes`, also at five-round steady state
    of the check minute that follows every so many minutes.
    """

    capacity_times: int
    minutes: int
    check_minutes: int | None


@dataclass(frozen=True, kw_only=True)
class DemandRule:
    """DIRTH and the composite workload: the latter's name, and their common minutes and limits.

    Steady state of the preconditioning is determined on the first of every
    `precondition_minutes`. `latency_limit_ns` is the ART that MaxIOPS stays below.
    """

    composite_name: Literal["ECW", "CBW"]
    precondition_minutes: int = 30
    prewrite_minutes: int = 5
    point_prewrite_minutes: int = 60
    histogram_minutes: int = 10
    latency_limit_ns: int = 5_000_000


@dataclass(frozen=True, kw_only=True)
class IdleRecoveryRule:
    """HIR: rounds of preconditioning to steady state, then bursts with idle time between them.

    Each wait state is `bursts` times `burst_s` of writing and one of `idle_s` of rest, and then
    `baseline_minutes` of writing without a rest.
    """

    round_minutes: int = 30
    rounds_most: int = ROUNDS_MOST  # unverified: one implementation writes for six hours
    burst_s: int = 5
    bursts: int = 360
    idle_s: tuple[int, ...] = (5, 10, 15, 25, 50)
    baseline_minutes: int = 30


@dataclass(frozen=True, kw_only=True)
class CrossStimulusRule:
    """XSR: sequential, random, sequential writes, each for so many minutes, at this load."""

    sequential_block_bytes: int = 1024 * KIB
    random_block_bytes: int = 8 * KIB
    first_minutes: int = 8 * 60
    random_minutes: int = 6 * 60
    last_minutes: int = 8 * 60
    load: LoadRule = LoadRule(threads=1, queue_depth=32, recommended=True)


@dataclass(frozen=True, kw_only=True)
class Version:
    """One version of the standard. `required` names its methods that are (None: unverified).

    `demand` is None where the version has neither DIRTH nor the composite workload;
    `histogram_minutes` where LAT and WSAT do not end with a run for the response-time histogram.
    """

    id: str
    revision: str
    family: Literal["enterprise", "client"]
    layout: Literal["1.0", "2.0"]
    write_cache: Literal["enabled", "disabled"]
    active_range: RangeRule
    load: LoadRule
    tracking: tuple[MatrixCell, ...]
    saturation: SaturationRule
    throughput: ThroughputRule
    required: frozenset[str] | None
    aliases: tuple[str, ...]
    idle_recovery: IdleRecoveryRule | None = None
    cross_stimulus: CrossStimulusRule | None = None
    demand: DemandRule | None = None
    histogram_minutes: int | None = None

    @property
    def class_name(self) -> str:
        """The class as titles write it."""
        return self.family.capitalize()


_ONE_VARIABLE = (MatrixCell(read_percent=0, block_size_bytes=4 * KIB),)
_THREE_VARIABLES = (
    *_ONE_VARIABLE,
    MatrixCell(read_percent=65, block_size_bytes=64 * KIB),
    MatrixCell(read_percent=100, block_size_bytes=1024 * KIB),
)
_WHOLE = RangeRule(share_percent=100, allowed_percents=(100,))
_LARGE, _MIDDLE = 1024 * KIB, 128 * KIB
# An implementation of 1.0 has these; the whitepaper on 1.0, errata included, has only two.
_FIVE_SIZES = tuple(round(kib * KIB) for kib in (1024, 64, 8, 4, 0.5))
# 1.x leaves the load to the operator: these are the whitepaper's examples.
_FREE_ENTERPRISE = LoadRule(threads=2, queue_depth=16, recommended=False)
_FREE_CLIENT = LoadRule(threads=1, queue_depth=8, recommended=False)
# What two implementations of 2.0.1 have, not read in the text.
_THROUGHPUT_LOAD = LoadRule(threads=1, queue_depth=32, recommended=True)
_FIRST = partial(
    Version,
    layout="1.0",
    tracking=_ONE_VARIABLE,
    saturation=SaturationRule(capacity_times=4, minutes=24 * 60, check_minutes=None),
)
_SECOND = partial(
    Version,
    revision="PTS 2.0.2",
    layout="2.0",
    tracking=_THREE_VARIABLES,
    # 6 h is what implementations of 2.0 have, not read in its text.
    saturation=SaturationRule(capacity_times=4, minutes=6 * 60, check_minutes=30),
    histogram_minutes=20,
    idle_recovery=IdleRecoveryRule(),
    cross_stimulus=CrossStimulusRule(),
    required=None,
    demand=DemandRule(composite_name="CBW"),
)
"""What both classes of an edition have alike."""

VERSIONS: tuple[Version, ...] = (
    _SECOND(
        id="2.0.2-client",
        family="client",
        write_cache="enabled",
        active_range=RangeRule(share_percent=75, allowed_percents=(75,)),
        load=LoadRule(threads=2, queue_depth=16, recommended=True),
        throughput=ThroughputRule(block_sizes_bytes=(_LARGE,), load=_THROUGHPUT_LOAD),
        aliases=("2.0.2", "2.0", "2.0.2-c", "2.0-client", "2.0-c", "c-2.0.2", "client"),
    ),
    _SECOND(
        id="2.0.2-enterprise",
        family="enterprise",
        write_cache="disabled",
        active_range=_WHOLE,
        load=LoadRule(threads=4, queue_depth=32, recommended=True),
        throughput=ThroughputRule(block_sizes_bytes=(_LARGE, _MIDDLE), load=_THROUGHPUT_LOAD),
        aliases=("2.0.2-e", "2.0-enterprise", "2.0-e", "e-2.0.2", "enterprise"),
    ),
    Version(
        id="1.1-enterprise",
        revision="PTS-E 1.1",
        family="enterprise",
        layout="2.0",  # the header that an implementation of 1.1 has
        write_cache="disabled",
        active_range=_WHOLE,
        load=_FREE_ENTERPRISE,
        tracking=_ONE_VARIABLE,
        # The check minute after every 30 is from two implementations, not from the text.
        saturation=SaturationRule(capacity_times=4, minutes=24 * 60, check_minutes=30),
        throughput=ThroughputRule(block_sizes_bytes=(_LARGE, _MIDDLE), load=_FREE_ENTERPRISE),
        idle_recovery=IdleRecoveryRule(),
        cross_stimulus=CrossStimulusRule(),
        required=None,
        aliases=("1.1", "1.1-e", "e-1.1", "pts-e-1.1"),
        demand=DemandRule(composite_name="ECW"),
    ),
    _FIRST(
        id="1.0-enterprise",
        revision="PTS-E 1.0",
        family="enterprise",
        write_cache="disabled",
        active_range=_WHOLE,
        load=_FREE_ENTERPRISE,
        throughput=ThroughputRule(
            block_sizes_bytes=_FIVE_SIZES,
            load=_FREE_ENTERPRISE,
            precondition_block_bytes=PRECONDITION_BLOCK_BYTES,
        ),
        required=frozenset({"pts.wsat", "pts.iops", "pts.tp", "pts.lat"}),
        aliases=("1.0-e", "e-1.0", "pts-e-1.0"),
    ),
    _FIRST(
        id="1.0-client",
        revision="PTS-C 1.0",
        family="client",
        write_cache="enabled",
        active_range=RangeRule(
            share_percent=100,
            allowed_percents=(75, 100),
            amount_bytes=16 * GIB,
            allowed_amounts_bytes=(8 * GIB, 16 * GIB),
            segments=2048,  # the whitepaper's
        ),
        load=_FREE_CLIENT,
        throughput=ThroughputRule(
            block_sizes_bytes=(_LARGE,),
            load=_FREE_CLIENT,
            precondition_block_bytes=PRECONDITION_BLOCK_BYTES,
        ),
        required=frozenset({"pts.iops", "pts.tp", "pts.lat"}),
        aliases=("1.0-c", "c-1.0", "pts-c-1.0", "1.x-client", "1.x-c", "1.2-client"),
    ),
)
SPECS = tuple(version.id for version in VERSIONS)
DEMAND_SPECS = tuple(version.id for version in VERSIONS if version.demand is not None)
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
