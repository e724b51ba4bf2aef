"""The report of a configuration study: the answer, the effects, the checks, every configuration.

The sentences are in answer, the effects in effect_pages.
"""

from collections.abc import Callable, Sequence

import numpy as np

from teijo import units
from teijo.analysis import measures
from teijo.analysis.judged import Judged, Ratio, Share
from teijo.document.grid import Fields, listing
from teijo.document.model import Block, Document, Facts, Paragraph, Section, Table, Value
from teijo.document.phrase import Verbatim, listed, say, sentences
from teijo.methods.forms import DURATION
from teijo.methods.pages import NOT_KNOWN, ms
from teijo.methods.report import study_report
from teijo.methods.studies.configuration import answer, effect_pages
from teijo.methods.studies.configuration.found import ConfigurationFound, Group, Visited, unit_of
from teijo.methods.studies.configuration.settings import ConfigurationSettings
from teijo.terms.configured import facts_in

WORKLOADS_ABREAST = 8
SHARES_TEXT = (
    "Of all variation between the visits of a workload, the share that each factor alone makes, "
    "the share that takes several of them together, and the scatter of repeats. Marked is what "
    "chance makes less often than once in twenty."
)
VARIANCE_TEXT = (
    "Each visit's rate is the mean of its configuration times that of its block times scatter. "
    "Sums of squares are of logarithms, so a share is of ratios, and the shares of a workload "
    "add up to 100 %. F and p hold where the scatter of all configurations is alike; the "
    "intervals of levels do not need that, each configuration has its own scatter there."
)
CHECKS_TEXT = (
    "The control is one configuration that stands in every block under two names: its "
    "difference is noise, and its interval must cover 0. The drift is from the first visit to "
    "the last, along a line through all values about their configuration's mean."
)

CHECKS: Fields[tuple[Judged, str, Ratio]] = (
    ("Workload", "", None, lambda row: row[0].rates.name),
    ("Check", "", None, lambda row: row[1]),
    ("Difference", "%", 2, lambda row: (row[2].ratio - 1) * 100),
    ("Low", "%", 2, lambda row: (row[2].low - 1) * 100),
    ("High", "%", 2, lambda row: (row[2].high - 1) * 100),
    ("p", "", 4, lambda row: row[2].p_value),
    ("Verdict", "", None, lambda row: "MORE THAN CHANCE" if row[2].shown else "chance"),
)
GROUPS: Fields[Group] = (
    ("Configuration", "", None, lambda one: one.visit.title),
    ("Workload", "", None, lambda one: Verbatim(one.stream.name)),
    ("Visits", "", 0, lambda one: len(one.answers)),
    ("IOPS", "", 1, lambda one: one.cell.iops),
    ("Throughput", "MB/s", 2, lambda one: one.cell.throughput_mb_s),
    ("Scatter", "%", 2, lambda one: one.scatter_percent),
    ("Latency mean", "ms", 4, lambda one: ms(one.cell.latency_ns_mean)),
    ("p99", "ms", 3, lambda one: ms(one.p99_ns)),
    ("Latency max", "ms", 3, lambda one: ms(one.cell.latency_ns_max)),
    ("Failed", "I/Os", 0, lambda one: sum(measures.errors_of(each) for each in one.answers)),
)
ORDER: Fields[Visited] = (
    ("Visit", "", 0, lambda each: each.visit.number),
    ("Block", "", 0, lambda each: each.visit.block),
    ("Configuration", "", None, lambda each: each.visit.title),
    ("Start", "s", 1, lambda each: each.configured.started_ns / units.NS_PER_S),
    ("Target", "", None, lambda each: Verbatim(each.configured.detail.get("target", ""))),
)
HOOKS: Fields[Visited] = (
    ("Hook", "s", 2, lambda each: int(each.configured.detail.get("hook_ns", "0")) / units.NS_PER_S),
    ("It said last", "", None, lambda each: Verbatim(_last_said(each))),
)


def pages(found: ConfigurationFound) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings, identity = found.settings, found.record.identity
    hero = effect_pages.interplay_chart(found, found.effects[0].judged) if found.effects else None
    return study_report(
        found,
        title="Configurations",
        subtitle=Verbatim(settings.title),
        device=(
            ("Model", identity.model or NOT_KNOWN),
            ("Serial no", identity.serial or NOT_KNOWN),
            ("Configurations", str(len(found.setups))),
            ("Applied by", _means(settings)),
        ),
        test=(
            *_factor_rows(found),
            ("Workloads", str(len(settings.workloads))),
            ("Blocks", say("{whole} of {asked}", whole=found.rounds, asked=settings.repeats)),
            ("Each measured for", units.format_duration(settings.duration_ns)),
        ),
        sections=(
            _answer_section(found, hero),
            *effect_pages.effect_sections(found, hero),
            *_variance_sections(found),
            _checks_section(found),
            _configurations_section(found),
            _plan_section(found),
            *_advice_sections(found),
        ),
    )


def _factor_rows(found: ConfigurationFound) -> list[tuple[str, str]]:
    return [(name, Verbatim(", ".join(levels))) for name, levels in found.names]


def _means(settings: ConfigurationSettings) -> str:
    if settings.hook:
        return say("hook {program}", program=Verbatim(settings.hook[0]))
    return "another simulated device" if settings.device else "nothing: it is as it is"


def _answer_section(found: ConfigurationFound, hero: Block | None) -> Section:
    said = (sentences(answer.answer_of(found)), answer.advice_of(found))
    blocks: list[Block] = [answer.verdict_of(found)]
    blocks += [Paragraph(text=each) for each in said if each]
    blocks += [] if hero is None else [hero]
    if (shares := effect_pages.shares_table(found)) is not None:
        blocks += [shares, Paragraph(text=SHARES_TEXT)]
    return Section(title="Answer", blocks=tuple(blocks))


def _variance_sections(found: ConfigurationFound) -> list[Section]:
    table = effect_pages.variance_table(found)
    blocks = (table, Paragraph(text=VARIANCE_TEXT))
    return [Section(title="Analysis of variance", blocks=blocks)] if table.rows else []


def _checks_section(found: ConfigurationFound) -> Section:
    rows = [
        (each, what, ratio)
        for each in found.judged
        for what, ratio in (("control", each.control), ("drift over the order", each.drift))
        if ratio is not None
    ]
    marked = [(place, 6) for place, (*_, ratio) in enumerate(rows) if ratio.shown]
    table = listing(rows, CHECKS, caption="Differences that must be nothing", marked=marked)
    blocks: tuple[Block, ...] = (table, Paragraph(text=CHECKS_TEXT))
    if not rows:
        blocks = (Paragraph(text="There is nothing to check yet."),)
    return Section(title="Can it be trusted?", blocks=blocks)


def _configurations_section(found: ConfigurationFound) -> Section:
    whole = listing(found.measured, GROUPS, caption="Every configuration and workload", folded=True)
    abreast = len(found.settings.workloads) <= WORKLOADS_ABREAST
    blocks = (_abreast(found), whole) if abreast else (whole,)
    return Section(title="Every configuration", blocks=blocks)


def _abreast(found: ConfigurationFound) -> Table:
    """Return the mean rates, a column for each workload."""

    def mean(place: int) -> Callable[[Sequence[Group]], Value]:
        return lambda own: float(np.mean(own[place].rates)) if own[place].answers else None

    workloads = enumerate(found.settings.workloads)
    fields: Fields[Sequence[Group]] = (
        ("Configuration", "", None, lambda own: own[0].visit.title),
        *((Verbatim(each.name), unit_of(each), 1, mean(place)) for place, each in workloads),
    )
    return listing(found.groups, fields, caption="Mean rates")


def _plan_section(found: ConfigurationFound) -> Section:
    settings, visited = found.settings, found.visited
    workloads = (Verbatim(f"{each.name}: {each.title}") for each in settings.workloads)
    order = say(
        "{visits} visits in {blocks} blocks, drawn from {seed}",
        visits=len(found.visits),
        blocks=settings.repeats,
        seed=settings.shuffle,
    )
    rows = (
        *_factor_rows(found),
        ("Workloads", listed(workloads)),
        ("Active range", say("{percent} %", percent=settings.range_percent)),
        ("Each measured for", Verbatim(DURATION.show(settings.duration_ns))),
        ("Before each, unmeasured", Verbatim(DURATION.show(settings.ramp_ns))),
        ("Rest before each", Verbatim(DURATION.show(settings.rest_ns))),
        ("Purge", settings.purge),
        ("Filled before", say("{times:g} user capacities", times=settings.precondition_times)),
        ("Control", Verbatim(settings.control)),
        ("Order", order),
    )
    hooked = any("hook_exit_code" in each.configured.detail for each in visited)
    fields = (*ORDER, *(HOOKS if hooked else ()))
    visits = listing(visited, fields, caption="Visits in the order of measuring", folded=True)
    blocks: list[Block] = [Facts(caption="The plan", rows=rows), visits]
    blocks += _differing_facts(visited)
    return Section(title="The plan and its order", blocks=tuple(blocks))


def _last_said(visited: Visited) -> str:
    """Return the last line that a hook printed."""
    detail = visited.configured.detail
    said = detail.get("hook_stdout", detail.get("hook_stderr", ""))
    return said.splitlines()[-1] if said else ""


def _differing_facts(visited: Sequence[Visited]) -> list[Table]:
    """Return the facts by which the configured devices differ, as each says them of itself."""
    first: dict[str, dict[str, str]] = {}
    for each in sorted(visited, key=lambda one: one.visit.cell.place):
        detail = each.configured.detail
        known = {name: detail[name] for name in ("model", "capacity_bytes") if name in detail}
        first.setdefault(each.visit.cell.name, known | facts_in(detail))
    names = dict.fromkeys(name for facts in first.values() for name in facts)
    rows = [
        (cell, Verbatim(name), Verbatim(facts[name]))
        for cell, facts in first.items()
        for name in names
        if name in facts and len({each.get(name) for each in first.values()}) > 1
    ]
    fields: Fields[tuple[str, str, str]] = (
        ("Configuration", "", None, lambda row: row[0]),
        ("Fact", "", None, lambda row: row[1]),
        ("Value", "", None, lambda row: row[2]),
    )
    caption = "What the devices say of themselves, where they differ"
    return [listing(rows, fields, caption=caption, folded=True)] if rows else []


def _advice_sections(found: ConfigurationFound) -> list[Section]:
    """Return the last page: the setting, and every workload as its evidence."""
    text, choice = answer.advice_of(found), found.choice
    if not text:
        return []
    blocks: list[Block] = [Paragraph(text=text)]
    if choice is not None:
        fields: Fields[Share] = (
            ("Workload", "", None, lambda each: each.judged.rates.name),
            ("Unit", "", None, lambda each: Verbatim(each.judged.rates.unit)),
            ("Recommended", "", 1, lambda each: each.rate),
            ("Fastest configuration", "", None, lambda each: found.setups[each.best_place].name),
            ("Its rate", "", 1, lambda each: each.best),
            ("Recommended by it", "%", 1, lambda each: 100 * each.rate / each.best),
            ("Difference", "", None, lambda each: "slower" if each.behind else "not slower"),
            ("What was measured", "", None, lambda each: _answering(found, each)),
        )
        caption = "The recommended setting in every workload"
        blocks.append(listing(choice.shares, fields, caption=caption))
    return [Section(title="Recommended setting", blocks=tuple(blocks))]


def _answering(found: ConfigurationFound, share: Share) -> str:
    return "the cache" if answer.is_cached(found, share.judged) else "the device"
