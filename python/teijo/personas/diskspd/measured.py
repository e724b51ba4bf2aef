"""What DiskSpd's printers are given: its rows with their targets, and the processors meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass

from teijo.methods.classic.diskspd.found import Counted, Line, together
from teijo.personas.processors import Busy


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One time span. `paths` and `sizes` are of each target, in order; `threads` are all."""

    elapsed_ns: int
    threads: int
    lines: tuple[Line, ...]
    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    busy: tuple[Busy, ...]

    def of_target(self, place: int) -> "Measured":
        """Return what was measured of one target."""
        lines = tuple(line for line in self.lines if line.row.target == place)
        return Measured(
            elapsed_ns=self.elapsed_ns,
            threads=self.threads,
            lines=lines,
            paths=self.paths,
            sizes=self.sizes,
            busy=self.busy,
        )

    @property
    def read(self) -> Counted:
        """All reads."""
        return together([line.read for line in self.lines])

    @property
    def write(self) -> Counted:
        """All writes."""
        return together([line.write for line in self.lines])

    @property
    def both(self) -> Counted:
        """All I/Os."""
        return together((self.read, self.write))

    @property
    def averages(self) -> tuple[float, float, float]:
        """Percent in user mode, in the kernel and idle, over all processors."""
        return average(self.busy)


def average(busy: Sequence[Busy]) -> tuple[float, float, float]:
    """Return percent in user mode, in the kernel and idle, over processors; idle of none."""
    count = len(busy)
    if not count:
        return (0.0, 0.0, 100.0)
    return (
        sum(each.user for each in busy) / count,
        sum(each.kernel for each in busy) / count,
        sum(each.idle for each in busy) / count,
    )
