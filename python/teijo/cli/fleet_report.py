"""The verb `fleet report`: one report of many drives, each with a run file of its own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from teijo.cli import console
from teijo.cli.options import (
    PRINTERS,
    STDOUT,
    Json,
    Lang,
    Limits,
    ReportLang,
    printers_from,
    to_stdout,
)
from teijo.errors import UsageError

if TYPE_CHECKING:
    from teijo.compare.fleet.findings import Fleet

VERB: Final = "fleet report"
JSON: Final = "json"
"""A format that is for programs, beside those of a report."""
EXAMPLES = (
    "teijo fleet report results                    every run file in a folder and below it",
    "teijo fleet report *.teijo --format text      to read here and now",
    "teijo fleet report lab --fleet spring -o out  one fleet of several, into the folder out",
    "teijo fleet report results --limit 'iops[0/100,4KiB] >= 6000'   exit code 9 if one misses it",
    "teijo fleet report results --json | jq '.differ.drives'",
)


def verb(
    places: Annotated[
        list[Path],
        typer.Argument(metavar="PLACE...", help="Run files, or folders with run files."),
    ],
    fleet: Annotated[
        str,
        typer.Option("--fleet", metavar="NAME", help="Which fleet, where the runs are of several."),
    ] = "",
    limit: Limits = None,
    allow: Annotated[
        str,
        typer.Option(
            "--allow",
            metavar="WORDS",
            help="What may differ between drives: model,capacity,spec,oio,engine or a setting.",
        ),
    ] = "",
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMATS",
            help="html,pdf,text,csv,json. [default: html,pdf; with --json none, with -o - text]",
        ),
    ] = None,
    lang: ReportLang = Lang.EN,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="The folder, or - for stdout. [default: the first PLACE, or where it is]",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Report many drives at once: which differ, by what, and how they stand to limits.

    Each drive has a run of its own, all of one method and made alike; what was made otherwise is
    left out, and the report says why. Runs that name a fleet (--group fleet=NAME) are told apart
    by it. Drives are named as different so that a fleet of equal drives has one named in about 5
    of 100 cases.
    """
    if form == JSON and str(output or "") == STDOUT:
        form, output, as_json = None, None, True
    printers, writes_json = _formats(form, as_json=as_json)
    alone = to_stdout(output, form, printers, as_json=as_json)

    from teijo import api

    found = api.fleet_report(
        places, fleet=fleet, limits=limit or (), allow=[word for word in allow.split(",") if word]
    )
    if as_json:
        console.put_json(_json(found))
    _print(found, places[0], printers, alone, lang, output, as_json=as_json)
    if writes_json:
        _write_json(found, _folder(places[0], output))
    if found.exit_code:
        raise typer.Exit(found.exit_code)


def _formats(form: str | None, *, as_json: bool) -> tuple[tuple[str, ...], bool]:
    """Return the printers that are asked for, and whether JSON is to be a file.

    Raises:
        UsageError: a name is none of them, or there is none.
    """
    text = form if form is not None else "none" if as_json else "html,pdf"
    names = [name.strip().lower() for name in text.split(",")]
    others = ",".join(name for name in names if name != JSON)
    try:
        printers = printers_from(others)
    except UsageError as error:
        raise UsageError(
            error.message, remedy=f"The formats are {', '.join(PRINTERS)}, json, and none."
        ) from error
    writes_json = JSON in names
    if not (printers or writes_json or as_json):
        raise UsageError("No format is named", remedy="Name some: --format html,pdf")
    return printers, writes_json


def _print(
    fleet: "Fleet",
    first: Path,
    printers: tuple[str, ...],
    alone: str,
    lang: Lang,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print the report, to stdout or as files."""
    if not printers:
        return
    from teijo import api
    from teijo.cli.outcome import print_all, print_to_stdout

    document = api.fleet_document(fleet)
    if alone:
        print_to_stdout(document, alone, lang)
    elif output is None and printers == ("text",):
        from teijo.report import text
        from teijo.report.language import Language

        page = text.render(document, language=Language(lang.value)).rstrip("\n")
        # With --json nothing else may be on stdout: a program reads it.
        (console.say_lines if as_json else console.put_lines)(page)
    else:
        folder = _folder(first, output)
        for path in print_all(document, document.name, printers, folder, lang):
            (console.say if as_json else console.put)(str(path))


def _folder(first: Path, output: Path | None) -> Path:
    return output or (first if first.is_dir() else first.parent)


def _json(fleet: "Fleet") -> object:
    from teijo.compare.fleet.for_programs import fleet_json

    return fleet_json(fleet)


def _write_json(fleet: "Fleet", folder: Path) -> None:
    """Write the JSON beside the reports; raises as `write_data`."""
    from teijo.cli.outcome import write_data
    from teijo.compare.fleet.pages import document_name

    path = folder / f"{document_name(fleet)}.json"
    write_data(path, console.as_json(_json(fleet), indent=2).encode())
    console.put(str(path))
