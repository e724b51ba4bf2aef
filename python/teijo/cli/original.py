"""The verb `as`: act as a classic tool, with its own command line, files and texts."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from teijo.cli import console, options
from teijo.cli.original_errors import check_folder, in_words_of
from teijo.creating import replace_atomically
from teijo.errors import HostError, UsageError
from teijo.outside.text import unspeakable, visible
from teijo.speech import tongue

if TYPE_CHECKING:
    from teijo.api import Run
    from teijo.cli.outcome import Act
    from teijo.personas.persona import Order, Persona, Said
    from teijo.runner.events import Event, Observer
    from teijo.runner.interrupt import Interrupt
    from teijo.terms.result import Answer
    from teijo.terms.step import Step

VERB = "as"
_OURS = ("--like", "--destroy", "--overwrite", "--report", "--report-dir")
"""No original has an option of these names."""
_WORD_MOST = 4096
"""Characters of one word: a path cannot be longer, and nothing else is."""
EXAMPLES = (
    "teijo as                                       the tools, and the versions of each",
    "teijo as orion -run simple -testname mytest -num_disks 1",
    "teijo as --report html --like 11.1 orion -run simple -testname mytest",
    "teijo as bonnie++ -d /mnt/test -s 64g -n 16 -u nobody",
    "teijo as --destroy S4EVNX0R123456 orion -run advanced -testname mytest -write 20",
)


def verb(
    tool: Annotated[
        str | None,
        typer.Argument(
            metavar="TOOL",
            help="The original's name: orion, bonnie++ …; without one all are named.",
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="ARGUMENTS", help="The original's own arguments, all behind TOOL."),
    ] = None,
    like: Annotated[
        str, typer.Option("--like", metavar="VERSION", help="The version to act as: 11.1, 1.97 …")
    ] = "",
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="The run file, or its folder."),
    ] = None,
    destroy: options.Destroy = None,
    overwrite: options.Overwrite = False,
    seed: options.Seed = None,
    report: options.Report = "none",
    report_dir: options.ReportDir = None,
    lang: options.ReportLang = options.Lang.EN,
    progress: Annotated[
        options.ProgressMode, typer.Option("--progress", help="How to show progress.")
    ] = options.ProgressMode.NONE,
) -> None:
    """Act as TOOL: takes its own command line, leaves its files here and its text on stdout.

    A run file is left beside them. Options of Teijo stand before TOOL.
    """
    printers = options.printers_from(report)

    if tool is None:
        _list()
        return
    from teijo import api
    from teijo.cli.outcome import carry_out, reports

    now = datetime.now()
    persona, order = _ordered(tool, words or (), like, now)
    check_folder(order, tool)
    _say(order.begins)
    act = partial(
        api.run,
        order.method,
        order.target,
        output=options.run_file_for(order.name, order.target, output, now),
        spec=order.spec,
        settings=order.settings,
        destroy=destroy,
        overwrite=overwrite,
        seed=order.seed if seed is None else seed,
    )
    listener = _Listener(persona, order)
    # What the original leaves on stdout has no line of Teijo's in it, also where it ends early.
    run = carry_out(_heard(act, listener, tool), progress, name=_tell_path)
    said = persona.outcome(order, run.found)
    _say_on(said, listener, run.path.parent)
    left = [run.path]
    if printers:
        left += reports(run.document(), run.path, printers, report_dir or run.path.parent, lang)
    _tell_left(left)
    if listener.is_unread:
        raise console.Unread
    raise typer.Exit(said.exit_code)


def _tell_left(paths: Sequence[Path]) -> None:
    """Name on a terminal what is left. A script that reads the original's stderr expects none."""
    if console.width(sys.stderr) is not None:
        for path in paths:
            _tell_path(path)


def _tell_path(path: Path) -> None:
    console.say(os.fspath(path))


def _ordered(
    tool: str, words: Sequence[str], like: str, now: datetime
) -> tuple["Persona", "Order"]:
    """Return who acts, and the run that the words ask for.

    Raises:
        TeijoError: the tool, its version or its words are none that can be acted by.
        typer.Exit: they ask for no run; what they ask for has been said.
    """
    from teijo.personas.persona import Call, Order
    from teijo.personas.registry import check_like, persona_named

    persona = persona_named(tool)
    check_like(tool, persona, like)
    _check_words(tool, words)
    _check_places(tool, words)
    screen = console.width(sys.stderr) is not None
    call = Call(words=words, like=like, folder=Path.cwd(), now=now, screen=screen)
    with in_words_of(tool, persona):
        order = persona.order(tool, call)
    if not isinstance(order, Order):
        _say(order)
        raise typer.Exit(order.exit_code)
    return persona, order


@dataclass
class _Listener:
    """Who says what the original says meanwhile. Where nobody reads that, the run goes on."""

    persona: "Persona"
    order: "Order"
    is_unread: bool = False

    def hear(self, step: "Step", answer: "Answer | None") -> None:
        """Say what is said of a step; of what is written to a closed pipe, nothing more."""
        self.say(self.persona.heard(self.order, step, answer))

    def say(self, said: "Said") -> None:
        """Say it, unless its reader has gone."""
        try:
            _say(said if not self.is_unread else replace(said, stdout=""))
        except console.Unread:
            self.is_unread = True


def _heard(act: partial["Run"], listener: _Listener, tool: str) -> "Act":
    """Return the act with the persona listening: it says what the original says meanwhile."""
    from teijo.runner.events import StepDone, StepStarted

    def carried_out(*, observer: "Observer", interrupt: "Interrupt") -> "Run":
        def tell(event: "Event") -> None:
            match event:
                case StepStarted(step=step, replayed=False):
                    listener.hear(step, None)
                case StepDone(step=step, answer=answer):
                    listener.hear(step, answer)
                case _:
                    pass
            observer(event)

        with in_words_of(tool, listener.persona):
            return act(observer=tell, interrupt=interrupt)

    return carried_out


def _say(said: "Said") -> None:
    """Write what an original says, as it is; its files replace what has their names.

    Raises:
        HostError: a file cannot be written here.
    """
    for word, what in said.unread:
        console.say(tongue.tr("{drive}: not read: {what}", drive=word, what=tongue.reasoned(what)))
    if said.stderr:
        console.say_raw(said.stderr)
    if said.stdout:
        console.put_bytes(said.stdout.encode())
    for name, content in said.files:
        try:
            _leave(Path(name), content)
        except OSError as error:
            raise HostError(
                f"{name} cannot be written: {error.strerror}",
                remedy="Go to a folder where you may write.",
            ) from error


def _say_on(said: "Said", listener: _Listener, run_folder: Path) -> None:
    """Write what an original says at its end; what its files cannot be here, beside the run file.

    Raises:
        HostError: a file is not where it belongs. The others are.
    """
    listener.say(replace(said, files=()))
    failed: list[HostError] = []
    for name, content in said.files:
        try:
            _leave(Path(name), content)
        except OSError as error:
            failed.append(_saved(name, content, error, run_folder))
    if failed:
        raise failed[0]


def _saved(name: str, content: bytes, error: OSError, run_folder: Path) -> HostError:
    """Return what is said of a file that cannot be where it belongs; elsewhere it may."""
    other = run_folder / Path(name).name
    try:
        if other.absolute() == Path(name).absolute():
            raise error
        replace_atomically(other, content)
    except OSError:
        return HostError(
            f"{name} cannot be written: {error.strerror}",
            remedy="Make room, and run it anew. The run file has all numbers: teijo report FILE.",
        )
    return HostError(
        f"{name} cannot be written: {error.strerror}",
        remedy=f"What belongs here is beside the run file: {other}",
    )


def _leave(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    replace_atomically(path, content)


def _check_words(tool: str, words: Sequence[str]) -> None:
    """Make sure that each word can be printed, recorded, and made a name of.

    Raises:
        UsageError: one holds a control character or is no text, or is longer than any can be.
    """
    for word in words:
        if len(word) > _WORD_MOST:
            raise UsageError(
                f"A word behind {tool} has {len(word):,} characters, and {_WORD_MOST:,} are the "
                "most",
                remedy="Write a shorter one.",
            )
        if unspeakable(word) or visible(word) != word:
            raise UsageError(
                f"{visible(word, most=80)!r} behind {tool} holds a character that cannot be shown",
                remedy="Leave out control characters, ends of lines, and what is no UTF-8.",
            )


def _check_places(tool: str, words: Sequence[str]) -> None:
    """Make sure that no option which only Teijo has stands among an original's words.

    Raises:
        UsageError: one does.
    """
    for word in words:
        name = word.partition("=")[0]
        if name in _OURS:
            raise UsageError(
                f"{name} is an option of Teijo, and stands behind {tool}",
                remedy=f"Write it before the tool: teijo as {name} … {tool} …",
            )


def _list() -> None:
    from teijo.personas.registry import CARDS, loaded

    rows = [
        (", ".join(card.names), tongue.said(card.summary), ", ".join(loaded(card).likes) or "-")
        for card in CARDS
    ]
    for line in console.columns(("TOOL", "DOES", "LIKE"), rows):
        console.put(line)
