"""The verb `health`: how a drive is, by its own word, and a verdict with its reasons."""

from pathlib import Path
from typing import Annotated

import typer

from teijo.cli import console
from teijo.cli.options import Json, Target
from teijo.errors import PlanError, UsageError

EXAMPLES = (
    "teijo health /dev/disk/by-id/nvme-…               the verdict, its reasons, what it told",
    "teijo health /dev/disk/by-id/nvme-… --json        the same for programs",
    "teijo health /dev/sda --watch 10s                 what changes, a line every 10 s",
    "teijo health /dev/sda --check || echo look at it  by the exit code",
    "teijo health /dev/sda --cdi report.txt            CrystalDiskInfo's text of it",
)
UNKNOWN, CAUTION, BAD = 11, 13, 14
"""What the program leaves with under --check; good is 0."""
CODES = {"good": 0, "unknown": UNKNOWN, "caution": CAUTION, "bad": BAD}


def verb(
    target: Target,
    watch: Annotated[
        str | None,
        typer.Option(
            "--watch", metavar="TIME", help="Ask again each so often, until Ctrl-C: 10s, 1min."
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="End by the verdict: good 0, unknown 11, caution 13, bad 14."),
    ] = False,
    cdi: Annotated[
        Path | None,
        typer.Option(
            "--cdi", metavar="FILE", help="Write CrystalDiskInfo's text of it; - is stdout."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how a drive is by its own word, with a verdict and its reasons. Nothing is written.

    docs/health.md says what is read of which drive, and where each rule is from.
    """
    if watch is not None:
        if check or cdi is not None:
            raise UsageError(
                "--watch goes on, and --check and --cdi are of one moment",
                remedy="Ask for them by themselves.",
            )
        from teijo.cli.health_watch import follow

        follow(target, interval_ns=interval_ns_from(watch), as_json=as_json)
        return
    if as_json and cdi == Path("-"):
        raise UsageError(
            "--json and CrystalDiskInfo's text cannot both go to stdout (--cdi -)",
            remedy="Ask for one of them.",
        )
    from teijo import api
    from teijo.cli import health_text

    report = api.health(target)
    disk = health_text.original_disk(target, report)
    original = health_text.original_verdict(disk)
    if cdi is not None:
        health_text.write_original(disk, cdi)
    if as_json:
        console.put_json(health_text.as_json(report, original))
    elif cdi != Path("-"):
        health_text.show(report, original)
    if check:
        raise typer.Exit(CODES[report.verdict.word])


def interval_ns_from(text: str) -> int:
    """Return the nanoseconds between two looks.

    Raises:
        PlanError: it is no duration, or less than a drive is asked in.
    """
    from teijo.device.health.following import LEAST_NS
    from teijo.units import format_duration, parse_duration

    try:
        interval_ns = parse_duration(text)
    except ValueError as error:
        raise PlanError(f"--watch: {error}", remedy="Write it like 10s or 1min.") from error
    if interval_ns < LEAST_NS:
        least = format_duration(LEAST_NS)
        raise PlanError(
            f"--watch: {text} is less than {least}, and every answer costs the drive time",
            remedy="Write it like 10s or 1min.",
        )
    return interval_ns
