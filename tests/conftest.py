"""What every test may lean on. A skip is a failure where CI or TEIJO_NO_SKIPS is set."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

from tests.drives.switched_on import switch_off

# How many cases a property meets: few in `make test`, many in `make test-long`. A case that takes
# long is no fault of the property. In CI the same commit meets the same cases.
IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}
for name, cases in (("quick", 20), ("long", 150)):
    settings.register_profile(
        name, max_examples=cases, deadline=None, derandomize=IN_CI, database=None
    )
settings.load_profile("quick")

NO_SKIPS = IN_CI or "TEIJO_NO_SKIPS" in os.environ


def pytest_configure() -> None:
    """Hear Ctrl-C even where the suite was started with `&`, which ignores it for all below.

    A run leaves an ignored signal ignored, so the tests that send one would wait for ever.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """Look no more at the tests themselves, ten thousand of them, when memory is cleared up."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure with its reason: a check that did not run proves nothing."""
    report = yield
    if NO_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"a skip is a failure here: {reason(report.longrepr)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Do the same for a module that skips itself."""
    report = yield
    if NO_SKIPS and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"a skip is a failure here: {reason(report.longrepr)}"
    return report


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """Leave no language of a test to the next one in this process: `--lang` and LANG set it."""
    yield
    if (tongue := sys.modules.get("teijo.speech.tongue")) is not None:
        tongue.speak(tongue.ENGLISH)


@pytest.fixture(autouse=True)
def nothing_left_open(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A test leaves no file of its folder and no device open: the next could not have it."""
    ours = (str(tmp_path_factory.getbasetemp()), "/dev/loop", "/dev/zram")
    before = open_files()
    yield
    switch_off()
    # A thread of a library lets go of a file a moment after those that waited for it.
    for _ in range(200):
        left = [name for _, name in open_files() - before if name.startswith(ours)]
        if not left:
            return
        time.sleep(0.05)
    pytest.fail(f"still open: {left}")


def open_files() -> set[tuple[str, str]]:
    """Return the descriptors of this process, by number, and what they lead to."""
    found: set[tuple[str, str]] = set()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.add((link.name, str(link.readlink())))
    return found


def reason(longrepr: object) -> str:
    """Return why a test skipped itself."""
    return str(longrepr[2] if isinstance(longrepr, tuple) else longrepr)


@pytest.fixture
def need() -> Callable[[str], str]:
    """Return a function that finds a program, or skips the test and says which is missing."""

    def find(program: str) -> str:
        path = shutil.which(program)
        if path is None:
            pytest.skip(f"needs the program {program}")
        return path

    return find


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """Give an empty folder (in TEIJO_SCRATCH where set) whose files take direct I/O."""
    parent = Path(os.environ.get("TEIJO_SCRATCH", tmp_path))
    with tempfile.TemporaryDirectory(prefix="teijo-test-", dir=parent) as name:
        probe = Path(name) / "probe"
        probe.write_bytes(bytes(4096))
        try:
            os.close(os.open(probe, os.O_RDWR | os.O_DIRECT))
        except OSError:
            pytest.skip(f"needs direct I/O in {parent}: point TEIJO_SCRATCH to a disk")
        probe.unlink()
        yield Path(name)


@pytest.fixture
def loop_device(scratch: Path) -> Iterator[Path]:
    """Give a loop device of 64 MiB; the file under it is `backing` in the folder `scratch`."""
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        pytest.skip("needs root and loop devices")
    backing = scratch / "backing"
    backing.write_bytes(bytes(64 << 20))
    command = ["losetup", "--find", "--show", "--direct-io=on", str(backing)]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"needs root and loop devices: {made.stderr.strip()}")
    node = made.stdout.strip()
    yield Path(node)
    subprocess.run(["losetup", "--detach", node], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Return a function that mounts a file system of so many MiB; it goes with the test."""
    folder = tmp_path / "small"

    def mount(size_mib: int) -> Path:
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_mib}m", "tmpfs", str(folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            folder.rmdir()
            pytest.skip("needs root, and a machine that lets it mount a tmpfs")
        return folder

    yield mount
    if folder.exists():
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
