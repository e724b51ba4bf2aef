"""A run as it was recorded: all that analysis, methods and reports ever see of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from teijo.terms.geometry import Geometry, Identity
from teijo.terms.provenance import Group, Provenance
from teijo.terms.reading import Reading
from teijo.terms.remark import Remark
from teijo.terms.result import STOPPED, Answer, StepResult
from teijo.terms.step import Measure, Step

S = TypeVar("S", bound=Step)
Ending = Literal["running", "done", "steady", "not steady", "interrupted", "failed"]


@dataclass(frozen=True, kw_only=True)
class RunInfo:
    """What was asked. `settings` is the method's settings as JSON-ready values; `spec` the
    version of the standard ("2.0.2-client"), empty where none applies; times are ISO 8601.
    `provenance` says where the numbers are from, `group` which runs this one belongs to.
    """

    id: str
    method: str
    spec: str
    settings: Mapping[str, object]
    seed: int
    engine: str
    version: str
    started_at: str
    ended_at: str = ""
    ending: Ending = "running"
    error: str = ""
    provenance: Provenance = "measured"
    group: Group = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether the method came to its own end, steady or not: nothing more will follow."""
        return self.ending in ("done", "steady", "not steady")


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """One exchange of the conversation: the step, its own seed, and the answer."""

    seq: int
    step: Step
    seed: int
    answer: Answer

    @property
    def ended_early(self) -> bool:
        """Whether it is a measurement that may end early, and somebody ended it."""
        may = isinstance(self.step, Measure) and self.step.ends_early
        return may and isinstance(self.answer, StepResult) and STOPPED in self.answer.detail


@dataclass(frozen=True, kw_only=True)
class Record:
    """A whole run, growing or sealed. `steps` are in order of `seq`, which counts from 1.

    `readings` are what the drive told of itself while it went on, in the order it was asked.
    """

    run: RunInfo
    geometry: Geometry
    identity: Identity
    environment: Mapping[str, str]
    steps: tuple[StepRecord, ...]
    remarks: tuple[Remark, ...] = field(default=())
    readings: tuple[Reading, ...] = field(default=())

    @property
    def answers(self) -> list[StepResult]:
        """The answers of all steps that took place, in order."""
        return [each.answer for each in self.steps if isinstance(each.answer, StepResult)]

    def taken(self, kind: type[S]) -> list[tuple[S, StepResult]]:
        """Return the steps of a kind that took place, with their answers, in order."""
        return [
            (each.step, each.answer)
            for each in self.steps
            if isinstance(each.step, kind) and isinstance(each.answer, StepResult)
        ]

    def measured(self, phase: str | None = None) -> list[tuple[Measure, StepResult]]:
        """Return the measurements that took place, in order, of one phase or of all."""
        return [each for each in self.taken(Measure) if phase in (None, each[0].phase)]
