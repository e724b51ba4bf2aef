"""Work that a device may never answer: who waits for it can leave, and who has it goes on."""

import threading
from collections.abc import Iterator

import pytest

from teijo.device import watched as watched_module
from teijo.device.watched import Moved, watched
from teijo.errors import StoppedAtOnce, StuckDevice

NEVER_NS = 3_600 * 10**9
WHAT = "Laying out /x"


class Frozen:
    """A device that answers `answers` times, and then only when it is let go."""

    def __init__(self, answers: int) -> None:
        self.answers = answers
        self.thawed = threading.Event()
        self.ended = threading.Event()
        self.done = 0

    def work(self, moved: Moved) -> str:
        try:
            while self.done < 10:
                if self.done == self.answers:
                    self.thawed.wait()
                self.done += 1
                moved(self.done, 10)
            return "all"
        finally:
            self.ended.set()


@pytest.fixture
def frozen(request: pytest.FixtureRequest) -> Iterator[Frozen]:
    made = Frozen(request.param)
    yield made
    made.thawed.set()
    assert made.ended.wait(60)


def test_what_comes_back_is_returned_and_the_progress_is_told_where_it_was_asked_for() -> None:
    told: list[tuple[int, int, int]] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total, threading.get_ident()))

    found = watched(Frozen(-1).work, what=WHAT, silence_ns=NEVER_NS, progress=progress)
    assert found == "all"
    assert told[-1] == (10, 10, threading.get_ident())


def test_its_own_error_is_raised_as_it_is() -> None:
    def fails(moved: Moved) -> None:
        moved(1, 2)
        raise OSError(5, "x")

    with pytest.raises(OSError, match="x"):
        watched(fails, what=WHAT, silence_ns=NEVER_NS)


@pytest.mark.parametrize("frozen", [0], indirect=True)
def test_a_silence_ends_the_wait_and_the_rest_of_the_work(frozen: Frozen) -> None:
    with pytest.raises(StuckDevice, match="Laying out /x has not come back") as left:
        watched(frozen.work, what=WHAT, silence_ns=1)
    assert left.value.exit_code == 5
    assert left.value.has_stuck_ios
    frozen.thawed.set()
    assert frozen.ended.wait(60)
    assert frozen.done == 1, "it went on for nobody"


@pytest.mark.parametrize("frozen", [1], indirect=True)
def test_a_signal_leaves_what_does_not_come_back_at_once(frozen: Frozen) -> None:
    def stop(done: int, total: int) -> None:
        del done, total
        raise KeyboardInterrupt

    with pytest.raises(StoppedAtOnce) as left:
        watched(frozen.work, what=WHAT, silence_ns=NEVER_NS, progress=stop)
    assert left.value.what == "Laying out /x does not come back from the device."


def test_what_is_silent_by_its_nature_is_waited_for() -> None:
    task = watched_module._Work(lambda _: "formatted")
    task.moved(0, 1, allow_ns=NEVER_NS)
    ends = threading.Timer(0.4, task.over.set)
    ends.start()
    watched_module._wait(task, WHAT, 1, None)
    ends.join()
