"""The verb `preview`: how long a run takes and how much it writes, before anything happens."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from teijo.cli import console, options
from teijo.errors import HostError, TeijoError, sentence

if TYPE_CHECKING:
    from teijo.device import Hook
    from teijo.device.purging.offer import Offer
    from teijo.runner.extent import Preview

EXAMPLES = (
    "teijo preview iops /dev/disk/by-id/nvme-…",
    "teijo preview pts.all /dev/nvme1n1 --rates 3.5GB/s,600k --endurance 600TB",
    "teijo preview iops 'drive.img?size=8GiB' --set minute=1s rounds=10",
)


def verb(
    method: options.Method,
    target: options.Target,
    more: options.MoreSettings = None,
    settings: options.Settings = None,
    spec: options.Spec = "",
    plan: options.Plan = None,
    rates: Annotated[
        str,
        typer.Option(
            "--rates",
            metavar="MB/s,IOPS",
            help="What the device can do when fresh: 3.5GB/s,600k. [default: 500MB/s,100k]",
        ),
    ] = "",
    endurance: Annotated[
        str,
        typer.Option(
            "--endurance",
            metavar="TBW",
            help="What the drive is rated for, as 600TB. [default: from its own counters]",
        ),
    ] = "",
    as_json: options.Json = False,
) -> None:
    """Say how long METHOD would take on TARGET and how much it would write. Writes nothing."""
    given = options.planned(options.settings_from(settings, more), plan)
    known_rates, rated_bytes = options.rates_from(rates), options.endurance_from(endurance)

    from teijo import api

    told = api.foretell(
        method, target, spec=spec, settings=given, rates=known_rates, endurance_bytes=rated_bytes
    )
    if as_json:
        beside = {"hook": hook_as_object(told.hook), "purge": purge_as_object(told.purges)}
        console.put_json(as_object(told.extent) | beside)
        return
    for line in (*table(told.extent), *purge_lines(told.purges), *hook_lines(told.hook)):
        console.put(line)


def as_object(seen: "Preview") -> dict[str, object]:
    """Return a preview as JSON has it: times in ns, sizes in bytes, shares from 0."""
    ends = {"least": seen.least, "expected": seen.expected, "most": seen.most}
    drive_writes = {name: seen.drive_writes(end) for name, end in ends.items()}
    rated = seen.endurance
    shares = {
        name: None if rated is None or end.written_bytes is None else rated.share(end.written_bytes)
        for name, end in ends.items()
    }
    return asdict(seen) | {"drive_writes": drive_writes, "endurance_share": shares}


def table(seen: "Preview") -> list[str]:
    """Return a preview as lines: a table of least, expected and most, and what it rests on."""
    from teijo.units import format_capacity, format_duration

    ends, rated = (seen.least, seen.expected, seen.most), seen.endurance
    written = [end.written_bytes for end in ends]
    times = [seen.drive_writes(end) for end in ends]
    worn = [None if rated is None or each is None else rated.share(each) for each in written]
    unknown = "not known"
    rows = [
        ("duration", *(format_duration(end.duration_ns) for end in ends)),
        ("written", *(unknown if each is None else format_capacity(each) for each in written)),
        ("drive writes", *(unknown if each is None else f"{each:.2f}" for each in times)),
        ("of rated endurance", *(unknown if each is None else percent(each) for each in worn)),
        ("steps", *(f"{end.steps:,}" for end in ends)),
    ]
    head = ("", "AT LEAST (steady at once)", "EXPECTED (settles)", "AT MOST (never steady)")
    lines = [*console.columns(head, rows), "", f"Assumed: {seen.assumed}."]
    if rated is not None:
        size = format_capacity(rated.rated_bytes)
        if rated.low_bytes < rated.high_bytes:
            low, high = format_capacity(rated.low_bytes), format_capacity(rated.high_bytes)
            size += f" ({low} to {high})"
        lines.append(f"Rated endurance: {size}, {rated.source}.")
    return lines


def purge_as_object(
    purges: "tuple[Offer, ...] | TeijoError",
) -> list[dict[str, object]] | dict[str, str]:
    """Return what the named purge takes as JSON has it, or why it cannot be done here and now."""
    if isinstance(purges, TeijoError):
        return {"error": purges.message, "remedy": purges.remedy}
    return [asdict(one) for one in purges]


def purge_lines(purges: "tuple[Offer, ...] | TeijoError") -> list[str]:
    """Return the lines that tell what the named purge takes, none where it is no more than usual.

    All of its victims stand there as `--destroy` wants them: a second namespace is lost too.
    """
    if isinstance(purges, TeijoError):
        told = f"Purge: not here and now. {sentence(purges.message)}"
        return ["", told, *purges.remedy.splitlines()]
    if not purges:
        return []
    from teijo.device import serial
    from teijo.units import NS_PER_S, format_duration

    lines = [""]
    for one in purges:
        time = "the drive does not say how long it takes"
        if one.seconds is not None:
            time = f"{format_duration(one.seconds * NS_PER_S)} by the drive's word, to be added"
        lines.append(f"Purge: {one.title}; {time}. It takes {', '.join(one.victims)}.")
    victims = dict.fromkeys(name for one in purges for name in one.victims)
    return [*lines, f"To give that up: {serial.typed(list(victims))}"]


def hook_as_object(hook: "Hook | HostError | None") -> dict[str, object] | None:
    """Return the hook of a run as JSON has it, or why it cannot be known; None for none."""
    if isinstance(hook, HostError):
        return {"error": hook.message}
    return None if hook is None else asdict(hook)


def hook_lines(hook: "Hook | HostError | None") -> list[str]:
    """Return the lines that tell of the hook of a run, none where it has none."""
    if hook is None:
        return []
    if isinstance(hook, HostError):
        return ["", f"Hook: no digest. {hook.message}"]
    return ["", f"Hook: {hook.text}", f"Digest of the hook, for --hook: {hook.digest}"]


def percent(share: float) -> str:
    """Return a share in percent, to two significant digits."""
    return f"{share * 100:.2g} %" if share < 1 else f"{share * 100:,.0f} %"
