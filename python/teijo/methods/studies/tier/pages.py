"""The report of the study `tier`: the answer, rates against working sets, cliffs, crossovers, the
arithmetic of striping. The sentences are in words.
"""

from dataclasses import dataclass

from teijo import units
from teijo.analysis.quantities import THROUGHPUT
from teijo.document.grid import Figure, Trace, Traces
from teijo.document.model import (
    Block,
    Column,
    Document,
    Paragraph,
    Section,
    Span,
    Table,
    Value,
    Verdict,
    XYChart,
)
from teijo.document.phrase import Verbatim, capitalised, say
from teijo.methods.pages import ms, threads_by_depth
from teijo.methods.report import study_report
from teijo.methods.studies.tier import words
from teijo.methods.studies.tier.found import Curve, TierFound
from teijo.units import format_block_size

STAGE_NAMES = {
    "tier": "tier",
    "again": "tier, again",
    "fast": "fast device alone",
    "slow": "slow device alone",
}
BLOCK = Column(name="Block size", unit="KiB", digits=0)
MODEL_POINTS = 25
"""Places of a model's line, so that its bend at the tier's size shows."""


@dataclass(frozen=True, kw_only=True)
class Volumes:
    """The unit that the sets of a report are in, and the digits of a column of them."""

    unit: str
    unit_bytes: int
    digits: int

    def of(self, size_bytes: float | None) -> float | None:
        """Return a size in this unit, to four digits: it is printed below an axis."""
        return None if size_bytes is None else float(f"{size_bytes / self.unit_bytes:.4g}")

    def named(self, name: str) -> Figure:
        """Return the figure of this name in this unit."""
        return Figure(name=name, unit=self.unit, digits=self.digits)


TB = Volumes(unit="TB", unit_bytes=units.TERA, digits=3)
GB = Volumes(unit="GB", unit_bytes=units.GIGA, digits=2)
MB = Volumes(unit="MB", unit_bytes=units.MEGA, digits=1)


def pages(found: TierFound) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings = found.settings
    fill = settings.fill_times
    written = say("{times} × the largest set", times=fill) if fill else "no"
    devices = (("fast", settings.fast), ("slow", settings.slow))
    return study_report(
        found,
        title="Tier",
        subtitle="Fast storage before slow",
        preparation=(
            ("Written in order", written),
            *(
                (capitalised(STAGE_NAMES[name]), Verbatim(device))
                for name, device in devices
                if device
            ),
        ),
        test=(
            ("OIO", threads_by_depth(settings.threads, settings.queue_depth)),
            ("Slice", units.format_duration(settings.slice_ns)),
            ("Slices of a cell", say("5 to {most}", most=settings.slices_most)),
        ),
        sections=_sections(found) if found.curves else (),
        empty="No cell has been measured yet.",
        full_size={TB.unit, GB.unit, MB.unit},
    )


def _sections(found: TierFound) -> list[Section]:
    volumes = _volumes(found)
    patterns = [
        (pattern, tuple(_chart(found, volumes, curve) for curve in found.of(pattern) if curve.tier))
        for pattern in found.settings.patterns
    ]
    return [
        Section(title="Result", blocks=_result(found, volumes)),
        Section(title="Where the tier stops helping", blocks=_cliffs(found, volumes)),
        *_buying_sections(found),
        *(
            Section(title=capitalised(words.PATTERN_NAMES[pattern]), blocks=charts)
            for pattern, charts in patterns
            if charts
        ),
        Section(title="Every cell", blocks=_every_cell(found, volumes)),
    ]


def _volumes(found: TierFound) -> Volumes:
    """Return TB where the largest set is no smaller than 2 TB, else GB or MB alike."""
    largest = max((key.set_bytes for key in found.measured.cells), default=0)
    return next((each for each in (TB, GB) if largest >= 2 * each.unit_bytes), MB)


def _mb_s(name: str) -> Column:
    return Column(name=name, unit="MB/s", digits=1)


def _result(found: TierFound, volumes: Volumes) -> tuple[Block, ...]:
    blocks: list[Block] = [
        Verdict(text=words.verdict(found), good=None),
        Paragraph(text=words.answer(found)),
    ]
    if found.witnesses:
        blocks.append(_evidence_table(found, volumes))
    if found.hero is not None:
        blocks.append(_chart(found, volumes, found.hero))
    if found.tier_bytes is not None:
        blocks.append(Paragraph(text=words.MODELS))
    return tuple(blocks)


def _evidence_table(found: TierFound, volumes: Volumes) -> Table:
    """Return what each curve that could show a tier shows, with the rates it is judged by."""
    rows: list[tuple[Value, ...]] = []
    for curve in found.witnesses:
        rates: tuple[Value, ...] = (None,) * 7
        if (fall := curve.fall) is not None:
            good, bad, back = map(volumes.of, (fall.good_bytes, fall.bad_bytes, fall.back_bytes))
            back = None if fall.back is None else back
            rates = (good, fall.good, bad, fall.bad, back, fall.back, fall.again)
        rows.append((capitalised(words.curve_name(curve)), *rates, words.evidence(curve)))
    return Table(
        columns=(
            Column(name="Pattern and block"),
            volumes.named("Held up to").column(),
            _mb_s("Rate"),
            volumes.named("Not held at").column(),
            _mb_s("Rate"),
            volumes.named("Then back at").column(),
            _mb_s("Rate"),
            _mb_s("Not held, again"),
            Column(name="Evidence"),
        ),
        rows=tuple(rows),
        caption="Is it a tier that falls?",
    )


def _chart(found: TierFound, volumes: Volumes, curve: Curve) -> XYChart:
    """Return one pattern and block size over the working sets, the cliff shaded."""
    stages = {"tier": curve.tier, "fast": curve.fast, "slow": curve.slow}
    measured = (
        Trace(
            key=STAGE_NAMES[stage],
            rows=tuple((volumes.of(each.set_bytes), *each.throughput.three) for each in cells),
        )
        for stage, cells in stages.items()
        if cells
    )
    modelled = _modelled(found, curve)
    models = (
        Trace(
            key=name,
            rows=tuple((volumes.of(size), both[place]) for size, both in modelled),
            style="dashed",
        )
        for place, name in enumerate(("model, in turn", "model, side by side"))
        if modelled
    )
    traces = Traces(
        keys=Column(name="Device"),
        places=volumes.named("Working set"),
        y=THROUGHPUT,
        traces=(*measured, *models),
    )
    title = say("{what}, by working set", what=capitalised(words.curve_name(curve)))
    first, last = map(volumes.of, curve.held)
    spans = () if first is None or last is None else (Span(name="cliff", first=first, last=last),)
    return traces.chart(title, log=True, spans=spans)


def _modelled(found: TierFound, curve: Curve) -> list[tuple[float, tuple[float, float]]]:
    """Return (set in bytes, both models in MB/s) over the stretch the tier was measured on."""
    tier_bytes = found.tier_bytes
    if tier_bytes is None or len(curve.tier) < 2 or not curve.swept:
        return []
    first, last = curve.tier[0].set_bytes, curve.tier[-1].set_bytes
    places = [first * (last / first) ** (step / (MODEL_POINTS - 1)) for step in range(MODEL_POINTS)]
    if first < tier_bytes < last:
        places.append(float(tier_bytes))
    both = ((place, curve.model(tier_bytes, round(place))) for place in sorted(places))
    return [(place, rates) for place, rates in both if rates is not None]


def _cliffs(found: TierFound, volumes: Volumes) -> tuple[Block, ...]:
    """Return where each pattern and block size falls, and what is left at the largest set.

    What needs the devices alone is left out where none of it is known.
    """
    curves = [curve for curve in found.curves if curve.tier]
    alone = (
        _mb_s("Model, in turn"),
        _mb_s("Model, side by side"),
        Column(name="Largest set by the slow device", digits=2),
    )
    shares = [_alone(found, curve) for curve in curves]
    kept = [place for place in range(len(alone)) if any(row[place] is not None for row in shares)]
    table = Table(
        columns=(
            Column(name="Pattern"),
            BLOCK,
            _mb_s("Smallest set"),
            volumes.named("Held up to").column(),
            volumes.named("Not held at").column(),
            _mb_s("Largest set"),
            *(alone[place] for place in kept),
        ),
        rows=tuple(
            (
                capitalised(words.PATTERN_NAMES[curve.pattern]),
                curve.block_bytes / units.KIB,
                curve.tier[0].rate,
                *map(volumes.of, curve.held),
                curve.tier[-1].rate,
                *(row[place] for place in kept),
            )
            for curve, row in zip(curves, shares, strict=True)
        ),
        caption="Where the tier stops helping",
    )
    return (Paragraph(text=words.HELD_WITH_MODELS if kept else words.HELD), table)


def _alone(found: TierFound, curve: Curve) -> tuple[float | None, float | None, float | None]:
    """Return both models and the slow device's share at the largest set, as far as known."""
    last = curve.tier[-1]
    slow = curve.slow_at(last.set_bytes)
    both = curve.model(found.tier_bytes, last.set_bytes) if curve.swept else None
    return (*(both or (None, None)), last.rate / slow if slow else None)


def _buying_sections(found: TierFound) -> list[Section]:
    """Return from which block size the slow device wins, and what would keep it from winning."""
    counted = [curve for curve in found.curves if curve.stripes is not None]
    if not counted:
        return []
    crossings = Table(
        columns=(Column(name="Pattern"), Column(name="Slow alone is faster from")),
        rows=tuple(
            (
                capitalised(words.PATTERN_NAMES[pattern]),
                "nowhere"
                if (size := found.crossover(pattern)) is None
                else format_block_size(words.rounded(size)),
            )
            for pattern in found.settings.patterns
        ),
        caption="Where the slow device alone is faster than the tier, at the smallest set",
    )
    counts = Table(
        columns=(
            Column(name="Pattern and block"),
            _mb_s("Fast alone (B₁)"),
            _mb_s("Slow alone (B₂)"),
            Column(name="B₂ / B₁", digits=2),
            Column(name="N", digits=0),
        ),
        rows=tuple(
            (
                capitalised(words.curve_name(curve)),
                curve.fast_rate,
                curve.slow_rate,
                (curve.slow_rate or 0.0) / curve.fast_rate if curve.fast_rate else None,
                curve.stripes,
            )
            for curve in counted
        ),
        caption="How many fast devices never hurt",
    )
    blocks = (crossings, Paragraph(text=words.STRIPES), counts)
    return [Section(title="Where the tier hurts", blocks=blocks)]


def _every_cell(found: TierFound, volumes: Volumes) -> tuple[Block, ...]:
    cells = found.measured.cells
    columns = (
        Column(name="Device"),
        Column(name="Pattern"),
        BLOCK,
        volumes.named("Working set").column(),
        THROUGHPUT.column(),
        Column(name="95 %"),
        Column(name="IOPS", digits=1),
        Column(name="Mean latency", unit="ms", digits=3),
        Column(name="Slices", digits=0),
        Column(name="Ended"),
    )
    rows = tuple(
        (
            STAGE_NAMES[key.stage],
            words.PATTERN_NAMES[key.pattern],
            key.block_bytes / units.KIB,
            volumes.of(key.set_bytes),
            cell.rate,
            words.interval(cell.throughput),
            cell.rate * units.MEGA / key.block_bytes,
            ms(cell.latency_ns),
            len(cell.answers),
            "steady" if cell.steady else "not steady",
        )
        for key, cell in cells.items()
    )
    last = len(columns) - 1
    marked = tuple((place, last) for place, cell in enumerate(cells.values()) if not cell.steady)
    table = Table(columns=columns, rows=rows, marked=marked, caption="Every cell", folded=True)
    return (Paragraph(text=words.SLICES), table)
