"""The verb `report`: print the report of run files once more, sealed or still growing."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from teijo.cli import console
from teijo.cli.options import Lang, Limits, ReportLang, printers_from, to_stdout
from teijo.errors import UsageError

if TYPE_CHECKING:
    from teijo.api import Run

EXAMPLES = (
    "teijo report run.teijo                       run.html and run.pdf beside it",
    "teijo report *.teijo --format pdf -o out     one PDF each, in the folder out",
    "teijo report run.teijo --format text         to read here and now",
    "teijo report run.teijo --lang ja             run.ja.html and run.ja.pdf, in Japanese",
    "teijo report run.teijo --spec 1.1-enterprise judged by another version of the standard",
    "teijo report run.teijo --limit 'iops[0/100,4KiB] >= 6000'   exit code 9 if it is not met",
    "teijo report all.teijo --each                a report of its own for each test of a campaign",
)


def verb(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Run files, sealed or growing.")
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMATS",
            help="html,pdf,text,csv. [default: html,pdf; with -o - text]",
        ),
    ] = None,
    spec: Annotated[
        str,
        typer.Option(
            "--spec", metavar="VERSION", help="Judge the run by another version of its standard."
        ),
    ] = "",
    each: Annotated[
        bool, typer.Option("--each", help="Of a campaign, each test's report by itself.")
    ] = False,
    limit: Limits = None,
    lang: ReportLang = Lang.EN,
    signers: Annotated[
        Path | None,
        typer.Option(
            "--signers",
            metavar="FILE",
            help="Say by whom of these a file is signed: ssh-keygen's ALLOWED SIGNERS.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="The folder, or - for stdout. [default: where the run file is]",
        ),
    ] = None,
) -> None:
    """Print the report of each FILE; the paths go to stdout, one a line."""
    printers = printers_from("html,pdf" if form is None else form)
    if not printers:
        raise UsageError("No format is named", remedy="Name some: --format html,pdf")
    alone = to_stdout(output, form, printers)
    if alone in ("html", "pdf") and (len(files) > 1 or each):
        raise UsageError(
            f"Several reports in {alone} cannot go to stdout (-o -)", remedy="Name one FILE."
        )

    from teijo.cli.outcome import leave_limits, print_to_stdout, reports

    reported = []
    for file in files:
        for run, name in _runs(file, spec, limit or (), signers, each=each):
            reported.append(run)
            if alone or (output is None and printers == ("text",)):
                print_to_stdout(run.document(), alone or "text", lang)
                continue
            for path in reports(run.document(), name, printers, output or file.parent, lang):
                console.put(str(path))
    leave_limits(reported)


def _runs(
    file: Path, spec: str, limits: Sequence[str], signers: Path | None, *, each: bool
) -> "list[tuple[Run, Path]]":
    """Return what is to be reported of a file, with the name of its reports."""
    from teijo import api

    run = api.open(file, signers=signers).within(limits)
    named = [("", run)] if not each else list(api.parts(run).items())
    files = []
    for part, one in named:
        stem = f"{file.stem}-{part.replace(' ', '-').replace('%', 'pct')}" if part else file.stem
        if spec:
            one = api.rescore(one, spec)
            stem = f"{stem}-{one.record.run.spec}"
        files.append((one, file.with_stem(stem)))
    return files
