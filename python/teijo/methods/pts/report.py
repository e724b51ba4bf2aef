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
from teijo.document.model import Block, Document, Facts, Paragraph, Section, XYChart
from teijo.document.phrase import capitalised, say
from teijo.methods.found import Found
from teijo.methods.pages import assemble
from teijo.methods.pts import window_pages
from teijo.methods.pts.found import PtsFound, PtsRoundsFound
from teijo.methods.pts.header import Loop, cache_remarks, pts_header
from teijo.methods.rounds import Round
from teijo.methods.scaled import scalar_told
from teijo.terms.cell import CellKey
from teijo.terms.remark import Remark
from teijo.terms.result import StepResult

K = TypeVar("K", bound=CellKey)
NO_ROUND = "No whole round yet."
ART = Figure(name="ART", unit="ms", digits=4)
MRT = Figure(name="MRT", unit="ms", digits=3)
RESPONSE_TIME = Figure(name="Response time", unit="ms")


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
    found: PtsRoundsFound[Any, K],
    title: str,
    caption: str,
    keys: Sequence[K],
    of: Callable[[StepResult], float],
    *,
    y: Figure,
    figure: Callable[[K], Figure],
    name: Callable[[K], str] = lambda _: "",
    log: bool = False,
    note: str = "",
) -> Section:
    """Return a figure of cells over the whole rounds, a line for each, the window shaded."""
    course = found.course

    def chart() -> XYChart:
        rounds = course.whole
        grid = matrix(
            by_round(rounds),
            rounds,
            keys,
            lambda each, key: of(each.at(key)),
            figure=figure,
            name=name,
        )
        return grid.chart(
            caption,
            y,
            log=log,
            spans=window_pages.window_spans(found),
            note=note or window_pages.broken_note(course),
        )

    return plot(title, chart if course.whole else None)


def sections_of(titles: Sequence[str], blocks: Sequence[Sequence[Block]]) -> list[Section]:
    """Return a section for each title; without blocks all of them say that there is no round."""
    shown = blocks or [[Paragraph(text=NO_ROUND)]] * len(titles)
    return [
        Section(title=title, blocks=tuple(each)) for title, each in zip(titles, shown, strict=True)
    ]


def run_facts(
    found: Found[Any], *, form: str = ",.3f", but: tuple[str, ...] = (), blanks: bool = False
) -> Facts:
    """Return the count of rounds, and the scalars; see run_rows."""
    rounds = ("Rounds measured", str(found.rounds))
    return Facts(caption="Run", rows=(rounds, *run_rows(found, form=form, but=but, blanks=blanks)))


def run_rows(
    found: Found[Any], *, form: str = ",.3f", but: tuple[str, ...] = (), blanks: bool = False
) -> tuple[tuple[str, str], ...]:
    """Return every scalar as a name and a text, but those whose names begin with `but`.

    Those without a value are left out, unless `blanks` are wanted too.
    """
    return tuple(
        (capitalised(each.name), scalar_told(each, form, found.record.geometry))
        for each in found.scalars
        if (blanks or each.value is not None) and not each.name.startswith(but)
    )


def by_round(rounds: Sequence[Round]) -> Edge:
    """Return the edge that the rounds are on."""
    return Edge(name="Round", digits=0, places=tuple(each.number for each in rounds))


def every_minute(count: int, columns: Sequence[Beside]) -> Section:
    """Return the table of all minutes."""
    edge = Edge(name="Minute", digits=0, places=tuple(range(1, count + 1)))
    table = Grid(rows=edge, columns=tuple(columns)).table("Every minute", folded=True)
    return Section(title="Every minute", blocks=(table,))


def answered(answers: Sequence[StepResult]) -> tuple[Beside, Beside, Beside]:
    """Return the columns of IOPS, ART and MRT, a row for each answer."""
    means = tuple(map(measures.latency_ms_mean, answers))
    longest = tuple(map(measures.latency_ms_max, answers))
    return (
        Beside(column=IOPS.column(), values=tuple(each.iops for each in answers)),
        Beside(column=ART.column(), values=means),
        Beside(column=MRT.column(), values=longest),
    )


def sequential_words(times: int, block_size_bytes: int | None) -> str:
    """Return the header's words for WIPC, "2X SEQ/128KiB"."""
    block = units.format_block_size(block_size_bytes or 0).replace(" ", "")
    return f"{times}X SEQ/{block}" if times else "none"
