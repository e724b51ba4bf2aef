"""Short real runs, and ways to die in the middle of one."""

import os
import shutil
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import teijo.api
from teijo.runner.events import Event, StepDone

DRIVE = "sim:mlc-a?capacity=64MiB&dies=2"
SHORT = {
    "minute": "20ms",
    "block_sizes": "4KiB,64KiB",
    "mixes": "100/0,0/100",
    "rounds": "6",
    "precondition_times": "1",
}
SEED = 20


def run_iops(path: Path, target: str = DRIVE, **more: object) -> teijo.api.Run:
    """Run PTS IOPS, as short as it can be."""
    return teijo.api.run(
        "pts.iops",
        target,
        output=path,
        settings=SHORT,
        seed=SEED,
        **more,  # type: ignore[arg-type]
    )


def fill(folder: Path) -> None:
    """Leave no free byte."""
    with (folder / "others").open("ab", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    assert shutil.disk_usage(folder).free == 0


def in_a_child(act: Callable[[], object]) -> int:
    """Run `act` in a forked child and return how it ended, as `os.waitstatus_to_exitcode`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_me() -> None:
    """Die as a power cut does: no handler runs, nothing is flushed."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed_after(seq: int) -> Callable[[Event], None]:
    """Return an observer that dies once this step is recorded."""

    def observe(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == seq:
            kill_me()

    return observe
