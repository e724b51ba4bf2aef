"""A device under fio that does not answer: told by what came back, and fio is ended or left."""

from pathlib import Path

import pytest

from teijo.engine.fio import session
from teijo.engine.fio.job import JobFile
from teijo.engine.fio.process import FioProcess
from teijo.engine.fio.session import Silence
from teijo.errors import StuckDevice
from tests.engine.plans import for_bytes, stream

SECOND = 10**9
MIB = 1 << 20
PLAN = for_bytes(MIB, stream(MIB))
SLOW = for_bytes(MIB, stream(MIB, ios_per_second=0.5))


def over(silence: Silence, *looks: tuple[float, int]) -> list[bool]:
    """Look at the silence at (second, I/Os so far)."""
    return [silence.is_over(done, round(at * SECOND)) for at, done in looks]


def test_it_is_over_so_long_after_the_last_io_and_not_before() -> None:
    looks = [(at / 10, min(at, 20)) for at in range(51)]
    found = over(Silence(PLAN, 3 * SECOND), *looks)
    assert found.index(True) == 50, "the last came at 2.0 s"


def test_a_start_may_take_longer_than_a_silence() -> None:
    looks = [(at / 10, 0) for at in range(140)]
    found = over(Silence(PLAN, 3 * SECOND), *looks)
    assert found.index(True) == 130


def test_a_pause_of_the_program_itself_counts_as_a_second() -> None:
    assert over(Silence(PLAN, 3 * SECOND), (0, 1), (600, 1), (601, 1), (602, 1)) == [
        False, False, False, True,
    ]  # fmt: skip


def test_a_plan_of_few_ios_a_second_pauses_by_itself() -> None:
    looks = [(at, 1) for at in range(60)]
    found = over(Silence(SLOW, 3 * SECOND), *looks)
    assert found.index(True) == 43, "20 gaps of 2 s, and 3 s"


def test_one_that_falls_silent_is_ended_and_the_device_said_to_be_stuck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "START_SILENCE_NS", 0)
    script = tmp_path / "lap.fio"
    script.write_text("trap '' INT; while :; do sleep 0.1; done")
    job = JobFile(text="", legs=(), signal_after_ns=None, notes=())
    with FioProcess("/bin/sh", script, 0) as fio:
        with pytest.raises(StuckDevice, match=r"^No I/O of fio has come back") as stuck:
            session._watch(fio, job, None, Silence(PLAN, 1))
        assert fio.has_ended(0)
    assert stuck.value.exit_code == 5
    assert not stuck.value.has_stuck_ios, "it could be killed, so that nothing waits"
