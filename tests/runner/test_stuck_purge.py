"""A purge that the device does not answer: the run says so, can be resumed, and leaves the rest."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo.device.watched import watched
from teijo.errors import Interrupted, StuckDevice, TeijoError
from teijo.runfile import reader
from teijo.terms.purge import PurgeResult
from teijo.terms.remark import RemarkKind
from tests.runner.acts import run_paper
from tests.runner.fakes import FakeDevice


class Hung(FakeDevice):
    """A device whose purge comes back only when it is let go."""

    def __init__(self, asked: Callable[[], None], **changes: bool) -> None:
        super().__init__(**changes)
        self.asked, self.thawed = asked, threading.Event()

    def purge(
        self, method: str = "auto", silence_ns: int = 0, *, progress: object = None
    ) -> PurgeResult | None:
        del progress

        def work(moved: Callable[[int, int], None]) -> None:
            moved(0, 1)
            self.thawed.wait()

        def progress(done: int, total: int) -> None:
            del done, total
            self.asked()

        watched(work, what="The purge of /dev/x", silence_ns=1, progress=progress)
        return None


def signalled() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("asked", "kind", "words"),
    [
        (lambda: None, StuckDevice, "has not come back from the device for"),
        (signalled, Interrupted, "does not come back from the device"),
    ],
)
def test_a_purge_that_is_left_is_named_and_the_run_stays_open(
    asked: Callable[[], None], kind: type[TeijoError], words: str, tmp_path: Path
) -> None:
    device = Hung(asked, replayable=False)
    try:
        with pytest.raises(kind, match=words) as left:
            run_paper(tmp_path / "run", device)
    finally:
        device.thawed.set()
    assert type(left.value) is kind
    assert left.value.has_stuck_ios
    record = reader.read(tmp_path / "run.teijo.open")
    assert record.run.ending == "interrupted"
    (stuck,) = [one.text for one in record.remarks if one.kind is RemarkKind.IO_STUCK]
    assert stuck.startswith("The purge of /dev/x")
    assert words in stuck
    assert stuck[-2:] != ".."
    assert ".." not in left.value.message.replace(str(tmp_path), "")
