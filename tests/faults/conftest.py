"""The shim for every test of this room, and folders in memory."""

from pathlib import Path

import pytest

from tests.faults import shim
from tests.runfile.memory import tmp_path as tmp_path


@pytest.fixture(scope="session")
def library() -> Path:
    """Give the shared object that lets calls fail."""
    built = shim.build()
    if built is None:
        pytest.skip("needs a C compiler (gcc)")
    return built
