"""The verb `devices`: what can be measured on this machine, and what uses it now."""

from teijo.cli import console
from teijo.cli.options import Json

EXAMPLES = (
    "teijo devices                  block devices, then simulated ones",
    "teijo devices --json | jq -r '.block[].target'",
)


def verb(as_json: Json = False) -> None:
    """List block devices with what uses them, and the simulated devices."""
    from teijo.api.device_json import devices_json
    from teijo.cli.sections import put_listing
    from teijo.device import list_devices
    from teijo.engine import simulated_kinds, simulated_presets
    from teijo.speech import device_words

    found, presets, kinds = list_devices(), simulated_presets(), simulated_kinds()
    if as_json:
        console.put_json(devices_json(found, presets, kinds))
        return
    put_listing(device_words.block_devices(found))
    console.put("")
    put_listing(device_words.simulated_devices(presets))
    console.put("")
    put_listing(device_words.put_together(kinds))
