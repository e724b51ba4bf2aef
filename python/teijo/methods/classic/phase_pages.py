"""Pages of phases of work on files: what was measured of each, and how it went over time."""

from collections.abc import Sequence
from typing import Any, Final

from teijo import units
from teijo.analysis import measures
from teijo.document import model
from teijo.document.grid import Fields, listing
from teijo.document.phrase import say
from teijo.methods.classic import hidden, phase_hidden
from teijo.methods.classic.phases import PhasesFound, Turn
from teijo.methods.classic.statistic import statistics_tables
from teijo.methods.pages import ms
from teijo.methods.series_pages import Flow, latency_section, time_section, times_table

PHASE: Final = "Phase"
Row = tuple[str, Turn]
_FIELDS: Fields[Row] = (
    (PHASE, "", None, lambda row: row[0]),
    ("Pass", "", 0, lambda row: row[1].step.round_number),
    ("Time", "s", 3, lambda row: row[1].answer.elapsed_ns / units.NS_PER_S),
    ("Calls", "", 0, lambda row: row[1].alone.ios),
    ("Rate", "1/s", 1, lambda row: row[1].alone.iops),
    ("Throughput", "MB/s", 2, lambda row: _mb_s(row[1])),
    ("CPU", "%", 1, lambda row: row[1].cpu_percent),
    ("Of it in the kernel", "%", 1, lambda row: _in_kernel(row[1])),
    ("Longest call", "ms", 3, lambda row: _longest_ms(row[1])),
    ("Flush at the end", "ms", 3, lambda row: _flush_ms(row[1])),
)
MEANING: Final = (
    "Time is from the first call to the end of the flush and the close behind the last. The "
    "longest call is without them."
)


def sections_of(
    found: PhasesFound[Any], headline: str, *, short_is_hidden: bool
) -> list[model.Section]:
    """Return the pages of what was measured; none before a phase has ended."""
    if not found.turns:
        return []
    lines = flows(found)
    rows = [(name, turn) for name, turns in found.turns.items() for turn in turns]
    result: tuple[model.Block, ...] = (
        model.Verdict(text=headline, good=None),
        *statistics_tables(found.statistics),
    )
    each = (listing(rows, _FIELDS, caption="Every phase"), model.Paragraph(text=MEANING))
    return [
        model.Section(title="Result", blocks=result),
        hidden.section(phase_hidden.entries(found, short_is_hidden=short_is_hidden)),
        model.Section(title="Phases", blocks=each),
        model.Section(title="Times", blocks=(times_table(lines, edge=PHASE),)),
        time_section(lines, edge=PHASE),
        latency_section(lines, edge=PHASE),
    ]


def flows(found: PhasesFound[Any]) -> list[Flow]:
    """Return a flow for each phase, its passes one after the other."""
    return [
        Flow(
            name=name,
            parts=tuple((turn.answer, turn.main) for turn in turns if turn.main is not None),
        )
        for name, turns in found.turns.items()
    ]


def fastest_line(found: PhasesFound[Any], names: Sequence[str]) -> str | None:
    """Return which of some phases moved most in a second, and where from; None of none."""
    rates = {
        name: measures.throughput_mb_s(found.turns[name][-1].alone)
        for name in names
        if name in found.turns
    }
    if not rates:
        return None
    best = max(rates, key=lambda name: rates[name])
    told = say("Up to {mb_s:,.1f} MB/s in {phase}", mb_s=rates[best], phase=best)
    if not phase_hidden.may_be_in_memory(found, best):
        return told
    return say("{told}, of files that memory may hold", told=told)


def _mb_s(turn: Turn) -> float | None:
    return measures.throughput_mb_s(turn.alone) if turn.alone.bytes else None


def _in_kernel(turn: Turn) -> float | None:
    if turn.system_ns is None or not turn.cpu_ns:
        return None
    return 100 * turn.system_ns / turn.cpu_ns


def _longest_ms(turn: Turn) -> float | None:
    return ms(turn.latency.max_ns) if turn.latency.count else None


def _flush_ms(turn: Turn) -> float | None:
    flush = turn.flush
    if flush is None or flush.latency is None or not flush.latency.count:
        return None
    return ms(flush.latency.max_ns)
