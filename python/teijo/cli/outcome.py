"""What a run leaves behind: its file and reports on stdout, its verdict on stderr."""

import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

from teijo.cli import apart, console
from teijo.cli.memory import check_for_report
from teijo.cli.options import Lang, ProgressMode
from teijo.creating import make_folder, replace_atomically
from teijo.errors import HostError, Interrupted, TeijoError, UsageError, host_error
from teijo.outside.text import shell_path
from teijo.speech import tongue

if TYPE_CHECKING:
    from types import FrameType

    from teijo.api import Run
    from teijo.document.model import Document
    from teijo.runner.events import Event, Observer
    from teijo.runner.interrupt import Interrupt

ENDINGS = {"html": ".html", "pdf": ".pdf", "text": ".txt", "csv": "-tables"}
"""How the name of a report goes on after the run file's; tables are a folder of CSV files."""


class Act(Protocol):
    """What runs, is observed, and can be stopped."""

    def __call__(self, *, observer: "Observer", interrupt: "Interrupt") -> "Run":
        """Run to the sealed file."""
        ...


def carry_out(
    act: Act,
    mode: ProgressMode | None,
    name: Callable[[Path], None] = console.name,
    *,
    serve: bool = False,
) -> "Run":
    """Run, telling how it goes; an early end still names the file it leaves, on stdout.

    Signals ask it to stop. `name` is called with that file instead, where stdout has other data.
    With `serve` the run has a page in the browser meanwhile.

    Raises:
        TeijoError: what ended the run early.
        typer.Exit: the same, where a program has read it on stderr as a JSON line.
    """
    from teijo.cli.page import page_beside
    from teijo.cli.progress import telling
    from teijo.cli.signals import heard
    from teijo.runner.events import Ended, RunStarted, Stopping
    from teijo.runner.interrupt import Interrupt

    left: list[Path] = []
    over = threading.Event()
    try:
        with (
            _late_ctrl_c_ignored(over),
            page_beside(mode, wanted=serve) as show,
            telling(mode) as tell,
        ):

            def observer(event: "Event") -> None:
                if isinstance(event, Ended | Stopping):
                    over.set()
                if isinstance(event, Ended):
                    left.append(event.path)
                tell(event)
                if isinstance(event, RunStarted):
                    show(event.path)

            try:
                return act(observer=observer, interrupt=Interrupt(heard))
            except (OSError, MemoryError) as error:
                raise host_error(error) from error
    except TeijoError as error:
        if error.has_stuck_ios:
            apart.note_stuck()
        with suppress(HostError):
            # Nothing that goes wrong with stdout may hide what ended the run.
            for path in left:
                name(path)
        if mode is not ProgressMode.NDJSON:
            raise
        code = error.exit_code
        event = {"event": "error", "message": error.message, "remedy": error.remedy, "code": code}
        console.say_json(event)
        raise typer.Exit(code) from error


@contextmanager
def _late_ctrl_c_ignored(over: threading.Event) -> Iterator[None]:
    """Ignore a second Ctrl-C that comes when the run no longer listens because of the first.

    There is nothing left to stop then, and it would turn the exit code and the last message into
    a kill. `over` is set as soon as the run stops; as long as it listens it hears by itself.
    """

    def handle(number: int, frame: "FrameType | None") -> None:
        if not over.is_set():
            signal.default_int_handler(number, frame)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # what is ignored stays ignored
        yield
        return
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    except Interrupted:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # up to the end of the process
        raise
    except BaseException:
        signal.signal(signal.SIGINT, before)
        raise
    signal.signal(signal.SIGINT, before)


@contextmanager
def folder_for(path: Path, *, wanted: bool) -> Iterator[None]:
    """Make the folder of a run file where it is wanted and not there; a run that ends before it
    leaves a file takes it away again.

    Raises:
        HostError: it cannot be made.
    """
    folder = path.parent
    if not wanted or folder.exists():
        yield
        return
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise HostError(
            f"The folder {folder} cannot be made: {error.strerror}.",
            remedy="Choose another place with -o.",
        ) from error
    try:
        yield
    finally:
        with suppress(OSError):
            for each in made:
                each.rmdir()  # only an empty one can be


def leave(
    run: "Run",
    printers: Sequence[str],
    folder: Path,
    mode: ProgressMode | None = None,
    lang: Lang = Lang.EN,
) -> None:
    """Print the run file's path and those of its reports, one a line; say the verdict.

    Raises:
        HostError: a report cannot be written, or, once they all are, stdout cannot.
    """
    from teijo.device.health.fitness import IN_VAIN

    unnamed: list[HostError] = []

    def name(path: Path) -> None:
        try:
            console.name(path)
        except HostError as error:
            unnamed.append(error)

    name(run.path)
    text = verdict(run)
    if mode is ProgressMode.NDJSON:
        limits = [asdict(each) for each in run.judged]
        event = {"event": "verdict", "converged": run.findings.converged, "text": text}
        console.say_json(event | {"limits": limits} if limits else event)
    else:
        console.say_lines(text)
        if in_vain := run.record.identity.facts.get(IN_VAIN):
            console.say(f"{IN_VAIN}: {in_vain}")
    if printers:
        tell = _tell_json if mode is ProgressMode.NDJSON else _tell
        for path in reports(run.document(), run.path, printers, folder, lang, tell=tell):
            name(path)
    if unnamed:
        raise unnamed[0]
    leave_limits([run])


def leave_limits(runs: "Sequence[Run]") -> None:
    """End with the exit code that says how the limits stand, if any was asked and not all are met.

    Raises:
        typer.Exit: 9 where one is not met, 11 where one cannot be known.
    """
    from teijo.compare.limit import exit_code

    code = exit_code(each for run in runs for each in run.judged)
    if code:
        raise typer.Exit(code)


def _tell(path: Path) -> None:
    console.say(tongue.tr("making {path} …", path=path))


def _tell_json(path: Path) -> None:
    console.say_json({"event": "reporting", "path": str(path)})


def _tell_person(path: Path) -> None:
    """Tell on a terminal only: a short command prints its data and nothing else."""
    if console.width(sys.stderr) is not None:
        _tell(path)


def verdict(run: "Run") -> str:
    """Return how a run ended and what must be said of its numbers, in a few lines."""
    from teijo.document.model import Verdict

    sections = run.document().sections
    verdicts = [one.text for part in sections for one in part.blocks if isinstance(one, Verdict)]
    ending = tongue.said(run.record.run.ending)
    lines = [*map(tongue.reported, verdicts[:1])] or [f"{run.record.run.method}: {ending}"]
    if run.judged:
        from teijo.compare.limit_pages import line_of

        lines += [tongue.reported(line_of(each)) for each in run.judged]
    kinds = Counter(tongue.reported(remark.kind.value) for remark in run.remarks)
    if kinds:
        counted = (f"{kind} ({count})" if count > 1 else kind for kind, count in kinds.items())
        lines.append(tongue.tr("remarks: {kinds}", kinds=", ".join(counted)))
    return "\n".join(lines)


def reports(
    document: "Document",
    run_file: Path,
    printers: Sequence[str],
    folder: Path,
    lang: Lang = Lang.EN,
    *,
    tell: Callable[[Path], None] = _tell_person,
) -> list[Path]:
    """Write a document by each printer; return the paths, named after the run file.

    Raises:
        HostError: it cannot be written there.
    """
    remedy = f"The run is safe. Elsewhere: teijo report {shell_path(run_file)} -o DIR"
    return print_all(document, run_file.stem, printers, folder, lang, remedy=remedy, tell=tell)


def print_all(
    document: "Document",
    stem: str,
    printers: Sequence[str],
    folder: Path,
    lang: Lang = Lang.EN,
    *,
    remedy: str = "Choose another folder with -o DIR.",
    tell: Callable[[Path], None] = _tell_person,
) -> list[Path]:
    """Write a document by each printer; return the paths, named STEM and what the printer adds.

    A report in another language than English is named after it, so that both may lie there.
    `tell` is called before each is made: that takes seconds.

    Raises:
        HostError: it cannot be written there.
    """
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for printer in printers:
            tongue = "" if lang is Lang.EN or printer == "csv" else f".{lang.value}"
            path = folder / (stem + tongue + ENDINGS[printer])
            tell(path)
            print_one(document, printer, path, lang)
            paths.append(path)
    except OSError as error:
        raise HostError(
            f"Cannot write the report to {folder}: {error.strerror}", remedy=remedy
        ) from error
    return paths


def write_data(path: Path, data: bytes) -> None:
    """Write what is for programs beside the reports, in a folder that is made if need be.

    Raises:
        HostError: it cannot be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_atomically(path, data)
    except OSError as error:
        raise HostError(
            f"Cannot write the report to {path.parent}: {error.strerror}",
            remedy="Choose another folder with -o DIR.",
        ) from error


def print_to_stdout(document: "Document", printer: str, lang: Lang = Lang.EN) -> None:
    """Write a report of one file to stdout.

    Raises:
        UsageError: it is binary, and stdout is a terminal.
    """
    from teijo.report.language import Language

    check_for_report(printer)
    language = Language(lang.value)
    match printer:
        case "text":
            from teijo.report import text

            console.put_lines(text.render(document, language=language).rstrip("\n"))
        case "html":
            from teijo.report import html

            console.put_bytes(html.render(document, language).encode())
        case "pdf":
            if console.width(sys.stdout) is not None:
                raise UsageError(
                    "A PDF is binary, and stdout is a terminal",
                    remedy="Name a folder with -o, or lead stdout to a file: > report.pdf",
                )
            from teijo.report import pdf

            console.put_bytes(pdf.render(document, language))
        case _:
            raise AssertionError(printer)


def print_one(document: "Document", printer: str, path: Path, lang: Lang = Lang.EN) -> None:
    """Write a document by one printer. CSV becomes a folder with one file a table, in English."""
    from teijo.report.language import Language

    check_for_report(printer)
    language = Language(lang.value)
    match printer:
        case "html":
            from teijo.report import html

            replace_atomically(path, html.render(document, language).encode())
        case "pdf":
            from teijo.report import pdf

            replace_atomically(path, pdf.render(document, language))
        case "text":
            from teijo.report import text

            replace_atomically(path, text.render(document, language=language).encode())
        case "csv":
            from teijo.report import csv

            make_folder(path)
            for name, body in csv.render(document).items():
                replace_atomically(path / name, body.encode())
        case _:
            raise AssertionError(printer)
