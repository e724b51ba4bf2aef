"""The report of PTS HIR: preconditioning, the wait states against time, and what idling gained."""

from collections.abc import Sequence
from dataclasses import replace

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import IOPS
from teijo.analysis.recovery import batch_means
from teijo.document import model
from teijo.document.grid import Beside, Edge, Fields, Figure, Grid, Line, listing, matrix
from teijo.document.phrase import capitalised, say
from teijo.methods.pages import ms
from teijo.methods.pts import settings as shared
from teijo.methods.pts import window_pages
from teijo.methods.pts.header import Loop
from teijo.methods.pts.hir.found import HirFound, HirSettings, WaitState, state_name
from teijo.methods.pts.report import ART, MRT, numbered, report
from teijo.methods.scaled import full_size, with_full_size_word
from teijo.terms.geometry import Geometry
from teijo.terms.result import StepResult

ROUND = "Round"


def pages(found: HirFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    sections = numbered(_plots(found))
    return report(found, _loop(found.settings), summary=_summary(found), sections=sections)


def _loop(settings: HirSettings) -> Loop:
    waits = say(
        "{bursts} × {burst} s, idle {idle} s",
        bursts=settings.bursts,
        burst=settings.burst_s,
        idle=", ".join(map(str, settings.idle_s)),
    )
    return Loop(
        title="Host Idle Recovery",
        subtitle="HIR loop",
        workload_dependent=say(
            "{stimulus}, rounds of {minutes} min",
            stimulus=settings.cell.stimulus,
            minutes=settings.round_minutes,
        ),
        stimulus=(
            ("Stimulus", settings.cell.stimulus),
            ("Wait states", waits),
            ("Then", say("{minutes} min continuous", minutes=settings.baseline_minutes)),
        ),
    )


def _summary(found: HirFound) -> list[model.Block]:
    geometry = found.record.geometry
    blocks: list[model.Block] = [window_pages.verdict_of(found.record, found), _verdict(found)]
    if found.waits:
        blocks.append(_waits_table(found.waits, geometry))
        sentences = [text for wait in found.waits if (text := _sentence(wait, geometry))]
        blocks += [model.Paragraph(text=text) for text in sentences]
        blocks.append(_rests(found))
    return [*blocks, model.Paragraph(text=_explanation(found.settings))]


def _verdict(found: HirFound) -> model.Verdict:
    gains = [(wait, *wait.gain_percents[:2]) for wait in found.waits]
    known = [(wait, gain, low) for wait, gain, low in gains if gain is not None]
    # Only where the whole 95 % interval is above zero: any mean of bursts differs by chance.
    shown = [(wait, gain) for wait, gain, low in known if low is not None and low > 0]
    if not known:
        return model.Verdict(text="IDLE RECOVERY: not measured yet", good=None)
    if all(low is None for _, _, low in known):
        return model.Verdict(text="IDLE RECOVERY: not determined, too few bursts", good=None)
    if not shown:
        return model.Verdict(text="IDLE RECOVERY: none shown in any wait state", good=None)
    wait, gain = max(shown, key=lambda pair: pair[1])
    text = say(
        "IDLE RECOVERY: bursts gain up to {percent:,.1f} % on the baseline, after {idle} of rest",
        percent=gain,
        idle=_idle(wait, found.record.geometry),
    )
    return model.Verdict(text=text, good=None)


def _sentence(wait: WaitState, geometry: Geometry) -> str | None:
    """Return a wait state's conclusion, None as long as it has none."""
    gain, low, high = wait.gain_percents
    if gain is None or low is None or high is None:
        return None
    words = say(
        "{percent:+,.1f} % (95 %: {low:+,.1f} to {high:+,.1f} %)", percent=gain, low=low, high=high
    )
    idle = _idle(wait, geometry)
    if low > 0:
        return say("After {idle} of rest bursts are faster: {gain}.", idle=idle, gain=words)
    if high < 0:
        return say("After {idle} of rest bursts are slower: {gain}.", idle=idle, gain=words)
    return say("After {idle} of rest no recovery is shown: {gain}.", idle=idle, gain=words)


def _idle(wait: WaitState, geometry: Geometry) -> str:
    """Return a rest by the standard's number, which is the full-size drive's."""
    return with_full_size_word(f"{wait.idle_s} s", geometry)


def _waits_table(waits: Sequence[WaitState], geometry: Geometry) -> model.Table:
    fields: Fields[WaitState] = (
        ("Idle", full_size("s", geometry), 0, lambda wait: wait.idle_s),
        ("Bursts", "", 0, lambda wait: len(wait.bursts)),
        ("Mean of the bursts", "IOPS", 1, lambda wait: wait.burst_iops),
        ("First burst", "IOPS", 1, lambda wait: wait.bursts[0].iops),
        ("Last burst", "IOPS", 1, lambda wait: wait.bursts[-1].iops),
        ("First minute after", "IOPS", 1, _first_minute),
        ("Baseline after", "IOPS", 1, lambda wait: wait.baseline_iops),
        ("Gain", "%", 1, lambda wait: wait.gain_percents[0]),
        ("From", "%", 1, lambda wait: wait.gain_percents[1]),
        ("To", "%", 1, lambda wait: wait.gain_percents[2]),
        ("ART", "ms", 3, lambda wait: ms(measures.cell_over((), wait.bursts).latency_ns_mean)),
        ("MRT", "ms", 2, lambda wait: ms(measures.cell_over((), wait.bursts).latency_ns_max)),
    )
    return listing(waits, fields, caption="The wait states")


def _first_minute(wait: WaitState) -> float | None:
    return wait.baseline[0].iops if wait.baseline else None


def _rests(found: HirFound) -> model.Facts:
    """Return how long the rests really were, as the recorded times of the bursts have it."""
    rows = tuple(
        (
            capitalised(wait.name),
            say(
                "{mean:,.1f} ms on average ({least:,.1f} to {most:,.1f}), asked {asked:,.1f}",
                mean=ms(sum(wait.rests_ns) / len(wait.rests_ns)),
                least=ms(min(wait.rests_ns)),
                most=ms(max(wait.rests_ns)),
                asked=ms(found.settings.scaled_ns(wait.idle_s)),
            ),
        )
        for wait in found.waits
        if wait.rests_ns
    )
    return model.Facts(caption="Rests as measured, without I/O", rows=rows)


def _explanation(settings: HirSettings) -> str:
    return say(
        "A minute is {minute} here, and seconds are as much shorter. The baseline of a wait state "
        "is the mean of the second half of the continuous minutes that follow it: the first half "
        "is the way back. The gain is the mean of the bursts over the baseline, less one; its "
        "95 % interval stands on five long batches of each, and is as wide as an autocorrelation "
        "of neighbours of 0.8 makes it.",
        minute=units.format_duration(settings.minute_ns),
    )


def _plots(found: HirFound) -> list[model.Section]:
    before = [_precondition_chart(found)] if found.minutes else []
    after = [_time_chart(found), _batches_chart(found.waits)] if found.waits else []
    return [
        *map(_section, before),
        *(window_pages.close_up_section(state, ROUND) for state in found.states),
        *map(_section, after),
    ]


def _section(chart: model.XYChart) -> model.Section:
    return model.Section(title=chart.title, blocks=(chart,))


def _precondition_chart(found: HirFound) -> model.XYChart:
    every = found.settings.round_minutes
    minutes = tuple(range(1, len(found.minutes) + 1))
    places = tuple(minute / every for minute in minutes)
    iops = tuple(answer.iops for answer in found.minutes)
    grid = Grid(
        rows=Edge(name=ROUND, digits=4, places=places, from_zero=True),
        columns=(
            Beside(column=model.Column(name="Minute", digits=0), values=minutes),
            Line(figure=IOPS, name="every minute", values=iops, style="line"),
        ),
    )
    last_minutes = model.Series(
        name="last minute of the round",
        x=tuple(float(place) for place in range(1, found.rounds + 1)),
        y=tuple(answer.iops for answer in found.checks),
        style="points",
    )
    # A round ends at its number on this axis, and so begins one before it.
    spans = tuple(replace(each, first=each.first - 1) for each in window_pages.window_spans(found))
    return grid.chart(
        "Preconditioning IOPS against round",
        IOPS,
        more=(last_minutes,),
        table=grid.table(folded=True),
        spans=spans,
    )


def _time_chart(found: HirFound) -> model.XYChart:
    minute_ns, waits = found.settings.minute_ns, found.waits
    origin_ns = waits[0].bursts[0].started_ns

    def at(answer: StepResult) -> float:
        return (answer.started_ns + answer.elapsed_ns - origin_ns) / minute_ns

    def points(answers: Sequence[StepResult]) -> list[tuple[float, float]]:
        return [(at(answer), answer.iops) for answer in answers]

    columns = (
        model.Column(name=shared.time_name(minute_ns), unit="min", digits=4),
        model.Column(name="Wait state"),
        model.Column(name="Part"),
        IOPS.column(),
        model.Column(name="Mean of the state", unit="IOPS", digits=1),
        ART.column(),
        MRT.column(),
    )
    rows = tuple(
        (
            *(at(answer), wait.name, part, answer.iops, mean_iops),
            *(measures.latency_ms_mean(answer), measures.latency_ms_max(answer)),
        )
        for wait in waits
        for part, mean_iops, answers in (
            ("burst", wait.burst_iops, wait.bursts),
            ("continuous", None, wait.baseline),
        )
        for answer in answers
    )
    levels = [
        [(at(answer), wait.burst_iops) for answer in (wait.bursts[0], wait.bursts[-1])]
        for wait in waits
    ]
    drawn: tuple[tuple[str, list[list[tuple[float, float]]], model.Style], ...] = (
        *((wait.name, [points(wait.bursts)], "points") for wait in waits),
        ("continuous", [points(wait.baseline) for wait in waits], "line"),
        ("mean of the state", levels, "dashed"),
    )
    return model.XYChart(
        title="IOPS against time, all wait states",
        x=model.Axis(name=shared.time_name(minute_ns), unit="min"),
        y=IOPS.axis(),
        series=tuple(series for each in drawn for series in _stretches(*each)),
        table=model.Table(columns=columns, rows=rows, folded=True),
    )


def _stretches(
    name: str, stretches: Sequence[Sequence[tuple[float, float]]], style: model.Style
) -> tuple[model.Series, ...]:
    """Return one series of several stretches, broken between them; none of nothing."""
    x: list[model.Value] = []
    y: list[float | None] = []
    for stretch in stretches:
        if x and stretch:
            x.append(stretch[0][0])
            y.append(None)
        x += [place for place, _ in stretch]
        y += [value for _, value in stretch]
    return (model.Series(name=name, x=tuple(x), y=tuple(y), style=style),) if x else ()


def _batches_chart(waits: Sequence[WaitState]) -> model.XYChart:
    """Return the bursts of all wait states over one another: how soon a drive is used to resting.

    Single bursts swing with the drive's own cleaning, so equal batches are drawn.
    """
    batches = {wait.idle_s: _batch_means(wait) for wait in waits}
    bursts = sorted({burst for means in batches.values() for burst in means})
    grid = matrix(
        Edge(name="Burst", digits=0, places=tuple(bursts), from_zero=True),
        bursts,
        tuple(batches),
        lambda burst, idle_s: batches[idle_s].get(burst),
        figure=lambda idle_s: Figure(name=state_name(idle_s), unit="IOPS"),
        sparse=True,
    )
    return grid.chart(
        "IOPS against burst, batch means",
        IOPS,
        table=grid.table(folded=True),
        note="Each point is the mean of the bursts since the point before.",
    )


def _batch_means(wait: WaitState) -> dict[int, float]:
    """Return the mean IOPS of each batch by its last burst."""
    means = batch_means([answer.iops for answer in wait.bursts])
    length = len(wait.bursts) // max(1, len(means))
    return {place * length: mean for place, mean in enumerate(means, start=1)}
