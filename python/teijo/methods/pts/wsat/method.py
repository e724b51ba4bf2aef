"""PTS WSAT, write saturation: one continuous random write from a fresh drive, a sample a minute,
until the version's stop rule. What a minute is and when to stop is in minutes, the report in pages.
"""

import math
from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import of_series
from teijo.analysis.saturation import Saturation, saturation_of
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.conformance.versions import SPECS, version_of
from teijo.document.model import Document
from teijo.methods import knobs
from teijo.methods.method import Method, Steps
from teijo.methods.phrases import histogram_run, is_steady, purge
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import FlatPtsFound
from teijo.methods.pts.loop import histogram_scalars
from teijo.methods.pts.wsat.minutes import (
    LEVEL_NAME,
    PLATEAU_NAME,
    Stop,
    WsatSettings,
    cell_name,
    check_answers,
    determinable,
    determination,
    minute,
    samples_of,
    standard,
    steady_since,
    stimulus,
    why_stop,
)
from teijo.methods.rounds import (
    Exchange,
    before_rounds,
    exchanges_of,
    histogram_run_of,
    minutes_of,
    rounds_left,
)
from teijo.terms.cell import mix_name
from teijo.terms.finding import Cell, Findings, Scalar, SteadyState
from teijo.terms.geometry import Geometry
from teijo.terms.quantity import IOPS, LATENCY, Quantity
from teijo.terms.record import Record
from teijo.terms.remark import Remark
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import HISTOGRAM, MINUTE, Step
from teijo.terms.watch import RoundsLeft, Watch


class WsatFound(FlatPtsFound[WsatSettings]):
    """What a record of Wsat shows."""

    @cached_property
    def findings(self) -> Findings:
        """Return the saturation curve's figures, and steady state where the version asks it.

        `rounds` and `window_rounds` count check minutes. `converged` is None where the version
        has no formal determination, or where another rule ended the run before it could be made.
        """
        settings, record = self.settings, self.record
        exchanges = exchanges_of(record)
        answers = [answer for _, answer in minutes_of(exchanges)]
        states = determination(settings, answers)
        checks = check_answers(settings, answers)
        window = states[0].window if states else None
        written = sum(measures.written_bytes(answer) for answer in answers)
        stop = why_stop(settings, record.geometry, answers, written)
        asked = stop is None or determinable(settings, answers)
        return Findings(
            method=record.run.method,
            spec=settings.spec,
            converged=is_steady(states) if settings.check_minutes and asked else None,
            rounds=len(checks),
            window_rounds=(window.first_round, window.last_round) if window else None,
            steady_states=states,
            scalars=(
                *_scalars(settings, record.geometry, answers, states),
                *_levels(settings, exchanges),
            ),
            cells=_cells(settings, answers, states),
        )

    @cached_property
    def watch(self) -> Watch:
        """Return where the run stands."""
        settings, record = self.settings, self.record
        answers = [answer for _, answer in minutes_of(exchanges_of(record))]
        return _watch(settings, record, answers)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """IOPS of the plateau, and IOPS and mean latency of the last fifth of the minutes."""
        answers = [answer for _, answer in minutes_of(self.exchanges)]
        curve = saturation_of(samples_of(answers))
        if curve is None:
            return ()
        last = answers[-max(5, math.ceil(len(answers) / 5)) :]
        return (
            *of_series("FOB plateau", answers[: curve.plateau_samples], (IOPS,)),
            *of_series("last fifth of the minutes", last, (IOPS, LATENCY), steady=self.converged),
        )


class Wsat(Method[WsatSettings, WsatFound]):
    """The method `pts.wsat`."""

    id = "pts.wsat"
    title = "Write Saturation"
    summary = "random writes from a fresh drive until it is saturated (SNIA PTS)"
    settings_type = WsatSettings
    found_type = WsatFound
    specs = SPECS
    # Write saturation is the enterprise drive's question: required there, optional for clients.
    default_spec = "2.0.2-enterprise"

    def settings(self, spec: str, overrides: Mapping[str, str], geometry: Geometry) -> WsatSettings:
        """Return the settings of a version on this device; see Method."""
        version = version_of(spec or self.default_spec)
        asked = knobs.parse_overrides(WsatSettings, overrides)
        asked = shared.with_pieces(asked, version, geometry)
        settings = knobs.changed(standard(version, geometry), asked)
        shared.check_blocks((settings.block_size_bytes,), geometry)
        shared.check_range(settings, geometry, settings.block_size_bytes)
        return settings

    def writes(self, settings: WsatSettings) -> bool:
        """Return whether the stimulus writes; the standard's does nothing else."""
        return settings.read_percent < 100

    def deviations(self, settings: WsatSettings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version; see Method."""
        version = version_of(settings.spec)
        ruled = standard(version, geometry)
        return tuple(shared.shared_deviations(settings, ruled, version, geometry))

    def steps(self, settings: WsatSettings, geometry: Geometry) -> Steps:
        """Purge, then write minute after minute, from the purge again after a gap; then the
        histogram's run, where there is one.
        """
        answers, stop = yield from _saturated(settings, geometry)
        if settings.histogram_minutes is not None:
            yield from histogram_run(
                stimulus(settings),
                settings.histogram_minutes * settings.minute_ns,
                cell=cell_name(settings),
            )
        return _ending(settings, answers, stop)

    def document(self, found: WsatFound) -> Document:
        """Return the report, in the standard's order of pages."""
        from teijo.methods.pts.wsat.pages import pages

        return pages(found)


def _saturated(
    settings: WsatSettings, geometry: Geometry
) -> Generator[Step, Answer, tuple[list[StepResult], Stop]]:
    """Write from the purge to a stop rule; return the unbroken minutes and the rule."""
    while True:
        yield from purge()
        answers: list[StepResult] = []
        written = 0
        while (stop := why_stop(settings, geometry, answers, written)) is None:
            answer = yield minute(settings, len(answers) + 1)
            if isinstance(answer, Gap):
                break
            answers.append(answer)
            written += measures.written_bytes(answer)
        if stop is not None:
            return answers, stop


def _ending(
    settings: WsatSettings, answers: Sequence[StepResult], stop: Stop
) -> Literal["steady", "not steady", "done"]:
    if not determinable(settings, answers):
        return "done"
    return "steady" if stop == "steady" else "not steady"


def _cells(
    settings: WsatSettings, answers: Sequence[StepResult], states: Sequence[SteadyState]
) -> tuple[Cell, ...]:
    window = states[0].window if is_steady(states) else None
    if window is not None:
        checks = check_answers(settings, answers)
        over, minutes = "check minutes", checks[window.first_round - 1 : window.last_round]
    else:
        over, minutes = f"last {WINDOW_ROUNDS} minutes", list(answers[-WINDOW_ROUNDS:])
    if not minutes:
        return ()
    labels = (
        ("r/w mix", mix_name(settings.read_percent)),
        ("block size", units.format_block_size(settings.block_size_bytes)),
        ("over", over),
    )
    return (measures.cell_over(labels, minutes),)


def _scalars(
    settings: WsatSettings,
    geometry: Geometry,
    answers: Sequence[StepResult],
    states: Sequence[SteadyState],
) -> tuple[Scalar, ...]:
    samples = samples_of(answers)
    curve = saturation_of(samples)
    rows: list[tuple[str, float | None, str]] = [] if curve is None else _curve_rows(curve)
    rows += [
        ("minutes measured", float(len(samples)), "min"),
        ("total written (TGBW)", samples[-1].written_bytes / 1e9 if samples else 0.0, "GB"),
        (
            "drive fills",
            samples[-1].written_bytes / geometry.capacity_bytes if samples else 0.0,
            "user capacities",
        ),
    ]
    since = steady_since(settings, states)
    window = states[0].window if is_steady(states) else None
    at = samples[since - 1] if since else None
    if settings.check_minutes is not None:
        rows += [
            ("steady state, mean of the window", window.average if window else None, "IOPS"),
            ("minutes to steady state", float(since) if since is not None else None, "min"),
            ("written to steady state", at.written_bytes / 1e9 if at else None, "GB"),
        ]
    tail = answers[-WINDOW_ROUNDS:]
    rows.append(
        (
            f"write amplification, last {WINDOW_ROUNDS} minutes",
            measures.write_amplification(tail),
            "",
        )
    )
    return tuple(Scalar(name=name, value=value, unit=unit) for name, value, unit in rows)


def _levels(settings: WsatSettings, exchanges: Sequence[Exchange]) -> tuple[Scalar, ...]:
    if settings.histogram_minutes is None:
        return ()
    return histogram_scalars(histogram_run_of(exchanges))


def _curve_rows(curve: Saturation) -> list[tuple[str, float | None, str]]:
    settled = curve.settled_samples
    return [
        (PLATEAU_NAME, curve.plateau_iops, "IOPS"),
        (LEVEL_NAME, curve.level_iops, "IOPS"),
        ("minutes of the FOB plateau", float(curve.plateau_samples), "min"),
        ("written on the FOB plateau", curve.plateau_bytes / 1e9, "GB"),
        ("highest minute", curve.peak_iops, "IOPS"),
        ("minutes until settled on that level", None if settled is None else float(settled), "min"),
        (
            "written until settled",
            None if curve.settled_bytes is None else curve.settled_bytes / 1e9,
            "GB",
        ),
    ]


def _watch(settings: WsatSettings, record: Record, answers: Sequence[StepResult]) -> Watch:
    done = len(answers)
    every = settings.check_minutes
    written = sum(measures.written_bytes(answer) for answer in answers)
    limit = settings.capacity_times * record.geometry.capacity_bytes
    # The capacity rule ends the run at the speed seen so far, unless it slows down further.
    by_capacity = done + 1 if not written else max(done, round(done * limit / written))
    by_steady = settings.minutes_most
    steady = ""
    if every is not None:
        checks = len(check_answers(settings, answers))
        by_steady = max(WINDOW_ROUNDS, checks + 1) * (every + 1)
        states = determination(settings, answers)
        count = checks if checks < WINDOW_ROUNDS else None
        steady = (
            f"{count} of the first {WINDOW_ROUNDS} check minutes"
            if count is not None
            else f"{sum(s.windows[-1].steady for s in states)} of 1 tracking variables steady"
        )
    least = max(min(settings.minutes_most, by_steady, by_capacity), done + 1)
    most = max(settings.minutes_most, done + 1)
    over = why_stop(settings, record.geometry, answers, written) is not None
    histogram_ns = (settings.histogram_minutes or 0) * settings.minute_ns
    watch = Watch(
        phase=HISTOGRAM if over else MINUTE,
        round_number=None if over else done + 1,
        rounds_least=None if over else least,
        rounds_most=None if over else most,
        rounds_left=None if over else _minutes_left(settings, answers, min(most, by_capacity)),
        cell=cell_name(settings),
        steady=steady,
        remaining_ns_least=histogram_ns + (0 if over else (least - done) * settings.minute_ns),
        remaining_ns_most=histogram_ns + (0 if over else (most - done) * settings.minute_ns),
    )
    return before_rounds(record, watch, 0)


def _minutes_left(
    settings: WsatSettings, answers: Sequence[StepResult], last_minute: int
) -> RoundsLeft | None:
    """Return the minutes still to come by the forecast; without steady state the run ends at
    `last_minute`.
    """
    if settings.check_minutes is None:
        return None
    every, done = settings.check_minutes + 1, len(answers)
    checked, limit = done // every, last_minute // every

    def minutes(checks: int) -> int:
        last = checked + checks
        return (last_minute if last == limit else last * every) - done

    return rounds_left(determination(settings, answers), limit_rounds=limit, counted=minutes)
