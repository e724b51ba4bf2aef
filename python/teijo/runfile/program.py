"""Which Teijo this is, and whether it made a run file: its version and the digest of its code."""

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

from teijo.terms.record import Record

BUILD: Final = "teijo build"
"""The fact among those of the environment that names the digest."""
UNKNOWN: Final = "unknown"
_CODE: Final = (".py", ".so")
_DIGITS: Final = 16


def version() -> str:
    """Return the version of this program."""
    try:
        return metadata.version("teijo")
    except metadata.PackageNotFoundError:
        return f"{UNKNOWN} (not installed)"


@cache
def build() -> str:
    """Return the digest of this program's code: between two versions its decisions may change too.

    "unknown" where it cannot be read.
    """
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    try:
        for path in sorted(each for each in root.rglob("*") if each.suffix in _CODE):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    except OSError:
        return UNKNOWN
    return digest.hexdigest()[:_DIGITS]


def made_here(record: Record) -> bool:
    """Return whether this very program made a record, as far as the record says."""
    own = record.environment.get(BUILD, "")
    return record.run.version == version() and own == build() and own != UNKNOWN


def named(record: Record) -> str:
    """Return which program made a record."""
    build_of = record.environment.get(BUILD, UNKNOWN)
    return f"teijo {record.run.version} (build {build_of})"
