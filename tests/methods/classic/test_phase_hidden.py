"""What phases of file work hide: named with its size where it is, nowhere in a clean strict run."""

from dataclasses import replace

import numpy as np

from teijo.methods.classic.bonnie.method import Bonnie
from teijo.methods.classic.hidden_entry import Hidden
from teijo.methods.classic.phase_hidden import entries
from teijo.methods.classic.tiotest.method import Tiotest
from teijo.terms.geometry import NO_CAPACITY
from teijo.terms.histogram import Histogram, histogram_of
from teijo.terms.record import StepRecord
from teijo.terms.result import OperationResult, StepResult
from teijo.terms.step import Perform
from teijo.terms.work import FileIo
from tests.methods.canned import record_of


def timed(times: int, each_ns: int) -> Histogram:
    values = histogram_of(np.array([each_ns])).values_ns
    return Histogram((values, np.array([times])), times * each_ns, each_ns, each_ns)


def answer(work: FileIo, *, mean_ns: int, flush_ns: int) -> StepResult:
    """Return an answer whose calls take so long, and behind them the flush of each worker."""
    main = OperationResult(
        stream="files", operation=work.operation, count=work.count,
        bytes=work.count * work.chunk_bytes, latency=timed(work.count, mean_ns),
    )  # fmt: skip
    flush = OperationResult(
        stream="files", operation="fsync", count=work.workers,
        latency=timed(work.workers, flush_ns),
    )  # fmt: skip
    took_ns = work.count * mean_ns // work.workers + flush_ns
    detail = {"cpu_user_ns": str(took_ns // 5), "cpu_system_ns": str(took_ns * 3 // 5)}
    results = (main,) if work.timed_fsync else (main, flush)
    return StepResult(started_ns=0, elapsed_ns=took_ns, results=results, detail=detail)


def test_the_memory_of_the_host_is_read_as_it_is_shown() -> None:
    given = {key: text for key, text in ARTICLE.items() if key != "memory"}
    assert "23.54 GiB of memory" in hides(Tiotest(), given, 0, memory="23.54 GiB")["page cache"]
    assert "page cache" not in hides(Tiotest(), given, 0, memory="unknown")


def hides(
    method: Bonnie | Tiotest, given: dict[str, str], flush_ns: int, *, memory: str = ""
) -> dict[str, str]:
    """Return what a run hides, by kind, with its size."""
    told = looked_for(method, given, flush_ns, memory=memory)
    return {kind: str(each.size) for kind, each in told.items() if each.found == "hidden"}


def looked_for(
    method: Bonnie | Tiotest, given: dict[str, str], flush_ns: int, *, memory: str = ""
) -> dict[str, Hidden]:
    """Return everything that was looked for in a run, by kind."""
    settings = method.settings("", given, NO_CAPACITY)
    steps = method.steps(settings, NO_CAPACITY)  # type: ignore[arg-type]
    told: list[StepRecord] = []
    try:
        asked = next(steps)
        while True:
            assert isinstance(asked, Perform)
            assert isinstance(asked.work, FileIo)
            heard = answer(asked.work, mean_ns=50_000, flush_ns=flush_ns)
            told.append(StepRecord(seq=len(told) + 1, step=asked, seed=1, answer=heard))
            asked = steps.send(heard)
    except StopIteration:
        pass
    record = record_of(method, settings, tuple(told), geometry=NO_CAPACITY)
    record = replace(record, environment={"memory": memory})
    found = method.find(settings, record)  # type: ignore[arg-type]
    short = isinstance(method, Bonnie)
    return {each.kind: each for each in entries(found, short_is_hidden=short)}


ARTICLE = {"threads": "8", "size": "128MiB", "random": "32768", "memory": "16GiB"}


def test_the_articles_tiotest_hides_flush_cache_zeros_and_revisits() -> None:
    found = hides(Tiotest(), ARTICLE, 60_000_000_000)
    assert set(found) == {"flush", "page cache", "compressible data", "revisits"}
    # 32,768 calls of 50 µs and a flush of 60 s, by each of eight threads.
    assert "flushes took 480 s, 97.3 % of the time" in found["flush"]
    assert "it has 2.7 % of the rate" in found["flush"]
    assert "touch 63 % of them; 37 % of the calls" in found["revisits"]
    assert "100 % of" in found["compressible data"]
    assert "16 GiB" in found["page cache"]


def test_a_flush_that_takes_no_time_or_is_in_the_latency_hides_nothing() -> None:
    assert "flush" not in hides(Tiotest(), ARTICLE, 1_000_000)
    clear = looked_for(Tiotest(), ARTICLE | {"strict": "on"}, 60_000_000_000)
    assert clear["flush"].found == "clear"
    assert clear["flush"].size == "Every flush is in the latency of the call before it."


def test_a_strict_run_with_few_random_calls_hides_nothing() -> None:
    given = ARTICLE | {"strict": "on", "random": "1000"}
    assert hides(Tiotest(), given, 0) == {}


def test_bonnies_bytes_are_a_test_of_the_processor_and_short_seeks_are_told() -> None:
    given = {"size": "300MiB", "files": "0", "seeks": "1000"}
    found = hides(Bonnie(), given, 0)
    assert "80 % of its time, 75 % of that in the kernel" in found["processor"]
    assert "too short" in found
