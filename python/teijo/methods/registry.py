"""All methods by name, and no more about them than that."""

from teijo.methods.knobs import unknown
from teijo.methods.method import Method
from teijo.methods.pts.campaign.method import Campaign
from teijo.methods.pts.campaign.plan import TESTS
from teijo.methods.quick.method import Quick
from teijo.methods.studies.block_size.method import BlockSize
from teijo.methods.studies.cache_overflow.method import CacheOverflow
from teijo.methods.studies.configuration.method import Configuration
from teijo.methods.studies.tier.method import Tier
from teijo.methods.workload import FreeWorkload

METHODS: tuple[Method, ...] = (
    Quick(),
    *TESTS.values(),
    Campaign(),
    FreeWorkload(),
    CacheOverflow(),
    BlockSize(),
    Tier(),
    Configuration(),
)


def method_named(name: str) -> Method:
    """Return the method of an id ("pts.iops") or of its last part ("iops").

    Raises:
        teijo.errors.PlanError: there is none of this name.
    """
    word = name.strip().lower()
    for method in METHODS:
        if word in (method.id, method.id.rpartition(".")[2]):
            return method
    ids = [method.id for method in METHODS]
    raise unknown("method", name, ids, [each.rpartition(".")[2] for each in ids])
