"""What is done for a fleet on one host, by a process there: look at drives, begin and watch runs.

All that goes in and out is plain JSON, so that it may stand behind any wire. A run is a process of
its own, which outlives this one; how it is, its file tells whoever asks next.
"""

import hashlib
import os
import platform
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from teijo.api import acting, run_files
from teijo.api.own_process import OwnProcess
from teijo.api.watching import Watched
from teijo.compare.limit import recorded_limits
from teijo.device import list_devices
from teijo.device.opening import inspect_target
from teijo.device.preflight import identify_open, open_to_read
from teijo.device.target import SimulatedTarget, parse_target
from teijo.device.to_read import opened_to_read, unwritten_share
from teijo.device.topology import way_of
from teijo.engine import open_descriptor
from teijo.errors import HostError, RunFileError, TeijoError
from teijo.fleet.order import NOBODY, Order
from teijo.outside.text import visible
from teijo.runfile import program, reader, start_request
from teijo.runfile.names import Names
from teijo.runfile.writers import Writers
from teijo.runner.hold import ASKED, WAITING, clock_error_s, late_s
from teijo.runner.side_by_side import Seat, read_together
from teijo.terms.bottleneck import LOADS, LoadName, Seen
from teijo.terms.topology import Way
from teijo.units import NS_PER_S

State = Literal["absent", "starting", "held", "running", "left", "sealed", "refused"]
"""How a drive's run is: *held* waits to be told when to begin, *left* can be resumed, *refused*
ended before there was a run file.
"""

_BY_ID: Final = Path("/dev/disk/by-id")
_BLOCKS: Final = Path("/sys/class/block")
PART_BYTES: Final = 4 << 20
"""So much of a run file goes in one answer."""
_MESSAGE_MOST: Final = 600
_WHY_MOST: Final = 200
_SPELL_NS_MOST: Final = 30 * NS_PER_S
"""A host that is silent for longer is taken for lost."""


@dataclass
class Hand:
    """A host as a fleet sees it. `folder` is where its run files are."""

    folder: Path
    _begun: dict[str, OwnProcess] = field(default_factory=dict)
    _watched: dict[str, Watched] = field(default_factory=dict)
    _known: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """Return what a fleet has to know of this host: versions, clock, and its drives."""
        return {
            "name": socket.gethostname(),
            "teijo": program.version(),
            "build": program.build(),
            "python": platform.python_version(),
            "kernel": platform.release(),
            "cpus": len(os.sched_getaffinity(0)),
            "now_ns": time.time_ns(),
            "folder": str(self.folder),
            "drives": [*_drives()],
        }

    def ways(self, targets: Sequence[str], tries: bool = False) -> list[dict[str, Any]]:
        """Return what lies between this host and each target; if it `tries` them, also why one
        cannot be read now, and how much of it was never written.
        """
        return [_seen(each, tries=tries).model_dump(mode="json") for each in targets]

    def read_together(
        self, targets: Sequence[str], load: LoadName, duration_ns: int, seed: int
    ) -> dict[str, Any]:
        """Read drives at the same time for a moment, and return what each gave. Writes nothing."""
        if load not in LOADS or not 0 < duration_ns <= _SPELL_NS_MOST:
            raise HostError(f"{load!r} is no load.", remedy="Install one Teijo on all hosts.")
        with ExitStack() as stack:
            seats = []
            for text in targets:
                fd, geometry = stack.enter_context(opened_to_read(parse_target(text)))
                session = open_descriptor(
                    fd,
                    capacity_bytes=geometry.capacity_bytes,
                    logical_block_bytes=geometry.logical_block_bytes,
                )
                stack.enter_context(closing(session))
                seats.append(Seat(session=session, geometry=geometry))
            answer = read_together(seats, load, duration_ns=duration_ns, seed=seed)
        return answer.model_dump(mode="json")

    def clock_ns(self) -> int:
        """Return the wall time here, in ns."""
        return time.time_ns()

    def prepare(self) -> str:
        """Make the folder of the run files; return why it cannot be had, "" where it can."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            return f"{self.folder}: {error.strerror}"
        return "" if os.access(self.folder, os.W_OK) else f"{self.folder}: it cannot be written"

    def examine(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a run would take, or why it cannot be begun. Writes nothing."""
        asked = Order.model_validate(order)
        try:
            ahead = acting.preview(
                asked.method, asked.target, spec=asked.spec, settings=asked.settings
            )
            if asked.serial:
                refused = inspect_target(asked.target).preflight.refusals
                if refused:
                    told = "; ".join(f"{check.name}: {check.evidence}" for check in refused)
                    return _refused(told)
        except TeijoError as error:
            return _refused(error.message)
        ends = (ahead.least, ahead.expected, ahead.most)
        return {
            "problem": "",
            "seconds": [end.duration_ns / NS_PER_S for end in ends],
            "written_bytes": [end.written_bytes for end in ends],
            "capacity_bytes": ahead.capacity_bytes,
        }

    def begin(
        self, order: Mapping[str, Any], overwrite: bool = False, reach: Mapping[str, str] = NOBODY
    ) -> str:
        """Begin a run, or carry it on where it was left; return its state.

        One that goes on or is sealed is left as it is, so asking twice begins nothing twice.
        `overwrite` is a person's consent to overwrite an existing file, and `reach` the commands
        that lead to other hosts: no plan can give either.
        """
        asked = Order.model_validate(order)
        state = self._state(asked.run)
        if state not in ("absent", "left", "refused"):
            return state
        names = self._names(asked.run)
        if state == "left":
            words = asked.words_to_resume(str(names.open), overwrite=overwrite, reach=reach)
        else:
            words = asked.words(str(names.sealed), overwrite=overwrite, reach=reach)
        try:
            self._begun[asked.run] = OwnProcess.begin(words)
        except OSError as error:
            raise HostError(
                f"No process can be started: {error.strerror}.", remedy="See to that host's limits."
            ) from error
        return "starting"

    def look(self, runs: Sequence[str], closely: bool = True) -> list[dict[str, Any]]:
        """Return how runs are: state, ending, and what was said of one that ended.

        Closely, also the share that is done, and whether one holds: for that its file is read, and
        a look must cost the drives nothing.
        """
        return [self._look(run, closely=closely) for run in runs]

    def start(self, run: str, at_ns: int, ahead_ns: int, error_ns: int) -> None:
        """Tell a run that holds when to begin; see `runfile/start_request.py`."""
        names = self._names(run)
        key = self._watch(run, names).look().record.run.id
        start = start_request.Start(at_ns=at_ns, ahead_ns=ahead_ns, error_ns=error_ns)
        start_request.tell(names, key, start)

    def stop(self, run: str) -> None:
        """Ask a run to stop; it can be resumed."""
        names, process = self._names(run), self._begun.get(run)
        if process is not None and process.look() is None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
            return
        with suppress(TeijoError):
            Watched(names).stop()

    def digest(self, run: str) -> dict[str, Any]:
        """Return size and SHA-256 of a sealed run file."""
        with self._names(run).sealed.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
            return {"bytes": file.seek(0, os.SEEK_END), "sha256": digest.hexdigest()}

    def part(self, run: str, offset: int) -> bytes:
        """Return a part of a sealed run file, from `offset` on; b"" at its end."""
        with self._names(run).sealed.open("rb") as file:
            file.seek(offset)
            return file.read(PART_BYTES)

    def remove(self, run: str, sha256: str) -> bool:
        """Remove a sealed run file that has this digest; tell whether it is gone."""
        place = self._names(run).sealed
        if not place.exists():
            return True
        if self.digest(run)["sha256"] != sha256:
            return False
        place.unlink()
        return True

    def leave(self) -> None:
        """Let the runs go on without anybody who looks after them."""
        for process in self._begun.values():
            process.leave()

    def _names(self, run: str) -> Names:
        if "/" in run or not run.endswith(".teijo"):
            raise RunFileError(
                f"{run!r} names no run file of a fleet.", remedy="Begin the fleet anew."
            )
        return Names.of(self.folder / run)

    def _state(self, run: str) -> State:
        names = self._names(run)
        process = self._begun.get(run)
        goes_on = process is not None and process.look() is None
        if names.sealed.exists():
            return "sealed"
        if names.open.exists():
            return "running" if goes_on or self._is_written(run, names) else "left"
        if process is None:
            return "absent"
        return "starting" if goes_on else "refused"

    def _is_written(self, run: str, names: Names) -> bool:
        """Tell whether a process that is not this hand's writes to a run file, as far as is seen.

        A file that was written a moment ago may be one of another container, whose locks are not
        seen here, unless its run was stopped or was this hand's own.
        """
        writers = Writers.now()
        if run in self._begun or not writers.write_to(names.open):
            return writers.hold(names.open)
        if writers.hold(names.open):
            return True
        with suppress(TeijoError):
            return self._watch(run, names).state().ending == "running"
        return True

    def _watch(self, run: str, names: Names) -> Watched:
        return self._watched.setdefault(run, Watched(names))

    def _look(self, run: str, *, closely: bool) -> dict[str, Any]:
        state, names = self._state(run), self._names(run)
        process = self._begun.get(run)
        told = visible(process.told, most=_MESSAGE_MOST) if process and process.status else ""
        seen: dict[str, Any] = {"run": run, "state": state, "told": told}
        if state == "sealed":
            return seen | self._sealed(run, names.sealed)
        if closely and state in ("running", "left"):
            with suppress(TeijoError):
                found = self._watch(run, names).look()
                seen |= {"share": found.state.share, "ending": found.state.ending}
                if state == "running" and found.record.environment.get(ASKED) == WAITING:
                    seen["state"] = "held"
        return seen

    def _sealed(self, run: str, path: Path) -> dict[str, Any]:
        """Return how a sealed run ended; read once as long as its file stays as it is."""
        mark = path.stat().st_mtime_ns
        known = self._known.get(run)
        if known is None or known[0] != mark:
            known = self._known[run] = mark, ended(path)
            self._watched.pop(run, None)
        return known[1]


def ended(path: Path) -> dict[str, Any]:
    """Return how a sealed run ended, how it holds its limits, and how late it began."""
    try:
        record = reader.read(path)
    except TeijoError as error:
        return {"share": 1.0, "ending": "failed", "trouble": error.message, "limits": ""}
    seen = {"share": 1.0, "ending": record.run.ending, "trouble": record.run.error,
            "late_s": late_s(record.environment),
            "clock_error_s": clock_error_s(record.environment), "limits": ""}  # fmt: skip
    if recorded_limits(record):  # judged only then, for that takes what a report takes
        seen["limits"] = run_files.look(path).listed.limits
    return seen


def _refused(message: str) -> dict[str, Any]:
    return {"problem": visible(message, most=_MESSAGE_MOST)}


def _drives() -> "list[dict[str, Any]]":
    """Return the whole block devices of this host, with their serials and lasting names."""
    lasting: dict[str, list[str]] = {}
    with suppress(OSError):
        for link in sorted(_BY_ID.iterdir()):
            lasting.setdefault(link.resolve().name, []).append(link.name)
    found = []
    for one in list_devices():
        if (_BLOCKS / one.kernel_name / "partition").exists():
            continue
        serial = one.serial
        if not serial and not one.use:
            serial = _own_serial(one.target)
        found.append({
            "target": one.target, "name": one.kernel_name, "model": one.model, "serial": serial,
            "capacity_bytes": one.capacity_bytes, "use": one.use,
            "by_id": lasting.get(one.kernel_name, []),
        })  # fmt: skip
    return found


def _own_serial(target: str) -> str:
    """Return the serial that preflight gives a device whose list tells none, as of a loop.

    It is opened without a claim: to look at a drive must keep nobody from it.
    """
    with suppress(TeijoError, OSError):
        fd = open_to_read(Path(target))
        try:
            return identify_open(fd, target).identity.serial
        finally:
            os.close(fd)
    return ""


def _seen(text: str, *, tries: bool) -> Seen:
    """Return what lies between this host and a target, and why it cannot be read."""
    try:
        target = parse_target(text)
    except TeijoError as error:
        return Seen(way=Way(), why_not=visible(error.message, most=_WHY_MOST))
    if isinstance(target, SimulatedTarget):
        return Seen(way=Way(), why_not="it is simulated, and shares nothing with another drive")
    way = way_of(target)
    if not tries:
        return Seen(way=way)
    try:
        with opened_to_read(target):
            return Seen(way=way, unwritten=unwritten_share(target))
    except TeijoError as error:
        return Seen(way=way, why_not=visible(error.message, most=_WHY_MOST))
