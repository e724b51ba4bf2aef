"""What the record of a run shows of each thing that a classic tool's number may hide.

Each check gives at most one entry: the worst place of the run, or what was seen where nothing is
wrong. What a run cannot tell is unknown, never nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from teijo import units
from teijo.analysis.extremes import expected_gain_percent
from teijo.analysis.mean import mean_of
from teijo.analysis.revisits import (
    chance_of_order,
    even_distinct,
    rank_correlation,
    walked_again,
)
from teijo.document.phrase import say
from teijo.errors import PlanError
from teijo.methods.classic.hidden_entry import (
    DEVIATIONS,
    Found,
    Hidden,
    entry,
    found_of,
    too_few,
)
from teijo.methods.classic.overlap import Overlap
from teijo.terms.census import Census, ContentSample
from teijo.terms.placing import place
from teijo.terms.record import Record
from teijo.terms.result import UNWRITTEN, StepResult
from teijo.terms.step import Measure
from teijo.terms.workload import Access, Stream

_FEWER: Final = 0.9
"""Fewer blocks than this share of what even draws would touch are too few."""
_REPEATED, _COMPRESSIBLE, _UNWRITTEN = 0.01, 0.1, 0.001
"""Shares above which data are no longer fresh, random and written."""
_SELDOM: Final = 0.01
_GAIN_PERCENT: Final = 1.0


@dataclass(frozen=True, kw_only=True)
class _Touch:
    """One direction of one stream of one step, and what was touched."""

    cell: str
    stream: Stream
    census: Census
    places: float
    """Blocks of its range; an I/O may begin at each of them."""
    walked: int
    """I/Os of the stream in the step, of both directions."""

    @property
    def expected(self) -> float | None:
        """How many different blocks it would touch evenly, or in one order; None: nobody knows."""
        stream, ios = self.stream, self.census.ios
        match stream.access:
            case Access.RANDOM:
                return even_distinct(self.places, ios)
            case Access.SEQUENTIAL | Access.SHUFFLED:
                mixed = 0 < stream.read_percent < 100
                return None if mixed and ios > self.places / 2 else min(ios, self.places)
            case Access.ZONED | Access.ZIPF | Access.PARETO:
                return None

    def by_chance(self, before: "_Touch", between: int) -> float | None:
        """Return what share an earlier pass touched by chance, `between` I/Os of the stream ago."""
        if self.expected is None or not self.places:
            return None
        earlier, own = before.census.distinct, self.census.distinct
        if self.stream.access is Access.RANDOM:
            return min(1.0, earlier / self.places)
        by_itself = max(0.0, earlier + own - self.places) / own if own else 0.0
        # A block of the walk was of this direction then as often as the walk was.
        same = before.census.ios / (before.walked or 1)
        again = same * walked_again(self.places, before.walked, between, self.walked)
        # Different blocks are estimated by a sample, which may find more than there are.
        return min(1.0, max(by_itself, again))


def _walked(answer: StepResult, stream: str) -> int:
    return sum(each.ios for each in answer.census if each.stream == stream)


def _touches(record: Record, step: Measure, answer: StepResult) -> Iterator[_Touch]:
    streams = {stream.name: stream for stream in step.workload.streams}
    for census in answer.census:
        stream = streams[census.stream]
        try:
            pieces, piece_bytes, _ = place(
                stream.active_range, record.geometry, stream.block_size_bytes
            )
        except PlanError:
            continue
        grid = stream.alignment_bytes or min(stream.sizes_bytes)
        room = piece_bytes - stream.block_size_bytes
        yield _Touch(
            cell=step.cell or step.phase,
            stream=stream,
            census=census,
            places=pieces * (room // grid + 1),
            walked=_walked(answer, census.stream),
        )


def _passes(record: Record) -> list[list[tuple[Measure, StepResult]]]:
    """Return the measurements of each cell of each phase, in order."""
    found: dict[tuple[str, str | None], list[tuple[Measure, StepResult]]] = {}
    for step, answer in record.measured():
        if step.cell is not None:
            found.setdefault((step.phase, step.cell), []).append((step, answer))
    return list(found.values())


def revisits(record: Record) -> list[Hidden]:
    """Look whether fewer different blocks were touched than the load says."""
    touched = [
        each
        for step, answer in record.measured()
        for each in _touches(record, step, answer)
        if each.expected
    ]
    if not touched:
        return []
    # What a few I/Os seem to show stands behind what many do.
    worst = min(touched, key=lambda each: (not _fewer_surely(each), _distinct_share(each)))
    census, expected = worst.census, worst.expected or 1
    size = say(
        "In {cell}, {ios:,} {operation}s were of {distinct:,.0f} different blocks of {block}, "
        "where {expected:,.0f} would be expected: {share:.1f} % went to a block touched before.",
        cell=worst.cell,
        ios=census.ios,
        operation=census.operation,
        distinct=census.distinct,
        block=units.format_size(worst.stream.block_size_bytes),
        expected=expected,
        share=census.revisit_share * 100,
    )
    found = found_of(seems=_distinct_share(worst) < _FEWER, surely=_fewer_surely(worst))
    return [
        entry(
            found,
            "revisits",
            "Blocks touched again",
            too_few(size) if found == "unknown" else size,
            "The same blocks are touched over and over, and a cache may answer for the device.",
            "The engine kept a sample of the blocks it touched; the expected number is that of "
            "even draws over the range, or of one walk through it.",
            "Random offsets are drawn evenly, and threads do not walk over the same blocks.",
        )
    ]


def _distinct_share(each: _Touch) -> float:
    return each.census.distinct / (each.expected or 1)


def _fewer_surely(each: _Touch) -> bool:
    """Return whether fewer blocks were touched than expected, beyond what chance makes of it.

    Repeats of even draws scatter as a Poisson count does; of a few I/Os one or two are nothing.
    """
    census, expected = each.census, each.expected or 1
    noise = (max(0.0, census.ios - expected) + 1) ** 0.5
    beyond = expected - census.distinct
    return _distinct_share(each) < _FEWER and beyond > DEVIATIONS * noise


def repeated_offsets(record: Record) -> list[Hidden]:
    """Look whether passes touch the blocks of the pass before."""
    pairs = []
    answers = [each for _, each in record.measured()]
    place_of = {id(answer): place for place, answer in enumerate(answers)}
    for steps in _passes(record):
        touched = [(place_of[id(each[1])], list(_touches(record, *each))) for each in steps]
        for (first, before), (last, after) in pairwise(touched):
            known = {(each.census.stream, each.census.operation): each for each in before}
            for each in after:
                earlier = known.get((each.census.stream, each.census.operation))
                if earlier is None:
                    continue
                stream = each.census.stream
                between = (_walked(answer, stream) for answer in answers[first + 1 : last])
                share = each.census.overlap(earlier.census)
                chance = each.by_chance(earlier, sum(between))
                if share is not None and chance is not None:
                    pairs.append((Overlap.of(share, chance, each.census), each.cell))
    if not pairs:
        return []
    overlap, cell = max(pairs, key=lambda each: each[0])
    size = say(
        "In {cell}, {share:.1f} % of the blocks that a pass touched, the pass before had touched "
        "too; without repeating it would be {chance:.1f} %.",
        cell=cell,
        share=overlap.share * 100,
        chance=overlap.chance * 100,
    )
    return [overlap.entry(size)]


def unwritten(record: Record) -> list[Hidden]:
    """Look whether what was read had ever been written."""
    reads = [
        answer.detail.get(UNWRITTEN)
        for step, answer in record.measured()
        if any(stream.read_percent for stream in step.workload.streams)
    ]
    texts = (
        "Unwritten blocks",
        "A block that was never written is answered by the file system or the drive's map, "
        "without the medium.",
        "The file system was asked for its unwritten extents before each step that reads.",
        "The whole file is written with random data before it is read.",
    )
    name, *rest = texts
    known = [int(text) for text in reads if text is not None and text.isdecimal()]
    capacity = record.geometry.capacity_bytes
    if not known or not capacity:
        size = "Whether every block that was read had been written: no file system tells it here."
        return [entry("unknown", "unwritten", name, size, *rest)] if reads else []
    share = max(known) / capacity
    size = say(
        "{size} of the file, {share:.1f} %, had never been written when a step that reads began.",
        size=units.format_size(max(known)),
        share=share * 100,
    )
    found: Found = "hidden" if share > _UNWRITTEN else "clear"
    return [entry(found, "unwritten", name, size, *rest)]


def content(record: Record) -> list[Hidden]:
    """Look whether what streams wrote repeats, in a pass and from pass to pass, or compresses."""
    samples = [
        (each.content, step.cell if isinstance(step, Measure) and step.cell else step.phase)
        for each_step in record.steps
        if isinstance(answer := each_step.answer, StepResult)
        for step in (each_step.step,)
        for each in answer.census
        if each.content is not None
    ]
    return content_in(
        samples,
        [[(step.cell or "", answer) for step, answer in steps] for steps in _passes(record)],
    )


def content_in(
    samples: Sequence[tuple[ContentSample, str]], passes: Iterable[Sequence[tuple[str, StepResult]]]
) -> list[Hidden]:
    """Look at samples of what was written, each with where, and at the passes over each place."""
    if not samples:
        return []
    again = max(samples, key=lambda each: each[0].repeated_share)
    packed = max(samples, key=lambda each: each[0].compressible_share)
    return [*_repeated_data(again), *_data_again(passes), *_compressible(packed)]


def _repeated_data(found: tuple[ContentSample, str]) -> list[Hidden]:
    sample, where = found
    size = say(
        "In {cell}, {share:.1f} % of the pieces of 4 KiB in a sample of {writes} writes were equal "
        "to another ({within} within their write, {between} between writes).",
        cell=where,
        share=sample.repeated_share * 100,
        writes=sample.writes,
        within=sample.repeated_within,
        between=sample.repeated_between,
    )
    return [
        entry(
            "hidden" if sample.repeated_share > _REPEATED else "clear",
            "duplicates",
            "The same data over and over",
            size,
            "Storage that removes duplicates writes equal pieces once.",
            "The engine's own generator made the sample of what is written.",
            "Every sector of every write is unique.",
        )
    ]


def _data_again(passes: Iterable[Sequence[tuple[str, StepResult]]]) -> list[Hidden]:
    """Look whether a pass writes the data of the pass before, unless all of it is one block."""
    shares = []
    for steps in passes:
        prints = [
            {each.stream: set(each.content.prints) for each in answer.census if each.content}
            for _, answer in steps
        ]
        for before, after in pairwise(prints):
            for stream, own in after.items():
                both = own & before.get(stream, set())
                shares.append((len(both) / len(own) if own else 0.0, steps[0][0]))
    if not shares:
        return []
    share, cell = max(shares, key=lambda each: each[0])
    size = say(
        "In {cell}, {share:.1f} % of the sampled pieces that a pass wrote, the pass before had "
        "written too.",
        cell=cell,
        share=share * 100,
    )
    return [
        entry(
            "hidden" if share > _REPEATED else "clear",
            "data again",
            "Passes write the same data",
            size,
            "Storage that removes duplicates has the data of a pass from the one before.",
            "Samples of what two passes write are held against each other.",
            "Each pass writes data of its own.",
        )
    ]


def _compressible(found: tuple[ContentSample, str]) -> list[Hidden]:
    sample, where = found
    size = say(
        "In {cell}, zlib takes {share:.1f} % away from a sample of {bytes} that was written.",
        cell=where,
        share=sample.compressible_share * 100,
        bytes=units.format_size(sample.sampled_bytes),
    )
    return [
        entry(
            "hidden" if sample.compressible_share > _COMPRESSIBLE else "clear",
            "compressible",
            "Data that compress",
            size,
            "A drive that compresses writes less than it is given, and is faster by that.",
            "The engine's own generator made the sample; each piece of 4 KiB is compressed by "
            "itself, as a drive would.",
            "Only random data are written, which nothing compresses.",
        )
    ]


def _alike(stream: Stream) -> Stream:
    """Return a stream without its load."""
    return replace(stream, threads=1, queue_depth=1, repeats="", thread_stride_bytes=None)


def order(record: Record) -> list[Hidden]:
    """Look whether loads of one kind were measured in the order of their size."""
    kinds: dict[object, list[float]] = {}
    for step, _ in record.measured():
        alike = tuple(map(_alike, step.workload.streams))
        load = sum(stream.outstanding_ios for stream in step.workload.streams)
        loads = kinds.setdefault((step.phase, alike), [])
        if load not in loads:
            loads.append(load)
    groups = [loads for loads in kinds.values() if len(loads) > 1]
    tau = rank_correlation(groups)
    if tau is None:
        return []
    chance = chance_of_order(groups)
    size = say(
        "{loads} loads correlate with their order by {tau:+.2f} (rank correlation); orders drawn "
        "at random do so as strongly in {chance:.3g} % of the cases.",
        loads=sum(map(len, groups)),
        tau=tau,
        chance=chance * 100,
    )
    return [
        entry(
            "hidden" if chance < _SELDOM else "clear",
            "order",
            "Loads in order",
            size,
            "What a drive becomes as time goes by (heat, a full cache, a worn state) is mixed with "
            "the load.",
            "The recorded order of the steps is held against their loads (Kendall's tau).",
            "Loads are measured in an order drawn at random.",
        )
    ]


def best_of(record: Record) -> list[Hidden]:
    """Look by how much the best of several passes is above their mean."""
    gains = []
    for steps in _passes(record):
        rates = tuple(answer.iops for _, answer in steps)
        mean = mean_of(rates)
        if len(rates) > 1 and mean is not None and mean.value > 0:
            gain = (max(rates) / mean.value - 1) * 100
            gains.append((gain, expected_gain_percent(rates) or 0.0, len(rates), steps[0][0].cell))
    if not gains:
        return []
    gain, chance, count, cell = max(gains)
    size = say(
        "In {cell}, the best of {count} passes is {gain:.2f} % above their mean; by their scatter "
        "{chance:.2f} % would be expected.",
        cell=cell or "",
        count=count,
        gain=gain,
        chance=chance,
    )
    return [
        entry(
            "hidden" if gain > _GAIN_PERCENT else "clear",
            "best pass",
            "The best of several passes",
            size,
            "The largest of several values lies above their mean, and the more so the more they "
            "scatter and the more there are.",
            "The expected gain is that of independent normal values with the scatter of these "
            "(five of them: 1.16 standard deviations).",
            "The first number is the mean of the passes.",
        )
    ]
