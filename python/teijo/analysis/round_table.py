"""What each cell of a run measured in each round, as the rounds end."""

from dataclasses import dataclass, field
from typing import Final

from teijo.analysis.measures import latency_ms_mean
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import Measure, Perform, Step
from teijo.units import megabytes_per_second

ANSWERS_MOST: Final = 4096
"""Where there are more, the later half is kept: PTS has 25 rounds of 56 cells at most."""


@dataclass(frozen=True, kw_only=True)
class CellAnswer:
    """What one cell measured in one round: its rates, and the mean latency in ms.

    `latency_ms` is None where nothing was completed.
    """

    round_number: int
    cell: str
    iops: float
    mb_s: float
    latency_ms: float | None


@dataclass
class RoundTable:
    """The rounds of the part and phase under way; another part or phase begins a new table.

    `begun` counts the tables and what was dropped: while it is the same, `answers` only grows.
    """

    begun: int = 0
    part: str = ""
    phase: str = ""
    answers: list[CellAnswer] = field(default_factory=list)

    def end(self, step: Step, answer: Answer) -> None:
        """Take a step that has its answer. A gap drops its round, which is measured again."""
        if not isinstance(step, Measure | Perform) or None in (step.round_number, step.cell):
            return
        number, cell = step.round_number or 0, step.cell or ""
        if (step.part, step.phase) != (self.part, self.phase):
            self.part, self.phase = step.part, step.phase
            self._keep([])
        if isinstance(answer, Gap):
            self._keep([each for each in self.answers if each.round_number != number])
        elif isinstance(answer, StepResult):
            found = CellAnswer(
                round_number=number,
                cell=cell,
                iops=answer.iops,
                mb_s=megabytes_per_second(answer.bytes, answer.elapsed_ns),
                latency_ms=latency_ms_mean(answer) if answer.ios else None,
            )
            self.answers.append(found)
            if len(self.answers) > ANSWERS_MOST:
                self._keep(self.answers[ANSWERS_MOST // 2 :])

    def _keep(self, answers: list[CellAnswer]) -> None:
        self.answers, self.begun = answers, self.begun + 1
