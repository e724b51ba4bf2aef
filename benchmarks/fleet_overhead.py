"""What a fleet costs its drives: eight runs through it against the same eight begun by a shell.

Each pair is eight runs for `--seconds` on files in memory (`--folder`), once by `teijo fleet run`
and once by eight `teijo run` in the background of a shell, in an order that is drawn; their I/Os a
second are summed. Printed is the median of the pairs' ratios with its 95 % interval (by order
statistics).

    python3 benchmarks/fleet_overhead.py [--pairs 8] [--seconds 10] [--folder /dev/shm]
"""

import argparse
import os
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent))

from serve_load import HERE, PROGRAM, interval, judged

from teijo import api
from teijo.terms.result import StepResult

DRIVES: Final = 8
SLOWER_MOST: Final = 0.02
ENVIRONMENT: Final = os.environ | {"PYTHONPATH": str(HERE)}
LOAD: Final = ("rw=randwrite", "bs=4KiB", "qd=1")


def files(folder: Path) -> list[str]:
    """Return the targets: files that are laid out by whoever comes first."""
    return [f"{folder}/{number}.img?size=16MiB" for number in range(1, DRIVES + 1)]


def by_fleet(folder: Path, runs: Path, seconds: int) -> None:
    """Measure all through a fleet."""
    plan = runs / "plan.toml"
    settings = ", ".join(f'{key} = "{text}"' for key, text in (w.split("=") for w in LOAD))
    plan.write_text(
        'fleet = "eight"\nmethod = "workload"\n'
        f"settings = {{ {settings}, seconds = {seconds} }}\n"
        f'[[targets]]\nfile = "{folder}/{{n}}.img?size=16MiB"\ncount = {DRIVES}\n'
    )
    words = (
        "fleet",
        "run",
        str(plan),
        "-o",
        str(runs / "fleet"),
        "--progress",
        "none",
        "--overwrite",
    )
    subprocess.run([*PROGRAM, *words], env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)


def by_shell(folder: Path, runs: Path, seconds: int) -> None:
    """Measure each by a run of its own, in the background of a shell."""
    lines = []
    for number, target in enumerate(files(folder)):
        words = [*PROGRAM, "run", "workload", target, *LOAD, f"seconds={seconds}", "--overwrite"]
        words += ["-o", f"{runs}/{number}.teijo", "--report", "none", "--progress", "none"]
        # In a session of its own as the fleet's: the kernel shares processors between sessions.
        lines.append(f"setsid {shlex.join(words)} >/dev/null 2>&1 &")
    subprocess.run(["sh", "-c", "\n".join([*lines, "wait"])], env=ENVIRONMENT, check=True)


def rate(runs: Path) -> float:
    """Return the I/Os a second of all runs in a folder together."""
    return sum(iops_of(path) for path in runs.rglob("*.teijo"))


def iops_of(path: Path) -> float:
    """Return the I/Os a second of a run."""
    steps = api.open(path).record.steps
    answers = [each.answer for each in steps if isinstance(each.answer, StepResult)]
    ios = sum(result.count for answer in answers for result in answer.results)
    return ios / (sum(answer.elapsed_ns for answer in answers) / 1e9)


def main() -> int:
    """Measure and print; 1 where the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"))
    asked = parser.parse_args()
    draw, ratios = random.Random(asked.seed), []
    with tempfile.TemporaryDirectory(prefix="teijo-fleet-", dir=asked.folder) as name:
        folder = Path(name)
        for number in range(asked.pairs):
            found = {}
            for way in draw.sample((by_fleet, by_shell), 2):
                with tempfile.TemporaryDirectory(prefix="teijo-runs-") as runs:
                    way(folder, Path(runs), asked.seconds)
                    found[way] = rate(Path(runs))
            ratios.append(found[by_fleet] / found[by_shell])
            print(f"pair {number + 1}: {found[by_shell]:,.0f} IOPS by a shell, through the fleet "
                  f"{ratios[-1]:.4f} of that", flush=True)  # fmt: skip
    low, high = interval(ratios)
    word = judged(1 - high, 1 - low, SLOWER_MOST)
    print(f"the fleet is slower by {1 - statistics.median(ratios):.2%} (by {1 - high:.2%} to "
          f"{1 - low:.2%}), goal at most {SLOWER_MOST:.0%}: {word}")  # fmt: skip
    return 1 if word == "MISSED" else 0


if __name__ == "__main__":
    sys.exit(main())
