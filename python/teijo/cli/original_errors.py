"""Errors of a run that an original's words began: remedies for who typed those words.

A remedy is written for `teijo run METHOD TARGET`. Who acts as a classic tool names targets as that
tool does, has its options, and writes Teijo's before its name.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from teijo.errors import HostError, Interrupted, TeijoError, UsageError
from teijo.outside.text import visible

if TYPE_CHECKING:
    from teijo.personas.persona import Order, Persona

_OPTION: Final = re.compile(r"(?<![\w-])(-o|--overwrite|--destroy)(?![\w-])")
_WITH_VALUE: Final = {"-o": "-o FOLDER", "--destroy": "--destroy SERIAL"}


@contextmanager
def in_words_of(tool: str, persona: "Persona") -> Iterator[None]:
    """Raise an error from within with the remedy that helps who typed the words of a tool."""
    try:
        yield
    except TeijoError as error:
        told = _told(error, tool, persona)
        if told is error:
            raise
        raise told from error


def _told(error: TeijoError, tool: str, persona: "Persona") -> TeijoError:
    remedy = error.remedy
    if isinstance(error, Interrupted) and "teijo resume" in remedy:
        ends = f"What goes on ends with Teijo's report; for the text of {tool}, run it anew."
        return _with(error, f"{remedy}\n{ends}")
    if "--set" in remedy:
        return UsageError(
            error.message, remedy=f"{tool} decides it by its own options: give another value there."
        )
    if "?size=" in remedy:
        return _with(error, persona.naming)
    option = _OPTION.search(remedy)
    # An option of a whole command that the remedy names has its place there.
    if option is None or "teijo " in remedy:
        return error
    ours = _WITH_VALUE.get(option[1], option[1])
    return _with(error, f"{remedy}\nIt stands before the tool: teijo as {ours} {tool} …")


def _with(error: TeijoError, remedy: str) -> TeijoError:
    told = type(error)(error.message, remedy=remedy)
    told.has_stuck_ios = error.has_stuck_ios
    return told


def check_folder(order: "Order", tool: str) -> None:
    """Make sure that the files of an original can be left where they belong, before it runs.

    Raises:
        HostError: they cannot.
    """
    if order.files_in is None:
        return
    folder = Path(order.files_in)
    place = folder if os.path.lexists(folder) else folder.parent
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK, effective_ids=True):
        return
    shown = visible(str(place.absolute()))
    if not place.is_dir():
        raise HostError(
            f"{tool} leaves files in {shown}, which is no folder", remedy="Name a folder there."
        )
    raise HostError(
        f"{tool} leaves files in {shown}, which cannot be written",
        remedy="Go to a folder where you may write.",
    )
