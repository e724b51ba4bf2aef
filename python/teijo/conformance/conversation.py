"""A method's conversation held once more with the recorded answers: what it asks, how it ends."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol

from teijo.terms.geometry import Geometry
from teijo.terms.record import Ending, Record
from teijo.terms.result import Answer
from teijo.terms.step import Step, step_to_json


@dataclass(frozen=True, kw_only=True)
class Heard:
    """How far a conversation got: steps it took, how it ended, and what it asked for then."""

    used: int
    ending: Ending | None
    asks: Step | None


class Converses(Protocol):
    """A method, as far as its conversation goes."""

    def steps(self, settings: Any, geometry: Geometry) -> Generator[Step, Answer, Ending]:
        """Return the conversation."""
        ...


def heard(method: Converses, settings: object, record: Record) -> Heard:
    """Give a method the recorded answers for as long as it asks for the recorded steps."""
    steps = method.steps(settings, record.geometry)
    used = 0
    try:
        asks = next(steps)
        for exchange in record.steps:
            if step_to_json(asks) != step_to_json(exchange.step):
                break
            used += 1
            asks = steps.send(exchange.answer)
    except StopIteration as end:
        return Heard(used=used, ending=end.value, asks=None)
    return Heard(used=used, ending=None, asks=asks)
