"""Runs to be looked at."""

from pathlib import Path

import pytest

from teijo import api


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sealed file of a short simulated run."""
    path = tmp_path_factory.mktemp("runs") / "simulated.teijo"
    settings = {"seconds": "3", "rw": "randrw"}
    api.run("workload", "sim:slc-a?capacity=1GiB", output=path, settings=settings, seed=1)
    return path
