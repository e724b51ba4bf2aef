"""What the record shows of the device: that it is one, its purge, its cache, its other users."""

import re

from teijo import units
from teijo.analysis import validity
from teijo.conformance.requirement import Case, Found
from teijo.conformance.verdicts import ends, met_if, untold
from teijo.document.phrase import Verbatim, listed, say
from teijo.terms.purge import METHODS, PurgeResult, result_in
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import WRITE_CACHE_ENABLED, StepResult
from teijo.terms.step import Measure, Purge

KERNEL_CACHE = "queue/write_cache"
CACHE_BEFORE = "write cache before"
CACHE_IN_KERNEL = "write cache by the kernel"
COMPOSITE_FACT = "layout"
PARTITION_FACT = "partition"
NAMED_PURGES = re.compile(r"format|secure erase|sanitize", re.IGNORECASE)
"""ATA SECURITY ERASE, SCSI FORMAT UNIT, and NVMe's commands of the same kind."""

_PARTITION_SERIAL = re.compile(r"-part\d+$")


_CACHE_STATES = {
    "enabled": "enabled",
    "on": "enabled",
    "write back": "enabled",
    "disabled": "disabled",
    "off": "disabled",
    "write through": "disabled",
}


def cache_state(write_cache: str) -> str | None:
    """Return "enabled" or "disabled" for what a device said of its cache, None if neither."""
    return _CACHE_STATES.get(write_cache.strip().lower())


def target(case: Case) -> Found:
    """Judge whether it is a whole device, not a file, a part, several as one, or a model."""
    identity = case.record.identity
    size = say("{bytes:,} B", bytes=case.record.geometry.capacity_bytes)
    match identity.kind:
        case "simulated":
            return met_if(False, say("a model of a device, {size}", size=size))
        case "file" | "directory" | "database" | "none":
            text = say("a file of {size} on a file system", size=size)
            return met_if(False, text, "file target")
        case "block":
            pass
    if COMPOSITE_FACT in identity.facts:
        return met_if(False, say("several devices as one, {size}", size=size), "several devices")
    if PARTITION_FACT in identity.facts or _PARTITION_SERIAL.search(identity.serial):
        return met_if(False, say("a partition of {size}", size=size), "partition")
    return met_if(True, say("a whole block device of {size}", size=size))


def purge(case: Case) -> Found:
    """Judge whether it was purged by a method that the standard names, every time."""
    purges = [answer for _, _, answer in case.of_kind(Purge)]
    if not purges:
        return met_if(False, "no purge took place") if case.measured else untold("not yet")
    methods = [purge.detail.get("method", "") for purge in purges]
    if any(method == "none" for method in methods):
        return met_if(False, "the device cannot be purged; it began as it was found", "not purged")
    told = listed(dict.fromkeys(methods))
    lasted = units.format_duration(sum(purge.elapsed_ns for purge in purges))
    evidence = say(
        "{method}; {time} in all, purges: {count}", method=told, time=lasted, count=len(purges)
    )
    if case.is_simulated:
        return met_if(True, evidence)
    typed = [result_in(purge.detail) for purge in purges]
    if any(one is not None and one.is_cryptographic for one in typed):
        return Found(
            verdict="not verifiable",
            evidence=say("{told}: a changed key is not the state never written", told=evidence),
            short="purge only cryptographic",
        )
    if all(map(_is_named, typed, methods)):
        return met_if(True, evidence)
    # A discard may do the same or not: nobody can see that from outside.
    return Found(
        verdict="not verifiable",
        evidence=say("{told}: no method that the standard names", told=evidence),
        short="purge only claimed",
    )


def _is_named(found: PurgeResult | None, words: str) -> bool:
    """Return whether the standard names it; by its words in a file that has no more than these."""
    if found is None:
        return bool(NAMED_PURGES.search(words))
    return found.method in METHODS and not found.claimed and found.is_proven


def write_cache(case: Case) -> Found:
    """Judge the cache's state, as the device or the kernel says it is."""
    identity = case.record.identity
    if case.is_simulated:
        return untold(say("the model has a {cache}, which nobody switches",
                          cache=identity.write_cache))  # fmt: skip
    state = cache_state(identity.write_cache)
    if state is None:
        return untold(say("read back: {cache}", cache=identity.write_cache or "nothing"))
    read_by = identity.facts.get("write cache read by", KERNEL_CACHE)
    text = say("read back: {cache} ({source}), when the device was opened",
               cache=identity.write_cache, source=Verbatim(read_by))  # fmt: skip
    before = identity.facts.get(CACHE_BEFORE)
    if before is not None:
        text = say(
            "{read}; switched for this run, it was {before} before", read=text, before=before
        )
    believed = identity.facts.get(CACHE_IN_KERNEL)
    if believed is not None:
        text = say("{read}; the kernel has it as {believed}", read=text, believed=believed)
    looks = _cache_looks(case)
    others = sum(is_on != (state == "enabled") for is_on in looks)
    if others:
        changed = say("{read}; {n} of {of} later looks found it otherwise",
                      read=text, n=others, of=len(looks))  # fmt: skip
        return met_if(False, changed, "write cache changed")
    if looks:
        text = say("{read}; the same in later looks: {count}", read=text, count=len(looks))
    if state != case.version.write_cache:
        return met_if(False, text)
    # A cache that there is may be switched off; one that there is not needs no switch.
    if identity.interface.startswith("NVMe") and read_by == KERNEL_CACHE and state == "enabled":
        return untold(say("{read}; of NVMe the kernel knows only that there is one", read=text))
    if identity.interface in ("loop", "zram", "device mapper", "md"):
        return untold(say("{read}; there is no drive behind it to ask", read=text))
    return met_if(True, text)


def _cache_looks(case: Case) -> list[bool]:
    """Return what the drive said of its write cache during the run, each time it was asked."""
    answers = [each.answer for each in case.record.steps if isinstance(each.answer, StepResult)]
    healths = (look for each in answers for look in (each.health_before, each.health_after))
    return [bool(look[WRITE_CACHE_ENABLED]) for look in healths if WRITE_CACHE_ENABLED in look]


def own_io(case: Case) -> Found:
    """Judge whether what the kernel counted for the device is this run's I/O alone."""
    shares = [
        share
        for each, step, answer in case.loaded()
        # The kernel and the run count I/Os in flight at such an edge on different sides of it.
        if not (isinstance(step, Measure) and (step.continues or step.open_ended))
        if (share := validity.device_shares(answer).bytes_share) is not None
    ]
    kinds = {remark.kind for remark in _remarks_of_steps(case)}
    if not shares:
        return untold("the device's own counters are not known")
    text = say(
        "the kernel's counters moved by {low:.4f} to {high:.4f} of this run's own bytes, "
        "over {count} steps",
        **ends(shares),
        count=len(shares),
    )
    if not max(shares):
        return untold(say("{told}: it does not count this device's", told=text))
    if RemarkKind.BUFFERED in kinds:
        return met_if(False, say("{told}: memory answered in its place", told=text))
    return met_if(RemarkKind.FOREIGN_IO not in kinds, text)


def _remarks_of_steps(case: Case) -> list[Remark]:
    own = [remark for _, _, answer in case.loaded() for remark in answer.remarks]
    whole = [remark for remark in case.record.remarks if remark.step is None]
    return [*own, *whole]
