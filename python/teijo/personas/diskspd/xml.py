"""DiskSpd's results and its profile as XML: the names and the order of version 2.2."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from teijo.methods.classic.diskspd.found import (
    Counted,
    Line,
    iops_deviation,
    latency_deviation_ns,
    together,
)
from teijo.personas.diskspd.command import CACHED, Command
from teijo.personas.diskspd.host import Host
from teijo.personas.diskspd.measured import Measured
from teijo.terms.histogram import Histogram
from teijo.units import NS_PER_MS, NS_PER_S

VERSION, VERSION_DATE = "2.2.0", "2024/6/3"
_BEYOND: Final = tuple((digits, 100 - 10.0**-digits) for digits in range(1, 8))
"""99.9 to 99.9999999, with as many digits as each has."""
INTERRUPTED: Final = (
    "The test was interrupted before the measurements began. No results are displayed."
)


class Sheet:
    """Lines of XML, indented by two for each element that is open."""

    def __init__(self) -> None:
        """Begin with nothing open."""
        self._lines: list[str] = []
        self._depth = 0

    @contextmanager
    def within(self, name: str, attributes: str = "") -> Iterator[None]:
        """Open an element, and close it behind the block."""
        self.line(f"<{name}{attributes}>")
        self._depth += 1
        yield
        self._depth -= 1
        self.line(f"</{name}>")

    def line(self, text: str) -> None:
        """Add a line as it is."""
        self._lines.append("  " * self._depth + text)

    def put(self, name: str, value: object) -> None:
        """Add an element with a text; true and false as XML has them."""
        text = str(value).lower() if isinstance(value, bool) else escape(str(value))
        self.line(f"<{name}>{text}</{name}>")

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(self._lines)


def profile_xml(command: Command) -> str:
    """Return the profile alone, as -Rpxml does."""
    sheet = Sheet()
    _profile(sheet, command)
    return sheet.text + "\n"


def results_xml(command: Command, host: Host, found: Measured) -> str:
    """Return system, profile and the results of the time span."""
    sheet = Sheet()
    with sheet.within("Results"):
        _system(sheet, host)
        _profile(sheet, command)
        with sheet.within("TimeSpan"):
            _span(sheet, command, host, found)
    return sheet.text


def _system(sheet: Sheet, host: Host) -> None:
    with sheet.within("System"):
        sheet.put("ComputerName", host.name)
        with sheet.within("Tool"):
            sheet.put("Version", VERSION)
            sheet.put("VersionDate", VERSION_DATE)
        sheet.put("RunTime", host.started)
        sheet.line(f'<PowerScheme Name={quoteattr(host.scheme)} Guid=""/>')
        with sheet.within("ProcessorTopology", ' Heterogeneous="false"'):
            count, every = len(host.processors), host.mask(lambda _: True)
            sheet.line(
                f'<Group Group="0" MaximumProcessors="{count}" ActiveProcessors="{count}" '
                f'ActiveProcessorMask="{every:#x}"/>'
            )
            for node in host.nodes:
                mask = host.mask(lambda each, at=node: each.node == at)  # type: ignore[misc]
                with sheet.within("Node", f' Node="{node}"'):
                    sheet.line(f'<Group Group="0" Mask="{mask:#x}"/>')
            for number in host.sockets:
                mask = host.mask(lambda each, at=number: each.socket == at)  # type: ignore[misc]
                with sheet.within("Socket", f' Socket="{number}"'):
                    sheet.line(f'<Group Group="0" Mask="{mask:#x}"/>')
            for core in host.cores:
                mask = host.mask(lambda each, at=core: each.core == at)  # type: ignore[misc]
                sheet.line(f'<Core Group="0" Core="{core}" Mask="{mask:#x}" EfficiencyClass="0"/>')


def _profile(sheet: Sheet, command: Command) -> None:
    with sheet.within("Profile"):
        sheet.put("Progress", 0)
        sheet.put("ResultFormat", "xml" if command.xml else "text")
        sheet.put("Verbose", command.verbose)
        with sheet.within("TimeSpans"), sheet.within("TimeSpan"):
            sheet.put("CompletionRoutines", command.routines)
            sheet.put("MeasureLatency", command.latency)
            sheet.put("CalculateIopsStdDev", command.deviations)
            sheet.put("DisableAffinity", command.no_affinity)
            sheet.put("Duration", command.duration)
            sheet.put("Warmup", command.warm_up)
            sheet.put("Cooldown", command.cool_down)
            sheet.put("ThreadCount", command.threads)
            sheet.put("RequestCount", command.requests)
            sheet.put("IoBucketDuration", command.bucket_ms)
            sheet.put("RandSeed", command.seed)
            with sheet.within("Targets"):
                for target in command.targets:
                    with sheet.within("Target"):
                        _target(sheet, command, target)


def _target(sheet: Sheet, command: Command, path: str) -> None:
    sheet.put("Path", path)
    sheet.put("BlockSize", command.block)
    sheet.put("BaseFileOffset", command.base)
    for name in ("SequentialScan", "RandomAccess", "TemporaryFile", "UseLargePages"):
        sheet.put(name, False)
    if command.cache != CACHED:
        sheet.put("DisableOSCache", True)
    if command.write_through:
        sheet.put("WriteThrough", True)
    with sheet.within("WriteBufferContent"):
        if command.zero:
            sheet.put("Pattern", "zero")
        elif not command.buffer_bytes:
            sheet.put("Pattern", "sequential")
        else:
            sheet.put("Pattern", "random")
            with sheet.within("RandomDataSource"):
                sheet.put("SizeInBytes", command.buffer_bytes)
    sheet.put("ParallelAsyncIO", False)
    if command.create is not None:
        sheet.put("FileSize", command.create)
    if command.random:
        sheet.put("Random", command.grid)
    else:
        sheet.put("StrideSize", command.grid)
        sheet.put("InterlockedSequential", command.interlocked)
    sheet.put("ThreadStride", command.stride)
    sheet.put("MaxFileSize", command.end)
    sheet.put("RequestCount", command.outstanding)
    sheet.put("WriteRatio", command.write)
    sheet.put("Throughput", 0)
    sheet.put("ThreadsPerFile", command.threads_per_target)
    sheet.put("IOPriority", 3)
    sheet.put("Weight", 1)


def _span(sheet: Sheet, command: Command, host: Host, found: Measured) -> None:
    if not found.elapsed_ns:
        sheet.put("Error", INTERRUPTED)
        return
    sheet.put("TestTimeSeconds", f"{found.elapsed_ns / NS_PER_S:.2f}")
    sheet.put("ThreadCount", found.threads)
    sheet.put("RequestCount", command.requests)
    sheet.put("ProcCount", len(host.processors))
    _processors(sheet, host, found)
    if command.latency:
        _percentiles(sheet, found)
    if command.deviations:
        _iops(sheet, command, found.read, found.write)
    threads = dict.fromkeys(line.row.thread for line in found.lines)
    for place, thread in enumerate(threads):
        with sheet.within("Thread"):
            sheet.put("Id", place)
            for line in found.lines:
                if line.row.thread == thread:
                    with sheet.within("Target"):
                        _result(sheet, command, found, line)


def _processors(sheet: Sheet, host: Host, found: Measured) -> None:
    places = {each.number: each for each in host.processors}
    with sheet.within("CpuUtilization"):
        for each in found.busy:
            place = places.get(each.number)
            with sheet.within("CPU"):
                sheet.put("Socket", place.socket if place else 0)
                sheet.put("Node", place.node if place else 0)
                sheet.put("Group", 0)
                sheet.put("Core", place.core if place else 0)
                sheet.put("EfficiencyClass", 0)
                sheet.put("Id", each.number)
                _usage(sheet, each.user, each.kernel, each.idle)
        with sheet.within("Average"):
            _usage(sheet, *found.averages)


def _usage(sheet: Sheet, user: float, kernel: float, idle: float) -> None:
    sheet.put("UsagePercent", f"{user + kernel:.2f}")
    sheet.put("UserPercent", f"{user:.2f}")
    sheet.put("KernelPercent", f"{kernel:.2f}")
    sheet.put("IdlePercent", f"{idle:.2f}")


def _ms(value_ns: float) -> str:
    return f"{value_ns / NS_PER_MS:.3f}"


def _percentiles(sheet: Sheet, found: Measured) -> None:
    columns = (
        ("Read", found.read.latency),
        ("Write", found.write.latency),
        ("Total", found.both.latency),
    )
    counts = " ".join(f'{name}HistoBuckets="{len(each.counts)}"' for name, each in columns)
    with sheet.within("Latency", f" {counts}"):
        for name, each in columns:
            if each.count:
                sheet.put(f"Average{name}Milliseconds", _ms(each.mean_ns))
                deviation = "LatencyStdev" if name == "Total" else f"{name}LatencyStdev"
                sheet.put(deviation, _ms(latency_deviation_ns(each)))
        _bucket(sheet, "0", columns, [each.min_ns for _, each in columns])
        for percent in range(1, 100):
            _at(sheet, str(percent), columns, percent / 100)
        for digits, beyond in _BEYOND:
            _at(sheet, f"{beyond:.{digits}f}", columns, beyond / 100)
        _bucket(sheet, "100", columns, [each.max_ns for _, each in columns])


Columns = Sequence[tuple[str, Histogram]]


def _at(sheet: Sheet, percent: str, columns: Columns, share: float) -> None:
    _bucket(sheet, percent, columns, [each.quantile_ns(share) for _, each in columns])


def _bucket(sheet: Sheet, percent: str, columns: Columns, levels_ns: Sequence[int]) -> None:
    with sheet.within("Bucket"):
        sheet.put("Percentile", percent)
        for (name, each), level_ns in zip(columns, levels_ns, strict=True):
            if each.count:
                sheet.put(f"{name}Milliseconds", _ms(level_ns))


def _result(sheet: Sheet, command: Command, found: Measured, line: Line) -> None:
    read, write, both = line.read, line.write, together(line.both)
    sheet.put("Path", found.paths[line.row.target])
    sheet.put("BytesCount", both.bytes)
    sheet.put("FileSize", found.sizes[line.row.target])
    sheet.put("IOCount", both.ios)
    sheet.put("ReadBytes", read.bytes)
    sheet.put("ReadCount", read.ios)
    sheet.put("WriteBytes", write.bytes)
    sheet.put("WriteCount", write.ios)
    if command.latency:
        for name, part in (("Read", read), ("Write", write), ("", both)):
            if part.latency.count:
                sheet.put(f"Average{name}LatencyMilliseconds", _ms(part.latency.mean_ns))
                sheet.put(f"{name}LatencyStdev", _ms(latency_deviation_ns(part.latency)))
    if command.deviations:
        _iops(sheet, command, read, write)


def _iops(sheet: Sheet, command: Command, read: Counted, write: Counted) -> None:
    both, interval_ns = together((read, write)), command.bucket_ms * NS_PER_MS
    with sheet.within("Iops"):
        for name, part in (("Read", read), ("Write", write), ("", both)):
            if part.buckets:
                deviation = iops_deviation(part.buckets, interval_ns)
                sheet.put(f"{name}IopsStdDev", f"{deviation:.3f}")
        for place in range(len(both.buckets)):
            _interval(sheet, command.bucket_ms, place, read, write)


def _interval(sheet: Sheet, bucket_ms: int, place: int, read: Counted, write: Counted) -> None:
    """Add one interval. The deviation of latencies within it is not recorded, and left out."""
    rates: list[float] = []
    times: list[str] = []
    for name, part in (("Read", read), ("Write", write)):
        bucket = part.buckets[place] if place < len(part.buckets) else (0, 0, 0, 0)
        ios, low_ns, high_ns, sum_ns = bucket
        rates.append(ios / (bucket_ms / 1000))
        times.append(
            f'{name}MinLatencyMilliseconds="{_ms(low_ns)}" '
            f'{name}MaxLatencyMilliseconds="{_ms(high_ns)}" '
            f'{name}AvgLatencyMilliseconds="{_ms(sum_ns / ios if ios else 0)}"'
        )
    sheet.line(
        f'<Bucket SampleMillisecond="{bucket_ms * (place + 1)}" Read="{rates[0]:.0f}" '
        f'Write="{rates[1]:.0f}" Total="{sum(rates):.0f}" {" ".join(times)}/>'
    )
