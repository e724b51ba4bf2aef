"""The platform of a run, taken once before its first step: ceilings, link, and facts as rows."""

from collections.abc import Sequence

from teijo.device.device import Device
from teijo.device.platform import device_facts
from teijo.device.target import parse_target
from teijo.errors import TeijoError
from teijo.methods.method import AnyMethod
from teijo.methods.settings import Settings
from teijo.runner.calibration import of_run
from teijo.runner.ceiling import described
from teijo.terms.platform import FACT, platform_to_json


def platform_facts(
    method: AnyMethod, settings: Settings, device: Device, cpus: Sequence[int]
) -> dict[str, str]:
    """Return what a run's environment has of the way to its device; nothing in virtual time.

    Where the engine is fio, or the device has no blocks, there are facts and no ceilings.
    """
    if device.replayable:
        return {}
    ceilings = device.session.ceilings()
    try:
        facts, link = device_facts(parse_target(device.identity.target))
    except TeijoError:  # the name of a device of the tests, or of a program that has its own
        facts, link = {}, None
    facts |= described(ceilings)
    if ceilings is None or not device.geometry.has_capacity:
        return facts
    platform = of_run(
        method, settings, device.geometry, backend=device.session.backend, cpus=cpus, link=link
    )
    return facts | {FACT: platform_to_json(platform)} if platform.cells else facts
