"""`teijo run METHOD TARGET TARGET…`: drives of this machine, as a fleet without a plan's file."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from teijo.errors import UsageError

if TYPE_CHECKING:
    from teijo.cli.options import ProgressMode
    from teijo.fleet.plan import Plan

_TARGETS: Final = ("sim:", "/", "./", "../", "concat", "stripe")


def targets_in(words: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """Return which of the words behind a target are targets too, and the settings."""
    targets = [word for word in words or () if _is_target(word)]
    return targets, [word for word in words or () if not _is_target(word)]


def _is_target(word: str) -> bool:
    name, equals, _ = word.partition("=")
    if word.startswith(_TARGETS):
        return True
    return ("?" in name) if equals else Path(word).exists()


_ALONE: Final[Mapping[str, object]] = {"engine": "native", "io_timeout": "120s"}
"""What an option of a single run is where nobody gave it, if not nothing."""


def refuse(**options: object) -> None:
    """Refuse the options that are of a single run alone.

    Raises:
        UsageError: one is given.
    """
    for name, value in options.items():
        if value and value != _ALONE.get(name):
            raise UsageError(
                f"--{name.replace('_', '-')} is of one target, and here are several",
                remedy="Measure each by itself, or leave the option out.",
            )


def carry_out(
    method: str,
    targets: Sequence[str],
    given: Mapping[str, str],
    *,
    output: str | None,
    destroy: str | None,
    overwrite: bool,
    progress: "ProgressMode | None",
    also: Mapping[str, object],
) -> None:
    """Measure each target by a run of its own, all at the same time; `also` is more of the plan.

    Raises:
        UsageError: a target is a block device without a serial, or there are two of one.
        TeijoError: as a fleet.
    """
    from teijo.cli import fleet
    from teijo.device import serial
    from teijo.fleet import acts
    from teijo.fleet.consent import Consent
    from teijo.fleet.plan import plan_from

    name = f"{method.rpartition('.')[2]}-{datetime.now():%Y%m%d-%H%M%S}"
    rules = [_rule(target) for target in targets]
    plan: Plan = plan_from(
        {"fleet": name, "method": method, "settings": dict(given), "targets": rules} | dict(also)
    )
    folder = Path(output or plan.fleet)
    consent = Consent(plan=plan.digest, destroy=serial.named(destroy))
    with acts.hosts_of(plan, folder) as hosts, fleet.stoppable() as stop:
        seen = acts.look_over(plan, hosts)
        ended = acts.begin(
            seen,
            hosts,
            folder,
            consent=consent,
            observer=fleet.Teller(progress),
            stop=stop,
            overwrites=overwrite,
        )
    fleet.leave(ended, as_json=False)


def _rule(target: str) -> dict[str, object]:
    """Return the rule of a plan that means one target of this machine."""
    if target.startswith("sim:"):
        return {"sim": target.removeprefix("sim:")}
    if not Path(target).is_block_device():
        return {"file": target}
    from teijo.device import inspect_target

    found = inspect_target(target).identity.serial
    if not found:
        raise UsageError(
            f"{target} tells no serial, and several drives are named by theirs",
            remedy="Measure it by itself: teijo run METHOD TARGET",
        )
    return {"serials": [found]}
