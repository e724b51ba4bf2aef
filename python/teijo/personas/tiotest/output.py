"""What tiotest prints: its two tables and its terse lines, with their quirks.

Formats of 0.4.2. MB are MiB. A phase that was skipped has no row in the tables, and zeros in the
terse lines. 0.3.1 has a blank line below the title and another head; it and 0.3.3 count the
processor time of the process once for each thread.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from teijo.methods.classic.tiotest.settings import PHASES
from teijo.units import MEGA, MIB, NS_PER_MS, NS_PER_US

NAMES: Final = dict(zip(PHASES, ("Write", "Random Write", "Read", "Random Read"), strict=True))
_LINE: Final = "-" * 70
_RULE: Final = f"+{'-' * 23}+{'-' * 10}+{'-' * 14}+{'-' * 10}+{'-' * 9}+\n"
_LONG_LINE: Final = "-" * 73
_COLUMNS: Final = f"{'-' * 14}+{'-' * 17}+{'-' * 17}+{'-' * 10}+{'-' * 11}"
_AMOUNT_WIDTHS: Final = {"write": 11, "rwrite": 4, "read": 12, "rread": 5}


@dataclass(frozen=True, kw_only=True)
class Timing:
    """One phase of one run. `latency_ns` is the sum over its calls, `longest_ns` of the longest;
    `over_2s` and `over_10s` are how many took longer. CPU times are of the process, once.
    """

    amount_bytes: int
    elapsed_ns: int
    user_ns: int
    system_ns: int
    calls: int
    latency_ns: int
    longest_ns: int
    over_2s: int = 0
    over_10s: int = 0

    @property
    def mean_ms(self) -> float:
        """The mean of a call in ms, 0 of none."""
        return self.latency_ns / self.calls / NS_PER_MS if self.calls else 0.0

    @property
    def longest_ms(self) -> float:
        """The longest call in ms: they read a clock of µs."""
        return self.longest_ns // NS_PER_US / 1000

    @property
    def percents(self) -> tuple[float, float]:
        """The share of calls above 2 s and above 10 s."""
        if not self.calls:
            return 0.0, 0.0
        return self.over_2s * 100 / self.calls, self.over_10s * 100 / self.calls


NOTHING: Final = Timing(
    amount_bytes=0, elapsed_ns=0, user_ns=0, system_ns=0, calls=0, latency_ns=0, longest_ns=0
)
Timings = Mapping[str, Timing]
"""The phases of one run, by the names of the terse lines; what was not done is absent."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a version prints: `like` it, of so many threads, with the table of latencies or not."""

    like: str
    threads: int
    with_latency: bool = True


def tables(layout: Layout, timings: Timings) -> str:
    """Return the tables for people; they end with a blank line where there are latencies."""
    old = layout.like == "0.3.1"
    head = f"Tiotest results for {layout.threads} concurrent io threads:\n" + ("\n" if old else "")
    head += f",{_LINE}.\n"
    cpu = "Usr CPU | Sys CPU  |\n" if old else "Usr CPU  | Sys CPU |\n"
    head += f"| Item                  | Time     | Rate         | {cpu}{_RULE}"
    rows = "".join(_rate_row(layout, name, timings[name]) for name in PHASES if name in timings)
    told = f"{head}{rows}`{_LINE}'\n"
    if not layout.with_latency:
        return told
    told += f"Tiotest latency results:\n,{_LONG_LINE}.\n"
    told += "| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |\n"
    told += f"+{_COLUMNS}+\n"
    for name in PHASES:
        if name in timings:
            told += _latency_row(NAMES[name], timings[name])
    return f"{told}|{_COLUMNS}|\n{_latency_row('Total', total(timings))}`{_COLUMNS}'\n\n"


def terse(layout: Layout, timings: Timings) -> str:
    """Return the lines of -T, one a phase and the total."""
    told = ""
    for name in PHASES:
        timing = timings.get(name, NOTHING)
        values = (
            timing.amount_bytes / MIB,
            _seconds(timing.elapsed_ns),
            _seconds(timing.user_ns) * _times(layout),
            _seconds(timing.system_ns) * _times(layout),
            timing.mean_ms,
            timing.longest_ms,
            *timing.percents,
        )
        told += f"{name}:{','.join(f'{value:.5f}' for value in values)}\n"
    whole = total(timings)
    all_of_it = (whole.mean_ms, whole.longest_ms, *whole.percents)
    return f"{told}total:{','.join(f'{value:.5f}' for value in all_of_it)}\n"


def total(timings: Timings) -> Timing:
    """Return all phases together: the mean is over calls."""
    each = timings.values()
    return Timing(
        amount_bytes=sum(one.amount_bytes for one in each),
        elapsed_ns=sum(one.elapsed_ns for one in each),
        user_ns=sum(one.user_ns for one in each),
        system_ns=sum(one.system_ns for one in each),
        calls=sum(one.calls for one in each),
        latency_ns=sum(one.latency_ns for one in each),
        longest_ns=max((one.longest_ns for one in each), default=0),
        over_2s=sum(one.over_2s for one in each),
        over_10s=sum(one.over_10s for one in each),
    )


def _times(layout: Layout) -> int:
    """Return how often the processor time of the process is counted: by each thread before 0.4."""
    return layout.threads if layout.like.startswith("0.3") else 1


def _seconds(ns: int) -> float:
    return ns // NS_PER_US / MEGA


def _rate_row(layout: Layout, name: str, timing: Timing) -> str:
    amount = timing.amount_bytes / MIB
    seconds = _seconds(timing.elapsed_ns)
    rate = amount / seconds if seconds else float("inf")
    user, system = (
        _percent(ns, timing.elapsed_ns) * _times(layout)
        for ns in (timing.user_ns, timing.system_ns)
    )
    return (
        f"| {NAMES[name]} {amount:{_AMOUNT_WIDTHS[name]}.0f} MBs | {seconds:6.1f} s "
        f"| {rate:7.3f} MB/s | {user:5.1f} %  | {system:5.1f} % |\n"
    )


def _percent(ns: int, elapsed_ns: int) -> float:
    # In whole hundredths, cut off.
    return 10_000 * ns // elapsed_ns / 100 if elapsed_ns else 0.0


def _latency_row(name: str, timing: Timing) -> str:
    over_2s, over_10s = timing.percents
    return (
        f"| {name:12} | {timing.mean_ms:12.3f} ms | {timing.longest_ms:12.3f} ms "
        f"| {over_2s:8.5f} | {over_10s:9.5f} |\n"
    )
