"""A person's own defaults, in ~/.config/teijo/defaults.toml: who asks for the tests and who does.

[note]
sponsor = "Storage Lab"
operator = "K. Ito"
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from teijo.errors import PlanError
from teijo.outside.file import TOML_MOST, Unreadable, read_text, toml_of
from teijo.outside.text import visible

NOTES: Final = "note"
_EXAMPLE: Final = 'Write notes as: [note] and below it sponsor = "…"; or take the file away.'


def path_in(environment: Mapping[str, str]) -> Path:
    """Return where the file is, by the XDG base directories."""
    base = environment.get("XDG_CONFIG_HOME", "")
    # XDG has a relative path ignored as invalid.
    folder = Path(base) if base.startswith("/") else Path(environment.get("HOME", "/")) / ".config"
    return folder / "teijo" / "defaults.toml"


def default_notes(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the notes that go with every run of this person, none without the file.

    Raises:
        PlanError: there is a file, and it cannot be read or says something else.
    """
    path = path_in(environment)
    if not os.path.lexists(path):
        return {}
    try:
        tables = toml_of(read_text(path, most_bytes=TOML_MOST))
    except Unreadable as error:
        raise PlanError(f"The defaults {path} {error}", remedy=_EXAMPLE) from error
    for name in tables:
        if name != NOTES:
            raise PlanError(
                f"The defaults {path} say {visible(name, most=80)!r}, and only notes have defaults",
                remedy=_EXAMPLE,
            )
    notes = tables.get(NOTES, {})
    if not isinstance(notes, dict) or not all(isinstance(text, str) for text in notes.values()):
        raise PlanError(f"The notes of the defaults {path} are no texts", remedy=_EXAMPLE)
    return {key: text for key, text in notes.items() if text.strip()}
