"""Where too little room for addresses (ulimit -v) is noticed before a library dies of it.

NumPy's algebra, the charts' V8 and what is written in Rust end the process when a mapping is
refused. A limit of real memory (a container's) cannot be noticed so: the kernel kills.
"""

import resource
from typing import Final

from teijo.errors import HostError
from teijo.units import GIB, MIB, format_size

TO_START_BYTES: Final = 256 * MIB
"""A run without reports passes with 170 MiB; NumPy, SQLite and the engine are mapped whole."""
FOR_REPORT_BYTES: Final = {"html": GIB, "pdf": 128 * GIB}
"""Drawing a PDF's charts sets aside addresses, not memory: 40 GB are too few, 80 GB enough."""


def check_to_start() -> None:
    """Make sure that all of Teijo can be loaded.

    Raises:
        HostError: the limit of this process's addresses is too low.
    """
    _check(TO_START_BYTES, "Teijo needs")


def check_for_report(printer: str) -> None:
    """Make sure that a printer has the addresses it sets aside.

    Raises:
        HostError: the limit is too low.
    """
    _check(FOR_REPORT_BYTES.get(printer, 0), f"A report as {printer} needs")


def _check(least_bytes: int, who: str) -> None:
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit_bytes != resource.RLIM_INFINITY and limit_bytes < least_bytes:
        raise HostError(
            f"{who} {format_size(least_bytes)} of addresses, and the limit of this process is "
            f"{format_size(limit_bytes)} (ulimit -v).",
            remedy="Raise it: `ulimit -v unlimited`. A limit of real memory does no such harm.",
        )
