"""Small real runs, made once."""

from pathlib import Path

import pytest

from teijo.lake.rows import RunRows, digest_of, rows_of
from tests.lake.made import make_run


@pytest.fixture(scope="session")
def run_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of four sealed runs of four simulated drives of one fleet."""
    folder = tmp_path_factory.mktemp("lake-runs")
    for seed in range(1, 5):
        make_run(folder / f"run-{seed}", seed, group={"fleet": "north", "drive": f"bay-{seed}"})
    return folder


@pytest.fixture(scope="session")
def rows(run_files: Path) -> RunRows:
    """The rows of one of them."""
    path = run_files / "run-1.teijo"
    return rows_of(path, digest_of(path))
