"""The verb `report`: print the report of run files once more, sealed or still growing."""

from pathlib import Path
from typing import Annotated

import typer

from teijo.cli import talk
from teijo.cli.options import Lang, ReportLang, printers_from
from teijo.errors import UsageError

EXAMPLES = (
    "teijo report run.teijo                       run.html and run.pdf beside it",
    "teijo report *.teijo --format pdf -o out     one PDF each, in the folder out",
    "teijo report run.teijo --format text         to read here and now",
    "teijo report run.teijo --lang ja             run.ja.html and run.ja.pdf, in Japanese",
    "teijo report run.teijo --spec 1.1-enterprise judged by another version of the standard",
)


def verb(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Run files, sealed or growing.")
    ],
    form: Annotated[
        str, typer.Option("--format", metavar="FORMATS", help="html,pdf,text,csv.")
    ] = "html,pdf",
    spec: Annotated[
        str,
        typer.Option(
            "--spec", metavar="VERSION", help="Judge the run by another version of its standard."
        ),
    ] = "",
    lang: ReportLang = Lang.EN,
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
        name = file
        if spec:
            run = api.rescore(run, spec)
            name = file.with_stem(f"{file.stem}-{run.record.run.spec}")
        if output is None and printers == ("text",):
            from teijo.report import text
            from teijo.report.language import Language

            told = text.render(run.document(), language=Language(lang.value))
            talk.put(told.rstrip("\n"))
            continue
        for path in reports(run.document(), name, printers, output or file.parent, lang):
            talk.put(str(path))
