"""PTS LAT: response times of random I/O, one outstanding at a time, round after round, until the
average of 4 KiB writes is in steady state; version 2.0 then runs once more for the histogram.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from teijo import units
from teijo.analysis import measures
from teijo.document.model import Document
from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.methods import knobs
from teijo.methods.method import Settings, Steps
from teijo.methods.phrases import (
    histogram_run,
    is_steady,
    precondition,
    purge,
    rounds_until_steady,
)
from teijo.methods.pts import settings as shared
from teijo.methods.pts.histogram_pages import five_nines_ms
from teijo.methods.pts.lat.matrix import (
    TRACKED,
    LatSettings,
    cell_name,
    determination,
    dropped_blocks,
    histogram_stimulus,
    latency_over,
    matrix,
    preconditioning,
    standard,
    stimulus_name,
)
from teijo.methods.pts.ledger.ledger import with_ledger
from teijo.methods.pts.loop import (
    histogram_scalars,
    rounds_watch,
    window_rounds_of,
    window_scalars,
)
from teijo.methods.pts.versions import DEFAULT_SPEC, SPECS, version_of
from teijo.methods.rounds import (
    HISTOGRAM,
    Round,
    before_rounds,
    exchanges_of,
    histogram_run_of,
    rounds_of,
)
from teijo.terms.finding import Cell, Findings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Precondition
from teijo.terms.watch import Watch

SELF_CHECK_NAME = "average latency × IOPS, the cell furthest from 1"


class Lat:
    """The method `pts.lat`."""

    id = "pts.lat"
    title = "Latency"
    summary = "response times at one outstanding I/O, in steady state (SNIA PTS)"
    specs = SPECS
    default_spec = DEFAULT_SPEC

    def settings(self, spec: str, overrides: Mapping[str, str], geometry: Geometry) -> LatSettings:
        """Return the settings of a version on this device; see Method."""
        version = version_of(spec)
        asked = knobs.parse_overrides(LatSettings, overrides)
        asked = shared.with_pieces(asked, version, geometry)
        settings = knobs.changed(standard(version, geometry), asked)
        blocks = settings.block_sizes_bytes
        shared.check_blocks((*blocks, settings.precondition_block_bytes), geometry)
        shared.check_range(settings, geometry, max(blocks))
        if (
            TRACKED.block_size_bytes not in blocks
            or TRACKED.read_percent not in settings.mixes_read_percent
        ):
            raise PlanError(
                "The tracking variable, RND 4 KiB 0/100, is not in this matrix",
                remedy="Keep at least the mix 0/100 and the block size 4KiB.",
            )
        return settings

    def settings_from(self, stored: Mapping[str, object]) -> LatSettings:
        """Return the settings a run file holds."""
        return knobs.build(LatSettings, stored)

    def writes(self, settings: Settings) -> bool:
        """Return True: the tracked cell writes."""
        _own(settings)
        return True

    def deviations(self, settings: Settings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version; see Method. More rounds than 25 are allowed."""
        settings = _own(settings)
        version = version_of(settings.spec)
        # The load of the preconditioning is the operator's choice, and so are further rounds.
        ruled = knobs.changed(
            standard(version, geometry),
            {
                "precondition_threads": settings.precondition_threads,
                "precondition_queue_depth": settings.precondition_queue_depth,
            },
        )
        if settings.rounds_most > ruled.rounds_most:
            ruled = knobs.changed(ruled, {"rounds_most": settings.rounds_most})
        dropped = tuple(
            Remark(
                kind=RemarkKind.DEVIATION,
                text=say(
                    "{block} cells dropped: the device's logical block is {logical}",
                    block=units.format_block_size(block),
                    logical=units.format_block_size(geometry.logical_block_bytes),
                ),
            )
            for block in dropped_blocks(geometry)
        )
        return (*shared.shared_deviations(settings, ruled, version, geometry), *dropped)

    def steps(self, settings: Settings, geometry: Geometry) -> Steps:
        """Purge, precondition, measure rounds until steady; then the histogram's run, if any."""
        settings = _own(settings)
        yield from purge()
        if settings.precondition_times:
            yield from precondition(*preconditioning(settings, geometry))
        states = yield from rounds_until_steady(
            partial(matrix, settings), judge=determination, limit_rounds=settings.rounds_most
        )
        if settings.histogram_minutes is not None:
            yield from histogram_run(
                histogram_stimulus(settings),
                settings.histogram_minutes * settings.minute_ns,
                cell=cell_name(TRACKED.read_percent, TRACKED.block_size_bytes),
            )
        return "steady" if is_steady(states) else "not steady"

    def findings(self, record: Record) -> Findings:
        """Return the determination, every cell over the window, and the histogram's levels.

        Without a window yet, cells are over the unbroken rounds there are, at most five.
        """
        settings = self.settings_from(record.run.settings)
        exchanges = exchanges_of(record)
        rounds = rounds_of(exchanges, len(matrix(settings, 1)))
        states = determination(rounds)
        window = window_rounds_of(states, rounds)
        found = Findings(
            method=self.id,
            spec=settings.spec,
            converged=is_steady(states),
            rounds=len(rounds.whole),
            window_rounds=(window[0].number, window[-1].number) if window else None,
            steady_states=states,
            scalars=(
                *_levels(settings, window, histogram_run_of(exchanges)),
                Scalar(name=SELF_CHECK_NAME, value=_self_check(window), unit=""),
                *window_scalars(record, window),
            ),
            cells=_cells(settings, window),
        )
        return with_ledger(record, found)

    def watch(self, record: Record) -> Watch:
        """Return where the run stands; see Method."""
        return _watch(self.settings_from(record.run.settings), record)

    def document(self, record: Record, findings: Findings) -> Document:
        """Return the report, in the standard's order of pages."""
        from teijo.methods.pts.lat.pages import pages

        return pages(self.settings_from(record.run.settings), record, findings)


def one_io_share(answer: StepResult) -> float | None:
    """Return average latency × IOPS: with one I/O outstanding it is the share of the time that
    it was, 1 but for the host's own pauses. None where no I/O completed.
    """
    if not answer.ios:
        return None
    return measures.latency_ns_mean(answer) / units.NS_PER_S * answer.iops


def furthest_share(answers: Iterable[StepResult]) -> float | None:
    """Return the share of the answer in which it is furthest from 1, None where none has I/Os."""
    shares = [share for each in answers if (share := one_io_share(each)) is not None]
    return max(shares, key=lambda share: abs(share - 1), default=None)


def _own(settings: Settings) -> LatSettings:
    assert isinstance(settings, LatSettings), type(settings)
    return settings


def _cells(settings: LatSettings, window: Sequence[Round]) -> tuple[Cell, ...]:
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
        if window
    )


def _self_check(window: Sequence[Round]) -> float | None:
    return furthest_share(answer for each in window for _, answer in each.cells)


def _levels(
    settings: LatSettings, window: Sequence[Round], run: StepResult | None
) -> tuple[Scalar, ...]:
    """Return 5 9s of the tracked cell over the window, and the levels of the histogram's run."""
    cell = cell_name(TRACKED.read_percent, TRACKED.block_size_bytes)
    stimulus = stimulus_name(TRACKED.read_percent, TRACKED.block_size_bytes)
    nines = five_nines_ms(latency_over(window, cell)) if window else None
    name = say("{stimulus}, 99.999 % (5 9s) over the window", stimulus=stimulus)
    found = Scalar(name=name, value=nines, unit="ms")
    return (found, *(histogram_scalars(run) if settings.histogram_minutes is not None else ()))


def _watch(settings: LatSettings, record: Record) -> Watch:
    exchanges = exchanges_of(record)
    rounds = rounds_of(exchanges, len(matrix(settings, 1)))
    states = determination(rounds)
    histogram_ns = (settings.histogram_minutes or 0) * settings.minute_ns
    watch = rounds_watch(matrix(settings, 1), rounds, states, settings.rounds_most)
    over = is_steady(states) or len(rounds.unbroken) >= settings.rounds_most
    if over:
        cell = cell_name(TRACKED.read_percent, TRACKED.block_size_bytes)
        watch = Watch(phase=HISTOGRAM, cell=cell, steady=watch.steady)
    watch = replace(
        watch,
        remaining_ns_least=watch.remaining_ns_least + histogram_ns,
        remaining_ns_most=watch.remaining_ns_most + histogram_ns,
    )
    return before_rounds(record, watch, _volume_left(settings, record))


def _volume_left(settings: LatSettings, record: Record) -> int:
    done = any(
        isinstance(each.step, Precondition) and isinstance(each.answer, StepResult)
        for each in record.steps
    )
    if done or not settings.precondition_times:
        return 0
    return preconditioning(settings, record.geometry)[1]
