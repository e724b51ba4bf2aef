"""How factors, controls, templates and whole plans are written, and read back."""

import json
import re
import shlex
from typing import Any, Final

import pydantic

from teijo.errors import PlanError
from teijo.methods.forms import number
from teijo.outside.file import Unreadable, toml_of

FACTORS_MOST: Final = 6
LEVELS_MOST: Final = 64
CAPACITIES_MOST: Final = 1000
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_PLACE: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9_-]*)\}")
_RESERVED: Final = frozenset(",;={}")  # what parts factors and levels, and marks a place
_NESTED_MOST: Final = 4

PLAN: Final = "plan"
"""The setting that holds the text of a plan; the other settings go before what it says."""

Scalar = str | int | float
Levels = tuple[tuple[str, str], ...]
"""(name, text) of each level: reports have the name, templates and hooks the text."""
Factors = tuple[tuple[str, Levels], ...]
"""(name, levels) of each factor, in the order of the plan."""


def factors(text: str) -> Factors:
    """Return the factors of "chunk=16KiB,64KiB; cache=off,wb", or of JSON.

    JSON says more: {"cache": {"off": "raid5(…)", "wb": "cache(…)"}} gives each level a text.

    Raises:
        ValueError: it is neither, a name is none, or a factor has fewer than two levels.
    """
    found = _from_json(text) if text.lstrip().startswith("{") else _from_words(text)
    # Hooks get each as TEIJO_SET_NAME, which has no small letters and no hyphens.
    names = [name.lower().replace("-", "_") for name, _ in found]
    if len(set(names)) < len(names):
        raise ValueError("two factors have one name")
    if not 1 <= len(found) <= FACTORS_MOST:
        raise ValueError(f"it has {len(found)} factors, and 1 to {FACTORS_MOST} can be told apart")
    for name, levels in found:
        _check_factor(name, levels)
    return found


def show_factors(value: Factors) -> str:
    """Show factors as `factors` reads them back."""
    if all(name == text for _, levels in value for name, text in levels):
        parts = (f"{factor}={','.join(name for name, _ in levels)}" for factor, levels in value)
        return "; ".join(parts)
    return json.dumps({factor: dict(levels) for factor, levels in value}, ensure_ascii=False)


def device(text: str) -> str:
    """Return the template of a simulated device.

    Raises:
        ValueError: it is no simulated device.
    """
    text = re.sub(r"\s+", "", text)
    if not text.startswith("sim:"):
        raise ValueError("it is no simulated device, which is written sim:NAME?key=value")
    return text


def capacities(text: str) -> float:
    """Return how many user capacities to write, 0 for none.

    Raises:
        ValueError: it is no number, or below zero.
    """
    return 0.0 if text.strip() in ("0", "0.0") else number(0.001, CAPACITIES_MOST).parse(text)


def control(text: str) -> str:
    """Return which configuration is measured under a second name: first, none, or its levels.

    Raises:
        ValueError: a part of it is no FACTOR=LEVEL.
    """
    word = text.strip()
    if word.lower() in ("first", "none"):
        return word.lower()
    return ", ".join(f"{name}={level}" for name, level in levels_in(word))


def levels_in(text: str) -> tuple[tuple[str, str], ...]:
    """Return the (factor, level) pairs of "chunk=64KiB, cache=wb".

    Raises:
        ValueError: a part of it is no FACTOR=LEVEL.
    """
    pairs = []
    for part in text.split(","):
        name, equals, level = (each.strip() for each in part.partition("="))
        if not (name and equals and level):
            raise ValueError(f"{part.strip()!r} is no FACTOR=LEVEL")
        pairs.append((name, level))
    return tuple(pairs)


def places_in(text: str, all_factors: Factors) -> set[str]:
    """Return the names in braces, and those in braces within their levels."""
    named = dict(all_factors)
    found: set[str] = set()
    waiting = _PLACE.findall(text)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += _PLACE.findall(" ".join(level for _, level in named.get(name, ())))
    return found


def filled(template: str, texts: dict[str, str]) -> str:
    """Return a template with every {factor} replaced by its level's text, which may have places.

    Raises:
        ValueError: the texts contain each other without end.
    """
    for _ in range(_NESTED_MOST):
        template = _PLACE.sub(lambda match: texts[match[1]], template)
    if _PLACE.search(template):
        raise ValueError("the levels of its factors stand in each other without end")
    return template


def _from_words(text: str) -> Factors:
    found = []
    for part in (each for each in text.split(";") if each.strip()):
        name, equals, rest = part.partition("=")
        if not equals:
            raise ValueError(f"{part.strip()!r} is no FACTOR=LEVEL,LEVEL")
        levels = [level.strip() for level in rest.split(",") if level.strip()]
        found.append((name.strip(), tuple((level, level) for level in levels)))
    return tuple(found)


def _from_json(text: str) -> Factors:
    try:
        values = json.loads(text)
    # Hostile JSON nests without end, and that is no ValueError.
    except RecursionError as error:
        raise ValueError("its JSON is nested too deeply") from error
    except ValueError as error:
        raise ValueError("it begins as JSON and is none") from error
    return tuple((str(name), _levels(name, levels)) for name, levels in values.items())


def _levels(name: str, levels: object) -> Levels:
    match levels:
        case dict():
            return tuple((str(level), str(text)) for level, text in levels.items())
        case list():
            return tuple((str(level), str(level)) for level in levels)
        case _:
            raise ValueError(f"{name} has no levels: a list, or a text for each")


def _check_factor(name: str, levels: Levels) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name of a factor: a letter, then letters, digits, - and _"
        )
    if not 2 <= len(levels) <= LEVELS_MOST:
        raise ValueError(f"{name} has {len(levels)} levels, and a factor has 2 to {LEVELS_MOST}")
    names = [level for level, _ in levels]
    if len(set(names)) < len(names):
        raise ValueError(f"a level of {name} stands twice")
    for level in names:
        if not level or _RESERVED & set(level) or len(level) > 40:
            raise ValueError(
                f"{level!r} is no name of a level: at most 40 characters, none of , ; = {{ }}"
            )


class Plan(pydantic.BaseModel, frozen=True, extra="forbid"):
    """A plan as it is written: every key but `workloads` and `factors` is a setting's own."""

    title: str | None = None
    factors: dict[str, list[Scalar] | dict[str, str]] | None = None
    device: str | None = None
    hook: str | list[str] | None = None
    timeout: Scalar | None = None
    workloads: str | list[str | dict[str, Scalar]] | None = None
    range: Scalar | None = None
    seconds: Scalar | None = None
    ramp: Scalar | None = None
    rest: Scalar | None = None
    purge: bool | None = None
    precondition: float | None = None
    repeats: int | None = None
    control: str | None = None
    shuffle: int | None = None


def settings_in(text: str) -> dict[str, str]:
    """Return the settings a plan makes, as `--set` has them.

    Raises:
        teijo.errors.PlanError: it is no TOML, or has a key or a value of another kind.
    """
    try:
        plan = Plan.model_validate(toml_of(text))
    except Unreadable as error:
        raise PlanError(f"The plan {error}", remedy="Mend what it names.") from error
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        unknown = first["type"] == "extra_forbidden"
        unfit = "is no key of a plan; its value is" if unknown else "cannot be"
        place = ".".join(str(part) for part in first["loc"][:2])
        raise PlanError(
            f"The plan's {place} {unfit} {str(first['input'])[:80]!r}",
            remedy=f"A plan has: {', '.join(Plan.model_fields)}.",
        ) from error
    given = plan.model_dump(exclude_none=True)
    return {key: _text(key, value) for key, value in given.items()}


def _text(key: str, value: Any) -> str:
    match key, value:
        case "factors", _:
            return json.dumps(value, ensure_ascii=False)
        case "hook", list():
            return shlex.join(value)
        case "workloads", list():
            return "; ".join(_workload(each) for each in value)
        case "purge", _:
            return "on" if value else "off"
        case _:
            return str(value)


def _workload(value: str | dict[str, Scalar]) -> str:
    if isinstance(value, str):
        return value
    rest = dict(value)
    name = rest.pop("name", None)
    if name is None:
        raise PlanError(
            f"The plan's workload {value} has no name",
            remedy='Write name = "oltp", or name a preset as text: "4k-write".',
        )
    return f"{name}: " + " ".join(f"{key}={each}" for key, each in rest.items())
