"""Run files of these tests lie in memory."""

from collections.abc import Iterator

import pytest

from teijo.runfile import reader
from tests.runfile.memory import tmp_path as tmp_path


@pytest.fixture
def made_up() -> Iterator[None]:
    """Let the paper device answer what no device does; the real runs here are held to it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "flaws_of", lambda *_, **__: ())
        yield
