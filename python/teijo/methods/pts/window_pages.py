"""The pages of a steady state determination: verdict, all rounds, and the window close up."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from teijo.analysis.steady_state import line_at
from teijo.analysis.window_shares import range_percent, share_digits, slope_percent
from teijo.document.grid import Beside, Edge, Fields, Figure, Grid, Line, listing
from teijo.document.model import Column, Facts, Paragraph, Rule, Section, Span, Table, Verdict
from teijo.document.phrase import capitalised, say
from teijo.methods.pages import window_name
from teijo.methods.rounds import Rounds
from teijo.terms.finding import Determined, SteadyState, Window
from teijo.terms.record import Record

R = TypeVar("R")
WINDOW_NAME = "measurement window"
_MEASURED = {"MB/s": "Throughput", "ms": "Response time"}
"""What a tracking variable's unit is of; IOPS are a unit and its name in one."""
_FINE_DIGITS = {"ms": 4}
"""Digits more, of a unit in which a drive's numbers are far below one."""


def verdict_of(record: Record, findings: Determined, rounds_name: str = "rounds") -> Verdict:
    """Return the answer in one line: converged or not, and over which rounds."""
    window = window_name(findings)
    if findings.converged is None:
        return Verdict(text="STEADY STATE: not asked by this version", good=None)
    if findings.converged:
        text = say("STEADY STATE: YES, {rounds} {window}", rounds=rounds_name, window=window)
        return Verdict(text=text, good=True)
    count = findings.rounds
    name = rounds_name.removesuffix("s") if count == 1 else rounds_name
    counted = say("{count} {rounds}", count=count, rounds=name)
    if record.run.ending == "running":
        text = say("STEADY STATE: not yet, {counted} measured", counted=counted)
        return Verdict(text=text, good=None)
    # Not "NO": more rounds could still have been steady.
    if record.run.ending in ("interrupted", "failed"):
        text = say("STEADY STATE: not reached in the {counted} there are", counted=counted)
        return Verdict(text=text, good=None)
    if not findings.window_rounds:
        return Verdict(text=say("STEADY STATE: NO, after {counted}", counted=counted), good=False)
    text = say(
        "STEADY STATE: NO, after {counted}; {rounds} {window} are reported",
        counted=counted,
        rounds=rounds_name,
        window=window,
    )
    return Verdict(text=text, good=False)


def window_spans(findings: Determined) -> tuple[Span, ...]:
    """Return the window to shade over an axis of rounds."""
    if findings.window_rounds is None:
        return ()
    first, last = findings.window_rounds
    return (Span(name=WINDOW_NAME, first=float(first), last=float(last)),)


def broken_note(rounds: Rounds) -> str:
    """Say where an interruption lies among the rounds, nothing where there is none."""
    if not rounds.broken_after:
        return ""
    return say(
        "The run was interrupted after round {number}: the window cannot begin before the next "
        "one.",
        number=rounds.broken_after,
    )


def determination_table(states: Sequence[SteadyState]) -> Table:
    """Return one row per tracking variable: every operand and limit of the reported window.

    All variables of one determination have one unit.
    """
    unit = states[0].unit if states else ""
    digits = 2 + _FINE_DIGITS.get(unit, 0)
    reported = [state for state in states if state.window is not None]
    fields: Fields[SteadyState] = (
        ("Tracking variable", "", None, lambda state: state.variable),
        *window_fields(
            _window,
            shares=share_digits([_window(state) for state in reported]),
            unit=unit,
            per_round=say("{unit}/round", unit=unit),
            digits=digits,
            slope_digits=digits + 2,
        ),
        ("Steady", "", None, lambda state: "yes" if _window(state).steady else "no"),
    )
    return listing(reported, fields, caption="Determination of the steady state")


def _window(state: SteadyState) -> Window:
    assert state.window is not None, state.variable
    return state.window


def window_fields(
    of: Callable[[R], Window],
    *,
    shares: int,
    unit: str,
    per_round: str,
    digits: int,
    slope_digits: int,
) -> Fields[R]:
    """Return the columns of a table of windows: every operand and limit, `shares` with so many
    digits.
    """
    return (
        ("Rounds", "", None, lambda each: f"{of(each).first_round}–{of(each).last_round}"),
        ("Average", unit, digits, lambda each: of(each).average),
        ("Range", unit, digits, lambda each: of(each).range),
        ("Range limit", unit, digits, lambda each: of(each).range_limit),
        ("Range", "%", shares, lambda each: range_percent(of(each))),
        ("Slope", per_round, slope_digits, lambda each: of(each).slope),
        ("Slope excursion", unit, digits, lambda each: of(each).slope_excursion),
        ("Slope limit", unit, digits, lambda each: of(each).slope_limit),
        ("Slope excursion", "%", shares, lambda each: slope_percent(of(each))),
    )


def all_rounds_section(states: Sequence[SteadyState], findings: Determined, x_name: str) -> Section:
    """Return the tracking variables over all rounds, the window shaded."""
    title = "Steady state measurement window"
    if not states or not states[0].rounds:
        text = say("No whole {round} yet.", round=x_name.lower())
        return Section(title=title, blocks=(Paragraph(text=text),))
    lines = (
        Line(
            figure=Figure(
                name=state.variable, unit=state.unit, digits=1 + _FINE_DIGITS.get(state.unit, 0)
            ),
            name=state.variable,
            values=state.values,
        )
        for state in states
    )
    grid = Grid(rows=Edge(name=x_name, digits=0, places=states[0].rounds), columns=tuple(lines))
    chart = grid.chart(
        "Tracking variables",
        _tracked(states[0].unit),
        # 2.0's three variables, of 4 to 1024 KiB, lie an order of magnitude apart.
        log=len(states) > 1,
        table=grid.table("Tracking variables by round"),
        spans=window_spans(findings),
    )
    return Section(title=title, blocks=(chart,))


def close_up_section(state: SteadyState, x_name: str) -> Section:
    """Return one variable's window close up: the five points, the line, and the numbers."""
    title = say("Steady state window: {variable}", variable=state.variable)
    window = state.window
    if window is None:
        text = say("{count} unbroken rounds; a window has five.", count=len(state.rounds))
        return Section(title=title, blocks=(Paragraph(text=text),))
    unit, digits = state.unit, 3 + _FINE_DIGITS.get(state.unit, 0)
    numbers = tuple(range(window.first_round, window.last_round + 1))
    levels = (
        Rule(name="average", value=window.average, style="solid"),
        # The standard's plot has both lines; a point beyond one may pass: the range is judged.
        Rule(name="110 %", value=window.average * 1.1, style="dotted"),
        Rule(name="90 %", value=window.average * 0.9, style="dotted"),
    )
    grid = Grid(
        rows=Edge(name=x_name, digits=0, places=numbers),
        columns=(
            Line(figure=Figure(name="measured", unit=unit, digits=digits), values=window.values),
            Line(
                figure=Figure(name="least-squares line", unit=unit, digits=digits),
                values=tuple(line_at(window, number) for number in numbers),
                style="dashed",
            ),
            *(
                Beside(
                    column=Column(name=capitalised(level.name), unit=unit, digits=digits),
                    values=(level.value,) * len(numbers),
                )
                for level in levels
            ),
        ),
    )
    chart = grid.chart(
        capitalised(state.variable),
        _tracked(unit),
        rules=levels,
        note="The limits are on the range of the points (20 % of the average) and on the rise or "
        "fall of the line (10 %), not on the distance of a point from the average.",
    )
    chart = replace(chart, y=replace(chart.y, from_zero=False))
    return Section(title=title, blocks=(chart, window_facts(window, state.unit)))


def _tracked(unit: str) -> Figure:
    """Return what a tracking variable of a unit is."""
    return Figure(name=_MEASURED.get(unit, unit) or "Value", unit=unit)


def window_facts(window: Window, unit: str) -> Facts:
    """Return the numbers of one determination, with limit and verdict beside each."""
    digits = share_digits([window], least=4)

    def judged(value: float, share: float | None, limit: float, ok: bool) -> str:
        word = "PASS" if ok else "FAIL"
        if share is None:
            return say(
                "{value:,.6f}, allowed {limit:,.6f}: {word}", value=value, limit=limit, word=word
            )
        return say(
            "{value:,.6f} ({share:.{digits}f} % of the average), allowed {limit:,.6f}: {word}",
            value=value,
            share=share,
            digits=digits,
            limit=limit,
            word=word,
        )

    return Facts(
        caption="Determination",
        rows=(
            ("Average", f"{window.average:,.6f} {unit}"),
            ("110 % / 90 %", f"{window.average * 1.1:,.6f} / {window.average * 0.9:,.6f} {unit}"),
            ("Least-squares line", _equation(window)),
            (
                "Data excursion",
                judged(window.range, range_percent(window), window.range_limit, window.range_ok),
            ),
            (
                "Slope excursion",
                judged(
                    window.slope_excursion,
                    slope_percent(window),
                    window.slope_limit,
                    window.slope_ok,
                ),
            ),
            ("Steady state", "YES" if window.steady else "NO"),
        ),
    )


def _equation(window: Window) -> str:
    sign = "+" if window.intercept >= 0 else "−"
    slope = f"{window.slope:,.6f}".replace("-", "−")
    return f"{slope} · R {sign} {abs(window.intercept):,.6f}"
