"""What every report outside a standard is made of: its header, its sections, the appendix."""

from collections.abc import Collection, Sequence
from typing import Any

from teijo.document.model import Document, Header, HeaderGroup, Paragraph, Section
from teijo.methods.found import Found
from teijo.methods.pages import assemble, device_group, run_rows, stamp_of
from teijo.methods.scaled import at_full_size
from teijo.terms.record import Record

Rows = Sequence[tuple[str, str]]


def study_report(
    found: Found[Any],
    *,
    title: str,
    subtitle: str,
    test: Rows,
    sections: Sequence[Section],
    empty: str = "",
    group: str = "Study",
    device: Rows = (),
    preparation: Rows = (),
    full_size: Collection[str] = (),
    record: Record | None = None,
) -> Document:
    """Return the whole report; it says `empty` where there are no sections yet.

    The header has the run, then groups of rows: `device` (the usual ones if there are none),
    `preparation` if there are any, and `test` under the title `group`. Numbers in the units
    `full_size` are of the drive that a scaled device is simulated for. `record` is what the
    appendix prints where it is not quite the found one.
    """
    record = record or found.record
    dut = HeaderGroup(title="Device", tone="dut", rows=tuple(device))
    prepared = HeaderGroup(title="Preparation", tone="preparation", rows=tuple(preparation))
    header = Header(
        title=title,
        subtitle=subtitle,
        organisation="",
        revision="",
        top=run_rows(record),
        groups=(
            dut if device else device_group(record),
            *((prepared,) if preparation else ()),
            HeaderGroup(title=group, tone="test", rows=tuple(test)),
        ),
        stamp=stamp_of(record),
    )
    shown = tuple(sections) or (Section(title="Result", blocks=(Paragraph(text=empty),)),)
    if full_size:
        shown = at_full_size(shown, record.geometry, full_size)
    return assemble(record, found.settings, header, shown)
