"""Plans and hosts made up for tests: what a host tells, and small simulated drives."""

from typing import Any

from teijo.fleet.plan import Plan, plan_of

DRIVE = "slc-a?capacity=1GiB&seed={n}"
"""A simulated drive that is small enough for a moment, and differs by its seed."""
QUICK = 'method = "workload"\nsettings = { seconds = 2, rw = "randread" }\nseed = 7\n'


def plan(rules: str, head: str = 'fleet = "lab"\n' + QUICK) -> Plan:
    """Return a plan with these rules."""
    return plan_of(head + rules)


def drive(serial: str, **more: Any) -> dict[str, Any]:
    """Return a drive as a host tells of it."""
    usual = {
        "target": f"/dev/{serial.lower()}",
        "name": serial.lower(),
        "model": "ACME X",
        "serial": serial,
        "capacity_bytes": 1 << 30,
        "use": "",
        "by_id": [f"nvme-{serial}"],
    }
    return usual | more  # fmt: skip


def told(*drives: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return what a host tells of itself."""
    return {"name": "host", "teijo": "0", "build": "b", "drives": list(drives)} | more
