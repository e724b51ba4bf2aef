"""The verb `resume`: carry a run on that was interrupted, and report it."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from teijo.cli import options

EXAMPLES = (
    "teijo resume pts.iops-mlc-a-20260101-120000.teijo.open",
    "teijo resume run.teijo.open --destroy S4EVNX0R123456   a block device asks for consent again",
    "teijo resume study.teijo.open --hook 5f70bf18a086007016e948b04aed3b82103a36be…   and a hook",
)


def verb(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The run file that was left: NAME.teijo.open.")
    ],
    destroy: options.Destroy = None,
    overwrite: options.Overwrite = False,
    accept_warning: options.AcceptWarning = None,
    max_drive_writes: options.MaxDriveWrites = None,
    hook: options.Hook = None,
    server: options.Server = None,
    limit: options.Limits = None,
    io_timeout: options.IoTimeout = "120s",
    report: options.Report = "html,pdf",
    report_dir: options.ReportDir = None,
    lang: options.ReportLang = options.Lang.EN,
    progress: options.Progress = None,
    serve: options.Serve = False,
    host: options.Hosts = None,
    host_timeout: options.HostTimeout = "20s",
) -> None:
    """Carry on a run that was interrupted or killed, from its file."""
    printers = options.printers_from(report)
    io_timeout_ns = options.io_timeout_ns_from(io_timeout)
    sharing = options.sharing_from(host, host_timeout)

    from teijo import api
    from teijo.cli.outcome import carry_out, leave

    run = carry_out(
        partial(
            api.resume,
            file,
            destroy=destroy,
            overwrite=overwrite,
            accept_warnings=accept_warning or (),
            max_drive_writes=max_drive_writes,
            hook=hook,
            server=server,
            limits=limit or (),
            io_timeout_ns=io_timeout_ns,
            sharing=sharing,
        ),
        progress,
        serve=serve,
    )
    leave(run, printers, report_dir or run.path.parent, progress, lang)
