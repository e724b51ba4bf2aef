"""One QEMU machine: how it is started, asked, unplugged, and cut off like a power failure.

`Guest` is what a test holds. Everything it starts ends with it: the machine is its child, and is
killed by its process id.
"""

import contextlib
import itertools
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Self

from tests.guest import build, frames
from tests.guest.agent import PORT
from tests.guest.qmp import Monitor

PROGRAM = "qemu-system-x86_64"
BOOT_SECONDS = 180
"""A machine that has not said hello by then hangs; on a busy host it takes twenty."""
ANSWER_SECONDS = 60
KERNEL_WORDS = (
    "console=ttyS0 quiet loglevel=4 mitigations=off nokaslr audit=0 panic=-1 tsc=reliable "
    "no_timer_check random.trust_cpu=on nvme_core.default_ps_max_latency_us=0"
)


Waiting = dict[int, SimpleQueue[tuple[dict[str, Any], bytes]]]
"""The requests that have no answer yet, by number."""


class GuestError(Exception):
    """The guest, or the way to it, failed; with the end of its console."""


@dataclass(frozen=True)
class Ran:
    """What a program of the guest said, and its exit code (negative: the signal)."""

    code: int
    out: str
    err: str

    def __iter__(self) -> Any:
        return iter((self.code, self.out, self.err))

    def good(self) -> str:
        """Return its output; a failure is an error that shows all of it."""
        assert self.code == 0, f"exit code {self.code}\n{self.out}\n{self.err}"
        return self.out


@dataclass(frozen=True)
class Started:
    """A program under way in the guest."""

    guest: "Guest"
    number: int
    pid: int

    def wait(self, timeout: float = ANSWER_SECONDS) -> Ran:
        """Wait until it has ended; raises GuestError with what it said so far if it does not."""
        found, ended = self.look(timeout)
        if not ended:
            self.kill("SIGKILL")
            raise GuestError(f"not ended in {timeout} s: {found.out[-2000:]}\n{found.err[-4000:]}")
        return found

    def look(self, timeout: float = 0) -> tuple[Ran, bool]:
        """Return what it has said so far, and whether it has ended within so many seconds."""
        head, said = self.guest.ask(
            {"act": "wait", "of": self.number, "timeout": timeout}, within=timeout + ANSWER_SECONDS
        )
        code, split = head["code"], head["split"]
        out, err = (part.decode(errors="replace") for part in (said[:split], said[split:]))
        return Ran(-99 if code is None else code, out, err), code is not None

    def kill(self, name: str = "SIGTERM", *, group: bool = True) -> None:
        """Send it a signal by name, and to all that it started."""
        self.guest.ask({"act": "kill", "of": self.number, "signal": SIGNALS[name], "group": group})


SIGNALS = {"SIGTERM": 15, "SIGKILL": 9, "SIGINT": 2, "SIGSTOP": 19, "SIGCONT": 18, "SIGHUP": 1}


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """What the machine is made of; `devices` are words of QEMU's command line."""

    devices: tuple[str, ...] = ()
    memory_mib: int = 1280
    processors: int = 2
    kernel_words: str = ""


def disk(path: Path, name: str, *, cache: str = "writeback") -> tuple[str, ...]:
    """Return the words for a disk of virtio over a file: in the guest /dev/vdc and on."""
    drive = f"file={path},if=none,id={name},format=raw,cache={cache}"
    return ("-drive", drive, "-device", f"virtio-blk-pci,drive={name},id=dev-{name},serial={name}")


SHELLS_OWN = re.compile(r"[^\w\s./:=,@%+-]")
"""In a line without these a shell does nothing but split it into words."""
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
READ_AT_START = frozenset({"LANG", "LC_ALL", "LD_PRELOAD", "PYTHONPATH"})
"""Of the environment, what a start alone reads."""


def plain(line: str) -> tuple[list[str], dict[str, str]]:
    """Return the words of a line, and the environment that is set before them; none and none
    where the line needs a shell.
    """
    if SHELLS_OWN.search(line) or "\n" in line:
        return [], {}
    words = line.split()
    pairs = list(itertools.takewhile(ASSIGNMENT.match, words))
    return words[len(pairs) :], dict(pair.split("=", 1) for pair in pairs)


def is_forked(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Return whether a Python that runs already can carry out a command as a new one would."""
    known = words[:1] == ["teijo"] or words[:2] == ["python3", "-m"]
    return known and not READ_AT_START & environment.keys()


class Guest:
    """A machine that runs; use it as a context, which ends it."""

    def __init__(self, folder: Path, code: Path, hardware: Hardware) -> None:
        self.folder, self.code, self.hardware = folder, code, hardware
        self.numbers = itertools.count(1)
        self.waiting: Waiting = {}
        self.hello: SimpleQueue[str] = SimpleQueue()
        self.sending = threading.Lock()
        self.process: subprocess.Popen[bytes] | None = None
        self.monitor: Monitor

    def __enter__(self) -> Self:
        self.boot()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.cut()

    def command(self) -> list[str]:
        """Return the words of QEMU's command line."""
        image = build.built()
        hardware = self.hardware
        return [
            PROGRAM, "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max",
            "-smp", str(hardware.processors), "-m", str(hardware.memory_mib),
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-kernel", str(image / "kernel"), "-initrd", str(image / "initrd"),
            "-append", f"{KERNEL_WORDS} {hardware.kernel_words}",
            "-serial", f"file:{self.folder / 'console'}",
            "-qmp", f"unix:{self.folder / 'qmp'},server=on,wait=off",
            "-chardev", f"socket,id=agent,path={self.folder / 'agent'},server=on,wait=off",
            "-drive", f"file={image / 'root.img'},if=none,id=root,format=raw,readonly=on",
            "-device", "virtio-blk-pci,drive=root",
            "-drive", f"file={self.code},if=none,id=code,format=raw,readonly=on",
            "-device", "virtio-blk-pci,drive=code",
            "-device", "virtio-serial-pci",
            "-device", f"virtserialport,chardev=agent,name={PORT}",
            "-device", "virtio-rng-pci", *hardware.devices,
        ]  # fmt: skip

    def boot(self) -> None:
        """Start the machine and wait until its agent says hello."""
        assert self.process is None, "it runs already"
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("qmp", "agent", "console"):
            (self.folder / name).unlink(missing_ok=True)
        with (self.folder / "qemu").open("ab") as said:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
        try:
            self.monitor = Monitor(self.connect("qmp"))
            with self.connect("agent") as way:
                self.port = way.makefile("rwb", buffering=0)
            # What the last life still says must not reach this one.
            self.hello, self.waiting = SimpleQueue(), {}
            ears = (self.port, self.hello, self.waiting)
            threading.Thread(target=self.listen, args=ears, daemon=True).start()
            self.await_hello()
        except BaseException:
            self.cut()
            raise

    def await_hello(self) -> None:
        try:
            said = self.hello.get(timeout=BOOT_SECONDS)
        except Empty:
            raise GuestError(f"it did not come up\n{self.console()}") from None
        if not said:
            raise GuestError(f"it ended while it came up\n{self.console()}")

    def connect(self, name: str) -> socket.socket:
        """Connect to a socket of QEMU, which makes it soon after its start."""
        assert self.process is not None
        for _ in range(BOOT_SECONDS * 20):
            way = socket.socket(socket.AF_UNIX)
            try:
                way.connect(str(self.folder / name))
                return way
            except OSError:
                way.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.05)
                break
        raise GuestError(f"QEMU did not start\n{self.console()}")

    def listen(self, port: Any, hello: SimpleQueue[str], requests: Waiting) -> None:
        """Hand each frame to the request that it answers, until the machine is gone."""
        try:
            while True:
                head, content = frames.read(port)
                if "hello" in head:
                    hello.put(head["kernel"])
                elif (waiting := requests.pop(head["id"], None)) is not None:
                    waiting.put((head, content))
        except (EOFError, OSError, ValueError):
            hello.put("")
            for waiting in list(requests.values()):
                waiting.put(({"failed": "the machine is gone"}, b""))

    def ask(
        self, request: dict[str, Any], content: bytes = b"", *, within: float = ANSWER_SECONDS
    ) -> tuple[dict[str, Any], bytes]:
        """Send a request to the agent and return its answer; raises GuestError."""
        number = next(self.numbers)
        waiting = self.waiting[number] = SimpleQueue()
        try:
            with self.sending:
                frames.write(self.port, {"id": number, **request}, content)
            head, found = waiting.get(timeout=within)
        except (Empty, OSError, ValueError) as why:
            self.waiting.pop(number, None)
            raise GuestError(f"no answer to {request['act']}: {why!r}\n{self.console()}") from why
        if "failed" in head:
            raise GuestError(f"{request['act']}: {head['failed']}")
        return head, found

    def start(
        self,
        command: str | Sequence[str],
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] = {},
        fresh: bool = False,
    ) -> Started:
        """Start a program (a text is a line of the shell) and return at once.

        `teijo …` and `python3 -m …` are forked by a Python that has them loaded already, which
        saves seconds; `fresh` asks for a start of Python as a person's.
        """
        words, before = plain(command) if isinstance(command, str) else (list(command), {})
        before |= environment
        forked = not fresh and is_forked(words, before)
        if isinstance(command, str) and not forked:
            words, before = ["/bin/bash", "-c", command], dict(environment)
        request = {"act": "start", "command": words, "environment": before, "forked": forked}
        # The first that is forked waits until Teijo is loaded.
        head, _ = self.ask(request, stdin, within=BOOT_SECONDS)
        return Started(self, head["id"], head["pid"])

    def run(
        self,
        command: str | Sequence[str],
        timeout: float = ANSWER_SECONDS,
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] = {},
        fresh: bool = False,
    ) -> Ran:
        """Run a program to its end: (exit code, stdout, stderr)."""
        started = self.start(command, stdin=stdin, environment=environment, fresh=fresh)
        return started.wait(timeout)

    def put(self, path: str, content: bytes) -> None:
        """Write a file of the guest, and its folders."""
        self.ask({"act": "put", "path": path}, content)

    def get(self, path: str) -> bytes:
        """Return a file of the guest."""
        return self.ask({"act": "get", "path": path})[1]

    def reset(self) -> None:
        """Press the reset button and wait until it is up again; disks stay as they are."""
        self.cut()
        self.boot()

    def cut(self) -> None:
        """Cut the power: QEMU is killed, and nothing that the guest holds is written any more.

        What the guest's kernel had not sent to a disk is lost. What a disk over a file had taken
        stays, flushed or not.
        """
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()

    def console(self) -> str:
        """Return the end of what the machine and QEMU said."""
        texts = []
        for name in ("console", "qemu"):
            with contextlib.suppress(OSError):
                texts.append((self.folder / name).read_text(errors="replace")[-6000:])
        return "\n".join(texts)


def why_not() -> str:
    """Return why no guest can run here, or nothing."""
    if shutil.which(PROGRAM) is None:
        return f"needs the program {PROGRAM}"
    try:
        build.built()
    except build.Unbuilt as why:
        return str(why)
    return ""


def code_disk(folder: Path) -> Path:
    """Make the disk with Teijo as it is in this folder: its package, and tests that run inside."""
    tree = folder / "code"
    for name in ("python/teijo", "tests/guest", "tests/drives"):
        if (source := build.ROOT / name).exists():
            unwanted = shutil.ignore_patterns("*.pyc") if name.startswith("tests") else None
            shutil.copytree(source, tree / name, ignore=unwanted)
    build.compile_python(tree / "tests", "/teijo/tests")
    image = folder / "code.img"
    build.make_disk(tree, image, spare_mib=1)
    shutil.rmtree(tree)
    return image
