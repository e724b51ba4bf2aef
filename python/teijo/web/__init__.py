"""The live page: a folder of run files in a browser. It computes nothing of its own."""

from typing import Final

HOST: Final = "127.0.0.1"
PORT: Final = 8642
"""Where it is served, if nobody says otherwise."""
