"""What the host does at most in each cell of a method, with nothing at the end of its way.

The cells are those the method asks of a device on paper. Each is measured with the plan, threads,
depth, blocks and content of a run, by the way a run's own session would take; repeats take turns
over all cells, so that what the host does beside is not laid at the door of one of them.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Final

from teijo.engine import open_descriptor
from teijo.engine.native import Backend
from teijo.engine.session import Session
from teijo.errors import TeijoError
from teijo.methods.method import AnyMethod
from teijo.methods.settings import Settings
from teijo.runner.compile import compile_load
from teijo.runner.drive import Conversation
from teijo.runner.paper import Paper, Rates, Share, always_full, restless, settling
from teijo.terms.geometry import Geometry
from teijo.terms.platform import CellCeiling, HostCell, HostLink, Platform, cell_of
from teijo.terms.step import Measure
from teijo.terms.workload import Workload
from teijo.units import NS_PER_MS

REPEATS: Final = 5
REPEATS_OF_A_RUN: Final = 3
RUN_NS: Final = 300 * NS_PER_MS
"""About so long all cells together are driven at the start of a run; getting ready is as long."""
LAP_NS_LEAST: Final = 1 * NS_PER_MS
LAP_NS_MOST: Final = 10 * NS_PER_MS
_LONGER: Final = (1, 8, 64)
"""How often and how much longer a lap without any I/O is tried again."""
CELLS_MOST: Final = 256
"""More cells are left unmeasured, and so unknown."""
STEPS_MOST: Final = 20_000
"""What a method asks for it has asked for by then."""
OVERHEAD_NS: Final = 5 * NS_PER_MS
"""What a lap takes besides, about: threads, ring, buffers."""
_VERIFIED: Final = "what it costs to judge data is in no ceiling"

Told = Callable[[int, int], None]
"""Called with the laps done and all of them."""


def unheard(done: int, of: int) -> None:
    """Do nothing: nobody follows."""
    del done, of


def cells_of(method: AnyMethod, settings: Settings, geometry: Geometry) -> tuple[HostCell, ...]:
    """Return every cell that a method asks of a device, in the order it first does.

    The device is on paper, and steady at once, settling, or never steady.
    """
    found: dict[HostCell, None] = {}
    for share in (always_full, settling, restless):
        found.update(dict.fromkeys(_asked(method, settings, geometry, share)))
    return tuple(found)


def _asked(
    method: AnyMethod, settings: Settings, geometry: Geometry, share: Share
) -> Iterable[HostCell]:
    conversation = Conversation(method.steps(settings, geometry))
    paper = Paper(capacity_bytes=geometry.capacity_bytes, rates=Rates(), share=share)
    for _ in range(STEPS_MOST):
        step = conversation.step
        if step is None:
            return
        cell = cell_of(step)
        if cell is not None:
            yield cell
        conversation.answer(paper.carry_out(step))


def of_run(
    method: AnyMethod,
    settings: Settings,
    geometry: Geometry,
    *,
    backend: str,
    cpus: Sequence[int] = (),
    link: HostLink | None = None,
) -> Platform:
    """Return the platform at the start of a run: each cell three times, for a moment.

    What this process has measured of a cell once, it does not measure again.
    """
    began_ns = monotonic_ns()
    cells = cells_of(method, settings, geometry)[:CELLS_MOST]
    place = (geometry, backend, tuple(cpus))
    new = [cell for cell in cells if (cell, *place) not in _KNOWN]
    laps = REPEATS_OF_A_RUN * len(new)
    each_ns = min(LAP_NS_MOST, max(LAP_NS_LEAST, RUN_NS // max(1, laps)))
    found = measured(
        new,
        geometry,
        each_ns=each_ns,
        backend=backend,
        cpus=cpus,
        repeats=REPEATS_OF_A_RUN,
        with_loop=False,
    )
    _KNOWN.update({(each.cell, *place): each for each in found})
    return Platform(
        cells=tuple(_KNOWN[cell, *place] for cell in cells),
        link=link,
        each_ns=each_ns,
        cost_ns=monotonic_ns() - began_ns,
    )


_KNOWN: Final[dict[tuple[HostCell, Geometry, str, tuple[int, ...]], CellCeiling]] = {}


def expected_ns(cells: int, *, each_ns: int, repeats: int = REPEATS) -> int:
    """Return about how long measuring so many cells takes, with both back ends."""
    return cells * repeats * 2 * (each_ns + OVERHEAD_NS)


def measured(
    cells: Sequence[HostCell],
    geometry: Geometry,
    *,
    each_ns: int,
    backend: str = "io_uring",
    cpus: Sequence[int] = (),
    repeats: int = REPEATS,
    with_loop: bool = True,
    told: Told = unheard,
) -> tuple[CellCeiling, ...]:
    """Return the ceiling of each cell: `repeats` laps of `each_ns`, in turns over all cells.

    `backend` is what a run's session serves by, and `cpus` where its workers are kept. A cell that
    cannot be driven here has no figure, and the reason.
    """
    seen = [_Seen(cell=cell) for cell in cells]
    with ExitStack() as stack:
        descriptor = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        stack.callback(os.close, descriptor)
        sessions = _Sessions(descriptor, geometry, tuple(cpus), stack)
        done, of = 0, repeats * len(seen) * (1 + with_loop)
        for turn in range(repeats):
            for each in seen[:CELLS_MOST]:
                if with_loop:
                    each.drive(sessions, "null", each_ns, turn)
                each.drive(sessions, _way(each.cell, backend), each_ns, turn)
                done += 1 + with_loop
                told(done, of)
    return tuple(each.ceiling for each in seen)


def _way(cell: HostCell, backend: str) -> Backend:
    """Return the back end without a device by which a run's session would take its way.

    One I/O at a time is a system call where a session may choose (docs/engine.md).
    """
    alone = len(cell) == 1 and cell[0].outstanding_ios == 1
    return "nop-call" if backend == "sync" or alone else "nop"


@dataclass
class _Sessions:
    """The sessions of a calibration, each made when it is first wanted."""

    _descriptor: int
    _geometry: Geometry
    _cpus: tuple[int, ...]
    _stack: ExitStack
    _open: dict[Backend, Session] = field(default_factory=dict)

    @property
    def geometry(self) -> Geometry:
        return self._geometry

    def of(self, backend: Backend) -> Session:
        if backend not in self._open:
            session = self._stack.enter_context(
                closing(
                    open_descriptor(
                        self._descriptor,
                        capacity_bytes=self._geometry.capacity_bytes,
                        logical_block_bytes=self._geometry.logical_block_bytes,
                        backend=backend,
                    )
                )
            )
            session.pin(self._cpus)
            self._open[backend] = session
        return self._open[backend]


@dataclass
class _Seen:
    """What was measured of one cell so far."""

    cell: HostCell
    loop_iops: list[float] = field(default_factory=list)
    nop_iops: list[float] = field(default_factory=list)
    why_not: str = ""

    def drive(self, sessions: _Sessions, backend: Backend, each_ns: int, turn: int) -> None:
        """Drive the cell for a lap, and keep its rate."""
        if any(stream.verified for stream in self.cell):
            self.why_not = _VERIFIED
        if self.why_not:
            return
        rates = self.loop_iops if backend == "null" else self.nop_iops
        # On a busy host a thread may get no processor at all within a lap of a millisecond.
        for longer in _LONGER:
            step = Measure(workload=Workload(streams=self.cell), duration_ns=longer * each_ns)
            try:
                plan = compile_load(step, sessions.geometry, {}, seed=turn + 1)
                result = sessions.of(backend).run(plan).result
            except TeijoError as error:
                # The run itself says what it cannot do; here it is only not known.
                self.why_not = error.message
                return
            if result.ios:
                rates.append(result.iops)
                return

    @property
    def ceiling(self) -> CellCeiling:
        return CellCeiling(
            cell=self.cell,
            loop_iops=tuple(self.loop_iops),
            nop_iops=tuple(self.nop_iops),
            why_not=self.why_not,
        )
