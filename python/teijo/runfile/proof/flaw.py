"""What does not hold in a record, and what was looked at: the closed list of checks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from teijo.terms.record import Record, StepRecord
from teijo.terms.result import StepResult


class Check(StrEnum):
    """One question to a record; `MEANINGS` says what it holds against what."""

    TABLES = "tables"
    ORDER = "order"
    CLOCK = "clock"
    SEEDS = "seeds"
    RESULTS = "results"
    LATENCIES = "latencies"
    INTERVALS = "intervals"
    DEPTH = "depth"
    CURSORS = "cursors"
    COUNTERS = "counters"
    SELF_CHECKS = "self-checks"
    ENDING = "ending"
    CONVERSATION = "conversation"
    REPLAY = "replay"


MEANINGS: Final[Mapping[Check, str]] = {
    Check.TABLES: "each row belongs to a step, and says what the step says",
    Check.ORDER: "steps are numbered from 1 without a hole",
    Check.CLOCK: "each step starts at the end of the one before plus the gap, and takes its time",
    Check.SEEDS: "each step's seed is the one that follows from the run's",
    Check.RESULTS: "streams, I/Os and bytes are those that the step asked for",
    Check.LATENCIES: "sums and extremes lie within what the histograms allow",
    Check.INTERVALS: "the time series adds up to the results",
    Check.DEPTH: "latencies fit in the time and the queue depth there was",
    Check.CURSORS: "each sequential stream goes on where it stopped",
    Check.COUNTERS: "the device's own counters go on from step to step, and grow by what was done",
    Check.SELF_CHECKS: "each remark that follows from the numbers is there, and no other",
    Check.ENDING: "purges, failed I/Os, resumptions and the ending have the remarks they leave",
    Check.CONVERSATION: "the method asks for these very steps, and ends as recorded",
    Check.REPLAY: "the simulation, carried out again from settings and seed, answers the same",
}


@dataclass(frozen=True, kw_only=True)
class Flaw:
    """One contradiction in a record. `step` is the sequence number, if it has one."""

    check: Check
    text: str
    step: int | None = None


Flaws = Iterator[Flaw]


def answered(record: Record) -> Iterator[tuple[StepRecord, StepResult]]:
    """Give every step that took place with its answer."""
    for each in record.steps:
        if isinstance(each.answer, StepResult):
            yield each, each.answer


def engine_is_fio(record: Record) -> bool:
    """Return whether fio made the I/O: its figures are rounded, and its buckets are wider."""
    return record.run.engine.startswith("fio")


def is_simulated(record: Record) -> bool:
    """Return whether the device lives in virtual time."""
    return record.identity.kind == "simulated"
