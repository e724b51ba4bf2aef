"""The verb `lake`: many run files as tables: add them, ask in SQL, report, compact, make anew."""

import csv
import io
import os
import sys
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teijo.cli import console
from teijo.cli.options import Lang, Recursive, ReportLang, printers_from, to_stdout
from teijo.errors import UsageError
from teijo.speech import tongue

if TYPE_CHECKING:
    from teijo.lake.adding import Added
    from teijo.lake.lake import Lake

EXAMPLES = (
    "teijo lake add results -r                    every run file of a folder, each once",
    'teijo lake sql "FROM throttled_runs"         a question, in SQL',
    'teijo lake sql "FROM runs" --format parquet -o runs.parquet',
    "teijo lake report -o out                     the five views as HTML and PDF",
    "teijo lake compact                           few large files, for short answers",
    "teijo lake add results --lake s3://bucket/lake",
)
_PLACE = "TEIJO_LAKE"
_USUAL = "teijo-lake"
_REFUSED = 2
"""The exit code where a file was refused: that of what is no run file."""
_DIGITS = 6
"""Significant digits of a number in a table; CSV, JSON and Parquet have all of them."""


class Action(StrEnum):
    """What is done with a lake."""

    ADD = "add"
    SQL = "sql"
    REPORT = "report"
    COMPACT = "compact"
    REBUILD = "rebuild"


What = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="WHAT...", help="Folders or run files to add or rebuild from; for sql a SELECT."
    ),
]
Place = Annotated[
    str | None,
    typer.Option(
        "--lake",
        metavar="PLACE",
        help="A folder, or s3://BUCKET/PREFIX. [default: TEIJO_LAKE, else teijo-lake]",
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="For sql: table, csv, json or parquet. [default: table] For report: "
        "html,pdf,text,csv. [default: html,pdf; with -o - text]",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="PATH",
        help="For sql a file; for report the folder, or - for stdout. [default: stdout, and "
        "the present folder]",
    ),
]


def verb(
    action: Annotated[
        Action,
        typer.Argument(metavar="ACTION", help="One of: add, sql, report, compact, rebuild."),
    ],
    what: What = None,
    place: Place = None,
    recursive: Recursive = False,
    drop_missing: Annotated[
        bool,
        typer.Option(
            "--drop-missing", help="For rebuild: let runs go whose run files are not there."
        ),
    ] = False,
    form: Form = None,
    output: Output = None,
    memory: Annotated[
        str, typer.Option("--memory", metavar="SIZE", help="What a question may take of memory.")
    ] = "4GiB",
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, help="How many threads a question has. [default: all]"),
    ] = None,
    lang: ReportLang = Lang.EN,
) -> int:
    """Keep what many run files say as Parquet tables, and ask them in SQL (DuckDB).

    The run files stay the truth: a lake is made from them anew at any time. A file that is not
    sealed, or contradicts itself, is refused by its name (exit code 2), and the others are added.
    """
    words = list(what or ())
    _check_words(action, words)
    lake = _lake(place, memory, threads)
    match action:
        case Action.ADD:
            return _add(lake, words, recursive=recursive)
        case Action.REBUILD:
            return _rebuild(lake, words, recursive=recursive, drop_missing=drop_missing)
        case Action.SQL:
            _sql(lake, words[0], form or "table", output)
        case Action.REPORT:
            _report(lake, form, output, lang)
        case Action.COMPACT:
            _compact(lake)
    return 0


def _check_words(action: Action, words: list[str]) -> None:
    match action:
        case Action.ADD | Action.REBUILD if not words:
            raise UsageError(
                "No folder is named", remedy=f"Name some: teijo lake {action.value} DIR"
            )
        case Action.SQL if len(words) != 1:
            raise UsageError(
                f"A lake is asked one question, and {len(words)} words are there",
                remedy='Put it in quotation marks: teijo lake sql "FROM runs"',
            )
        case Action.REPORT | Action.COMPACT if words:
            raise UsageError(
                f"{words[0]!r} is one word too many for teijo lake {action.value}",
                remedy="Name the lake by its option: --lake PLACE",
            )
        case _:
            pass


def _lake(place: str | None, memory: str, threads: int | None) -> "Lake":
    from teijo import api
    from teijo.units import parse_size

    try:
        memory_bytes = parse_size(memory)
    except ValueError as error:
        raise UsageError(f"--memory: {error}", remedy="Write it like 4GiB.") from error
    named = place or os.environ.get(_PLACE) or _USUAL
    return api.lake(named, memory_bytes=memory_bytes, threads=threads)


# --- add, rebuild, compact --------------------------------------------------------------------


def _add(lake: "Lake", words: list[str], *, recursive: bool) -> int:
    return _leave(lake.add(words, recursive=recursive, processes=_processes(), tell=_tell))


def _rebuild(lake: "Lake", words: list[str], *, recursive: bool, drop_missing: bool) -> int:
    added = lake.rebuild(
        words,
        recursive=recursive,
        drop_missing=drop_missing,
        processes=_processes(),
        tell=_tell,
    )
    return _leave(added)


def _processes() -> int:
    """Return how many processors there are for this process."""
    return len(os.sched_getaffinity(0))


def _tell(done: int, files: int) -> None:
    """Tell a person how far it is; a short command tells nothing."""
    if done < files and console.width(sys.stderr) is not None:
        console.say(tongue.tr("{done} of {files} run files read", done=done, files=files))


def _leave(added: "Added") -> int:
    for each in added.refused:
        why = tongue.said(each.why)
        console.say(tongue.tr("refused: {path}: {why}", path=each.path, why=why))
    if added.unsealed:
        console.say(tongue.tr("{count} left out: their runs are not sealed", count=added.unsealed))
    told = "{runs} runs added, {there} were there already, {refused} refused"
    console.put(tongue.tr(told, runs=added.runs, there=added.there, refused=len(added.refused)))
    return _REFUSED if added.refused else 0


def _compact(lake: "Lake") -> None:
    from teijo.units import format_size

    done = lake.compact()
    told = "{runs} runs: {files_before} files of {before} are {files} of {now}"
    sizes = {"before": format_size(done.bytes_before), "now": format_size(done.bytes)}
    console.put(
        tongue.tr(told, runs=done.runs, files_before=done.files_before, files=done.files, **sizes)
    )


# --- sql --------------------------------------------------------------------------------------


def _sql(lake: "Lake", question: str, form: str, output: Path | None) -> None:
    writers = {"table": _as_table, "csv": _as_csv, "json": _as_json, "parquet": _as_parquet}
    if form not in writers:
        raise UsageError(
            f"{form!r} is no format of an answer", remedy=f"The formats are {', '.join(writers)}."
        )
    if form == "parquet" and output is None and sys.stdout.isatty():
        raise UsageError(
            "Parquet is binary and stdout is a terminal",
            remedy="Give a file: --format parquet -o answer.parquet",
        )
    answer = lake.sql(question)
    if form == "table" and output is None:
        head = tuple(answer.column_names)
        rows = [tuple(_shown(value) for value in row.values()) for row in answer.to_pylist()]
        for line in console.columns(head, rows):
            console.put(line)
        return
    data = writers[form](answer)
    if output is None:
        console.put_bytes(data)
        return
    from teijo.cli.export import written

    written(output, data)
    console.put(str(output))


def _as_table(answer: Any) -> bytes:
    """Return what a terminal is shown, for a file."""
    from teijo.outside.text import visible

    rows = [answer.column_names, *([*row.values()] for row in answer.to_pylist())]
    lines = ("  ".join(visible(_shown(value)) for value in row) for row in rows)
    return ("\n".join(lines) + "\n").encode()


def _as_csv(answer: Any) -> bytes:
    from teijo.outside.text import spreadsheet_cell

    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(answer.column_names)
    for row in answer.to_pylist():
        cells = (_plain(value) for value in row.values())
        writer.writerow(
            [spreadsheet_cell(each) if isinstance(each, str) else each for each in cells]
        )
    return target.getvalue().encode()


def _as_json(answer: Any) -> bytes:
    rows = [{name: _plain(value) for name, value in row.items()} for row in answer.to_pylist()]
    return (console.as_json(rows, indent=2) + "\n").encode()


def _as_parquet(answer: Any) -> bytes:
    from pyarrow import parquet

    target = io.BytesIO()
    parquet.write_table(answer, target)
    return target.getvalue()


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: a date as ISO 8601, what is not a number as null."""
    if isinstance(value, Decimal):  # of a literal, and of a sum of whole numbers
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    plain = _plain(value)
    return f"{plain:.{_DIGITS}g}" if isinstance(plain, float) else str(plain)


# --- report -----------------------------------------------------------------------------------


def _report(lake: "Lake", form: str | None, output: Path | None, lang: Lang) -> None:
    printers = printers_from(form if form is not None else "html,pdf")
    if not printers:
        raise UsageError("No format is named", remedy="Name some: --format html,pdf")
    alone = to_stdout(output, form, printers)

    from teijo.cli.outcome import print_all, print_to_stdout

    document = lake.document()
    if alone:
        print_to_stdout(document, alone, lang)
        return
    for path in print_all(document, document.name, printers, output or Path(), lang):
        console.put(str(path))
