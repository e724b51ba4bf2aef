"""Runs to be looked at, and a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teijo import api
from tests.web.browsing import CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sealed file of a short simulated run."""
    path = tmp_path_factory.mktemp("runs") / "simulated.teijo"
    settings = {"seconds": "3", "rw": "randrw"}
    api.run("workload", "sim:slc-a?capacity=1GiB", output=path, settings=settings, seed=1)
    return path


@pytest.fixture(scope="package")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()
