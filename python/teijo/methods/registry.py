"""All methods by name: what a list says of each, and the module it is in.

A method is loaded when it is asked for: a list of them, and a run of one, wait for no other.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from teijo.methods.method import AnyMethod

    METHODS: tuple[AnyMethod, ...]

_ENTERPRISE: Final = "2.0.2-enterprise"
_CLIENT: Final = "2.0.2-client"
_SINCE_1_1: Final = (_CLIENT, _ENTERPRISE, "1.1-enterprise")
_EVERY: Final = (*_SINCE_1_1, "1.0-enterprise", "1.0-client")


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a method is called and what it measures, known without loading it.

    `place` is the module below teijo.methods, and the class or the instance in it.
    """

    id: str
    title: str
    summary: str
    place: str
    specs: tuple[str, ...] = ()
    default_spec: str = ""


CARDS: Final = (
    Card(
        id="quick",
        title="Quick look",
        summary="a first look in about a minute: MB/s, IOPS and µs, sequential and random",
        place="quick.method:Quick",
    ),
    Card(
        id="pts.iops",
        title="IOPS",
        summary="random IOPS over R/W mixes and block sizes, in steady state (SNIA PTS)",
        place="pts.iops.method:Iops",
        specs=_EVERY,
        default_spec=_CLIENT,
    ),
    Card(
        id="pts.tp",
        title="Throughput",
        summary="sequential MB/s of large blocks, in steady state (SNIA PTS)",
        place="pts.tp.method:Tp",
        specs=_EVERY,
        default_spec=_CLIENT,
    ),
    Card(
        id="pts.lat",
        title="Latency",
        summary="response times at one outstanding I/O, in steady state (SNIA PTS)",
        place="pts.lat.method:Lat",
        specs=_EVERY,
        default_spec=_CLIENT,
    ),
    Card(
        id="pts.wsat",
        title="Write Saturation",
        summary="random writes from a fresh drive until it is saturated (SNIA PTS)",
        place="pts.wsat.method:Wsat",
        specs=_EVERY,
        default_spec=_ENTERPRISE,
    ),
    Card(
        id="pts.hir",
        title="Host Idle Recovery",
        summary="what a drive worn down by random writes makes of idle time (SNIA PTS)",
        place="pts.hir.method:Hir",
        specs=_SINCE_1_1,
        default_spec=_ENTERPRISE,
    ),
    Card(
        id="pts.xsr",
        title="Cross Stimulus Recovery",
        summary="whether sequential writes come back after hours of random ones (SNIA PTS)",
        place="pts.xsr.method:Xsr",
        specs=_SINCE_1_1,
        default_spec=_ENTERPRISE,
    ),
    Card(
        id="pts.cbw",
        title="Composite Block Size Workload",
        summary="demand under mixed block sizes with hot and cold ranges (SNIA PTS; ECW in 1.1)",
        place="pts.demand.method:CBW",
        specs=_SINCE_1_1,
        default_spec=_ENTERPRISE,
    ),
    Card(
        id="pts.dirth",
        title="Demand Intensity / Response Time Histogram",
        summary="IOPS and response times as demand grows, histograms at three loads (SNIA PTS)",
        place="pts.demand.method:DIRTH",
        specs=_SINCE_1_1,
        default_spec=_ENTERPRISE,
    ),
    Card(
        id="pts.all",
        title="All tests",
        summary="every test a version requires, one after the other, one report (SNIA PTS)",
        place="pts.campaign.method:Campaign",
        specs=_EVERY,
        default_spec=_CLIENT,
    ),
    Card(
        id="workload",
        title="Workload",
        summary="any one workload, in fio's words: rw, bs, threads, qd, seconds or bytes",
        place="workload.method:FreeWorkload",
    ),
    Card(
        id="cache-overflow",
        title="Cache overflow",
        summary="writes until a cache is full: how much it holds, and the rates before and after",
        place="studies.cache_overflow.method:CacheOverflow",
    ),
    Card(
        id="block-size",
        title="Block size",
        summary="IOPS and time per I/O by block size and load; infers the unit the device works in",
        place="studies.block_size.method:BlockSize",
    ),
    Card(
        id="tier",
        title="Tier",
        summary="fast storage before slow: to which working set it helps, and where it hurts",
        place="studies.tier.method:Tier",
    ),
    Card(
        id="configuration",
        title="Configurations",
        summary="a matrix of settings from a plan: which factor matters, in random order, repeated",
        place="studies.configuration.method:Configuration",
    ),
    Card(
        id="files",
        title="Files",
        summary="many small files in a directory: create, stat and delete, each one timed",
        place="files:FILES",
    ),
    Card(
        id="sql",
        title="SQL",
        summary="statements on an SQLite database: insert, select, update and delete, each timed",
        place="sql:SQL",
    ),
    Card(
        id="oltp",
        title="Transactions",
        summary="transactions at a fixed rate of arrival, on SQLite, MariaDB or PostgreSQL",
        place="oltp.method:Oltp",
    ),
    Card(
        id="classic.orion",
        title="Oracle ORION",
        summary="small random and large I/Os at growing loads, as Oracle's calibration tool does",
        place="classic.orion.method:Orion",
    ),
    Card(
        id="classic.crystaldiskmark",
        title="CrystalDiskMark",
        summary="CrystalDiskMark 3, 5 and 8: its passes and its score, and what the score hides",
        place="classic.crystaldiskmark.method:CrystalDiskMark",
    ),
    Card(
        id="classic.sqlio",
        title="SQLIO",
        summary="SQLIO v1.5's run: one kind of I/O, on a strip of 8 MB unless asked otherwise",
        place="classic.sqlio.method:Sqlio",
    ),
    Card(
        id="classic.diskspd",
        title="DiskSpd",
        summary="DiskSpd's run: one load behind a warm-up, its threads told apart",
        place="classic.diskspd.method:Diskspd",
    ),
    Card(
        id="classic.bonnie",
        title="Bonnie++",
        summary="a large file and many small ones, phase by phase, as Bonnie++ 1.03 to 2.00",
        place="classic.bonnie.method:Bonnie",
    ),
    Card(
        id="classic.tiotest",
        title="tiotest",
        summary="threads with a file each: write, random write, read, random read, as tiotest",
        place="classic.tiotest.method:Tiotest",
    ),
    Card(
        id="classic.tiobench",
        title="tiobench",
        summary="tiotest over sizes, blocks and numbers of threads, as tiobench.pl",
        place="classic.tiotest.method:Tiobench",
    ),
    Card(
        id="classic.sql-bench",
        title="sql-bench",
        summary="sql-bench's eight tests on SQLite, MariaDB or PostgreSQL, and what the disk did",
        place="classic.sql_bench.method:SqlBenchMethod",
    ),
)
"""One card a method, in the order of README.md; the classic tools as in docs/classic-tools.md."""


def method_named(name: str) -> "AnyMethod":
    """Return the method of an id or of its last part; see `card_named`."""
    return loaded(card_named(name))


def card_named(name: str) -> Card:
    """Return the card of an id ("pts.iops") or of its last part ("iops").

    Raises:
        teijo.errors.PlanError: there is none of this name.
    """
    word = name.strip().lower()
    for card in CARDS:
        if word in (card.id, card.id.rpartition(".")[2]):
            return card
    from teijo.outside.names import unknown

    ids = [card.id for card in CARDS]
    raise unknown("method", name, ids, [each.rpartition(".")[2] for each in ids])


@cache
def loaded(card: Card) -> "AnyMethod":
    """Return the method of a card, imported when it is first wanted."""
    module, _, name = card.place.partition(":")
    found = getattr(import_module(f"teijo.methods.{module}"), name)
    return cast("AnyMethod", found() if isinstance(found, type) else found)


def __getattr__(name: str) -> object:
    """Load every method, where all of them are wanted (PEP 562)."""
    if name == "METHODS":
        return tuple(map(loaded, CARDS))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
