"""SQLIO's text: usage, what it says before it begins, its figures. Pure functions of numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from teijo.methods.classic.sqlio.found import BUCKETS, Printed
from teijo.personas.processors import Busy
from teijo.personas.sqlio.command import Command
from teijo.units import GIGA

VERSION: Final = "sqlio v1.5.SG\n"
INITIALIZED: Final = "initialization done\n"
BUFFERING: Final = {
    "N": "buffering set to not use file nor disk caches (as is SQL Server)",
    "H": "buffering set to use hardware disk cache (but not file cache)",
    "S": "buffering set to use file cache (but not hardware disk cache)",
    "Y": "buffering set to use both file and disk caches",
}
"""H as a published output has it; N from memory; S and Y, of which none was seen, by us."""
_HEADING: Final = "ms:" + "".join(f"{place:{2 if not place else 3}d}" for place in range(BUCKETS))


@dataclass(frozen=True, kw_only=True)
class FileLine:
    """A file as it is told of: `specified` whether its size was asked for or is its own."""

    name: str
    threads: int
    mask: int
    size_mb: int
    specified: bool


def begins(command: Command, files: Sequence[FileLine]) -> str:
    """Return all that is said before the test begins."""
    lines = [VERSION.rstrip("\n")]
    if command.latency:
        timer = "system" if command.latency == "S" else "processor"
        lines.append(f"using {timer} counter for latency timings, {GIGA} counts per second")
    if command.param_file:
        lines.append(f"parameter file used: {command.param_file}")
        lines += _param_lines(files)
    total = sum(file.threads for file in files) if command.param_file else command.threads
    kind = "reading" if command.kind == "R" else "writing"
    names = _listed([file.name for file in files])
    lines.append(
        f"{_threads(total)} {kind} for {command.seconds} secs "
        f"{'from' if command.kind == 'R' else 'to'} {'files' if len(files) > 1 else 'file'} {names}"
    )
    lines.append("\t" + _order(command))
    if command.depth:
        lines.append(f"\tenabling multiple I/Os per thread with {command.depth} outstanding")
    if command.buffering:
        lines.append("\t" + BUFFERING[command.buffering])
    lines += [
        f"using {'specified' if file.specified else 'current'} size: {file.size_mb} MB "
        f"for file: {file.name}"
        for file in files
    ]
    return "\n".join(lines) + "\n"


def _param_lines(files: Sequence[FileLine]) -> list[str]:
    lines, first = [], 0
    for file in files:
        last = first + file.threads - 1
        span = f"({first}-{last})" if last > first else f"({first})"
        lines.append(
            f"\tfile {file.name} with {_threads(file.threads)} {span} "
            f"using mask 0x{file.mask:x} ({file.mask})"
        )
        first = last + 1
    return lines


def _threads(count: int) -> str:
    return f"{count} thread" if count == 1 else f"{count} threads"


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _order(command: Command) -> str:
    if not command.factor.isdecimal():
        return f"using {command.block_kb}KB {command.factor} IOs"
    # From memory: no published output of a stripe factor was found.
    stripe = int(command.factor) * command.block_kb
    return (
        f"using {command.block_kb}KB IOs over {stripe}KB stripes with {command.run_ios} IOs per run"
    )


def results(command: Command, figures: Printed, busy: Sequence[Busy] = ()) -> str:
    """Return the cumulative data."""
    lines = [
        "CUMULATIVE DATA:",
        "throughput metrics:",
        f"IOs/sec: {figures.ios_per_s:8.2f}",
        f"MBs/sec: {figures.mbs_per_s:8.2f}",
    ]
    if command.latency:
        lines += [
            "latency metrics:",
            f"Min_Latency(ms): {figures.min_ms}",
            f"Avg_Latency(ms): {figures.avg_ms}",
            f"Max_Latency(ms): {figures.max_ms}",
            "histogram:",
            _HEADING + "+",
            "%:" + "".join(f"{percent:3d}" for percent in figures.percents),
        ]
    if command.processors:
        lines += _processors(busy)
    return "\n".join(lines) + "\n"


def _processors(busy: Sequence[Busy]) -> list[str]:
    """Return the table of -U; how the original's looks is not known."""
    lines = ["CPU utilization:", "CPU   Total%    User%  Kernel%"]
    lines += [
        f"{each.number:3d} {each.used:8.2f} {each.user:8.2f} {each.kernel:8.2f}" for each in busy
    ]
    return lines
