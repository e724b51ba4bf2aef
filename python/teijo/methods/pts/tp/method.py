"""PTS TP: sequential reads and writes, one test a block size, each with rounds until its writes
are in steady state. What it finds is in found, the report in pages.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from teijo.conformance import versions
from teijo.conformance.versions import LoadRule, Version
from teijo.document.phrase import say
from teijo.methods.method import Steps
from teijo.methods.phrases import is_steady, precondition, purge, rounds_until_steady
from teijo.methods.pts import settings as shared
from teijo.methods.pts.method import PtsMethod, more_rounds
from teijo.methods.pts.tp.found import TpFound, TpSettings, cells, determination, wipc
from teijo.terms.geometry import Geometry
from teijo.units import format_block_size


class Tp(PtsMethod[TpSettings, TpFound]):
    """The method `pts.tp`."""

    id = "pts.tp"
    settings_type = TpSettings
    found_type = TpFound

    def standard(self, version: Version, geometry: Geometry) -> TpSettings:
        """Return the settings as the version has them on this device, unchecked."""
        rule, logical = version.throughput, geometry.logical_block_bytes
        return TpSettings.model_validate(
            {
                **shared.shared_defaults(version, geometry, rule.load),
                "block_sizes_bytes": tuple(b for b in rule.block_sizes_bytes if not b % logical),
                "rounds_most": versions.ROUNDS_MOST,
                "precondition_times": versions.PRECONDITION_TIMES,
                "precondition_block_bytes": rule.precondition_block_bytes,
            }
        )

    def block_sizes_of(self, settings: TpSettings) -> tuple[int, ...]:
        """Return the block sizes, a test each."""
        return settings.block_sizes_bytes

    def check(self, settings: TpSettings, geometry: Geometry) -> None:
        """Make sure that the device serves the tests and their preconditioning."""
        super().check(settings, geometry)
        shared.check_blocks((settings.precondition_block_bytes or 0,), geometry)

    def free(self, settings: TpSettings, ruled: TpSettings) -> Mapping[str, object]:
        """Return that further rounds are allowed, and a part of the block sizes: each is a whole
        test with its own report.
        """
        free = more_rounds(settings, ruled)
        if set(settings.block_sizes_bytes) <= set(ruled.block_sizes_bytes):
            free["block_sizes_bytes"] = settings.block_sizes_bytes
        return free

    def load(self, version: Version) -> LoadRule:
        """Return the load of this test."""
        return version.throughput.load

    def dropped(self, version: Version, geometry: Geometry) -> Sequence[str]:
        """Return the tests that the device cannot serve (0.5 KiB on 4Kn)."""
        logical = geometry.logical_block_bytes
        return tuple(
            say(
                "the test of {block} is dropped: the device's logical block is {logical}",
                block=format_block_size(block),
                logical=format_block_size(logical),
            )
            for block in version.throughput.block_sizes_bytes
            if block % logical
        )

    def steps(self, settings: TpSettings, geometry: Geometry) -> Steps:
        """For each block size: purge, precondition, and measure rounds until it is steady."""
        steady = []
        for block in settings.block_sizes_bytes:
            yield from purge()
            if settings.precondition_times:
                yield from precondition(*wipc(settings, block, geometry))
            states = yield from rounds_until_steady(
                partial(cells, settings, block),
                judge=partial(determination, block),
                limit_rounds=settings.rounds_most,
            )
            steady.append(is_steady(states))
        return "steady" if all(steady) else "not steady"
