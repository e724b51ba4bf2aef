"""The verb `resume`: what was left goes on to its report; what is done is not touched."""

import signal
from pathlib import Path

import pytest

from teijo import api
from teijo.errors import Interrupted
from teijo.runner.events import Event, StepDone, StepStarted
from teijo.runner.run_state import Follower
from teijo.speech.state_words import left, phase
from teijo.terms.step import Measure
from tests.cli.conftest import Teijo
from tests.cli.events import SECOND, Hands
from tests.crash.runs import in_a_child, killed_after


def test_a_killed_run_on_a_simulated_drive_goes_on_to_its_verdict(
    teijo: Teijo, tmp_path: Path
) -> None:
    def run() -> None:
        # Some steps into round 2: it has 56 cells a round.
        api.run("iops", "sim:mlc-a", output=tmp_path / "a", observer=killed_after(70))

    assert in_a_child(run) == -signal.SIGKILL
    code, out, err = teijo("resume", tmp_path / "a.teijo.open", "--report", "text")
    assert code == 0
    assert out.split() == [str(tmp_path / "a.teijo"), str(tmp_path / "a.txt")]
    assert "replaying" in err
    assert "STEADY STATE: YES" in err


def test_a_run_that_is_done_is_not_resumed(teijo: Teijo, tmp_path: Path) -> None:
    teijo("run", "workload", "sim:mlc-a", "seconds=1", "-o", tmp_path / "a", "--report", "none")
    code, out, err = teijo("resume", tmp_path / "a.teijo")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")


def test_a_run_that_goes_on_knows_its_rounds_and_its_time_from_the_first_moment(
    tmp_path: Path,
) -> None:
    """It said "round 1" without "of 5" and "time left 0 s", for the record said how it stopped."""
    path = tmp_path / "a.teijo"

    def stopping(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 60:
            raise KeyboardInterrupt

    settings = {"minute": "10ms", "rounds": "5"}
    with pytest.raises(Interrupted):
        api.run("iops", "sim:mlc-a", output=path, settings=settings, seed=1, observer=stopping)

    hands = Hands()
    follower = Follower(hands)
    seen: list[tuple[str, float]] = []
    rounds: set[str] = set()

    def watching(event: Event) -> None:
        hands.ns += SECOND
        follower.tell(event)
        if isinstance(event, StepStarted):
            seen.append((left(follower.state), follower.state.share))
            if isinstance(event.step, Measure):
                rounds.add(phase(follower.state))

    api.resume(tmp_path / "a.teijo.open", observer=watching)
    shares = [share for _, share in seen]
    assert shares == sorted(shares), "the bar never goes backwards"
    assert all(left for left, _ in seen[5:]), "the time left is told while steps are repeated"
    assert all(" of 5" in words for words in rounds)
    assert any(words.startswith("replaying step") for words in rounds)
