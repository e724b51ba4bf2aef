"""PTS TP: sequential reads and writes, one test a block size, each with rounds until its writes
are in steady state. What a block size's test is made of is in parts, the report in pages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import of_rounds
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.conformance.versions import (
    DEFAULT_SPEC,
    SPECS,
    THROUGHPUT_READ_PERCENTS,
    version_of,
)
from teijo.document.model import Document
from teijo.document.phrase import Verbatim, say
from teijo.methods import knobs
from teijo.methods.method import Method, Steps
from teijo.methods.phrases import is_steady, precondition, purge, rounds_until_steady
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import FlatPtsFound
from teijo.methods.pts.loop import rounds_watch, steady_words, window_rounds_of
from teijo.methods.pts.tp.parts import (
    Part,
    TpSettings,
    cell_name,
    cells,
    determination,
    dropped_blocks,
    parts_of,
    preconditioning,
    standard,
)
from teijo.methods.rounds import exchanges_of
from teijo.terms.cell import mix_name
from teijo.terms.finding import Findings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.quantity import THROUGHPUT, Quantity
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import ROUND
from teijo.terms.watch import Watch


class TpFound(FlatPtsFound[TpSettings]):
    """What a record of Tp shows."""

    @cached_property
    def findings(self) -> Findings:
        """Return the findings of all block sizes together.

        `rounds` are those of all tests. A window belongs to one test, so `window_rounds` is None
        where there are several; each state in `steady_states` has its own.
        """
        settings, record = self.settings, self.record
        parts = parts_of(settings, exchanges_of(record))
        each = [part_findings(settings, part) for part in parts]
        whole = len(parts) == len(settings.block_sizes_bytes)
        return Findings(
            method=record.run.method,
            spec=settings.spec,
            converged=whole and all(one.converged for one in each),
            rounds=sum(one.rounds for one in each),
            window_rounds=each[0].window_rounds if len(each) == 1 else None,
            steady_states=tuple(state for one in each for state in one.steady_states),
            scalars=_scalars(record),
            cells=tuple(cell for one in each for cell in one.cells),
        )

    @cached_property
    def watch(self) -> Watch:
        """Return where the run stands."""
        return _watch(self.settings, self.record)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Throughput of the reads and the writes of every block size."""
        quantities: list[Quantity] = []
        for part in parts_of(self.settings, self.exchanges):
            states = determination(part.block_size_bytes, part.rounds)
            window = window_rounds_of(states, part.rounds)
            for mix in THROUGHPUT_READ_PERCENTS:
                cell = cell_name(mix, part.block_size_bytes)
                answers = [each.at(cell) for each in window]
                quantities += of_rounds(
                    Verbatim(cell), answers, (THROUGHPUT,), steady=self.converged
                )
        return tuple(quantities)


class Tp(Method[TpSettings, TpFound]):
    """The method `pts.tp`."""

    id = "pts.tp"
    title = "Throughput"
    summary = "sequential MB/s of large blocks, in steady state (SNIA PTS)"
    settings_type = TpSettings
    found_type = TpFound
    specs = SPECS
    default_spec = DEFAULT_SPEC

    def settings(self, spec: str, overrides: Mapping[str, str], geometry: Geometry) -> TpSettings:
        """Return the settings of a version on this device; see Method."""
        version = version_of(spec)
        asked = knobs.parse_overrides(TpSettings, overrides)
        asked = shared.with_pieces(asked, version, geometry)
        settings = knobs.changed(standard(version, geometry), asked)
        blocks = settings.block_sizes_bytes
        shared.check_blocks((*blocks, settings.precondition_block_bytes or blocks[0]), geometry)
        shared.check_range(settings, geometry, max(blocks))
        return settings

    def deviations(self, settings: TpSettings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version; see Method. More rounds than 25 are allowed."""
        version = version_of(settings.spec)
        ruled = standard(version, geometry)
        if settings.rounds_most > ruled.rounds_most:
            ruled = knobs.changed(ruled, {"rounds_most": settings.rounds_most})
        # Each block size is a test with a report of its own, so one alone is a whole test.
        if set(settings.block_sizes_bytes) <= set(ruled.block_sizes_bytes):
            ruled = knobs.changed(ruled, {"block_sizes_bytes": settings.block_sizes_bytes})
        load = version.throughput.load
        dropped = tuple(
            Remark(
                kind=RemarkKind.DEVIATION,
                text=say(
                    "the test of {block} is dropped: the device's logical block is {logical}",
                    block=units.format_block_size(block),
                    logical=units.format_block_size(geometry.logical_block_bytes),
                ),
            )
            for block in dropped_blocks(version, geometry)
        )
        return (*shared.shared_deviations(settings, ruled, version, geometry, load), *dropped)

    def steps(self, settings: TpSettings, geometry: Geometry) -> Steps:
        """For each block size: purge, precondition, and measure rounds until it is steady."""
        steady = []
        for block in settings.block_sizes_bytes:
            yield from purge()
            if settings.precondition_times:
                yield from precondition(*preconditioning(settings, block, geometry))
            states = yield from rounds_until_steady(
                partial(cells, settings, block),
                judge=partial(determination, block),
                limit_rounds=settings.rounds_most,
            )
            steady.append(is_steady(states))
        return "steady" if all(steady) else "not steady"

    def document(self, found: TpFound) -> Document:
        """Return the report: for each block size the standard's pages, in their order."""
        from teijo.methods.pts.tp.pages import pages

        return pages(found)


def part_findings(settings: TpSettings, part: Part) -> Findings:
    """Return one block size's findings; without a window, over the unbroken rounds there are."""
    states = determination(part.block_size_bytes, part.rounds)
    window = window_rounds_of(states, part.rounds)
    block = part.block_size_bytes
    return Findings(
        method=Tp.id,
        spec=settings.spec,
        converged=is_steady(states),
        rounds=len(part.rounds.whole),
        window_rounds=(window[0].number, window[-1].number) if window else None,
        steady_states=states,
        cells=tuple(
            measures.cell_over(
                (
                    ("r/w mix", mix_name(read_percent)),
                    ("block size", units.format_block_size(block)),
                ),
                [each.at(cell_name(read_percent, block)) for each in window],
            )
            for read_percent in reversed(THROUGHPUT_READ_PERCENTS)
            if window
        ),
    )


def _scalars(record: Record) -> tuple[Scalar, ...]:
    answers = [each.answer for each in record.steps if isinstance(each.answer, StepResult)]
    written = sum(measures.written_bytes(answer) for answer in answers)
    return (Scalar(name="written in the run", value=written / 1e9, unit="GB"),)


def _is_over(settings: TpSettings, part: Part) -> bool:
    rounds = part.rounds
    states = determination(part.block_size_bytes, rounds)
    return is_steady(states) or len(rounds.unbroken) >= settings.rounds_most


def _watch(settings: TpSettings, record: Record) -> Watch:
    parts = parts_of(settings, exchanges_of(record))
    if record.run.ending != "running":
        return Watch(phase=record.run.ending, steady=_steady_words(parts))
    done = [part for part in parts if _is_over(settings, part)]
    left = settings.block_sizes_bytes[len(done) :]
    if not left:
        return Watch(phase=ROUND, steady=_steady_words(parts))
    under_way = parts[-1] if len(parts) > len(done) else None
    volumes = [preconditioning(settings, block, record.geometry)[1] for block in left]
    now = Watch(
        phase="purge" if under_way is None else "precondition",
        remaining_ns_least=WINDOW_ROUNDS * _round_ns(settings),
        remaining_ns_most=settings.rounds_most * _round_ns(settings),
        remaining_bytes=volumes[0],
    )
    if under_way is not None and under_way.preconditioned:
        block, rounds = under_way.block_size_bytes, under_way.rounds
        now = rounds_watch(
            cells(settings, block, 1), rounds, determination(block, rounds), settings.rounds_most
        )
    later = len(left) - 1
    return replace(
        now,
        remaining_ns_least=now.remaining_ns_least + later * WINDOW_ROUNDS * _round_ns(settings),
        remaining_ns_most=now.remaining_ns_most
        + later * settings.rounds_most * _round_ns(settings),
        remaining_bytes=now.remaining_bytes + sum(volumes[1:]),
    )


def _round_ns(settings: TpSettings) -> int:
    return len(THROUGHPUT_READ_PERCENTS) * settings.minute_ns


def _steady_words(parts: Sequence[Part]) -> str:
    if not parts:
        return ""
    last = parts[-1]
    states = determination(last.block_size_bytes, last.rounds)
    return steady_words(states, len(last.rounds.unbroken))
