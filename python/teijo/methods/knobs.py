"""Settings a person may turn with `--set key=value`: how each is named, explained and checked.

A settings field carries its `Knob` as an annotation; nothing here knows a method by name.
"""

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar, overload

import pydantic
from pydantic_core import PydanticUndefined

from teijo.errors import PlanError
from teijo.methods.forms import Form
from teijo.methods.settings import Settings
from teijo.outside.names import unknown
from teijo.outside.text import unspeakable
from teijo.terms.run_note import LONGEST as NOTE_LONGEST

LONGEST: Final = 300_000
"""Characters of one setting; a plan is a setting too."""
_STRANGE: Final = "The run file holds settings this version does not know."

S = TypeVar("S", bound=Settings)
T = TypeVar("T")
W = TypeVar("W", bound=StrEnum)


@dataclass(frozen=True)
class Knob:
    """How one setting is written: its form, and an example of "key=value", as `--set` takes it.

    A setting that `judges` decides when to stop or what is steady, and no step shows it: another
    version of the standard may put its own in place when it looks at an old run. One that `adds`
    asks for steps after all others: a version that has none of them (None) leaves them out then.
    """

    form: Form[Any]
    written: str
    aliases: tuple[str, ...] = ()
    _: KW_ONLY
    judges: bool = False
    adds: bool = False

    @property
    def key(self) -> str:
        """The name that `--set` takes."""
        return self.written.partition("=")[0]

    @property
    def example(self) -> str:
        """A value as a person writes it."""
        return self.written.partition("=")[2]

    @property
    def names(self) -> tuple[str, ...]:
        """The key and its aliases."""
        return (self.key, *self.aliases)


@overload
def meaning(text: str) -> Any: ...
@overload
def meaning(text: str, default: T) -> T: ...
def meaning(text: str, default: object = PydanticUndefined) -> object:
    """Return a settings field with what it means; one without a default must be given."""
    return pydantic.Field(default, description=text)


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


def fields_by_word(model: type[Settings]) -> dict[str, str]:
    """Return the field of every word that a person may write for it."""
    return {word: name for name, knob in knobs_of(model).items() for word in (*knob.names, name)}


def describe(settings: Settings) -> tuple[Setting, ...]:
    """Return every setting with its value as a person writes it."""
    fields = type(settings).model_fields
    return tuple(
        Setting(
            key=knob.key,
            field=name,
            value=knob.form.show(getattr(settings, name)),
            meaning=fields[name].description or "",
            aliases=knob.aliases,
        )
        for name, knob in knobs_of(type(settings)).items()
    )


def parse_overrides(model: type[Settings], overrides: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that `--set` asks for, parsed.

    Raises:
        PlanError: a key is unknown or given twice under two names, or a value is refused.
    """
    knobs = knobs_of(model)
    field_of = fields_by_word(model)
    parsed: dict[str, Any] = {}
    for key, text in overrides.items():
        check_text(key, text)
        name = field_of.get(key.strip().lower().replace("-", "_"))
        if name is None:
            raise unknown("setting", key, (knob.key for knob in knobs.values()), field_of)
        knob = knobs[name]
        _check_one(key, text, field_of)
        if name in parsed:
            raise PlanError(
                f"{knob.key} is set twice ({', '.join(knob.names)} are one setting)",
                remedy=f"Set it once, as in --set {knob.key}={knob.example}.",
            )
        try:
            parsed[name] = knob.form.parse(text)
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
    # A value may have "name=" in it (factors, control): only names of settings are a mistake.
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
    # A setting is recorded, and may be handed to a hook.
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
        shown = knob.form.show(value)
        try:
            knob.form.parse(shown)
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
