"""PTS DIRTH and the composite workload: how a drive answers as demand grows, and how long its I/Os
take at three operating points. The settings are in settings, the steps in stages.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import of_intervals, of_rounds
from teijo.conformance.versions import DEMAND_SPECS, Version, version_of
from teijo.document.model import Document
from teijo.document.phrase import Verbatim, say
from teijo.errors import PlanError
from teijo.methods import knobs
from teijo.methods.method import Method, Steps
from teijo.methods.pages import ms
from teijo.methods.phrases import is_steady, purge, rounds_until_steady
from teijo.methods.pts import settings as shared
from teijo.methods.pts.demand.settings import (
    DemandSettings,
    dropped_blocks,
    standard,
)
from teijo.methods.pts.demand.stages import (
    PointRun,
    cell_name,
    cells_per_round,
    chosen_points,
    determination,
    in_flight_shares,
    measure_point,
    named_points,
    point_runs,
    precondition,
    precondition_determination,
    preconditioned,
    round_cells,
    sweep_cells,
    sweep_of,
    window_of,
)
from teijo.methods.pts.demand.watch import watch
from teijo.methods.pts.found import FlatPtsFound
from teijo.methods.pts.histogram_pages import five_nines_ms
from teijo.methods.pts.loop import window_scalars
from teijo.methods.rounds import Round, Rounds, exchanges_of, rounds_of
from teijo.terms.finding import Findings, Scalar, SteadyState
from teijo.terms.geometry import Geometry
from teijo.terms.quantity import IOPS, Quantity
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.watch import Watch


class DemandFound(FlatPtsFound[DemandSettings]):
    """What a record of Demand shows."""

    @cached_property
    def findings(self) -> Findings:
        """Return the determination, the sweep over the window, and what each point showed."""
        settings, record = self.settings, self.record
        exchanges = exchanges_of(record)
        rounds = rounds_of(exchanges, cells_per_round(settings))
        states = determination(settings, rounds)
        window = window_of(settings, rounds)
        return Findings(
            method=record.run.method,
            spec=settings.spec,
            converged=is_steady(states),
            rounds=len(rounds.whole),
            window_rounds=(window[0].number, window[-1].number) if window else None,
            steady_states=states,
            scalars=(
                *_point_scalars(point_runs(exchanges)),
                *_precondition_scalars(settings, preconditioned(exchanges)),
                *window_scalars(record, window),
                _in_flight_scalar(settings, window),
            ),
            cells=sweep_cells(settings, window),
        )

    @cached_property
    def watch(self) -> Watch:
        """Return where the run stands."""
        return watch(self.settings, self.record)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """IOPS of every point of the sweep, and IOPS and mean latency of the operating points."""
        settings = self.settings
        window = window_of(settings, rounds_of(self.exchanges, cells_per_round(settings)))
        quantities: list[Quantity] = []
        for place in sweep_of(settings):
            name = cell_name(*place)
            answers = [each.at(name) for each in window]
            quantities += of_rounds(Verbatim(name), answers, (IOPS,), steady=self.converged)
        for run in point_runs(self.exchanges):
            if run.histogram is not None:
                name = say("{point}IOPS", point=run.name)
                load = cell_name(run.threads, run.queue_depth)
                quantities += of_intervals(name, [run.histogram], steady=self.converged, load=load)
        return tuple(quantities)


class Demand(Method[DemandSettings, DemandFound]):
    """One of the two methods of this flow: `composite` has its stimulus from the version."""

    settings_type = DemandSettings
    found_type = DemandFound
    specs = DEMAND_SPECS
    # What a drive gives under many users is the enterprise's question; clients may ask it too.
    default_spec = "2.0.2-enterprise"

    def __init__(self, *, method_id: str, title: str, summary: str, composite: bool) -> None:
        """Name the method."""
        self.id = method_id
        self.title = title
        self.summary = summary
        self.composite = composite

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> DemandSettings:
        """Return the settings of a version on this device; see Method."""
        version = self._version(spec)
        asked = knobs.parse_overrides(DemandSettings, overrides)
        asked = shared.with_pieces(asked, version, geometry)
        ruled = standard(version, geometry, composite=self.composite)
        settings = knobs.changed(ruled, asked)
        shared.check_blocks(settings.block_sizes_bytes, geometry)
        shared.check_range(settings, geometry, max(settings.block_sizes_bytes))
        return settings

    def writes(self, settings: DemandSettings) -> bool:
        """Return whether it writes: the preconditioning and the pre-writes do nothing else."""
        before = settings.precondition_rounds_most + settings.prewrite_minutes
        return settings.read_percent < 100 or before + settings.point_prewrite_minutes > 0

    def deviations(self, settings: DemandSettings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version; see Method. More rounds than 25 are allowed.

        DIRTH's block size and mix are the operator's choice; the composite workload has none.
        """
        version = version_of(settings.spec)
        ruled = standard(version, geometry, composite=self.composite)
        free: dict[str, object] = {
            field: max(getattr(settings, field), getattr(ruled, field))
            for field in ("rounds_most", "precondition_rounds_most")
        }
        if not self.composite:
            free |= {"read_percent": settings.read_percent, "blocks": settings.blocks}
        remarks = shared.shared_deviations(settings, knobs.changed(ruled, free), version, geometry)
        for block in dropped_blocks(geometry) if self.composite else ():
            text = say(
                "{block} accesses dropped: the device's logical block is {logical}",
                block=units.format_block_size(block),
                logical=units.format_block_size(geometry.logical_block_bytes),
            )
            remarks.append(Remark(kind=RemarkKind.DEVIATION, text=text))
        return tuple(remarks)

    def steps(self, settings: DemandSettings, geometry: Geometry) -> Steps:
        """Purge, precondition, sweep until steady, then look closely at three points of it."""
        del geometry
        yield from purge()
        yield from precondition(settings)
        seen: list[Rounds] = []

        def judge(rounds: Rounds) -> tuple[SteadyState, ...]:
            seen.append(rounds)
            return determination(settings, rounds)

        states = yield from rounds_until_steady(
            partial(round_cells, settings), judge=judge, limit_rounds=settings.rounds_most
        )
        points = chosen_points(settings, window_of(settings, seen[-1]))
        if points is not None:
            for number, (name, point) in enumerate(named_points(points), start=1):
                yield from measure_point(settings, number, name, point)
        return "steady" if is_steady(states) else "not steady"

    def document(self, found: DemandFound) -> Document:
        """Return the report, in the standard's order of pages."""
        from teijo.methods.pts.demand.pages import pages

        return pages(self._names(version_of(found.settings.spec)), found)

    def _names(self, version: Version) -> tuple[str, str, str]:
        """Return the id, the title and the short name, which changed for the composite workload."""
        assert version.demand is not None, "the version has this test"
        if not self.composite:
            return self.id, self.title, "DIRTH"
        match version.demand.composite_name:
            case "ECW":
                # With the class before it: Enterprise Composite Workload.
                return self.id, "Composite Workload", "ECW"
            case "CBW":
                return self.id, self.title, "CBW"

    def _version(self, spec: str) -> Version:
        version = version_of(spec or self.default_spec)
        if version.demand is None:
            raise PlanError(
                f"{version.revision} has no such test as {self.id}.",
                remedy=f"It is in {', '.join(self.specs)}.",
            )
        return version


DIRTH = Demand(
    method_id="pts.dirth",
    title="Demand Intensity / Response Time Histogram",
    summary="IOPS and response times as demand grows, histograms at three loads (SNIA PTS)",
    composite=False,
)
CBW = Demand(
    method_id="pts.cbw",
    title="Composite Block Size Workload",
    summary="demand under mixed block sizes with hot and cold ranges (SNIA PTS; ECW in 1.1)",
    composite=True,
)


def _point_scalars(runs: Sequence[PointRun]) -> list[Scalar]:
    scalars = []
    for run in runs:
        if run.histogram is None:
            continue
        latency = measures.latency_of(run.histogram)
        rows = (
            (say("{point}: IOPS", point=run.name), run.histogram.iops, "IOPS"),
            (say("{point}: ART", point=run.name), ms(latency.mean_ns), "ms"),
            (say("{point}: 5 9s", point=run.name), five_nines_ms(latency), "ms"),
            (say("{point}: MRT", point=run.name), ms(latency.max_ns), "ms"),
        )
        scalars += [Scalar(name=name, value=value, unit=unit) for name, value, unit in rows]
    return scalars


def _precondition_scalars(settings: DemandSettings, minutes: Sequence[StepResult]) -> list[Scalar]:
    states = precondition_determination(settings, minutes)
    window = states[0].window if is_steady(states) else None
    return [
        Scalar(
            name="preconditioning, mean of its steady window",
            value=None if window is None else window.average,
            unit="IOPS",
        ),
        Scalar(name="minutes of preconditioning", value=float(len(minutes)), unit="min"),
    ]


def _in_flight_scalar(settings: DemandSettings, window: Sequence[Round]) -> Scalar:
    """Return how well the demand was kept up, where it was kept up worst."""
    shares = in_flight_shares(settings, window).values() if window else ()
    return Scalar(
        name="I/Os in flight by TOIO, farthest from 1 in the sweep",
        value=max(shares, key=lambda share: abs(share - 1), default=None),
        unit="",
    )
