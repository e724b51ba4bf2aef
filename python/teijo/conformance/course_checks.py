"""What the record shows of a test's course: steady state, its end, its states and groups."""

from teijo import units
from teijo.analysis import measures
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.analysis.window_shares import range_percent, share_digits, slope_percent
from teijo.conformance.figures import digits_beside
from teijo.conformance.requirement import Case, Found, Measured, met_if, untold
from teijo.conformance.rounds import BURST_PHASE, PREWRITE_CELL, histograms_in, rounds_in
from teijo.conformance.stimulus_checks import MINUTE_SHARES
from teijo.conformance.versions import MINUTE_NS, ROUNDS_MOST
from teijo.document.phrase import joined, listed, say
from teijo.terms.finding import SteadyState, Window
from teijo.terms.result import StepResult
from teijo.terms.step import MINUTE, Idle

BASELINE_PHASE = "baseline"
REST_SHARES = (0.99, 1.10)


def tracking(case: Case) -> Found:
    """Judge whether steady state was determined on all that the version tracks."""
    states = case.findings.steady_states
    if not states or not any(state.values for state in states):
        return untold("no round yet")
    names = listed(dict.fromkeys(state.variable for state in states))
    text = say("{count} tracked: {names}", count=len(states), names=names)
    if case.record.run.method != "pts.iops":
        return met_if(True, text)
    return met_if(len(states) == len(case.version.tracking), text)


def tracking_asked(case: Case) -> str:
    """Return what the version tracks."""
    match case.record.run.method:
        case "pts.iops":
            return say("cells of the matrix: {count}", count=len(case.version.tracking))
        case "pts.tp":
            return "write throughput, per block size"
        case "pts.lat":
            return "average latency of RND 4 KiB 0/100"
        case _:
            return "IOPS at the greatest demand"


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
    close = 1e-9 * max(1.0, abs(mean))
    return (
        abs(max(window.values) - min(window.values) - window.range) > close
        or abs(abs(slope) * 4 - window.slope_excursion) > close
        or abs(0.2 * mean - window.range_limit) > close
        or abs(0.1 * mean - window.slope_limit) > close
    )


def saturation_end(case: Case) -> Found:
    """Judge whether the run went on until the first of the version's limits."""
    rule = case.version.saturation
    found = [answer for _, step, answer in case.measured if step.phase == MINUTE]
    if not found:
        return untold("not yet")
    written = sum(measures.written_bytes(answer) for answer in found)
    times = written / case.record.geometry.capacity_bytes
    steady = case.findings.converged is True
    text = say(
        "{minutes:,} minutes, {times:.{digits}f} × the user capacity written (TGBW {gb:,.3f} GB), "
        "steady state {verdict}",
        minutes=len(found),
        times=times,
        digits=digits_beside([(times, rule.capacity_times)], least=4),
        gb=written / units.GIGA,
        verdict="reached" if steady else "not reached",
    )
    if not case.is_over:
        return untold(text)
    by_limit = times >= rule.capacity_times or len(found) >= rule.minutes
    return met_if(by_limit or (steady and rule.check_minutes is not None), text)


def saturation_asked(case: Case) -> str:
    """Return when the version's WSAT may stop."""
    rule = case.version.saturation
    if rule.check_minutes is None:
        return say(
            "until {hours} h or {times} × the user capacity, whichever comes first",
            hours=rule.minutes // 60,
            times=rule.capacity_times,
        )
    return say(
        "until {hours} h, {times} × the user capacity or five steady rounds, whichever comes first",
        hours=rule.minutes // 60,
        times=rule.capacity_times,
    )


def bursts(case: Case) -> Found:
    """Judge whether every wait state had all its bursts, and its minutes without a rest."""
    rule = case.version.idle_recovery
    assert rule is not None, "the version has HIR"
    by_state: dict[str, list[Measured]] = {}
    for each in case.measured:
        if each[1].phase in (BURST_PHASE, BASELINE_PHASE):
            by_state.setdefault(f"{each[1].cell} {each[1].phase}", []).append(each)
    counts = [len(found) for name, found in by_state.items() if name.endswith(BURST_PHASE)]
    baselines = [len(found) for name, found in by_state.items() if name.endswith(BASELINE_PHASE)]
    if not counts:
        return untold("not yet")
    lengths = [answer.elapsed_ns for found in by_state.values() for _, step, answer in found
               if step.phase == BURST_PHASE]  # fmt: skip
    text = say(
        "{states} wait states of {least} to {most} bursts, {low:.3f} to {high:.3f} s each; "
        "{baselines} minutes without a rest after each",
        states=len(counts),
        least=min(counts),
        most=max(counts),
        low=min(lengths) / units.NS_PER_S,
        high=max(lengths) / units.NS_PER_S,
        baselines=min(baselines, default=0),
    )
    if not case.is_over:
        return untold(text)
    low, high = REST_SHARES
    asked_ns = rule.burst_s * units.NS_PER_S
    holds = (
        counts == [rule.bursts] * len(rule.idle_s)
        and baselines == [rule.baseline_minutes] * len(rule.idle_s)
        and low * asked_ns <= min(lengths)
        and max(lengths) <= high * asked_ns
    )
    return met_if(holds, text)


def idle_times(case: Case) -> Found:
    """Judge whether every rest was as long as its wait state asks."""
    rule = case.version.idle_recovery
    assert rule is not None, "the version has HIR"
    lengths = [
        each.answer.elapsed_ns / units.NS_PER_S
        for stretch in case.stretches
        for each in stretch.steps
        if isinstance(each.step, Idle) and isinstance(each.answer, StepResult)
    ]
    if not lengths:
        return untold("not yet")
    text = say(
        "{count:,} rests of {low:.3f} to {high:.3f} s",
        count=len(lengths),
        low=min(lengths),
        high=max(lengths),
    )
    if not case.is_over:
        return untold(text)
    asked = [float(idle) for idle in rule.idle_s for _ in range(rule.bursts)]
    low, high = REST_SHARES
    holds = len(asked) == len(lengths) and all(
        low * wanted <= length <= high * wanted
        for wanted, length in zip(asked, lengths, strict=True)
    )
    return met_if(holds, text)


def groups(case: Case) -> Found:
    """Judge whether each of the three stimuli had its hours."""
    rule = case.version.cross_stimulus
    assert rule is not None, "the version has XSR"
    found: dict[str, list[StepResult]] = {}
    for _, step, answer in case.measured:
        found.setdefault(step.cell or "", []).append(answer)
    if not found:
        return untold("not yet")
    hours = [sum(each.elapsed_ns for each in answers) / 3600e9 for answers in found.values()]
    sizes = [
        sum(each.bytes for each in answers) / max(1, sum(each.ios for each in answers)) / units.KIB
        for answers in found.values()
    ]
    text = joined(
        say("{hours:.3f} h of {kib:,.2f} KiB", hours=length, kib=size)
        for length, size in zip(hours, sizes, strict=True)
    )
    if not case.is_over:
        return untold(text)
    asked = [rule.first_minutes / 60, rule.random_minutes / 60, rule.last_minutes / 60]
    low, high = MINUTE_SHARES
    holds = len(hours) == len(asked) and all(
        low * wanted <= length <= high * wanted for wanted, length in zip(asked, hours, strict=True)
    )
    return met_if(holds, text)


def groups_asked(case: Case) -> str:
    """Return the three stimuli of XSR."""
    rule = case.version.cross_stimulus
    assert rule is not None, "the version has XSR"
    return say(
        "{first} h of SEQ {large}, {second} h of RND {small}, {third} h of SEQ {large}",
        first=rule.first_minutes // 60,
        second=rule.random_minutes // 60,
        third=rule.last_minutes // 60,
        large=units.format_block_size(rule.sequential_block_bytes),
        small=units.format_block_size(rule.random_block_bytes),
    )


def prewrites(case: Case) -> Found:
    """Judge whether every sweep had its pre-write."""
    rule = case.version.demand
    assert rule is not None, "the version has this test"
    rounds = rounds_in(case)
    if not rounds:
        return untold("no whole round yet")
    counts = [
        sum((step.cell or "").startswith(PREWRITE_CELL) for _, step, _ in round_)
        for round_ in rounds
    ]
    ios = [
        answer.ios - sum(part.count for part in answer.of("read"))
        for round_ in rounds
        for _, step, answer in round_
        if (step.cell or "").startswith(PREWRITE_CELL)
    ]
    text = say(
        "{low} to {high} minutes in {rounds} rounds, {ios:,} writes in all",
        low=min(counts),
        high=max(counts),
        rounds=len(rounds),
        ios=sum(ios),
    )
    return met_if(set(counts) == {rule.prewrite_minutes}, text)


def points(case: Case) -> Found:
    """Judge whether three operating points were looked at for their minutes."""
    rule = case.version.demand
    assert rule is not None, "the version has this test"
    lengths = [answer.elapsed_ns / MINUTE_NS for _, answer in histograms_in(case)]
    loads = [
        say("TC {threads} QD {depth}", threads=stream.threads, depth=stream.queue_depth)
        for step, _ in histograms_in(case)
        for stream in step.workload.streams
    ]
    if not lengths:
        return untold("not yet")
    text = say(
        "{loads}: {low:.3f} to {high:.3f} min of histogram each",
        loads=listed(loads),
        low=min(lengths),
        high=max(lengths),
    )
    if not case.is_over:
        return untold(text)
    low, high = MINUTE_SHARES
    holds = len(lengths) == 3 and all(
        low * rule.histogram_minutes <= each <= high * rule.histogram_minutes for each in lengths
    )
    return met_if(holds, text)


def points_asked(case: Case) -> str:
    """Return the operating points of a demand test."""
    rule = case.version.demand
    assert rule is not None, "the version has this test"
    return say(
        "MaxIOPS below {ms:g} ms, MidIOPS, MinIOPS: {minutes} min each",
        ms=rule.latency_limit_ns / units.NS_PER_MS,
        minutes=rule.histogram_minutes,
    )


def histogram(case: Case) -> Found:
    """Judge the run for the histogram: its length, and that every I/O is in it."""
    minutes = case.version.histogram_minutes
    found = histograms_in(case)
    if not found:
        if case.is_over:
            return met_if(minutes is None, "no run for the histogram took place")
        return untold("not yet")
    _, answer = found[-1]
    counted = sum(part.timed.count for part in answer.results)
    text = say(
        "{minutes:.3f} min, {counted:,} latencies of {ios:,} I/Os",
        minutes=answer.elapsed_ns / MINUTE_NS,
        counted=counted,
        ios=answer.ios,
    )
    asked_ns = (minutes or 0) * MINUTE_NS
    low, high = MINUTE_SHARES
    in_time = low * asked_ns <= answer.elapsed_ns <= high * asked_ns
    return met_if(in_time and counted == answer.ios, text)
