"""The PTS determination for numbers from anywhere: a spreadsheet, somebody's report, another tool.

Only the numbers are known here, so the pages say nothing of a device or of how it was prepared.
"""

import numbers
from collections.abc import Mapping, Sequence
from decimal import Decimal

from teijo import units
from teijo.analysis.steady_state import WINDOW_ROUNDS, Number, Tracked, determine
from teijo.analysis.window_shares import share_digits
from teijo.document.grid import Fields, listing
from teijo.document.model import Block, Document, Header, Paragraph, Section, Table, Verdict
from teijo.document.phrase import say
from teijo.errors import UsageError
from teijo.methods.pts import window_pages
from teijo.terms.finding import Findings, SteadyState, Window

METHOD = "pts.determination"
# The text says "less than" and "no more than" of the same limits: one met exactly passes.
_CRITERION = (
    "Five consecutive rounds are steady when the largest minus the smallest value is at most "
    "20 % of their average, and the least-squares line over them rises or falls by at most 10 % "
    "of it (PTS 2.0.2, 2.1.24). Where several variables are tracked, all of them must be steady "
    "in one window."
)


def determination_of(
    values: Mapping[str, Sequence[Number]], unit: str = ""
) -> tuple[SteadyState, ...]:
    """Return the determination of each named variable, over rounds numbered from 1.

    `values` have one length: a value per round. They are judged as exact numbers, a float as the
    decimal it prints as, so that no unit decides. Windows end at the first in which all variables
    are steady.

    Raises:
        UsageError: there are no values, unequally many, or one that no measurement has.
    """
    if not isinstance(values, Mapping):
        raise UsageError(
            f"The values are a {type(values).__name__}, not named",
            remedy='Name them, one series a variable: {"IOPS": [1660, 1702, …]}',
        )
    if not values:
        raise UsageError("No values are given", remedy='Give some by name: {"IOPS": [1660, …]}')
    series = {name: tuple(each) for name, each in values.items()}
    lengths = {name: len(each) for name, each in series.items()}
    if not all(lengths.values()):
        empty = ", ".join(str(name) for name, length in lengths.items() if not length)
        raise UsageError(f"{empty} has no values", remedy="Give one a round.")
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise UsageError(
            f"The variables are not of one length: {told}", remedy="Give each a value a round."
        )
    tracked = [
        Tracked(
            variable=name,
            unit=unit,
            values=tuple(
                _given(value, f"round {place} of {name}")
                for place, value in enumerate(each, start=1)
            ),
        )
        for name, each in series.items()
    ]
    return determine(range(1, max(lengths.values()) + 1), tracked)


def _given(value: Number, place: str) -> Number:
    is_number = isinstance(value, numbers.Real | Decimal)
    if not is_number or not units.measurable(value):
        # Of an integer of thousands of digits Python makes no decimal text.
        told = hex(value) if isinstance(value, int) else str(value)
        raise UsageError(
            f"{told[:80]!r} ({place}) is not a number that was measured",
            remedy=f"Give numbers from {units.SMALLEST:g} to {units.LARGEST:g}, or zero.",
        )
    return value


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
            subtitle="Numbers as given",
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
    fields: Fields[Window] = (
        *window_pages.window_fields(
            lambda window: window,
            shares=share_digits(state.windows),
            unit=state.unit,
            per_round=f"{state.unit}/round" if state.unit else "a round",
            digits=3,
            slope_digits=4,
        ),
        ("Steady", "", None, _why),
    )
    return listing(state.windows, fields, caption=caption)


def _why(window: Window) -> str:
    if window.range_ok and window.slope_ok:
        # Of zeros both limits are zero, so that they are kept, and yet nothing is steady.
        return "yes" if window.steady else "no: nothing was measured"
    if window.slope_ok:
        return "no: range"
    return "no: slope" if window.range_ok else "no: range, slope"


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
