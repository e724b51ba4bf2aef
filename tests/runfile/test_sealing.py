"""Sealing by hand: what has ended is sealed as it would have been, and nothing else."""

from pathlib import Path

import pytest

from teijo.errors import RunFileError
from teijo.runfile import reader
from teijo.runfile.sealing import seal_ended
from teijo.terms.record import Ending
from tests.runfile.samples import open_run, record


def left_open(path: Path, ending: Ending) -> Path:
    """Leave an open file with this ending, as a process that died before its sealing does."""
    recorder = open_run(path)
    recorder.end(ending)
    recorder.close()
    return recorder.names.open


@pytest.mark.parametrize("ending", ["steady", "not steady", "done", "failed"])
def test_a_run_that_has_ended_is_sealed_whole(tmp_path: Path, ending: Ending) -> None:
    sealed = seal_ended(left_open(tmp_path / "run", ending))
    found = reader.prove(sealed, whole=True)
    assert found.sealed
    assert (found.record.run.ending, found.record.steps) == (ending, record().steps)
    assert [each.name for each in tmp_path.iterdir()] == ["run.teijo"]


@pytest.mark.parametrize("ending", ["running", "interrupted"])
def test_a_run_that_can_go_on_is_not_sealed(tmp_path: Path, ending: Ending) -> None:
    left = left_open(tmp_path / "run", ending)
    with pytest.raises(RunFileError, match="has not ended") as caught:
        seal_ended(left)
    assert "teijo resume" in caught.value.remedy
    assert reader.locate(tmp_path / "run") == left
    assert reader.read(left).steps == record().steps
