"""What several members are as one target: its layout, size, name and counters. Pure.

docs/targets.md says the same in prose.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from teijo.device.target import CompositeTarget
from teijo.document.phrase import say
from teijo.engine.plan import Layout
from teijo.errors import TargetError
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.result import Health
from teijo.units import MIB, format_size

GRAIN_BYTES: Final = MIB
"""Concatenated members end at a whole one: then no block up to this size lies across two."""

SUMMED: Final = frozenset(
    {
        "kernel_reads",
        "kernel_read_bytes",
        "kernel_writes",
        "kernel_write_bytes",
        "kernel_discard_bytes",
        "kernel_flushes",
        "host_reads_bytes",
        "host_writes_bytes",
        "nand_writes_bytes",
        "media_errors",
        "unsafe_shutdowns",
    }
)
"""Counters of events, which add up. The others are states (temperature, wear) and do not."""

TRAFFIC: Final = frozenset({"kernel_read_bytes", "kernel_write_bytes"})
"""What is counted for each member too: it shows whether they carry the same load."""


def layout_over(target: CompositeTarget, members: Sequence[Geometry]) -> Layout:
    """Return how a composite's address space lies over its members, in whole chunks.

    Raises:
        teijo.errors.TargetError: the chunk divides a logical block, or a member holds none.
    """
    logical = max(member.logical_block_bytes for member in members)
    grain = target.chunk_bytes or GRAIN_BYTES
    if grain % logical:
        raise TargetError(
            f"A chunk of {format_size(grain)} is no multiple of the logical block of {logical} B",
            remedy="Write a chunk like 64KiB.",
        )
    used = [member.capacity_bytes // grain * grain for member in members]
    for member, held in zip(target.members, used, strict=True):
        if held == 0:
            raise TargetError(
                f"{member.text} holds less than {format_size(grain)}, one piece of {target.text}",
                remedy="Use a smaller chunk or a larger member.",
            )
    match target.kind:
        case "concatenated":
            return Layout(kind="concatenated", member_bytes=tuple(used))
        case "striped":
            equal = (min(used),) * len(used)
            return Layout(kind="striped", member_bytes=equal, chunk_bytes=grain)


def geometry_over(target: CompositeTarget, members: Sequence[Geometry]) -> Geometry:
    """Return the size of a composite; its blocks are the largest of its members'.

    Raises:
        teijo.errors.TargetError: as `layout_over`.
    """
    capacity = layout_over(target, members).capacity_bytes
    return Geometry(
        capacity_bytes=capacity,
        nominal_capacity_bytes=capacity,
        logical_block_bytes=max(member.logical_block_bytes for member in members),
        physical_block_bytes=max(member.physical_block_bytes for member in members),
    )


def identity_over(
    target: CompositeTarget, members: Sequence[Identity], geometries: Sequence[Geometry]
) -> Identity:
    """Return who a composite is: its members' names in their order, joined.

    Facts that all members share stand once, the others with the member's number before each.
    """
    return Identity(
        kind="block" if any(member.kind == "block" for member in members) else "file",
        target=target.text,
        model=_model(target, members),
        serial=",".join(member.serial for member in members if member.serial),
        firmware=_joined(member.firmware for member in members),
        interface=_joined(member.interface for member in members),
        wwid=_joined(member.wwid for member in members),
        write_cache=_joined(member.write_cache for member in members),
        facts=_layout_facts(target, members, geometries) | _facts(members),
    )


def health_over(members: Sequence[Health]) -> dict[str, int]:
    """Return the counters of a composite.

    A counter of events is the members' sum, where every member counts it. States, and the bytes
    moved, are also given for each member: `NAME_member_1`.
    """
    names = dict.fromkeys(name for member in members for name in member)
    counters = {
        name: sum(member[name] for member in members)
        for name in names
        if name in SUMMED and all(name in member for member in members)
    }
    for name in names:
        if name not in SUMMED or name in TRAFFIC:
            for number, member in enumerate(members, 1):
                if name in member:
                    counters[f"{name}_member_{number}"] = member[name]
    return counters


def _model(target: CompositeTarget, members: Sequence[Identity]) -> str:
    counts = Counter(member.model or member.target for member in members)
    models = ", ".join(f"{n} × {model}" if n > 1 else model for model, n in counts.items())
    match target.kind:
        case "concatenated":
            return say("concatenated over {n}: {models}", n=len(members), models=models)
        case "striped":
            return say("striped over {n}: {models}", n=len(members), models=models)


def _joined(texts: Iterable[str]) -> str:
    """Return what all have in common once, or each in its place; empty where no one has any."""
    listed = list(texts)
    if len(set(listed)) == 1:
        return listed[0]
    return ", ".join(text or "not known" for text in listed)


def _layout_facts(
    target: CompositeTarget, members: Sequence[Identity], geometries: Sequence[Geometry]
) -> dict[str, str]:
    facts: dict[str, str] = {"layout": target.kind}
    if target.chunk_bytes:
        facts["chunk"] = format_size(target.chunk_bytes)
    for number, (who, size) in enumerate(zip(members, geometries, strict=True), 1):
        name = " ".join(filter(None, (who.target, who.model, who.serial)))
        held = format_size(size.capacity_bytes)
        facts[f"member {number}"] = say("{name}, {held}", name=name, held=held)
    whole_bytes = sum(size.capacity_bytes for size in geometries)
    left_bytes = whole_bytes - geometry_over(target, geometries).capacity_bytes
    if left_bytes:
        facts["left out"] = say(
            "{left} of the {whole} that the members hold, at their ends",
            left=format_size(left_bytes),
            whole=format_size(whole_bytes),
        )
    return facts


def _facts(members: Sequence[Identity]) -> dict[str, str]:
    facts = {}
    for name in dict.fromkeys(name for member in members for name in member.facts):
        values = [member.facts.get(name, "") for member in members]
        if len(set(values)) == 1:
            facts[name] = values[0]
        else:
            facts[name] = "; ".join(f"{n}: {value}" for n, value in enumerate(values, 1) if value)
    return facts
