"""The report of classic.bonnie: what Bonnie++ prints first, then each phase as it was."""

from teijo import units
from teijo.document import model
from teijo.document.phrase import say
from teijo.methods.classic.bonnie.found import BonnieFound
from teijo.methods.classic.phase_pages import fastest_line, sections_of
from teijo.methods.report import study_report

_BLOCKS = ("put_block", "rewrite", "get_block")


def pages(found: BonnieFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    settings = found.settings
    return study_report(
        found,
        title=say("Bonnie++ {version}", version=settings.like),
        subtitle=found.record.identity.target,
        group="Bonnie++",
        test=_asked(found),
        sections=sections_of(found, headline(found), short_is_hidden=True),
        empty="Nothing was measured yet.",
    )


def headline(found: BonnieFound) -> str:
    """Return the fastest phase on the large file in one line, or how fast files are created."""
    best = fastest_line(found, _BLOCKS)
    if best is not None:
        return best
    turns = found.turns.get("seq_create", ())
    if not turns:
        return "No phase has ended yet."
    rate = turns[-1].alone.iops
    return say("{rate:,.0f} files are created in a second", rate=rate)


def _asked(found: BonnieFound) -> tuple[tuple[str, str], ...]:
    settings = found.settings
    rows = [("Strict", settings.strict), ("Passes", str(settings.passes))]
    if settings.size_bytes:
        rows += [
            ("File", units.format_size(settings.size_bytes)),
            ("Chunk", units.format_size(settings.chunk_bytes)),
            (
                "Seeks",
                say("{count:,} by {seekers}", count=settings.seeks, seekers=settings.seekers),
            ),
        ]
    if settings.files:
        rows.append(("Files", f"{settings.files:,}"))
    return tuple(rows)
