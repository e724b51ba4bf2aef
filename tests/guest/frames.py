"""How host and guest talk: a frame is two lengths (u32, big endian), a JSON object, and bytes."""

import json
import struct
from typing import Any, Protocol

LENGTHS = struct.Struct(">II")


class Port(Protocol):
    """What bytes go through: a raw file in the guest, a socket's file on the host."""

    def read(self, count: int, /) -> bytes | None: ...
    def write(self, content: bytes, /) -> int | None: ...


def read(port: Port) -> tuple[dict[str, Any], bytes]:
    """Return the next frame; raises EOFError where the other side is gone."""
    size, more = LENGTHS.unpack(exactly(port, LENGTHS.size))
    head = json.loads(exactly(port, size))
    assert isinstance(head, dict)
    return head, exactly(port, more)


def exactly(port: Port, count: int) -> bytes:
    parts = []
    while count:
        part = port.read(min(count, 1 << 16))
        if not part:
            raise EOFError("the other side of the port is gone")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def write(port: Port, head: dict[str, Any], content: bytes = b"") -> None:
    """Send a frame, in pieces that a port of virtio takes."""
    text = json.dumps(head).encode()
    whole = LENGTHS.pack(len(text), len(content)) + text + content
    view = memoryview(whole)
    while view:
        view = view[port.write(bytes(view[: 1 << 15])) or 0 :]
