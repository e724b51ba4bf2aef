"""The persona `orion`: its words become a run of `classic.orion`, and that run its files."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from teijo.methods.classic.orion.found import OrionFound
from teijo.methods.classic.orion.points import Point, points_of
from teijo.methods.classic.orion.workload import LARGE, MEASURE, SMALL
from teijo.methods.found import Found
from teijo.personas.orion import output
from teijo.personas.orion.command import Command, Lun, parse, read_luns, target_of
from teijo.personas.orion.help import help_text
from teijo.personas.orion.shown import Shown, load_of, shown_of
from teijo.personas.persona import Call, Order, Said
from teijo.terms.result import Answer, StepResult
from teijo.terms.step import Measure, Step

METHOD = "classic.orion"
_CALL = "call"


class OrionPersona:
    """Oracle ORION. 11.1 is the usual version: all that it prints is known from its outputs."""

    names = ("orion",)
    likes = ("11.1", "10.2", "12.2")
    naming = "Name a file that is there, or a block device, on each line of the .lun file."

    def order(self, name: str, call: Call) -> Order | Said:  # noqa: ARG002 — it has one name
        """Return the run that a command line asks for; the help, or what the original refuses.

        Raises:
            UsageError: as `Persona.order`.
        """
        like = call.like or self.likes[0]
        command = parse(call.words, like)
        if "help" in command.options:
            return Said(stdout=help_text(like))
        luns = read_luns(call.folder / f"{command.testname}.lun", call.folder)
        asked = _asked(command, luns or (), like, call)
        if luns is None:
            return Said(stdout=output.banner(asked), stderr=output.no_lun_file(asked), exit_code=1)
        settings = command.settings(len(luns))
        if any(lun.is_file for lun in luns):
            # The original asks of no file whether it was ever written; the report does.
            settings["holes"] = "allow"
        return Order(
            method=METHOD,
            target=target_of(command, luns),
            settings=settings,
            name=command.testname.rpartition("/")[2],
            files_in=str(Path(command.testname).parent),
            begins=Said(stdout=output.beginning(asked)),
            memory={_CALL: asked},
        )

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        """Return the trace of a point that has ended, where `-verbose` asks for it."""
        asked = _remembered(order)
        if "verbose" not in asked.command.options:
            return Said()
        if not isinstance(step, Measure) or step.phase != MEASURE:
            return Said()
        if not isinstance(answer, StepResult):
            return Said()
        number, point = next(
            (number, point)
            for number, point in enumerate(_points(asked), 1)
            if point.name == step.cell
        )
        return Said(stdout=output.trace(asked, number, point, _one(point, answer)))

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        """Return the files of a run, and what later versions print at its end."""
        assert isinstance(found, OrionFound), "the order names its method"
        asked = _remembered(order)
        size = found.record.geometry.capacity_bytes
        luns = tuple(
            lun if lun.size_bytes is not None else replace(lun, size_bytes=size)
            for lun in asked.luns
        )
        asked, shown = replace(asked, luns=luns), shown_of(found)
        ends = output.best(asked.like, shown) if asked.like == "12.2" else ""
        return Said(stdout=ends, files=output.files(asked, shown))


def _asked(command: Command, luns: tuple[Lun, ...], like: str, call: Call) -> output.Call:
    base = command.testname
    if like != "10.2":
        base += f"_{call.now:%Y%m%d_%H%M}"
    loads = command.loads(len(luns) or 1)
    return output.Call(like=like, command=command, loads=loads, luns=luns, base=base)


def _remembered(order: Order) -> output.Call:
    asked: output.Call = order.memory[_CALL]
    return asked


def _points(asked: output.Call) -> tuple[Point, ...]:
    return points_of(asked.loads)


def _one(point: Point, answer: StepResult) -> Shown:
    def of(stream: str) -> dict[Point, Any]:
        kept = tuple(part for part in answer.results if part.stream == stream and part.count)
        return {point: load_of(replace(answer, results=kept))} if kept else {}

    return Shown(points=(point,), small=of(SMALL), large=of(LARGE))
