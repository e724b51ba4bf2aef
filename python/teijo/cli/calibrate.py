"""The verb `calibrate`: what this host does at best, to tell a number from its limit."""

from typing import Annotated

import typer

from teijo.cli import console, tongue
from teijo.cli.options import Json
from teijo.units import GIGA, NS_PER_S

EXAMPLES = (
    "teijo calibrate",
    "teijo calibrate --seconds 2 --json | jq .nop_ns_deep",
)


def verb(
    as_json: Json = False,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.02, max=60, help="How long for each figure.")
    ] = 0.5,
) -> None:
    """Measure what this host does with no device at all: system calls, engine, memory."""
    from dataclasses import asdict

    from teijo import api

    found = api.calibrate(round(seconds * NS_PER_S))
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
