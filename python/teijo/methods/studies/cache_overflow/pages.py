"""The report of the study `cache-overflow`: the answer, the phases, what a rest brought back.

The charts are in charts, the sentences in words.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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


@dataclass(frozen=True, kw_only=True)
class Fall:
    """A row of the overflows: a cliff of a burst, with the model's V* in GB where it is the main
    one of the first burst.
    """

    burst: Burst
    cliff: Cliff
    model_gb: float | None


@dataclass(frozen=True, kw_only=True)
class Rested:
    """A row of the rests: a later burst, what came back, and what the first burst's cache held."""

    burst: Burst
    back: CameBack | None
    held_bytes: float


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
FALLS: Fields[Fall] = (
    ("Burst", "", 0, lambda row: row.burst.number),
    ("After", "s", 1, lambda row: row.cliff.at_s),
    ("Written (V*)", "GB", 2, lambda row: row.cliff.at_bytes / units.GIGA),
    ("Before (λ)", "MB/s", 1, lambda row: row.cliff.before.value / units.MEGA),
    ("After it (μ)", "MB/s", 1, lambda row: row.cliff.after.value / units.MEGA),
    ("Cache (C)", "GB", 2, lambda row: row.cliff.held.value / units.GIGA),
    ("C ± 95 %", "GB", 2, lambda row: gigabytes(row.cliff.held.half_width)),
    ("V* of the model", "GB", 2, lambda row: row.model_gb),
    ("Stalls", "", 0, lambda row: len(row.burst.overflow.stalls)),
    ("Longest stall", "s", 0, lambda row: _longest_s(row.burst)),
    ("Longest write", "ms", 1, lambda row: ms(row.burst.latency_ns_max)),
)
STALLS: Fields[tuple[Burst, Stall]] = (
    ("Burst", "", 0, lambda row: row[0].number),
    ("Begins", "s", 1, lambda row: row[1].first_s),
    ("Length", "s", 1, lambda row: row[1].length_s),
    ("At volume", "GB", 2, lambda row: row[1].at_bytes / units.GIGA),
)


def _known(of: Callable[[CameBack], Value]) -> Callable[[Rested], Value]:
    """Return what a field has where it is known what came back."""
    return lambda row: None if row.back is None else of(row.back)


RESTS: Fields[Rested] = (
    ("Burst", "", 0, lambda row: row.burst.number),
    ("Rest before", "s", 0, lambda row: row.burst.rest_s),
    ("Came back", "GB", 2, _known(lambda back: gigabytes(back.held.value))),
    ("± 95 %", "GB", 2, _known(lambda back: gigabytes(back.held.half_width))),
    ("Of the first burst's cache", "%", 1, lambda row: _share_percent(row)),
    (
        "Drained by the model (μ × rest)",
        "GB",
        2,
        _known(lambda back: gigabytes(back.drained_bytes)),
    ),
    ("Before, by the first burst's", "%", 1, _known(lambda back: _percent(back.before))),
    ("After, by the first burst's", "%", 1, _known(lambda back: _percent(back.after))),
)


def pages(found: OverflowFound) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings, record = found.settings, found.record
    return study_report(
        found,
        title="Cache overflow",
        subtitle=stimulus_name(settings),
        preparation=(("Purge", "none" if settings.purged == "no" else purge_method(record)),),
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
    drawn = charts.drawn_of(found)
    answer = (
        Verdict(text=words.verdict(found), good=None),
        Paragraph(text=words.answer(found)),
        charts.rate_charts(drawn)[0],
    )
    return [
        Section(title="Result", blocks=answer),
        _phase_section(found),
        *charts.sections(found, drawn),
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
    rows = [(burst, phase) for burst in found.bursts for phase in burst.overflow.phases]
    blocks: list[Block] = [
        listing(rows, PHASES, caption="Phases", folded=len(rows) > ROWS_UNFOLDED)
    ]
    falls = [
        Fall(
            burst=burst,
            cliff=cliff,
            model_gb=gigabytes(found.model_bytes(burst)) if _is_main(found, burst, place) else None,
        )
        for burst in found.bursts
        for place, cliff in enumerate(burst.overflow.cliffs)
    ]
    if falls:
        blocks += [listing(falls, FALLS, caption="Overflows"), Paragraph(text=words.MODEL)]
    blocks.append(Paragraph(text=words.method_of(found.record.geometry)))
    return Section(title="Phases", blocks=tuple(blocks))


def _is_main(found: OverflowFound, burst: Burst, place: int) -> bool:
    return burst is found.first and place == burst.overflow.main


def _rest_sections(found: OverflowFound) -> list[Section]:
    """Return what each rest brought back, nothing where there was none."""
    cliff = found.first.overflow.cliff
    if not found.later:
        return []
    blocks: list[Block] = [Paragraph(text=words.rests(found))]
    if cliff is not None:
        rows = [
            Rested(burst=burst, back=found.came_back(burst), held_bytes=cliff.held.value)
            for burst in found.later
        ]
        blocks.append(listing(rows, RESTS, caption="What a rest brought back"))
    return [Section(title="After a rest", blocks=tuple(blocks))]


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


def _longest_s(burst: Burst) -> float | None:
    return max((stall.length_s for stall in burst.overflow.stalls), default=None)


def _share_percent(row: Rested) -> float | None:
    if row.back is None or not row.held_bytes:
        return None
    return 100 * row.back.held.value / row.held_bytes


def _percent(gain: Gain | None) -> float | None:
    return None if gain is None else 100 * (1 + gain.share)


def _megabytes(rate: float | None) -> float | None:
    return None if rate is None else rate / units.MEGA
