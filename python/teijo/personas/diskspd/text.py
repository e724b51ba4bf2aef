"""DiskSpd's results as text: processors, the three tables of threads, the percentiles."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from teijo.methods.classic.diskspd.found import (
    Counted,
    iops_deviation,
    latency_deviation_ns,
    together,
)
from teijo.personas.diskspd.command import Command, size_text
from teijo.personas.diskspd.host import Host
from teijo.personas.diskspd.measured import Measured
from teijo.terms.histogram import Histogram
from teijo.units import MIB, NS_PER_MS, NS_PER_S

INTERRUPTED: Final = (
    "The test was interrupted before the measurements began. No results are displayed."
)
PERCENTILES: Final = (
    (0.25, "25th"),
    (0.50, "50th"),
    (0.75, "75th"),
    (0.90, "90th"),
    (0.95, "95th"),
    (0.99, "99th"),
    (0.999, "3-nines"),
    (0.9999, "4-nines"),
    (0.99999, "5-nines"),
    (0.999999, "6-nines"),
    (0.9999999, "7-nines"),
    (0.99999999, "8-nines"),
    (0.999999999, "9-nines"),
)
_NOTHING: Final = "N/A"


def results_text(command: Command, host: Host, found: Measured) -> str:
    """Return the results of the time span."""
    lines = ["", "Results for timespan 1:", "*" * 79]
    if not found.elapsed_ns:
        return "\n".join([*lines, INTERRUPTED]) + "\n"
    lines += [
        "",
        f"actual test time:\t{found.elapsed_ns / NS_PER_S:.2f}s",
        f"thread count:\t\t{found.threads}",
    ]
    if command.threads and command.requests:
        lines.append(f"request count:\t\t{command.requests}")
    lines += _processors(host, found)
    for title, parts in (
        ("Total IO", [line.both for line in found.lines]),
        ("Read IO", [(line.read,) for line in found.lines]),
        ("Write IO", [(line.write,) for line in found.lines]),
    ):
        lines += ["", title, *_section(command, found, parts)]
    if command.latency:
        if len(found.paths) > 1:
            for place, path in enumerate(found.paths):
                lines += ["", f"Latency distribution: {path}", *_chart(found.of_target(place))]
        lines += ["", "Total latency distribution:", *_chart(found)]
    return "\n".join(lines) + "\n"


def _processors(host: Host, found: Measured) -> list[str]:
    places = {each.number: each for each in host.processors}
    columns: list[tuple[str, int, dict[int, int]]] = []
    if len(host.sockets) > 1:
        columns.append(("Socket | ", 7, {n: each.socket for n, each in places.items()}))
    if len(host.nodes) > 1:
        columns.append(("Node | ", 5, {n: each.node for n, each in places.items()}))
    if host.has_threads:
        columns.append(("Core | ", 5, {n: each.core for n, each in places.items()}))
    before = "".join(heading for heading, _, _ in columns)
    rule = "-" * (len(before) + 40)
    lines = ["", f"{before}CPU |  Usage |  User  | Kernel |  Idle", rule]
    for each in found.busy:
        own = "".join(f"{of.get(each.number, 0):{width}d}| " for _, width, of in columns)
        lines.append(f"{own}{each.number:4d}| {_usage(each.user, each.kernel, each.idle)}")
    return [*lines, rule, f"{' ' * len(before)}avg.| {_usage(*found.averages)}"]


def _usage(user: float, kernel: float, idle: float) -> str:
    return f"{user + kernel:6.2f}%| {user:6.2f}%| {kernel:6.2f}%| {idle:6.2f}%"


def _section(command: Command, found: Measured, parts: Sequence[tuple[Counted, ...]]) -> list[str]:
    """Return one table; `parts` are what of each row is counted in it."""
    heading = "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s "
    width = 66
    for asked, title, more in (
        (command.latency, "|  AvgLat  ", 11),
        (command.deviations, "| IopsStdDev ", 13),
        (command.latency, "| LatStdDev ", 12),
    ):
        heading += title if asked else ""
        width += more if asked else 0
    rule = "-" * (width + 12)
    lines = [heading + "|  file", rule]
    for line, part in zip(found.lines, parts, strict=True):
        size = size_text(found.sizes[line.row.target])
        lines.append(
            f"{line.row.thread:6d} | {_row(command, found, together(part))} "
            f"| {found.paths[line.row.target]} ({size})"
        )
    every = together([each for part in parts for each in part])
    return [*lines, rule, f"total:   {_row(command, found, every)}"]


def _row(command: Command, found: Measured, part: Counted) -> str:
    seconds = found.elapsed_ns / NS_PER_S
    row = (
        f"{part.bytes:15d} | {part.ios:12d} | {part.bytes / MIB / seconds:10.2f} | "
        f"{part.ios / seconds:10.2f}"
    )
    if command.latency:
        row += f" | {part.latency.mean_ns / NS_PER_MS:8.3f}"
    if command.deviations:
        row += f" | {iops_deviation(part.buckets, command.bucket_ms * NS_PER_MS):10.2f}"
    if command.latency:
        if part.latency.count:
            row += f" |  {latency_deviation_ns(part.latency) / NS_PER_MS:8.3f}"
        else:
            row += " |       N/A"
    return row


def _chart(found: Measured) -> list[str]:
    columns = (found.read.latency, found.write.latency, found.both.latency)
    lines = ["  %-ile |  Read (ms) | Write (ms) | Total (ms)", "-" * 46]
    lines.append(_level("min", columns, lambda each: each.min_ns))
    for share, name in PERCENTILES:
        lines.append(_level(name, columns, partial(_at, share)))
    lines.append(_level("max", columns, lambda each: each.max_ns))
    return lines


def _at(share: float, latency: Histogram) -> int:
    return latency.quantile_ns(share)


def _level(
    name: str, columns: tuple[Histogram, Histogram, Histogram], of: Callable[[Histogram], int]
) -> str:
    *directions, every = columns
    cells = [
        f"{of(each) / NS_PER_MS:10.3f}" if each.count else f"{_NOTHING:>10}" for each in directions
    ]
    return f"{name:>7} | {' | '.join(cells)} | {of(every) / NS_PER_MS:10.3f}"
