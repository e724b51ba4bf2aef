"""Fails the Nth call for N = 1, 2, … until an act meets none: a process that forks for each.

Runs under the shim: `python -m tests.faults.warm [--acts run,seal] [--errnos EIO] [--every 7
--first 3]`. Prints one line an act and errno, each violation, and exits with 1 if there is one.
"""

import argparse
import errno
import importlib
import json
import os
import pkgutil
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import teijo.cli.app
from teijo.engine import native
from tests.faults.acts import ACTS, QUIET, RUN, SEALED, Act, Outcome, lay
from tests.faults.shim import Calls, Mode, Shim

KINDS: Final = ~(Calls.STAT | Calls.ALLOC)
LONGEST_S: Final = 600
"""An act takes a tenth of a second; what has not ended by then hangs, on a busy host too."""


def import_all() -> None:
    """Import what the acts import, so that no fault meets an import (tests/faults has its own)."""
    import pyarrow.parquet  # noqa: F401

    for module in pkgutil.walk_packages(teijo.__path__, "teijo."):
        importlib.import_module(module.name)
    native._quick_ceilings()


class Warm:
    """The acts, a place to carry them out in, and the shim of this process."""

    def __init__(self, room: Path) -> None:
        """Prepare what acts begin with."""
        self.room = room
        self.shim = Shim()
        self._made = 0
        self._prepare()

    def _prepare(self) -> None:
        """Make a sealed run, one that was killed in its middle, one killed before its sealing."""
        place = self._place()
        self.prepared = place / "results"
        self.prepared.mkdir()
        (place / "device").mkdir()
        self.act(place, (*RUN, "-o", "done.teijo", *QUIET))
        for name, step in (("stopped", 7), ("ended", 0)):
            self.act(place, (*RUN, "-o", f"{name}.teijo", *QUIET), dies_after=step)

    def _place(self) -> Path:
        self._made += 1
        place = self.room / f"{self._made}"
        place.mkdir()
        return place

    def act(
        self,
        place: Path,
        line: tuple[str, ...],
        nth: int = 0,
        mode: Mode = Mode.FAIL,
        error: int = errno.EIO,
        dies_after: int | None = None,
    ) -> Outcome:
        """Carry out one command line in a forked process; the `nth` call fails, 0 none."""
        child = os.fork()
        if child == 0:
            self._be(place, line, nth, mode, error, dies_after)
        _, status = os.waitpid(child, 0)
        told = place / "outcome"
        count, fired, where = json.loads(told.read_text()) if told.exists() else (0, 0, "")
        told.unlink(missing_ok=True)
        return Outcome(
            code=os.waitstatus_to_exitcode(status),
            stdout=(place / "stdout").read_text(),
            stderr=(place / "stderr").read_text(),
            count=count,
            fired=fired,
            where=where.replace(f"{place}/", ""),
        )

    def _be(
        self,
        place: Path,
        line: tuple[str, ...],
        nth: int,
        mode: Mode,
        error: int,
        dies_after: int | None,
    ) -> None:
        """Be the process of the act, to its end."""
        signal.alarm(LONGEST_S)
        os.chdir(place / "results")
        for name, number in (("stdout", 1), ("stderr", 2)):
            os.dup2(os.open(place / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        if dies_after is not None:
            die_after(dies_after)
        self.shim.restrict_to(place / "results", place / "device")
        self.shim.begin(KINDS)
        if nth:
            self.shim.add(nth, mode, error)
        code = 70
        try:
            teijo.cli.app.main([part.replace("DEVICE", str(place / "device")) for part in line])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 71
        finally:
            self.shim.disarm()
            told = json.dumps([self.shim.count, self.shim.fired, self.shim.where])
            (place / "outcome").write_text(told)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def violations(
        self, act: Act, whole: Path, nth: int, mode: Mode, error: int
    ) -> tuple[Outcome, list[str]]:
        """Carry out an act whose Nth call fails, and return what is wrong after it."""
        place = self._place()
        lay(place, act, self.prepared)
        outcome = self.act(place, act.line, nth, mode, error)
        wrong = wrong_with(outcome, act, mode, error)
        wrong += act.judge(place, outcome, whole, self.act)
        before = (place / "results" / SEALED).read_bytes()
        if before != (self.prepared / "done.teijo").read_bytes():
            wrong.append("what was sealed before is not what it was")
        shutil.rmtree(place)
        return outcome, wrong

    def whole(self, act: Act) -> tuple[Path, int]:
        """Carry out an act without a fault; return its folder and how many calls it made."""
        place = self._place()
        lay(place, act, self.prepared)
        outcome = self.act(place, act.line)
        assert outcome.code == 0, outcome
        return place, outcome.count


def wrong_with(outcome: Outcome, act: Act, mode: Mode, error: int) -> list[str]:
    """Return what is wrong with how an act ended, wherever the fault was."""
    if mode is Mode.KILL:
        died = outcome.code == -signal.SIGKILL or (outcome.code == 0 and not outcome.fired)
        return [] if died else [f"exit {outcome.code} instead of death"]
    wrong = []
    expected = {0} if error == errno.EINTR or not outcome.fired else act.codes
    if outcome.code not in expected:
        wrong.append(f"exit {outcome.code}: {outcome.stderr.strip()[-400:]}")
    for sign in ("Traceback", "itself failed", "Exception ignored"):
        if sign in outcome.stderr:
            wrong.append(f"stderr has {sign!r}: {outcome.stderr.strip()[-400:]}")
    if outcome.code and not outcome.stderr.strip():
        wrong.append(f"exit {outcome.code} without a word")
    return wrong


def die_after(step: int) -> None:
    """Let this process be killed once so many steps are recorded; 0: as the file is sealed."""
    from teijo.runfile import recorder, seal

    def killed(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if step == 0:
        seal.copy_and_name = killed
        return
    kept = recorder.Recorder.record

    def record(self: recorder.Recorder, seq: int, answer: object) -> None:
        kept(self, seq, answer)  # type: ignore[arg-type]
        if seq == step:
            killed()

    recorder.Recorder.record = record  # type: ignore[method-assign]


def loop(warm: Warm, act: Act, error: str, mode: Mode, every: int, first: int) -> tuple[int, int]:
    """Fail call `first`, `first` + `every`, … of an act; return faults injected, violations."""
    whole, _ = warm.whole(act)
    began_s = time.monotonic()
    injected = violated = 0
    nth = first
    while True:
        number = 0 if mode is Mode.KILL else getattr(errno, error)
        outcome, wrong = warm.violations(act, whole, nth, mode, number)
        hit = outcome.code == -signal.SIGKILL if mode is Mode.KILL else outcome.fired
        injected += bool(hit)
        for each in wrong:
            violated += 1
            print(f"{act.name} {error} {nth} ({outcome.where}): {each}", flush=True)
        if outcome.count < nth and not hit:
            break
        nth += every
    took_s = time.monotonic() - began_s
    print(
        f"{act.name} {error}: {injected} faults, {violated} violations, {took_s:.0f} s", flush=True
    )
    return injected, violated


def main() -> None:
    """Carry out what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--acts", default=",".join(act.name for act in ACTS))
    parser.add_argument("--errnos", default="EIO,ENOSPC,ENOMEM,EINTR")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    asked = parser.parse_args()
    import_all()
    memory = Path("/dev/shm")
    parent = memory if memory.is_dir() else None
    injected = violated = 0
    with tempfile.TemporaryDirectory(prefix="teijo-nth-", dir=parent) as name:
        warm = Warm(Path(name))
        for act in ACTS:
            if act.name not in asked.acts.split(","):
                continue
            for error in asked.errnos.split(","):
                mode = Mode.KILL if error == "KILL" else Mode.FAIL
                done = loop(warm, act, error, mode, asked.every, asked.first)
                injected, violated = injected + done[0], violated + done[1]
    print(f"all: {injected} faults, {violated} violations")
    sys.exit(violated > 0)


if __name__ == "__main__":
    main()
