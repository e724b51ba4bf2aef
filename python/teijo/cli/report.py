"""The verb `report`: print the report of run files once more, sealed or still growing."""

from pathlib import Path
from typing import Annotated

import typer

from teijo.cli import talk
from teijo.cli.options import printers_from
from teijo.errors import UsageError

EXAMPLES = (
    "teijo report run.teijo                       run.html and run.pdf beside it",
    "teijo report *.teijo --format pdf -o out     one PDF each, in the folder out",
    "teijo report run.teijo --format text         to read here and now",
)


def verb(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Run files, sealed or growing.")
    ],
    form: Annotated[
        str, typer.Option("--format", metavar="FORMATS", help="html,pdf,text,csv.")
    ] = "html,pdf",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="DIR", help="The folder. [default: where the run file is]"
        ),
    ] = None,
) -> None:
    """Print the report of each FILE; the paths go to stdout, one a line."""
    printers = printers_from(form)
    if not printers:
        raise UsageError("no format is named", remedy="Name some: --format html,pdf")

    from teijo import api
    from teijo.cli.outcome import reports

    for file in files:
        run = api.open(file)
        if output is None and printers == ("text",):
            from teijo.report import text

            talk.put(text.render(run.document()).rstrip("\n"))
            continue
        for path in reports(run.document(), run.path, printers, output or file.parent):
            talk.put(str(path))
