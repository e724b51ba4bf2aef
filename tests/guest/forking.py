"""A Python of the guest that has loaded Teijo once, and forks for each command asked of it.

A start of Teijo in the guest takes seconds, nearly all of them imports. A child makes itself what
a start would be, carries out the same file or module, and ends as Python ends. `forks.py` asks.

`python3 -m tests.guest.forking FD`: the descriptor is a socket of packets.
"""

import gc
import importlib
import json
import os
import runpy
import select
import socket
import sys
import time
from pathlib import Path
from typing import Any

PACKET_BYTES = 1 << 17
TEIJO = Path("/usr/bin/teijo")
LOADED = (
    "teijo.cli.apart", "teijo.cli.app", "teijo.cli.defaults", "teijo.cli.health_watch",
    "teijo.cli.outcome", "teijo.cli.progress", "teijo.cli.signals", "teijo.api.acting",
    "teijo.api.reading", "teijo.api.starting", "teijo.api.verifying", "teijo.api.watching",
    "teijo.device", "teijo.device.health.report", "teijo.device.purging.by_hand", "teijo.engine",
    "teijo.conformance.ledger", "teijo.methods.pts.iops.pages", "teijo.methods.registry",
    "teijo.runfile.reader", "teijo.report.text", "tests.drives.ata", "tests.drives.nvme",
    "tests.drives.nvme_identify", "tests.drives.sat", "tests.drives.scsi", "argparse", "mmap",
)  # fmt: skip
"""What the verbs and the emulated drives import, without the printers of HTML and PDF."""


def main() -> None:
    """Serve until the agent is gone; a child comes back from `serve` to carry out its command."""
    way = socket.socket(fileno=int(sys.argv[1]))
    load()
    if (request := serve(way)) is not None:
        carry_out(request["command"], request["environment"])


def load() -> None:
    """Import all of LOADED; what cannot be imported ends this process, and each request fails."""
    # NumPy must start no threads, which a fork would lose; `teijo` sets it before as well.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    gc.disable()
    for name in LOADED:
        importlib.import_module(name)
    gc.enable()
    gc.freeze()


def serve(way: socket.socket) -> dict[str, Any] | None:
    """Fork for each request and tell how each child ended; a child returns its request.

    None is for this process itself: the agent is gone.
    """
    children: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([way, *children], [], [])
        for pidfd in ready:
            if (pid := children.pop(pidfd, 0)) != 0:
                os.close(pidfd)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                way.send(json.dumps({"ended": pid, "code": code}).encode())
        if way not in ready:
            continue
        packet, files, _, _ = socket.recv_fds(way, PACKET_BYTES, 3)
        if not packet:
            return None
        threads = len(list(Path("/proc/self/task").iterdir()))
        assert threads == 1, f"{threads} threads, and a fork would lose all but one"
        if (pid := os.fork()) == 0:
            become(way, files, children)
            request: dict[str, Any] = json.loads(packet)
            return request
        for file in files:
            os.close(file)
        children[os.pidfd_open(pid)] = pid


def become(way: socket.socket, files: list[int], children: dict[int, int]) -> None:
    """Make the child leader of a session with standard files of its own, and none else open.

    Only then it says that it has started: from now on its group may be sent a signal.
    """
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
    way.send(json.dumps({"started": os.getpid()}).encode())
    way.close()
    for file in (*files, *children):
        os.close(file)


def carry_out(command: list[str], environment: dict[str, str]) -> None:
    """Run `teijo …` or `python3 -m MODULE …` as Python would; it ends by its own SystemExit.

    Signals, their mask, the folder and the umask are a fresh Python's: nothing here changes them.
    Python's `random` is seeded anew by the fork itself.
    """
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    if (drawn := sys.modules.get("numpy.random")) is not None:
        drawn.seed()
    Path("/proc/self/comm").write_text(Path(command[0]).name)
    if command[0] == "teijo":
        sys.argv = [str(TEIJO), *command[1:]]
        sys.path[0] = str(TEIJO.parent)
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        _, _, module, *words = command
        sys.argv = [module, *words]
        runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
