"""What tiobench.pl prints: the units, and four tables of the combinations it ran.

A row is perl's format: amounts are rounded, CPU % is the first five letters of a number. The runs
of one combination are summed, and so are their latencies and shares, which is a defect of theirs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from teijo.personas.tiotest.output import NOTHING, Layout, Timings, terse

UNITS: Final = """
Unit information
================
File size = megabytes (2^20 bytes, 1,048,576 bytes)
Blk Size  = bytes
Rate      = megabytes per second
CPU%      = percentage of CPU used during the test
Latency   = milliseconds
Lat%      = percent of requests that took longer than X seconds
CPU Eff   = Rate divided by CPU% - throughput per cpu load
"""
_TOP: Final = (
    "                              File   Blk   Num                         Avg      Maximum"
    "      Lat%     Lat%     CPU\n"
    "Identifier                    Size   Size  Thr      Rate     (CPU%)  Latency    Latency"
    "      >2s      >10s     Eff\n"
    "---------------------------- ------ ------ ---  ------------ ------ --------- -----------"
    "  -------- -------- -------\n"
)
_TABLES: Final = (
    ("Sequential Reads", "read"),
    ("Random Reads", "rread"),
    ("Sequential Writes", "write"),
    ("Random Writes", "rwrite"),
)
_FIELDS: Final = ("amount", "time", "utime", "stime", "average", "longest", "over_2s", "over_10s")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One combination: what was asked for, and its runs."""

    size_mib: int
    block_bytes: int
    threads: int
    runs: Sequence[Timings]


def report(identifier: str, rows: Sequence[Row]) -> str:
    """Return the whole report."""
    told = UNITS
    for title, phase in _TABLES:
        told += f"\n{title}\n{'=' * len(title)}\n"
        # Perl prints the head with the first row, so a table without rows has none.
        lines = "".join(_line(identifier, row, _summed(row, phase)) for row in rows)
        told += _TOP + lines if lines else ""
    return told


def _summed(row: Row, phase: str) -> Mapping[str, float]:
    """Return what tiotest's terse lines say of a phase, summed over the runs."""
    sums = dict.fromkeys(_FIELDS, 0.0)
    for timings in row.runs:
        # The numbers of the terse line, not those behind it: five digits are all that is read.
        one = {phase: timings.get(phase, NOTHING)}
        told = terse(Layout(like="0.4.2", threads=row.threads), one).splitlines()
        (line,) = (each for each in told if each.startswith(f"{phase}:"))
        for name, value in zip(_FIELDS, line.partition(":")[2].split(","), strict=True):
            sums[name] += float(value)
    return sums


def _line(identifier: str, row: Row, sums: Mapping[str, float]) -> str:
    time = sums["time"]
    rate = sums["amount"] / time if time else 0.0
    cpu = 100 * (sums["utime"] + sums["stime"]) / time if time else 0.0
    efficiency = rate / (cpu / 100 + 0.00001)
    return (
        f"{identifier[:28]:28} {_centred(row.size_mib)} {_centred(row.block_bytes)} "
        f"{str(row.threads)[:3]:>3}  {rate:12.2f} {f'{cpu:.15g}'[:5]:>5}% {sums['average']:9.3f} "
        f"{sums['longest']:11.2f}  {sums['over_2s']:8.5f} {sums['over_10s']:8.5f} "
        f"{efficiency:7.0f}\n"
    )


def _centred(number: int) -> str:
    """Return a number in the middle of six columns, a little to the left."""
    text = str(number)[:6]
    left = (6 - len(text)) // 2
    return f"{' ' * left}{text:{6 - left}}"
