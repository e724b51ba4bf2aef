"""What passes of transactions show: the rate that was kept, service and response times."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from teijo.analysis.quantities import Quantity
from teijo.document.grid import Figure
from teijo.document.phrase import Verbatim
from teijo.methods.databases import DiskCounts, disk_of, own_parts
from teijo.methods.found import Found
from teijo.methods.oltp.settings import OltpSettings
from teijo.terms.finding import Scalar
from teijo.terms.histogram import Histogram, merged
from teijo.terms.result import StepResult
from teijo.terms.step import Perform
from teijo.terms.watch import Watch
from teijo.units import NS_PER_MS, NS_PER_S, per_second

FILL: Final = "fill"
RATE: Final = Figure(name="Transactions", unit="1/s", digits=1)
SERVICE: Final = Figure(name="Mean service time", unit="ms", digits=3, more_is_faster=False)
RESPONSE: Final = Figure(name="Mean response time", unit="ms", digits=3, more_is_faster=False)

_DIGITS_MOST = 20
"""As many as 64 bits have; a run file may hold more than int() takes."""


class OltpFound(Found[OltpSettings]):
    """What a record of transactions shows; each pass is a batch."""

    @cached_property
    def passes(self) -> list[StepResult]:
        """The last attempt of each pass."""
        last = {
            step.round_number: answer
            for step, answer in self.record.taken(Perform)
            if step.phase != FILL
        }
        return list(last.values())

    @cached_property
    def filling(self) -> list[StepResult]:
        """The making of the tables, where the server told of itself."""
        return [answer for step, answer in self.record.taken(Perform) if step.phase == FILL]

    @property
    def late(self) -> int:
        """How many transactions were due and never begun: every connection was busy to the end."""
        return self._told("late")

    @property
    def due(self) -> int:
        """How many transactions were due."""
        return self._told("due")

    @property
    def woken_late_ms(self) -> float | None:
        """How much too late the host woke a client that was free, on average; None of none."""
        woken = self._told("woken")
        return self._told("woken_ns") / woken / NS_PER_MS if woken else None

    def _told(self, name: str) -> int:
        told = (answer.detail.get(name, "") for answer in self.passes)
        return sum(int(text) for text in told if text.isdecimal() and len(text) < _DIGITS_MOST)

    @property
    def operations(self) -> tuple[str, ...]:
        """What was done, by name, in the order in which it was met."""
        names = (part.operation for answer in self.passes for part in own_parts(answer))
        return tuple(dict.fromkeys(names))

    def service(self, name: str = "") -> Histogram:
        """Return the times from the beginning to the end, of one operation or of all."""
        parts = (part for answer in self.passes for part in own_parts(answer))
        return merged(part.timed for part in parts if name in ("", part.operation))

    def response(self, name: str = "") -> Histogram | None:
        """Return the times from when they were due; None where nothing was."""
        parts = [part for answer in self.passes for part in own_parts(answer)]
        found = [p.response for p in parts if p.response is not None and name in ("", p.operation)]
        return merged(found) if found else None

    def rate(self, answer: StepResult) -> float:
        """Return the transactions in a second of a pass."""
        count = sum(part.count for part in own_parts(answer))
        return per_second(count, answer.elapsed_ns)

    @cached_property
    def disk(self) -> DiskCounts | None:
        """What the disk did during all passes."""
        return disk_of(self.passes)

    @property
    def rounds(self) -> int:
        """How many passes there are."""
        return len(self.passes)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """The rate over all passes."""
        if not self.passes:
            return ()
        mean = sum(map(self.rate, self.passes)) / len(self.passes)
        return (Scalar(name=RATE.name, value=mean, unit=RATE.unit),)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Rate, service and response time."""
        found = []
        for figure, values in (
            (RATE, [self.rate(answer) for answer in self.passes]),
            (SERVICE, [_mean_ms(answer, due=False) for answer in self.passes]),
            (RESPONSE, [_mean_ms(answer, due=True) for answer in self.passes]),
        ):
            if values and (figure is not RESPONSE or self.response() is not None):
                found.append(
                    Quantity(
                        place=Verbatim(self.settings.load),
                        figure=figure,
                        value=sum(values) / len(values),
                        batches=tuple(values),
                        by_round=True,
                    )
                )
        return tuple(found)

    @property
    def watch_running(self) -> Watch:
        """The pass that is under way, and the time of those that are left."""
        left_ns = max(0, self.settings.passes - self.rounds) * self.settings.duration_ns
        return Watch(
            phase="measure",
            remaining_ns_least=left_ns,
            remaining_ns_most=left_ns,
            round_number=min(self.rounds + 1, self.settings.passes),
            rounds_least=self.settings.passes,
            rounds_most=self.settings.passes,
        )

    @property
    def seconds(self) -> float:
        """How long all passes were."""
        return sum(answer.elapsed_ns for answer in self.passes) / NS_PER_S


def _mean_ms(answer: StepResult, *, due: bool) -> float:
    parts = own_parts(answer)
    times = [part.response if due else part.timed for part in parts]
    return merged(each for each in times if each is not None).mean_ns / NS_PER_MS
