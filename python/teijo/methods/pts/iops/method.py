"""PTS IOPS: random I/O over a matrix of R/W mixes and block sizes, round after round, until the
tracking variables are in steady state. The matrix is in matrix, the report in pages.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from teijo import units
from teijo.analysis import measures
from teijo.document.model import Document
from teijo.errors import PlanError
from teijo.methods import knobs
from teijo.methods.method import Settings, Steps
from teijo.methods.phrases import is_steady, precondition, purge, rounds_until_steady
from teijo.methods.pts import settings as shared
from teijo.methods.pts.iops.matrix import (
    IopsSettings,
    cell_name,
    determination,
    dropped_blocks,
    matrix,
    preconditioning,
    standard,
    tracking_of,
    variable_name,
)
from teijo.methods.pts.ledger.ledger import with_ledger
from teijo.methods.pts.loop import rounds_watch, window_rounds_of, window_scalars
from teijo.methods.pts.versions import DEFAULT_SPEC, SPECS, version_of
from teijo.methods.rounds import Round, Rounds, before_rounds, exchanges_of, rounds_of
from teijo.terms.finding import Cell, Findings
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Precondition
from teijo.terms.watch import Watch


class Iops:
    """The method `pts.iops`."""

    id = "pts.iops"
    title = "IOPS"
    summary = "random IOPS over R/W mixes and block sizes, in steady state (SNIA PTS)"
    specs = SPECS
    default_spec = DEFAULT_SPEC

    def settings(self, spec: str, overrides: Mapping[str, str], geometry: Geometry) -> IopsSettings:
        """Return the settings of a version on this device; see Method."""
        version = version_of(spec)
        asked = knobs.parse_overrides(IopsSettings, overrides)
        asked = shared.with_pieces(asked, version, geometry)
        settings = knobs.changed(standard(version, geometry), asked)
        shared.check_blocks(settings.block_sizes_bytes, geometry)
        shared.check_blocks((settings.precondition_block_bytes,), geometry)
        shared.check_range(settings, geometry, max(settings.block_sizes_bytes))
        if not tracking_of(settings):
            wanted = ", ".join(variable_name(cell) for cell in version.tracking)
            raise PlanError(
                f"No tracking variable of {version.revision} is in this matrix ({wanted})",
                remedy="Keep at least the mix 0/100 and the block size 4KiB.",
            )
        return settings

    def settings_from(self, stored: Mapping[str, object]) -> IopsSettings:
        """Return the settings a run file holds."""
        return knobs.build(IopsSettings, stored)

    def writes(self, settings: Settings) -> bool:
        """Return True: the matrix and its preconditioning write."""
        settings = _own(settings)
        return settings.precondition_times > 0 or min(settings.mixes_read_percent) < 100

    def deviations(self, settings: Settings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version; see Method. More rounds than 25 are allowed."""
        settings = _own(settings)
        version = version_of(settings.spec)
        ruled = standard(version, geometry)
        if settings.rounds_most > ruled.rounds_most:
            ruled = knobs.changed(ruled, {"rounds_most": settings.rounds_most})
        remarks = shared.shared_deviations(settings, ruled, version, geometry)
        for block in dropped_blocks(geometry):
            remarks.append(
                Remark(
                    kind=RemarkKind.DEVIATION,
                    text=f"{units.format_block_size(block)} cells dropped: the device's logical "
                    f"block is {units.format_block_size(geometry.logical_block_bytes)}",
                )
            )
        missing = [cell for cell in version.tracking if cell not in tracking_of(settings)]
        for cell in missing:
            remarks.append(
                Remark(
                    kind=RemarkKind.DEVIATION,
                    text=f"tracking variable {variable_name(cell)} is not in the matrix: steady "
                    f"state is determined without it",
                )
            )
        return tuple(remarks)

    def steps(self, settings: Settings, geometry: Geometry) -> Steps:
        """Purge, precondition, and measure rounds until all tracking variables are steady."""
        settings = _own(settings)
        yield from purge()
        if settings.precondition_times:
            yield from precondition(*preconditioning(settings, geometry))
        states = yield from rounds_until_steady(
            partial(matrix, settings),
            judge=partial(determination, settings),
            limit_rounds=settings.rounds_most,
        )
        return "steady" if is_steady(states) else "not steady"

    def findings(self, record: Record) -> Findings:
        """Return the determination, and every cell over the measurement window.

        Without a window yet, cells are over the unbroken rounds there are, at most five.
        """
        settings = self.settings_from(record.run.settings)
        rounds = rounds_of(exchanges_of(record), len(matrix(settings, 1)))
        states = determination(settings, rounds)
        window = window_rounds_of(states, rounds)
        found = Findings(
            method=self.id,
            spec=settings.spec,
            converged=is_steady(states),
            rounds=len(rounds.whole),
            window_rounds=(window[0].number, window[-1].number) if window else None,
            steady_states=states,
            scalars=window_scalars(record, window),
            cells=_cells(settings, window),
        )
        return with_ledger(record, found)

    def watch(self, record: Record) -> Watch:
        """Return where the run stands; see Method."""
        settings = self.settings_from(record.run.settings)
        rounds = rounds_of(exchanges_of(record), len(matrix(settings, 1)))
        return _watch(settings, record, rounds)

    def document(self, record: Record, findings: Findings) -> Document:
        """Return the report, in the standard's order of pages."""
        from teijo.methods.pts.iops.pages import pages

        return pages(self.settings_from(record.run.settings), record, findings)


def _own(settings: Settings) -> IopsSettings:
    assert isinstance(settings, IopsSettings), type(settings)
    return settings


def _cells(settings: IopsSettings, window: Sequence[Round]) -> tuple[Cell, ...]:
    if not window:
        return ()
    return tuple(
        measures.cell_over(
            (
                ("r/w mix", knobs.show_mix(read_percent)),
                ("block size", units.format_block_size(block)),
            ),
            [each.at(cell_name(read_percent, block)) for each in window],
        )
        for read_percent in settings.mixes_read_percent
        for block in settings.block_sizes_bytes
    )


def _watch(settings: IopsSettings, record: Record, rounds: Rounds) -> Watch:
    states = determination(settings, rounds)
    watch = rounds_watch(matrix(settings, 1), rounds, states, settings.rounds_most)
    return before_rounds(record, watch, _volume_left(settings, record))


def _volume_left(settings: IopsSettings, record: Record) -> int:
    done = any(
        isinstance(each.step, Precondition) and isinstance(each.answer, StepResult)
        for each in record.steps
    )
    if done or not settings.precondition_times:
        return 0
    return preconditioning(settings, record.geometry)[1]
