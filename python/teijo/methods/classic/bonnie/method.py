"""The method `classic.bonnie`: the twelve phases of Bonnie++ 1.03, 1.97 and 2.00, in their order.

Facts are from the sources of 1.03e and 1.97, and from traces of 2.00a.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from teijo import units
from teijo.errors import PlanError
from teijo.methods.classic.bonnie.found import BonnieFound
from teijo.methods.classic.bonnie.settings import PER_CHAR, SIZE_LEAST, BonnieSettings
from teijo.methods.classic.phase_hidden import MIN_TIME_NS
from teijo.methods.classic.phases import pass_of
from teijo.methods.method import Method, Steps
from teijo.terms.geometry import MEMORY, Geometry
from teijo.terms.result import StepResult
from teijo.terms.work import FileIo, Files, WorkKind

_UPDATES_PERCENT: Final = 10
_GROWTH: Final = 8
_SEEKS_MOST: Final = 10_000_000
_CHAR_MOST: Final = units.GIB
_SEEKERS_1_03: Final = 3


class Bonnie(Method[BonnieSettings, BonnieFound]):
    """The method `classic.bonnie`."""

    id = "classic.bonnie"
    settings_type = BonnieSettings
    found_type = BonnieFound
    work: WorkKind = "files"

    def asked_on(self, overrides: Mapping[str, str], facts: Mapping[str, str]) -> Mapping[str, str]:
        """Return the overrides, with the memory of the host where nobody has named another."""
        memory = facts.get(MEMORY, "")
        # Not where it is named under the field's own name either.
        if not memory.isdecimal() or {"ram", "ram_bytes"} & set(overrides):
            return overrides
        return {**overrides, "ram": memory if int(memory) else "none"}

    def asked(self, overrides: Mapping[str, str], geometry: Geometry) -> dict[str, Any]:
        """Return what is asked for; size and seekers follow from memory and version."""
        asked = super().asked(overrides, geometry)
        # Held to a limit, the page cache has no more than that.
        ram = asked.get("ram_bytes", 0)
        if ram and asked.get("memory_bytes"):
            ram = asked["ram_bytes"] = min(ram, asked["memory_bytes"])
        asked.setdefault("size_bytes", usual_size(ram))
        if asked.get("like") == "1.03":
            asked.setdefault("seekers", _SEEKERS_1_03)
            if asked.get("per_char_bytes", PER_CHAR):
                asked["per_char_bytes"] = asked["size_bytes"]
        elif "per_char_bytes" not in asked:
            asked["per_char_bytes"] = min(PER_CHAR, asked["size_bytes"])
        return asked

    def check(self, settings: BonnieSettings, geometry: Geometry) -> None:  # noqa: ARG002
        """Make sure that there is something to do, and that the file outgrows the memory."""
        if not settings.phases:
            raise PlanError(
                "Neither a large file nor small ones are asked for",
                remedy="Set size=48GiB, or files=16384.",
            )
        # In whole MiB, as Bonnie++ counts memory: else its own usual size could be too small.
        ram_mib = settings.ram_bytes // units.MIB
        if 0 < settings.size_bytes < 2 * ram_mib * units.MIB:
            raise PlanError(
                f"A file of {units.format_size(settings.size_bytes)} is less than twice the memory "
                f"of {units.format_size(settings.ram_bytes)}, so the page cache may hold it",
                remedy="Ask for a larger one, as Bonnie++ does, or set ram=none to measure it so.",
            )
        if settings.size_bytes % settings.chunk_bytes:
            raise PlanError(
                f"A file of {settings.size_bytes:,} bytes is no whole number of chunks of "
                f"{settings.chunk_bytes:,}",
                remedy="Ask for a size in MiB.",
            )
        if settings.smallest_bytes > settings.largest_bytes:
            raise PlanError(
                f"The smallest file, of {settings.smallest_bytes:,} bytes, is larger than the "
                f"largest, of {settings.largest_bytes:,}",
                remedy="Set largest to at least as much as smallest.",
            )
        if settings.direct == "yes" and settings.per_char_bytes and settings.size_bytes:
            raise PlanError(
                "A byte at a time cannot be written with O_DIRECT: Bonnie++ fails there at once",
                remedy="Set per_char=none beside direct=yes, as -f does.",
            )

    def steps(self, settings: BonnieSettings, geometry: Geometry) -> Steps:  # noqa: ARG002
        """Return the passes; one that was interrupted begins anew, for its file is gone."""
        again = partial(longer, settings) if settings.strict == "on" else None
        for number in range(1, settings.passes + 1):
            while not (
                yield from pass_of(
                    works_of(settings), number, memory_bytes=settings.memory_bytes, again=again
                )
            ):
                pass
        return "done"


def usual_size(ram_bytes: int) -> int:
    """Return the file size where none is named: twice the memory, to the next GiB as they round."""
    mib = max(SIZE_LEAST, 2 * ram_bytes) // units.MIB
    if mib % units.KIB > 512:
        mib += units.KIB - mib % units.KIB
    return mib * units.MIB


def works_of(settings: BonnieSettings) -> list[tuple[str, FileIo | Files]]:
    """Return the phases of one pass with their work."""
    works: dict[str, FileIo | Files] = {}
    if settings.size_bytes:
        works |= _io(settings)
    if settings.files:
        works |= _files(settings)
    return [(name, works[name]) for name in settings.phases]


def _io(settings: BonnieSettings) -> dict[str, FileIo | Files]:
    strict, direct, old = settings.strict == "on", settings.direct == "yes", settings.like == "1.03"
    chunks = settings.size_bytes // settings.chunk_bytes
    block = FileIo(
        operation="read",
        file_bytes=settings.size_bytes,
        chunk_bytes=settings.chunk_bytes,
        content="random" if strict else "cumulative",
        timed_fsync=strict,
        drop_caches=strict,
    )
    # Their latency is of a whole chunk of as many calls; of stdio's, of a full buffer.
    group = min(settings.chunk_bytes, settings.per_char_bytes or settings.chunk_bytes)
    byte = replace(
        block,
        file_bytes=settings.per_char_bytes or settings.size_bytes,
        chunk_bytes=1,
        timed_calls=1 if old else group,
        style="stdio" if old else "system-call",
        content="random" if strict else "cumulative",
    )
    return {
        # fclose() alone ends it in 1.03, which flushes no more than stdio's own buffer.
        "putc": replace(byte, operation="write", fresh=True, fsync=strict or not old, census=True),
        "put_block": replace(block, operation="write", fresh=True, direct=direct, census=True),
        "rewrite": replace(block, operation="rewrite"),
        "getc": replace(byte, fsync=strict or not old),
        "get_block": block,
        "seeks": replace(
            block,
            operation="seek",
            calls=min(settings.seeks, chunks) if strict else settings.seeks,
            each_once=strict,
            workers=settings.seekers,
            share=True,
            processes=True,
            rewrite_percent=_UPDATES_PERCENT,
            fsync_rewrites=settings.flush == "yes",
            census=True,
        ),
    }


def _files(settings: BonnieSettings) -> dict[str, FileIo | Files]:
    strict = settings.strict == "on"
    flush = settings.flush == "yes" or strict
    create = Files(
        operation="create",
        count=settings.files,
        size_bytes=settings.largest_bytes,
        size_least_bytes=settings.smallest_bytes if settings.largest_bytes else None,
        chunk_bytes=settings.file_chunk_bytes,
        directories=settings.directories if settings.directories > 1 else 0,
        links=settings.links,
        content="random" if strict else "zero",
        # Theirs are inside the time of an operation, and are no result of their own.
        fsync=flush,
        fsync_directory=flush,
        timed_fsync=flush,
        # From 1.9x on the time ends with sync(2), which flushes all file systems of the host.
        sync_at_end=settings.like != "1.03" and not strict,
        names="number-first",
    )
    stat = replace(
        create,
        operation="stat",
        order="listed",
        fsync=False,
        fsync_directory=False,
        timed_fsync=False,
        sync_at_end=False,
        # A link is not followed, as whoever may write there could turn it elsewhere.
        read=settings.largest_bytes > 0 and settings.links != "symbolic",
    )
    delete = replace(create, operation="delete", order="listed", fsync=False)
    return {
        "seq_create": create,
        "seq_stat": stat,
        "seq_del": delete,
        # Created in order too: what is random are the names.
        "ran_create": replace(create, names="number-last"),
        "ran_stat": replace(stat, order="random", names="number-last"),
        "ran_del": replace(delete, order="random", names="number-last"),
    }


def longer(
    settings: BonnieSettings,  # noqa: ARG001 — of a strict run, whatever its numbers
    name: str,
    work: FileIo | Files,
    answer: StepResult,
) -> FileIo | Files | None:
    """Return a phase once more with up to eight times the work, where it was too short to print."""
    if answer.elapsed_ns >= MIN_TIME_NS or not isinstance(work, FileIo):
        return None
    chunks = work.file_bytes // work.chunk_bytes
    more = min(work.calls * _GROWTH, _SEEKS_MOST, chunks)
    if name == "seeks" and more > work.calls:
        return replace(work, calls=more)
    if name == "putc" and work.file_bytes * _GROWTH <= _CHAR_MOST:
        return replace(work, file_bytes=work.file_bytes * _GROWTH)
    return None
