"""Says as JSON what a process was given: `python3 -m tests.guest.process_state [WORDS]`."""

import json
import os
import random
import resource
import signal
import sys
from pathlib import Path


def main() -> None:
    """Print all that a start decides, and a number that is drawn."""
    status = dict(
        line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines()
    )
    umask = os.umask(0)
    me = os.getpid()
    told = {
        "argv": sys.argv,
        "environment": dict(os.environ),
        "folder": str(Path.cwd()),
        "umask": umask,
        "files": {
            one.name: str(one.readlink())
            for one in Path("/proc/self/fd").iterdir()
            if one.exists()  # the listing's own is closed by now
        },
        "streams": [
            [one.encoding, one.errors, one.line_buffering, one.isatty(), one.fileno()]
            for one in (sys.stdin, sys.stdout, sys.stderr)
        ],
        "signals": [status[name] for name in ("SigBlk", "SigIgn", "SigCgt")],
        "handlers": [str(signal.getsignal(each).__class__) for each in signal.valid_signals()],
        "leads": [os.getsid(0) == me, os.getpgrp() == me],
        "name": status["Name"],
        "threads": status["Threads"],
        "limits": [resource.getrlimit(each) for each in range(resource.RLIMIT_NICE)],
        "path": sys.path,
        "flags": str(sys.flags),
        "program": [sys.executable, __name__, __file__],
    }
    print(json.dumps({"told": told, "drawn": random.random()}))


if __name__ == "__main__":
    main()
