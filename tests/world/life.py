"""One life of the program: a fork of this process in which the command line runs, watched.

What it acknowledges, what the drive did, and which faults befell it come out through a pipe at
once, so that they are known when it dies.
"""

import contextlib
import ctypes
import gc
import importlib
import io
import os
import pickle
import pkgutil
import select
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import teijo.engine
from teijo.cli.app import main
from teijo.runner import run as acts
from teijo.runner.events import Ended, Event, RunStarted, StepDone, StepStarted
from tests.world.drive import Drive, Host, WorldSession
from tests.world.schedule import Fault
from tests.world.shapes import FLASH
from tests.world.shim import Disk

PATIENCE_SECONDS: Final = 120
PR_SET_CHILD_SUBREAPER: Final = 36
SIGNALS: Final = {"SIGINT": 2, "SIGINT twice": 2, "SIGTERM": 15, "SIGHUP": 1}
HOSTILE: Final = "\x1b]0;evil\x07\x1b[2J../../etc \udcff\udc80 ; $(reboot) " + "A" * 300


@dataclass
class Story:
    """What came out of one life. `code` is negative where a signal killed it."""

    code: int = 0
    run_id: str = ""
    acknowledged: list[StepDone] = field(default_factory=list)
    endings: list[Ended] = field(default_factory=list)
    done: list[tuple[Any, ...]] = field(default_factory=list)
    """What the drive did: ("lap", …), ("discard",)."""
    faults: list[str] = field(default_factory=list)
    warned_after: int | None = None
    """How many steps were done when the drive began to warn."""
    violations: list[str] = field(default_factory=list)
    clocks: list[tuple[int, int]] = field(default_factory=list)
    """How long the host had slept, and by how much its clock had been set: at first, and at the
    last call to the drive in each step, or its beginning. What befalls them while an answer is
    recorded is the next step's to tell; behind the last step nothing is left to be wrong."""
    crash: str = ""
    drive: Drive | None = None
    events: int = 0
    drive_calls: int = 0
    text: str = ""


@dataclass(kw_only=True)
class Order:
    """What one life is to do, and what befalls it at which event and at which call to the drive."""

    arguments: list[str]
    host: Callable[[Callable[..., None]], Host] | None
    is_block: bool
    at_event: dict[int, list[Fault]]
    at_call: dict[int, list[Fault]]
    target: Path | None


def warm_up(folder: Path) -> None:
    """Load all that a life may need, so that each fork begins with it."""
    for module in pkgutil.walk_packages(teijo.__path__, "teijo."):
        if not module.name.endswith("_native"):
            importlib.import_module(module.name)
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        given = ["workload", f"sim:{FLASH}", "--set", "seconds=1s", "--report", "text"]
        main(["run", *given, "-o", f"{folder}/warm", "--progress", "ndjson"])
        main(["resume", f"{folder}/warm.teijo.open"])
    gc.collect()
    gc.freeze()


def live(disk: Disk, order: Order, said: Path) -> Story:
    """Carry one life out and return its story."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _child(disk, order, writing, said)
    os.close(writing)
    story = Story()
    try:
        for frame in _frames(reading, child):
            _take(story, frame)
    finally:
        os.close(reading)
    story.code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    _wait_for_orphans()
    story.text = said.read_text(errors="replace") if said.exists() else ""
    return story


def adopt_orphans() -> None:
    """Become the parent of what a dead life leaves running, so that it can be waited for."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait_for_orphans() -> None:
    """Wait until all that a life started has ended: the next life then finds a still world."""
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _take(story: Story, frame: tuple[Any, ...]) -> None:
    match frame:
        case ("event", RunStarted() as event):
            story.run_id = event.run.id
        case ("event", StepDone() as event):
            story.acknowledged.append(event)
        case ("event", Ended() as event):
            story.endings.append(event)
        case ("clocks", asleep_ns, set_ns):
            story.clocks.append((asleep_ns, set_ns))
        case ("fault", "smart warning"):
            story.faults.append("smart warning")
            story.warned_after = len(story.acknowledged)
        case ("fault", kind):
            story.faults.append(kind)
        case ("violation", text):
            story.violations.append(text)
        case ("crash", text):
            story.crash = text
        case ("drive", drive):
            story.drive = drive
        case ("counts", events, calls):
            story.events, story.drive_calls = events, calls
        case _:
            story.done.append(frame)


def _frames(reading: int, child: int) -> Iterator[tuple[Any, ...]]:
    """Yield what the child tells until it is dead. One that hangs is ended, and that is told."""
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    data = b""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        if not poll.poll(1000 * max(0.0, deadline - time.monotonic())):
            os.kill(child, signal.SIGABRT)
            yield ("crash", f"it did not end in {PATIENCE_SECONDS} s")
            return
        piece = os.read(reading, 1 << 20)
        if not piece:
            return
        data += piece
        while len(data) >= 4 and len(data) >= 4 + (length := struct.unpack_from("<I", data)[0]):
            yield pickle.loads(data[4 : 4 + length])
            data = data[4 + length :]


class _Child:
    """The program's side of the pipe."""

    def __init__(self, disk: Disk, order: Order, writing: int) -> None:
        self.disk, self.order, self.writing = disk, order, writing
        self.events = 0
        self.host: Host | None = None
        self.seen = self.now()

    def now(self) -> tuple[int, int]:
        """Return how long the host has slept, and by how much its clock was set."""
        return int(self.disk.head.asleep_ns), int(self.disk.head.wall_ns)

    def look(self) -> None:
        """See the clocks as they are at a call to the drive."""
        self.seen = self.now()

    def tell(self, *frame: object) -> None:
        body = pickle.dumps(frame)
        data = struct.pack("<I", len(body)) + body
        while data:
            data = data[os.write(self.writing, data) :]

    def event(self, event: Event) -> None:
        self.events += 1
        if isinstance(event, RunStarted | StepDone | Ended):
            self.tell("clocks", *(self.seen if isinstance(event, StepDone) else self.now()))
            self.tell("event", event)
        for fault in self.order.at_event.pop(self.events, ()):
            self.strike(fault)
        if isinstance(event, RunStarted | StepStarted):
            self.look()

    def strike(self, fault: Fault) -> None:
        """Let a fault befall this process, its clock, its drive or its file."""
        self.tell("fault", fault.kind)
        head, host, target = self.disk.head, self.host, self.order.target
        match fault.kind:
            case "kill" | "power cut":
                os.kill(os.getpid(), signal.SIGKILL)
            case "SIGINT" | "SIGTERM" | "SIGHUP":
                os.kill(os.getpid(), SIGNALS[fault.kind])
            case "SIGINT twice":
                again = self.order.at_event.setdefault(self.events + fault.value, [])
                again.append(Fault(life=0, where="event", share=0, kind="SIGINT"))
                os.kill(os.getpid(), signal.SIGINT)
            case "clock step":
                head.wall_ns += fault.value
            case "suspend":
                head.asleep_ns += fault.value
            case "file removed" if target is not None:
                target.unlink(missing_ok=True)
            case "file replaced" if target is not None:
                body = target.read_bytes() if target.exists() else b""
                target.unlink(missing_ok=True)
                target.write_bytes(body)
            case "file cut" if target is not None:
                os.truncate(target, 4096)
            case _:
                assert host is not None, fault
                strike_drive(host, fault)


def strike_drive(host: Host, fault: Fault) -> None:
    """Let a fault befall the drive."""
    drive = host.drive
    match fault.kind:
        case "unplug":
            host.become(present=False)
        case "swap":
            host.become(serial="WORLD0002", wwid="eui.99", sequence=drive.sequence + 2)
        case "other size":
            host.become(capacity_bytes=drive.capacity_bytes * 2, sequence=drive.sequence)
        case "other sequence":
            host.swapped_under(drive.sequence + 1)
        case "smart warning":
            host.become(smart=str(fault.value))
        case "smart malformed" | "smart hanging" | "smart absurd" | "smart absent":
            host.become(smart=fault.kind.removeprefix("smart "))
        case "sysfs hostile":
            host.become(model=HOSTILE, firmware=HOSTILE)
        case "sysfs gone":
            host.lose_attributes()
        case "foreign i/o":
            host.stat[4] += fault.value
            host.stat[6] += fault.value * 8
            host.write_stat()
        case _:
            raise AssertionError(fault)


def _child(disk: Disk, order: Order, writing: int, said: Path) -> None:
    """Be the program. Does not return."""
    code = 70
    child = _Child(disk, order, writing)
    try:
        out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(out, 1)
        os.dup2(out, 2)
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", closefd=False)
        sys.argv = ["teijo", *order.arguments]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        _watch(child)
        disk.begin()
        code = _run(child)
    except BaseException:
        with suppress(BaseException):
            child.tell("crash", traceback.format_exc())
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        with suppress(BaseException):
            if child.host is not None:
                child.tell("drive", child.host.drive)
            child.tell("counts", child.events, child.host.calls if child.host else 0)
        os._exit(code)


def _run(child: _Child) -> int:
    try:
        main(child.order.arguments)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1
    except KeyboardInterrupt:
        return 130  # what Python makes of it, with a traceback
    return 0


def _strike_all(child: _Child, faults: list[Fault]) -> None:
    for fault in faults:
        child.strike(fault)


def _watch(child: _Child) -> None:
    """Put the world's kernel in place, and listen to what the run tells its observer."""
    order = child.order
    if order.host is not None:
        host = child.host = order.host(child.tell)
        host.look = child.look
        for number, faults in order.at_call.items():
            host.during[number] = partial(_strike_all, child, faults)
        if order.is_block:
            host.take_over()

        def opened(descriptors: Sequence[int], **_: object) -> WorldSession:
            return WorldSession(host, descriptors[0], is_block=order.is_block)

        teijo.engine.open_descriptor = opened  # type: ignore[assignment]
    begun = acts._Act.__post_init__

    def begin(act: acts._Act) -> None:
        observer = act._observer

        def both(event: Event) -> None:
            child.event(event)
            observer(event)

        act._observer = both
        begun(act)

    acts._Act.__post_init__ = begin  # type: ignore[method-assign]
