"""The program inside the guest that does what a test asks for, over a port of virtio.

It needs Python's own library only. A request is a frame (`frames.py`) with an `id`; the answer has
the same one, so that several may be under way. What a started program prints goes to files, so a
program that is cut short leaves what it said.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, BinaryIO

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.guest import frames

PORT = "teijo.agent"
KEPT = Path("/run/started")
STARTED: dict[int, "subprocess.Popen[bytes]"] = {}
WRITING = threading.Lock()


def main() -> None:
    """Answer until the port is closed for good."""
    KEPT.mkdir(parents=True, exist_ok=True)
    # One descriptor for both ways: the port may be opened once only.
    with Path(node()).open("r+b", buffering=0) as port:
        send(port, {"hello": os.getpid(), "kernel": os.uname().release})
        while True:
            request, content = frames.read(port)
            threading.Thread(target=answer, args=(port, request, content), daemon=True).start()


def node() -> str:
    """Return the device of our port: the kernel numbers them, the host names them."""
    for folder in Path("/sys/class/virtio-ports").iterdir():
        if (folder / "name").read_text().strip() == PORT:
            return f"/dev/{folder.name}"
    raise SystemExit(f"there is no port {PORT}")


def send(port: Any, head: dict[str, Any], content: bytes = b"") -> None:
    with WRITING:
        frames.write(port, head, content)


def answer(port: BinaryIO, request: dict[str, Any], content: bytes) -> None:
    """Do one request and send what came of it; a failure is an answer too."""
    try:
        head, found = ACTS[request["act"]](request, content)
    except OSError as why:
        head, found = {"failed": str(why), "errno": why.errno}, b""
    except Exception:
        head, found = {"failed": traceback.format_exc()}, b""
    send(port, {"id": request["id"], **head}, found)


def start(request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    """Start a program in a group of its own, with `content` as its standard input."""
    number = request["id"]
    out, err = (KEPT / f"{number}.{name}" for name in ("out", "err"))
    with out.open("wb") as stdout, err.open("wb") as stderr:
        STARTED[number] = process = subprocess.Popen(
            request["command"],
            stdin=subprocess.PIPE if content else subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, **request["environment"]},
            start_new_session=True,
        )
    if content:
        feeding = threading.Thread(target=feed, args=(process, content), daemon=True)
        feeding.start()
    return {"pid": process.pid}, b""


def feed(process: "subprocess.Popen[bytes]", content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):
        process.communicate(content)


def wait(request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    """Wait for a started program; `code` is None where it did not end in time."""
    try:
        code = STARTED[request["of"]].wait(request["timeout"])
    except subprocess.TimeoutExpired:
        code = None
    out, err = ((KEPT / f"{request['of']}.{name}").read_bytes() for name in ("out", "err"))
    return {"code": code, "split": len(out)}, out + err


def kill(request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    """Send a signal to a started program, and to its children where `group` is asked for."""
    process = STARTED[request["of"]]
    if process.poll() is None:
        number = signal.Signals(request["signal"])
        (os.killpg if request["group"] else os.kill)(process.pid, number)
    return {}, b""


def put(request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    path = Path(request["path"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return {}, b""


def get(request: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
    return {}, Path(request["path"]).read_bytes()


ACTS = {"start": start, "wait": wait, "kill": kill, "put": put, "get": get}

if __name__ == "__main__":
    main()
