"""A drive that seems real: a simulated one behind the kernel's face, claimed and unplugged.

What it does is told by itself, apart from the run file. Nothing here is a device of this host: the
node is a plain file, and what the kernel says of it is answered in its place.
"""

import errno
import fcntl
import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from teijo.device import kernel, real
from teijo.device.asking import NoAnswer
from teijo.device.asking import ask as really_ask
from teijo.device.commands.nvme import NVME_IOCTL_ID
from teijo.device.health import asked as health
from teijo.device.target import SimulatedTarget, parse_target
from teijo.engine import SimulatedSession, open_simulated
from teijo.engine.plan import Plan
from teijo.engine.session import Ceilings, Lap, Observer, Progress, StuckIo
from teijo.terms.result import OperationResult, Witness

NUMBER: Final = (259, 9)
NAME: Final = "nvme9n1"
CALLS_LATE: Final = 3
"""No check is in the same instant as the write after it: so many calls may come between."""
PROGRAMS: Final = ("smartctl", "wipefs", "blkid")
_REAL_OPEN, _REAL_CLOSE, _REAL_FSTAT, _REAL_STAT = os.open, os.close, os.fstat, os.stat
_REAL_IOCTL, _REAL_RUN, _REAL_WHICH = fcntl.ioctl, subprocess.run, shutil.which


@dataclass(frozen=True, kw_only=True)
class Drive:
    """What is plugged in: who it says it is, and in which state."""

    model: str = "WORLD DRIVE"
    serial: str = "WORLD0001"
    firmware: str = "W1"
    wwid: str = "eui.0011223344556677"
    capacity_bytes: int = 16 << 20
    sequence: int = 41
    present: bool = True
    smart: str = "fine"
    """fine, malformed, hanging, absent, or the critical warning as a number."""
    inner: str = "sim:mlc-a?nominal_capacity=64MiB&scale=1&dies=2"


@dataclass(kw_only=True)
class Handle:
    """An open descriptor of the node: of which drive, and how it was opened."""

    flags: int
    sequence: int
    """As the program was told it first; until it asks, as the node was opened."""
    serial: str
    asked: bool = False


def _no_look() -> None:
    """Take no notice."""


class Host:
    """The kernel of a made-up host with one drive: sysfs, procfs, ioctl, programs.

    `tell` is told what the drive did, in its own words; `advance` lets time pass.
    """

    def __init__(
        self, root: Path, drive: Drive, tell: Callable[..., None], advance: Callable[[int], None]
    ) -> None:
        """Lay the host out in a folder."""
        self.root, self.drive = root, drive
        self.tell, self.advance = tell, advance
        self.node = root / "dev" / NAME
        self.calls = 0
        self.during: dict[int, Callable[[], None]] = {}
        """What happens at the so manieth call to the drive."""
        self.look: Callable[[], None] = _no_look
        """Called at the end of each call to the drive."""
        self.handles: dict[int, Handle] = {}
        self.stat = [0] * 17
        self.under = False
        self.swapped_at = 0
        self.lay_out()

    # ---- what the kernel shows ------------------------------------------------------------

    def lay_out(self) -> None:
        """Write sysfs and procfs as they are now."""
        number = f"{NUMBER[0]}:{NUMBER[1]}"
        folder = self.root / "sys" / "devices" / "pci0" / "nvme9" / NAME
        for link in (self.root / "sys" / "block" / NAME, self.root / "sys/dev/block" / number):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            if self.drive.present:
                link.symlink_to(folder)
        shutil.rmtree(folder, ignore_errors=True)
        if self.drive.present:
            for name, text in self._attributes(number).items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode(errors="surrogateescape") + b"\n")
            for name in ("holders", "slaves"):
                (folder / name).mkdir()
        self._lay_out_processes()
        self.node.parent.mkdir(parents=True, exist_ok=True)
        if self.drive.present:
            with self.node.open("ab") as file:
                file.truncate(self.drive.capacity_bytes)

    def _attributes(self, number: str) -> dict[str, str]:
        drive = self.drive
        return {
            "dev": number,
            "size": str(drive.capacity_bytes // 512),
            "nsid": "1",
            "wwid": drive.wwid,
            "stat": " ".join(map(str, self.stat)),
            "queue/write_cache": "write back",
            "queue/rotational": "0",
            "queue/scheduler": "[none] mq-deadline",
            "queue/iostats": "1",
            "device/serial": drive.serial,
            "device/model": drive.model,
            "device/firmware_rev": drive.firmware,
            "device/transport": "pcie",
            "diskseq": str(drive.sequence),
        }

    def _lay_out_processes(self) -> None:
        proc = self.root / "proc"
        for name in ("self", "1"):
            for part in ("fd", "ns", "fdinfo"):
                (proc / name / part).mkdir(parents=True, exist_ok=True)
            (proc / name / "mountinfo").write_text(self._mounts())
            (proc / name / "uid_map").write_text("0 0 4294967295\n")
            (proc / name / "status").write_text("CapEff:\t000001ffffffffff\n")
            (proc / name / "comm").write_text("init\n")
            for space, value in (("mnt", 4026531840), ("pid", 4026531836)):
                link = proc / name / "ns" / space
                if not link.is_symlink():
                    link.symlink_to(f"{space}:[{value}]")
        (proc / "sys/kernel/random").mkdir(parents=True, exist_ok=True)
        (proc / "sys/kernel/random/boot_id").write_text("00000000-0000-0000-0000-000000000000\n")
        (proc / "swaps").write_text("Filename\tType\tSize\tUsed\tPriority\n")

    def _mounts(self) -> str:
        home = self.root.stat().st_dev
        return f"21 1 {os.major(home)}:{os.minor(home)} / {self.root} rw - tmpfs tmpfs rw\n"

    # ---- what happens to the drive --------------------------------------------------------

    def become(self, **changes: object) -> None:
        """Change what is plugged in."""
        self.drive = replace(self.drive, **changes)  # type: ignore[arg-type]
        self.lay_out()

    def swapped_under(self, sequence: int) -> None:
        """Put another medium under open descriptors, as a loop or a network device can."""
        self.drive = replace(self.drive, sequence=sequence)
        self.under, self.swapped_at = True, self.calls
        self.lay_out()

    def lose_attributes(self) -> None:
        """Let the kernel show nothing more of the drive than that it is there."""
        folder = self.root / "sys" / "devices" / "pci0" / "nvme9" / NAME
        for name in ("queue", "device"):
            shutil.rmtree(folder / name, ignore_errors=True)
        for name in ("stat", "wwid", "size"):
            (folder / name).unlink(missing_ok=True)

    def called(self) -> None:
        """Count a call to the drive; let happen what was ordered for it."""
        self.calls += 1
        if action := self.during.pop(self.calls, None):
            action()
        self.look()

    def alive(self, fd: int) -> bool:
        """Return whether a descriptor still leads to the drive that it was opened on."""
        handle = self.handles.get(fd)
        same = handle is not None and handle.sequence == self.drive.sequence
        return self.drive.present and (same or self.under)

    # ---- the calls of this process --------------------------------------------------------

    def take_over(self) -> None:
        """Answer for the kernel in this process from now on."""
        for name in ("sys", "proc", "dev"):
            object.__setattr__(kernel.HOST, name, self.root / name)
        os.open, os.close = self._open, self._close  # type: ignore[assignment]
        os.fstat, os.stat = self._fstat, self._stat  # type: ignore[assignment]
        fcntl.ioctl = self._ioctl  # type: ignore[assignment]
        clock = SimpleNamespace(sleep=self._rest, monotonic_ns=time.monotonic_ns)
        real.time = clock  # type: ignore[assignment]
        subprocess.run, shutil.which = self._run, self._which  # type: ignore[assignment]
        health.ask = self._ask  # type: ignore[assignment]

    def _rest(self, seconds: float) -> None:
        """Let the drive rest: half the time, what is ordered for now, and the other half."""
        for _ in range(2):
            self.advance(int(seconds / 2 * 10**9))
            self.called()

    def _is_node(self, path: Any) -> bool:
        return not isinstance(path, int) and bool(os.fspath(path) == str(self.node))

    def _open(self, path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
        if not self._is_node(path):
            return _REAL_OPEN(path, flags, mode, **more)
        self.called()
        if not self.drive.present:
            raise OSError(errno.ENXIO, os.strerror(errno.ENXIO), str(path))
        fd = _REAL_OPEN(path, (flags & ~(os.O_DIRECT | os.O_EXCL)), mode)
        self.handles[fd] = Handle(
            flags=flags, sequence=self.drive.sequence, serial=self.drive.serial
        )
        return fd

    def _close(self, fd: int) -> None:
        self.handles.pop(fd, None)
        _REAL_CLOSE(fd)

    def _fstat(self, fd: int) -> os.stat_result:
        found = _REAL_FSTAT(fd)
        return _as_block(found) if fd in self.handles else found

    def _stat(self, path: Any, **more: Any) -> os.stat_result:
        if isinstance(path, int) and path in self.handles:
            return self._fstat(path)
        if self._is_node(path) and not self.drive.present:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        found = _REAL_STAT(path, **more)
        return _as_block(found) if self._is_node(path) else found

    def _ioctl(self, fd: Any, request: int, arg: Any = 0, mutate: bool = True) -> Any:
        if fd not in self.handles:
            return _REAL_IOCTL(fd, request, arg, mutate)
        self.called()
        if not self.alive(fd):
            raise OSError(errno.ENXIO, os.strerror(errno.ENXIO))
        handle = self.handles[fd]
        if request == kernel.BLKGETDISKSEQ and not handle.asked:
            handle.asked, handle.sequence = True, self.drive.sequence
        numbers = {
            kernel.BLKGETSIZE64: (self.drive.capacity_bytes, 8),
            kernel.BLKSSZGET: (512, 4),
            kernel.BLKPBSZGET: (4096, 4),
            kernel.BLKROGET: (0, 4),
            kernel.BLKGETDISKSEQ: (self.drive.sequence, 8),
        }
        if request in numbers:
            value, length = numbers[request]
            return value.to_bytes(length, "little")
        if request == kernel.BLKDISCARD:
            self.may_write(fd, "discard")
            self.advance(1_000_000)
            self.tell("discard")
            return arg
        code = errno.ENOTTY if request == NVME_IOCTL_ID else errno.EOPNOTSUPP
        raise OSError(code, os.strerror(code))

    def may_write(self, fd: int, what: str) -> None:
        """Make sure that who writes has claimed this very drive and locked it."""
        handle = self.handles.get(fd)
        claimed = handle is not None and handle.flags & os.O_EXCL and handle.flags & os.O_RDWR
        if not claimed:
            self.tell("violation", f"{what} without a claim (O_EXCL, for writing)")
        if handle is not None and handle.serial != WANTED:
            self.tell("violation", f"{what} on {handle.serial}, which nobody gave up")
        late = self.calls - self.swapped_at > CALLS_LATE
        if handle is not None and late and handle.sequence != self.drive.sequence:
            self.tell("violation", f"{what} on a medium that came after the checks")
        again = _REAL_OPEN(self.node, os.O_RDONLY)
        try:
            fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.tell("violation", f"{what} without the lock")
        except BlockingIOError:
            pass
        finally:
            _REAL_CLOSE(again)

    # ---- programs -------------------------------------------------------------------------

    def _which(self, program: str, *more: Any, **options: Any) -> str | None:
        if program in PROGRAMS:
            return f"/usr/sbin/{program}"
        return _REAL_WHICH(program, *more, **options)

    def _run(self, command: Sequence[str], *more: Any, **options: Any) -> Any:
        program = Path(command[0]).name
        if program not in PROGRAMS:
            return _REAL_RUN(command, *more, **options)
        self.called()
        text = isinstance(options.get("text"), bool) and options["text"]
        code = 2 if program == "blkid" else 0
        empty: Any = "" if text else b""
        return subprocess.CompletedProcess(command, code, empty, empty)

    def _ask(self, command: Sequence[str], *, seconds: float, limit_bytes: int) -> bytes:
        if Path(command[0]).name not in PROGRAMS:
            return really_ask(command, seconds=seconds, limit_bytes=limit_bytes)
        self.called()
        return self._smart(seconds)

    def _smart(self, timeout: float) -> bytes:
        mood = self.drive.smart if self.drive.present else "absent"
        if mood == "hanging":
            self.advance(int(timeout * 10**9))
            raise NoAnswer(f"did not answer within {timeout:g} s")
        if mood == "absent":
            raise NoAnswer("cannot be started: No such file or directory")
        if mood == "malformed":
            return b'{"nvme_smart_health_information_log": {"critical_warning": "\xff'
        if mood == "absurd":
            log = {"critical_warning": -7, "data_units_written": 10**40, "media_errors": [1]}
            return json.dumps({"nvme_smart_health_information_log": log, "temperature": 3}).encode()
        warning = int(mood) if mood.isdigit() else 0
        log = {
            "critical_warning": warning, "percentage_used": 3, "media_errors": 0,
            "data_units_read": self.stat[2] // 1000, "data_units_written": self.stat[6] // 1000,
            "power_on_hours": 100, "unsafe_shutdowns": 1,
        }  # fmt: skip
        status = {"passed": warning == 0, "nvme": {"value": warning}}
        return json.dumps(
            {
                "nvme_smart_health_information_log": log,
                "smart_status": status,
                "temperature": {"current": 40},
                "serial_number": self.drive.serial,
            }
        ).encode()

    def count(self, lap: Lap) -> None:
        """Add a lap to the kernel's counters."""
        for part in lap.result.results:
            place = 0 if part.operation == "read" else 4
            self.stat[place] += part.count
            self.stat[place + 2] += part.bytes // 512
        self.write_stat()

    def write_stat(self) -> None:
        """Show the counters as they are now."""
        path = self.root / "sys" / "devices" / "pci0" / "nvme9" / NAME / "stat"
        if path.exists():
            path.write_text(" ".join(map(str, self.stat)) + "\n")


WANTED: Final = Drive().serial


def _as_block(found: os.stat_result) -> os.stat_result:
    values = (stat.S_IFBLK | 0o600, *tuple(found)[1:])
    return os.stat_result(values, {"st_rdev": os.makedev(*NUMBER)})


class WorldSession:
    """A session on a simulated drive that seems to be an engine on a descriptor, in real time."""

    backend = "io_uring"

    def __init__(self, host: Host, fd: int, *, is_block: bool) -> None:
        """Take the descriptor that the plans are for."""
        self._host, self._fd, self._is_block = host, fd, is_block
        self._inner = _opened(host.drive.inner)

    def now_ns(self) -> int:
        """Return the clock of the host."""
        return time.monotonic_ns()

    def choices(self) -> Mapping[str, str]:
        """Give what its session chose."""
        return self._inner.choices()

    def ceilings(self) -> Ceilings | None:
        """Return nothing: the host is as fast as one likes."""
        return None

    def run(self, plan: Plan, observer: Observer | None = None) -> Lap:
        """Run a lap on the simulated drive; what was done is told before it is handed back."""
        host, started_ns = self._host, self.now_ns()
        if self._is_block and any(placed.moves("write") for placed in plan.streams):
            host.may_write(self._fd, "a plan")
        host.called()

        def look(now: Progress) -> bool:
            host.called()
            return observer is None or observer(now)

        lap = self._inner.run(plan, look)
        host.called()
        host.advance(lap.result.elapsed_ns)
        gone = self._is_block and not host.alive(self._fd)
        result = replace(
            lap.result,
            started_ns=started_ns,
            witness=_witness(plan, lap.result.elapsed_ns),
            results=tuple(_failing(part) if gone else part for part in lap.result.results),
        )
        failure = lap.failure or ("the device is gone (No such device)" if gone else "")
        lap = replace(lap, result=result, failure=failure)
        host.count(lap)
        host.tell("lap", told(lap))
        return lap

    def limit_io(self, io_timeout_ns: int) -> None:
        """Let it be left when it is silent for longer."""
        self._inner.limit_io(io_timeout_ns)

    def pin(self, cpus: Sequence[int]) -> None:
        """Let its workers be kept there."""
        self._inner.pin(cpus)

    def stuck(self) -> tuple[StuckIo, ...]:
        """Give what did not come back."""
        return self._inner.stuck()

    def finish(self) -> None:
        """End what is in flight."""
        self._inner.finish()

    def close(self) -> None:
        """Give the simulated drive up."""
        self._inner.close()


def _failing(part: OperationResult) -> OperationResult:
    errors = dict(part.errors)
    errors[errno.ENODEV] = errors.get(errno.ENODEV, 0) + 1
    return replace(part, errors=errors)


def told(lap: Lap) -> dict[str, object]:
    """Return what a lap was, in plain numbers."""
    return {
        "elapsed_ns": lap.result.elapsed_ns,
        "failure": bool(lap.failure),
        "parts": [
            (
                part.stream, part.operation, part.count, part.bytes, sorted(part.errors.items()),
                part.latency.sum_ns, part.latency.min_ns, part.latency.max_ns,
                part.latency.counts.tolist(), part.intervals.ios.tolist(),
            )
            for part in lap.result.results
        ],
    }  # fmt: skip


def _witness(plan: Plan, elapsed_ns: int) -> Witness:
    asked = tuple(placed.stream.outstanding_ios for placed in plan.streams)
    return Witness(
        backend="io_uring",
        wall_ns=elapsed_ns,
        cpu_ns=elapsed_ns // 10,
        worker_cpu_ns=elapsed_ns // 10,
        worker_delay_ns=0,
        busiest_worker=0.1,
        workers=len(asked),
        look_gap_ns_max=0,
        in_flight_mean=float(sum(asked)),
        in_flight_asked=sum(asked),
        stream_in_flight_mean=tuple(map(float, asked)),
        stream_in_flight_asked=asked,
        turn_gap_ns_max=0,
        turns=1,
        submit_calls=1,
        min_complete=1,
        io_wq_workers=0,
        techniques=(),
        drift_ppm=0.0,
    )


def _opened(text: str) -> SimulatedSession:
    target = parse_target(text)
    assert isinstance(target, SimulatedTarget)
    return open_simulated(target.name, **target.overrides)


def as_state(drive: Drive) -> dict[str, object]:
    """Return a drive as plain values, to be handed from life to life."""
    return asdict(drive)
