"""The verb `preview`: how long a run takes and how much it writes, before anything happens."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from teijo.cli import talk
from teijo.cli.options import Json, Method, MoreSettings, Settings, Spec, Target, settings_from

if TYPE_CHECKING:
    from teijo.runner.preview import Extent

EXAMPLES = (
    "teijo preview iops /dev/disk/by-id/nvme-…",
    "teijo preview iops 'drive.img?size=8GiB' --set minute=1s rounds=10",
)


def verb(
    method: Method,
    target: Target,
    more: MoreSettings = None,
    settings: Settings = None,
    spec: Spec = None,
    as_json: Json = False,
) -> None:
    """Say how long METHOD would take on TARGET and how much it would write. Writes nothing."""
    given = settings_from(settings, more)

    from teijo import api
    from teijo.units import format_duration

    seen = api.preview(method, target, spec=spec, settings=given)
    if as_json:
        drive_writes = {"least": seen.drive_writes_least, "most": seen.drive_writes_most}
        whole = asdict(seen) | {"drive_writes": drive_writes}
        talk.put(json.dumps(whole, ensure_ascii=False, indent=2))
        return
    least, most = seen.least, seen.most
    rows = [
        (name, show(least), show(most))
        for name, show in (
            ("duration", lambda extent: format_duration(extent.duration_ns)),
            ("written", lambda extent: written(extent)),
            ("steps", lambda extent: f"{extent.steps:,}"),
        )
    ]
    rows.append(("drive writes", f"{seen.drive_writes_least:.2f}", f"{seen.drive_writes_most:.2f}"))
    head = ("", "AT LEAST (steady at once)", "AT MOST (never steady)")
    for line in talk.columns(head, rows):
        talk.put(line)
    talk.put(f"\nAssumed: {seen.assumed}.")


def written(extent: "Extent") -> str:
    """Return the bytes a run writes, in decimal units."""
    from teijo.units import format_capacity

    return format_capacity(extent.written_bytes)
