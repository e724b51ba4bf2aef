"""What a run has done since it began, added up as its file grows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from teijo.analysis.drive_changes import TEMPERATURE
from teijo.analysis.exponential import Exponential
from teijo.api.watching import Look
from teijo.terms.result import StepResult


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The sums of the steps that have ended, and what the drive told last.

    `latencies` are service times of I/Os by operation; flushes and discards are none of them.
    `errors` are those of all operations. `kelvin` is the temperature in the last reading, None
    where that has none.
    """

    errors: int = 0
    latencies: Mapping[str, Exponential] = field(default_factory=dict)
    kelvin: int | None = None

    def after(self, look: Look) -> "Totals":
        """Return the sums with what a look at the run found that the look before had not."""
        before = Totals() if look.new.anew else self
        errors, latencies = before.errors, dict(before.latencies)
        for step in look.new.steps:
            if not isinstance(step.answer, StepResult):
                continue
            for one in (*step.answer.results, *step.answer.commands):
                errors += sum(one.errors.values())
            for one in step.answer.results:
                if one.latency is not None:
                    known = latencies.get(one.operation, Exponential())
                    latencies[one.operation] = known.plus(one.latency)
        readings = look.record.readings
        kelvin = readings[-1].counters.get(TEMPERATURE) if readings else None
        return Totals(errors=errors, latencies=latencies, kelvin=kelvin)
