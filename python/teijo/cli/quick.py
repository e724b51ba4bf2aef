"""The verb `quick`: a first look at a target in about a minute, as a table."""

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from teijo.cli import console, options
from teijo.speech import tongue

if TYPE_CHECKING:
    from teijo.api import Run

EXAMPLES = (
    "teijo quick .                                  the drive this folder is on",
    "teijo quick /mnt/disk --size 16GiB             a larger file than a cache holds",
    "teijo quick sim:mlc-a                          a simulated drive",
    "teijo quick /dev/nvme1n1 --read-only           a drive with data on it: reads alone",
    "teijo quick /dev/nvme1n1 --destroy S4EVNX0R123456",
    "teijo quick . --limit 'iops[RND 4KiB Q32T1 read] >= 50k'",
)


Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A folder (a file is made in it and removed), a file, a block device, sim:NAME, "
        "or several as one.",
    ),
]
Size = Annotated[
    str,
    typer.Option(
        "--size",
        metavar="SIZE",
        help="How large the file is that is made, or how much of a target is touched. "
        "[default: 1GiB]",
    ),
]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Read alone: nothing is written.")]


def verb(
    target: Target,
    more: options.MoreSettings = None,
    settings: options.Settings = None,
    size: Size = "",
    read_only: ReadOnly = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The run file, or the folder to put it in."
        ),
    ] = None,
    destroy: options.Destroy = None,
    overwrite: options.Overwrite = False,
    accept_warning: options.AcceptWarning = None,
    engine: options.WhichEngine = options.Engine.NATIVE,
    seed: options.Seed = None,
    limit: options.Limits = None,
    report: options.Report = "html",
    report_dir: options.ReportDir = None,
    lang: options.ReportLang = options.Lang.EN,
    as_json: options.Json = False,
    progress: options.Progress = None,
    serve: options.Serve = False,
) -> None:
    """Take a first look at TARGET: MB/s, IOPS and µs, sequential and random, in about a minute.

    In a folder a file is made, measured and removed; that needs no consent. It is a quick look,
    not a steady-state test: nothing is purged or preconditioned. For that: `teijo run iops`.
    """
    given = options.settings_from(settings, more)
    printers = options.printers_from(report)

    from teijo import api
    from teijo.cli.outcome import carry_out, leave_limits, reports

    path = options.run_file_for("quick", str(_named(target)), output, datetime.now())
    run = carry_out(
        partial(
            api.quick,
            target,
            output=path,
            size=size,
            read_only=read_only,
            settings=given,
            destroy=destroy,
            overwrite=overwrite,
            accept_warnings=accept_warning or (),
            engine=engine.value,
            seed=seed,
            limits=limit or (),
        ),
        progress,
        serve=serve,
    )
    printed = reports(run.document(), run.path, printers, report_dir or path.parent, lang)
    if as_json:
        console.put_json(_json(run, printed))
    else:
        _tell(run, printed)
    leave_limits([run])


def _named(target: str) -> str:
    """Return a target's name for the run file: a folder by its whole path, so that "." has one."""
    place = Path(target.partition("?")[0])
    try:
        return str(place.resolve()) if place.is_dir() else target
    except (OSError, ValueError):
        return target


def _tell(run: "Run", printed: list[Path]) -> None:
    """Print the table, what ± means, what the figures are not, and the paths of what is left."""
    from teijo.report import text
    from teijo.report.language import Language

    first_page = text.first_section(run.document(), width=80, language=Language(tongue.spoken()))
    console.put_lines(first_page.rstrip("\n"))
    kinds = dict.fromkeys(tongue.reported(remark.kind.value) for remark in run.remarks)
    console.put("")
    console.put(tongue.tr("remarks: {kinds}", kinds=", ".join(kinds)))
    for place in (run.path, *printed):
        console.put(str(place))


def _json(run: "Run", printed: list[Path]) -> dict[str, object]:
    from dataclasses import asdict

    from teijo.methods.quick.found import QuickFound

    found = run.found
    assert isinstance(found, QuickFound), "the verb runs this method alone"
    settings = found.settings
    return {
        "run": str(run.path),
        "reports": [str(path) for path in printed],
        "target": run.record.identity.target,
        "model": run.record.identity.model,
        "is": "a quick look, not a steady-state test",
        "passes": settings.passes,
        "pass_ns": settings.pass_ns,
        "confidence": 0.95,
        "figures": [each.as_values() for each in found.figures],
        "limits": [asdict(each) for each in run.judged],
        "remarks": [
            {"kind": remark.kind.value, "text": remark.text, "step": remark.step}
            for remark in run.remarks
        ],
    }
