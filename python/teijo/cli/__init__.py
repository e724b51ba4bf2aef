"""The command line, one file a verb. Data goes to stdout, messages to stderr; see `app.main`."""

import gc
import os
import sys

_NO_ROOM = "error: There is not enough memory to load Teijo.\n\nRaise the limit (ulimit -v).\n"
_HOST_ERROR = 6
_YOUNG_OBJECTS = 50_000
"""So many objects are made before the collector looks through them: with Python's 700 a tenth of
every start went into looking through what stays to the end anyhow.
"""


def program() -> None:
    """Run the program `teijo`: what the command starts."""
    from teijo.cli.apart import carry_out

    carry_out(main)


def main() -> None:
    """Run one command of `teijo` on the process's arguments and exit with its code."""
    # One thread is all that NumPy's algebra gets: more cost memory, and noise in a measurement.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_YOUNG_OBJECTS)
    _open_missing()
    from teijo.errors import HostError, is_no_room

    try:
        from teijo.cli.memory import check_to_start

        try:
            check_to_start()
        except HostError as error:
            _leave(f"error: {error.message}\n\n{error.remedy}\n")
        from teijo.cli.app import main as run
    except MemoryError:
        _leave(_NO_ROOM)
    except ImportError as error:
        if not is_no_room(error):
            raise
        _leave(_NO_ROOM)
    run()


def _open_missing() -> None:
    """Open what a caller has closed of stdin, stdout and stderr, so that no other file takes its
    number: a message must not land in a run file or on a device.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # Python leaves these at None where the descriptor was closed at its start.
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)


def _leave(message: str) -> None:
    sys.stderr.write(message)
    sys.exit(_HOST_ERROR)
