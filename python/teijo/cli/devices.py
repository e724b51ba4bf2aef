"""The verb `devices`: what can be measured on this machine, and what uses it now."""

from teijo.cli import console
from teijo.cli.options import Json
from teijo.speech import tongue

EXAMPLES = (
    "teijo devices                  block devices, then simulated ones",
    "teijo devices --json | jq -r '.block[].target'",
)


def verb(as_json: Json = False) -> None:
    """List block devices with what uses them, and the simulated devices."""
    from dataclasses import asdict

    from teijo.device import list_devices
    from teijo.engine import simulated_kinds, simulated_presets
    from teijo.units import format_capacity

    found = list_devices()
    presets = simulated_presets()
    kinds = simulated_kinds()
    if as_json:
        listed = {
            "block": [asdict(one) for one in found],
            "simulated": [asdict(one) for one in presets],
            "simulated_kinds": [{"name": name, "about": about} for name, about in kinds],
        }
        console.put_json(listed)
        return
    rows = [
        (
            one.target,
            one.model or "-",
            one.serial or "-",
            format_capacity(one.capacity_bytes),
            tongue.said(one.use or "free"),
        )
        for one in found
    ]
    for line in console.columns(("BLOCK DEVICE", "MODEL", "SERIAL", "CAPACITY", "IN USE"), rows):
        console.put(line)
    console.put("")
    simulated = [
        (
            f"sim:{one.name}",
            tongue.said(one.label),
            format_capacity(one.nominal_capacity_bytes),
            tongue.said(one.about),
        )
        for one in presets
    ]
    for line in console.columns(("SIMULATED", "NUMBERS ARE", "CAPACITY", "WHAT IT IS"), simulated):
        console.put(line)
    console.put("")
    together = [(f"sim:{name}(…)", tongue.said(about)) for name, about in kinds]
    for line in console.columns(("PUT TOGETHER", "WHAT IT IS"), together):
        console.put(line)
