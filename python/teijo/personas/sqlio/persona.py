"""The persona `sqlio`: a command line becomes a run of `classic.sqlio`, what was found its text."""

from typing import Any

from teijo.errors import UsageError
from teijo.methods.classic.pools import Pool, show_pools
from teijo.methods.classic.sqlio.found import SqlioFound
from teijo.methods.classic.timed import PASS
from teijo.methods.found import Found
from teijo.personas.named_targets import NamedFile, Placed, placed
from teijo.personas.paths import refuse_windows
from teijo.personas.persona import Call, Order, Refused, Said
from teijo.personas.processors import Processors
from teijo.personas.sqlio.command import Command, parse
from teijo.personas.sqlio.output import INITIALIZED, FileLine, begins, results
from teijo.personas.sqlio.param_file import Line, read_param_file
from teijo.terms.result import Answer
from teijo.terms.step import Step
from teijo.units import MIB

COMMAND, PROCESSORS = "command", "processors"


class SqlioPersona:
    """SQLIO v1.5."""

    names: tuple[str, ...] = ("sqlio",)
    likes: tuple[str, ...] = ("1.5",)
    naming = (
        "Have it made by a parameter file: -Fparam.txt, with the line FILE 1 0x0 8192 (its size in "
        "MB), and -frandom or -fsequential."
    )

    def order(self, name: str, call: Call) -> Order | Said:  # noqa: ARG002 — it has one name
        """Return the run that a command line asks for, or how the program is used.

        Raises:
            UsageError: what Teijo does not have, or a Windows path.
        """
        try:
            command = parse(call.words)
        except Refused as refused:
            return refused.said
        lines = _lines(command, call)
        wanted = [
            NamedFile(
                name=line.file, size_bytes=None if line.size_mb is None else line.size_mb * MIB
            )
            for line in lines
        ]
        place = placed(wanted, buffered=command.asked_buffering in ("S", "Y"))
        told = [
            FileLine(
                name=line.file,
                threads=line.threads,
                mask=line.mask,
                size_mb=length // MIB,
                specified=line.size_mb is not None,
            )
            for line, (_, length) in zip(lines, place.pieces, strict=True)
        ]
        return Order(
            method="classic.sqlio",
            target=place.text,
            settings=_settings(command, lines, place),
            name="sqlio",
            begins=Said(stdout=begins(command, told)),
            memory={COMMAND: command, PROCESSORS: Processors()},
        )

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        """Say that all is ready when the measurement begins."""
        if step.phase != PASS:
            return Said()
        processors = order.memory[PROCESSORS]
        if answer is None:
            processors.begin()
            return Said(stdout=INITIALIZED)
        processors.end()
        return Said()

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        """Return the cumulative data."""
        assert isinstance(found, SqlioFound), "an order of its own method"
        busy = order.memory[PROCESSORS].busy
        return Said(stdout=results(order.memory[COMMAND], found.printed, busy))


def _lines(command: Command, call: Call) -> tuple[Line, ...]:
    """Return the files with their threads: of the parameter file, or as they were named."""
    if not command.param_file:
        return tuple(Line(file=file, threads=command.threads) for file in command.files)
    refuse_windows(command.param_file)
    lines = read_param_file(call.folder / command.param_file)
    for line in lines:
        if line.mask:
            raise UsageError(
                f"{line.file} asks for the processors of mask 0x{line.mask:x}, and Teijo's sqlio "
                "binds no thread to a processor by itself",
                remedy="Write 0x0, and bind the whole run: taskset -c 0,1 teijo as sqlio …",
            )
        if line.size_mb is not None and command.factor.isdecimal():
            raise UsageError(
                f"{line.file} has a size, which goes with -frandom and -fsequential only",
                remedy="Leave the size out, or write -frandom or -fsequential.",
            )
    return lines


def _settings(command: Command, lines: tuple[Line, ...], place: Placed) -> dict[str, str]:
    settings = {
        "kind": "read" if command.kind == "R" else "write",
        "threads": str(lines[0].threads),
        "seconds": f"{command.seconds}s",
        "factor": command.factor,
        "block": f"{command.block_kb}KiB",
        "depth": str(command.depth),
        "run_ios": str(command.run_ios),
        "buffering": command.asked_buffering,
        "start": str(command.start_blocks),
    }
    cut = any(line.size_mb is not None for line in lines)
    if len(lines) > 1 or cut:
        pools = tuple(
            Pool(threads=line.threads, first_byte=first, length_bytes=length)
            for line, (first, length) in zip(lines, place.pieces, strict=True)
        )
        settings["pools"] = show_pools(pools)
    return settings
