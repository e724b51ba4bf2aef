"""The program `teijo`: its verbs, and the one place where an error becomes a message and a code.

Nothing heavy is imported here or at the top of a verb, so that help is there at once.
"""

import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from teijo.cli import (
    calibrate,
    compare,
    device,
    devices,
    export,
    methods,
    preview,
    quick,
    report,
    resume,
    run,
    seal,
    steady,
    talk,
    verify,
)
from teijo.cli import list as listing
from teijo.errors import TeijoError, host_error, is_no_room

app = typer.Typer(
    name="teijo",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
    epilog=talk.examples(
        "teijo quick .                         a first look at the drive this folder is on",
        "teijo run iops sim:mlc-a              a whole PTS run on a simulated drive",
        "teijo preview iops /dev/nvme1n1       how long it takes, and what it writes",
        "teijo report pts.iops-mlc-a-*.teijo   the report once more",
    ),
)


def print_version(asked: bool) -> None:
    """Print the version and leave, if it was asked for."""
    if asked:
        from importlib.metadata import version

        talk.put(f"teijo {version('teijo')}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=print_version, is_eager=True),
    ] = False,
) -> None:
    """Measure storage to a provable steady state, as the SNIA PTS asks, and report it.

    TARGET is a block device (/dev/disk/by-id/…), a file (drive.img?size=8GiB), a simulated
    device (sim:mlc-a), or several as one (stripe:A,B). Nothing is written to a block device
    that is in use, or that is not named with --destroy SERIAL.

    Exit codes: 0 done, 2 usage, 3 refused as unsafe, 4 the device is another one, 5 device
    error, 6 host error, 7 interrupted and resumable, 8 the measurement is invalid, 9 a limit that
    was asked for is not met, 10 not steady (of steady --check), 11 whether a limit is met cannot
    be known.
    """


ROOMS = (
    quick,
    listing,
    methods,
    devices,
    device,
    preview,
    run,
    resume,
    report,
    compare,
    export,
    verify,
    seal,
    steady,
    calibrate,
)
for room in ROOMS:
    app.command(room.__name__.rpartition(".")[2], epilog=talk.examples(*room.EXAMPLES))(room.verb)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command line and leave the process with its exit code. No traceback is shown."""
    try:
        sys.exit(_spoken(sys.argv[1:] if arguments is None else list(arguments)))
    except TeijoError as error:
        if os.environ.get("TEIJO_DEBUG") == "1" and error.__cause__ is not None:
            traceback.print_exception(error)
        talk.explain(error.message, error.remedy)
        sys.exit(error.exit_code)
    except Exception as error:
        if os.environ.get("TEIJO_DEBUG") == "1":
            raise
        if isinstance(error, ImportError) and is_no_room(error):
            error = MemoryError()
        if isinstance(error, OSError | MemoryError):
            told = host_error(error)
            talk.explain(told.message, told.remedy)
            sys.exit(told.exit_code)
        first = next(iter(str(error).splitlines()), "")
        talk.explain(
            f"Teijo itself failed: {type(error).__name__}: {first}",
            "Please report this, with the lines that TEIJO_DEBUG=1 shows.",
        )
        sys.exit(1)


def _spoken(arguments: list[str]) -> int:
    """Run one command line; return its exit code. What Typer says of a mistake passes `talk`."""
    try:
        left = app(args=arguments, prog_name="teijo", standalone_mode=False)
    except typer.TyperException as error:
        told = io.StringIO()
        error.show(told)  # type: ignore[attr-defined]
        talk.say_lines(told.getvalue().rstrip("\n"))
        return int(error.exit_code)
    except typer.Abort:
        talk.say("Aborted!")
        return 1
    return left if isinstance(left, int) else 0
