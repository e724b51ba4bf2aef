"""Run files of these tests lie in memory."""

from collections.abc import Iterator

import pytest

from teijo.runfile import reader
from tests.runfile.memory import tmp_path as tmp_path


@pytest.fixture(autouse=True, scope="module")
def made_up() -> Iterator[None]:
    """Let fake devices answer what no device does; real runs are asked in tests/runfile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "flaws_of", lambda *_, **__: ())
        yield
