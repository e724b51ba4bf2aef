"""The parts of a PTS TP run: one test for each block size, with its own purge, preconditioning,
rounds and steady state. Their settings and cells are here, and how they are read off a record.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from teijo import units
from teijo.analysis import measures
from teijo.analysis.steady_state import Tracked, determine
from teijo.conformance.versions import (
    PRECONDITION_TIMES,
    ROUNDS_MOST,
    THROUGHPUT_READ_PERCENTS,
    Version,
)
from teijo.document.phrase import Phrase, say
from teijo.methods import knobs
from teijo.methods.knobs import Knob
from teijo.methods.phrases import sequential_writes
from teijo.methods.pts import settings as shared
from teijo.methods.rounds import Exchange, Rounds, rounds_of
from teijo.terms.cell import mix_name
from teijo.terms.finding import SteadyState
from teijo.terms.geometry import Geometry
from teijo.terms.result import StepResult
from teijo.terms.step import ROUND, Measure, Precondition, Purge
from teijo.terms.workload import Access, Stream, Workload


class TpSettings(shared.PtsSettings, frozen=True):
    """The numbers of one TP run, on the device at hand."""

    threads: shared.Threads
    queue_depth: shared.QueueDepth
    content: shared.DataPattern
    block_sizes_bytes: Annotated[
        tuple[int, ...],
        Knob(
            key="block_sizes",
            aliases=("bs", "block_size"),
            meaning="block sizes, each a test of its own from the purge on",
            example="1024KiB,128KiB",
            parse=knobs.block_sizes,
            show=knobs.show_sizes,
        ),
    ]
    rounds_most: shared.RoundsMost
    precondition_times: shared.PreconditionTimes
    precondition_block_bytes: Annotated[
        int | None,
        Knob(
            key="precondition_block",
            meaning="block size of the preconditioning; none for the test's own",
            example="128KiB",
            parse=knobs.optional(knobs.block_size),
            show=knobs.show_size,
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Part:
    """One block size's test, from its purge on; `preconditioned` once that took place."""

    block_size_bytes: int
    preconditioned: bool
    rounds: Rounds


def standard(version: Version, geometry: Geometry) -> TpSettings:
    """Return the settings as the version has them on this device, unchecked."""
    rule, dropped = version.throughput, dropped_blocks(version, geometry)
    return TpSettings.model_validate(
        {
            **shared.shared_defaults(version, geometry, rule.load),
            "block_sizes_bytes": tuple(b for b in rule.block_sizes_bytes if b not in dropped),
            "rounds_most": ROUNDS_MOST,
            "precondition_times": PRECONDITION_TIMES,
            "precondition_block_bytes": rule.precondition_block_bytes,
        }
    )


def dropped_blocks(version: Version, geometry: Geometry) -> tuple[int, ...]:
    """Return the version's block sizes that this device cannot serve (0.5 KiB on 4Kn)."""
    sizes = version.throughput.block_sizes_bytes
    return tuple(size for size in sizes if size % geometry.logical_block_bytes)


def cell_name(read_percent: int, block_size_bytes: int) -> str:
    """Return a cell's name: "SEQ 1024 KiB 0/100"."""
    return f"SEQ {units.format_block_size(block_size_bytes)} {mix_name(read_percent)}"


def variable_name(block_size_bytes: int) -> Phrase:
    """Return the tracking variable's name, that of the write cell."""
    return say("SEQ {block} 0/100", block=units.format_block_size(block_size_bytes))


def cells(settings: TpSettings, block_size_bytes: int, round_number: int) -> tuple[Measure, ...]:
    """Return a round's two cells: reads, then writes, a minute each.

    Reads and writes are streams of their own, so that each goes on where it left off a round
    ago; the writes go on from the preconditioning's, whose stream has the same name.
    """
    return tuple(
        Measure(
            workload=Workload(
                streams=(
                    Stream(
                        name="read" if read_percent else "main",
                        read_percent=read_percent,
                        block_size_bytes=block_size_bytes,
                        access=Access.SEQUENTIAL,
                        threads=settings.threads,
                        queue_depth=settings.queue_depth,
                        active_range=shared.range_of(settings),
                        content=settings.content,
                    ),
                )
            ),
            duration_ns=settings.minute_ns,
            phase=ROUND,
            round_number=round_number,
            cell=cell_name(read_percent, block_size_bytes),
        )
        for read_percent in THROUGHPUT_READ_PERCENTS
    )


def preconditioning(
    settings: TpSettings, block_size_bytes: int, geometry: Geometry
) -> tuple[Workload, int]:
    """Return the WIPC stimulus of one block size's test and its volume in bytes."""
    workload = sequential_writes(
        settings.precondition_block_bytes or block_size_bytes,
        active_range=shared.share_of(settings),
        threads=settings.threads,
        queue_depth=settings.queue_depth,
        content=settings.content,
    )
    align = geometry.physical_block_bytes
    return workload, settings.precondition_times * (geometry.capacity_bytes // align * align)


def determination(block_size_bytes: int, rounds: Rounds) -> tuple[SteadyState, ...]:
    """Return the determination of one block size's write throughput over the unbroken rounds."""
    name = cell_name(0, block_size_bytes)
    return determine(
        [each.number for each in rounds.unbroken],
        [
            Tracked(
                variable=variable_name(block_size_bytes),
                unit="MB/s",
                values=tuple(measures.exact_mb_s(each.at(name)) for each in rounds.unbroken),
            )
        ],
    )


def parts_of(settings: TpSettings, exchanges: Iterable[Exchange]) -> tuple[Part, ...]:
    """Return the parts that have begun, in their order: each purge that took place begins one."""
    found: list[list[Exchange]] = []
    for step, answer in exchanges:
        if isinstance(step, Purge):
            if isinstance(answer, StepResult):
                found.append([])
        elif found:
            found[-1].append((step, answer))
    return tuple(
        Part(
            block_size_bytes=block,
            preconditioned=not settings.precondition_times
            or any(
                isinstance(step, Precondition) and isinstance(answer, StepResult)
                for step, answer in part
            ),
            rounds=rounds_of(part, len(THROUGHPUT_READ_PERCENTS)),
        )
        for block, part in zip(settings.block_sizes_bytes, found, strict=False)
    )
