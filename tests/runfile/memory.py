"""A folder in memory: durable writes are not what most tests of a run file wait for."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """Give a new folder in memory where there is one, else pytest's own."""
    if not MEMORY.is_dir():
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="teijo-", dir=MEMORY))
    yield folder
    shutil.rmtree(folder)
