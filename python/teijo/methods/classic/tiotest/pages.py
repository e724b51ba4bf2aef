"""The report of classic.tiotest and classic.tiobench: their own figures, then each phase."""

from teijo import units
from teijo.document import model
from teijo.document.phrase import Verbatim
from teijo.methods.classic.phase_pages import fastest_line, sections_of
from teijo.methods.classic.tiotest.found import TioFound
from teijo.methods.report import study_report


def pages(found: TioFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    single = len(found.settings.combinations) == 1
    name = Verbatim("tiotest" if single else "tiobench")
    return study_report(
        found,
        title=name,
        subtitle=found.record.identity.target,
        group=name,
        test=_asked(found),
        sections=sections_of(found, headline(found), short_is_hidden=False),
        empty="Nothing was measured yet.",
    )


def headline(found: TioFound) -> str:
    """Return the fastest phase in one line."""
    return fastest_line(found, tuple(found.turns)) or "No phase has ended yet."


def _asked(found: TioFound) -> tuple[tuple[str, str], ...]:
    settings, each = found.settings, found.settings.combinations
    sizes = dict.fromkeys(units.format_size(one.size_bytes) for one in each)
    blocks = dict.fromkeys(units.format_size(one.block_bytes) for one in each)
    threads = dict.fromkeys(str(one.threads) for one in each)
    return (
        ("Strict", settings.strict),
        ("Passes", str(settings.passes)),
        ("Files together", ", ".join(sizes)),
        ("Blocks", ", ".join(blocks)),
        ("Threads", ", ".join(threads)),
    )
