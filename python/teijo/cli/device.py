"""The verb `device`: who a target is, whether it may be destroyed, and what to type for that."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from teijo.cli import console, drive
from teijo.cli.options import Json, Target
from teijo.cli.sections import put_plain, put_sections, put_typed
from teijo.speech import device_words
from teijo.speech.tongue import said, tr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teijo.device import Inspection, Survey
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
    from teijo.api import device_json

    if as_json:
        first = {"unfinished": device_json.unfinished_json(seen.drive)} if seen.drive else {}
        put_json(seen.identity, seen.geometry, answers(seen), first)
        return
    if seen.drive is not None and seen.drive.unfinished:
        drive.show_unfinished(seen.drive)
        console.put("")
    put_plain(device_words.identity_facts(seen.identity, seen.geometry))
    if seen.health is not None:
        console.put(device_words.health_line(target, seen.health))
    if seen.drive is not None:
        drive.show_drive(seen.drive)
    checks = device_words.preflight("may it be destroyed?", seen)
    put_sections((device_words.warnings([seen]), checks))
    write, read = device_words.typed(target, seen)
    console.put("")
    put_typed(write)
    put_typed(read)


def show_several(target: str, seen: "Inspection", as_json: bool) -> None:
    """Print a target of several members, the preflight of each, and what gives all of them up."""
    if as_json:
        members = [
            {"identity": who(one.identity), "geometry": asdict(one.geometry), **answers(one)}
            for one in seen.members
        ]
        put_json(seen.identity, seen.geometry, {"members": members, "destroy": seen.destroy})
        return
    put_plain(device_words.identity_facts(seen.identity, seen.geometry))
    put_sections([device_words.warnings(seen.members)])
    for member in seen.members:
        if member.drive is not None:
            drive.show_unfinished(member.drive)
        if member.preflight.checks:
            question = f"may {member.identity.target} be destroyed?"
            put_sections([device_words.preflight(question, member)])
    accept = device_words.accepting(seen.members)
    refused = [one for one in seen.members if one.preflight.refusals]
    console.put("")
    if refused:
        names = ", ".join(one.identity.target for one in refused)
        found = dict.fromkeys(each for one in refused for each in device_words.remedies(one))
        refusal = tr("It must not be written, for {names} must not.", names=names)
        console.put(" ".join([refusal, *found]))
    else:
        loss = "To write to it, and lose everything on every block device of it:"
        words = said(loss if seen.destroy else "To write to it:")
        put_typed(device_words.writing(target, words, seen.destroy, accept))
    put_typed(device_words.reading(target, accept))


def answers(seen: "Inspection") -> dict[str, object]:
    """Return the checks of a device and what to type, for JSON."""
    from teijo.api import device_json

    checks = [asdict(check) for check in seen.preflight.checks]
    health = seen.condition and {
        "warnings": seen.condition.warnings,
        "told_by": seen.condition.told_by,
        "verdict": seen.health and device_json.verdict_json(seen.health.verdict),
    }
    found: dict[str, object] = {"preflight": checks, "destroy": seen.destroy, "health": health}
    if seen.drive is not None:
        found["drive"] = device_json.drive_json(seen.drive)
    return found


def show_new_file(target: str, size_bytes: int, as_json: bool) -> None:
    """Print what a target that does not exist yet would be."""
    from teijo.terms.geometry import Geometry, Identity

    geometry = Geometry(capacity_bytes=size_bytes, nominal_capacity_bytes=size_bytes)
    identity = Identity(kind="file", target=target)
    if as_json:
        put_json(identity, geometry, {"exists": False})
        return
    put_plain(device_words.identity_facts(identity, geometry))
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
        put_plain(device_words.identity_facts(opened.identity, opened.geometry))
        for remark in remarks:
            console.put(device_words.remark_line(remark))


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
