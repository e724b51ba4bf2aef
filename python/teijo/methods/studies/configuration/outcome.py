"""What a record holds of the study: each visit with its answers, and the whole blocks as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from teijo import units
from teijo.analysis import measures
from teijo.analysis.judged import Rates
from teijo.methods.studies.configuration.design import MEASURE, Visit, control_of, visits_of
from teijo.methods.studies.configuration.settings import ConfigurationSettings
from teijo.methods.workload.settings import NamedStream
from teijo.terms.record import Record
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Configure, Measure
from teijo.terms.workload import Access

_LARGE_BYTES = 64 * units.KIB


@dataclass(frozen=True, kw_only=True)
class Visited:
    """One visit as far as it has come: what the device was then, and an answer a workload."""

    visit: Visit
    configured: StepResult
    answers: tuple[StepResult, ...]


def visited(settings: ConfigurationSettings, record: Record) -> tuple[Visited, ...]:
    """Return the visits that took place, in order; the last one may not be whole yet.

    A gap drops what was measured of its visit, which is begun again with its configuration.
    """
    waiting = iter(visits_of(settings))
    found: list[Visited] = []
    configured: StepResult | None = None
    answers: list[StepResult] = []
    for each in record.steps:
        if isinstance(each.answer, Gap):
            configured = None
        elif isinstance(each.step, Configure):
            configured, answers = each.answer, []
        elif isinstance(each.step, Measure) and each.step.phase == MEASURE:
            answers.append(each.answer)
        if configured is not None and len(answers) == len(settings.workloads):
            visit = next(waiting)
            found.append(Visited(visit=visit, configured=configured, answers=tuple(answers)))
            configured = None
    if configured is not None:
        visit = next(waiting)
        found.append(Visited(visit=visit, configured=configured, answers=tuple(answers)))
    return tuple(found)


def whole_blocks(settings: ConfigurationSettings, all_visited: Sequence[Visited]) -> int:
    """Return how many blocks were measured from end to end."""
    whole = [each for each in all_visited if len(each.answers) == len(settings.workloads)]
    return len(whole) * settings.repeats // len(visits_of(settings))


def rates_of(settings: ConfigurationSettings, all_visited: Sequence[Visited]) -> tuple[Rates, ...]:
    """Return every workload's rates over the whole blocks."""
    blocks, control = whole_blocks(settings, all_visited), control_of(settings)
    counted = [each for each in all_visited if each.visit.block <= blocks]
    shape = tuple(len(levels) for _, levels in settings.factors) or (1,)
    copies = 0 if control is None else blocks
    found = []
    for place, stream in enumerate(settings.workloads):
        values, places = np.zeros((*shape, blocks)), np.zeros((*shape, blocks), np.int64)
        again, places_again = np.zeros(copies), np.zeros(copies, np.int64)
        for each in counted:
            visit, at = each.visit, each.visit.block - 1
            own, numbers = again, places_again
            if not visit.copy:
                own = values.reshape(-1, blocks)[visit.cell.place]
                numbers = places.reshape(-1, blocks)[visit.cell.place]
            own[at], numbers[at] = rate_of(stream, each.answers[place]), visit.number
        found.append(
            Rates(
                name=stream.name,
                unit=unit_of(stream),
                values=values,
                again=again,
                places=places,
                places_again=places_again,
                control=None if control is None else control.place,
            )
        )
    return tuple(found)


def unit_of(stream: NamedStream) -> str:
    """Return what a workload is judged by: throughput where it streams, else its I/Os."""
    large = stream.block_size_bytes >= _LARGE_BYTES
    streams = stream.stream(stream.name).access is Access.SEQUENTIAL
    return "MB/s" if large or streams else "IOPS"


def rate_of(stream: NamedStream, answer: StepResult) -> float:
    """Return a measurement's rate in the workload's unit."""
    return measures.throughput_mb_s(answer) if unit_of(stream) == "MB/s" else answer.iops
