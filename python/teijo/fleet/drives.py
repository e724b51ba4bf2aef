"""Which drives a plan means, on the hosts as they are now; and everything that is wrong with it."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any, Final

from teijo.fleet.order import Order, run_name
from teijo.fleet.plan import Plan, Targets

Told = Mapping[str, Any]
"""What a host tells of itself: `Hand.told`."""
_SEED_BITS: Final = 53


@dataclass
class Meant:
    """The drives of a plan in order, and what is wrong, a line each."""

    orders: list[Order] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def serials(self) -> list[str]:
        """The serials of all drives that would be destroyed, in order."""
        return [order.serial for order in self.orders if order.serial]


@dataclass(frozen=True, kw_only=True)
class _Found:
    """One drive that a rule means."""

    host: str
    name: str
    target: str
    serial: str = ""
    model: str = ""
    spare: bool = False
    rule: Targets


def meant_by(plan: Plan, hosts: Mapping[str, Told], seed: int) -> Meant:
    """Return the drives of a plan on hosts that answered; each run's seed follows from `seed`."""
    meant = Meant()
    found: list[_Found] = []
    for number, rule in enumerate(plan.targets, 1):
        for place, host in enumerate(rule.hosts or [host.name for host in plan.host]):
            if host in hosts:
                found += _of_rule(
                    f"targets {number}", rule, place, host, hosts[host], meant.problems
                )
    _check_apart(found, meant.problems)
    names = Counter(one.name for one in found if not one.serial)
    for number, one in enumerate(found, 1):
        name = f"{one.name}-{number}" if names[one.name] > 1 else one.name
        meant.orders.append(
            Order(
                number=number,
                host=one.host,
                name=name,
                target=one.target,
                serial=one.serial,
                model=one.model,
                is_spare=one.spare,
                method=plan.method,
                spec=plan.spec,
                settings=plan.settings_for(one.rule),
                limits=plan.limits,
                notes=plan.notes,
                group=_group(plan, one.host, name),
                seed=seed_of(seed, number),
                hold=plan.together,
                shared_by=one.rule.shared_by,
                run=run_name(plan.fleet, number, name),
            )
        )
    if not found and not meant.problems and len(hosts) == len(plan.host):
        meant.problems.append("The plan means no drive")
    return meant


def seed_of(seed: int, number: int) -> int:
    """Return the seed of one drive's run: no two of a fleet have one, and each can be run alone."""
    digest = sha256(f"{seed}:{number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _SEED_BITS)


def _group(plan: Plan, host: str, name: str) -> dict[str, str]:
    group = {"campaign": plan.campaign} if plan.campaign else {}
    return group | {"fleet": plan.fleet, "host": host, "drive": name}


def _of_rule(
    where: str, rule: Targets, place: int, host: str, told: Told, problems: list[str]
) -> Iterator[_Found]:
    """Yield what a rule means on one host, the `place`-th of those it is for."""
    if rule.sim or rule.file:
        numbers = rule.numbers(place)
        for number, text in numbers:
            name = text.partition("?")[0].rpartition("/")[2]
            name = f"{name}-{number}" if rule.is_numbered and rule.sim else name
            yield _Found(
                host=host, name=name.removeprefix("sim:"), target=text, rule=rule,
                spare=number > numbers[-1][0] - rule.spares,
            )  # fmt: skip
        return
    drives = _matching(where, rule, host, told["drives"], problems)
    if rule.count is not None and len(drives) != rule.count:
        problems.append(
            f"{where}: {len(drives)} drives on {host}, and the plan counts {rule.count}"
        )
    for number, drive in enumerate(drives, 1):
        if not drive["serial"]:
            problems.append(f"{where}: {drive['target']} on {host} tells no serial")
            continue
        if drive["use"]:
            problems.append(
                f"{where}: {drive['serial']} on {host} ({drive['target']}) is in use: "
                f"{drive['use']}"
            )
        yield _Found(
            host=host, name=drive["serial"], target=drive["target"], serial=drive["serial"],
            model=drive["model"], rule=rule, spare=number > len(drives) - rule.spares,
        )  # fmt: skip


def _matching(
    where: str, rule: Targets, host: str, drives: Sequence[Mapping[str, Any]], problems: list[str]
) -> list[Mapping[str, Any]]:
    if rule.model:
        return [each for each in drives if fnmatchcase(each["model"], rule.model)]
    if rule.by_id:
        return [
            each for each in drives if any(fnmatchcase(name, rule.by_id) for name in each["by_id"])
        ]
    found = []
    for serial in rule.serials:
        here = [each for each in drives if each["serial"] == serial]
        found += here[:1]
        # On which of several hosts it is, the plan need not say.
        if not here and len(rule.hosts) == 1:
            problems.append(f"{where}: {host} has no drive {serial}")
        if len(here) > 1:
            paths = ", ".join(each["target"] for each in here)
            problems.append(f"{where}: {serial} is on {host} more than once: {paths}")
    return found


def _check_apart(found: Sequence[_Found], problems: list[str]) -> None:
    """Complain of drives that are meant twice: on two hosts, or by two rules."""
    places: dict[str, list[str]] = defaultdict(list)
    for one in found:
        key = one.serial or (f"{one.host}:{one.target}" if one.rule.file else "")
        if key:
            places[key].append(one.host)
    for key, hosts in places.items():
        if len(set(hosts)) > 1:
            problems.append(f"{key} is on more than one host: {', '.join(dict.fromkeys(hosts))}")
        elif len(hosts) > 1:
            problems.append(f"{key} is meant {len(hosts)} times on {hosts[0]}")


def missing_serials(plan: Plan, orders: Sequence[Order]) -> list[str]:
    """Return the serials that a plan names for any of several hosts, and that no host has.

    What one host alone was to have is said where that host is looked at.
    """
    anywhere = (rule for rule in plan.targets if len(rule.hosts) != 1)
    named = {serial for rule in anywhere for serial in rule.serials}
    return sorted(named - {order.serial for order in orders})
