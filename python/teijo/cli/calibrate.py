"""The verb `calibrate`: what this host does at best, alone or for each cell of a method."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from teijo.cli import console, options
from teijo.cli.options import Json
from teijo.errors import UsageError
from teijo.speech import tongue
from teijo.units import GIGA, NS_PER_S

if TYPE_CHECKING:
    from teijo.api import Calibration
    from teijo.runner.calibration import Told

EXAMPLES = (
    "teijo calibrate",
    "teijo calibrate --seconds 2 --json | jq .nop_ns_deep",
    "teijo calibrate --for /dev/nvme1n1 pts.iops",
    "teijo calibrate --for /dev/nvme1n1 --against before.teijo",
)
FIGURE_S: Final = 0.5
CELL_S: Final = 0.2
"""How long each cell is measured, all its repeats together."""
_TOLD_PERCENT: Final = 10


def verb(
    method: Annotated[
        str,
        typer.Argument(
            metavar="[METHOD]",
            help="With --for: whose cells. [default: pts.iops]",
            show_default=False,
        ),
    ] = "",
    more: options.MoreSettings = None,
    target: Annotated[
        str,
        typer.Option(
            "--for", metavar="TARGET", help="Measure each cell of METHOD as it would be on TARGET."
        ),
    ] = "",
    against: Annotated[
        Path | None,
        typer.Option(
            "--against", metavar="RUN", help="Hold it against what the drive gave in this run."
        ),
    ] = None,
    settings: options.Settings = None,
    spec: options.Spec = "",
    as_json: Json = False,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            min=0.02,
            max=60,
            help="How long for each figure, or each cell. [default: 0.5, with --for 0.2]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Measure what this host does with no device at all: system calls, engine, memory.

    With --for it is measured for every cell of a method: blocks, mix, threads, depth. Nothing is
    read from the target or written to it.
    """
    given = options.settings_from(settings, more)
    if not target:
        if method or against or given or spec:
            raise UsageError(
                "A method and its settings are for a target",
                remedy="Name it: teijo calibrate --for TARGET METHOD",
            )
        _alone(round((seconds or FIGURE_S) * NS_PER_S), as_json=as_json)
        return
    from teijo import api
    from teijo.cli.platform import as_object, show
    from teijo.runner.calibration import REPEATS

    plan = api.plan_calibration(target, method, spec=spec, settings=given, against=against)
    each_ns = round((seconds or CELL_S) * NS_PER_S / (2 * REPEATS))
    _announce(plan, each_ns)
    found = api.calibrate_for(plan, each_ns=each_ns, told=_follow())
    if as_json:
        console.put_json(as_object(found))
    else:
        show(found)


def _announce(plan: "Calibration", each_ns: int) -> None:
    from teijo.units import format_duration

    several = "{method}: {count} cells, about {time}; nothing is read from {target}"
    one = "{method}: 1 cell, about {time}; nothing is read from {target}"
    console.say(
        tongue.tr(
            one if len(plan.cells) == 1 else several,
            method=plan.method,
            count=len(plan.cells),
            time=format_duration(plan.expected_ns(each_ns)),
            target=plan.target,
        )
    )


def _follow() -> "Told":
    """Return what says on stderr how far it is, now and then."""
    last = [0]

    def told(done: int, of: int) -> None:
        percent = 100 * done // of
        if percent >= last[0] + _TOLD_PERCENT and done < of:
            last[0] = percent
            console.say(tongue.tr("calibrate: {percent} %", percent=percent))

    return told


def _alone(each_ns: int, *, as_json: bool) -> None:
    from dataclasses import asdict

    from teijo import api

    found = api.calibrate(each_ns)
    if as_json:
        console.put_json(asdict(found))
        return
    rows = [
        (tongue.said(what), _ns(single_ns), _ns(deep_ns), _rate(deep_ns))
        for what, single_ns, deep_ns in (
            ("ring of the kernel (no-operations)", found.nop_ns, found.nop_ns_deep),
            ("engine's loop (no backend)", found.loop_ns, found.loop_ns_deep),
        )
    ]
    for line in console.columns(("ONE THREAD, 4 KiB", "AT QD 1", "AT QD 32", "IS AT MOST"), rows):
        console.put(line)
    console.put("")
    rate = f"{found.copy_bytes_per_second / GIGA:,.1f}"
    console.put(tongue.tr("memory copied: {rate} GB/s", rate=rate))


def _ns(figure_ns: float) -> str:
    if not figure_ns:
        return tongue.tr("not to be had")
    return tongue.tr("{ns} ns per I/O", ns=f"{figure_ns:.1f}")


def _rate(figure_ns: float) -> str:
    return f"{NS_PER_S / figure_ns:,.0f} IOPS" if figure_ns else "-"
