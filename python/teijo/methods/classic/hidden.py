"""The page *What this number hides*: what a classic tool's number has in it besides the device.

Each thing is looked for in the record of this run, with a size; none is recited. The checks of
block work are in `hidden_checks.py`; work on files and statements brings its own.
"""

from collections.abc import Sequence
from typing import Final

from teijo.document import model
from teijo.document.phrase import say, sentences
from teijo.methods.classic import hidden_caches
from teijo.methods.classic import hidden_checks as checks
from teijo.methods.classic.hidden_entry import Hidden
from teijo.methods.found import Pick
from teijo.terms.record import Record

__all__ = ["SIZE_ROW", "TITLE", "Hidden", "entries", "hidden_in", "section"]

TITLE: Final = "What this number hides"
SIZE_ROW: Final = 1
"""Which row of an entry on the page has its size."""


def entries(record: Record, *, pick: Pick) -> tuple[Hidden, ...]:
    """Return everything that was looked for in the block work of a record, with its size.

    `pick` is which of its passes the method's first number is of.
    """
    found: list[Hidden] = [
        *checks.revisits(record),
        *checks.repeated_offsets(record),
        *checks.unwritten(record),
        *hidden_caches.medium(record),
        *checks.content(record),
        *checks.order(record),
        *hidden_caches.caches(record),
    ]
    if pick == "best":
        found += checks.best_of(record)
    return tuple(found)


def hidden_in(found: Sequence[Hidden]) -> tuple[Hidden, ...]:
    """Return what this run hides."""
    return tuple(each for each in found if each.found == "hidden")


def section(found: Sequence[Hidden]) -> model.Section:
    """Return the page: what is hidden, each with its size; then what was looked at besides."""
    shown = hidden_in(found)
    clear = [each.size for each in found if each.found == "clear"]
    unknown = [each.size for each in found if each.found == "unknown"]
    blocks: list[model.Block] = [
        model.Facts(
            caption=each.name,
            rows=(
                ("What it is", each.what),
                ("In this run", each.size),
                ("How that follows", each.because),
                ("With strict=on", each.strict),
            ),
        )
        for each in shown
    ]
    if clear and not shown:
        checked = say("Nothing that was looked for is hidden: {sizes}", sizes=sentences(clear))
        blocks.append(model.Paragraph(text=checked))
    elif clear:
        checked = say("Looked for, and not found: {sizes}", sizes=sentences(clear))
        blocks.append(model.Paragraph(text=checked))
    if unknown:
        blocks.append(
            model.Paragraph(text=say("Not known here: {sizes}", sizes=sentences(unknown)))
        )
    if not blocks:
        blocks.append(model.Paragraph(text="Nothing of this run could be looked at."))
    return model.Section(title=TITLE, blocks=tuple(blocks))
