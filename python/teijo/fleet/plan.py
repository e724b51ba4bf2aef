"""What a plan of a fleet says: hosts, targets by rule, method, settings. Nothing is looked up."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from teijo.errors import PlanError
from teijo.outside.file import TOML_MOST, Unreadable, read_text, toml_of
from teijo.outside.text import visible
from teijo.terms.shared import HOSTS_MOST
from teijo.units import parse_duration

LOCAL: Final = "local"
"""The host of a plan that names none: this machine."""
DRIVES_MOST: Final = 10_000
_HOSTS_MOST: Final = 1_000
_NUMBER: Final = "{n}"
"""Where the number of a simulated device, or of a file, stands in its text."""
_RULES: Final = ("serials", "model", "by_id", "sim", "file")
_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"

Name = Annotated[str, StringConstraints(pattern=_NAME)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Scalar = str | int | float | bool
Rule = Literal["serials", "model", "by_id", "sim", "file"]


class Host(BaseModel, frozen=True, extra="forbid"):
    """One host: its name in the plan, and the folder there that its run files are kept in.

    Where no folder is named, it is one of the fleet's own folder.
    """

    name: Name
    folder: str = ""


class Targets(BaseModel, frozen=True, extra="forbid"):
    """Drives by one rule, on some hosts or (none named) on all.

    `serials` names drives; `model` and `by_id` are patterns (`*`, `?`) of all drives of a host;
    `sim` and `file` are targets as `teijo run` has them, with the place `{n}` for a number. `count`
    is how many there are: for a pattern it is a check. The last `spares` of a host wait in reserve.
    `shared_by` are other hosts that measure each of them together with its own, as one run.
    """

    hosts: tuple[Name, ...] = ()
    serials: tuple[Text, ...] = ()
    model: str = ""
    by_id: str = ""
    sim: str = ""
    file: str = ""
    count: Annotated[int, Field(ge=1, le=DRIVES_MOST)] | None = None
    spares: Annotated[int, Field(ge=0, le=DRIVES_MOST)] = 0
    shared_by: Annotated[tuple[Name, ...], Field(max_length=HOSTS_MOST - 1)] = ()
    settings: Mapping[str, Scalar] = Field(default_factory=dict)

    @property
    def rules(self) -> list[Rule]:
        """The rules it names; one is right."""
        return [name for name in _RULES if getattr(self, name)]

    @property
    def is_numbered(self) -> bool:
        """Whether its targets differ by a number."""
        return _NUMBER in (self.sim or self.file)

    def numbers(self, place: int) -> list[tuple[int, str]]:
        """Return number and text of each target of `sim` or `file` on a host, in order.

        `place` is the host's among those of the rule, from 0: simulated drives are counted on from
        host to host, so that no two are the same drive; the files of each host begin at 1.
        """
        many = self.count or 1
        first = place * many + 1 if self.sim else 1
        template = f"sim:{self.sim}" if self.sim else self.file
        return [(n, template.replace(_NUMBER, str(n))) for n in range(first, first + many)]


class Plan(BaseModel, frozen=True, extra="forbid"):
    """A plan as it is written in TOML. Settings are those of `--set`."""

    fleet: Name
    campaign: str = ""
    method: Text
    spec: str = ""
    settings: Mapping[str, Scalar] = Field(default_factory=dict)
    limits: tuple[Text, ...] = ()
    notes: Mapping[str, str] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None
    at_once: Annotated[int, Field(ge=0, le=DRIVES_MOST)] = 0
    stagger: str = "0s"
    together: bool = False
    host: Annotated[tuple[Host, ...], Field(max_length=_HOSTS_MOST)] = (Host(name=LOCAL),)
    targets: Annotated[tuple[Targets, ...], Field(min_length=1, max_length=_HOSTS_MOST)]

    @property
    def stagger_ns(self) -> int:
        """The least time between the beginnings of two drives of a host."""
        return parse_duration(self.stagger)

    @property
    def digest(self) -> str:
        """The digest of all it says, however it is written: what a consent belongs to."""
        plain = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(plain.encode()).hexdigest()

    def settings_for(self, targets: Targets) -> dict[str, str]:
        """Return the settings of the drives of a rule, as `--set` has them."""
        merged = {**self.settings, **targets.settings}
        return {key: _written(value) for key, value in merged.items()}


def read_plan(path: Path) -> Plan:
    """Return the plan that a file holds.

    Raises:
        PlanError: it cannot be read, is no TOML, or says something that no plan can say; with
            everything that is wrong with it.
    """
    try:
        text = read_text(path, most_bytes=TOML_MOST)
    except Unreadable as error:
        raise PlanError(f"The plan {path} {error}", remedy="Name a TOML file.") from error
    return plan_of(text)


def plan_of(text: str) -> Plan:
    """Return the plan that a TOML text is.

    Raises:
        PlanError: as `read_plan`.
    """
    try:
        return plan_from(toml_of(text))
    except Unreadable as error:
        raise PlanError(f"The plan {error}", remedy="Mend what it names.") from error


def plan_from(tables: Mapping[str, object]) -> Plan:
    """Return the plan that tables are, as TOML has them.

    Raises:
        PlanError: as `read_plan`.
    """
    try:
        plan = Plan.model_validate(tables)
    except ValidationError as error:
        raise _refused([_flaw(one) for one in error.errors()]) from error
    if flaws := [*_flaws(plan)]:
        raise _refused(flaws)
    return plan


def _flaws(plan: Plan) -> list[str]:
    """Return what single fields cannot tell: names that do not agree, rules that are none."""
    hosts = [host.name for host in plan.host]
    flaws = [f"host: {name!r} stands twice" for name in sorted(set(hosts)) if hosts.count(name) > 1]
    try:
        _ = plan.stagger_ns  # a text until here
    except ValueError:
        flaws.append(f"stagger: {plan.stagger!r} is no time, such as 30s")
    else:
        if plan.together and (plan.at_once or plan.stagger_ns):
            flaws.append("together: all begin at one moment, and at_once and stagger forbid it")
    for number, targets in enumerate(plan.targets, 1):
        where = f"targets {number}"
        flaws += [
            f"{where}: there is no host {name!r}" for name in targets.hosts if name not in hosts
        ]
        if len(targets.rules) != 1:
            flaws.append(
                f"{where}: one of {', '.join(_RULES)} names them, and it has "
                f"{', '.join(targets.rules) or 'none'}"
            )
            continue
        many = (targets.count or 1) > 1
        if targets.sim or targets.file:
            template = targets.sim or targets.file
            if many and not targets.is_numbered:
                flaws.append(
                    f"{where}: {template!r} has no {_NUMBER}, so all {targets.count} are one"
                )
        if targets.sim and targets.shared_by:
            flaws.append(f"{where}: a simulated device is in one process, and is not shared_by any")
        twice = [name for name in targets.shared_by if targets.shared_by.count(name) > 1]
        flaws += [f"{where}: shared_by: {name!r} stands twice" for name in sorted(set(twice))]
        if targets.spares and targets.spares >= (targets.count or DRIVES_MOST):
            flaws.append(f"{where}: all {targets.count} would be spares")
    return flaws


def _flaw(found: Mapping[str, object]) -> str:
    """Return one complaint of the model as a plan's reader knows it."""
    place = found["loc"]
    assert isinstance(place, Sequence)
    names = " ".join(str(part + 1) if isinstance(part, int) else str(part) for part in place)
    match found["type"]:
        case "extra_forbidden":
            return f"{visible(names, most=80)}: it is no key of a plan"
        case "missing":
            return f"{names}: it is missing"
        case _:
            given = visible(repr(found["input"]), most=80)
            return f"{visible(names, most=80)}: it cannot be {given} ({found['msg']})"


def _refused(flaws: Sequence[str]) -> PlanError:
    return PlanError(
        "The plan cannot be carried out.",
        remedy="Mend what it names; docs/fleet.md has every key.",
    ).naming(flaws)


def _written(value: Scalar) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
