"""One running fio: what it says is heard as it comes, and it never outlives us.

Its reports are not left in a file: a lap may take hours, and every report holds a histogram.
"""

import json
import shutil
import signal
import subprocess
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from teijo.engine.fio.output import Report, failed_io
from teijo.engine.plan import DIRECTIONS
from teijo.terms.result import Direction

PATIENCE_S: Final = 30.0
"""How long fio may take to end after it was asked to: it waits for the I/O in flight."""
KILLED_S: Final = 2.0
"""How long it may take to end when it was killed; longer takes only who waits for the device."""
COMPLAINTS: Final = 20
"""So many lines that are no report and no failed I/O are kept."""


class FioProcess:
    """fio with one job file, from its start to its end. Use it as a context: leaving ends it."""

    def __init__(self, program: str, job: Path, descriptor: int, *options: str) -> None:
        """Start fio in the job file's folder, with the descriptor open in it."""
        self.report: Report | None = None
        """The last report that is complete."""
        self.reports = 0
        self.failed: dict[Direction, Counter[int]] = {name: Counter() for name in DIRECTIONS}
        """Failed I/Os so far, by direction and errno."""
        self.complaints: list[str] = []
        self.is_left = False
        """It cannot even be killed: a thread of it waits for the device."""
        self._process = subprocess.Popen(
            [*_tied_to_us(), program, *options, job.name],
            cwd=job.parent,
            pass_fds=(descriptor,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            # A Ctrl-C is ours to answer: fio must not see it first and end with half a lap.
            start_new_session=True,
        )
        self._ears = [
            # A fio that is left keeps its pipes open: who listens must not keep us from ending.
            threading.Thread(target=listen, args=(pipe,), daemon=True)
            for listen, pipe in (
                (self._hear_reports, self._process.stdout),
                (self._hear_errors, self._process.stderr),
            )
        ]
        for ear in self._ears:
            ear.start()

    def __enter__(self) -> "FioProcess":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End fio and hear it out, whatever happened."""
        self.end()

    def has_ended(self, within_s: float) -> bool:
        """Wait for fio's end, and return whether it came."""
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def waiting_threads(self) -> int:
        """Return how many threads of it wait for a device, and for nothing else."""
        stats = []
        for task in Path(f"/proc/{self._process.pid}/task").glob("*/stat"):
            with suppress(OSError):  # it has ended by now
                stats.append(task.read_text())
        # A thread's name, in brackets before its state, may hold blanks and brackets itself.
        return sum(text.rpartition(")")[2].split()[:1] == ["D"] for text in stats)

    def end(self, patience_s: float | None = None) -> None:
        """Ask fio to finish what is in flight and report; kill it when it does not.

        One that cannot be killed is left.
        """
        if self.is_left:
            return
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            self.has_ended(PATIENCE_S if patience_s is None else patience_s)
        # Also where a Ctrl-C ends the wait: fio must never go on writing without us.
        finally:
            if self._process.poll() is None:
                self._process.kill()
                self.is_left = not self.has_ended(KILLED_S)
            self._hang_up()

    def _hang_up(self) -> None:
        if not self.is_left:
            for ear in self._ears:
                ear.join()
            for pipe in (self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()

    def _hear_reports(self, pipe: IO[str]) -> None:
        lines: list[str] = []
        for line in pipe:
            # fio indents its JSON: only the braces around a whole report are at the margin.
            if line == "{\n":
                lines = []
            elif not lines:
                self._complain(line)
                continue
            lines.append(line)
            if line == "}\n":
                self._keep("".join(lines))
                lines = []

    def _keep(self, text: str) -> None:
        try:
            self.report = json.loads(text)
        except json.JSONDecodeError:
            # A message fell into the report. The next one is whole, and has everything again.
            return
        self.reports += 1

    def _hear_errors(self, pipe: IO[str]) -> None:
        for line in pipe:
            failure = failed_io(line)
            if failure is None:
                self._complain(line)
            else:
                direction, number = failure
                self.failed[direction][number] += 1

    def _complain(self, line: str) -> None:
        if line.strip() and failed_io(line) is None and len(self.complaints) < COMPLAINTS:
            self.complaints.append(line.strip().removeprefix("fio: "))


def _tied_to_us() -> tuple[str, ...]:
    """Return a command prefix that has the kernel kill fio when we die, where there is one."""
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "KILL") if setpriv else ()
