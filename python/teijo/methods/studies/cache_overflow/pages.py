"""The report of the study `cache-overflow`: the answer, the phases, what a rest brought back.

The charts are in charts, the sentences in words.
"""

from collections.abc import Sequence
from dataclasses import replace

from teijo import units
from teijo.analysis.overflow import PhaseName
from teijo.analysis.recovery import Mean
from teijo.document.model import (
    Block,
    Column,
    Document,
    Header,
    HeaderGroup,
    Paragraph,
    Section,
    Table,
    Value,
    Verdict,
)
from teijo.document.phrase import say
from teijo.methods.pages import (
    assemble,
    device_group,
    ms,
    purge_method,
    run_rows,
    stamp_of,
)
from teijo.methods.rounds import exchanges_of
from teijo.methods.scaled import at_full_size
from teijo.methods.studies.cache_overflow import charts, words
from teijo.methods.studies.cache_overflow.bursts import (
    Burst,
    Recovery,
    bursts_of,
    model_bytes,
    recovery_of,
)
from teijo.methods.studies.cache_overflow.proof import is_purged, verdict_of
from teijo.methods.studies.cache_overflow.settings import OverflowSettings, stimulus_name
from teijo.terms.finding import Findings
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind

STALLS_MOST = 200
ROWS_UNFOLDED = 16
PHASE_NAMES: dict[PhaseName, str] = {
    "whole": "throughout",
    "before": "before the overflow",
    "stall": "stall",
    "after": "after the overflow",
}


def pages(settings: OverflowSettings, record: Record, findings: Findings) -> Document:
    """Return the whole report of a record, growing or sealed."""
    del findings  # every number stands in the bursts, which have more than one place for it
    bursts = bursts_of(settings, record.geometry, exchanges_of(record))
    if bursts:
        sections = [
            _result_section(settings, record, bursts),
            _phase_section(settings, record.geometry, bursts),
            *charts.sections(settings, record.geometry, bursts),
            *_rest_sections(record.geometry, bursts),
            *_stall_sections(bursts),
        ]
    else:
        text = "Nothing has been written yet."
        sections = [Section(title="Result", blocks=(Paragraph(text=text),))]
    held_back = _held_back(settings, record)
    told = at_full_size(sections, record.geometry, {"GB", "s"})
    return assemble(held_back, settings, _header(settings, record), told)


def _held_back(settings: OverflowSettings, record: Record) -> Record:
    """Return the record with one remark on the source for all those that each step has.

    That a source of a given rate is held back once the cache is full is what the study looks for.
    """
    kind = RemarkKind.SCHEDULE_NOT_KEPT
    late = [remark for remark in record.remarks if remark.kind is kind]
    if settings.rate_bytes_per_second is None or len(late) < 2:
        return record
    text = say(
        "The source was held back in {steps} steps: the device took less than it delivers.",
        steps=len(late),
    )
    others = tuple(remark for remark in record.remarks if remark.kind is not kind)
    return replace(record, remarks=(*others, Remark(kind=kind, text=text)))


def _header(settings: OverflowSettings, record: Record) -> Header:
    volume = settings.limit_bytes(record.geometry)
    return Header(
        title="Cache overflow",
        subtitle=stimulus_name(settings),
        organisation="",
        revision="",
        top=run_rows(record),
        groups=(
            device_group(record),
            HeaderGroup(
                title="Preparation",
                tone="preparation",
                rows=(("Purge", "none" if settings.purged == "no" else purge_method(record)),),
            ),
            HeaderGroup(
                title="Study",
                tone="test",
                rows=(
                    ("Stimulus", stimulus_name(settings)),
                    ("Source", words.source(settings)),
                    ("Bursts", words.bursts(settings)),
                    ("Ends after", words.ends(settings, volume)),
                ),
            ),
        ),
        stamp=stamp_of(record),
    )


def _result_section(settings: OverflowSettings, record: Record, bursts: Sequence[Burst]) -> Section:
    geometry = record.geometry
    found = verdict_of(settings, geometry, bursts, purged=is_purged(record))
    blocks = (
        Verdict(text=words.verdict(bursts[0], found), good=None),
        Paragraph(text=words.answer(settings, geometry, bursts, found)),
        charts.hero(geometry, bursts),
    )
    return Section(title="Result", blocks=blocks)


def _phase_section(
    settings: OverflowSettings, geometry: Geometry, bursts: Sequence[Burst]
) -> Section:
    blocks: list[Block] = [_phase_table(bursts)]
    if any(burst.overflow.cliffs for burst in bursts):
        blocks += [_cliff_table(settings, bursts), Paragraph(text=words.MODEL)]
    blocks.append(Paragraph(text=words.method_of(geometry)))
    return Section(title="Phases", blocks=tuple(blocks))


def _phase_table(bursts: Sequence[Burst]) -> Table:
    columns = (
        Column(name="Burst", digits=0),
        Column(name="Phase"),
        Column(name="Begins", unit="s", digits=1),
        Column(name="Ends", unit="s", digits=1),
        Column(name="From volume", unit="GB", digits=2),
        Column(name="To volume", unit="GB", digits=2),
        Column(name="Written", unit="GB", digits=2),
        Column(name="Rate", unit="MB/s", digits=1),
        Column(name="± 95 %", unit="MB/s", digits=1),
    )
    rows = tuple(
        (
            burst.number,
            PHASE_NAMES[phase.name],
            phase.first_s,
            phase.end_s,
            phase.first_bytes / 1e9,
            phase.end_bytes / 1e9,
            (phase.end_bytes - phase.first_bytes) / 1e9,
            phase.rate.value / 1e6,
            _width(phase.rate, 1e6),
        )
        for burst in bursts
        for phase in burst.overflow.phases
    )
    return Table(columns=columns, rows=rows, caption="Phases", folded=len(rows) > ROWS_UNFOLDED)


def _cliff_table(settings: OverflowSettings, bursts: Sequence[Burst]) -> Table:
    columns = (
        Column(name="Burst", digits=0),
        Column(name="After", unit="s", digits=1),
        Column(name="Written (V*)", unit="GB", digits=2),
        Column(name="Before (λ)", unit="MB/s", digits=1),
        Column(name="After it (μ)", unit="MB/s", digits=1),
        Column(name="Cache (C)", unit="GB", digits=2),
        Column(name="C ± 95 %", unit="GB", digits=2),
        Column(name="V* of the model", unit="GB", digits=2),
        Column(name="Stalls", digits=0),
        Column(name="Longest stall", unit="s", digits=0),
        Column(name="Longest write", unit="ms", digits=1),
    )
    rows: list[tuple[Value, ...]] = []
    for burst in bursts:
        stalls = burst.overflow.stalls
        longest = max((stall.length_s for stall in stalls), default=None)
        for place, cliff in enumerate(burst.overflow.cliffs):
            main = place == burst.overflow.main and burst is bursts[0]
            model = model_bytes(settings, burst) if main else None
            rows.append(
                (
                    burst.number,
                    cliff.at_s,
                    cliff.at_bytes / 1e9,
                    cliff.before.value / 1e6,
                    cliff.after.value / 1e6,
                    cliff.held.value / 1e9,
                    _width(cliff.held, 1e9),
                    None if model is None else model / 1e9,
                    len(stalls),
                    longest,
                    ms(burst.latency_ns_max),
                )
            )
    return Table(columns=columns, rows=tuple(rows), caption="Overflows")


def _rest_sections(geometry: Geometry, bursts: Sequence[Burst]) -> list[Section]:
    """Return what each rest brought back, nothing where there was none or no overflow."""
    first, later = bursts[0], bursts[1:]
    if not later:
        return []
    if first.overflow.cliff is None:
        return [Section(title="After a rest", blocks=(Paragraph(text=words.NOTHING_BACK),))]
    found = [(burst, recovery_of(first, burst, geometry)) for burst in later]
    columns = (
        Column(name="Burst", digits=0),
        Column(name="Rest before", unit="s", digits=0),
        Column(name="Came back", unit="GB", digits=2),
        Column(name="± 95 %", unit="GB", digits=2),
        Column(name="Of the first burst's cache", unit="%", digits=1),
        Column(name="Drained by the model (μ × rest)", unit="GB", digits=2),
        Column(name="Before, by the first burst's", unit="%", digits=1),
        Column(name="After, by the first burst's", unit="%", digits=1),
    )
    rows = tuple(_rest_row(geometry, first, burst, recovery) for burst, recovery in found)
    sentences = words.rests(geometry, first, found)
    blocks = (
        Paragraph(text=sentences),
        Table(columns=columns, rows=rows, caption="What a rest brought back"),
    )
    return [Section(title="After a rest", blocks=blocks)]


def _rest_row(
    geometry: Geometry, first: Burst, burst: Burst, found: Recovery | None
) -> tuple[Value, ...]:
    rest_s = burst.rest_ns * geometry.scale / units.NS_PER_S
    cliff = first.overflow.cliff
    if found is None or cliff is None:
        return (burst.number, rest_s, None, None, None, None, None, None)
    held = cliff.held.value
    return (
        burst.number,
        rest_s,
        found.held.value / 1e9,
        _width(found.held, 1e9),
        100 * found.held.value / held if held else None,
        found.drained_bytes / 1e9,
        None if found.before is None else 100 * (1 + found.before.share),
        None if found.after is None else 100 * (1 + found.after.share),
    )


def _stall_sections(bursts: Sequence[Burst]) -> list[Section]:
    rows = tuple(
        (burst.number, stall.first_s, stall.length_s, stall.at_bytes / 1e9)
        for burst in bursts
        for stall in burst.overflow.stalls
    )
    if not rows:
        return []
    columns = (
        Column(name="Burst", digits=0),
        Column(name="Begins", unit="s", digits=1),
        Column(name="Length", unit="s", digits=1),
        Column(name="At volume", unit="GB", digits=2),
    )
    table = Table(
        columns=columns, rows=rows[:STALLS_MOST], caption="Stalls", folded=len(rows) > ROWS_UNFOLDED
    )
    text = (
        "In a stall less than a quarter of the usual rate is written: of the rate after the "
        "overflow, where there was one."
    )
    return [Section(title="Stalls", blocks=(Paragraph(text=text), table))]


def _width(mean: Mean, unit: float) -> float | None:
    return None if mean.half_width is None else mean.half_width / unit
