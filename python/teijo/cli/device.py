"""The verb `device`: who a target is, whether it may be destroyed, and what to type for that."""

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING

from teijo.cli import console, drive
from teijo.cli.health_text import verdict_json, verdict_line
from teijo.cli.options import Json, Target
from teijo.outside.text import shell_path
from teijo.report.width import columns_of
from teijo.speech.tongue import reported, said, tr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teijo.device import Inspection, Survey
    from teijo.device.health.report import HealthReport
    from teijo.terms.geometry import Geometry, Identity

EXAMPLES = (
    "teijo device /dev/disk/by-id/nvme-…    identity, every preflight check, what to type",
    "teijo device sim:mlc-a                 the parameters of a simulated drive",
    "teijo device stripe:/dev/sdb,/dev/sdc  several as one: what all, and what each, would need",
)


def verb(target: Target, as_json: Json = False) -> None:
    """Show who TARGET is and whether it may be written. Nothing is written by this."""
    from teijo.device import inspect_target, parse_target, survey
    from teijo.device.target import (
        BlockTarget,
        CompositeTarget,
        DatabaseTarget,
        DirectoryTarget,
        FileTarget,
        SimulatedTarget,
        check_work,
    )

    match parse_target(target, makes=False):
        case BlockTarget() as block:
            show_block(target, inspect_target(block), as_json)
        case FileTarget() as file if not file.path.exists():
            show_new_file(target, file.size_bytes or 0, as_json)
        case FileTarget() as file:
            # Looking at a file is no measurement: holes in it are no reason to refuse.
            show_open(survey(file, {"holes": "allow"}), as_json)
        case SimulatedTarget() as simulated:
            show_open(survey(simulated), as_json)
        case CompositeTarget() as several:
            show_several(target, inspect_target(several), as_json)
        case DirectoryTarget() | DatabaseTarget() as other:
            check_work(other, "blocks")


def show_block(target: str, seen: "Inspection", as_json: bool) -> None:
    """Print a block device with its preflight."""
    if as_json:
        first = {"unfinished": drive.unfinished_json(seen.drive)} if seen.drive else {}
        put_json(seen.identity, seen.geometry, answers(seen), first)
        return
    if seen.drive is not None and seen.drive.unfinished:
        drive.show_unfinished(seen.drive)
        console.put("")
    facts(seen.identity, seen.geometry)
    if seen.health is not None:
        console.put(health_line(target, seen.health))
    if seen.drive is not None:
        drive.show_drive(seen.drive)
    word, accept = shell_path(target), warnings([seen])
    preflight("may it be destroyed?", seen)
    if seen.destroy:
        console.put("")
        console.put(tr("To write to it, and lose everything on it:"))
        console.put(f"  teijo run pts.iops {word} --destroy {shlex.quote(seen.destroy)}{accept}")
    else:
        console.put("")
        console.put(" ".join([tr("It must not be written."), *remedies(seen)]))
    console.put(tr("To read from it:"))
    console.put(f"  teijo run workload {word}{accept} --set rw=randread bs=4KiB qd=32 seconds=10")


def health_line(target: str, health: "HealthReport") -> str:
    """Return the verdict on a drive's health in one line, and where more of it is told."""
    line, word = verdict_line(health.verdict), shell_path(target)
    source = f"{health.told_by}; " if health.told_by else ""
    return tr("health: {line} ({source}teijo health {word})", line=line, source=source, word=word)


def show_several(target: str, seen: "Inspection", as_json: bool) -> None:
    """Print a target of several members, the preflight of each, and what gives all of them up."""
    if as_json:
        members = [
            {"identity": who(one.identity), "geometry": asdict(one.geometry), **answers(one)}
            for one in seen.members
        ]
        put_json(seen.identity, seen.geometry, {"members": members, "destroy": seen.destroy})
        return
    facts(seen.identity, seen.geometry)
    accept = warnings(seen.members)
    for member in seen.members:
        if member.drive is not None:
            drive.show_unfinished(member.drive)
        if member.preflight.checks:
            preflight(f"may {member.identity.target} be destroyed?", member)
    word = shell_path(target)
    refused = [one for one in seen.members if one.preflight.refusals]
    if refused:
        names = ", ".join(one.identity.target for one in refused)
        found = dict.fromkeys(remedy for one in refused for remedy in remedies(one))
        console.put("")
        refusal = tr("It must not be written, for {names} must not.", names=names)
        console.put(" ".join([refusal, *found]))
    else:
        destroy = f" --destroy {shlex.quote(seen.destroy)}" if seen.destroy else ""
        loss = "To write to it, and lose everything on every block device of it:"
        console.put("")
        console.put(said(loss if destroy else "To write to it:"))
        console.put(f"  teijo run pts.iops {word}{destroy}{accept}")
    console.put(tr("To read from it:"))
    console.put(f"  teijo run workload {word}{accept} --set rw=randread bs=4KiB qd=32 seconds=10")


def warnings(seen: "Sequence[Inspection]") -> str:
    """Print what drives say against themselves; return what a run needs to measure them."""
    from teijo.device.health.fitness import OPTION
    from teijo.terms.drive_warning import MEANINGS, REFUSING

    rows = [
        (one.identity.target, warning.value, MEANINGS[warning])
        for one in seen
        for warning in (one.condition.warnings or () if one.condition else ())
    ]
    if rows:
        console.put("")
        console.put(tr("warnings: what it says against itself"))
        for line in console.columns(("DRIVE", "WARNING", "WHICH MEANS"), rows):
            console.put("  " + line)
    refusing = sorted({name for _, name, _ in rows} & REFUSING)
    return f" {OPTION} {','.join(refusing)}" if refusing else ""


def preflight(question: str, seen: "Inspection") -> None:
    """Print the answer of every check."""
    console.put("")
    console.put(tr("preflight: {question}", question=said(question)))
    checks = seen.preflight.checks
    rows = [(said(one.verdict), said(one.name), said(one.evidence)) for one in checks]
    for line in console.columns(("VERDICT", "CHECK", "WHAT WAS SEEN"), rows):
        console.put("  " + line)


def remedies(seen: "Inspection") -> list[str]:
    """Return what would end the refusals, each once."""
    found = (said(check.remedy) for check in seen.preflight.refusals if check.remedy)
    return list(dict.fromkeys(found))


def answers(seen: "Inspection") -> dict[str, object]:
    """Return the checks of a device and what to type, for JSON."""
    checks = [asdict(check) for check in seen.preflight.checks]
    health = seen.condition and {
        "warnings": seen.condition.warnings,
        "told_by": seen.condition.told_by,
        "verdict": seen.health and verdict_json(seen.health.verdict),
    }
    found: dict[str, object] = {"preflight": checks, "destroy": seen.destroy, "health": health}
    if seen.drive is not None:
        found["drive"] = drive.drive_json(seen.drive)
    return found


def show_new_file(target: str, size_bytes: int, as_json: bool) -> None:
    """Print what a target that does not exist yet would be."""
    from teijo.terms.geometry import Geometry, Identity

    geometry = Geometry(capacity_bytes=size_bytes, nominal_capacity_bytes=size_bytes)
    identity = Identity(kind="file", target=target)
    if as_json:
        put_json(identity, geometry, {"exists": False})
        return
    facts(identity, geometry)
    console.put("")
    console.put(tr("The file does not exist yet; `teijo run` makes it, and leaves it there."))


def show_open(seen: "Survey", as_json: bool) -> None:
    """Print an existing file or a simulated device, opened for reading."""
    from contextlib import closing

    from teijo.device import open_target

    with closing(open_target(seen, write=False)) as opened:
        remarks = opened.remarks()
        if as_json:
            listed = [{"kind": one.kind.value, "text": one.text} for one in remarks]
            put_json(opened.identity, opened.geometry, {"remarks": listed})
            return
        facts(opened.identity, opened.geometry)
        for remark in remarks:
            kind, text = reported(remark.kind.value), reported(remark.text)
            console.put(tr("remark: {kind}: {text}", kind=kind, text=text))


def put_json(
    identity: "Identity",
    geometry: "Geometry",
    more: "Mapping[str, object]",
    first: "Mapping[str, object] | None" = None,
) -> None:
    """Print a device as JSON; `first` stands before everything else."""
    whole = {**(first or {}), "identity": who(identity), "geometry": asdict(geometry), **more}
    console.put_json(whole)


def who(identity: "Identity") -> dict[str, object]:
    """Return an identity for JSON."""
    return asdict(identity) | {"facts": dict(identity.facts)}


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
    shown = [(said(name), value) for name, value in rows if value]
    width = max(columns_of(name) for name, _ in shown)
    for name, value in shown:
        console.put(f"{' ' * (width - columns_of(name))}{name}  {value}")
