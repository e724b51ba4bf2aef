"""What the record shows of a test's course: steady state, its end, its states and groups."""

from collections import Counter
from collections.abc import Sequence

from teijo import units
from teijo.analysis import measures
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.analysis.window_shares import range_percent, share_digits, slope_percent
from teijo.conformance.requirement import Case, Found, Measured
from teijo.conformance.rounds import BURST_PHASE, is_prewrite, rounds_in
from teijo.conformance.stimulus_checks import MINUTE_SHARES
from teijo.conformance.verdicts import (
    at_the_end,
    digits_beside,
    ends,
    in_shares,
    judging,
    met_if,
    ruled,
    untold,
)
from teijo.conformance.versions import MINUTE_NS, ROUNDS_MOST
from teijo.document.phrase import joined, listed, say
from teijo.terms.finding import SteadyState, Window
from teijo.terms.record import StepRecord
from teijo.terms.result import StepResult
from teijo.terms.step import HISTOGRAM, MINUTE, Idle

BASELINE_PHASE = "baseline"
REST_SHARES = (0.99, 1.10)
HOUR_NS = 3600 * units.NS_PER_S


_TRACKED = {
    "pts.tp": "write throughput, per block size",
    "pts.lat": "average latency of RND 4 KiB 0/100",
}


def _with_values(case: Case) -> tuple[SteadyState, ...]:
    states = case.findings.steady_states
    return states if any(state.values for state in states) else ()


@judging(_with_values, "no round yet")
def tracking(case: Case, states: Sequence[SteadyState]) -> Found:
    """Judge whether steady state was determined on all that the version tracks."""
    names = listed(dict.fromkeys(state.variable for state in states))
    text = say("{count} tracked: {names}", count=len(states), names=names)
    is_matrix = case.record.run.method == "pts.iops"
    return met_if(not is_matrix or len(states) == len(case.version.tracking), text)


def tracking_asked(case: Case) -> str:
    """Return what the version tracks."""
    if case.record.run.method == "pts.iops":
        return say("cells of the matrix: {count}", count=len(case.version.tracking))
    return _TRACKED.get(case.record.run.method, "IOPS at the greatest demand")


def steadiness(case: Case) -> Found:
    """Judge steady state: within its limits over five rounds, or all rounds measured."""
    states = [state for state in case.findings.steady_states if state.windows]
    if not states:
        if case.is_over:
            return met_if(False, "the test ended before five rounds")
        return untold("not five rounds yet")
    windows = [window for state in states if (window := state.window) is not None]
    text = joined(_operands(state, window) for state, window in zip(states, windows, strict=True))
    if any(_misjudged(window) for window in windows):
        return met_if(False, say("{told}: not what its five values give", told=text))
    if all(state.reached is not None for state in states):
        return met_if(True, text)
    least = min(len(state.rounds) for state in states if state.reached is None)
    told = say("not reached in {rounds} rounds, and marked NO; {told}", rounds=least, told=text)
    if not case.is_over:
        return untold(told)
    return met_if(least >= ROUNDS_MOST, told)


def _operands(state: SteadyState, window: Window) -> str:
    return say(
        "{variable}, {first}–{last}: range {range:.{digits}f} %, slope {slope:.{digits}f} % of the "
        "average",
        variable=state.variable,
        first=window.first_round,
        last=window.last_round,
        range=range_percent(window) or 0.0,
        slope=slope_percent(window) or 0.0,
        digits=share_digits([window], least=3),
    )


def _misjudged(window: Window) -> bool:
    """Return whether a window's operands are not its values', by the definition once more.

    The slope of a line through five points is Σ (i − 3)(y − ȳ) / 10, and its excursion 4 slopes.
    """
    if len(window.values) != WINDOW_ROUNDS:
        return True
    mean = sum(window.values) / WINDOW_ROUNDS
    slope = sum((place - 2) * (y - mean) for place, y in enumerate(window.values)) / 10
    # In doubles: the window has exact numbers that were rounded once.
    close = 1e-9 * max(1.0, abs(mean))
    return (
        abs(max(window.values) - min(window.values) - window.range) > close
        or abs(abs(slope) * 4 - window.slope_excursion) > close
        or abs(0.2 * mean - window.range_limit) > close
        or abs(0.1 * mean - window.slope_limit) > close
    )


@at_the_end
@judging(lambda case: case.of_phase(MINUTE))
def saturation_end(case: Case, minutes: Sequence[Measured]) -> Found:
    """Judge whether the run went on until the first of the version's limits."""
    rule = case.version.saturation
    written = sum(measures.written_bytes(answer) for _, _, answer in minutes)
    times = written / case.record.geometry.capacity_bytes
    steady = case.findings.converged is True
    text = say(
        "{minutes:,} minutes, {times:.{digits}f} × the user capacity written (TGBW {gb:,.3f} GB), "
        "steady state {verdict}",
        minutes=len(minutes),
        times=times,
        digits=digits_beside([(times, rule.capacity_times)], least=4),
        gb=written / units.GIGA,
        verdict="reached" if steady else "not reached",
    )
    by_limit = times >= rule.capacity_times or len(minutes) >= rule.minutes
    # 1.0 has no determination for WSAT: it ends by time or volume alone.
    return met_if(by_limit or (steady and rule.check_minutes is not None), text)


def saturation_asked(case: Case) -> str:
    """Return when the version's WSAT may stop."""
    rule = case.version.saturation
    limits = {"hours": rule.minutes // 60, "times": rule.capacity_times}
    if rule.check_minutes is None:
        return say(
            "until {hours} h or {times} × the user capacity, whichever comes first", **limits
        )
    return say(
        "until {hours} h, {times} × the user capacity or five steady rounds, whichever comes first",
        **limits,
    )


@at_the_end
@judging(lambda case: case.of_phase(BURST_PHASE))
def bursts(case: Case, measured: Sequence[Measured]) -> Found:
    """Judge whether every wait state had all its bursts, and its minutes without a rest."""
    rule = ruled(case.version.idle_recovery)
    counts = _by_cell(measured)
    baselines = _by_cell(case.of_phase(BASELINE_PHASE))
    lengths_s = [answer.elapsed_ns / units.NS_PER_S for _, _, answer in measured]
    text = say(
        "{states} wait states of {least} to {most} bursts, {low:.3f} to {high:.3f} s each; "
        "{baselines} minutes without a rest after each",
        states=len(counts),
        least=min(counts),
        most=max(counts),
        **ends(lengths_s),
        baselines=min(baselines, default=0),
    )
    holds = (
        counts == [rule.bursts] * len(rule.idle_s)
        and baselines == [rule.baseline_minutes] * len(rule.idle_s)
        and in_shares(lengths_s, asked=[rule.burst_s] * len(lengths_s), shares=REST_SHARES)
    )
    return met_if(holds, text)


def _by_cell(measured: Sequence[Measured]) -> list[int]:
    """Return how many measurements each cell has, in their order."""
    return list(Counter(step.cell for _, step, _ in measured).values())


@at_the_end
@judging(lambda case: case.of_kind(Idle))
def idle_times(case: Case, rests: Sequence[tuple[StepRecord, Idle, StepResult]]) -> Found:
    """Judge whether every rest was as long as its wait state asks."""
    rule = ruled(case.version.idle_recovery)
    lengths_s = [answer.elapsed_ns / units.NS_PER_S for _, _, answer in rests]
    text = say("{count:,} rests of {low:.3f} to {high:.3f} s", count=len(rests), **ends(lengths_s))
    asked_s = [idle_s for idle_s in rule.idle_s for _ in range(rule.bursts)]
    return met_if(in_shares(lengths_s, asked=asked_s, shares=REST_SHARES), text)


@at_the_end
@judging(lambda case: case.measured)
def groups(case: Case, measured: Sequence[Measured]) -> Found:
    """Judge whether each of the three stimuli had its hours."""
    rule = ruled(case.version.cross_stimulus)
    by_group: dict[str, list[StepResult]] = {}
    for _, step, answer in measured:
        by_group.setdefault(step.cell or "", []).append(answer)
    hours = [sum(each.elapsed_ns for each in group) / HOUR_NS for group in by_group.values()]
    sizes = [
        sum(each.bytes for each in group) / max(1, sum(each.ios for each in group)) / units.KIB
        for group in by_group.values()
    ]
    text = joined(
        say("{hours:.3f} h of {kib:,.2f} KiB", hours=length, kib=size)
        for length, size in zip(hours, sizes, strict=True)
    )
    minutes = (rule.first_minutes, rule.random_minutes, rule.last_minutes)
    asked = [each / 60 for each in minutes]
    return met_if(in_shares(hours, asked=asked, shares=MINUTE_SHARES), text)


def groups_asked(case: Case) -> str:
    """Return the three stimuli of XSR."""
    rule = ruled(case.version.cross_stimulus)
    return say(
        "{first} h of SEQ {large}, {second} h of RND {small}, {third} h of SEQ {large}",
        first=rule.first_minutes // 60,
        second=rule.random_minutes // 60,
        third=rule.last_minutes // 60,
        large=units.format_block_size(rule.sequential_block_bytes),
        small=units.format_block_size(rule.random_block_bytes),
    )


@judging(rounds_in, "no whole round yet")
def prewrites(case: Case, rounds: Sequence[Sequence[Measured]]) -> Found:
    """Judge whether every sweep had its pre-write."""
    before = [[each for each in cells if is_prewrite(each)] for cells in rounds]
    counts = [len(minutes) for minutes in before]
    answers = [answer for minutes in before for _, _, answer in minutes]
    text = say(
        "{low} to {high} minutes in {rounds} rounds, {ios:,} writes in all",
        **ends(counts),
        rounds=len(rounds),
        ios=sum(each.ios - sum(part.count for part in each.of("read")) for each in answers),
    )
    return met_if(set(counts) == {ruled(case.version.demand).prewrite_minutes}, text)


@at_the_end
@judging(lambda case: case.of_phase(HISTOGRAM))
def points(case: Case, runs: Sequence[Measured]) -> Found:
    """Judge whether three operating points were looked at for their minutes."""
    lengths = [answer.elapsed_ns / MINUTE_NS for _, _, answer in runs]
    loads = [
        say("TC {threads} QD {depth}", threads=stream.threads, depth=stream.queue_depth)
        for _, step, _ in runs
        for stream in step.workload.streams
    ]
    text = say(
        "{loads}: {low:.3f} to {high:.3f} min of histogram each",
        loads=listed(loads),
        **ends(lengths),
    )
    asked = [ruled(case.version.demand).histogram_minutes] * 3
    return met_if(in_shares(lengths, asked=asked, shares=MINUTE_SHARES), text)


def points_asked(case: Case) -> str:
    """Return the operating points of a demand test."""
    rule = ruled(case.version.demand)
    return say(
        "MaxIOPS below {ms:g} ms, MidIOPS, MinIOPS: {minutes} min each",
        ms=rule.latency_limit_ns / units.NS_PER_MS,
        minutes=rule.histogram_minutes,
    )


def histogram(case: Case) -> Found:
    """Judge the run for the histogram: its length, and that every I/O is in it."""
    minutes = case.version.histogram_minutes
    runs = case.of_phase(HISTOGRAM)
    if not runs:
        if case.is_over:
            return met_if(minutes is None, "no run for the histogram took place")
        return untold("not yet")
    _, _, answer = runs[-1]
    counted = sum(part.timed.count for part in answer.results)
    text = say(
        "{minutes:.3f} min, {counted:,} latencies of {ios:,} I/Os",
        minutes=answer.elapsed_ns / MINUTE_NS,
        counted=counted,
        ios=answer.ios,
    )
    asked_ns = (minutes or 0) * MINUTE_NS
    in_time = in_shares([answer.elapsed_ns], asked=[asked_ns], shares=MINUTE_SHARES)
    return met_if(in_time and counted == answer.ios, text)
