"""PTS DIRTH and the composite workload: how a drive answers as demand grows, and how long its I/Os
take at three operating points. What is driven is in stages, what it finds in found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from teijo.conformance import versions
from teijo.conformance.versions import Version, version_of
from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.methods.method import Steps
from teijo.methods.phrases import is_steady, purge, rounds_until_steady
from teijo.methods.pts.demand import stages
from teijo.methods.pts.demand.found import DemandFound
from teijo.methods.pts.demand.settings import DemandSettings
from teijo.methods.pts.method import PtsMethod, more_rounds
from teijo.methods.rounds import Rounds, over, window_rounds_of
from teijo.methods.workload import words as workload_words
from teijo.terms.finding import SteadyState
from teijo.terms.geometry import Geometry
from teijo.terms.workload import Access
from teijo.units import format_block_size


class Demand(PtsMethod[DemandSettings, DemandFound]):
    """One of the two methods of this flow: `composite` has its stimulus from the version."""

    settings_type = DemandSettings
    found_type = DemandFound
    specs = versions.DEMAND_SPECS
    # What a drive gives under many users is the enterprise's question; clients may ask it too.
    default_spec = "2.0.2-enterprise"

    def __init__(self, method_id: str, *, composite: bool) -> None:
        """Name the method."""
        self.id = method_id
        self.composite = composite

    def version(self, spec: str) -> Version:
        """Return the version by any of its names; see PtsMethod.version."""
        version = version_of(spec or self.default_spec)
        if version.demand is None:
            raise PlanError(
                f"{version.revision} has no such test as {self.id}.",
                remedy=f"It is in {', '.join(self.specs)}.",
            )
        return version

    def ruled(self, version: Version, geometry: Geometry) -> dict[str, Any]:
        """Return the levels, rounds and minutes, and the stimulus as this device can serve it.

        DIRTH's block size and mix are the operator's choice; these are common ones.
        """
        rule = version.demand
        assert rule is not None, "the version has this test"
        if self.composite:
            logical = geometry.logical_block_bytes
            # The others keep their weights among themselves; `dropped` remarks it.
            blocks = tuple(block for block in versions.COMPOSITE_BLOCKS if not block[0] % logical)
            mix = versions.COMPOSITE_READ_PERCENT
            access = workload_words.show_access(Access.ZONED, 0.0, versions.COMPOSITE_ZONES)
        else:
            blocks, mix = ((versions.DIRTH_BLOCK_BYTES, 1),), versions.DIRTH_READ_PERCENT
            access = workload_words.show_access(Access.RANDOM, 0.0, ())
        return {
            **asdict(rule),
            "read_percent": mix,
            "blocks": blocks,
            "access": access,
            "thread_counts": versions.DEMAND_LEVELS,
            "queue_depths": versions.DEMAND_LEVELS,
            "rounds_most": versions.ROUNDS_MOST,
            "precondition_rounds_most": versions.ROUNDS_MOST,
        }

    def check(self, settings: DemandSettings, geometry: Geometry) -> None:
        """See PtsMethod.check; zones are the whole range."""
        super().check(settings, geometry)
        workload_words.insist_whole_zones(settings.access)

    def block_sizes_of(self, settings: DemandSettings) -> tuple[int, ...]:
        """Return the block sizes of the stimulus."""
        return settings.block_sizes_bytes

    def writes(self, settings: DemandSettings) -> bool:
        """Return whether it writes: the preconditioning and the pre-writes do nothing else."""
        before = settings.precondition_rounds_most + settings.prewrite_minutes
        return settings.read_percent < 100 or before + settings.point_prewrite_minutes > 0

    def free(self, settings: DemandSettings, ruled: DemandSettings) -> Mapping[str, object]:
        """Return that further rounds are allowed, and that the block size and the mix of DIRTH are
        the operator's; the composite workload has none to choose.
        """
        rounds = more_rounds(settings, ruled)
        rounds |= more_rounds(settings, ruled, "precondition_rounds_most")
        if self.composite:
            return rounds
        return {**rounds, "read_percent": settings.read_percent, "blocks": settings.blocks}

    def dropped(self, version: Version, geometry: Geometry) -> Sequence[str]:
        """Return the block sizes of the composite workload that the device cannot serve."""
        del version
        logical = geometry.logical_block_bytes
        return tuple(
            say(
                "{block} accesses dropped: the device's logical block is {logical}",
                block=format_block_size(block),
                logical=format_block_size(logical),
            )
            for block, _ in versions.COMPOSITE_BLOCKS
            if self.composite and block % logical
        )

    def steps(self, settings: DemandSettings, geometry: Geometry) -> Steps:
        """Purge, precondition, sweep until steady, then look closely at three points of it."""
        del geometry
        yield from purge(settings.purge)
        yield from stages.precondition(settings)
        seen: list[Rounds] = []

        def judge(rounds: Rounds) -> tuple[SteadyState, ...]:
            # The points are chosen from the rounds, of which the phrase returns the states alone.
            seen.append(rounds)
            return stages.determination(settings, rounds)

        states = yield from rounds_until_steady(
            partial(stages.round_cells, settings), judge=judge, limit_rounds=settings.rounds_most
        )
        window = window_rounds_of(states, seen[-1])
        points = stages.chosen_points(settings, over(window, stages.sweep_of(settings)))
        for number, (name, point) in enumerate(stages.named_points(points), start=1):
            yield from stages.measure_point(settings, number, name, point)
        return "steady" if is_steady(states) else "not steady"


DIRTH = Demand("pts.dirth", composite=False)
CBW = Demand("pts.cbw", composite=True)
