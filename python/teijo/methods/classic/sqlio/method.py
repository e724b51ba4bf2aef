"""The method `classic.sqlio`: SQLIO v1.5's run, as the original does it or without its defects."""

from teijo.methods.classic.pools import Pool, check_pools
from teijo.methods.classic.sqlio.found import SqlioFound
from teijo.methods.classic.sqlio.settings import SqlioSettings, load_of
from teijo.methods.load import check_blocks
from teijo.methods.method import Method, Steps
from teijo.terms.geometry import Geometry


class Sqlio(Method[SqlioSettings, SqlioFound]):
    """The method `classic.sqlio`."""

    id = "classic.sqlio"
    settings_type = SqlioSettings
    found_type = SqlioFound

    def check(self, settings: SqlioSettings, geometry: Geometry) -> None:
        """Make sure that the blocks fit the device and each file."""
        check_blocks((settings.block_size_bytes,), geometry)
        check_pools(
            settings.pools or (Pool(threads=settings.threads),),
            geometry,
            block_size_bytes=settings.block_size_bytes,
            skipped_bytes=settings.start_blocks * settings.block_size_bytes,
        )

    def writes(self, settings: SqlioSettings) -> bool:
        """Return whether anything is written: what is read strictly is written first."""
        return settings.kind == "write" or settings.is_prepared

    def steps(self, settings: SqlioSettings, geometry: Geometry) -> Steps:
        """Run the passes."""
        return load_of(settings, geometry).conversation()
