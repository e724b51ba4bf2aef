"""The report of a configuration study: the answer, the effects, the checks, every configuration."""

from collections.abc import Sequence

import numpy as np

from teijo import units
from teijo.analysis import measures
from teijo.document.model import (
    Block,
    Column,
    Document,
    Facts,
    Header,
    HeaderGroup,
    Paragraph,
    Section,
    Table,
    Value,
    Verdict,
)
from teijo.document.phrase import Verbatim, listed, say, sentences
from teijo.methods.knobs import show_duration
from teijo.methods.pages import NOT_KNOWN, assemble, ms, run_rows, stamp_of
from teijo.methods.studies.configuration import recommended
from teijo.methods.studies.configuration.answer import answer_of, effects_of, verdict_of
from teijo.methods.studies.configuration.cached import cached_of
from teijo.methods.studies.configuration.design import AS_IT_IS, Visit, cells_of, visits_of
from teijo.methods.studies.configuration.effect_pages import (
    effect_sections,
    interplay_chart,
    shares_table,
    variance_table,
)
from teijo.methods.studies.configuration.judged import Judged, Ratio, judged
from teijo.methods.studies.configuration.outcome import (
    Visited,
    rate_of,
    rates_of,
    unit_of,
    visited,
    whole_blocks,
)
from teijo.methods.studies.configuration.recommended import Recommended, recommended_of
from teijo.methods.studies.configuration.settings import ConfigurationSettings
from teijo.terms.configured import facts_in
from teijo.terms.finding import Findings
from teijo.terms.record import Record

WORKLOADS_ABREAST = 8


def pages(settings: ConfigurationSettings, record: Record, findings: Findings) -> Document:
    """Return the whole report of a record, growing or sealed."""
    del findings  # the pages need the rates themselves, not only what came of them
    found = visited(settings, record)
    rates = rates_of(settings, found)
    told = judged(rates)
    cached = cached_of(settings, found, rates, record.geometry)
    advice = recommended_of(settings, told, cached)
    hero = None
    effects = effects_of(settings, told)
    if effects:
        hero = interplay_chart(settings, effects[0].judged)
    sections = [
        _answer_section(
            verdict_of(settings, told, cached),
            [answer_of(settings, told, cached, record.geometry), _advice(settings, advice, told)],
            hero,
            shares_table(settings, told),
        ),
        *effect_sections(settings, told, hero),
        *_variance_sections(settings, told),
        _checks_section(told),
        _configurations_section(settings, found),
        _plan_section(settings, found),
        *([recommended.section(advice)] if _advice(settings, advice, told) else []),
    ]
    return assemble(record, settings, _header(settings, record, found), sections)


def _header(settings: ConfigurationSettings, record: Record, found: Sequence[Visited]) -> Header:
    identity = record.identity
    blocks = whole_blocks(settings, found)
    return Header(
        title="Configurations",
        subtitle=Verbatim(settings.title),
        organisation="",
        revision="",
        top=run_rows(record),
        groups=(
            HeaderGroup(
                title="Device",
                tone="dut",
                rows=(
                    ("Model", identity.model or NOT_KNOWN),
                    ("Serial no", identity.serial or NOT_KNOWN),
                    ("Configurations", str(len(cells_of(settings)))),
                    ("Applied by", _means(settings)),
                ),
            ),
            HeaderGroup(
                title="Study",
                tone="test",
                rows=(
                    *(
                        (Verbatim(name), Verbatim(", ".join(level for level, _ in levels)))
                        for name, levels in settings.factors
                    ),
                    ("Workloads", str(len(settings.workloads))),
                    (
                        "Blocks",
                        say("{whole} of {asked}", whole=blocks, asked=settings.repeats),
                    ),
                    ("Each measured for", units.format_duration(settings.duration_ns)),
                ),
            ),
        ),
        stamp=stamp_of(record),
    )


def _means(settings: ConfigurationSettings) -> str:
    if settings.hook:
        return say("hook {program}", program=Verbatim(settings.hook[0]))
    return "another simulated device" if settings.device else "nothing: it is as it is"


def _advice(
    settings: ConfigurationSettings, advice: Recommended | None, told: Sequence[Judged]
) -> list[str]:
    """Return the recommendation as the last sentence, nothing where there is nothing to choose."""
    judgeable = any(each.variance is not None for each in told)
    return [recommended.sentence(advice)] if settings.factors and judgeable else []


def _answer_section(
    verdict: Verdict, answer: Sequence[Sequence[str]], hero: Block | None, shares: Table | None
) -> Section:
    blocks: list[Block] = [verdict]
    blocks += [Paragraph(text=sentences(said)) for said in answer if said]
    if hero is not None:
        blocks.append(hero)
    if shares is not None:
        blocks += [shares, Paragraph(text=_SHARES_TEXT)]
    return Section(title="Answer", blocks=tuple(blocks))


_SHARES_TEXT = (
    "Of all variation between the visits of a workload, the share that each factor alone makes, "
    "the share that takes several of them together, and the scatter of repeats. Marked is what "
    "chance makes less often than once in twenty."
)


def _variance_sections(settings: ConfigurationSettings, told: Sequence[Judged]) -> list[Section]:
    if all(each.variance is None for each in told):
        return []
    text = (
        "Each visit's rate is the mean of its configuration times that of its block times scatter. "
        "Sums of squares are of logarithms, so a share is of ratios, and the shares of a workload "
        "add up to 100 %. F and p hold where the scatter of all configurations is alike; the "
        "intervals of levels do not need that, each configuration has its own scatter there."
    )
    blocks = (variance_table(settings, told), Paragraph(text=text))
    return [Section(title="Analysis of variance", blocks=blocks)]


def _checks_section(told: Sequence[Judged]) -> Section:
    rows: list[tuple[Value, ...]] = []
    marked = []
    for each in told:
        for what, found in (("control", each.control), ("drift over the order", each.drift)):
            if found is None:
                continue
            if found.shown:
                marked.append((len(rows), 6))
            rows.append((Verbatim(each.rates.stream.name), what, *_percents(found)))
    table = Table(
        columns=(
            Column(name="Workload"),
            Column(name="Check"),
            Column(name="Difference", unit="%", digits=2),
            Column(name="Low", unit="%", digits=2),
            Column(name="High", unit="%", digits=2),
            Column(name="p", digits=4),
            Column(name="Verdict"),
        ),
        rows=tuple(rows),
        caption="Differences that must be nothing",
        marked=tuple(marked),
    )
    text = (
        "The control is one configuration that stands in every block under two names: its "
        "difference is noise, and its interval must cover 0. The drift is from the first visit to "
        "the last, along a line through all values about their configuration's mean."
    )
    blocks: tuple[Block, ...] = (table, Paragraph(text=text))
    if not rows:
        blocks = (Paragraph(text="There is nothing to check yet."),)
    return Section(title="Can it be trusted?", blocks=blocks)


def _percents(found: Ratio) -> tuple[Value, ...]:
    ends = ((each - 1) * 100 for each in (found.ratio, found.low, found.high))
    return (*ends, found.p_value, "MORE THAN CHANCE" if found.shown else "chance")


def _configurations_section(settings: ConfigurationSettings, found: Sequence[Visited]) -> Section:
    groups: dict[str, list[Visited]] = {}
    for each in sorted(found, key=lambda one: (one.visit.cell.place, one.visit.copy)):
        groups.setdefault(_named(each.visit), []).append(each)
    blocks: list[Block] = []
    if len(settings.workloads) <= WORKLOADS_ABREAST:
        blocks.append(_abreast(settings, groups))
    blocks.append(_one_by_one(settings, groups))
    return Section(title="Every configuration", blocks=tuple(blocks))


def _named(visit: Visit) -> str:
    """Return what a visit's configuration is called."""
    name = Verbatim(visit.cell.name) if visit.cell.levels else AS_IT_IS
    return say("{configuration} (again)", configuration=name) if visit.copy else name


def _abreast(settings: ConfigurationSettings, groups: dict[str, list[Visited]]) -> Table:
    rows: list[tuple[Value, ...]] = []
    for name, group in groups.items():
        means: list[Value] = []
        for place, stream in enumerate(settings.workloads):
            rates = [rate_of(stream, each.answers[place]) for each in group
                     if len(each.answers) > place]  # fmt: skip
            means.append(float(np.mean(rates)) if rates else None)
        rows.append((name, *means))
    return Table(
        columns=(
            Column(name="Configuration"),
            *(
                Column(name=Verbatim(stream.name), unit=unit_of(stream), digits=1)
                for stream in settings.workloads
            ),
        ),
        rows=tuple(rows),
        caption="Mean rates",
    )


def _one_by_one(settings: ConfigurationSettings, groups: dict[str, list[Visited]]) -> Table:
    rows: list[tuple[Value, ...]] = []
    for name, group in groups.items():
        for place, stream in enumerate(settings.workloads):
            answers = [each.answers[place] for each in group if len(each.answers) > place]
            if not answers:
                continue
            rates = [rate_of(stream, answer) for answer in answers]
            cell = measures.cell_over((), answers)
            p99 = [measures.latency_of(answer).quantile_ns(0.99) for answer in answers]
            rows.append(
                (
                    name,
                    Verbatim(stream.name),
                    len(answers),
                    cell.iops,
                    cell.throughput_mb_s,
                    _scatter_percent(rates),
                    ms(cell.latency_ns_mean),
                    ms(float(np.mean(p99))),
                    ms(cell.latency_ns_max),
                    sum(measures.errors_of(answer) for answer in answers),
                )
            )
    return Table(
        columns=(
            Column(name="Configuration"),
            Column(name="Workload"),
            Column(name="Visits", digits=0),
            Column(name="IOPS", digits=1),
            Column(name="Throughput", unit="MB/s", digits=2),
            Column(name="Scatter", unit="%", digits=2),
            Column(name="Latency mean", unit="ms", digits=4),
            Column(name="p99", unit="ms", digits=3),
            Column(name="Latency max", unit="ms", digits=3),
            Column(name="Failed", unit="I/Os", digits=0),
        ),
        rows=tuple(rows),
        caption="Every configuration and workload",
        folded=True,
    )


def _scatter_percent(rates: Sequence[float]) -> float | None:
    mean = float(np.mean(rates))
    return float(np.std(rates, ddof=1)) / mean * 100 if len(rates) > 1 and mean else None


def _plan_section(settings: ConfigurationSettings, found: Sequence[Visited]) -> Section:
    rows: list[tuple[str, str]] = [
        (Verbatim(name), Verbatim(", ".join(level for level, _ in levels)))
        for name, levels in settings.factors
    ]
    rows += [
        (
            "Workloads",
            listed(Verbatim(f"{each.name}: {each.title}") for each in settings.workloads),
        ),
        ("Active range", say("{percent} %", percent=settings.range_percent)),
        ("Each measured for", Verbatim(show_duration(settings.duration_ns))),
        ("Before each, unmeasured", Verbatim(show_duration(settings.ramp_ns))),
        ("Rest before each", Verbatim(show_duration(settings.rest_ns))),
        ("Purge", settings.purge),
        (
            "Filled before",
            say("{times:g} user capacities", times=settings.precondition_times),
        ),
        ("Control", Verbatim(settings.control)),
        (
            "Order",
            say(
                "{visits} visits in {blocks} blocks, drawn from {seed}",
                visits=len(visits_of(settings)),
                blocks=settings.repeats,
                seed=settings.shuffle,
            ),
        ),
    ]
    blocks: list[Block] = [Facts(caption="The plan", rows=tuple(rows)), _order_table(found)]
    if (differing := _facts_table(found)) is not None:
        blocks.append(differing)
    return Section(title="The plan and its order", blocks=tuple(blocks))


def _order_table(found: Sequence[Visited]) -> Table:
    hooked = any("hook_exit_code" in each.configured.detail for each in found)
    rows: list[tuple[Value, ...]] = []
    for each in found:
        detail = each.configured.detail
        said = detail.get("hook_stdout", detail.get("hook_stderr", ""))
        told: tuple[Value, ...] = (
            int(detail.get("hook_ns", "0")) / units.NS_PER_S,
            Verbatim(said.splitlines()[-1] if said else ""),
        )
        rows.append(
            (
                each.visit.number,
                each.visit.block,
                _named(each.visit),
                each.configured.started_ns / units.NS_PER_S,
                Verbatim(detail.get("target", "")),
                *(told if hooked else ()),
            )
        )
    return Table(
        columns=(
            Column(name="Visit", digits=0),
            Column(name="Block", digits=0),
            Column(name="Configuration"),
            Column(name="Start", unit="s", digits=1),
            Column(name="Target"),
            *(
                (Column(name="Hook", unit="s", digits=2), Column(name="It said last"))
                if hooked
                else ()
            ),
        ),
        rows=tuple(rows),
        caption="Visits in the order of measuring",
        folded=True,
    )


def _facts_table(found: Sequence[Visited]) -> Table | None:
    """Return the facts by which the configured devices differ, as each says them of itself."""
    first: dict[str, dict[str, str]] = {}
    for each in sorted(found, key=lambda one: one.visit.cell.place):
        detail = each.configured.detail
        known = {name: detail[name] for name in ("model", "capacity_bytes") if name in detail}
        first.setdefault(each.visit.cell.name, known | facts_in(detail))
    names = dict.fromkeys(name for facts in first.values() for name in facts)
    differing = [name for name in names if len({facts.get(name) for facts in first.values()}) > 1]
    if not differing:
        return None
    return Table(
        columns=(Column(name="Configuration"), Column(name="Fact"), Column(name="Value")),
        rows=tuple(
            (Verbatim(cell), Verbatim(name), Verbatim(facts[name]))
            for cell, facts in first.items()
            for name in differing
            if name in facts
        ),
        caption="What the devices say of themselves, where they differ",
        folded=True,
    )
