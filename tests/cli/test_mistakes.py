"""Mistakes a person makes: each is one line of cause, a remedy, and the exit code of its class."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Teijo
from tests.cli.test_app import all_errors
from tests.house.tree import PACKAGE, of_kind, place, syntax

READS = ("rw=randread", "seconds=1")
WRITES = ("rw=randwrite", "seconds=1")


@pytest.fixture
def makes_a_mistake(teijo: Teijo, tmp_path: Path) -> Callable[..., str]:
    """Run a line that must fail with a code and say these words; return all that was said."""

    def run(code: int, *arguments: object, says: tuple[str, ...]) -> str:
        before = set(tmp_path.rglob("*.teijo*"))
        got, out, err = teijo(*arguments)
        cause, _, remedy = err[err.index("error: ") :].partition("\n\n")
        assert got == code, err
        assert out == ""
        assert "\n" not in cause.strip()
        assert remedy.strip(), f"no remedy: {err}"
        assert "Traceback" not in err
        for word in says:
            assert word in err, f"{word!r} is not in {err!r}"
        assert set(tmp_path.rglob("*.teijo*")) == before, "a run file was left behind"
        return err

    return run


@pytest.fixture
def mounted(loop_device: Path, tmp_path: Path) -> Iterator[Path]:
    """Give a loop device with a mounted ext4; the mount point is "mnt" in `tmp_path`."""
    subprocess.run(["mkfs.ext4", "-q", str(loop_device)], check=True)
    point = tmp_path / "mnt"
    point.mkdir()
    subprocess.run(["mount", str(loop_device), str(point)], check=True)
    yield loop_device
    subprocess.run(["umount", "--lazy", str(point)], check=True)


@pytest.fixture
def run_file(teijo: Teijo, tmp_path: Path) -> Path:
    path = tmp_path / "good.teijo"
    teijo("run", "workload", "sim:mlc-a", *READS, "-o", path, "--report", "none")
    return path


def test_no_such_device(makes_a_mistake: Callable[..., str]) -> None:
    makes_a_mistake(
        2, "run", "workload", "/dev/nvme9n9", *READS, says=("/dev/nvme9n9", "teijo devices")
    )


def test_a_mounted_device(makes_a_mistake: Callable[..., str], mounted: Path) -> None:
    makes_a_mistake(
        3, "run", "workload", mounted, *WRITES, "--destroy", "whatever",
        says=(str(mounted), "mounted", "umount"),
    )  # fmt: skip


def test_the_serial_of_another_device(
    makes_a_mistake: Callable[..., str], loop_device: Path
) -> None:
    said = makes_a_mistake(
        3, "run", "workload", loop_device, *WRITES, "--destroy", "S4EVNX0R", says=("S4EVNX0R",)
    )
    assert "add --destroy loop-" in said


def test_no_consent_at_all(makes_a_mistake: Callable[..., str], loop_device: Path) -> None:
    makes_a_mistake(
        3,
        "run",
        "workload",
        loop_device,
        *WRITES,
        says=("no --destroy names it", "--destroy loop-"),
    )


def test_consent_to_lose_one_of_several(
    makes_a_mistake: Callable[..., str], loop_device: Path, scratch: Path
) -> None:
    target = f"stripe:{loop_device},{scratch}/f?size=4MiB"
    makes_a_mistake(
        3, "run", "workload", target, *WRITES, says=(str(loop_device), "add --destroy loop-")
    )
    assert not (scratch / "f").exists()


def test_one_device_named_twice(makes_a_mistake: Callable[..., str], loop_device: Path) -> None:
    target = f"concat:{loop_device},{loop_device}"
    makes_a_mistake(2, "run", "workload", target, *READS, says=("the same disk", "once"))


def test_a_simulated_drive_among_several(makes_a_mistake: Callable[..., str]) -> None:
    target = "stripe:sim:mlc-a,sim:mlc-a"
    makes_a_mistake(2, "run", "workload", target, *READS, says=("is simulated", "sim:mlc-a"))


def test_a_file_that_is_somebody_elses(makes_a_mistake: Callable[..., str], scratch: Path) -> None:
    letter = scratch / "letter.txt"
    letter.write_bytes(b"dear" * 2**20)
    makes_a_mistake(3, "run", "workload", letter, *WRITES, says=(str(letter), "--overwrite"))
    assert letter.read_bytes() == b"dear" * 2**20


def test_a_file_without_a_size(makes_a_mistake: Callable[..., str], scratch: Path) -> None:
    makes_a_mistake(2, "run", "workload", scratch / "f", *WRITES, says=("size", "8GiB"))


@pytest.mark.parametrize("size", ["0", "512", "1GX", "-1GiB"])
def test_a_size_of_nothing(size: str, makes_a_mistake: Callable[..., str], scratch: Path) -> None:
    target = f"{scratch}/f?size={size}"
    makes_a_mistake(2, "run", "workload", target, *WRITES, says=(size, "8GiB"))
    assert list(scratch.iterdir()) == []


def test_a_block_larger_than_the_range(makes_a_mistake: Callable[..., str], scratch: Path) -> None:
    makes_a_mistake(
        2, "run", "workload", f"{scratch}/f?size=16MiB", "rw=write", "bs=32MiB",
        says=("32768 KiB", "16 MiB"),
    )  # fmt: skip


def test_a_block_of_a_tebibyte_is_named_in_plain_digits(
    makes_a_mistake: Callable[..., str],
) -> None:
    says = ("A block of 1073741824 KiB",)
    makes_a_mistake(2, "run", "workload", "sim:mlc-a", "bs=1TiB", says=says)


def test_a_method_nobody_has(makes_a_mistake: Callable[..., str]) -> None:
    makes_a_mistake(2, "run", "iosp", "sim:mlc-a", says=("did you mean 'iops'?", "pts.iops"))


def test_a_simulated_device_nobody_has(makes_a_mistake: Callable[..., str]) -> None:
    makes_a_mistake(2, "run", "iops", "sim:mlca", says=("mlc-a",))


@pytest.mark.parametrize(
    ("setting", "meant"),
    [("minut=1s", "minute"), ("minute=1x", "minute"), ("rounds=0", "rounds"), ("minute", "=")],
)
def test_a_setting_that_is_mistyped(
    setting: str, meant: str, makes_a_mistake: Callable[..., str]
) -> None:
    makes_a_mistake(2, "run", "iops", "sim:mlc-a", "--set", setting, says=(meant,))


def test_an_output_that_cannot_be_written(
    makes_a_mistake: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    output = tmp_path / "file" / "a.teijo"
    makes_a_mistake(
        6, "run", "workload", "sim:mlc-a", *READS, "-o", output, says=(str(output.parent),)
    )


def test_an_output_that_exists(
    makes_a_mistake: Callable[..., str], run_file: Path, tmp_path: Path
) -> None:
    makes_a_mistake(
        2, "run", "workload", "sim:mlc-a", *READS, "-o", run_file, says=("never overwritten", "-o")
    )


def test_a_run_file_on_the_target(
    makes_a_mistake: Callable[..., str], mounted: Path, tmp_path: Path
) -> None:
    makes_a_mistake(
        2, "run", "workload", mounted, *READS, "-o", tmp_path / "mnt" / "a.teijo",
        says=("on the device under test", "-o"),
    )  # fmt: skip


@pytest.mark.parametrize("damage", ["truncated", "foreign", "empty", "scribbled"])
def test_a_run_file_that_is_none(
    damage: str, makes_a_mistake: Callable[..., str], run_file: Path, tmp_path: Path
) -> None:
    whole = run_file.read_bytes()
    match damage:
        case "truncated":
            run_file.write_bytes(whole[: len(whole) // 2])
        case "foreign":
            run_file.write_bytes(b"GIF89a" + bytes(5000))
        case "empty":
            run_file.write_bytes(b"")
        case _:
            run_file.write_bytes(whole[:4096] + os.urandom(4096) + whole[8192:])
    makes_a_mistake(2, "report", run_file, says=(str(run_file),))


def test_a_run_file_that_is_not_there(makes_a_mistake: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "none.teijo"
    for verb in ("report", "export", "resume"):
        makes_a_mistake(2, verb, path, says=(str(path),))


def test_a_file_system_that_has_no_direct_io(
    makes_a_mistake: Callable[..., str], tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a file system without direct I/O")
    point = tmp_path / "ram"
    point.mkdir()
    subprocess.run(["mount", "-t", "ramfs", "none", str(point)], check=True)
    try:
        makes_a_mistake(
            5, "run", "workload", f"{point}/f?size=4MiB", *WRITES, says=("direct", "direct=no")
        )
    finally:
        subprocess.run(["umount", str(point)], check=True)


def test_a_report_of_a_run_that_is_still_growing_is_no_mistake(
    teijo: Teijo, run_file: Path, tmp_path: Path
) -> None:
    growing = tmp_path / "b.teijo"
    from teijo import api
    from teijo.runner.events import Event, StepDone

    said: list[tuple[int, str, str]] = []

    def look(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 2 and not said:
            said.append(teijo("report", growing, "--format", "text"))

    api.run("iops", "sim:mlc-a", output=growing, settings={"rounds": "5"}, observer=look)
    ((code, out, _),) = said
    assert code == 0
    assert "RUNNING" in out


def test_every_error_that_is_raised_has_a_remedy() -> None:
    # Who stops a run says only why; the run's end adds how it goes on (`teijo resume FILE`).
    names = {kind.__name__ for kind in all_errors()} - {"Interrupted", "DriveWarned"}
    without = [
        f"{place(path)}:{node.lineno}"
        for path in of_kind(".py")
        if path.is_relative_to(PACKAGE)
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in names
        and not any(each.arg in ("remedy", None) for each in node.keywords)
    ]
    assert not without, f"say what to do about it: {without}"


def test_no_words_of_a_library_reach_a_user() -> None:
    """What Typer and pydantic say themselves: the mistakes that showed it, and their kin."""
    said = re.compile(
        r"Value error|Input should|Field required|Usage:|Try '|No such option|Got unex"
    )
    for line in (
        ("report", "x", "--lang", "fr"), ("run",), ("run", "iops", "sim:mlc-a", "--seed", "-3"),
        ("run", "iops", "sim:mlc-a", "--seed"), ("devices", "extra"), ("--nothing",), ("rnu",),
        ("calibrate", "--seconds", "1e9"), ("methods", "--json=3"), ("report", "x", "--each=3"),
        ("run", "iops", "sim:mlc-a", "--engine", "ifo"), ("resume",), ("steady", "--colum", "A"),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", "from teijo.cli import main; main()", *line],
            env=os.environ | {"PYTHONPATH": str(PACKAGE.parent), "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
        )
        cause, _, remedy = done.stderr.partition("\n\n")
        assert done.returncode == 2, line
        assert cause.startswith("error: "), line
        assert "\n" not in cause, line
        assert remedy.strip(), line
        assert not said.search(done.stderr), done.stderr
