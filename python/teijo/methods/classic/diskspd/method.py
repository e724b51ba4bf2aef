"""The method `classic.diskspd`: DiskSpd's run, as the original does it or without its defects."""

from teijo import units
from teijo.errors import PlanError
from teijo.methods.classic.diskspd.found import DiskspdFound
from teijo.methods.classic.diskspd.load import load_of
from teijo.methods.classic.diskspd.settings import DiskspdSettings
from teijo.methods.classic.pools import check_pools
from teijo.methods.load import check_blocks
from teijo.methods.method import Method, Steps
from teijo.terms.geometry import Geometry


class Diskspd(Method[DiskspdSettings, DiskspdFound]):
    """The method `classic.diskspd`."""

    id = "classic.diskspd"
    settings_type = DiskspdSettings
    found_type = DiskspdFound

    def check(self, settings: DiskspdSettings, geometry: Geometry) -> None:
        """Make sure that the words go together and the blocks fit the device and each target."""
        _check_words(settings)
        check_blocks((settings.block_size_bytes,), geometry)
        if settings.alignment_bytes is not None:
            check_blocks((settings.alignment_bytes,), geometry)
        apart = settings.stride_bytes or 0
        for pool in settings.targets:
            check_pools(
                (pool,),
                geometry,
                block_size_bytes=settings.block_size_bytes,
                skipped_bytes=settings.base_bytes + apart * (pool.threads - 1),
            )
        check_pools(
            settings.targets,
            geometry,
            block_size_bytes=settings.block_size_bytes,
            skipped_bytes=settings.base_bytes,
        )

    def writes(self, settings: DiskspdSettings) -> bool:
        """Return whether anything is written, before the test or in it."""
        strict = settings.strict == "on" and settings.write_percent < 100
        return settings.write_percent > 0 or settings.prepare != "none" or strict

    def steps(self, settings: DiskspdSettings, geometry: Geometry) -> Steps:
        """Write what is to be written, and run the passes."""
        return load_of(settings, geometry).conversation()


def _check_words(settings: DiskspdSettings) -> None:
    block = settings.block_size_bytes
    if settings.access == "random" and (settings.stride_bytes or settings.interlocked == "yes"):
        raise PlanError(
            "Random I/O has no order that threads could share or begin apart in",
            remedy="Leave stride and interlocked out, or set access=sequential.",
        )
    if settings.stride_bytes and settings.interlocked == "yes":
        raise PlanError(
            "Threads that share one offset do not begin apart",
            remedy="Set interlocked=yes or a stride, not both.",
        )
    if settings.alignment_bytes is not None and settings.access == "sequential":
        raise PlanError(
            "An alignment is of random I/O: sequential blocks follow each other",
            remedy="Set access=random, or leave alignment out.",
        )
    if settings.alignment_bytes is not None and settings.alignment_bytes > block:
        raise PlanError(
            f"A grid of {units.format_block_size(settings.alignment_bytes)} is coarser than a "
            f"block of {units.format_block_size(block)}",
            remedy="Set an alignment of at most the block size.",
        )
    length, apart = settings.length_bytes, (settings.stride_bytes or 0)
    furthest = apart * (max(pool.threads for pool in settings.targets) - 1)
    if length is not None and length < furthest + block:
        raise PlanError(
            f"A range of {units.format_size(length)} has no room for the last thread's block",
            remedy="Set a longer length, or a smaller block or stride.",
        )
