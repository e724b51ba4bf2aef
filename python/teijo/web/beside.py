"""The server of one run, as a process of its own beside it: it begins and ends with the run.

`teijo run --serve` starts it before the measurement, hands it a socket that listens already, and
writes one line to its standard input when there is a run file. That the input ends tells that the
run is over, also where it was killed.
"""

import json
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import uvicorn

from teijo.runfile.names import OPEN_SUFFIX
from teijo.runfile.shelf import id_of
from teijo.speech import tongue
from teijo.web import server
from teijo.web.connection import Listener
from teijo.web.serving import Serving, serving_of

QUIET_S: Final = 4.0
"""After the run it goes on until nobody has asked for anything for so long."""
LINGER_MOST_S: Final = 12.0
"""And no longer than this."""
_NICE: Final = 10
"""The run comes first wherever both want the processor."""
_BROWSER: Final = "TEIJO_BROWSER"
_SCREENS: Final = ("DISPLAY", "WAYLAND_DISPLAY")


def main() -> None:
    """Serve the run that the first line of the standard input tells of, until it is over."""
    listening = socket.socket(fileno=int(sys.argv[1]))
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):  # there never was a run
        listening.close()
        return
    told = json.loads(line)
    tongue.speak(told["lang"])
    path = Path(told["path"])
    serving = serving_for(path, listening.getsockname()[1])
    if may_open_a_browser(os.environ, sys.platform, is_root=os.geteuid() == 0):
        # Before the next line: what it starts is not to be as modest as this process.
        address = serving.address + f"runs/{id_of(path.name)}"
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    os.nice(_NICE)
    place = server.Bound(serving, Listener(listening))
    answering = server.server_of(place)
    threading.Thread(target=_end_with_the_run, args=(answering,), daemon=True).start()
    answering.run(sockets=[place.socket])
    place.socket.close()


def serving_for(path: Path, port: int) -> Serving:
    """Return what is served of a run file: its folder, on this machine alone."""
    name = path.name.removesuffix(OPEN_SUFFIX)
    return serving_of(path.parent, port=port, begun=name, read_only=True)


def may_open_a_browser(environment: Mapping[str, str], platform: str, *, is_root: bool) -> bool:
    """Tell whether somebody sits before a screen of this machine, and did not forbid it.

    A browser is not run as root, nor by X11 over ssh from a machine that is not the person's.
    """
    if environment.get(_BROWSER) == "none" or is_root or "SSH_CONNECTION" in environment:
        return False
    return platform == "darwin" or any(environment.get(name) for name in _SCREENS)


def _end_with_the_run(answering: uvicorn.Server) -> None:
    sys.stdin.buffer.read()
    state, over_s, asked = answering.server_state, time.monotonic(), -1
    # Whoever looks asks once more, for the last report.
    while time.monotonic() - over_s < LINGER_MOST_S:
        if not state.tasks and state.total_requests == asked:
            break
        asked = state.total_requests
        threading.Event().wait(QUIET_S)
    answering.should_exit = True


if __name__ == "__main__":
    main()
