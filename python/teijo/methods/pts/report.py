"""What every PTS report is made of: its header, numbered plots, ledger and appendix."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from teijo import units
from teijo.analysis import measures
from teijo.analysis.quantities import IOPS
from teijo.conformance.page import ledger_section
from teijo.conformance.versions import version_of
from teijo.document.grid import Beside, Edge, Figure, Grid, matrix
from teijo.document.model import Axis, Block, Document, Facts, Paragraph, Section, XYChart
from teijo.document.phrase import capitalised, say
from teijo.methods.found import Found
from teijo.methods.pages import assemble, ms
from teijo.methods.pts import settings as shared
from teijo.methods.pts import window_pages
from teijo.methods.pts.found import PtsFound
from teijo.methods.pts.header import Loop, cache_remarks, pts_header
from teijo.methods.rounds import Round, Rounds
from teijo.methods.scaled import scalar_told
from teijo.terms.cell import MatrixCell, mix_name
from teijo.terms.finding import Determined
from teijo.terms.remark import Remark
from teijo.terms.result import StepResult

K = TypeVar("K")
NO_ROUND = "No whole round yet."
ART = Figure(name="ART", unit="ms", digits=4)
MRT = Figure(name="MRT", unit="ms", digits=3)
RESPONSE_TIME = Figure(name="Response time", unit="ms")
MIX_AXIS = Axis(name="R/W mix", scale="category")


def report(
    found: PtsFound[Any],
    loop: Loop,
    *,
    summary: Sequence[Block],
    sections: Iterable[Section],
    remarks: Iterable[Remark] = (),
) -> Document:
    """Return the whole report: summary, the method's own sections, the ledger, the appendix."""
    record, settings = found.record, found.settings
    version = version_of(settings.spec)
    whole = (
        Section(title="Summary", blocks=tuple(summary)),
        *sections,
        ledger_section(found.ledger, version),
    )
    header = pts_header(found, version, loop)
    return assemble(record, settings, header, whole, (*cache_remarks(record, version), *remarks))


def numbered(plots: Sequence[Section]) -> list[Section]:
    """Return the plots with their place in the standard's order."""
    return [
        replace(section, label=say("Plot {place} of {count}", place=place, count=len(plots)))
        for place, section in enumerate(plots, start=1)
    ]


def plot(title: str, chart: Callable[[], Block] | None, *, empty: str = NO_ROUND) -> Section:
    """Return a section of one chart; it says `empty` where there is nothing to draw yet."""
    block = Paragraph(text=empty) if chart is None else chart()
    return Section(title=title, blocks=(block,))


def by_round_section(
    title: str,
    caption: str,
    course: Rounds,
    findings: Determined,
    keys: Sequence[K],
    at: Callable[[Round, K], float],
    *,
    y: Figure,
    figure: Callable[[K], Figure],
    name: Callable[[K], str] = lambda _: "",
    log: bool = False,
) -> Section:
    """Return figures over the whole rounds, a line for each key, the window shaded."""

    def chart() -> XYChart:
        grid = matrix(by_round(course.whole), course.whole, keys, at, figure=figure, name=name)
        return grid.chart(
            caption,
            y,
            log=log,
            spans=window_pages.window_spans(findings),
            note=window_pages.broken_note(course),
        )

    return plot(title, chart if course.whole else None)


def sections_or(
    empty: str, titles: Sequence[str], blocks: Callable[[], Sequence[Sequence[Block]]] | None
) -> list[Section]:
    """Return a section for each title; all of them say `empty` where there are no blocks yet."""
    if blocks is None:
        return [Section(title=title, blocks=(Paragraph(text=empty),)) for title in titles]
    return [
        Section(title=title, blocks=tuple(each))
        for title, each in zip(titles, blocks(), strict=True)
    ]


def run_facts(found: Found[Any], *, form: str = ",.3f", but: str = "") -> Facts:
    """Return the count of rounds, and every scalar that has a value, `but` for one."""
    rounds = ("Rounds measured", str(found.rounds))
    return Facts(caption="Run", rows=(rounds, *run_rows(found, form=form, but=but)))


def run_rows(
    found: Found[Any], *, form: str = ",.3f", but: str = ""
) -> tuple[tuple[str, str], ...]:
    """Return every scalar that has a value, `but` for one, as a name and a text."""
    return tuple(
        (capitalised(each.name), scalar_told(each, form, found.record.geometry))
        for each in found.scalars
        if each.value is not None and each.name != but
    )


def by_round(rounds: Sequence[Round]) -> Edge:
    """Return the edge that the rounds are on."""
    return Edge(name="Round", digits=0, places=tuple(each.number for each in rounds))


def by_block_size(
    keys: Sequence[MatrixCell],
    of: Callable[[MatrixCell], float],
    *,
    unit: str = "",
    digits: int = 1,
) -> Grid:
    """Return a figure of every cell: the smallest block first, a line for each mix from all
    writes to all reads.
    """
    blocks = sorted({key.block_size_bytes for key in keys})
    mixes = sorted({key.read_percent for key in keys})
    kibibytes = [block / units.KIB for block in blocks]
    rows = Edge(
        name="Block size",
        unit="KiB",
        scale="log",
        from_zero=True,
        places=tuple(kibibytes),
        words=tuple(f"{each:g}" for each in kibibytes),
    )
    return matrix(
        rows,
        blocks,
        mixes,
        lambda block, mix: of(MatrixCell(read_percent=mix, block_size_bytes=block)),
        figure=lambda mix: Figure(name=mix_name(mix), unit=unit, digits=digits),
    )


def by_minute(minute_ns: int, places: Sequence[float]) -> Edge:
    """Return the edge of the standard's minutes, named by what one is here."""
    return Edge(
        name=shared.time_name(minute_ns),
        unit="min",
        digits=0,
        places=tuple(places),
        from_zero=places[0] == 1,
    )


def every_minute(count: int, columns: Sequence[Beside]) -> Section:
    """Return the table of all minutes."""
    edge = Edge(name="Minute", digits=0, places=tuple(range(1, count + 1)))
    table = Grid(rows=edge, columns=tuple(columns)).table("Every minute", folded=True)
    return Section(title="Every minute", blocks=(table,))


def answered(answers: Sequence[StepResult]) -> tuple[Beside, Beside, Beside]:
    """Return the columns of IOPS, ART and MRT, a row for each answer."""
    means = tuple(ms(measures.latency_ns_mean(each)) for each in answers)
    longest = tuple(ms(measures.latency_ns_max(each)) for each in answers)
    return (
        Beside(column=IOPS.column(), values=tuple(each.iops for each in answers)),
        Beside(column=ART.column(), values=means),
        Beside(column=MRT.column(), values=longest),
    )


def sequential_words(times: int, block_size_bytes: int) -> str:
    """Return the header's words for WIPC, "2X SEQ/128KiB"."""
    block = units.format_block_size(block_size_bytes).replace(" ", "")
    return f"{times}X SEQ/{block}" if times else "none"
