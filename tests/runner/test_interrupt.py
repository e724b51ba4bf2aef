"""Asked to stop: once, twice, while waiting, from another thread, too late."""

import time
from collections.abc import Callable
from threading import Event, Thread

import pytest

from teijo.errors import Interrupted
from teijo.runner.interrupt import Interrupt


def in_a_thread(interrupt: Interrupt, ask: Callable[[], None], *, waiting: bool) -> list[str]:
    """Return how a thread ended that listens and never comes back by itself."""
    ends: list[str] = []
    begun = Event()

    def work() -> None:
        try:
            with interrupt.listening():
                if waiting:
                    with interrupt.waiting():
                        begun.set()
                        spin()
                begun.set()
                spin()
        except KeyboardInterrupt:
            ends.append("at once")

    thread = Thread(target=work)
    thread.start()
    begun.wait()
    ask()
    thread.join()
    return ends


def spin() -> None:
    while True:
        time.sleep(0.001)


def test_a_second_request_breaks_off_what_another_thread_does() -> None:
    heard: list[str] = []
    interrupt = Interrupt()
    interrupt.notify = heard.append

    def twice() -> None:
        interrupt.request("a button")
        interrupt.request("a button")

    assert in_a_thread(interrupt, twice, waiting=False) == ["at once"]
    assert heard == ["a button"]


def test_the_first_request_breaks_off_a_thread_that_waits() -> None:
    interrupt = Interrupt()
    ended = in_a_thread(interrupt, lambda: interrupt.request("a button"), waiting=True)
    assert ended == ["at once"]


def test_a_request_that_comes_too_late_breaks_nothing_off() -> None:
    interrupt = Interrupt()
    with interrupt.listening():
        interrupt.request("a button")
    interrupt.request("a button")
    with pytest.raises(Interrupted, match="a button"):
        interrupt.check()


def test_another_process_is_asked_about_at_most_once_a_second() -> None:
    interrupt = Interrupt()
    asked: list[int] = []

    def elsewhere() -> int:
        asked.append(0)
        return 1

    interrupt.elsewhere = elsewhere
    interrupt.look()
    assert (asked, interrupt.requested) == ([], False)
    interrupt._looks_ns = 0
    for _ in range(3):
        interrupt.look()
    assert (len(asked), interrupt.reason) == (1, "another process")
