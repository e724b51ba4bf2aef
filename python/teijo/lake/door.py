"""The door to the lake, which stands though its packages are not installed: it says so then."""

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from teijo.errors import HostError

if TYPE_CHECKING:
    from teijo.lake.lake import Lake

PACKAGES = ("duckdb", "pyarrow")


def lake(
    place: str | os.PathLike[str],
    *,
    memory_bytes: int | None = None,
    threads: int | None = None,
) -> "Lake":
    """Return the lake at a place: a folder, or s3://BUCKET/PREFIX. It need not be there yet.

    A question takes at most so much memory, and so many threads (all of them, if not said).

    Raises:
        HostError: a package that it needs is not installed. UsageError: it is no place of a lake.
    """
    for name in PACKAGES:
        if find_spec(name) is None:
            raise HostError(
                f"The lake needs the package {name}, which is not installed.",
                remedy="Install it: pip install 'teijo[lake]'",
            )
    from teijo.lake.lake import Lake
    from teijo.lake.session import MEMORY_BYTES, Limits
    from teijo.lake.store import store_at

    limits = Limits(memory_bytes=memory_bytes or MEMORY_BYTES, threads=threads)
    return Lake(store_at(place), limits)
