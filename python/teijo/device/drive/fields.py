"""Numbers and texts within what a drive answered: a short answer reads as 0, never as an error."""


def little(raw: bytes, at: int, size: int) -> int:
    """Return a number of `size` bytes, the lowest first, as NVMe and ATA have it."""
    return int.from_bytes(raw[at : at + size], "little")


def big(raw: bytes, at: int, size: int) -> int:
    """Return a number of `size` bytes, the highest first, as SCSI has it."""
    return int.from_bytes(raw[at : at + size].ljust(size, b"\0"), "big")


def is_set(value: int, bit: int) -> bool:
    """Return whether a bit of a number is set."""
    return bool(value >> bit & 1)


def text(raw: bytes) -> str:
    """Return a field of text without its padding; what is no ASCII is written out."""
    return raw.partition(b"\0")[0].decode("ascii", "backslashreplace").strip()


def identifier(raw: bytes) -> str:
    """Return a number that names something, in hexadecimal; empty where all bytes are 0."""
    return raw.hex() if any(raw) else ""
