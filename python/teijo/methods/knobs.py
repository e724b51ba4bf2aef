"""Settings a person may turn with `--set key=value`: how each is written, checked and shown.

A settings field carries its `Knob` as an annotation; nothing here knows a method by name.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final, TypeVar

import pydantic

from teijo import units
from teijo.errors import PlanError
from teijo.methods.settings import Settings
from teijo.outside.names import unknown
from teijo.outside.text import unspeakable
from teijo.terms.cell import mix_name
from teijo.terms.run_note import LONGEST as NOTE_LONGEST

LONGEST: Final = 300_000
"""Characters of one setting; a plan is a setting too."""
LIST_MOST: Final = 256
SECTOR_BYTES: Final = 512
"""No device has smaller logical blocks."""
_STRANGE: Final = "The run file holds settings this version does not know."

Parse = Callable[[str], object]
Show = Callable[[object], str]
S = TypeVar("S", bound=Settings)
T = TypeVar("T")
W = TypeVar("W", bound=StrEnum)


@dataclass(frozen=True, kw_only=True)
class Knob:
    """How one setting is written. `parse` raises ValueError with the reason it refuses.

    A setting that `judges` decides when to stop or what is steady, and no step shows it: another
    version of the standard may put its own in place when it looks at an old run. One that `adds`
    asks for steps after all others: a version that has none of them (None) leaves them out then.
    """

    key: str
    meaning: str
    example: str
    parse: Parse
    show: Show = str
    aliases: tuple[str, ...] = ()
    judges: bool = False
    adds: bool = False


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting as it stands: `key` is what `--set` takes, `field` its name in the run file."""

    key: str
    field: str
    value: str
    meaning: str
    aliases: tuple[str, ...]


def knobs_of(model: type[Settings]) -> dict[str, Knob]:
    """Return the knobs of a settings model by field, in the order they are declared."""
    return {
        name: knob
        for name, info in model.model_fields.items()
        for knob in info.metadata
        if isinstance(knob, Knob)
    }


def describe(settings: Settings) -> tuple[Setting, ...]:
    """Return every setting with its value as a person writes it."""
    return tuple(
        Setting(
            key=knob.key,
            field=name,
            value=knob.show(getattr(settings, name)),
            meaning=knob.meaning,
            aliases=knob.aliases,
        )
        for name, knob in knobs_of(type(settings)).items()
    )


def parse_overrides(model: type[Settings], overrides: Mapping[str, str]) -> dict[str, object]:
    """Return the fields that `--set` asks for, parsed.

    Raises:
        PlanError: a key is unknown or given twice under two names, or a value is refused.
    """
    knobs = knobs_of(model)
    field_of = {
        word: name for name, knob in knobs.items() for word in (knob.key, *knob.aliases, name)
    }
    parsed: dict[str, object] = {}
    for key, text in overrides.items():
        check_text(key, text)
        name = field_of.get(key.strip().lower().replace("-", "_"))
        if name is None:
            raise unknown("setting", key, (knob.key for knob in knobs.values()), field_of)
        knob = knobs[name]
        _check_one(key, text, field_of)
        if name in parsed:
            raise PlanError(
                f"{knob.key} is set twice ({', '.join((knob.key, *knob.aliases))} are one setting)",
                remedy=f"Set it once, as in --set {knob.key}={knob.example}.",
            )
        try:
            parsed[name] = knob.parse(text)
        except ValueError as error:
            raise PlanError(
                f"{key}={text[:200]}: {error}",
                remedy=f"For example: --set {knob.key}={knob.example}",
            ) from error
    return parsed


def _check_one(key: str, text: str, known: Mapping[str, str]) -> None:
    """Make sure that no second setting stands within a value, as in "rw=randread,bs=4k".

    Raises:
        PlanError: one does.
    """
    first, *more = re.split(r"[,;]\s*(?=[a-z_-]+=)", text)
    words = [word.partition("=")[0].replace("-", "_") for word in more]
    if words and all(word in known for word in words):
        apart = " ".join(f"{each}" for each in (f"{key}={first}", *more))
        raise PlanError(
            f"{key}={text[:200]}: there are {len(more) + 1} settings in one word",
            remedy=f"Write them apart: --set {apart[:200]}",
        )


def check_text(key: str, text: str) -> None:
    """Make sure that a setting can be recorded and is short enough to be read.

    Raises:
        PlanError: it is not.
    """
    if why := unspeakable(key + text):
        raise PlanError(f"{key}={text[:80]}: {why}", remedy="Write it in UTF-8.")
    if len(key) + len(text) > LONGEST:
        raise PlanError(
            f"{key[:80]} has {len(text):,} characters, and {LONGEST:,} are the most",
            remedy="Write a shorter one.",
        )


def changed(settings: S, asked: Mapping[str, object]) -> S:
    """Return the settings with parsed overrides in place, as the model's own types."""
    return type(settings).model_validate({**settings.model_dump(), **asked})


def build(model: type[S], values: Mapping[str, object]) -> S:
    """Return the settings of these values.

    Raises:
        PlanError: they do not fit the model, or are beyond what `--set` takes (a run file
            written by hand, or a newer one's).
    """
    try:
        settings = model.model_validate(values)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise PlanError(
            f"{place or 'settings'} cannot be {str(first['input'])[:80]!r}", remedy=_STRANGE
        ) from error
    for name, knob in knobs_of(model).items():
        value = getattr(settings, name)
        if value is None or value == model.model_fields[name].get_default():
            continue  # not set: some of these have no way to be written
        shown = knob.show(value)
        try:
            knob.parse(shown)
        except ValueError as error:
            raise PlanError(f"{name}={shown[:80]}: {error}", remedy=_STRANGE) from error
    return settings


def checked_words(what: str, given: Mapping[str, str], valid: type[W]) -> dict[W, str]:
    """Return what a person says of a run, by the closed list of what may be said.

    `what` is the word for one of them ("note").

    Raises:
        PlanError: a key is not in the list, or a text is too long or cannot be recorded.
    """
    found = {}
    for key, text in given.items():
        check_text(key, text)
        word = key.strip().lower().replace("_", "-").replace(" ", "-")
        if word not in list(valid):
            raise unknown(what, key, [each.value for each in valid])
        if not text.strip() or len(text) > NOTE_LONGEST:
            raise PlanError(
                f"The {what} {word} has {len(text.strip()):,} characters",
                remedy=f"Write 1 to {NOTE_LONGEST}: it stands in a header.",
            )
        found[valid(word)] = text.strip()
    return found


def whole_number(least: int, most: int) -> Parse:
    """Return a parser of whole numbers within [least, most]."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ValueError("it is not a whole number") from None
        if not least <= value <= most:
            raise ValueError(f"it must lie between {least:,} and {most:,}")
        return value

    return parse


def positive_number(text: str) -> float:
    """Return a number above zero."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError("it is not a number") from None
    if not 0 < value < float("inf"):
        raise ValueError("it must be above zero")
    return value


def number_between(least: float, most: float) -> Parse:
    """Return a parser of numbers within [least, most]."""

    def parse(text: str) -> float:
        value = positive_number(text)
        if not least <= value <= most:
            raise ValueError(f"it must lie between {least:,g} and {most:,g}")
        return value

    return parse


def percent(least: int, most: int) -> Parse:
    """Return a parser of whole percents, written with or without the sign."""
    inner = whole_number(least, most)

    def parse(text: str) -> object:
        return inner(text.strip().removesuffix("%").strip())

    return parse


def duration(text: str) -> int:
    """Return a duration above zero in ns."""
    value = units.parse_duration(text)
    if value <= 0:
        raise ValueError("it must be longer than nothing")
    return value


def size(text: str) -> int:
    """Return a size above zero in bytes."""
    value = units.parse_size(text)
    if value <= 0:
        raise ValueError("it must be more than 0 bytes")
    return value


def block_size(text: str) -> int:
    """Return a block size in bytes: a whole number of sectors."""
    value = size(text)
    if value % SECTOR_BYTES:
        number = text.strip().rstrip("Bb").strip()
        small = number.isdecimal() and value < SECTOR_BYTES
        guess = f"; did you mean {number}KiB?" if small else ""
        raise ValueError(
            f"it is {value:,} bytes, and a block is a multiple of {SECTOR_BYTES} bytes{guess}"
        )
    return value


def sizes(text: str) -> tuple[int, ...]:
    """Return different sizes that are no blocks, as in "16GiB,32GiB"."""
    return _different(tuple(size(part) for part in _parts(text)), "sizes")


def block_sizes(text: str) -> tuple[int, ...]:
    """Return different block sizes, as in "4KiB,8KiB"."""
    return _different(tuple(block_size(part) for part in _parts(text)), "block sizes")


def mixes(text: str) -> tuple[int, ...]:
    """Return different R/W mixes as read percents, as in "100/0,65/35"."""
    return _different(tuple(_mix(part) for part in _parts(text)), "mixes")


def whole_numbers(least: int, most: int, what: str) -> Parse:
    """Return a parser of different whole numbers within [least, most], as in "5,10,15"."""
    one = whole_number(least, most)
    return lambda text: _different(tuple(one(part) for part in _parts(text)), what)


def one_of(*words: str) -> Parse:
    """Return a parser of one of these words."""

    def parse(text: str) -> str:
        word = text.strip().lower()
        if word not in words:
            raise ValueError(f"it is none of {', '.join(words)}")
        return word

    return parse


def command(text: str) -> tuple[str, ...]:
    """Return a program and its arguments, quoted as a shell has them; "none" is none.

    Raises:
        ValueError: a quote is not closed.
    """
    return () if text.strip().lower() == "none" else tuple(shlex.split(text))


def optional(parse: Parse) -> Parse:
    """Return a parser that also takes "none"."""
    return lambda text: None if text.strip().lower() == "none" else parse(text)


def show_command(value: object) -> str:
    """Show a program as `command` reads it back."""
    assert isinstance(value, tuple)
    return shlex.join(value) or "none"


def show_duration(value: object) -> str:
    """Show ns as `duration` reads them back."""
    assert isinstance(value, int)
    for unit, name in ((units.NS_PER_S, "s"), (units.NS_PER_MS, "ms"), (units.NS_PER_US, "us")):
        if value % unit == 0:
            return f"{value // unit}{name}"
    return f"{value}ns"


time_knob = partial(Knob, parse=duration, show=show_duration)
"""A setting that is a time, longer than none."""


def show_size(value: object) -> str:
    """Show bytes as `size` reads them back, "none" for none."""
    if value is None:
        return "none"
    assert isinstance(value, int)
    for unit, name in (
        (units.TIB, "TiB"),
        (units.GIB, "GiB"),
        (units.MIB, "MiB"),
        (units.KIB, "KiB"),
    ):
        if value >= unit and value % unit == 0:
            return f"{value // unit}{name}"
    return str(value)


def show_sizes(value: object) -> str:
    """Show block sizes as `sizes` reads them back, in KiB as the standard does."""
    assert isinstance(value, tuple)
    return ",".join(f"{each / units.KIB:g}KiB" for each in value)


def show_numbers(value: object) -> str:
    """Show whole numbers as `whole_numbers` reads them back."""
    assert isinstance(value, tuple)
    return ",".join(str(each) for each in value)


def show_mixes(value: object) -> str:
    """Show R/W mixes as `mixes` reads them back."""
    assert isinstance(value, tuple)
    return ",".join(mix_name(each) for each in value)


def show_optional(value: object) -> str:
    """Show a value, "none" for none."""
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > LIST_MOST:
        raise ValueError(f"it names {len(parts):,}, and {LIST_MOST} are the most")
    return parts


def _different(values: tuple[T, ...], what: str) -> tuple[T, ...]:
    if not values:
        raise ValueError(f"it names no {what}")
    if len(set(values)) < len(values):
        raise ValueError("it names one of them twice")
    return values


def _mix(text: str) -> int:
    read, slash, write = text.partition("/")
    if slash and read.isdecimal() and write.isdecimal() and int(read) + int(write) == 100:
        return int(read)
    raise ValueError(f"{text!r} is not read/write percents that add up to 100")
