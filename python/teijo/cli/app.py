"""The program `teijo`: its verbs, and the one place where an error becomes a message and a code.

Nothing heavy is imported here or at the top of a verb, so that help is there at once.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from inspect import signature
from types import ModuleType
from typing import Annotated

import typer

from teijo.cli import (
    calibrate,
    compare,
    console,
    device,
    devices,
    export,
    fleet,
    fleet_bottleneck,
    fleet_report,
    health,
    join,
    lake,
    layout,
    methods,
    original,
    preview,
    purge,
    quick,
    report,
    resume,
    run,
    seal,
    serve,
    steady,
    verify,
)
from teijo.cli import list as listing
from teijo.cli.help import Program, Verb
from teijo.cli.mistakes import explained, verb_of
from teijo.errors import TeijoError, UsageError, host_error, is_no_room
from teijo.speech import tongue

app = typer.Typer(
    name="teijo",
    cls=Program,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=console.examples(
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

        console.put(f"teijo {version('teijo')}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=print_version, is_eager=True),
    ] = False,
    lang: Annotated[
        str | None,
        typer.Option(
            tongue.OPTION,
            metavar="en|ja",
            help="The language of help, progress and errors; it may stand behind any verb. "
            "[default: as LANG says]",
        ),
    ] = None,
) -> None:
    """Measure storage to a provable steady state, as the SNIA PTS asks, and report it.

    TARGET is a block device (/dev/disk/by-id/…), a file (drive.img?size=8GiB), a simulated
    device (sim:mlc-a), or several as one (stripe:A,B). Nothing is written to a block device
    that is in use, or that is not named with --destroy SERIAL.

    Exit codes: 0 done, 2 usage, 3 refused as unsafe, 4 the device is another one, 5 device
    error, 6 host error, 7 interrupted and resumable, 8 the measurement is invalid, 9 a limit that
    was asked for is not met, 10 not steady (of steady --check), 11 it cannot be known (whether a
    limit is met, a file holds what was measured, or a drive is healthy), 12 the drive warned
    (of stop=warning), 13 and 14 caution and bad (of health --check).
    """


ROOMS = (
    quick,
    listing,
    methods,
    devices,
    device,
    health,
    purge,
    preview,
    run,
    resume,
    join,
    report,
    compare,
    export,
    fleet,
    fleet_bottleneck,
    fleet_report,
    lake,
    verify,
    seal,
    steady,
    calibrate,
    serve,
    original,
)


def verb_name(room: ModuleType) -> str:
    """Return the verb that a file of this folder is; one that is a keyword has it as VERB."""
    return getattr(room, "VERB", room.__name__.rpartition(".")[2])


for room in ROOMS:
    app.command(
        verb_name(room),
        cls=Verb,
        epilog=console.examples(*room.EXAMPLES),
        # Behind the name of an original all words are its own.
        context_settings=None if room is not original else {"allow_interspersed_args": False},
    )(room.verb)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command line and leave the process with its exit code. No traceback is shown."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    tongue.speak(tongue.asked(given, os.environ))
    try:
        code = _spoken(given)
        console.finish()
    except console.Unread:
        code = console.CLOSED_PIPE
    except TeijoError as error:
        if os.environ.get("TEIJO_DEBUG") == "1" and error.__cause__ is not None:
            traceback.print_exception(error)
        console.explain(error.message, error.remedy, error.details)
        code = error.exit_code
    except Exception as error:
        if os.environ.get("TEIJO_DEBUG") == "1":
            raise
        code = _unforeseen(error)
    _finish_quietly()
    sys.exit(code)


def _unforeseen(error: Exception) -> int:
    """Say what nobody has put into words; return the exit code."""
    if isinstance(error, ImportError) and is_no_room(error):
        error = MemoryError()
    if isinstance(error, OSError | MemoryError):
        seen = host_error(error)
        console.explain(seen.message, seen.remedy)
        return seen.exit_code
    first = next(iter(str(error).splitlines()), "")
    console.explain(
        f"Teijo itself failed: {type(error).__name__}: {first}",
        "Please report this, with the lines that TEIJO_DEBUG=1 shows.",
    )
    return 1


def _finish_quietly() -> None:
    """Bring what was written to stdout before an error; that it cannot be is no second one."""
    with suppress(console.Unread, TeijoError):
        console.finish()


def _spoken(arguments: list[str]) -> int:
    """Run one command line; return its exit code. What is wrong with it is said by `mistakes`."""
    try:
        left = app(
            args=_without_lang(arguments),
            prog_name="teijo",
            standalone_mode=False,
            terminal_width=min(console.width(sys.stdout) or layout.WIDEST, layout.WIDEST),
        )
    except typer.TyperException as error:
        # By name, for Typer exports its base class alone.
        if type(error).__name__ == "NoArgsIsHelpError":
            console.say_lines(error.message)
            return int(error.exit_code)
        message, remedy = explained(error)
        console.explain(message, remedy)
        return int(error.exit_code)
    except typer.Abort:
        console.say(tongue.tr("Aborted!"))
        return 1
    return left if isinstance(left, int) else 0


def _without_lang(arguments: list[str]) -> list[str]:
    """Return the words without a --lang that follows a verb which prints no report.

    Raises:
        UsageError: it names no language.
    """
    printing = {verb_name(each) for each in ROOMS if "lang" in signature(each.verb).parameters}
    verb = verb_of([word for word in arguments if not word.startswith("-")], map(verb_name, ROOMS))
    if verb in printing:
        return arguments
    left: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*left, word, *words]
        option, equals, code = word.partition("=")
        if option != tongue.OPTION:
            left.append(word)
            continue
        code = code if equals else next(words, "")
        if code not in tongue.TONGUES:
            names = ", ".join(tongue.TONGUES)
            raise UsageError(
                f"{tongue.OPTION} {code}: it is none of {names}",
                remedy=f"Write: {tongue.OPTION} {tongue.TONGUES[-1]}",
            )
    return left
