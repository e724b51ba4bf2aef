"""Every table of a document with its number, its name and its place in the report."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from teijo.document import model


@dataclass(frozen=True, kw_only=True)
class NumberedTable:
    """A table, numbered from 1 over the whole document. `of_chart`: it is a chart's twin."""

    number: int
    title: str
    table: model.Table
    of_chart: bool

    @property
    def file_name(self) -> str:
        """Name of the table's CSV file, unique in its document: "03-measurement-window.csv"."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:60].strip("-")
        return f"{self.number:02d}-{slug or 'table'}.csv"


Places = dict[tuple[int, int], NumberedTable]


def numbered_tables(document: model.Document) -> Places:
    """Return the tables by (section, block), both counted from 0, in the order of the document."""
    places: Places = {}
    for place, title, table, of_chart in _tables(document):
        places[place] = NumberedTable(
            number=len(places) + 1, title=title, table=table, of_chart=of_chart
        )
    return places


def thinned(count: int, limit: int) -> list[int]:
    """Return at most `limit` of `count` row numbers, evenly spread, the first and last kept."""
    assert limit >= 2, limit
    if count <= limit:
        return list(range(count))
    return [round(place * (count - 1) / (limit - 1)) for place in range(limit)]


def _tables(document: model.Document) -> Iterator[tuple[tuple[int, int], str, model.Table, bool]]:
    for section_place, section in enumerate(document.sections):
        for block_place, block in enumerate(section.blocks):
            table = _table_of(block)
            if table is not None:
                title = getattr(block, "title", "") or table.caption or section.title
                yield (section_place, block_place), title, table, table is not block


def _table_of(block: model.Block) -> model.Table | None:
    match block:
        case model.Table():
            return block
        case model.XYChart() | model.Bars3D():
            return block.table
        case model.Headline() | model.Facts() | model.Paragraph() | model.Verdict() | model.Note():
            return None
