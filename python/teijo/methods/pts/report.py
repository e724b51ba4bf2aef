"""What every PTS report is made of: its header, numbered plots, ledger and appendix."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from teijo import units
from teijo.analysis import measures
from teijo.document.grid import Beside, Edge, Figure, Grid, matrix
from teijo.document.model import Axis, Block, Document, Facts, Paragraph, Section, XYChart
from teijo.document.phrase import capitalised, say
from teijo.methods.knobs import show_mix
from teijo.methods.pages import assemble, ms
from teijo.methods.pts import window_pages
from teijo.methods.pts.header import Loop, cache_remarks, pts_header
from teijo.methods.pts.ledger.page import ledger_section
from teijo.methods.pts.settings import PtsSettings
from teijo.methods.pts.versions import version_of
from teijo.methods.rounds import Round, Rounds
from teijo.methods.scaled import scalar_told
from teijo.terms.finding import Findings
from teijo.terms.record import Record
from teijo.terms.remark import Remark
from teijo.terms.result import StepResult

K = TypeVar("K")
NO_ROUND = "No whole round yet."
IOPS = Figure(name="IOPS")
ART = Figure(name="ART", unit="ms", digits=4)
MRT = Figure(name="MRT", unit="ms", digits=3)
RESPONSE_TIME = Figure(name="Response time", unit="ms")
MIX_AXIS = Axis(name="R/W mix", scale="category")


def report(
    record: Record,
    settings: PtsSettings,
    findings: Findings,
    loop: Loop,
    *,
    summary: Sequence[Block],
    sections: Iterable[Section],
    remarks: Iterable[Remark] = (),
) -> Document:
    """Return the whole report: summary, the method's own sections, the ledger, the appendix."""
    version = version_of(settings.spec)
    whole = (
        Section(title="Summary", blocks=tuple(summary)),
        *sections,
        ledger_section(findings.ledger, version),
    )
    header = pts_header(record, settings, version, loop, findings.ledger)
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
    rounds: Rounds,
    findings: Findings,
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
        grid = matrix(by_round(rounds.whole), rounds.whole, keys, at, figure=figure, name=name)
        return grid.chart(
            caption,
            y,
            log=log,
            spans=window_pages.window_spans(findings),
            note=window_pages.broken_note(rounds),
        )

    return plot(title, chart if rounds.whole else None)


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


def run_facts(record: Record, findings: Findings, *, form: str = ",.3f", but: str = "") -> Facts:
    """Return the count of rounds, and every scalar that has a value, `but` for one."""
    rounds = ("Rounds measured", str(findings.rounds))
    return Facts(caption="Run", rows=(rounds, *run_rows(record, findings, form=form, but=but)))


def run_rows(
    record: Record, findings: Findings, *, form: str = ",.3f", but: str = ""
) -> tuple[tuple[str, str], ...]:
    """Return every scalar that has a value, `but` for one, as a name and a text."""
    return tuple(
        (capitalised(each.name), scalar_told(each, form, record.geometry))
        for each in findings.scalars
        if each.value is not None and each.name != but
    )


def by_round(rounds: Sequence[Round]) -> Edge:
    """Return the edge that the rounds are on."""
    return Edge(name="Round", digits=0, places=tuple(each.number for each in rounds))


def by_block_size(
    block_sizes_bytes: Sequence[int],
    mixes_read_percent: Sequence[int],
    at: Callable[[int, int], float],
    *,
    unit: str = "",
    digits: int = 1,
) -> Grid:
    """Return a figure of every (block size, read %): the smallest block first, a line for each
    mix from all writes to all reads.
    """
    blocks = sorted(block_sizes_bytes)
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
        sorted(mixes_read_percent),
        at,
        figure=lambda mix: Figure(name=show_mix(mix), unit=unit, digits=digits),
    )


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
