r"""A drive's serial: one form for all that is shown, typed, recorded and compared.

A drive answers with any bytes. The form keeps every one that can be seen on a line of ASCII and
writes the others as \xNN, so that no two serials share it and any of them can be typed.
"""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

PADDING: Final = b" \0"
_BETWEEN: Final = ","
_VPD_HEADER_BYTES: Final = 4
_WRITTEN_OUT: Final = frozenset(b",\\")
"""The comma stands between the serials of several devices, the backslash before a number."""


def canonical(raw: bytes) -> str:
    """Return the one form of a serial; empty where nothing but padding was answered.

    Blanks within it stay, those at its ends are padding (NVMe base specification 1.5, SPC-4).
    """
    kept = raw.strip(PADDING)
    # A dash at the front would be taken for an option where it is typed.
    return "".join(
        chr(byte) if _can_be_seen(byte) and (place or byte != ord("-")) else f"\\x{byte:02x}"
        for place, byte in enumerate(kept)
    )


def as_the_kernel_prints(raw: bytes) -> bytes:
    """Return what is left of a serial in sysfs: text up to the first NUL."""
    return raw.partition(b"\0")[0]


def of_disk(folder: Path) -> str:
    """Return a disk's own serial from its folder in sysfs; empty where it tells none.

    NVMe and virtio say it in text, SCSI and libata in page 80h of the vital product data.
    """
    for name in ("device/serial", "serial"):
        if found := canonical(_bytes_of(folder / name).removesuffix(b"\n")):
            return found
    page = _bytes_of(folder / "device" / "vpd_pg80")
    length = int.from_bytes(page[2:_VPD_HEADER_BYTES], "big")
    return canonical(page[_VPD_HEADER_BYTES : _VPD_HEADER_BYTES + length])


def typed(serials: Iterable[str]) -> str:
    """Return the option that gives up devices of these serials, as a shell must read it."""
    return f"--destroy {shlex.quote(_BETWEEN.join(serials))}"


def named(destroy: str | None) -> tuple[str, ...]:
    """Return the serials that a person named; what is empty names nothing."""
    parts = (part.strip() for part in (destroy or "").split(_BETWEEN))
    return tuple(part for part in parts if part)


def is_named(serial: str, given: Sequence[str]) -> bool:
    """Return whether a serial is among the named ones; one that is empty never is."""
    return bool(serial) and serial in given


def _can_be_seen(byte: int) -> bool:
    return 0x20 <= byte <= 0x7E and byte not in _WRITTEN_OUT


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
