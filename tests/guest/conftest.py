"""Guests for the tests that need a kernel of their own: one boots for all tests of a worker."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.guest.machine import Guest, Hardware, code_disk, why_not

GUEST = pytest.StashKey[Guest]()


@pytest.fixture(scope="session")
def guest_folder() -> Iterator[Path]:
    """Give a folder with a short name, for the name of a socket has at most 107 bytes."""
    if reason := why_not():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="guest-") as name:
        yield Path(name)


@pytest.fixture(scope="session")
def guest_code(guest_folder: Path) -> Path:
    """Give the disk with Teijo as it is now."""
    return code_disk(guest_folder)


@pytest.fixture(scope="session")
def the_guest(guest_folder: Path, guest_code: Path) -> Iterator[Guest]:
    """Give the machine that the tests of a worker share; `guest` is what a test asks for."""
    with Guest(guest_folder / "shared", guest_code, Hardware()) as machine:
        yield machine


@pytest.fixture
def guest(the_guest: Guest, request: pytest.FixtureRequest) -> Guest:
    """Give the shared machine; a test leaves it as it found it (drives, modules, files).

    If a test before this one ended it, it boots anew.
    """
    request.node.stash[GUEST] = the_guest
    if the_guest.process is None or the_guest.process.poll() is not None:
        the_guest.cut()
        the_guest.boot()
    return the_guest


@pytest.fixture
def new_guest(
    guest_folder: Path, guest_code: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[[Hardware], Guest]]:
    """Return a function that boots a machine for this test alone, of the hardware it names."""
    with ExitStack() as stack:

        def boot(hardware: Hardware) -> Guest:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=guest_folder)))
            machine = Guest(folder, guest_code, hardware)
            request.node.stash[GUEST] = machine
            return stack.enter_context(machine)

        yield boot


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Iterator[None]:
    """Add what the guest's kernel said to the report of a test that failed."""
    report = yield
    if report.failed and (machine := item.stash.get(GUEST, None)) is not None:
        report.sections.append(("console of the guest", machine.console()))
    return report
