"""Who may touch the world: clocks, sleeps, pyo3, SQLite, and the order of the rooms."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, ROOT, of_kind, place, syntax, text

# Time is a parameter. Where the world's clock is read or waited for, and why there.
PYTHON_CLOCKS = {
    "python/teijo/runner/": "a run has a date, and a person waits for it",
    "python/teijo/device/": "a real device rests in real time",
    "python/teijo/stopwatch.py": "operations that no engine times",
    "python/teijo/sql/": "statements that no engine times, on a schedule",
    "python/teijo/engine/": "the session's clock, and fio's progress",
    "python/teijo/runfile/": "rows are dated, and batches of intervals are flushed in time",
    "python/teijo/web/": "a page is told once a second, and one client asks only so often",
    "python/teijo/fleet/": "drives begin apart, and hosts are looked at again and again",
    "python/teijo/cli/": "a progress line is repainted in time, and a file is named by date",
}
RUST_CLOCKS = {
    "crates/engine/src/clock.rs": "the only clock",
    "crates/engine/benches/": "a benchmark is about time",
    "crates/sim/benches/": "a benchmark is about time",
    "crates/sim/src/files/hands.rs": "how often the person who waits is told",
    "crates/sim/src/files/work.rs": "how often the person who waits is told",
    "crates/sim/src/session/watch.rs": "how often the person who waits is told",
}
PYTHON_CLOCK_CALLS = {
    ("time", name)
    for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "sleep")
} | {("datetime", name) for name in ("now", "today", "utcnow")}
RUST_CLOCK_CALLS = re.compile(r"\b(Instant::now|SystemTime::now|thread::sleep|clock_gettime)\b")


def allowed(path: Path, table: dict[str, str]) -> bool:
    return any(place(path).startswith(where) for where in table)


def clock_calls(tree: ast.Module) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name | ast.Attribute)
        and (
            node.value.id if isinstance(node.value, ast.Name) else node.value.attr,
            node.attr,
        )
        in PYTHON_CLOCK_CALLS
    ]


def test_the_clock_is_read_only_where_the_table_says() -> None:
    found = [
        f"{place(path)}:{line}"
        for path in of_kind(".py")
        if path.is_relative_to(PACKAGE) and not allowed(path, PYTHON_CLOCKS)
        for line in clock_calls(syntax(path))
    ]
    found += [
        f"{place(path)}:{number}"
        for path in of_kind(".rs")
        if not allowed(path, RUST_CLOCKS) and "/tests/" not in place(path)
        for number, line in enumerate(text(path).splitlines(), 1)
        if RUST_CLOCK_CALLS.search(line)
    ]
    assert not found, f"time is a parameter; take a Clock: {found}"


def test_a_call_of_the_clock_is_seen() -> None:
    assert clock_calls(ast.parse("import time\nx = time.time()")) == [2]
    assert clock_calls(ast.parse("import datetime\nx = datetime.datetime.now()")) == [2]
    assert clock_calls(ast.parse("x = step.time")) == []


def test_only_the_binding_knows_pyo3() -> None:
    named = [
        place(path)
        for path in of_kind(".rs", ".toml")
        if path.is_relative_to(ROOT / "crates")
        and not path.is_relative_to(ROOT / "crates" / "binding")
        and re.search(r"\bpyo3\b", text(path))
    ]
    assert not named, f"pyo3 stays in crates/binding: {named}"


def test_the_engine_does_not_name_the_simulation_and_opens_no_path() -> None:
    engine = [path for path in of_kind(".rs", ".toml") if "crates/engine/" in place(path)]
    named = [place(path) for path in engine if re.search(r"teijo[_-]sim", text(path))]
    assert not named, f"engine never names sim: {named}"
    opened = [
        place(path)
        for path in engine
        if "/src/" in place(path)
        and re.search(r"\b(File::open|OpenOptions|rustix::fs::open)\b", product(text(path)))
    ]
    assert not opened, f"the engine is handed an open descriptor: {opened}"


def product(body: str) -> str:
    """Return a Rust file without its tests, which may open what they like."""
    return body.split("#[cfg(test)]")[0]


def test_nothing_above_the_device_asks_whether_it_is_simulated() -> None:
    asked = [
        f"{place(path)}:{node.lineno}"
        for path in of_kind(".py")
        if any(f"teijo/{room}/" in place(path) for room in ("runner", "methods", "report"))
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.Compare) and "'simulated'" in ast.unparse(node)
    ]
    assert not asked, f"a simulated device is a device: {asked}"


def test_the_runner_and_the_printers_name_no_method() -> None:
    named = [
        f"{place(path)}:{node.lineno}"
        for path in of_kind(".py")
        if any(f"teijo/{room}/" in place(path) for room in ("runner", "report"))
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"pts\.\w+|workload|iops|wsat", node.value)
        and node.value not in {"workload", "iops"}  # a step's field, a column
    ]
    assert not named, f"knows a method by name: {named}"


def layers() -> dict[str, object]:
    contracts = tomllib.loads(text(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"]
    found = [contract for contract in contracts if contract["type"] == "layers"]
    assert len(found) == 1
    contract: dict[str, object] = found[0]
    return contract


def test_every_room_has_its_place_in_the_order_of_imports() -> None:
    listed = set(re.findall(r"\w+", str(layers()["layers"])))
    rooms = {
        path.stem
        for path in PACKAGE.iterdir()
        if not path.name.startswith(("_", ".")) and (path.is_dir() or path.suffix == ".py")
    }
    assert rooms <= listed, f"give these rooms a place in [tool.importlinter]: {rooms - listed}"
    assert layers()["exhaustive"] is True


@pytest.mark.timeout(120)
def test_the_rooms_import_downwards_only() -> None:
    checker = Path(sys.executable).with_name("lint-imports")
    if not checker.exists():
        pytest.skip("import-linter is not installed: use `make test`")
    done = subprocess.run(
        [checker, "--no-cache", "--no-logo"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
