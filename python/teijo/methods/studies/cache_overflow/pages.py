"""The report of the study `cache-overflow`: the answer, the phases, what a rest brought back.

The charts are in charts, the sentences in words.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from teijo import units
from teijo.analysis.overflow import Cliff, Phase, PhaseName, Stall
from teijo.analysis.overflow_proof import CameBack
from teijo.analysis.recovery import Gain
from teijo.document.grid import Fields, listing
from teijo.document.model import Block, Document, Paragraph, Section, Value, Verdict
from teijo.document.phrase import say
from teijo.methods.pages import ms, purge_method
from teijo.methods.report import study_report
from teijo.methods.studies.cache_overflow import charts, words
from teijo.methods.studies.cache_overflow.bursts import Burst
from teijo.methods.studies.cache_overflow.found import OverflowFound, gigabytes
from teijo.methods.studies.cache_overflow.settings import stimulus_name
from teijo.terms.purge import NONE
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind

Rested = tuple[Burst, CameBack | None]
"""A burst after a rest, and what came back, where that is known."""

STALLS_MOST = 200
ROWS_UNFOLDED = 16
PHASE_NAMES: dict[PhaseName, str] = {
    "whole": "throughout",
    "before": "before the overflow",
    "stall": "stall",
    "after": "after the overflow",
}


PHASES: Fields[tuple[Burst, Phase]] = (
    ("Burst", "", 0, lambda row: row[0].number),
    ("Phase", "", None, lambda row: PHASE_NAMES[row[1].name]),
    ("Begins", "s", 1, lambda row: row[1].first_s),
    ("Ends", "s", 1, lambda row: row[1].end_s),
    ("From volume", "GB", 2, lambda row: row[1].first_bytes / units.GIGA),
    ("To volume", "GB", 2, lambda row: row[1].end_bytes / units.GIGA),
    ("Written", "GB", 2, lambda row: (row[1].end_bytes - row[1].first_bytes) / units.GIGA),
    ("Rate", "MB/s", 1, lambda row: row[1].rate.value / units.MEGA),
    ("± 95 %", "MB/s", 1, lambda row: _megabytes(row[1].rate.half_width)),
)
STALLS: Fields[tuple[Burst, Stall]] = (
    ("Burst", "", 0, lambda row: row[0].number),
    ("Begins", "s", 1, lambda row: row[1].first_s),
    ("Length", "s", 1, lambda row: row[1].length_s),
    ("At volume", "GB", 2, lambda row: row[1].at_bytes / units.GIGA),
)


def pages(found: OverflowFound) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings, record = found.settings, found.record
    return study_report(
        found,
        title="Cache overflow",
        subtitle=stimulus_name(settings),
        preparation=(("Purge", "none" if settings.purge == NONE else purge_method(record)),),
        test=(
            ("Stimulus", stimulus_name(settings)),
            ("Source", words.source(settings)),
            ("Bursts", words.bursts(settings)),
            ("Ends after", words.ends(settings, settings.limit_bytes(record.geometry))),
        ),
        sections=_sections(found) if found.bursts else (),
        empty="Nothing has been written yet.",
        full_size={"GB", "s"},
        record=_held_back(found),
    )


def _sections(found: OverflowFound) -> list[Section]:
    answer = (
        Verdict(text=words.verdict(found), good=None),
        Paragraph(text=words.answer(found)),
        charts.rate_charts(found.bursts)[0],
    )
    return [
        Section(title="Result", blocks=answer),
        _phase_section(found),
        *charts.sections(found),
        *_rest_sections(found),
        *_stall_sections(found.bursts),
    ]


def _held_back(found: OverflowFound) -> Record:
    """Return the record with one remark on the source for all those that each step has.

    That a source of a given rate is held back once the cache is full is what the study looks for.
    """
    record, kind = found.record, RemarkKind.SCHEDULE_NOT_KEPT
    late = [remark for remark in record.remarks if remark.kind is kind]
    if found.settings.rate_bytes_per_second is None or len(late) < 2:
        return record
    text = say(
        "The source was held back in {steps} steps: the device took less than it delivers.",
        steps=len(late),
    )
    others = tuple(remark for remark in record.remarks if remark.kind is not kind)
    return replace(record, remarks=(*others, Remark(kind=kind, text=text)))


def _phase_section(found: OverflowFound) -> Section:
    phases = [(burst, phase) for burst in found.bursts for phase in burst.overflow.phases]
    falls = [(burst, cliff) for burst in found.bursts for cliff in burst.overflow.cliffs]
    folded = len(phases) > ROWS_UNFOLDED
    blocks: list[Block] = [listing(phases, PHASES, caption="Phases", folded=folded)]
    if falls:
        fields = _falls(found)
        blocks += [listing(falls, fields, caption="Overflows"), Paragraph(text=words.MODEL)]
    blocks.append(Paragraph(text=words.method_of(found.record.geometry)))
    return Section(title="Phases", blocks=tuple(blocks))


def _falls(found: OverflowFound) -> Fields[tuple[Burst, Cliff]]:
    """Return the columns of the overflows; the model is only of the first burst's deepest."""
    first = found.first
    model_gb = gigabytes(found.model_bytes(first))
    return (
        ("Burst", "", 0, lambda row: row[0].number),
        ("After", "s", 1, lambda row: row[1].at_s),
        ("Written (V*)", "GB", 2, lambda row: row[1].at_bytes / units.GIGA),
        ("Before (λ)", "MB/s", 1, lambda row: row[1].before.value / units.MEGA),
        ("After it (μ)", "MB/s", 1, lambda row: row[1].after.value / units.MEGA),
        ("Cache (C)", "GB", 2, lambda row: row[1].held.value / units.GIGA),
        ("C ± 95 %", "GB", 2, lambda row: gigabytes(row[1].held.half_width)),
        (
            "V* of the model",
            "GB",
            2,
            lambda row: model_gb if row[1] is first.overflow.cliff else None,
        ),
        ("Stalls", "", 0, lambda row: len(row[0].overflow.stalls)),
        ("Longest stall", "s", 0, lambda row: row[0].longest_stall_s),
        ("Longest write", "ms", 1, lambda row: ms(row[0].latency_ns_max)),
    )


def _rest_sections(found: OverflowFound) -> list[Section]:
    """Return what each rest brought back, nothing where there was none."""
    if not found.later:
        return []
    blocks: list[Block] = [Paragraph(text=words.rests(found))]
    cliff = found.first.overflow.cliff
    if cliff is not None:
        rows = [(burst, found.came_back(burst)) for burst in found.later]
        caption = "What a rest brought back"
        blocks.append(listing(rows, _rests(cliff.held.value), caption=caption))
    return [Section(title="After a rest", blocks=tuple(blocks))]


def _rests(held_bytes: float) -> Fields[Rested]:
    """Return the columns of the rests; `held_bytes` is what the first burst's cache held."""

    def known(of: Callable[[CameBack], Value]) -> Callable[[Rested], Value]:
        return lambda row: None if row[1] is None else of(row[1])

    def share(back: CameBack) -> float | None:
        return 100 * back.held.value / held_bytes if held_bytes else None

    return (
        ("Burst", "", 0, lambda row: row[0].number),
        ("Rest before", "s", 0, lambda row: row[0].rest_s),
        ("Came back", "GB", 2, known(lambda back: gigabytes(back.held.value))),
        ("± 95 %", "GB", 2, known(lambda back: gigabytes(back.held.half_width))),
        ("Of the first burst's cache", "%", 1, known(share)),
        (
            "Drained by the model (μ × rest)",
            "GB",
            2,
            known(lambda back: gigabytes(back.drained_bytes)),
        ),
        ("Before, by the first burst's", "%", 1, known(lambda back: _percent(back.before))),
        ("After, by the first burst's", "%", 1, known(lambda back: _percent(back.after))),
    )


def _stall_sections(bursts: Sequence[Burst]) -> list[Section]:
    rows = [(burst, stall) for burst in bursts for stall in burst.overflow.stalls]
    if not rows:
        return []
    folded = len(rows) > ROWS_UNFOLDED
    table = listing(rows[:STALLS_MOST], STALLS, caption="Stalls", folded=folded)
    text = (
        "In a stall less than a quarter of the usual rate is written: of the rate after the "
        "overflow, where there was one."
    )
    return [Section(title="Stalls", blocks=(Paragraph(text=text), table))]


def _percent(gain: Gain | None) -> float | None:
    return None if gain is None else 100 * (1 + gain.share)


def _megabytes(rate: float | None) -> float | None:
    return None if rate is None else rate / units.MEGA
