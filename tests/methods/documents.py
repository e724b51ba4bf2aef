"""Reading documents in tests: their charts, the numbers drawn and tabled, and all their words."""

from teijo.document.model import (
    Bars3D,
    Document,
    Facts,
    Headline,
    Note,
    Paragraph,
    Table,
    Verdict,
    XYChart,
)


def charts_of(document: Document) -> list[XYChart | Bars3D]:
    return [
        block
        for section in document.sections
        for block in section.blocks
        if isinstance(block, XYChart | Bars3D)
    ]


def plotted_numbers(chart: XYChart | Bars3D) -> set[float]:
    if isinstance(chart, Bars3D):
        return {value for row in chart.values for value in row if value is not None}
    return {
        float(value)
        for series in chart.series
        for value in (*series.x, *series.y)
        if isinstance(value, int | float)
    }


def table_numbers(table: Table) -> set[float]:
    """Return every number of a table, also those of its text cells ("0.5", a block size)."""
    values = [value for row in table.rows for value in row]
    texts = [value for value in values if isinstance(value, str)]
    return {float(value) for value in values if isinstance(value, int | float)} | {
        float(text) for text in texts if text.replace(".", "", 1).isdecimal()
    }


def text_of(document: Document) -> str:
    """Return all words and numbers of a document, one block a line: to read, and to search."""
    header = document.header
    lines = [f"{header.title} | {header.subtitle} | {header.revision} | {header.stamp}"]
    lines += [f"{name}: {value}" for name, value in header.top]
    for group in header.groups:
        lines += [f"[{group.title}] {name}: {value}" for name, value in group.rows]
    for section in document.sections:
        lines.append(f"== {section.label} {section.title}")
        for block in section.blocks:
            lines.append(_text(block))
    return "\n".join(lines)


def _text(block: object) -> str:
    match block:
        case Verdict() | Paragraph():
            return block.text
        case Note():
            return f"! {block.kind}: {block.text} -> {block.remedy}"
        case Facts():
            return "\n".join(f"{name}: {value}" for name, value in block.rows)
        case Table():
            columns = " | ".join(f"{column.name} {column.unit}" for column in block.columns)
            rows = (" | ".join(str(value) for value in row) for row in block.rows[:30])
            return "\n".join([f"table {block.caption} folded={block.folded}", columns, *rows])
        case XYChart():
            names = ", ".join(series.name for series in block.series)
            rules = ", ".join(f"{rule.name} {rule.at}={rule.value:g}" for rule in block.rules)
            spans = ", ".join(f"{s.name} {s.first:g}..{s.last:g}" for s in block.spans)
            return f"chart {block.title}: {names} [{rules}] [{spans}] {block.note}"
        case Headline():
            return f"headline {block.chart.title}"
        case Bars3D():
            return f"bars {block.title}"
        case _:
            raise AssertionError(block)
