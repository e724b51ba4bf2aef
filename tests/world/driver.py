"""Plays many worlds in several processes and prints the table; `make world` is this."""

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.world import shim

MEMORY: Final = Path("/dev/shm")
PRINT_SECONDS: Final = 10.0


@dataclass
class Table:
    """What came of all worlds so far."""

    runs: int = 0
    lives: int = 0
    acknowledged: int = 0
    steps_lost: int = 0
    sealed: int = 0
    sealed_wrong: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    methods: Counter[str] = field(default_factory=Counter)
    targets: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[int, str]] = field(default_factory=list)

    def add(self, told: dict[str, object]) -> None:
        """Count one world."""
        self.runs += 1
        for name in ("lives", "acknowledged", "steps_lost", "sealed", "sealed_wrong"):
            setattr(self, name, getattr(self, name) + told[name])
        self.endings[str(told["ending"]) or "none"] += 1
        self.codes.update(map(str, told["codes"]))  # type: ignore[call-overload]
        self.methods[str(told["method"])] += 1
        self.targets[str(told["kind_of_target"])] += 1
        self.faults.update(told["faults"])  # type: ignore[call-overload]
        if told["broken"]:
            self.failed.append((told["seed"], told["kind"]))  # type: ignore[arg-type]

    def lines(self) -> Iterator[str]:
        """Yield the table in lines."""
        yield f"{'worlds (runs)':34}{self.runs:>12,}"
        yield f"{'lives of the program':34}{self.lives:>12,}"
        yield f"{'steps acknowledged':34}{self.acknowledged:>12,}"
        yield f"{'steps lost':34}{self.steps_lost:>12,}"
        yield f"{'sealed files judged':34}{self.sealed:>12,}"
        yield f"{'sealed files wrong':34}{self.sealed_wrong:>12,}"
        yield f"{'worlds in which something broke':34}{len(self.failed):>12,}"
        for title, counts in (
            ("faults injected", self.faults),
            ("endings", self.endings),
            ("exit codes (of lives)", self.codes),
            ("methods", self.methods),
            ("targets", self.targets),
        ):
            yield f"\n{title}: {sum(counts.values()):,}"
            for name, count in counts.most_common():
                yield f"  {name:32}{count:>12,}"


def play(seed: int, stage: object) -> dict[str, object]:
    """Play one world and return what is told of it."""
    from tests.world.world import Stage

    assert isinstance(stage, Stage)
    played = stage.play(seed)
    shape = played.schedule.shape
    return {
        "seed": seed,
        "method": shape.method,
        "kind_of_target": shape.kind,
        "schedule": str(played.schedule),
        **{name: value for name, value in vars(played).items() if name != "schedule"},
    }


def _work(
    todo: "multiprocessing.SimpleQueue[int | None]",
    done: "multiprocessing.Queue[object]",
    root: Path,
) -> None:
    from tests.world.world import Stage

    try:
        stage = Stage(root)
    except BaseException:
        done.put((0, traceback.format_exc()))
        done.put(None)
        return
    while (seed := todo.get()) is not None:
        try:
            done.put(play(seed, stage))
        except BaseException:
            done.put((seed, traceback.format_exc()))
    done.put(None)


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.world", description=__doc__)
    parser.add_argument("--seed", type=int, help="play this one and tell all of it")
    parser.add_argument("--only", help="these, with commas between")
    parser.add_argument("--seeds", type=int, default=200, help="how many")
    parser.add_argument("--start", type=int, default=1, help="the first")
    parser.add_argument("--minutes", type=float, default=1e9, help="no world begins after that")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--json", type=Path, help="the table as JSON, with the seeds that failed")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Play what was asked for; return 1 if anything did not hold."""
    asked = arguments(given)
    library = str(shim.built())
    if library not in os.environ.get("LD_PRELOAD", ""):
        os.environ |= {"LD_PRELOAD": library, "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-W", "ignore", "-m", "tests.world"]
        os.execv(sys.executable, [*command, *(sys.argv[1:] if given is None else given)])
    seeds = list(range(asked.start, asked.start + asked.seeds))
    if asked.seed is not None:
        seeds = [asked.seed]
    elif asked.only:
        seeds = [int(word) for word in asked.only.split(",")]
    root = MEMORY / f"teijo-world-{os.getpid():08}"
    try:
        jobs, last = min(asked.jobs, len(seeds)), time.monotonic() + 60 * asked.minutes
        table = _play_all(seeds, jobs, root, last, whole=asked.seed is not None)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print("\n".join(table.lines()))
    if asked.json is not None:
        asked.json.write_text(json.dumps(vars(table), indent=1))
    return 1 if table.failed else 0


def _play_all(seeds: list[int], jobs: int, root: Path, last: float, *, whole: bool) -> Table:
    context = multiprocessing.get_context("fork")
    todo, done = context.SimpleQueue(), context.Queue()
    workers = [
        context.Process(target=_work, args=(todo, done, root / str(number)))
        for number in range(jobs)
    ]
    for worker in workers:
        worker.start()
    table, began, said = Table(), time.monotonic(), time.monotonic()
    waiting = iter(seeds)
    for _ in range(2 * jobs):
        todo.put(next(waiting, None))
    left = jobs
    while left:
        told = done.get()
        if told is None:
            left -= 1
            continue
        todo.put(next(waiting, None) if time.monotonic() < last else None)
        if isinstance(told, tuple):
            seed, text = told
            table.failed.append((seed, "the world itself"))
            print(f"seed {seed}: the world itself failed\n{text}", flush=True)
            continue
        assert isinstance(told, dict)
        table.add(told)
        if told["broken"] or whole:
            tell(told)
        if time.monotonic() - said > PRINT_SECONDS:
            said = time.monotonic()
            rate = table.runs / (said - began)
            eta = (len(seeds) - table.runs) / rate
            print(
                f"{table.runs:,} of {len(seeds):,} worlds, {rate:.1f} a second, "
                f"{eta / 60:.1f} min left, {len(table.failed)} broken",
                file=sys.stderr, flush=True,
            )  # fmt: skip
    for worker in workers:
        worker.join()
    return table


def tell(told: dict[str, object]) -> None:
    """Print one world whole: its schedule, its lives, what did not hold, how to see it again."""
    lines = [str(told["schedule"]), *told["story"]]  # type: ignore[misc]
    if told["broken"]:
        lines += [f"BROKEN {told['broken']}", f"again: make world SEED={told['seed']}"]
    print("\n".join(lines), flush=True)
