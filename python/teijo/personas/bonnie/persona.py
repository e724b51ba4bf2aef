"""bonnie++: its command line in; its progress, block of text and CSV out."""

from typing import Any, Final

from teijo.methods.classic.bonnie.found import BonnieFound
from teijo.methods.classic.bonnie.settings import FILE_PHASES, PHASES
from teijo.methods.found import Found
from teijo.personas.bonnie import output
from teijo.personas.bonnie.command import Line, first_words, read, seeded, this_host
from teijo.personas.persona import Call, Order, Refused, Said
from teijo.terms.result import Answer, StepResult
from teijo.terms.step import Perform, Step

_LINE: Final = "line"
_BEGINS: Final = {
    "put_block": "Writing intelligently...",
    "rewrite": "Rewriting...",
    "get_block": "Reading intelligently...",
    "seeks": "start 'em...",
    "seq_create": "Create files in sequential order...",
    "seq_stat": "Stat files in sequential order...",
    "seq_del": "Delete files in sequential order...",
    "ran_create": "Create files in random order...",
    "ran_stat": "Stat files in random order...",
    "ran_del": "Delete files in random order...",
}


class BonniePersona:
    """Acts as Bonnie++ 1.03e, 1.97 and 2.00a."""

    names = ("bonnie++",)
    likes = ("2.00", "1.97", "1.03")
    naming = "Name a directory: -d /mnt/disk."

    def order(self, name: str, call: Call) -> Order | Said:
        """Return the run that a command line asks for, or what Bonnie++ says instead."""
        del name
        version = call.like or self.likes[0]
        try:
            line = read(version, call.words, call.folder, this_host())
        except Refused as refused:
            return refused.said
        if line.seed is None:
            # Theirs is drawn from the process's number and the clock.
            line = seeded(line, int(call.now.timestamp()))
        if line.runs == 0:
            return Said(stderr=line.begins)  # no run: nothing is printed but who does none
        several = output.header(version) if line.runs > 1 else ""
        return Order(
            method="classic.bonnie",
            target=f"dir:{line.folder}",
            settings=line.settings,
            name="bonnie++",
            seed=line.seed,
            begins=Said(stderr=line.begins, stdout=several),
            memory={_LINE: line},
        )

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        """Return the progress of a phase; -q says nothing."""
        line = _line_of(order)
        if line.quiet or not isinstance(step, Perform) or step.cell not in PHASES:
            return Said()
        if answer is None:
            return Said(stderr=_begin(line, step.cell))
        if not isinstance(answer, StepResult):
            return Said()
        if step.cell == "seeks":
            return Said(stderr="done..." * line.asked.seekers + "\n")
        return Said(stderr="done.\n" if step.cell in FILE_PHASES else "done\n")

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        """Return the block of text of a single run, and a line of CSV of each."""
        assert isinstance(found, BonnieFound)
        line = _line_of(order)
        runs = [timings_of(found, number) for number in range(1, max(1, line.runs) + 1)]
        told = "".join(output.csv(line.asked, timings) for timings in runs)
        if line.runs != -1:
            return Said(stdout=told)
        text = output.text(line.asked, runs[0])
        # -q leaves stdout to the CSV, and prints the text where progress was.
        return Said(stderr=text, stdout=told) if line.quiet else Said(stdout=text + told)


def timings_of(found: BonnieFound, number: int) -> output.Timings:
    """Return the times of one pass, as Bonnie++ prints them."""
    return {
        name: output.Timing(
            elapsed_ns=turn.answer.elapsed_ns,
            cpu_ns=turn.cpu_ns,
            longest_ns=turn.latency.max_ns if turn.latency.count else 0,
        )
        for name, turn in found.of_pass(number).items()
    }


def _line_of(order: Order) -> Line:
    line = order.memory[_LINE]
    assert isinstance(line, Line)
    return line


def _begin(line: Line, cell: str) -> str:
    match cell:
        case "putc":
            return first_words(line.asked.version)
        case "getc":
            old = line.asked.version == "1.03"
            return "Reading with getc()..." if old else "Reading a byte at a time..."
        case _:
            return _BEGINS[cell]
