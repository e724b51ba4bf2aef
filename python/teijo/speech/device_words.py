"""A device in words: the list of all, who one is, whether it may be destroyed, what to type."""

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from teijo.outside.text import shell_path
from teijo.speech.health_words import verdict_line
from teijo.speech.sections import Facts, Table, Typed
from teijo.speech.tongue import reported, said, tr
from teijo.units import format_capacity, format_size

if TYPE_CHECKING:
    from teijo.device import FoundDevice, Inspection
    from teijo.device.health.report import HealthReport
    from teijo.engine import SimulatedPreset
    from teijo.terms.geometry import Geometry, Identity
    from teijo.terms.remark import Remark


def block_devices(found: "Iterable[FoundDevice]") -> Table:
    """Return the block devices of a machine, with what uses each."""
    rows = [
        (
            one.target,
            one.model or "-",
            one.serial or "-",
            format_capacity(one.capacity_bytes),
            said(one.use or "free"),
        )
        for one in found
    ]
    return Table("", ("BLOCK DEVICE", "MODEL", "SERIAL", "CAPACITY", "IN USE"), rows)


def listed_facts(found: "FoundDevice") -> Facts:
    """Return what the list tells of a block device, for one of which nothing more is known."""
    rows = (
        ("target", found.target),
        ("model", found.model),
        ("serial", found.serial),
        ("capacity", format_capacity(found.capacity_bytes)),
    )
    return Facts(tr("what it is"), rows)


def use_line(found: "FoundDevice") -> str:
    """Return what uses a block device now."""
    return tr("now: {use}", use=said(found.use or "free"))


def simulated_devices(presets: "Iterable[SimulatedPreset]") -> Table:
    """Return the simulated devices that have a name."""
    rows = [
        (
            f"sim:{one.name}",
            said(one.label),
            format_capacity(one.nominal_capacity_bytes),
            said(one.about),
        )
        for one in presets
    ]
    return Table("", ("SIMULATED", "NUMBERS ARE", "CAPACITY", "WHAT IT IS"), rows)


def put_together(kinds: Iterable[tuple[str, str]]) -> Table:
    """Return the simulated devices that are put together of others."""
    rows = [(f"sim:{name}(…)", said(about)) for name, about in kinds]
    return Table("", ("PUT TOGETHER", "WHAT IT IS"), rows)


def identity_facts(identity: "Identity", geometry: "Geometry") -> Facts:
    """Return who a device is and how large; what is unknown is left out."""
    capacity = geometry.capacity_bytes
    nominal = format_capacity(geometry.nominal_capacity_bytes)
    rows = (
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
    )
    return Facts("", rows)


def remark_line(remark: "Remark") -> str:
    """Return a remark on a device in one line."""
    kind, text = reported(remark.kind.value), reported(remark.text)
    return tr("remark: {kind}: {text}", kind=kind, text=text)


def health_line(target: str, health: "HealthReport") -> str:
    """Return the verdict on a drive's health in one line, and where more of it is told."""
    line, word = verdict_line(health.verdict), shell_path(target)
    source = f"{health.told_by}; " if health.told_by else ""
    return tr("health: {line} ({source}teijo health {word})", line=line, source=source, word=word)


def preflight(question: str, seen: "Inspection") -> Table:
    """Return the answer of every check; `question` is asked in English."""
    checks = seen.preflight.checks
    rows = [(said(one.verdict), said(one.name), said(one.evidence)) for one in checks]
    title = tr("preflight: {question}", question=said(question))
    verdicts = [one.verdict for one in checks]
    return Table(title, ("VERDICT", "CHECK", "WHAT WAS SEEN"), rows, tones=verdicts)


def warnings(seen: "Sequence[Inspection]") -> Table:
    """Return what drives say against themselves."""
    from teijo.terms.drive_warning import MEANINGS

    rows = [
        (one.identity.target, warning.value, MEANINGS[warning])
        for one in seen
        for warning in (one.condition.warnings or () if one.condition else ())
    ]
    title = tr("warnings: what it says against itself")
    return Table(title, ("DRIVE", "WARNING", "WHICH MEANS"), rows)


def remedies(seen: "Inspection") -> list[str]:
    """Return what would end the refusals, each once."""
    found = (said(check.remedy) for check in seen.preflight.refusals if check.remedy)
    return list(dict.fromkeys(found))


def accepting(seen: "Sequence[Inspection]") -> str:
    """Return the option that measures drives in spite of what they say; "" where none is needed."""
    from teijo.device.health.fitness import OPTION
    from teijo.terms.drive_warning import REFUSING

    said_by = (one.condition.warnings or () for one in seen if one.condition)
    refusing = sorted({warning.value for each in said_by for warning in each} & REFUSING)
    return f" {OPTION} {','.join(refusing)}" if refusing else ""


def typed(target: str, seen: "Inspection") -> tuple[Typed, Typed]:
    """Return what to type to write to a block device, or why not, and to read from it."""
    accept = accepting([seen])
    if seen.destroy:
        words = tr("To write to it, and lose everything on it:")
        write = writing(target, words, seen.destroy, accept)
    else:
        write = Typed(" ".join([tr("It must not be written."), *remedies(seen)]))
    return write, reading(target, accept)


def writing(target: str, words: str, destroy: str, accept: str) -> Typed:
    """Return what to type to write to a target; `destroy` is "" where nothing is given up."""
    given = f" --destroy {shlex.quote(destroy)}" if destroy else ""
    return Typed(words, f"teijo run pts.iops {shell_path(target)}{given}{accept}")


def reading(target: str, accept: str) -> Typed:
    """Return what to type to read from a target."""
    settings = "--set rw=randread bs=4KiB qd=32 seconds=10"
    command = f"teijo run workload {shell_path(target)}{accept} {settings}"
    return Typed(tr("To read from it:"), command)
