"""A run of DiskSpd as its printers are given it: two threads, reads and writes, two seconds."""

import numpy as np

from teijo.methods.classic.diskspd.found import Counted, Line
from teijo.methods.classic.diskspd.load import Row
from teijo.personas.diskspd.host import Host, Processor
from teijo.personas.diskspd.measured import Measured
from teijo.personas.processors import Busy
from teijo.terms.histogram import EMPTY, histogram_of
from teijo.units import NS_PER_S

HOST = Host(
    name="host",
    started="2026/11/23 08:00:00 UTC",
    processors=(Processor(number=0, core=0), Processor(number=1, core=1)),
    scheme="performance",
)
BUSY = (
    Busy(number=0, user=30.0, kernel=25.0, idle=45.0),
    Busy(number=1, user=0.0, kernel=0.0, idle=100.0),
)
NOTHING = Counted(ios=0, bytes=0, latency=EMPTY, buckets=())


def some(ios: int, latency_ns: int, *buckets: int) -> Counted:
    """Return I/Os of 4 KiB that all took as long."""
    return Counted(
        ios=ios,
        bytes=4096 * ios,
        latency=histogram_of(np.full(ios, latency_ns, np.int64)),
        buckets=tuple((n, latency_ns, latency_ns, n * latency_ns) for n in buckets),
    )


def line(thread: int, read: Counted, write: Counted, target: int = 0) -> Line:
    """Return the row of a thread."""
    row = Row(thread=thread, target=target, threads=1, name=f"thread {thread}")
    return Line(row=row, read=read, write=write)


def measured(*lines: Line, paths: tuple[str, ...] = ("testfile.dat",)) -> Measured:
    """Return two seconds of these rows."""
    return Measured(
        elapsed_ns=2 * NS_PER_S,
        threads=len({each.row.thread for each in lines}),
        lines=lines,
        paths=paths,
        sizes=(10 * 1024**2,) * len(paths),
        busy=BUSY,
    )


MIXED = measured(
    line(0, some(1000, 500_000, 400, 600), some(500, 1_000_000, 250, 250)),
    line(1, some(2000, 500_000, 1000, 1000), NOTHING),
)
