"""What is done while calls fail: command lines, what lies there before, what is true after.

Every act works in a folder of its own: `results` for all it writes, `device` for its target.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import teijo.api
from teijo.errors import TeijoError
from teijo.runfile import reader
from teijo.terms.result import StepResult

DRIVE: Final = "sim:hdd-7200?capacity=64MiB"
RUN: Final = (
    *("run", "iops", DRIVE, "--seed", "20", "minute=20ms", "block_sizes=4KiB,64KiB"),
    *("mixes=0/100", "rounds=5"),
)
QUIET: Final = ("--report", "none", "--progress", "ndjson")
FILE: Final = (
    *("run", "workload", "DEVICE/drive.img?size=1MiB", "--overwrite"),
    *("rw=randwrite", "bs=4KiB", "qd=2", "seconds=10ms"),
)
SEALED: Final = "before.teijo"
"""What was sealed long ago and lies beside everything that fails."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How one act ended, with fault number `nth`."""

    code: int
    stdout: str
    stderr: str
    count: int
    fired: int
    where: str


@dataclass(frozen=True, kw_only=True)
class Act:
    """One command, what must lie there before it, and what `judge` finds wrong after it.

    `judge` is given the folder, the outcome, the folder of the act that met no fault, and a
    function that runs a command without a fault.
    """

    name: str
    line: tuple[str, ...]
    judge: "Callable[[Path, Outcome, Path, Again], list[str]]"
    begun: str = ""
    """Which prepared run lies there: none (""), one "stopped", "ended" or "done"."""
    codes: frozenset[int] = frozenset({0, 6})


Again = Callable[[Path, tuple[str, ...]], Outcome]


def names(folder: Path) -> list[str]:
    """Return what lies in the folder of results, without what lay there before."""
    return sorted(each.name for each in (folder / "results").iterdir() if each.name != SEALED)


def debris(folder: Path) -> list[str]:
    """Return the names that neither a run file nor a report has."""
    return [
        name
        for name in names(folder)
        if name.startswith(".") or name.endswith((".sealing", ".reserve", "-journal", ".new"))
    ]


def steps_told(outcome: Outcome) -> int:
    """Return how many steps the program said were done, after they were on the disk."""
    events = [json.loads(line) for line in outcome.stderr.splitlines() if line.startswith("{")]
    return sum(event["event"] == "step_done" for event in events)


def answered(path: Path) -> int:
    """Return how many steps a run file has an answer to."""
    return sum(isinstance(each.answer, StepResult) for each in reader.read(path).steps)


def equal(one: Path, other: Path) -> bool:
    """Tell whether two sealed runs of a simulated device hold the same steps and findings."""
    first, second = teijo.api.open(one), teijo.api.open(other)
    return first.record.steps == second.record.steps and first.findings == second.findings


def judge_run(folder: Path, outcome: Outcome, whole: Path, again: Again) -> list[str]:
    """Judge a run: what it left can be read and carried on, or its name is free."""
    return _judge_begun(folder, outcome, whole, again, comparable=True)


def judge_on_file(folder: Path, outcome: Outcome, whole: Path, again: Again) -> list[str]:
    """Judge a run whose numbers are never twice the same."""
    return _judge_begun(folder, outcome, whole, again, comparable=False)


def _judge_begun(
    folder: Path, outcome: Outcome, whole: Path, again: Again, *, comparable: bool
) -> list[str]:
    wrong: list[str] = []
    results = folder / "results"
    sealed, opened = results / "run.teijo", results / "run.teijo.open"
    left = names(folder)
    if outcome.code == 0 and left != ["run.teijo"] and "unlink" not in outcome.where:
        wrong.append(f"exit 0, and it leaves {left}")
    told = steps_told(outcome)
    if sealed.exists():
        line = ("report", "run.teijo", "--format", "text")
    elif opened.exists():
        wrong += _unreadable(opened, told)
        line = ("resume", "run.teijo.open", "--report", "none", "--overwrite")
    else:
        line = next(act.line for act in ACTS if act.judge is _JUDGES[comparable])
        if told:
            wrong.append(f"{told} steps were told, and there is no file")
        if "is kept" in outcome.stderr or "kept in" in outcome.stderr:
            wrong.append("there is no file, and it says that something is kept")
        if left and outcome.code > 0 and not outcome.where.startswith(("unlink", "close")):
            wrong.append(f"there is no run file, but {left}")
    after = again(folder, line)
    if after.code:
        wrong.append(f"then {line[0]} exits {after.code}: {after.stderr.strip()[-300:]}")
    elif line[0] != "report" and names(folder) != ["run.teijo"]:
        wrong.append(f"then {line[0]} leaves {names(folder)}")
    elif not comparable:
        if teijo.api.open(sealed).record.run.ending not in ("done", "failed"):
            wrong.append("it did not end")
    elif not equal(sealed, whole / "results" / "run.teijo"):
        wrong.append(f"after {line[0]} the findings are others")
    return wrong


def _unreadable(opened: Path, told: int) -> list[str]:
    try:
        held = answered(opened)
    except TeijoError as error:
        return [f"what it left cannot be read: {error}"]
    return [] if held >= told else [f"{told} steps were told, {held} are kept"]


_JUDGES: Final = {True: judge_run, False: judge_on_file}


def judge_report(folder: Path, outcome: Outcome, whole: Path, again: Again) -> list[str]:
    """Judge what only reads a run: its output is whole or what was there before, no third."""
    left = debris(folder)
    results, there = folder / "results", whole / "results"
    wrong = [f"it leaves {left}"] if left and outcome.code >= 0 else []
    for name in left:  # of the dead: killed between two calls, the naming and the renaming
        own = there / name.removeprefix(".").rpartition(".")[0]
        if not own.exists() or (results / name).read_bytes() != own.read_bytes():
            wrong.append(f"it leaves {name}, which is not whole")
    for place in sorted(each for each in there.rglob("*") if each.is_file()):
        own = results / place.relative_to(there)
        if outcome.code == 0 and not own.exists():
            wrong.append(f"exit 0, and there is no {own.name}")
        elif own.exists() and own.read_bytes() not in (place.read_bytes(), b"old"):
            wrong.append(f"{own.name} is neither the old one nor whole")
        elif outcome.code == 0 and own.read_bytes() != place.read_bytes():
            wrong.append(f"exit 0, and {own.name} is still the old one")
    if outcome.code == 0 and outcome.stdout != (whole / "stdout").read_text():
        wrong.append("exit 0, and stdout is not whole")
    after = again(folder, ("report", "run.teijo", "--format", "text"))
    if after.code:
        wrong.append(f"then it exits {after.code}: {after.stderr.strip()[-300:]}")
    return wrong


def _reading(name: str, *line: str) -> Act:
    return Act(name=name, line=line, begun="done", judge=judge_report)


ACTS: Final = (
    Act(name="run", line=(*RUN, "-o", "run.teijo", *QUIET), judge=judge_run),
    Act(
        name="run-file",
        line=(*FILE, "-o", "run.teijo", *QUIET),
        judge=judge_on_file,
        codes=frozenset({0, 3, 5, 6}),
    ),
    Act(name="resume", line=("resume", "run.teijo.open", *QUIET), begun="stopped", judge=judge_run),
    Act(name="seal", line=("resume", "run.teijo.open", *QUIET), begun="ended", judge=judge_run),
    _reading("report-html", "report", "run.teijo", "--format", "html"),
    _reading("report-pdf", "report", "run.teijo", "--format", "pdf"),
    _reading("report-text", "report", "run.teijo", "--format", "text"),
    _reading("report-csv", "report", "run.teijo", "--format", "csv"),
    _reading("export-json", "export", "run.teijo"),
    _reading("export-csv", "export", "run.teijo", "--to", "csv", "-o", "run.csv"),
    _reading("export-parquet", "export", "run.teijo", "--to", "parquet", "-o", "run.parquet"),
)


def lay(folder: Path, act: Act, prepared: Path) -> None:
    """Put into an empty folder what lies there before an act."""
    results = folder / "results"
    results.mkdir(parents=True)
    (folder / "device").mkdir()
    shutil.copyfile(prepared / "done.teijo", results / SEALED)
    match act.begun:
        case "done":
            shutil.copyfile(prepared / "done.teijo", results / "run.teijo")
            for name in ("run.html", "run.pdf", "run.csv", "run.parquet"):
                (results / name).write_bytes(b"old")
        case "stopped" | "ended":
            for part in prepared.glob(f"{act.begun}.teijo.open*"):
                shutil.copyfile(part, results / part.name.replace(act.begun, "run"))
        case _:
            pass
