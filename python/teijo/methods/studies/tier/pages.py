"""The report of the study `tier`: the answer, rates against working sets, cliffs, crossovers, the
arithmetic of striping. The sentences are in words.
"""

from collections.abc import Callable
from dataclasses import dataclass

from teijo import units
from teijo.analysis.quantities import THROUGHPUT
from teijo.analysis.tiering import Fall
from teijo.document import model
from teijo.document.grid import Fields, Figure, Trace, listing, traced
from teijo.document.phrase import Verbatim, capitalised, say
from teijo.methods.pages import ms, threads_by_depth
from teijo.methods.report import study_report
from teijo.methods.studies.tier import words
from teijo.methods.studies.tier.cells import CellFound
from teijo.methods.studies.tier.found import Curve, TierFound

STAGE_NAMES = {
    "tier": "tier",
    "again": "tier, again",
    "fast": "fast device alone",
    "slow": "slow device alone",
}
MODEL_POINTS = 25
"""Points of a model's line, so that its bend at the tier's size shows."""


@dataclass(frozen=True, kw_only=True)
class Volumes:
    """The unit that the sets of a report are in, and the digits of a column of them."""

    unit: str
    unit_bytes: int
    digits: int

    def of(self, size_bytes: float | None) -> float | None:
        """Return a size in this unit, to four digits: it is printed below an axis."""
        return None if size_bytes is None else float(f"{size_bytes / self.unit_bytes:.4g}")


TB = Volumes(unit="TB", unit_bytes=units.TERA, digits=3)
GB = Volumes(unit="GB", unit_bytes=units.GIGA, digits=2)
MB = Volumes(unit="MB", unit_bytes=units.MEGA, digits=1)


def pages(found: TierFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    settings = found.settings
    fill = settings.fill_times
    written = say("{times} × the largest set", times=fill) if fill else "no"
    alone = (("Fast device alone", settings.fast), ("Slow device alone", settings.slow))
    return study_report(
        found,
        title="Tier",
        subtitle="Fast storage before slow",
        preparation=(
            ("Written in order", written),
            *((name, Verbatim(device)) for name, device in alone if device),
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


def _sections(found: TierFound) -> list[model.Section]:
    volumes = _volumes(found)
    patterns = [
        (pattern, tuple(_chart(found, volumes, curve) for curve in found.of(pattern) if curve.tier))
        for pattern in found.settings.patterns
    ]
    return [
        model.Section(title="Result", blocks=_result(found, volumes)),
        model.Section(title="Where the tier stops helping", blocks=_cliffs(found, volumes)),
        *_buying_sections(found),
        *(
            model.Section(title=_title(pattern), blocks=charts)
            for pattern, charts in patterns
            if charts
        ),
        model.Section(title="Every cell", blocks=_every_cell(found, volumes)),
    ]


def _volumes(found: TierFound) -> Volumes:
    """Return TB where the largest set is no smaller than 2 TB, else GB or MB alike."""
    largest = max((key.set_bytes for key in found.measured), default=0)
    return next((each for each in (TB, GB) if largest >= 2 * each.unit_bytes), MB)


def _title(pattern: str) -> str:
    return capitalised(words.PATTERN_NAMES[pattern])


def _curve_title(curve: Curve) -> str:
    return capitalised(words.curve_name(curve))


def _result(found: TierFound, volumes: Volumes) -> tuple[model.Block, ...]:
    blocks: list[model.Block] = [
        model.Verdict(text=words.verdict(found), good=None),
        model.Paragraph(text=words.answer(found)),
    ]
    if found.witnesses:
        blocks.append(_evidence_table(found, volumes))
    if found.hero is not None:
        blocks.append(_chart(found, volumes, found.hero))
    if found.tier_bytes is not None:
        blocks.append(model.Paragraph(text=words.MODELS))
    return tuple(blocks)


def _evidence_table(found: TierFound, volumes: Volumes) -> model.Table:
    """Return what each curve that could show a tier shows, with the rates it is judged by."""
    unit, digits, size = volumes.unit, volumes.digits, volumes.of
    fields: Fields[Curve] = (
        ("Pattern and block", "", None, _curve_title),
        ("Held up to", unit, digits, _falling(lambda fall: size(fall.cliff.good_bytes))),
        ("Rate", "MB/s", 1, _falling(lambda fall: fall.good)),
        ("Not held at", unit, digits, _falling(lambda fall: size(fall.cliff.bad_bytes))),
        ("Rate", "MB/s", 1, _falling(lambda fall: fall.bad)),
        ("Then back at", unit, digits, _falling(lambda fall: size(_back_bytes(fall)))),
        ("Rate", "MB/s", 1, _falling(lambda fall: fall.back)),
        ("Not held, again", "MB/s", 1, _falling(lambda fall: fall.again)),
        ("Evidence", "", None, words.evidence),
    )
    return listing(found.witnesses, fields, caption="Is it a tier that falls?")


def _back_bytes(fall: Fall) -> int | None:
    """Return the set that was gone back to; None where it was not measured again."""
    return None if fall.back is None else fall.back_bytes


def _falling(of: Callable[[Fall], model.Value]) -> Callable[[Curve], model.Value]:
    """Return what a field has of a curve that falls; None of one that does not."""
    return lambda curve: None if curve.fall is None else of(curve.fall)


def _chart(found: TierFound, volumes: Volumes, curve: Curve) -> model.XYChart:
    """Return one pattern and block size over the working sets, the cliff shaded."""
    stages = {"tier": curve.tier, "fast": curve.fast, "slow": curve.slow}
    measured = (
        Trace(
            key=STAGE_NAMES[stage],
            rows=tuple((volumes.of(size), *cell.throughput.three) for size, cell in cells.items()),
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
    first, last = map(volumes.of, curve.held)
    spans = []
    if first is not None and last is not None:
        spans.append(model.Span(name="cliff", first=first, last=last))
    return traced(
        say("{what}, by working set", what=_curve_title(curve)),
        (*measured, *models),
        keys=model.Column(name="Device"),
        places=Figure(name="Working set", unit=volumes.unit, digits=volumes.digits),
        y=THROUGHPUT,
        log=True,
        spans=spans,
    )


def _modelled(found: TierFound, curve: Curve) -> list[tuple[float, tuple[float, float]]]:
    """Return (set in bytes, both models in MB/s) over the stretch the tier was measured on."""
    tier_bytes = found.tier_bytes
    if tier_bytes is None or len(curve.tier) < 2:
        return []
    first, last = min(curve.tier), max(curve.tier)
    places = [first * (last / first) ** (step / (MODEL_POINTS - 1)) for step in range(MODEL_POINTS)]
    if first < tier_bytes < last:
        places.append(float(tier_bytes))  # the models bend exactly there
    both = ((place, curve.model(tier_bytes, round(place))) for place in sorted(places))
    return [(place, rates) for place, rates in both if rates is not None]


def _cliffs(found: TierFound, volumes: Volumes) -> tuple[model.Block, ...]:
    """Return where each pattern and block size falls, and what is left at the largest set.

    What needs the devices alone is left out where none of it is known.
    """
    curves = [curve for curve in found.curves if curve.tier]
    unit, digits, size = volumes.unit, volumes.digits, volumes.of
    alone: Fields[Curve] = (
        ("Model, in turn", "MB/s", 1, lambda curve: _models(found, curve)[0]),
        ("Model, side by side", "MB/s", 1, lambda curve: _models(found, curve)[1]),
        ("Largest set by the slow device", "", 2, lambda curve: curve.share_of_slow),
    )
    known = [field for field in alone if any(field[-1](curve) is not None for curve in curves)]
    fields: Fields[Curve] = (
        ("Pattern", "", None, lambda curve: _title(curve.pattern)),
        ("Block size", "KiB", 0, lambda curve: curve.block_size_bytes / units.KIB),
        ("Smallest set", "MB/s", 1, lambda curve: curve.smallest.rate),
        ("Held up to", unit, digits, lambda curve: size(curve.held[0])),
        ("Not held at", unit, digits, lambda curve: size(curve.held[1])),
        ("Largest set", "MB/s", 1, lambda curve: curve.largest.rate),
        *known,
    )
    table = listing(curves, fields, caption="Where the tier stops helping")
    return (model.Paragraph(text=words.HELD_WITH_MODELS if known else words.HELD), table)


def _models(found: TierFound, curve: Curve) -> tuple[float, float] | tuple[None, None]:
    """Return both models at the largest set."""
    return curve.model(found.tier_bytes, max(curve.tier)) or (None, None)


def _buying_sections(found: TierFound) -> list[model.Section]:
    """Return from which block size the slow device wins, and what would keep it from winning."""
    if not found.counted:
        return []
    crossings: Fields[str] = (
        ("Pattern", "", None, _title),
        ("Slow alone is faster from", "", None, lambda each: words.faster_from(found, each)),
    )
    counts: Fields[Curve] = (
        ("Pattern and block", "", None, _curve_title),
        ("Fast alone (B₁)", "MB/s", 1, lambda curve: curve.fast_rate),
        ("Slow alone (B₂)", "MB/s", 1, lambda curve: curve.slow_rate),
        ("B₂ / B₁", "", 2, lambda curve: curve.slow_by_fast),
        ("N", "", 0, lambda curve: curve.stripes),
    )
    caption = "Where the slow device alone is faster than the tier, at the largest set it holds"
    blocks = (
        listing(found.settings.patterns, crossings, caption=caption),
        model.Paragraph(text=words.STRIPES),
        listing(found.counted, counts, caption="How many fast devices never hurt"),
    )
    return [model.Section(title="Where the tier hurts", blocks=blocks)]


def _every_cell(found: TierFound, volumes: Volumes) -> tuple[model.Block, ...]:
    unit, digits, size = volumes.unit, volumes.digits, volumes.of
    cells = tuple(found.measured.values())
    fields: Fields[CellFound] = (
        ("Device", "", None, lambda cell: STAGE_NAMES[cell.key.stage]),
        ("Pattern", "", None, lambda cell: words.PATTERN_NAMES[cell.key.pattern]),
        ("Block size", "KiB", 0, lambda cell: cell.key.block_size_bytes / units.KIB),
        ("Working set", unit, digits, lambda cell: size(cell.key.set_bytes)),
        ("Throughput", "MB/s", 2, lambda cell: cell.rate),
        ("95 %", "", None, lambda cell: words.interval(cell.throughput)),
        ("IOPS", "", 1, lambda cell: cell.rate * units.MEGA / cell.key.block_size_bytes),
        ("Mean latency", "ms", 3, lambda cell: ms(cell.latency_ns)),
        ("Slices", "", 0, lambda cell: len(cell.answers)),
        ("Ended", "", None, lambda cell: "steady" if cell.steady else "not steady"),
    )
    last = len(fields) - 1
    marked = ((place, last) for place, cell in enumerate(cells) if not cell.steady)
    table = listing(cells, fields, caption="Every cell", folded=True, marked=marked)
    return (model.Paragraph(text=words.SLICES), table)
