"""What PTS TP measures and finds: a test for each block size, with its own purge, preconditioning,
rounds and steady state.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import THROUGHPUT, Quantity
from teijo.conformance.versions import THROUGHPUT_READ_PERCENTS
from teijo.document.curve import Curve
from teijo.document.phrase import Verbatim, say
from teijo.methods.forms import BLOCK_SIZE, BLOCK_SIZES, optional
from teijo.methods.knobs import Knob, meaning
from teijo.methods.phrases import is_steady
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import PtsFound
from teijo.methods.pts.loop import cell_curve, scalars_of, tracking_curves, written_in
from teijo.methods.pts.matrix import (
    RoundsSettings,
    SteadyRoundsFound,
    determined,
    round_of,
    stimulus,
)
from teijo.methods.rounds import Rounds
from teijo.terms.cell import MatrixCell
from teijo.terms.finding import Cell, Scalar, SteadyState
from teijo.terms.result import StepResult
from teijo.terms.step import ROUND, Measure, Purge
from teijo.terms.watch import Watch
from teijo.terms.workload import Access, Workload


class TpSettings(RoundsSettings, shared.LoadSettings, frozen=True):
    """The numbers of one TP run, on the device at hand."""

    block_sizes_bytes: Annotated[
        tuple[int, ...], Knob(BLOCK_SIZES, "block_sizes=1024KiB,128KiB", ("bs", "block_size"))
    ] = meaning("block sizes, each a test of its own from the purge on")
    rounds_most: shared.RoundsMost
    precondition_times: shared.PreconditionTimes
    precondition_block_bytes: Annotated[
        int | None, Knob(optional(BLOCK_SIZE), "precondition_block=128KiB")
    ] = meaning("block size of the preconditioning; none for the test's own")


@dataclass(frozen=True, kw_only=True)
class TpCell(MatrixCell):
    """The sequential reads or writes of a block size."""

    @property
    def name(self) -> str:
        """The name that the record has for it: "SEQ 1024 KiB 0/100"."""
        return f"SEQ {self.block} {self.mix}"

    def workload(self, settings: TpSettings) -> Workload:
        """Return what is driven in it.

        Reads and writes are separate streams, so that each goes on where it ended a round ago;
        the writes go on from the preconditioning's, whose stream has the same name.
        """
        (random,) = stimulus(settings, self).streams
        name = "read" if self.read_percent else "main"
        return Workload(streams=(replace(random, name=name, access=Access.SEQUENTIAL),))


def cells_of(block_size_bytes: int) -> tuple[TpCell, ...]:
    """Return a round's two cells in the order measured: reads, then writes."""
    return tuple(
        # Unverified: that the reads come first.
        TpCell(read_percent=mix, block_size_bytes=block_size_bytes)
        for mix in THROUGHPUT_READ_PERCENTS
    )


def cells(settings: TpSettings, block_size_bytes: int, number: int) -> tuple[Measure, ...]:
    """Return a round: reads, then writes, a minute each."""
    workloads = {cell: cell.workload(settings) for cell in cells_of(block_size_bytes)}
    return round_of(settings, workloads, number)


def determination(block_size_bytes: int, rounds: Rounds) -> tuple[SteadyState, ...]:
    """Return the determination of a test's write throughput over the unbroken rounds."""
    _, write = cells_of(block_size_bytes)
    variable = say("SEQ {block} 0/100", block=write.block)
    return determined(rounds, {variable: write}, "MB/s", measures.exact_mb_s)


@dataclass(frozen=True, kw_only=True)
class BlockFound(SteadyRoundsFound[TpSettings, TpCell]):
    """What the test of one block size shows, from its purge on."""

    block_size_bytes: int

    @property
    def name(self) -> str:
        """The block size, by which the tests differ."""
        return units.format_block_size(self.block_size_bytes)

    @cached_property
    def keys(self) -> tuple[TpCell, ...]:
        """The writes and the reads: the standard's pages have the writes first."""
        return tuple(reversed(cells_of(self.block_size_bytes)))

    @cached_property
    def states(self) -> tuple[SteadyState, ...]:
        """The determination of the writes."""
        return determination(self.block_size_bytes, self.course)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Throughput of the reads and the writes."""
        names = ((key, Verbatim(key.name)) for key in reversed(self.keys))
        return self.compared(names, (THROUGHPUT,))

    @property
    def first_round(self) -> tuple[Measure, ...]:
        """The cells of the first round."""
        return cells(self.settings, self.block_size_bytes, 1)


class TpFound(PtsFound[TpSettings]):
    """What a record of the test shows: all block sizes together, and each by itself.

    `rounds` are those of all block sizes. A window is of one of them: `window_rounds` is None
    where there are several, and each of `states` has its own.
    """

    @cached_property
    def all_blocks(self) -> tuple[BlockFound, ...]:
        """The test of each block size in their order; those to come have no steps yet."""
        steps = self.record.steps
        begins = [
            number
            for number, each in enumerate(steps)
            # A purge broken by a gap is asked for again: only one that took place begins a test.
            if isinstance(each.step, Purge) and isinstance(each.answer, StepResult)
        ]
        begun = [steps[first:last] for first, last in pairwise((*begins, len(steps)))]
        blocks = self.settings.block_sizes_bytes
        parts = (*begun, *((),) * (len(blocks) - len(begun)))
        return tuple(
            BlockFound(
                settings=self.settings,
                record=replace(self.record, steps=tuple(part)),
                block_size_bytes=block,
            )
            for block, part in zip(blocks, parts, strict=True)
        )

    @cached_property
    def blocks(self) -> tuple[BlockFound, ...]:
        """The tests that have begun: each purge that took place begins one."""
        return tuple(each for each in self.all_blocks if each.record.steps)

    @property
    def states(self) -> tuple[SteadyState, ...]:
        """The determination of each block size."""
        return tuple(state for each in self.blocks for state in each.states)

    @property
    def converged(self) -> bool:
        """Whether every block size is steady."""
        whole = len(self.blocks) == len(self.settings.block_sizes_bytes)
        return whole and all(is_steady(each.states) for each in self.blocks)

    @property
    def rounds(self) -> int:
        """How many rounds were measured whole, of all block sizes."""
        return sum(each.rounds for each in self.blocks)

    @property
    def window_rounds(self) -> tuple[int, int] | None:
        """The first and the last round of the window, of a single block size."""
        return self.blocks[0].window_rounds if len(self.blocks) == 1 else None

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """What was written."""
        return (written_in(self.record),)

    @cached_property
    def over_window(self) -> Mapping[TpCell, Cell]:
        """The cells of all block sizes, each over its own window."""
        return {key: cell for each in self.blocks for key, cell in each.over_window.items()}

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """The cells of all block sizes, as they are exported."""
        return tuple(self.over_window.values())

    @property
    def headlines(self) -> Sequence[Scalar]:
        """Throughput of the reads and the writes of every block size."""
        cells = self.over_window.items()
        return scalars_of((key.name, cell.throughput_mb_s, "MB/s") for key, cell in cells)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Throughput of the reads and the writes of every block size."""
        return tuple(quantity for each in self.blocks for quantity in each.quantities)

    @cached_property
    def comparison_curves(self) -> Sequence[Curve]:
        """Throughput of every cell, and how each block size came to its window."""
        cells = cell_curve(self.cells, "Throughput", "MB/s", lambda cell: cell.throughput_mb_s)
        return (cells, *tracking_curves(self.states))

    @property
    def steady_words(self) -> str:
        """How far the steady state of the test under way is."""
        return self.blocks[-1].steady_words if self.blocks else ""

    @property
    def watch_running(self) -> Watch:
        """How far the test under way has come, with the time of those to come."""
        left = [each.watch_running for each in self.all_blocks if not each.is_over]
        if not left:
            return Watch(phase=ROUND, steady=self.steady_words)
        now = left[0].followed_by(*left[1:])
        return now if now.phase == ROUND else replace(now, rounds_least=None, rounds_most=None)
