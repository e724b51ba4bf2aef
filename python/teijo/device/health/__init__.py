"""A drive's health: its own logs read and decoded, a verdict on them, and what a run asks for."""

from teijo.device.health.asked import (
    asked_counters,
    free_counters,
    kernel_counters,
    opening_condition,
)
from teijo.device.health.raw import Unreadable
from teijo.device.health.reading import Counters, Vendor, read_counters, read_vendor

__all__ = [
    "Counters",
    "Unreadable",
    "Vendor",
    "asked_counters",
    "free_counters",
    "kernel_counters",
    "opening_condition",
    "read_counters",
    "read_vendor",
]
