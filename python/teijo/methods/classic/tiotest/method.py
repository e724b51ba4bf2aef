"""The methods `classic.tiotest` and `classic.tiobench`: write, random write, read, random read.

Facts are from the source of tiotest 0.4.2 and of tiobench.pl.
"""

from typing import Final

from teijo import units
from teijo.errors import PlanError
from teijo.methods.classic.phases import pass_of
from teijo.methods.classic.tiotest.found import TioFound
from teijo.methods.classic.tiotest.settings import (
    Combination,
    TiobenchSettings,
    TioSettings,
    TiotestSettings,
)
from teijo.methods.forms import SECTOR_BYTES
from teijo.methods.method import Method, Steps
from teijo.terms.geometry import Geometry
from teijo.terms.work import FileCalls, FileContent, FileIo, WorkKind

_CALLS: Final[dict[str, FileCalls]] = {
    "write": "write",
    "rwrite": "random-write",
    "read": "read",
    "rread": "random-read",
}
_FILL: Final = "fill"
"""Written before the first phase of a strict run that skips the writing, and measured by nobody."""


class _Tio(Method[TioSettings, TioFound]):
    """What both methods do."""

    found_type = TioFound
    work: WorkKind = "files"

    def check(self, settings: TioSettings, geometry: Geometry) -> None:  # noqa: ARG002
        """Make sure that a block fits in a file, and goes past the page cache where it is to."""
        for each in settings.combinations:
            if each.block_bytes > each.file_bytes:
                raise PlanError(
                    f"A block of {units.format_size(each.block_bytes)} does not fit in a file of "
                    f"{units.format_size(each.file_bytes)}",
                    remedy="Ask for a smaller block, or a larger file.",
                )
            if settings.direct == "yes" and each.block_bytes % SECTOR_BYTES:
                raise PlanError(
                    f"A block of {each.block_bytes:,} bytes cannot be moved with O_DIRECT",
                    remedy="Ask for a multiple of 512 bytes, as the file system's blocks are.",
                )

    def steps(self, settings: TioSettings, geometry: Geometry) -> Steps:  # noqa: ARG002
        """Return the passes over each combination; one that was interrupted begins anew."""
        for combination in settings.combinations:
            works = works_of(settings, combination)
            for number in range(1, settings.passes + 1):
                while not (yield from pass_of(works, number, memory_bytes=settings.memory_bytes)):
                    pass
        return "done"


class Tiotest(_Tio):
    """The method `classic.tiotest`."""

    id = "classic.tiotest"
    settings_type = TiotestSettings


class Tiobench(_Tio):
    """The method `classic.tiobench`."""

    id = "classic.tiobench"
    settings_type = TiobenchSettings


def works_of(settings: TioSettings, combination: Combination) -> list[tuple[str, FileIo]]:
    """Return the phases of one call of tiotest with their work."""
    strict = settings.strict == "on"
    content: FileContent = "one-block" if settings.one_block == "yes" else "zero"
    # Theirs are made anew by each call; the first phase that is done makes them, with their length.
    first = settings.phases[0]
    works = []
    if strict and first != "write":
        works.append((_FILL, _work(settings, combination, "write", content="random", fresh=True)))
    for phase in settings.phases:
        work = _work(
            settings,
            combination,
            phase,
            content="random" if strict else content,
            fresh=phase == first and not works,
        )
        works.append((settings.cell(combination, phase), work))
    return works


def _work(
    settings: TioSettings,
    combination: Combination,
    phase: str,
    *,
    content: FileContent,
    fresh: bool,
) -> FileIo:
    strict = settings.strict == "on"
    random = phase in ("rwrite", "rread")
    blocks = combination.file_bytes // combination.block_bytes
    each = min(combination.random_ops, blocks) if strict else combination.random_ops
    return FileIo(
        operation=_CALLS[phase],
        file_bytes=combination.file_bytes,
        chunk_bytes=combination.block_bytes,
        calls=each * combination.threads if random else 0,
        workers=combination.threads,
        in_turn=settings.in_turn == "yes" and phase == "write",
        fresh=fresh,
        sparse=True,
        positioned=True,
        timed_fsync=strict,
        direct=settings.direct == "yes",
        synchronous=settings.synchronous == "yes",
        style="mmap" if settings.mmap == "yes" else "system-call",
        content=content,
        drop_caches=strict or settings.drop_caches == "yes",
        # A read in order goes once over each block: there is nothing to count.
        each_once=strict,
        census=phase != "read",
    )
