"""What each technique of the engine brings here: interleaved slices with one left out at a time.

The figure of a variant is the median of its slices in CPU ns per I/O; the gain of a technique is
what leaving it out adds to the variant with all of them.

    python3 benchmarks/ablation.py --slice PATH TARGET read|write QD [-- OPTIONS OF SLICE]
"""

import argparse
import json
import os
import statistics
import subprocess

VARIANTS = {
    "all": [],
    "no-sqarray": ["--without", "no-sqarray"],
    "defer-taskrun": ["--without", "defer-taskrun", "--without", "no-sqarray"],
    "single-issuer, defer-taskrun": ["--without", "defer-taskrun", "--without", "single-issuer"],
    "registered-ring": ["--without", "registered-ring"],
    "registered-file": ["--without", "registered-file"],
    "registered-buffers": ["--without", "registered-buffers"],
    "huge-pages": ["--without", "huge-pages"],
    "inline-guess": ["--without", "inline-guess"],
    "coalesced-wakes": ["--without", "coalesced-wakes"],
    "no-access-time": ["--without", "no-access-time"],
    "tsc-clock": ["--without", "tsc-clock"],
    "stamps in what is written": ["--content", "zero"],
}


def main() -> None:
    """Print a line for each variant."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--slice", required=True)
    parser.add_argument("--slices", type=int, default=9)
    parser.add_argument("--milliseconds", type=int, default=150)
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("target")
    parser.add_argument("rw", choices=("read", "write"))
    parser.add_argument("depth", type=int)
    parser.add_argument("options", nargs="*")
    found = parser.parse_args()
    pin = ["taskset", "-c", str(found.cpu), found.slice, found.target, found.rw]
    pin += [str(found.depth), str(found.milliseconds), *found.options]
    costs: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for _ in range(found.slices):
        for name, without in VARIANTS.items():
            output = subprocess.run([*pin, *without], capture_output=True, text=True, check=True)
            costs[name].append(json.loads(output.stdout)["cpu_ns_per_io"])
    base = statistics.median(costs["all"])
    print(f"{' '.join(pin)}, {found.slices} slices")
    for name, seen in costs.items():
        median = statistics.median(seen)
        gain = "" if name == "all" else f"{median - base:+.1f} ns, {median / base - 1:+.1%}"
        print(f"{name:30} {median:7.1f} [{min(seen):.0f}..{max(seen):.0f}] {gain}")


if __name__ == "__main__":
    main()
