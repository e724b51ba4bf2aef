"""QEMU's monitor (QMP): commands, their answers, and the events between them."""

import json
import socket
import threading
from typing import Any


class MonitorError(Exception):
    """QEMU refused a command."""


class Monitor:
    """One connection to a monitor."""

    def __init__(self, way: socket.socket) -> None:
        self.file = way.makefile("rw", encoding="utf-8")
        way.close()  # the file keeps the connection
        self.events: list[dict[str, Any]] = []
        self.turn = threading.Lock()
        json.loads(self.file.readline())
        self.do("qmp_capabilities")

    def do(self, command: str, **arguments: Any) -> Any:
        """Run a command and return its value; `_` in a name stands for QEMU's `-`."""
        words = {name.replace("_", "-"): value for name, value in arguments.items()}
        with self.turn:
            self.file.write(json.dumps({"execute": command, "arguments": words}) + "\n")
            self.file.flush()
            while True:
                line = self.file.readline()
                if not line:
                    raise MonitorError(f"{command}: QEMU is gone")
                head = json.loads(line)
                if "event" in head:
                    self.events.append(head)
                elif "error" in head:
                    raise MonitorError(f"{command}: {head['error']['desc']}")
                else:
                    return head["return"]

    def await_event(self, name: str, **holding: Any) -> dict[str, Any]:
        """Return the next event of a name whose data holds these; those before it are kept."""
        with self.turn:
            while True:
                for event in self.events:
                    data = event.get("data", {})
                    if event["event"] == name and holding.items() <= data.items():
                        self.events.remove(event)
                        return event
                line = self.file.readline()
                if not line:
                    raise MonitorError(f"{name}: QEMU is gone")
                self.events.append(json.loads(line))
