"""A plan: a configuration study written as TOML, checked, and turned into settings."""

import json
import shlex
from typing import Any

import pydantic

from teijo.errors import PlanError
from teijo.outside.file import Unreadable, toml_of

KEY = "plan"
"""The setting that holds the text of a plan; the other settings go before what it says."""

Scalar = str | int | float


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
