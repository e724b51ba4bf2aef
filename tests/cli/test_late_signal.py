"""A second Ctrl-C that comes as a run ends because of the first is not a kill."""

import os
import signal
from collections.abc import Iterator

import pytest

from teijo.cli.options import ProgressMode
from teijo.cli.outcome import carry_out
from teijo.errors import Interrupted
from teijo.runner.events import Observer, Stopping


def _interrupt() -> None:
    """Raise the signal as a terminal does; a handler of Python runs before this returns."""
    os.kill(os.getpid(), signal.SIGINT)
    signal.sigtimedwait([], 0)


@pytest.fixture(autouse=True)
def _handlers_are_given_back() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_second_ctrl_c_after_the_run_has_stopped_listening_changes_nothing() -> None:
    def act(observer: Observer) -> object:
        observer(Stopping(signal="SIGINT"))
        _interrupt()
        raise Interrupted("Stopped by SIGINT.")

    with pytest.raises(Interrupted):
        carry_out(act, ProgressMode.PLAIN)  # type: ignore[arg-type]


def test_a_ctrl_c_before_the_run_listens_ends_it_as_any_program() -> None:
    def act(observer: Observer) -> object:
        del observer
        _interrupt()
        raise AssertionError("it goes on")

    with pytest.raises(KeyboardInterrupt):
        carry_out(act, ProgressMode.PLAIN)  # type: ignore[arg-type]
