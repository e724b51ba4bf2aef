"""How large the house is and how far a request walks through it: one table for any commit.

Counts are of lines as they stand in the files (`wc -l`), without tests. What is counted as a
representation is printed with its rule under the table. The last part runs the program of that
tree under a hook; for another commit its engine is built first (a minute or two, kept in
`target/house-numbers`).

    python benchmarks/house_numbers.py [--at COMMIT | --tree FOLDER] [--still] [--json FILE]
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
PTS: Final = ("iops", "tp", "lat", "wsat", "hir", "xsr", "demand", "campaign")
STUDIES: Final = ("block_size", "cache_overflow", "tier", "configuration")
KINDS: Final = (
    ("ledger", re.compile(r"/ledger/|^conformance/")),
    ("pages, words", re.compile(r"page|words|charts|plots|header|report|phrases|reading")),
    ("settings", re.compile(r"settings|knobs|versions|scaled|plan|design")),
    ("findings", re.compile(r"found|finding|matrix|groups|bursts|judged|outcome|cells|points")),
)
"""What a file of `methods` is for by name: the first that fits. The rest is mostly method.py."""
BLOCK_SIZE: Final = re.compile(r"^(?:block_size_bytes|block_size|block_bytes|BlockSize|bs)$")
SAMPLE: Final = re.compile(r"^(?:latency|latencies(?:_ns)?|histogram|buckets)$|Histogram|Buckets")
RULE: Final = (
    "types that hold it: a Python class, a Rust struct or a table of the run file with a field of "
    "such a name, and a type of such a name"
)
VERBS: Final = {
    "run": ("run", "workload", "sim:mlc-a", "seconds=1", "--report", "none", "-o", "run"),
    "preview": ("preview", "workload", "sim:mlc-a", "seconds=1"),
    "report": ("report", "run.teijo", "--format", "text"),
}

# Runs in a process of the tree under measurement: which calls pass by, and how deep the first is.
PROBE: Final = r"""
import json, sys
seen = {"parses": 0, "settings": 0, "devices": 0, "hops": []}
def passed(frame, event, function):
    name, module = frame.f_code.co_name, frame.f_globals.get("__name__", "")
    if event == "call" and name == "parse_target" and module == "teijo.device.target":
        seen["parses"] += 1
    if event == "call" and name == "settings" and module.startswith("teijo.methods."):
        seen["settings"] += frame.f_code.co_varnames[:1] == ("self",)
    if event == "c_call" and function.__name__ == "run" and not seen["hops"]:
        if type(getattr(function, "__self__", None)).__name__ in ("SimulatedSession", "Session"):
            while frame is not None and frame.f_globals["__name__"] != "typer.main":
                if frame.f_globals["__name__"].split(".")[0] == "teijo":
                    seen["hops"].append(f"{frame.f_globals['__name__']}.{frame.f_code.co_name}")
                frame = frame.f_back
def made(*given):
    seen["devices"] += 1
    return original(*given)
from teijo.engine import _native
original, _native.SimulatedSession = _native.SimulatedSession, made
sys.argv = ["teijo", *sys.argv[2:]]
sys.setprofile(passed)
from teijo.cli import main
try:
    main()
except SystemExit as end:
    seen["exit"] = end.code or 0
sys.setprofile(None)
seen["hops"].reverse()
json.dump(seen, open(PATH, "w"))
"""


def lines_of(path: Path) -> int:
    """Return how many lines a file has."""
    return len(path.read_text("utf-8").splitlines())


def sized(paths: Iterable[Path]) -> dict[str, int]:
    """Return the number of files and of lines in them."""
    counts = [lines_of(path) for path in paths]
    return {"files": len(counts), "lines": sum(counts)}


def sources(folder: Path) -> list[Path]:
    """Return the Python and the Rust under a folder, without tests."""
    files = [*folder.rglob("*.py"), *folder.rglob("*.rs")]
    return [each for each in files if not {"tests", "benches", "fuzz"} & set(each.parts)]


def rooms(tree: Path) -> dict[str, dict[str, int]]:
    """Return files and lines of each room of the package and of each crate."""
    package = tree / "python" / "teijo"
    found = {each.name: sized(sources(each)) for each in sorted(package.iterdir()) if each.is_dir()}
    found["(files beside the rooms)"] = sized(package.glob("*.py"))
    found = {name: counts for name, counts in found.items() if counts["files"]}
    found["whole Python"] = sized(sources(package))
    for crate in sorted((tree / "crates").glob("*/src")):
        found[f"crates/{crate.parent.name}"] = sized(sources(crate))
    return found


def methods(tree: Path) -> dict[str, dict[str, int]]:
    """Return files and lines of each test of the PTS and each study, a folder or a file."""
    room = tree / "python" / "teijo" / "methods"
    found = {}
    for wing, names in (("pts", PTS), ("studies", STUDIES)):
        for name in names:
            folder, file = room / wing / name, room / wing / f"{name}.py"
            found[f"{wing}/{name}"] = sized([*folder.rglob("*.py"), *([file] * file.is_file())])
    found["methods + conformance"] = sized([*sources(room), *conformance(tree)])
    return found


def conformance(tree: Path) -> list[Path]:
    """Return the files of the room of versions, ledger and re-scoring, where there is one."""
    return sources(tree / "python" / "teijo" / "conformance")


def kinds(tree: Path) -> dict[str, int]:
    """Return lines of `methods` and `conformance` by what they are for.

    Imports are the lines of import statements anywhere; steps those of generators outside pages
    and ledger; the rest goes by the name of its file.
    """
    package = tree / "python" / "teijo"
    count: Counter[str] = Counter()
    for path in (*sources(package / "methods"), *conformance(tree)):
        name = path.relative_to(package).as_posix().removeprefix("methods/")
        kind = next((kind for kind, fits in KINDS if fits.search(name)), "the rest")
        imports = steps = 0
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports += _height(node)
            elif (
                kind not in ("pages, words", "ledger")
                and isinstance(node, ast.FunctionDef)
                and _asks(node)
            ):
                steps += _height(node)
        count.update({"imports": imports, "steps (generators)": steps})
        count[kind] += lines_of(path) - imports - steps
    return dict(count.most_common())


def _height(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _asks(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))


def representations(tree: Path, wanted: re.Pattern[str]) -> dict[str, list[str]]:
    """Return the types by "language name" of the field that holds a quantity; see RULE."""
    found: dict[str, set[str]] = {}
    for language, name, place in _fields(tree):
        if wanted.search(name):
            found.setdefault(f"{language} {name}", set()).add(place)
    return {name: sorted(places) for name, places in sorted(found.items())}


def _fields(tree: Path) -> Iterator[tuple[str, str, str]]:
    for path in sources(tree / "python" / "teijo"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield "Python", node.name, path.stem
                for field in node.body:
                    if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                        yield "Python", field.target.id, f"{path.stem}.{node.name}"
    field_of = re.compile(r"^    (?:pub(?:\([a-z]+\))? )?([a-z_]\w*): ", re.MULTILINE)
    for crate in (tree / "crates").glob("*/src"):
        for path in sources(crate):
            text = path.read_text("utf-8")
            for name, body in re.findall(
                r"^\s*(?:pub\S* )?struct (\w+)[^\n;]*\{\n(.*?)^\}", text, re.M | re.S
            ):
                places = [(name, path.stem)]
                places += [(each, f"{path.stem}.{name}") for each in field_of.findall(body)]
                yield from (("Rust", *each) for each in places)
    schema = tree / "python" / "teijo" / "runfile" / "schema.sql"
    tables = re.findall(r"CREATE TABLE (\w+) \((.*?)^\)", schema.read_text("utf-8"), re.M | re.S)
    for table, body in tables:
        yield from (("SQL", name, table) for name in re.findall(r"^\s+(\w+) ", body, re.M))


def walks(tree: Path, verbs: Iterable[str] = VERBS) -> dict[str, Any]:
    """Return what each verb does: parses of its target, settings evaluated, devices made, hops."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="teijo-house-") as name:
        folder = Path(name)
        left = {key: value for key, value in os.environ.items() if key[:6] != "PYTHON"}
        for verb in verbs:
            told = folder / f"{verb}.json"
            script = PROBE.replace("PATH", repr(str(told)))
            ended = subprocess.run(
                [sys.executable, "-c", script, "teijo", *VERBS[verb]],
                cwd=folder, capture_output=True, text=True, check=False,
                env=left | {"PYTHONPATH": str(tree / "python")},
            )  # fmt: skip
            if not told.is_file():
                raise SystemExit(f"{verb}: {ended.stderr[-400:]}")
            found[verb] = json.loads(told.read_text("utf-8"))
    return found


def extracted(commit: str, folder: Path, *, still: bool) -> Path:
    """Put a commit's files into a folder, with its engine unless nothing is to be run."""
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "x", "-C", str(folder)], input=packed.stdout, check=True)
    if still:
        return folder
    name = subprocess.run(
        ["git", "rev-parse", f"{commit}:crates"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    kept = ROOT / "target" / "house-numbers" / f"{name}.so"
    if not kept.is_file():
        target = ROOT / "target" / "house-numbers" / "build"
        build = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "teijo-binding"]
        subprocess.run([*build, "--target-dir", str(target)], cwd=folder, check=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(target / "release" / "lib_native.so", kept)
    shutil.copy(kept, folder / "python" / "teijo" / "engine" / "_native.abi3.so")
    return folder


def numbers(tree: Path, *, still: bool) -> dict[str, Any]:
    """Return all that is counted of a tree."""
    found: dict[str, Any] = {"rooms": rooms(tree), "methods": methods(tree), "kinds": kinds(tree)}
    found["block size"] = representations(tree, BLOCK_SIZE)
    found["latency sample"] = representations(tree, SAMPLE)
    return found if still else found | {"walks": walks(tree)}


def told(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the tables."""
    for part in ("rooms", "methods"):
        yield f"\n{part:28}{'files':>8}{'lines':>8}"
        for name, counts in found[part].items():
            yield f"  {name:26}{counts['files']:8}{counts['lines']:8}"
    whole = sum(found["kinds"].values())
    yield f"\n{'methods by purpose':28}{'share':>8}{'lines':>8}"
    for name, count in found["kinds"].items():
        yield f"  {name:26}{100 * count / whole:7.1f}%{count:8}"
    yield f"\nrepresentations ({RULE})"
    for part in ("block size", "latency sample"):
        types = sum(len(at) for at in found[part].values())
        yield f"  {part}: {types} types, {len(found[part])} names"
        yield from (f"    {name:34} {', '.join(at)}" for name, at in found[part].items())
    if "walks" in found:
        yield f"\n{'verb':12}{'parses':>8}{'settings':>10}{'devices':>9}{'hops to the engine':>20}"
        for verb, seen in found["walks"].items():
            yield (
                f"  {verb:10}{seen['parses']:8}{seen['settings']:10}{seen['devices']:9}"
                f"{len(seen['hops']) or '-':>20}"
            )
        yield "  run: " + " > ".join(found["walks"]["run"]["hops"])


def main() -> int:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--at", metavar="COMMIT", help="a commit of this repository")
    where.add_argument("--tree", type=Path, default=ROOT, help="a checkout with its engine built")
    parser.add_argument("--still", action="store_true", help="run nothing")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="teijo-house-") as name:
        tree = extracted(asked.at, Path(name), still=asked.still) if asked.at else asked.tree
        found = numbers(tree.resolve(), still=asked.still)
    print("\n".join(told(found)))
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
