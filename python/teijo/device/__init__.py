"""Devices: found, identified, claimed, purged. Nothing is written before preflight says so."""

from teijo.device.device import Device
from teijo.device.discover import FoundDevice, list_devices
from teijo.device.opening import Inspection, geometry_of, inspect_target, open_target
from teijo.device.preflight import Preflight
from teijo.device.target import Target, parse_target, split_settings

__all__ = [
    "Device",
    "FoundDevice",
    "Inspection",
    "Preflight",
    "Target",
    "geometry_of",
    "inspect_target",
    "list_devices",
    "open_target",
    "parse_target",
    "split_settings",
]
