"""What ORION prints and writes: pure functions of what is shown, byte for byte by version.

10.2 and 11.1 have latencies in ms, 11.2 and later (here 12.2) in µs. MBPS are of 2^20 bytes.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from teijo import units
from teijo.methods.classic.orion.points import Loads, Point
from teijo.personas.orion.command import Command, Lun
from teijo.personas.orion.shown import FIRST_EDGE_US, LAST_EDGE_US, Latency, Load, Shown

VERSIONS: Final = {"10.2": "10.2.0.1.0", "11.1": "11.1.0.7.0", "12.2": "12.2.0.1.0"}
_LATE: Final = "12.2"
_TRADE_OFF_MS: Final = (1, 2, 5, 10, 15, 20, 25, 30, 40, 50)
_LATENCY_HEAD: Final = (
    "        Latency:                         # of IOs (read)          # of IOs (write)"
)


@dataclass(frozen=True, kw_only=True)
class Call:
    """What a command line asked for: the version, the words, N's loads, the lines of .lun.

    `base` is what the names of all files begin with.
    """

    like: str
    command: Command
    loads: Loads
    luns: tuple[Lun, ...]
    base: str


def banner(call: Call) -> str:
    """Return the lines that a run begins with: the version, and from 11.1 on its files' name."""
    return f"ORION: ORacle IO Numbers -- Version {VERSIONS[call.like]}\n" + (
        "" if call.like == "10.2" else f"{call.base}\n"
    )


def beginning(call: Call) -> str:
    """Return all that is said before the first point."""
    estimate_ns = call.loads.estimate_ns(call.command.duration_s * units.NS_PER_S)
    minutes = math.ceil(estimate_ns / (60 * units.NS_PER_S))
    if call.like == _LATE:
        return (
            f"{banner(call)}Calibration will take approximately {minutes} minutes.\n"
            "Using a large value for -cache_size may take longer.\n\n"
        )
    return (
        f"{banner(call)}Test will take approximately {minutes} minutes\n"
        "Larger caches may take longer\n"
    )


def no_lun_file(call: Call) -> str:
    """Return what is said where there is no .lun file; its name has the ending twice if typed."""
    failure = f"Failure in opening .lun file {call.command.testname}.lun"
    if call.like == _LATE:
        failure += " (rwbase_read_luncfg:SlfFopen)orion_parse_args: rwbase_read_luncfg failed"
    return f"{failure}\n"


def files(call: Call, shown: Shown) -> tuple[tuple[str, bytes], ...]:
    """Return every file that the version leaves."""
    texts = {
        "summary.txt": summary(call, shown),
        "mbps.csv": mbps_csv(call, shown),
        "iops.csv": iops_csv(call, shown),
        "lat.csv": lat_csv(call, shown),
    }
    if call.like == "10.2":
        texts["tradeoff.csv"] = tradeoff_csv(shown)
    if call.like == _LATE:
        texts["hist.txt"] = histograms(shown)
    texts["trace.txt"] = "".join(
        trace(call, number, point, shown) for number, point in enumerate(shown.points, 1)
    )
    return tuple((f"{call.base}_{name}", text.encode()) for name, text in texts.items())


def summary(call: Call, shown: Shown) -> str:
    """Return summary.txt: the command line, what it was taken for, the files, the best points."""
    late = call.like == _LATE
    names = "".join(f"Name: {lun.path}\tSize: {lun.size_bytes}\n" for lun in call.luns)
    count = f"{len(call.luns)} {'files' if late else 'FILEs'} found."
    head = _late_head(call) if late else _head(call)
    return (
        f"ORION VERSION {VERSIONS[call.like]}\n\n{head}"
        f"Small Columns:{_row(call.loads.shown_small)}\n"
        f"Large Columns:{_row(call.loads.shown_large)}\n"
        f"Total Data Points: {call.loads.total}\n\n"
        f"{names}{count}\n\n{best(call.like, shown)}"
    )


def _row(levels: Sequence[int]) -> str:
    return "".join(f",{level:7d}" for level in levels)


def _head(call: Call) -> str:
    command = call.command
    random = command.options.get("type", "rand") == "rand"
    large = "Large Random IOs" if random else "Large Sequential Streams"
    cache = command.options.get("cache_size")
    lines = [
        "Commandline:",
        "".join(f"{word} " for word in command.words),
        "",
        "This maps to this test:",
        f"Test: {command.testname}",
        f"Small IO size: {command.number('size_small', 8)} KB",
        f"Large IO size: {command.number('size_large', 1024)} KB",
        f"IO Types: Small Random IOs, {large}",
        *(
            ()
            if random
            else (f"Number of Concurrent IOs Per Stream: {command.number('num_streamio', 4)}",)
        ),
        f"Simulated Array Type: {'RAID 0' if command.is_striped else 'CONCAT'}",
        *((f"Stripe Depth: {command.stripe_kb} KB",) if command.is_striped else ()),
        f"Write: {command.number('write', 0)}%",
        f"Cache Size: {'Not Entered' if cache is None else f'{cache} MB'}",
        f"Duration for each Data Point: {command.duration_s} seconds",
    ]
    return "".join(f"{line}\n" for line in lines)


def _late_head(call: Call) -> str:
    command = call.command
    random = command.options.get("type", "rand") == "rand"
    cache = command.options.get("cache_size")
    striped = f"RAID-0 striping, depth {command.stripe_kb} KB"
    streams = f"large sequential streams, {command.number('num_streamio', 4)} IOs each"
    lines = [
        "Command line:",
        "".join(f"{word} " for word in command.words),
        "",
        "These options enable these settings:",
        f"Test: {command.testname}",
        f"Small IO size: {command.number('size_small', 8)} KB",
        f"Large IO size: {command.number('size_large', 1024)} KB",
        f"IO types: small random IOs, {'large random IOs' if random else streams}",
        f"Simulated array type: {striped if command.is_striped else 'concatenated'}",
        f"Writes: {command.number('write', 0)}%",
        f"Cache size: {'not specified' if cache is None else f'{cache} MB'}",
        f"Duration for each data point: {command.duration_s} seconds",
    ]
    return "".join(f"{line}\n" for line in lines)


def best(like: str, shown: Shown) -> str:
    """Return the end of the summary: the maxima, and from 11.2 on the latencies of their points."""
    late = like == _LATE
    parts = []
    if (point := shown.most_large) is not None:
        parts.append(f"Maximum Large MBPS={shown.large[point].mbps:.2f} @ {_at(point)}\n")
    if (point := shown.most_small) is not None:
        told = f"Maximum Small IOPS={shown.small[point].iops:.0f} @ {_at(point)}\n"
        parts.append(told + (_latencies(shown, point) if late else ""))
    if (point := shown.quickest) is not None:
        mean_us = shown.small[point].mean_us
        if late:
            told = f"Minimum Small Latency={mean_us:.3f} usecs @ {_at(point)}\n"
            parts.append(told + _latencies(shown, point) + _histogram("Small", point, shown.small))
        else:
            mean_ms = mean_us * units.NS_PER_US / units.NS_PER_MS
            parts.append(f"Minimum Small Latency={mean_ms:.2f} @ {_at(point)}\n")
    return ("\n" if late else "").join(parts)


def _at(point: Point) -> str:
    return f"Small={point.small} and Large={point.large}"


def _latencies(shown: Shown, point: Point) -> str:
    return "".join(
        f"Small {name} Latency: avg={each.mean_us:.3f} us, min={each.least_us:.3f} us, "
        f"max={each.most_us:.3f} us, std dev={each.deviation_us:.3f} us @ {_at(point)}\n"
        for name, direction in (("Read", "read"), ("Write", "write"))
        if (each := shown.small[point].by.get(direction)) is not None
    )


def _histogram(kind: str, point: Point, loads: Mapping[Point, Load]) -> str:
    """Return the I/Os of a point by power of two of µs, with cumulative percents.

    The list ends behind the last bucket that has any, with one that would catch all slower ones.
    """
    by = loads[point].by
    reads, writes = (by[each].counts if each in by else () for each in ("read", "write"))
    length = max(len(reads), len(writes))
    edges = [0, *(FIRST_EDGE_US << place for place in range(length)), LAST_EDGE_US]
    columns = [(*each, *(0,) * (length + 1 - len(each))) for each in (reads, writes)]
    shares = [[_share(done, sum(each)) for done in accumulate(each)] for each in columns]
    lines = [
        f"{low:9d} - {high:<10d} us:{columns[0][row]:16d} ({shares[0][row]:6.2f}%)"
        f"{columns[1][row]:15d} ({shares[1][row]:6.2f}%)\n"
        for row, (low, high) in enumerate(pairwise(edges))
    ]
    title = f"{kind} Read / Write Latency Histogram @ {_at(point)}\n"
    return title + _LATENCY_HEAD + "\n" + "".join(lines)


def _share(done: int, total: int) -> float:
    return done * 100 / total if total else 0.0


def histograms(shown: Shown) -> str:
    """Return hist.txt: the histogram of the small and of the large I/Os of every point."""
    parts = []
    for point in shown.points:
        for kind, loads in (("Small", shown.small), ("Large", shown.large)):
            if point in loads:
                parts.append(_histogram(kind, point, loads))
    return "\n".join(parts)


def iops_csv(call: Call, shown: Shown) -> str:
    """Return the IOPS of small I/Os: a column for each small load, a row for each large one."""
    return _preamble(call, "Small I/O IOPS") + _csv(
        _above_zero(shown.smalls), shown.larges, shown.small, lambda load: f"{load.iops:7.0f}"
    )


def lat_csv(call: Call, shown: Shown) -> str:
    """Return the mean latency of small I/Os in ms, from 11.2 on in µs."""
    by_us = 1 if call.like == _LATE else units.NS_PER_MS // units.NS_PER_US
    return _preamble(call, "Small I/O average latency in microseconds") + _csv(
        _above_zero(shown.smalls),
        shown.larges,
        shown.small,
        lambda load: f"{load.mean_us / by_us:7.2f}",
    )


def mbps_csv(call: Call, shown: Shown) -> str:
    """Return the MBPS of large I/Os: a row for each large load above zero."""
    return _preamble(call, "Large I/O MBPS") + _csv(
        shown.smalls, _above_zero(shown.larges), shown.large, lambda load: f"{load.mbps:7.2f}"
    )


def _above_zero(levels: Sequence[int]) -> list[int]:
    return [level for level in levels if level]


def _preamble(call: Call, title: str) -> str:
    """Return the six lines before a table, which the CSVs of later versions have."""
    if call.like != _LATE:
        return ""
    words = "".join(f"{word} " for word in call.command.words)
    return f"ORION VERSION {VERSIONS[call.like]}\n\nCommand line:\n{words}\n\n{title}\n"


def _csv(
    columns: Sequence[int],
    rows: Sequence[int],
    loads: Mapping[Point, Load],
    form: Callable[[Load], str],
) -> str:
    """Return a table by load. A row ends behind its last measured cell; its label always stands."""
    lines = ["Large/Small" + _row(columns)]
    for large in rows:
        cells = [loads.get(Point(small=small, large=large)) for small in columns]
        told = "".join("," + (" " * 7 if cell is None else form(cell)) for cell in cells)
        lines.append(f"{large:11d}{told.rstrip(', ')}")
    return "".join(f"{line}\n" for line in lines)


def tradeoff_csv(shown: Shown) -> str:
    """Return, for limits of small latency, the most small IOPS within it beside each large load."""
    lines = ["Latency,  Large,   MBPS,   IOPS"]
    for limit_ms in _TRADE_OFF_MS:
        for large in shown.larges:
            within = [
                (load.iops, point)
                for point, load in shown.small.items()
                if point.large == large
                and load.mean_us * units.NS_PER_US <= limit_ms * units.NS_PER_MS
            ]
            if within:
                iops, point = max(within)
                mbps = shown.large[point].mbps if point in shown.large else 0.0
                lines.append(f"{limit_ms:7d},{large:7d},{mbps:7.2f},{iops:7.0f}")
    return "".join(f"{line}\n" for line in lines)


def trace(call: Call, number: int, point: Point, shown: Shown) -> str:
    """Return what the trace has of a point, which `-verbose` prints too."""
    size = sum(lun.size_bytes or 0 for lun in call.luns)
    text = f"Point {number} (small={point.small}, large={point.large})\n"
    for kind, loads, block_kb in (
        ("small", shown.small, call.command.number("size_small", 8)),
        ("large", shown.large, call.command.number("size_large", 1024)),
    ):
        if point in loads:
            asked = call.command.number("write", 0)
            text += f"ran ({kind}): VLun = 0 Size = {size}\n"
            text += _traced(kind, loads[point], block_kb, asked)
    return f"{text}\n"


def _traced(kind: str, load: Load, block_kb: int, asked: int) -> str:
    reads, writes = load.count("read"), load.count("write")
    done = max(1, reads + writes)
    each: Sequence[Latency] = tuple(load.by.values())
    least, most = min(one.least_us for one in each), max(one.most_us for one in each)
    return (
        f"ran ({kind}): nio={reads + writes} nior={reads} niow={writes} "
        f"req w%={asked} act w%={round(writes * 100 / done)}\n"
        f"ran ({kind}): my 1 oth 0 iops {load.iops:.0f} lat {load.mean_us:.0f} us, "
        f"bw = {load.mbps:.2f} MBps dur {load.seconds:.2f} s size {block_kb} K, "
        f"min lat {least:.0f} us, max lat {most:.0f} us\n"
    )
