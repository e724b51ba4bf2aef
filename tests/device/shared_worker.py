"""A worker of the product that behaves as it is told: `python -m tests.device.shared_worker HOW`.

HOW is `dies=FILE`: where that file is, it is removed, and the worker killed in the middle of a lap;
`elsewhere=PATH`: it opens another file than it is asked for; `pid=FILE` says who it is.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from teijo.cli import program
from teijo.device import shared
from teijo.engine.hosts import wire


def die_in_a_lap(mark: Path) -> None:
    """Have the process killed where it would tell of a lap under way."""
    look_of = wire.look_of

    def last_look(number: int, now: Any) -> wire.Look:
        if mark.exists():
            mark.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return look_of(number, now)

    wire.look_of = last_look


def open_elsewhere(path: str) -> None:
    """Take another file for the target, as where another storage is mounted."""
    join = shared.join
    shared.join = lambda ask: join(ask.model_copy(update={"target": path}))


def main() -> None:
    *hows, verb = sys.argv[1:]
    for how in hows:
        word, _, value = how.partition("=")
        if word == "dies":
            die_in_a_lap(Path(value))
        elif word == "pid":
            Path(value).write_text(str(os.getpid()))
        else:
            open_elsewhere(value)
    sys.argv[1:] = [verb]
    program()


if __name__ == "__main__":
    main()
