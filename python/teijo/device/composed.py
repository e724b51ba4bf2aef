"""A simulated device written down in a TOML file, spelled out as the text it stands for.

Tables are devices, `[[parts]]` are what they are put together of. What the names and the values
mean is the simulator's business; here it is only said where in the file they stand.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from teijo.errors import PlanError, TargetError, TeijoError
from teijo.outside.file import TOML_MOST, Unreadable, read_text, toml_of

EXAMPLE: Final = 'Write device = "hdd-7200", or kind = "raid5" and [[parts]] with a device each.'

_OWN: Final = frozenset({"device", "kind", "count", "parts"})
_MARKS: Final = frozenset("(),?&=")
_PLACE: Final = re.compile(r"[Aa]t character (\d+), ")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the text of a simulated device comes from: `places` are (character from 1, table)."""

    path: Path
    places: tuple[tuple[int, str], ...]

    def blame(self, error: TargetError | PlanError) -> TeijoError:
        """Return what the simulator says of the text as an error of the file."""
        found = _PLACE.search(error.message)
        table = ""
        if found:
            before = [name for at, name in self.places if at <= int(found[1])]
            table = f", {before[-1]}" if before else ""
        text = error.message.replace(found[0], "") if found else error.message
        return type(error)(f"{self.path}{table}: {text}", remedy=error.remedy)


@dataclass
class _Speller:
    path: Path
    text: str = ""
    places: list[tuple[int, str]] = field(default_factory=list)

    def refuse(self, table: str, why: str) -> TargetError:
        return TargetError(f"{self.path}, {table}: {why}", remedy=EXAMPLE)

    def device(self, written: Mapping[str, object], table: str) -> None:
        """Spell out one table."""
        parts = self.parts(written, table)
        if ("device" in written) == ("kind" in written):
            both = "both device and kind" if "device" in written else "neither device nor kind"
            raise self.refuse(table, f"it says {both}, and a table is one device")
        if parts and "device" in written:
            raise self.refuse(table, "parts make a kind, and device is one alone")
        key = "device" if "device" in written else "kind"
        self.places.append((len(self.text) + 1, table))
        self.text += self.word(written[key], f"{table}, key {key}")
        if key == "kind":
            self.text += "("
            for number, (name, part) in enumerate(parts):
                self.text += "," if number else ""
                if (count := self.count(part, name)) != 1:
                    self.text += f"{count}×"
                self.device(part, name)
            self.text += ")"
        settings = [(key, value) for key, value in written.items() if key not in _OWN]
        for number, (key, value) in enumerate(settings):
            self.text += "&" if number else "?"
            place = f"{table}, key {key}"
            self.places.append((len(self.text) + 1, place))
            self.text += f"{self.word(key, place)}={self.value(value, place)}"

    def parts(
        self, written: Mapping[str, object], table: str
    ) -> list[tuple[str, Mapping[str, object]]]:
        given = written.get("parts", [])
        is_list = isinstance(given, list) and all(isinstance(part, dict) for part in given)
        if not isinstance(given, list) or not is_list:
            raise self.refuse(f"{table}, key parts", "it is no list of tables: write [[parts]]")
        inside = "" if table == "the top" else f"{table}."
        return [(f"{inside}parts[{number}]", part) for number, part in enumerate(given, 1)]

    def count(self, part: Mapping[str, object], table: str) -> int:
        count = part.get("count", 1)
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise self.refuse(f"{table}, key count", f"{count!r} is no whole number from 1 on")
        return count

    def word(self, value: object, place: str) -> str:
        if not isinstance(value, str) or not value.strip() or _MARKS & set(value):
            marks = " ".join(sorted(_MARKS))
            raise self.refuse(place, f"{value!r} is no name: text without {marks}")
        return value

    def value(self, value: object, place: str) -> str:
        match value:
            case str():
                return self.word(value, place)
            # Before int: in Python True is one.
            case bool():
                raise self.refuse(place, "no parameter is true or false; write its word in quotes")
            case int() | float():
                return str(value)
            case list() if value and all(isinstance(one, int | str) for one in value):
                return "+".join(self.value(one, place) for one in value)
            case _:
                raise self.refuse(place, f"{value!r} is no number, text, or list of such")


def spell_out(path: Path) -> tuple[str, Source]:
    """Return the text a TOML file stands for, and where in the file each piece of it is.

    Raises:
        teijo.errors.TargetError: it cannot be read, or describes no device; says where.
    """
    try:
        written = toml_of(read_text(path, most_bytes=TOML_MOST))
    except Unreadable as error:
        raise TargetError(
            f"{path} {error}", remedy="Name the TOML file of a simulated device."
        ) from error
    speller = _Speller(path)
    if "count" in written:
        raise speller.refuse("the top, key count", "a target is one device")
    try:
        speller.device(written, "the top")
    except RecursionError as error:
        raise speller.refuse("the top", "its parts are nested too deeply") from error
    return speller.text, Source(path=path, places=tuple(speller.places))
