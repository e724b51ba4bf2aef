"""Run files of these tests lie in memory."""

from collections.abc import Iterator

import pytest

from teijo.runfile import reader
from tests.runfile.memory import tmp_path as tmp_path

REAL_RUNS = ("test_following", "test_proof", "test_proof_alarms", "test_signature")


@pytest.fixture(autouse=True, scope="module")
def made_up(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the sample be what no run records: its numbers are chosen to be told apart, not to agree.

    Whether a record contradicts itself is asked of real runs, in the modules named here.
    """
    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__.rpartition(".")[2] not in REAL_RUNS:
            patch.setattr(reader, "flaws_of", lambda *_, **__: ())
            patch.setattr(reader, "table_flaws", lambda *_: ())
        yield
