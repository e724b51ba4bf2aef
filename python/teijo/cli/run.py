"""The verb `run`: measure a target by a method, record it, report it."""

from datetime import datetime
from functools import partial
from typing import Annotated

import typer

from teijo.cli import options
from teijo.cli.several import carry_out as carry_out_several
from teijo.cli.several import refuse, targets_in

EXAMPLES = (
    "teijo run iops sim:mlc-a",
    "teijo run wsat 'sim:slc-a?capacity=4GiB' --spec 1.1-enterprise",
    "teijo run workload 'drive.img?size=2GiB' --set rw=randread bs=4KiB qd=32 seconds=10",
    "teijo run configuration sim:raid5-4x2tb --plan examples/raid5.toml",
    "teijo run iops /dev/disk/by-id/nvme-… --destroy S4EVNX0R123456",
    "teijo run iops /dev/nvme1n1 --destroy S4EVNX0R123456 --max-drive-writes 8",
    "teijo run iops /dev/nvme1n1 --destroy S4EVNX0R123456 --serve    and show it in a browser",
    "teijo run iops sim:mlc-a --limit 'iops[0/100,4KiB] >= 6000'",
    "teijo run iops /dev/nvme1n1 /dev/nvme2n1 --destroy SERIAL1,SERIAL2",
    "teijo run iops '/mnt/nfs/x.img?size=8GiB' --host here --host 'rack2=ssh rack2 teijo'",
    "teijo run iops sim:mlc-a --note sponsor='Storage Lab' --note nand=MLC",
    "teijo run iops 'stripe?chunk=64KiB:/dev/sdb,/dev/sdc' --destroy SERIAL1,SERIAL2",
)


def verb(
    method: options.Method,
    target: options.Target,
    more: options.MoreSettings = None,
    settings: options.Settings = None,
    spec: options.Spec = "",
    plan: options.Plan = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The run file, or the folder to put it in; FOLDER/ is made where there is none.",
        ),
    ] = None,
    destroy: options.Destroy = None,
    overwrite: options.Overwrite = False,
    accept_warning: options.AcceptWarning = None,
    max_drive_writes: options.MaxDriveWrites = None,
    hook: options.Hook = None,
    note: options.Notes = None,
    group: options.Groups = None,
    io_timeout: options.IoTimeout = "120s",
    engine: options.WhichEngine = options.Engine.NATIVE,
    seed: options.Seed = None,
    limit: options.Limits = None,
    report: options.Report = "html,pdf",
    report_dir: options.ReportDir = None,
    lang: options.ReportLang = options.Lang.EN,
    progress: options.Progress = None,
    serve: options.Serve = False,
    hold: options.Hold = False,
    host: options.Hosts = None,
    host_timeout: options.HostTimeout = "20s",
) -> None:
    """Measure TARGET by METHOD. Prints the run file and the reports, one path a line."""
    others, more = targets_in(more)
    given = options.planned(options.settings_from(settings, more), plan)
    printers, notes = options.printers_from(report), options.notes_from(note)
    belongs = options.group_from(group)
    if others:
        refuse(
            hook=hook, serve=serve, hold=hold, host=host, accept_warning=accept_warning,
            max_drive_writes=max_drive_writes, engine=engine.value, report_dir=report_dir,
            io_timeout=io_timeout,
        )  # fmt: skip
        carry_out_several(
            method, (target, *others), given, output=output, destroy=destroy, progress=progress,
            overwrite=overwrite, also={"spec": spec, "limits": limit or (), "notes": notes,
            "campaign": belongs.get("campaign", ""), "seed": seed},
        )  # fmt: skip
        return
    from teijo import api
    from teijo.cli.outcome import carry_out, folder_for, leave
    from teijo.methods.registry import method_named

    path = options.run_file_for(method_named(method).id, target, output, datetime.now())
    with folder_for(path, wanted=bool(output and output.endswith("/"))):
        run = carry_out(
            partial(
                api.run, method, target, output=path, spec=spec, settings=given, destroy=destroy,
                overwrite=overwrite, accept_warnings=accept_warning or (), engine=engine.value,
                max_drive_writes=max_drive_writes, hook=hook, notes=notes, group=belongs, seed=seed,
                io_timeout_ns=options.io_timeout_ns_from(io_timeout), limits=limit or (), hold=hold,
                sharing=options.sharing_from(host, host_timeout),
            ),
            progress, serve=serve,
        )  # fmt: skip
    leave(run, printers, report_dir or path.parent, progress, lang)
