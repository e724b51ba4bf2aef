"""The verb `device`: who a target is, whether it may be destroyed, and what to type for that."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from teijo.cli import talk
from teijo.cli.options import Json, Target

if TYPE_CHECKING:
    from teijo.device import Inspection
    from teijo.terms.geometry import Geometry, Identity

EXAMPLES = (
    "teijo device /dev/disk/by-id/nvme-…    identity, every preflight check, what to type",
    "teijo device sim:mlc-a                 the parameters of a simulated drive",
)


def verb(target: Target, as_json: Json = False) -> None:
    """Show who TARGET is and whether it may be written. Nothing is written by this."""
    from teijo.device import inspect_target, parse_target
    from teijo.device.target import BlockTarget, FileTarget, SimulatedTarget

    match parse_target(target):
        case BlockTarget():
            show_block(target, inspect_target(target), as_json)
        case FileTarget() as file if not file.path.exists():
            show_new_file(target, file.size_bytes or 0, as_json)
        case FileTarget():
            # Looking at a file is no measurement: holes in it are no reason to refuse.
            show_open(f"{target}{'&' if '?' in target else '?'}holes=allow", as_json)
        case SimulatedTarget():
            show_open(target, as_json)


def show_block(target: str, seen: "Inspection", as_json: bool) -> None:
    """Print a block device with its preflight."""
    checks = seen.preflight.checks
    if as_json:
        put_json(
            seen.identity,
            seen.geometry,
            {"preflight": [asdict(check) for check in checks], "destroy": seen.destroy},
        )
        return
    facts(seen.identity, seen.geometry)
    talk.put("\npreflight: may it be destroyed?")
    rows = [(check.verdict, check.name, check.evidence) for check in checks]
    for line in talk.columns(("VERDICT", "CHECK", "WHAT WAS SEEN"), rows):
        talk.put("  " + line)
    remedies = dict.fromkeys(check.remedy for check in seen.preflight.refusals if check.remedy)
    if seen.destroy:
        talk.put("\nTo write to it, and lose everything on it:")
        talk.put(f"  teijo run pts.iops {target} --destroy {seen.destroy}")
    else:
        talk.put("\nIt must not be written. " + " ".join(remedies))
    talk.put("To read from it:")
    talk.put(f"  teijo run workload {target} --set rw=randread bs=4KiB qd=32 seconds=10")


def show_new_file(target: str, size_bytes: int, as_json: bool) -> None:
    """Print what a target that does not exist yet would be."""
    from teijo.terms.geometry import Geometry, Identity

    geometry = Geometry(capacity_bytes=size_bytes, nominal_capacity_bytes=size_bytes)
    identity = Identity(kind="file", target=target)
    if as_json:
        put_json(identity, geometry, {"exists": False})
        return
    facts(identity, geometry)
    talk.put("\nThe file does not exist yet; `teijo run` makes it, and leaves it there.")


def show_open(target: str, as_json: bool) -> None:
    """Print an existing file or a simulated device, opened for reading."""
    from contextlib import closing

    from teijo.device import open_target

    with closing(open_target(target, write=False)) as opened:
        remarks = opened.remarks()
        if as_json:
            listed = [{"kind": one.kind.value, "text": one.text} for one in remarks]
            put_json(opened.identity, opened.geometry, {"remarks": listed})
            return
        facts(opened.identity, opened.geometry)
        for remark in remarks:
            talk.put(f"remark: {remark.kind.value}: {remark.text}")


def put_json(identity: "Identity", geometry: "Geometry", more: dict[str, object]) -> None:
    """Print a device as JSON."""
    who = asdict(identity) | {"facts": dict(identity.facts)}
    whole = {"identity": who, "geometry": asdict(geometry), **more}
    talk.put(json.dumps(whole, ensure_ascii=False, indent=2))


def facts(identity: "Identity", geometry: "Geometry") -> None:
    """Print who a device is and how large, one fact a line; what is unknown is left out."""
    from teijo.units import format_capacity, format_size

    capacity = geometry.capacity_bytes
    nominal = format_capacity(geometry.nominal_capacity_bytes)
    rows = [
        ("target", identity.target),
        ("kind", identity.kind),
        ("model", identity.model),
        ("serial", identity.serial),
        ("firmware", identity.firmware),
        ("interface", identity.interface),
        ("wwid", identity.wwid),
        ("write cache", identity.write_cache),
        ("capacity", f"{format_capacity(capacity)} ({format_size(capacity)}, {capacity:,} bytes)"),
        ("stands for", f"{nominal}, {geometry.scale:g} times as large" * (geometry.scale != 1)),
        ("logical block", f"{geometry.logical_block_bytes} B"),
        ("physical block", f"{geometry.physical_block_bytes} B"),
        *identity.facts.items(),
    ]
    width = max(len(name) for name, value in rows if value)
    for name, value in rows:
        if value:
            talk.put(f"{name.rjust(width)}  {value}")
