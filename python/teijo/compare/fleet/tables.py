"""The tables of a fleet's report: drives, distributions, limits, and what was left out."""

from collections.abc import Mapping, Sequence
from typing import Final

from teijo.analysis.quantities import LATENCY_MAX
from teijo.compare.conditions import Deviation
from teijo.compare.fleet.drive import Drive, Key
from teijo.compare.fleet.factors import Factor, Verdict
from teijo.compare.fleet.findings import Fleet, Limited, Named, Spread, value_of
from teijo.compare.limit import Judged
from teijo.compare.limit_pages import interval_words, measured_words, verdict_words
from teijo.document.grid import Fields, Figure, listing
from teijo.document.model import Column, Table, Value
from teijo.document.phrase import Verbatim, listed, say
from teijo.methods.pages import date_of
from teijo.terms.remark import REMEDIES, RemarkKind

FOLDED_ROWS: Final = 60
_NAMES_SHOWN: Final = 8
_LEAST_PRINTED: Final = 1e-4
_STEADY: Final[Mapping[bool | None, str]] = {None: "n/a", True: "YES", False: "NO"}


def place_of(key: Key, fleet: Fleet) -> str:
    """Return where a figure was measured, with its test where there are several."""
    tests = {each.test for each in fleet.keys}
    if len(tests) < 2:
        return key.place
    return say("{test}, {place}", test=Verbatim(key.test), place=key.place)


def chance_words(share: float) -> str:
    """Return how often something comes about by chance."""
    if share < _LEAST_PRINTED:
        return say("below {least:.4f}", least=_LEAST_PRINTED)
    return say("{share:.4f}", share=share)


def names_of(drives: Sequence[Drive]) -> str:
    """Return the first names, and how many more there are."""
    shown: list[str] = [each.name for each in drives[:_NAMES_SHOWN]]
    if len(drives) > _NAMES_SHOWN:
        shown.append(say("{count} more", count=len(drives) - _NAMES_SHOWN))
    return listed(shown)


def named_table(fleet: Fleet) -> Table:
    """Return a row for each drive that differs: all figures together, and the single ones."""
    usual = usual_kinds(fleet.drives)
    percents = {
        each.run_id: percent
        for each, percent in zip(fleet.drives, fleet.level_percents, strict=True)
    }
    fields: Fields[Drive] = (
        ("Drive", "", None, lambda each: each.name),
        ("Host", "", None, lambda each: each.host),
        ("All together", "%", 2, lambda each: percents[each.run_id]),
        ("By chance", "", None, lambda each: _chance_together(each, fleet)),
        ("Single figures that differ", "", 0, lambda each: len(_single(each, fleet))),
        ("Farthest beyond chance", "", None, lambda each: _farthest(each, fleet)),
        ("Remarks of its run", "", None, lambda each: _kinds(each, usual)),
    )
    drives = fleet.named_drives
    return listing(
        drives,
        fields,
        caption="Drives that differ from the others",
        folded=len(drives) > FOLDED_ROWS,
    )


def _single(drive: Drive, fleet: Fleet) -> list[Named]:
    return [each for each in fleet.named if each.drive is drive and each.key is not None]


def _chance_together(drive: Drive, fleet: Fleet) -> str:
    """Return how often a drive's level comes about by chance, where it is named for that."""
    own = [each for each in fleet.named if each.drive is drive and each.key is None]
    return chance_words(own[0].outlier.together) if own else "not shown"


def _farthest(drive: Drive, fleet: Fleet) -> Value:
    """Return the single figure of a drive that is the least likely by chance."""
    own = _single(drive, fleet)
    if not own:
        return None
    return say("{where}: {percent:+.2f} %", where=_where(own[0], fleet), percent=own[0].percent)


def named_figures_table(fleet: Fleet) -> Table:
    """Return every figure in which a drive differs, the farthest beyond chance first."""
    fields: Fields[Named] = (
        ("Drive", "", None, lambda each: each.drive.name),
        ("Where", "", None, lambda each: _where(each, fleet)),
        ("Difference", "%", 2, lambda each: each.percent),
        ("It is", "", None, lambda each: "slower" if each.slower else "faster"),
        ("Score", "", 1, lambda each: each.outlier.score),
        ("By chance", "", None, lambda each: chance_words(each.outlier.together)),
    )
    return listing(
        fleet.named,
        fields,
        caption="Figures in which drives differ",
        folded=len(fleet.named) > FOLDED_ROWS // 2,
    )


def _where(each: Named, fleet: Fleet) -> str:
    if each.key is None:
        return "all figures together"
    return say("{place}, {figure}", place=place_of(each.key, fleet), figure=each.key.figure.name)


def drives_table(fleet: Fleet) -> Table:
    """Return a row for each drive: who it is, its level, and its key figures."""
    drives, percents = fleet.drives, fleet.level_percents
    usual = usual_kinds(drives)
    known: list[tuple[Column, Sequence[Value]]] = [
        (Column(name="Drive"), [each.name for each in drives]),
        (Column(name="Serial no"), _unlike([each.serial for each in drives], drives)),
        (Column(name="Host"), [each.host for each in drives]),
        (Column(name="Firmware"), [each.firmware for each in drives]),
        (Column(name="Slot"), [each.slot for each in drives]),
        (Column(name="Hottest", unit="°C", digits=0), [each.temperature_c for each in drives]),
        (Column(name="Steady state"), [_STEADY[each.converged] for each in drives]),
        (Column(name="All together", unit="%", digits=2), percents),
        *(
            (
                Column(
                    name=place_of(key, fleet),
                    unit=key.figure.unit or key.figure.name,
                    digits=key.figure.digits,
                ),
                [value_of(each, key) for each in drives],
            )
            for key in fleet.key_figures
        ),
        (Column(name="Remarks"), [_kinds(each, usual) for each in drives]),
    ]
    # What no drive has is no column.
    shown = [(column, values) for column, values in known if any(_is_told(each) for each in values)]
    at = next((n for n, (column, _) in enumerate(shown) if column.name == "All together"), None)
    apart = {each.run_id for each in fleet.named_drives}
    marked = [(row, at or 0) for row, each in enumerate(drives) if each.run_id in apart]
    return Table(
        columns=tuple(column for column, _ in shown),
        rows=tuple(zip(*(values for _, values in shown), strict=True)),
        caption="The drives, and their key figures",
        marked=tuple(marked),
        folded=len(drives) > FOLDED_ROWS,
    )


def _is_told(value: Value) -> bool:
    return value not in (None, "", "n/a")


def _unlike(serials: Sequence[str], drives: Sequence[Drive]) -> Sequence[Value]:
    """Return serial numbers, or nothing where they are the names."""
    same = all(serial in ("", each.name) for serial, each in zip(serials, drives, strict=True))
    return [None] * len(serials) if same else serials


def usual_kinds(drives: Sequence[Drive]) -> frozenset[RemarkKind]:
    """Return the kinds of remark that every drive's run has."""
    kinds = [frozenset(each.remark_kinds) for each in drives]
    return frozenset.intersection(*kinds) if kinds else frozenset()


def _kinds(drive: Drive, usual: frozenset[RemarkKind]) -> str:
    kinds = [kind.value for kind in drive.remark_kinds if kind not in usual]
    return listed(kinds) if kinds else ""


def spread_tables(fleet: Fleet) -> list[Table]:
    """Return how every figure is distributed, a table for each kind of figure."""
    by_figure: dict[Figure, list[Spread]] = {}
    for each in fleet.spreads:
        by_figure.setdefault(each.key.figure, []).append(each)
    return [_spread_table(fleet, figure, rows) for figure, rows in by_figure.items()]


def _spread_table(fleet: Fleet, figure: Figure, rows: Sequence[Spread]) -> Table:
    unit = figure.unit
    fields: Fields[Spread] = (
        ("Place", "", None, lambda each: place_of(each.key, fleet)),
        ("Drives", "", 0, lambda each: each.distribution.count),
        ("Least", unit, figure.digits, lambda each: each.distribution.least),
        ("Lower quartile", unit, figure.digits, lambda each: each.distribution.quartiles[0]),
        ("Median", unit, figure.digits, lambda each: each.distribution.median),
        ("Upper quartile", unit, figure.digits, lambda each: each.distribution.quartiles[2]),
        ("Most", unit, figure.digits, lambda each: each.distribution.most),
        ("Quartiles apart", "%", 2, _quartiles_apart),
        ("Slowest drive", "", None, lambda each: each.worst.name),
    )
    return listing(
        rows,
        fields,
        caption=say("{figure} over the drives", figure=figure.name),
        folded=len(rows) > FOLDED_ROWS or figure is LATENCY_MAX,
    )


def _quartiles_apart(each: Spread) -> float | None:
    low, median, high = each.distribution.quartiles
    return (high - low) / median * 100 if median > 0 else None


def limits_table(fleet: Fleet) -> Table:
    """Return each limit with how many drives meet it."""
    fields: Fields[Limited] = (
        ("Limit", "", None, lambda each: Verbatim(each.text)),
        ("Met", "", 0, lambda each: each.met),
        ("Not met", "", 0, lambda each: len(each.missed)),
        ("Cannot be known", "", 0, lambda each: len(each.unknown)),
    )
    marked = [(row, 2) for row, each in enumerate(fleet.limits) if each.missed]
    return listing(
        fleet.limits, fields, caption="Limits, and how many drives meet each", marked=marked
    )


def not_met_table(fleet: Fleet) -> Table | None:
    """Return each drive with a limit that it does not meet, or of which it is not known."""
    rows = [pair for each in fleet.limits for pair in (*each.missed, *each.unknown)]
    if not rows:
        return None
    fields: Fields[tuple[Drive, Judged]] = (
        ("Drive", "", None, lambda pair: pair[0].name),
        ("Limit", "", None, lambda pair: Verbatim(pair[1].text)),
        ("Measured", "", None, lambda pair: measured_words(pair[1])),
        ("95 % interval", "", None, lambda pair: interval_words(pair[1])),
        ("Verdict", "", None, lambda pair: verdict_words(pair[1])),
    )
    marked = [(row, 4) for row, pair in enumerate(rows) if pair[1].verdict == "not met"]
    return listing(
        rows,
        fields,
        caption="Drives that do not meet a limit, or of which it cannot be known",
        marked=marked,
        folded=len(rows) > FOLDED_ROWS,
    )


def factors_table(fleet: Fleet) -> Table:
    """Return what the drives have in common, and what is shown of it."""
    fields: Fields[Factor] = (
        ("Factor", "", None, lambda each: each.name),
        ("Drives", "", None, _sizes),
        ("By chance, all figures together", "", None, lambda each: _chance(each.p_value)),
        ("By chance, single figures", "", None, lambda each: _chance(each.p_figure)),
        ("Would have been seen", "", None, _least),
        ("Verdict", "", None, _verdict),
    )
    marked = [
        (row, 5)
        for row, each in enumerate(fleet.factors)
        if each.verdict is Verdict.GOES_WITH
    ]  # fmt: skip
    return listing(fleet.factors, fields, caption="What the drives have in common", marked=marked)


def _sizes(factor: Factor) -> Value:
    if factor.groups:
        sizes = [str(each.drives) for each in factor.groups[:_NAMES_SHOWN]]
        more = len(factor.groups) - _NAMES_SHOWN
        if more > 0:
            return say("{sizes} and {more} more", sizes=Verbatim(", ".join(sizes)), more=more)
        return Verbatim(", ".join(sizes))
    return str(factor.drives) if factor.drives else None


def _chance(share: float | None) -> Value:
    return None if share is None else chance_words(share)


def _least(factor: Factor) -> Value:
    if factor.least is None:
        return None
    if factor.is_number:
        return say("a rank correlation of {least:.2f}", least=factor.least)
    return say("a difference of {least:.1f} %", least=factor.least)


def _verdict(factor: Factor) -> str:
    if factor.verdict is Verdict.GOES_WITH and factor.is_number:
        word = "goes with it"
    else:
        word = factor.verdict.value
    return say("{verdict}: {why}", verdict=word, why=factor.why) if factor.why else word


def groups_table(factor: Factor) -> Table:
    """Return the groups of a factor with their medians."""
    return Table(
        columns=(
            Column(name="Group"),
            Column(name="Drives", digits=0),
            Column(name="Median of all figures together", unit="%", digits=2),
        ),
        rows=tuple((each.name, each.drives, each.percent) for each in factor.groups),
        caption=say("By {name}", name=factor.name),
        folded=len(factor.groups) > FOLDED_ROWS,
    )


def left_out_table(fleet: Fleet) -> Table:
    """Return the run files that are not in the figures, and why."""
    rows = fleet.chosen.left_out
    return Table(
        columns=(Column(name="File"), Column(name="Drive"), Column(name="Why")),
        rows=tuple((Verbatim(each.file), each.drive, each.why) for each in rows),
        caption="Left out, and why",
        folded=len(rows) > FOLDED_ROWS,
    )


def unfinished_table(fleet: Fleet) -> Table:
    """Return the runs that did not come to their end, and how far they came."""
    fields: Fields[Drive] = (
        ("Drive", "", None, lambda each: each.name),
        ("File", "", None, lambda each: each.file),
        ("Ending", "", None, _ending),
        ("Whole rounds", "", 0, lambda each: each.rounds),
        ("Steps", "", 0, lambda each: each.steps),
        ("Started", "", None, lambda each: Verbatim(date_of(each.started_at))),
    )
    return listing(
        fleet.chosen.unfinished,
        fields,
        caption="Runs that have not come to their end",
        folded=len(fleet.chosen.unfinished) > FOLDED_ROWS,
    )


def _ending(drive: Drive) -> str:
    return "running, or left open" if drive.ending == "running" else drive.ending


def deviations_table(deviations: Sequence[Deviation]) -> Table:
    """Return the conditions that differ between the drives and were allowed to."""
    fields: Fields[Deviation] = (
        ("Condition", "", None, _condition),
        ("Allowed as", "", None, lambda each: Verbatim(each.aspect)),
        ("Values", "", None, _values),
    )
    return listing(deviations, fields, caption="Not made alike, and allowed to differ")


def _condition(each: Deviation) -> str:
    return Verbatim(f"{each.test}: {each.condition}" if each.test else each.condition)


def _values(deviation: Deviation) -> str:
    counts: dict[str, int] = {}
    for _, value in deviation.values:
        counts[value] = counts.get(value, 0) + 1
    return listed(
        say("{value}: {count} drives", value=Verbatim(value), count=count)
        for value, count in counts.items()
    )


def remarks_table(fleet: Fleet) -> Table:
    """Return each kind of remark with how many drives have it, and what to do about it."""
    by_kind: dict[RemarkKind, list[Drive]] = {}
    for each in (*fleet.drives, *fleet.chosen.unfinished):
        for kind in each.remark_kinds:
            by_kind.setdefault(kind, []).append(each)
    count = len(fleet.drives) + len(fleet.chosen.unfinished)
    return Table(
        columns=(
            Column(name="Remark"),
            Column(name="Drives", digits=0),
            Column(name="Which"),
            Column(name="What to do"),
        ),
        rows=tuple(
            (
                kind.value,
                len(drives),
                "all of them" if len(drives) == count else names_of(drives),
                REMEDIES[kind],
            )
            for kind, drives in sorted(by_kind.items(), key=lambda pair: -len(pair[1]))
        ),
        caption="Remarks of the runs",
    )
