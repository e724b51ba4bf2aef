"""What the record of a run shows of caches between a classic tool's number and the medium: of a
known size, or by the reads that the medium never saw.
"""

from collections.abc import Mapping
from typing import Final

from teijo import units
from teijo.analysis import measures
from teijo.document.phrase import say
from teijo.methods.classic.hidden_entry import Found, Hidden, entry, shown_bytes
from teijo.terms.placing import place
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind

_FROM_MEDIUM: Final = 0.9
_READ, _NAND_READ = "host_reads_bytes", "nand_reads_bytes"
_NOMINAL: Final = ("size", "holds")
"""Facts of a cache that are those of the whole device, where what is measured is a scaled one."""
_CACHES: Final = ("write_cache", "buffer", "ram", *_NOMINAL)


def caches(record: Record) -> list[Hidden]:
    """Look whether a cache of a known size holds the whole range that was measured."""
    ranges = [
        pieces * piece_bytes
        for step, _ in record.measured()
        for stream in step.workload.streams
        for pieces, piece_bytes, _ in (
            place(stream.active_range, record.geometry, stream.block_size_bytes),
        )
    ]
    if not ranges:
        return []
    texts = (
        "What is in a cache is read from it, and what goes into it is written later, or never.",
        "The sizes of the caches that are known are held against the range that was measured.",
        "Direct I/O goes around the page cache; a cache of the device is outrun by a larger file.",
    )
    buffered = any(remark.kind is RemarkKind.BUFFERED for remark in record.remarks)
    known = _known_caches(record, buffered=buffered)
    smallest = min(ranges)
    if not known:
        size = "How large the caches between the program and the medium are: the device says none."
        return [entry("unknown", "cache", "A cache larger than the file", size, *texts)]
    name, cache_bytes = max(known, key=lambda each: each[1])
    size = say(
        "The {cache} may hold {bytes}, and the smallest range that was measured is {range}.",
        cache=name,
        bytes=units.format_size(cache_bytes),
        range=units.format_size(smallest),
    )
    found: Found = "hidden" if cache_bytes >= smallest else "clear"
    return [entry(found, "cache", "A cache larger than the file", size, *texts)]


def _known_caches(record: Record, *, buffered: bool) -> list[tuple[str, int]]:
    found = []
    if buffered and (size := shown_bytes(record.environment.get("memory", ""))):
        found.append(("page cache", size))
    facts = record.identity.facts
    for key, text in facts.items():
        of, last = key[: key.rfind(".") + 1], key.rpartition(".")[2]
        if last in _CACHES and _answers(facts, of, last) and (size := shown_bytes(text)):
            scale = record.geometry.scale if last in _NOMINAL else 1.0
            found.append(("device's cache", round(size / scale)))
    return found


def _answers(facts: Mapping[str, str], of: str, name: str) -> bool:
    """Return whether what a part of a device says of its size is of a cache that answers I/O."""
    if name == "holds":
        # Of a tier too, where data lie and are not kept a second time.
        return f"{of}promote_reads" in facts
    through = facts.get(f"{of}mode") == "write-through"
    return not (name == "size" and through and facts.get(f"{of}read_cache") == "off")


def medium(record: Record) -> list[Hidden]:
    """Look whether the device's own counters saw as many reads of its medium as of the host."""
    answers = [answer for _, answer in record.measured()]
    host, nand = (measures.counted(answers, name) for name in (_READ, _NAND_READ))
    if not host or nand is None:
        return []
    size = say(
        "The host read {host}, and the device read {nand} of its medium.",
        host=units.format_size(host),
        nand=units.format_size(nand),
    )
    return [
        entry(
            "hidden" if nand < _FROM_MEDIUM * host else "clear",
            "medium",
            "Reads that never reached the medium",
            size,
            "What was never written, or lies in a cache of the drive, is answered without the "
            "medium.",
            "The device counts both by itself.",
            "The whole range is written before it is read.",
        )
    ]
