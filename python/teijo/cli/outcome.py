"""What a run leaves behind: its file and reports on stdout, its verdict on stderr."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from teijo.cli import talk
from teijo.cli.options import ProgressMode
from teijo.errors import HostError, TeijoError

if TYPE_CHECKING:
    from teijo.api import Run
    from teijo.document.model import Document
    from teijo.runner.events import Event, Observer

ENDINGS = {"html": ".html", "pdf": ".pdf", "text": ".txt", "csv": "-tables"}
"""How the name of a report goes on after the run file's; tables are a folder of CSV files."""


def carry_out(act: "Callable[[Observer], Run]", mode: ProgressMode | None) -> "Run":
    """Run, telling how it goes; an early end still names the file it leaves on stdout.

    Raises:
        TeijoError: what ended the run early.
    """
    from teijo.cli.progress import telling
    from teijo.runner.events import Ended

    left: list[Path] = []
    try:
        with telling(mode) as tell:

            def observer(event: "Event") -> None:
                if isinstance(event, Ended):
                    left.append(event.path)
                tell(event)

            return act(observer)
    except TeijoError:
        for path in left:
            talk.put(str(path))
        raise


def leave(run: "Run", printers: Sequence[str], folder: Path) -> None:
    """Print the run file's path and those of its reports, one a line; say the verdict."""
    talk.put(str(run.path))
    talk.say(verdict(run))
    if printers:
        for path in reports(run.document(), run.path, printers, folder):
            talk.put(str(path))


def verdict(run: "Run") -> str:
    """Return how a run ended and what must be said of its numbers, in a few lines."""
    found, record = run.findings, run.record
    match found.converged:
        case True:
            window = found.window_rounds
            rounds = f", rounds {window[0]} to {window[1]}" if window else ""
            lines = [f"STEADY STATE: YES{rounds}"]
        case False:
            lines = [f"STEADY STATE: NO, after {found.rounds} rounds"]
        case None:
            lines = [f"{record.run.method}: {record.run.ending}"]
    kinds: dict[str, int] = {}
    for remark in run.remarks:
        kinds[remark.kind.value] = kinds.get(remark.kind.value, 0) + 1
    if kinds:
        counted = (f"{kind} ({count})" if count > 1 else kind for kind, count in kinds.items())
        lines.append("remarks: " + ", ".join(counted))
    return "\n".join(lines)


def reports(
    document: "Document", run_file: Path, printers: Sequence[str], folder: Path
) -> list[Path]:
    """Write a document by each printer; return the paths, named after the run file.

    Raises:
        HostError: it cannot be written there.
    """
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for printer in printers:
            path = folder / (run_file.stem + ENDINGS[printer])
            print_one(document, printer, path)
            paths.append(path)
    except OSError as error:
        raise HostError(
            f"cannot write the report to {folder}: {error.strerror}",
            remedy=f"The run is safe. Elsewhere: teijo report {run_file} -o DIR",
        ) from error
    return paths


def print_one(document: "Document", printer: str, path: Path) -> None:
    """Write a document by one printer. CSV becomes a folder with one file a table."""
    match printer:
        case "html":
            from teijo.report import html

            path.write_text(html.render(document), encoding="utf-8")
        case "pdf":
            from teijo.report import pdf

            path.write_bytes(pdf.render(document))
        case "text":
            from teijo.report import text

            path.write_text(text.render(document), encoding="utf-8")
        case "csv":
            from teijo.report import csv

            path.mkdir(exist_ok=True)
            for name, body in csv.render(document).items():
                (path / name).write_text(body, encoding="utf-8")
        case _:
            raise AssertionError(printer)
