"""The verb `compare`: two to 24 runs side by side, every difference with its interval."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teijo.cli import console
from teijo.cli.options import Json, Lang, ReportLang, is_there, printers_from, to_stdout
from teijo.errors import UsageError

if TYPE_CHECKING:
    from teijo.api import Run
    from teijo.compare.comparison import Comparison

EXAMPLES = (
    "teijo compare before.teijo after.teijo        what a new firmware, or a year, has changed",
    "teijo compare a.teijo b.teijo c.teijo -o out  each of the others against the first",
    "teijo compare old=1.teijo old=2.teijo new=3.teijo new=4.teijo    runs that repeat each other",
    "teijo compare a.teijo b.teijo --allow oio     let them differ, and say so on every page",
    "teijo compare a.teijo b.teijo --json | jq '.tests[].pairings[].all_cells'",
)


def verb(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Two to 24 run files. NAME=FILE names a side; several of one name repeat "
            "each other.",
        ),
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMATS",
            help="html,pdf,text,csv. [default: html,pdf; with --json none, with -o - text]",
        ),
    ] = None,
    allow: Annotated[
        str,
        typer.Option(
            "--allow",
            metavar="WORDS",
            help="What may differ: spec,oio,range,amount,content,minute,engine or a setting.",
        ),
    ] = "",
    lang: ReportLang = Lang.EN,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="The folder, or - for stdout. [default: where the first FILE is]",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare runs of one test or of campaigns: convergence, curves, and what differs, with 95 %.

    The others are held against the first. Runs that were not made alike are refused (exit 2),
    unless what differs is named.
    """
    printers = printers_from(form if form is not None else "none" if as_json else "html,pdf")
    if not printers and not as_json:
        raise UsageError("No format is named", remedy="Name some: --format html,pdf")
    alone = to_stdout(output, form, printers, as_json=as_json)

    from teijo import api
    from teijo.cli.outcome import print_all, print_to_stdout

    runs = _runs(files)
    words = [word for word in allow.split(",") if word.strip()]
    comparison = api.compare(runs, allow=words)
    if as_json:
        console.put_json(_json(comparison))
    document = api.comparison_document(comparison)
    if alone:
        print_to_stdout(document, alone, lang)
        return
    if output is None and printers == ("text",):
        from teijo.report import text
        from teijo.report.language import Language

        page = text.render(document, language=Language(lang.value)).rstrip("\n")
        # With --json nothing else may be on stdout: a program reads it.
        (console.say_lines if as_json else console.put_lines)(page)
        return
    first = next(iter(runs.values()))[0] if isinstance(runs, dict) else runs[0]
    for path in print_all(document, document.name, printers, output or first.path.parent, lang):
        (console.say if as_json else console.put)(str(path))


def _json(comparison: "Comparison") -> dict[str, Any]:
    from teijo.compare.for_programs import comparison_json

    return comparison_json(comparison)


def _runs(texts: Sequence[str]) -> "list[Run] | dict[str, list[Run]]":
    """Return the runs, by the names of their sides where names are given."""
    from teijo import api
    from teijo.api.comparing import sided

    return sided((name, api.open(path)) for name, path in map(_named, texts))


def _named(text: str) -> tuple[str, Path]:
    """Return NAME and FILE of "NAME=FILE"; a file whose own name has a "=" is a file."""
    name, equals, path = text.partition("=")
    if equals and name and "/" not in name and not is_there(Path(text)):
        return name, Path(path)
    return "", Path(text)
