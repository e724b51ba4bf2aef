"""The page of the platform: each cell of the host beside the drive, and what explains it."""

from collections.abc import Mapping
from typing import Final

from teijo.analysis.headroom import (
    Headroom,
    Limit,
    Summary,
    in_a_word,
    judged,
    reason,
    sentence,
    summary,
    summary_of,
)
from teijo.analysis.quantities import IOPS
from teijo.document import model
from teijo.document.grid import Beside, Edge, Figure, Grid, Line
from teijo.document.phrase import Verbatim, say
from teijo.methods import hosts_page
from teijo.terms import shared
from teijo.terms.platform import FACT, cell_name, platform_in
from teijo.terms.record import Record
from teijo.units import NS_PER_MS, NS_PER_S

FACTS: Final = (
    "cpu", "cpu count", "cpu governor", "cpu frequency", "turbo", "idle states", "mitigations",
    "NUMA nodes", "NUMA node of the device", "cpus", "interrupts", "hardware queues",
    "link to the device", "I/O scheduler", "queue settings", "slot", "memory", "memory available",
    "virtualisation", "kernel",
)  # fmt: skip
"""What of a run's environment explains its ceilings, in the order of the page."""
_LEAST: Final = Figure(name="Ceiling, least", unit="IOPS", digits=0)
_MOST: Final = Figure(name="Ceiling, most", unit="IOPS", digits=0)
_LINK: Final = Figure(name="Link carries", unit="IOPS", digits=0)
_GAVE: Final = Figure(name="Drive gave, most", unit="IOPS", digits=0)
HEADER: Final = "Host"


def header_rows(record: Record) -> tuple[tuple[str, str], ...]:
    """Return the line of the header on the host, or on several of them; nothing where no ceiling
    was recorded.
    """
    found = summary_of(record)
    return hosts_page.header_rows(record) if found is None else ((HEADER, in_a_word(found)),)


def environment_rows(record: Record) -> tuple[tuple[str, str], ...]:
    """Return the facts of the environment that stand on no page of the platform."""
    own = {FACT, shared.FACT, *(FACTS if platform_in(record.environment) else ())}
    return tuple(each for each in record.environment.items() if each[0] not in own)


def platform_section(record: Record) -> model.Section | None:
    """Return the page of the platform, None where no ceiling was recorded."""
    platform = platform_in(record.environment)
    if platform is None:
        return None
    cells = judged(record, platform)
    in_one = summary(cells)
    answer = model.Verdict(text=sentence(in_one), good=_good(in_one))
    note = say(
        "The host's ceilings were taken before the first step, in {s:.1f} s: three repeats of "
        "{ms:.1f} ms in each cell, with nothing at the end of the way. They are of that moment, "
        "and count in no measured time; each step's own threads are judged beside them.",
        s=platform.cost_ns / NS_PER_S,
        ms=platform.each_ns / NS_PER_MS,
    )
    grid = _grid(cells)
    blocks: list[model.Block] = [answer]
    if any(each.given is not None for each in cells):
        blocks.append(grid.chart("The host's ceiling and what the drive gave", IOPS, log=True))
    else:
        blocks.append(grid.table("The host's ceiling, cell by cell"))
    blocks += [model.Paragraph(text=note), _facts(record.environment)]
    return model.Section(title="The platform", blocks=tuple(blocks))


def _good(found: Summary) -> bool | None:
    if found.may_be:
        return False
    return True if found.cells and not found.unknown else None


def _grid(cells: tuple[Headroom, ...]) -> Grid:
    """Return the table: the cell, its ceiling, its link, the drive, the room, the verdict."""
    names = Beside(
        column=model.Column(name="Cell"),
        values=tuple(Verbatim(cell_name(each.cell)) for each in cells),
    )
    carried = tuple(each.link_iops for each in cells)
    numbers = tuple(range(1, len(cells) + 1))
    return Grid(
        rows=Edge(
            name="No.", places=numbers, digits=0, drawn_as="Cell, by its number in the table"
        ),
        columns=(
            names,
            Line(figure=_LEAST, values=tuple(each.low_iops for each in cells)),
            Line(figure=_MOST, values=tuple(each.high_iops for each in cells)),
            *([Line(figure=_LINK, values=carried)] if any(carried) else []),
            Line(figure=_GAVE, values=tuple(map(_gave, cells))),
            Beside(
                column=model.Column(name="Busiest thread", unit="%", digits=1),
                values=tuple(map(_busy, cells)),
            ),
            Beside(
                column=model.Column(name="Headroom ×", digits=2),
                values=tuple(each.times for each in cells),
            ),
            Beside(
                column=model.Column(name="The host is"),
                values=tuple(map(_verdict, cells)),
            ),
        ),
    )


def _gave(each: Headroom) -> float | None:
    return None if each.given is None else each.given.most_iops


def _busy(each: Headroom) -> float | None:
    busiest = None if each.given is None else each.given.busiest
    return None if busiest is None else 100 * busiest


def _verdict(each: Headroom) -> str:
    if each.limit is Limit.MAY_BE:
        return say("{limit} ({what})", limit=each.limit.value, what=reason(each))
    return each.limit.value


def _facts(environment: Mapping[str, str]) -> model.Facts:
    rows = tuple((name, environment[name]) for name in FACTS if name in environment)
    return model.Facts(caption="The host between its processors and the device", rows=rows)
