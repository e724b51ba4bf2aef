"""A stand-in for ssh: `remote.py serve PORT COMMAND …`, `remote.py connect ADDRESS PORT`.

For each connection the server starts the command with the connection as its stdin and stdout, so
that whatever befalls the network befalls the channel.
"""

import os
import select
import socket
import subprocess
import sys

CHUNK = 1 << 16


def serve(port: int, command: list[str]) -> None:
    with socket.create_server(("", port)) as door:
        print("ready", flush=True)
        while True:
            way, _ = door.accept()
            subprocess.Popen(command, stdin=way, stdout=way, start_new_session=True)
            way.close()


def connect(address: str, port: int, rest: list[str]) -> None:
    """Carry stdin to the server and its answers to stdout, until one of them ends."""
    del rest  # what is to be begun, the server knows
    with socket.create_connection((address, port)) as way:
        ends = {0: way.fileno(), way.fileno(): 1}
        while True:
            for source in select.select(list(ends), [], [])[0]:
                chunk = os.read(source, CHUNK)
                if not chunk:
                    return
                view = memoryview(chunk)
                while view:
                    view = view[os.write(ends[source], view) :]


if __name__ == "__main__":
    how, first, *rest = sys.argv[1:]
    if how == "serve":
        serve(int(first), rest)
    else:
        connect(first, int(rest[0]), rest[1:])
