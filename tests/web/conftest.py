"""Runs and drives to be looked at, and a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teijo import api
from tests.web.browsing import CHROMIUM
from tests.web.drives import Machine, plugged

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Return a machine that drives of this process can be plugged into."""
    folder = tmp_path / "machine"
    folder.mkdir()
    with plugged(folder, monkeypatch) as one:
        yield one


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sealed file of a short simulated run."""
    path = tmp_path_factory.mktemp("runs") / "simulated.teijo"
    settings = {"seconds": "3", "rw": "randrw"}
    api.run("workload", "sim:slc-a?capacity=1GiB", output=path, settings=settings, seed=1)
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()
