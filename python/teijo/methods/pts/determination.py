"""The PTS determination for numbers from anywhere: a spreadsheet, somebody's report, another tool.

Only the numbers are known here, so the pages say nothing of a device or of how it was prepared.
"""

from collections.abc import Mapping, Sequence

from teijo.analysis.steady_state import WINDOW_ROUNDS, Tracked, determine
from teijo.document.model import (
    Block,
    Column,
    Document,
    Header,
    Paragraph,
    Section,
    Table,
    Value,
    Verdict,
)
from teijo.document.phrase import say
from teijo.methods.pts import window_pages
from teijo.terms.finding import Findings, SteadyState, Window

METHOD = "pts.determination"
_CRITERION = (
    "Five consecutive rounds are steady when the largest minus the smallest value is at most "
    "20 % of their average, and the least-squares line over them rises or falls by at most 10 % "
    "of it (PTS 2.0.2, 2.1.24). Where several variables are tracked, all of them must be steady "
    "in one window."
)


def determination_of(values: Mapping[str, Sequence[float]], unit: str) -> tuple[SteadyState, ...]:
    """Return the determination of each named variable, over rounds numbered from 1.

    `values` have one length: a value per round. Windows end at the first in which all of them
    are steady.
    """
    lengths = {len(series) for series in values.values()}
    assert len(lengths) == 1, "a value per round and variable"
    tracked = [
        Tracked(variable=name, unit=unit, values=tuple(map(float, series)))
        for name, series in values.items()
    ]
    return determine(range(1, lengths.pop() + 1), tracked)


def determination_document(states: Sequence[SteadyState]) -> Document:
    """Return the report: the verdict, every window with its operands, and the pictures."""
    findings = _findings(states)
    blocks: tuple[Block, ...] = (
        _verdict(findings),
        Paragraph(text=_CRITERION),
        *(
            windows_table(state, say("{variable}: every window", variable=state.variable))
            for state in states
        ),
    )
    return Document(
        name="steady-state",
        header=Header(
            title="Steady state determination",
            subtitle="numbers as given",
            organisation="SNIA SSS PTS",
            revision="PTS 2.0.2",
            top=(("Rounds", str(findings.rounds)), ("Variables", str(len(states)))),
            groups=(),
        ),
        sections=(
            Section(title="Determination", blocks=blocks),
            window_pages.all_rounds_section(states, findings, "Round"),
            *(window_pages.close_up_section(state, "Round") for state in states),
        ),
    )


def windows_table(state: SteadyState, caption: str) -> Table:
    """Return a row per window that was looked at: both operands, both limits, both verdicts."""
    unit = state.unit
    rows: list[tuple[Value, ...]] = [_window_row(window) for window in state.windows]
    return Table(
        columns=(
            Column(name="Rounds"),
            Column(name="Average", unit=unit, digits=3),
            Column(name="Range", unit=unit, digits=3),
            Column(name="Range limit", unit=unit, digits=3),
            Column(name="Range", unit="%", digits=2),
            Column(name="Slope", unit=f"{unit}/round" if unit else "a round", digits=4),
            Column(name="Slope excursion", unit=unit, digits=3),
            Column(name="Slope limit", unit=unit, digits=3),
            Column(name="Slope excursion", unit="%", digits=2),
            Column(name="Steady"),
        ),
        rows=tuple(rows),
        caption=caption,
    )


def _window_row(window: Window) -> tuple[Value, ...]:
    return (
        f"{window.first_round}–{window.last_round}",
        window.average,
        window.range,
        window.range_limit,
        window_pages.share_percent(window.range, window.average),
        window.slope,
        window.slope_excursion,
        window.slope_limit,
        window_pages.share_percent(window.slope_excursion, window.average),
        _why(window),
    )


def _why(window: Window) -> str:
    match (window.range_ok, window.slope_ok):
        case (True, True):
            return "yes" if window.steady else "no: nothing was measured"
        case (False, True):
            return "no: range"
        case (True, False):
            return "no: slope"
        case _:
            return "no: range, slope"


def _findings(states: Sequence[SteadyState]) -> Findings:
    window = states[0].window
    return Findings(
        method=METHOD,
        spec="",
        converged=states[0].reached is not None,
        rounds=len(states[0].rounds),
        window_rounds=(window.first_round, window.last_round) if window else None,
        steady_states=tuple(states),
    )


def _verdict(findings: Findings) -> Verdict:
    count = findings.rounds
    if findings.converged:
        first, last = findings.window_rounds or (0, 0)
        text = say(
            "STEADY STATE: YES, rounds {first}–{last}; it stops at round {last}",
            first=first,
            last=last,
        )
        return Verdict(text=text, good=True)
    if count < WINDOW_ROUNDS:
        text = say("STEADY STATE: NO, {count} rounds; a window has five", count=count)
    else:
        text = say("STEADY STATE: NO, in none of the windows of {count} rounds", count=count)
    return Verdict(text=text, good=False)
