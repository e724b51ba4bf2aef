"""The verb `preview`: how long a run takes and how much it writes, before anything happens."""

import json
from dataclasses import asdict

from teijo.cli import talk
from teijo.cli.options import Json, Method, MoreSettings, Settings, Spec, Target, settings_from

EXAMPLES = (
    "teijo preview iops /dev/disk/by-id/nvme-…",
    "teijo preview iops 'drive.img?size=8GiB' --set minute=1s rounds=10",
)


def verb(
    method: Method,
    target: Target,
    more: MoreSettings = None,
    settings: Settings = None,
    spec: Spec = "",
    as_json: Json = False,
) -> None:
    """Say how long METHOD would take on TARGET and how much it would write. Writes nothing."""
    given = settings_from(settings, more)

    from teijo import api
    from teijo.units import format_capacity, format_duration

    seen = api.preview(method, target, spec=spec, settings=given)
    if as_json:
        drive_writes = {"least": seen.drive_writes_least, "most": seen.drive_writes_most}
        whole = asdict(seen) | {"drive_writes": drive_writes}
        talk.put(json.dumps(whole, ensure_ascii=False, indent=2))
        return
    least, most = seen.least, seen.most
    rows = [
        ("duration", format_duration(least.duration_ns), format_duration(most.duration_ns)),
        ("written", format_capacity(least.written_bytes), format_capacity(most.written_bytes)),
        ("drive writes", f"{seen.drive_writes_least:.2f}", f"{seen.drive_writes_most:.2f}"),
        ("steps", f"{least.steps:,}", f"{most.steps:,}"),
    ]
    head = ("", "AT LEAST (steady at once)", "AT MOST (never steady)")
    for line in talk.columns(head, rows):
        talk.put(line)
    talk.put(f"\nAssumed: {seen.assumed}.")
