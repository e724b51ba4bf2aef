"""The persona `diskspd`: a command line becomes a run of `classic.diskspd`, its findings a text."""

from typing import Any

from teijo import units
from teijo.methods.classic.diskspd.found import DiskspdFound
from teijo.methods.classic.pools import Pool, show_pools
from teijo.methods.classic.timed import PASS
from teijo.methods.found import Found
from teijo.personas.diskspd.command import CACHED, Command
from teijo.personas.diskspd.host import host_now
from teijo.personas.diskspd.measured import Measured
from teijo.personas.diskspd.parsing import WRONG_LINE, parse
from teijo.personas.diskspd.profile import profile_text, system_text
from teijo.personas.diskspd.text import results_text
from teijo.personas.diskspd.usage import USAGE
from teijo.personas.diskspd.xml import profile_xml, results_xml
from teijo.personas.named_targets import NamedFile, Placed, placed
from teijo.personas.persona import Call, Order, Refused, Said
from teijo.personas.processors import Processors
from teijo.terms.result import Answer
from teijo.terms.step import Step

COMMAND, PROCESSORS, HOST, SIZES = "command", "processors", "host", "sizes"
NOT_SEQUENTIAL = "WARNING: target access pattern will not be sequential, consider -si\n"
ONE_THREAD = "WARNING: single-threaded test, -si ignored\n"


class DiskspdPersona:
    """DiskSpd 2.2."""

    names: tuple[str, ...] = ("diskspd",)
    likes: tuple[str, ...] = ("2.2",)
    naming = "Add -c8G: the file is made at that size before the test."

    def order(self, name: str, call: Call) -> Order | Said:  # noqa: ARG002 — it has one name
        """Return the run that a command line asks for, or what is said instead.

        Raises:
            UsageError: what Teijo does not have, or a Windows path.
        """
        if "-?" in call.words:
            return Said(stdout=USAGE)
        if not call.words:
            return Said(stdout=USAGE, exit_code=WRONG_LINE)
        try:
            command = parse(call.words)
        except Refused as refused:
            return refused.said
        if command.profile_only:
            text = profile_xml(command) if command.xml else profile_text(command)
            return Said(stdout=text)
        files = [NamedFile(name=target, size_bytes=command.create) for target in command.targets]
        place = placed(files, buffered=command.cache == CACHED)
        return Order(
            method="classic.diskspd",
            target=place.text,
            settings=settings_of(command, place),
            name="diskspd",
            begins=Said(stderr=_warning(command)),
            memory={
                COMMAND: command,
                PROCESSORS: Processors(),
                HOST: host_now(call.now),
                SIZES: tuple(length for _, length in place.pieces),
            },
        )

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        """Look at the host's processors when the measurement begins and ends; say nothing."""
        if step.phase == PASS:
            processors = order.memory[PROCESSORS]
            if answer is None:
                processors.begin()
            else:
                processors.end()
        return Said()

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        """Return the results, as text or as XML."""
        assert isinstance(found, DiskspdFound), "an order of its own method"
        command: Command = order.memory[COMMAND]
        host, answer = order.memory[HOST], found.passes[-1]
        measured = Measured(
            elapsed_ns=answer.elapsed_ns,
            threads=command.threads or command.threads_per_target * len(command.targets),
            lines=found.lines(answer),
            paths=command.targets,
            sizes=order.memory[SIZES],
            busy=order.memory[PROCESSORS].busy,
        )
        if command.xml:
            return Said(stdout=results_xml(command, host, measured))
        text = profile_text(command) + system_text(host)
        return Said(stdout=text + results_text(command, host, measured))


def _warning(command: Command) -> str:
    several = command.threads > 1 or command.threads_per_target > 1
    if command.random:
        return ""
    if command.interlocked:
        return "" if several else ONE_THREAD
    return NOT_SEQUENTIAL if several and not command.stride else ""


def settings_of(command: Command, place: Placed) -> dict[str, str]:
    """Return the settings of the method for a command on its targets."""
    threads = command.threads or command.threads_per_target
    settings = {
        "block": str(command.block),
        "outstanding": str(command.requests or command.outstanding),
        "threads": str(threads),
        "access": "random" if command.random else "sequential",
        "alignment": str(command.grid) if command.random else "none",
        "interlocked": "yes" if command.interlocked and threads > 1 else "no",
        "stride": str(command.stride) if command.stride else "none",
        "base": str(command.base),
        "length": str(command.end - command.base) if command.end else "none",
        "write": str(command.write),
        "seconds": f"{command.duration}s",
        "warm_up": f"{command.warm_up}s",
        "cool_down": f"{command.cool_down}s",
        "interval": f"{command.bucket_ms}ms",
        "data": _data(command),
        "buffering": ("u" if command.cache != CACHED else "")
        + ("w" if command.write_through else "")
        or "b",
        "seed": str(command.seed),
        "prepare": "none" if command.create is None else _prepared(command),
        "all_targets": "yes" if command.threads else "no",
    }
    whole = len(place.pieces) == 1 and command.create is None
    if not whole:
        pools = tuple(
            Pool(threads=threads, first_byte=first, length_bytes=length // units.KIB * units.KIB)
            for first, length in place.pieces
        )
        settings["pools"] = show_pools(pools)
    return settings


def _data(command: Command) -> str:
    if command.random_data:
        return "random"
    if command.zero:
        return "zero"
    return "one-block" if command.buffer_bytes else "counting"


def _prepared(command: Command) -> str:
    """Return what -c fills a file with: zeros, unless writes are of random data."""
    return "random" if command.random_data or command.buffer_bytes else "zero"
