"""Feeds seeded inputs to every target: `python -m tests.fuzz.campaign --inputs 1000000`.

Each input must be read, or refused by a TeijoError, within bounds of time and memory. The first
input of each kind of fault is kept in .stamps/fuzz, as small as it gets.
"""

import argparse
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from teijo.errors import TeijoError
from tests.fuzz.targets import ROOT, TARGETS, Target

MEMORY_BYTES = 6 * 1024**3
SECONDS_MOST = 10.0
"""Of processor time for one input; the guard of a campaign, and no promise."""


class TooLong(BaseException):
    """One input took longer than the guard."""


@dataclass
class Tally:
    """What happened to one target's inputs. `faults` are by their kind: (times, an input)."""

    read: int = 0
    refused: int = 0
    slowest_s: float = 0.0
    slowest: str = ""
    faults: dict[str, str | bytes] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)


def feed(target: Target, given: str | bytes) -> str:
    """Return what became of an input: "read", "refused", or the kind of its fault."""
    try:
        target.feed(given)
    except TeijoError:
        return "refused"
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        where = f"{Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}" if last else "?"
        return f"{type(error).__name__} at {where}"
    return "read"


def watched(target: Target, given: str | bytes) -> str:
    """Feed under the guard of time."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS_MOST)
    try:
        return feed(target, given)
    except TooLong:
        return "TooLong"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def campaign(target: Target, count: int, seed: int) -> Tally:
    """Feed so many inputs of a seed to a target."""
    dice = random.Random(f"{target.name} {seed}")
    tally = Tally()
    for _ in range(count):
        given = target.make(dice)
        began = time.process_time()
        became = watched(target, given)
        took_s = time.process_time() - began
        if took_s > tally.slowest_s:
            tally.slowest_s, tally.slowest = took_s, repr(given[:300])
        if became in ("read", "refused"):
            tally.read += became == "read"
            tally.refused += became == "refused"
            continue
        tally.counts[became] += 1
        if became not in tally.faults:
            tally.faults[became] = given if became == "TooLong" else smaller(target, given, became)
    return tally


def smaller(target: Target, given: str | bytes, became: str) -> str | bytes:
    """Return an input that fails in the same way with as much cut out as can be in little time."""
    step = len(given) // 2
    tries = 0
    while step and tries < 400:
        at = 0
        while at < len(given) and tries < 400:
            tries += 1
            shorter = given[:at] + given[at + step :]
            if watched(target, shorter) == became:
                given = shorter
            else:
                at += step
        step //= 2
    return given


def keep(target: Target, tally: Tally, folder: Path) -> None:
    """Write the faults of a target, for the corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (kind, given) in enumerate(tally.faults.items()):
        told = given.hex() if isinstance(given, bytes) else given
        path = folder / f"{target.name}-{number}.json"
        path.write_text(json.dumps({"fault": kind, "input": told}), "utf-8")


def main() -> int:
    """Run the campaign; return 1 where an input was neither read nor refused."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=[target.name for target in TARGETS])
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))

    def too_long(number: int, frame: FrameType | None) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, too_long)
    chosen = [target for target in TARGETS if asked.target in (None, target.name)]
    whole = sum(target.share for target in chosen)
    found = ROOT / ".stamps/fuzz/found"
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="teijo-fuzz-") as folder:
        os.chdir(folder)
        for target in chosen:
            count = round(asked.inputs * target.share / whole)
            tally = campaign(target, count, asked.seed)
            keep(target, tally, found)
            wrong += len(tally.faults)
            peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(
                f"{target.name:12} {count:>9,} inputs: {tally.read:,} read, "
                f"{tally.refused:,} refused, {sum(tally.counts.values()):,} uncaught; slowest "
                f"{tally.slowest_s * 1000:.0f} ms, peak memory so far {peak_mib:,} MiB",
                flush=True,
            )
            for kind, times in tally.counts.most_common():
                print(f"    {times:>7,} {kind}: {tally.faults[kind][:150]!r}", flush=True)
            if tally.slowest_s > 0.5:
                print(f"    slowest: {tally.slowest[:200]}", flush=True)
        os.chdir("/")
    if wrong:
        print(f"{wrong} kinds of fault; their inputs are in {found}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
