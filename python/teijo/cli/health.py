"""The verb `health`: how a drive is, by its own word, and a verdict with its reasons."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from teijo.cli import console
from teijo.cli.options import Json, Target
from teijo.errors import PlanError, UsageError
from teijo.speech.tongue import reasoned, tr

if TYPE_CHECKING:
    from teijo.api.crystaldiskinfo import Original
    from teijo.device.health.report import HealthReport
    from teijo.personas.crystaldiskinfo import Disk

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
    from teijo.api.crystaldiskinfo import original_disk, original_verdict
    from teijo.api.device_json import health_json

    report = api.health(target)
    disk = original_disk(target, report)
    original = original_verdict(disk)
    if cdi is not None:
        write_original(disk, cdi)
    if as_json:
        console.put_json(health_json(report, original))
    elif cdi != Path("-"):
        show(report, original)
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


def show(report: "HealthReport", original: "Original") -> None:
    """Print the verdict, then what is known by topic; what was not told, with the reason."""
    from teijo.cli.sections import put_sections
    from teijo.speech import health_words

    lines = (
        health_words.model_line(report),
        health_words.verdict_line(report.verdict),
        health_words.original_line(original),
        health_words.partition_line(report),
    )
    for line in filter(None, lines):
        console.put(line)
    put_sections(health_words.sections(report))


def write_original(disk: "Disk", path: Path) -> None:
    """Write CrystalDiskInfo's text of a drive to a file, or to stdout (-).

    Raises:
        teijo.errors.TeijoError: the file cannot be had.
    """
    from datetime import datetime

    from teijo.creating import replace_atomically
    from teijo.errors import HostError, UsageError
    from teijo.personas.crystaldiskinfo import system_of_host, text_of

    for one in disk.blind:
        console.say(tr("not read: {what}", what=reasoned(one)))
    data = text_of([disk], system=system_of_host(), date=datetime.now()).encode()
    if path == Path("-"):
        console.put_bytes(data)
        return
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no file", remedy="Name a file: --cdi report.txt")
        replace_atomically(path, data)
    except OSError as error:
        raise HostError(
            f"Cannot write {path}: {error.strerror}", remedy="Choose another place for --cdi."
        ) from error
