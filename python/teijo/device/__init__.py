"""Devices: found, identified, claimed, purged. Nothing is written before preflight says so."""

from teijo.device.device import Device
from teijo.device.discover import FoundDevice, list_devices
from teijo.device.hook_consent import Hook, hook_to_resume, hook_to_run
from teijo.device.opening import Inspection, inspect_target, open_on_hosts, open_target
from teijo.device.preflight import Preflight
from teijo.device.survey import Survey, survey
from teijo.device.target import Target, parse_target

__all__ = [
    "Device",
    "FoundDevice",
    "Hook",
    "Inspection",
    "Preflight",
    "Survey",
    "Target",
    "hook_to_resume",
    "hook_to_run",
    "inspect_target",
    "list_devices",
    "open_on_hosts",
    "open_target",
    "parse_target",
    "survey",
]
