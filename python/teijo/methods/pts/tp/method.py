"""PTS TP: sequential reads and writes, one test a block size, each with rounds until its writes
are in steady state. What it finds is in found, the report in pages.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from teijo.conformance.versions import LoadRule, Version
from teijo.document.phrase import say
from teijo.methods.method import Steps
from teijo.methods.phrases import is_steady
from teijo.methods.pts.matrix import RoundsMethod, until_steady, wipc
from teijo.methods.pts.tp.found import TpFound, TpSettings, cells, determination
from teijo.terms.geometry import Geometry


class Tp(RoundsMethod[TpSettings, TpFound]):
    """The method `pts.tp`."""

    id = "pts.tp"
    settings_type = TpSettings
    found_type = TpFound

    def in_rounds(self, version: Version) -> Mapping[str, Any]:
        """Return the block sizes, a test each, and that of the preconditioning."""
        rule = version.throughput
        return {
            "block_sizes_bytes": rule.block_sizes_bytes,
            # None from 1.1 on, the test's own: three programs agree, the whitepaper prints 128 KiB.
            "precondition_block_bytes": rule.precondition_block_bytes,
        }

    def free(self, settings: TpSettings, ruled: TpSettings) -> dict[str, object]:
        """Return that further rounds are allowed, and a part of the block sizes: each is a whole
        test with its own report.
        """
        free = super().free(settings, ruled)
        if set(settings.block_sizes_bytes) <= set(ruled.block_sizes_bytes):
            free["block_sizes_bytes"] = settings.block_sizes_bytes
        return free

    def load(self, version: Version) -> LoadRule:
        """Return the load of this test."""
        return version.throughput.load

    def dropped_words(self, block: str, logical: str) -> str:
        """Say that the test of a block size is left out."""
        return say(
            "the test of {block} is dropped: the device's logical block is {logical}",
            block=block,
            logical=logical,
        )

    def steps(self, settings: TpSettings, geometry: Geometry) -> Steps:
        """For each block size: purge, precondition, and measure rounds until it is steady."""
        steady = []
        for block in settings.block_sizes_bytes:
            # Each block size from its own purge on: the standard has a separate report for each.
            states = yield from until_steady(
                settings,
                wipc(settings, geometry, block),
                partial(cells, settings, block),
                partial(determination, block),
            )
            steady.append(is_steady(states))
        return "steady" if all(steady) else "not steady"
