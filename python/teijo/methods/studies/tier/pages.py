"""The report of the study `tier`: the answer, rates against working sets, cliffs, crossovers, the
arithmetic of striping. The sentences are in words.
"""

from dataclasses import dataclass

from teijo import units
from teijo.document.model import (
    Axis,
    Block,
    Column,
    Document,
    Paragraph,
    Section,
    Series,
    Span,
    Table,
    Value,
    Verdict,
    XYChart,
)
from teijo.document.phrase import Verbatim, capitalised, say
from teijo.methods.found import Found
from teijo.methods.pages import ms, threads_by_depth
from teijo.methods.report import study_report
from teijo.methods.studies.tier import words
from teijo.methods.studies.tier.cells import CellFound
from teijo.methods.studies.tier.found import Curve, Tiering, tiering_of
from teijo.methods.studies.tier.settings import TierSettings

STAGE_NAMES = {
    "tier": "tier",
    "again": "tier, again",
    "fast": "fast device alone",
    "slow": "slow device alone",
}
RATE_AXIS = Axis(name="Throughput", unit="MB/s", scale="log")
TB_FROM_BYTES = 2 * 10**12
"""Sets are told in TB where the largest one is no smaller than this, else in GB or in MB."""
GB_FROM_BYTES = 2 * 10**9
MODEL_POINTS = 25
"""Places of a model's line, so that its bend at the tier's size shows."""


def pages(found: Found[TierSettings]) -> Document:
    """Return the whole report of a record, growing or sealed."""
    settings = found.settings
    tiering = tiering_of(settings, found.record)
    sections = (
        (
            _result_section(settings, tiering),
            _cliffs_section(tiering),
            *_buying_sections(settings, tiering),
            *_pattern_sections(settings, tiering),
            _cells_section(tiering),
        )
        if tiering.curves
        else ()
    )
    devices = [
        (capitalised(STAGE_NAMES[name]), Verbatim(device))
        for name, device in (("fast", settings.fast), ("slow", settings.slow))
        if device
    ]
    return study_report(
        found,
        title="Tier",
        subtitle="Fast storage before slow",
        preparation=(("Written in order", _times(settings.fill_times)), *devices),
        test=(
            ("OIO", threads_by_depth(settings.threads, settings.queue_depth)),
            ("Slice", units.format_duration(settings.slice_ns)),
            ("Slices of a cell", say("5 to {most}", most=settings.slices_most)),
        ),
        sections=sections,
        empty="No cell has been measured yet.",
        full_size={"TB", "GB", "MB"},
    )


def _times(times: int) -> str:
    return say("{times} × the largest set", times=times) if times else "no"


def _result_section(settings: TierSettings, tiering: Tiering) -> Section:
    blocks: list[Block] = [
        Verdict(text=words.verdict(tiering), good=None),
        Paragraph(text=words.answer(settings, tiering)),
    ]
    if tiering.witnesses:
        blocks.append(_evidence_table(tiering))
    curve = words.hero(tiering)
    if curve is not None:
        blocks.append(_chart(tiering, curve))
    if tiering.tier_bytes is not None:
        blocks.append(Paragraph(text=words.MODELS))
    return Section(title="Result", blocks=tuple(blocks))


def _evidence_table(tiering: Tiering) -> Table:
    """Return what each curve that could show a tier shows, with the rates it is judged by."""
    volumes = _volumes(tiering)
    rows: list[tuple[Value, ...]] = []
    for curve in tiering.witnesses:
        cliff, fall = curve.cliff, curve.fall
        told: tuple[Value, ...] = (None,) * 7
        if cliff is not None and fall is not None:
            told = (
                volumes.of(fall.good_bytes),
                fall.good,
                volumes.of(fall.bad_bytes),
                fall.bad,
                volumes.of(fall.back_bytes) if fall.back is not None else None,
                fall.back,
                fall.again,
            )
        rows.append((capitalised(words.curve_name(curve)), *told, words.evidence(curve)))
    return Table(
        columns=(
            Column(name="Pattern and block"),
            Column(name="Held up to", unit=volumes.unit, digits=volumes.digits),
            Column(name="Rate", unit="MB/s", digits=1),
            Column(name="Not held at", unit=volumes.unit, digits=volumes.digits),
            Column(name="Rate", unit="MB/s", digits=1),
            Column(name="Then back at", unit=volumes.unit, digits=volumes.digits),
            Column(name="Rate", unit="MB/s", digits=1),
            Column(name="Not held, again", unit="MB/s", digits=1),
            Column(name="Evidence"),
        ),
        rows=tuple(rows),
        caption="Is it a tier that falls?",
    )


def _chart(tiering: Tiering, curve: Curve) -> XYChart:
    """Return one pattern and block size over the working sets, the cliff shaded."""
    volumes = _volumes(tiering)
    lines = [("tier", curve.tier), ("fast", curve.fast), ("slow", curve.slow)]
    series = [
        Series(
            name=STAGE_NAMES[stage],
            x=tuple(volumes.of(cell.key.set_bytes) for cell in cells),
            y=tuple(cell.throughput.mean for cell in cells),
            spread=tuple(_spread(cell) for cell in cells),
        )
        for stage, cells in lines
        if cells
    ]
    title = say("{what}, by working set", what=capitalised(words.curve_name(curve)))
    cliff = curve.cliff
    rows: list[tuple[Value, ...]] = [
        (
            STAGE_NAMES[stage],
            volumes.of(cell.key.set_bytes),
            cell.throughput.mean,
            *_ends(cell),
        )
        for stage, cells in lines
        for cell in cells
    ]
    modelled = _model_rows(tiering, curve)
    for place, name in enumerate(("model, in turn", "model, side by side")):
        if modelled:
            at = tuple(volumes.of(size) for size, _ in modelled)
            rates = tuple(both[place] for _, both in modelled)
            series.append(Series(name=name, x=at, y=rates, style="dashed"))
            rows += [(name, size, value, None, None) for size, value in zip(at, rates, strict=True)]
    return XYChart(
        title=title,
        x=Axis(name="Working set", unit=volumes.unit, scale="log"),
        y=RATE_AXIS,
        series=tuple(series),
        spans=()
        if cliff is None
        else (
            Span(
                name="cliff",
                first=volumes.of(cliff.good_bytes),
                last=volumes.of(cliff.bad_bytes),
            ),
        ),
        table=Table(
            columns=(
                Column(name="Device"),
                Column(name="Working set", unit=volumes.unit, digits=volumes.digits),
                Column(name="Throughput", unit="MB/s", digits=2),
                Column(name="From (95 %)", unit="MB/s", digits=2),
                Column(name="To (95 %)", unit="MB/s", digits=2),
            ),
            rows=tuple(rows),
            caption=title,
            folded=True,
        ),
    )


def _model_rows(tiering: Tiering, curve: Curve) -> list[tuple[float, tuple[float, float]]]:
    """Return (set in bytes, both models in MB/s) over the stretch the tier was measured on."""
    if tiering.tier_bytes is None or len(curve.tier) < 2 or not curve.swept:
        return []
    first, last = curve.tier[0].key.set_bytes, curve.tier[-1].key.set_bytes
    places = [first * (last / first) ** (step / (MODEL_POINTS - 1)) for step in range(MODEL_POINTS)]
    if first < tiering.tier_bytes < last:
        places.append(float(tiering.tier_bytes))
    found = []
    for place in sorted(places):
        both = curve.model(tiering.tier_bytes, round(place))
        if both is not None:
            found.append((place, both))
    return found


@dataclass(frozen=True, kw_only=True)
class _Volumes:
    """The unit that the sets of a report are told in, and the digits of a column of them."""

    unit: str
    unit_bytes: float
    digits: int

    def of(self, size_bytes: float) -> float:
        """Return a size in this unit, to four digits: it stands below an axis."""
        return float(f"{size_bytes / self.unit_bytes:.4g}")


def _volumes(tiering: Tiering) -> _Volumes:
    largest = max((key.set_bytes for key in tiering.found.cells), default=0)
    if largest >= TB_FROM_BYTES:
        return _Volumes(unit="TB", unit_bytes=1e12, digits=3)
    if largest >= GB_FROM_BYTES:
        return _Volumes(unit="GB", unit_bytes=1e9, digits=2)
    return _Volumes(unit="MB", unit_bytes=1e6, digits=1)


def _ends(cell: CellFound) -> tuple[float | None, float | None]:
    return cell.throughput.low, cell.throughput.high


def _spread(cell: CellFound) -> tuple[float, float] | None:
    low, high = _ends(cell)
    return None if low is None or high is None else (low, high)


def _cliffs_section(tiering: Tiering) -> Section:
    """Return where each pattern and block size falls, and what is left at the largest set.

    What needs the devices alone is left out where none of it is known.
    """
    curves = [curve for curve in tiering.curves if curve.tier]
    volumes = _volumes(tiering)
    text = (
        "A set is held where it keeps 97 % of the smallest set's rate, as far as the scatter lets "
        "that be known, and is not held below 70 %. The rate falls between the two. The models are "
        "for the largest set."
    )
    columns = (
        Column(name="Pattern"),
        Column(name="Block size", unit="KiB", digits=0),
        Column(name="Smallest set", unit="MB/s", digits=1),
        Column(name="Held up to", unit=volumes.unit, digits=volumes.digits),
        Column(name="Not held at", unit=volumes.unit, digits=volumes.digits),
        Column(name="Largest set", unit="MB/s", digits=1),
    )
    alone = (
        Column(name="Model, in turn", unit="MB/s", digits=1),
        Column(name="Model, side by side", unit="MB/s", digits=1),
        Column(name="Largest set by the slow device", digits=2),
    )
    told = [_told_alone(tiering, curve) for curve in curves]
    kept = [place for place in range(len(alone)) if any(row[place] is not None for row in told)]
    if not kept:
        text = (
            "A set is held where it keeps 97 % of the smallest set's rate, as far as the scatter "
            "lets that be known, and is not held below 70 %. The rate falls between the two."
        )
    table = Table(
        columns=(*columns, *(alone[place] for place in kept)),
        rows=tuple(
            (*_fall_row(volumes, curve), *(row[place] for place in kept))
            for curve, row in zip(curves, told, strict=True)
        ),
        caption="Where the tier stops helping",
    )
    return Section(title="Where the tier stops helping", blocks=(Paragraph(text=text), table))


def _fall_row(volumes: _Volumes, curve: Curve) -> tuple[Value, ...]:
    cliff = curve.cliff
    return (
        capitalised(words.PATTERN_NAMES[curve.pattern]),
        curve.block_bytes / units.KIB,
        curve.tier[0].throughput.mean,
        None if cliff is None else volumes.of(cliff.good_bytes),
        None if cliff is None else volumes.of(cliff.bad_bytes),
        curve.tier[-1].throughput.mean,
    )


def _told_alone(tiering: Tiering, curve: Curve) -> tuple[float | None, float | None, float | None]:
    """Return both models and the slow device's share at the largest set, as far as known."""
    last = curve.tier[-1]
    both = None
    if tiering.tier_bytes is not None and curve.swept:
        both = curve.model(tiering.tier_bytes, last.key.set_bytes)
    slow = curve.slow_at(last.key.set_bytes)
    by_slow = last.throughput.mean / slow if slow else None
    return (both[0], both[1], by_slow) if both else (None, None, by_slow)


def _buying_sections(settings: TierSettings, tiering: Tiering) -> list[Section]:
    """Return from which block size the slow device wins, and what would keep it from winning."""
    told = [curve for curve in tiering.curves if curve.stripes is not None]
    if not told:
        return []
    crossings = tuple(
        (
            capitalised(words.PATTERN_NAMES[pattern]),
            "nowhere"
            if (size := tiering.crossover(pattern)) is None
            else units.format_block_size(words.rounded(size)),
        )
        for pattern in settings.patterns
    )
    rows = tuple(
        (
            capitalised(words.curve_name(curve)),
            curve.fast_rate,
            curve.slow_rate,
            (curve.slow_rate or 0.0) / curve.fast_rate if curve.fast_rate else None,
            curve.stripes,
        )
        for curve in told
    )
    blocks: tuple[Block, ...] = (
        Table(
            columns=(
                Column(name="Pattern"),
                Column(name="Slow alone is faster from"),
            ),
            rows=crossings,
            caption="Where the slow device alone is faster than the tier, at the smallest set",
        ),
        Paragraph(
            text="N fast devices, striped, are nowhere slower than the slow one where N · B₁ ≥ B₂: "
            "the smallest such N, from the measured rates of each alone; within 2 % they are taken "
            "as equal. Nothing is said of what striping itself costs."
        ),
        Table(
            columns=(
                Column(name="Pattern and block"),
                Column(name="Fast alone (B₁)", unit="MB/s", digits=1),
                Column(name="Slow alone (B₂)", unit="MB/s", digits=1),
                Column(name="B₂ / B₁", digits=2),
                Column(name="N", digits=0),
            ),
            rows=rows,
            caption="How many fast devices never hurt",
        ),
    )
    return [Section(title="Where the tier hurts", blocks=blocks)]


def _pattern_sections(settings: TierSettings, tiering: Tiering) -> list[Section]:
    """Return the curves of every pattern, one chart a block size."""
    sections = []
    for pattern in settings.patterns:
        curves = [curve for curve in tiering.of(pattern) if curve.tier]
        if curves:
            charts = tuple(_chart(tiering, curve) for curve in curves)
            title = capitalised(words.PATTERN_NAMES[pattern])
            sections.append(Section(title=title, blocks=charts))
    return sections


def _cells_section(tiering: Tiering) -> Section:
    cells = list(tiering.found.cells.values())
    volumes = _volumes(tiering)
    rows = tuple(
        (
            STAGE_NAMES[cell.key.stage],
            words.PATTERN_NAMES[cell.key.pattern],
            cell.key.block_bytes / units.KIB,
            volumes.of(cell.key.set_bytes),
            cell.throughput.mean,
            words.interval(cell.throughput),
            cell.iops,
            ms(cell.latency_ns),
            len(cell.slices),
            "steady" if cell.steady else "not steady",
        )
        for cell in cells
    )
    columns = (
        Column(name="Device"),
        Column(name="Pattern"),
        Column(name="Block size", unit="KiB", digits=0),
        Column(name="Working set", unit=volumes.unit, digits=volumes.digits),
        Column(name="Throughput", unit="MB/s", digits=2),
        Column(name="95 %"),
        Column(name="IOPS", digits=1),
        Column(name="Mean latency", unit="ms", digits=3),
        Column(name="Slices", digits=0),
        Column(name="Ended"),
    )
    marked = tuple((place, 9) for place, cell in enumerate(cells) if not cell.steady)
    table = Table(columns=columns, rows=rows, marked=marked, caption="Every cell", folded=True)
    text = (
        "A cell is driven in slices until five in a row are steady (a range of at most 20 % of "
        "their average, a slope excursion of at most 10 %: the standard's rule for rounds); its "
        "numbers are over those five. The 95 % are of one run whose slices resemble their "
        "neighbours."
    )
    return Section(title="Every cell", blocks=(Paragraph(text=text), table))
