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
from tests.guest.forks import Forked, Forks

PORT = "teijo.agent"
KEPT = Path("/run/started")
STARTED: dict[int, "subprocess.Popen[bytes] | Forked"] = {}
FORKS = Forks(KEPT / "forking")
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
    """Start a program in a group of its own, with `content` as its standard input.

    Where `forked` is asked for, a Python that has loaded it already forks: see `forking.py`.
    """
    number, command = request["id"], request["command"]
    environment = {**os.environ, **request["environment"]}
    out, err = (KEPT / f"{number}.{name}" for name in ("out", "err"))
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")).fileno() for path in (out, err)]
        if content:
            reading, writing = os.pipe()
            stack.enter_context(os.fdopen(reading, "rb"))
            fed = os.fdopen(writing, "wb")
            threading.Thread(target=feed, args=(fed, content), daemon=True).start()
        else:
            reading = stack.enter_context(Path(os.devnull).open("rb")).fileno()
        if request["forked"]:
            STARTED[number] = process = FORKS.start(command, environment, [reading, *files])
        else:
            STARTED[number] = process = subprocess.Popen(
                command,
                stdin=reading,
                stdout=files[0],
                stderr=files[1],
                env=environment,
                start_new_session=True,
            )
    return {"pid": process.pid}, b""


def feed(pipe: BinaryIO, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), pipe:
        pipe.write(content)


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
