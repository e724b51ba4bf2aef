"""Devices: found, identified, claimed, purged. Nothing is written before preflight says so."""

from teijo.device.device import Device
from teijo.device.discover import FoundDevice, list_devices
from teijo.device.hook_consent import Hook, hook_to_resume, hook_to_run
from teijo.device.opening import (
    Inspection,
    facts_of,
    geometry_of,
    health_of,
    inspect_target,
    open_target,
    rehearsal_of,
)
from teijo.device.preflight import Preflight
from teijo.device.target import Target, parse_target, split_settings

__all__ = [
    "Device",
    "FoundDevice",
    "Hook",
    "Inspection",
    "Preflight",
    "Target",
    "facts_of",
    "geometry_of",
    "health_of",
    "hook_to_resume",
    "hook_to_run",
    "inspect_target",
    "list_devices",
    "open_target",
    "parse_target",
    "rehearsal_of",
    "split_settings",
]
