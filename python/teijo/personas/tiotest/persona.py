"""tiotest: its command line in; its tables or terse lines out."""

from typing import Any, Final

from teijo.methods.classic.tiotest.found import TioFound
from teijo.methods.found import Found
from teijo.personas.persona import Call, Order, Refused, Said
from teijo.personas.tiotest.command import Line, read
from teijo.personas.tiotest.output import Timing, Timings, tables, terse
from teijo.terms.histogram import Histogram
from teijo.terms.result import Answer
from teijo.terms.step import Step
from teijo.units import NS_PER_S

_LINE: Final = "line"


class TiotestPersona:
    """Acts as tiotest 0.4.2, 0.3.3 and 0.3.1."""

    names = ("tiotest",)
    likes = ("0.4.2", "0.3.3", "0.3.1")
    naming = "Name a directory: -d /mnt/disk."

    def order(self, name: str, call: Call) -> Order | Said:
        """Return the run that a command line asks for, or what tiotest says instead."""
        del name
        try:
            line = read(call.like or self.likes[0], call.words, call.folder)
        except Refused as refused:
            return refused.said
        return Order(
            method="classic.tiotest",
            target=f"dir:{line.folder}",
            settings=line.settings,
            name="tiotest",
            memory={_LINE: line},
        )

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        """Return nothing: tiotest is silent until its end."""
        del order, step, answer
        return Said()

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        """Return the tables, or with -T the terse lines."""
        assert isinstance(found, TioFound)
        line = order.memory[_LINE]
        assert isinstance(line, Line)
        timings = timings_of(found, {name: name for name in found.settings.phases}, 1)
        shown = terse if "T" in line.flags else tables
        return Said(stdout=shown(line.layout, timings))


def timings_of(found: TioFound, cells: dict[str, str], number: int) -> Timings:
    """Return the times of one pass, by phase; `cells` are the names they have in the record."""
    timings = {}
    for phase, cell in cells.items():
        for turn in found.turns.get(cell, ()):
            if turn.step.round_number != number:
                continue
            times = turn.latency
            timings[phase] = Timing(
                amount_bytes=turn.alone.bytes,
                elapsed_ns=turn.answer.elapsed_ns,
                user_ns=turn.user_ns or 0,
                system_ns=turn.system_ns or 0,
                calls=times.count,
                latency_ns=times.sum_ns,
                longest_ns=times.max_ns if times.count else 0,
                over_2s=_longer(times, 2 * NS_PER_S),
                over_10s=_longer(times, 10 * NS_PER_S),
            )
    return timings


def _longer(times: Histogram, limit_ns: int) -> int:
    """Return how many calls took longer; a bucket that the limit lies in counts as below it."""
    return int(times.counts[times.values_ns > limit_ns].sum()) if times.count else 0
