"""What phases of file work hide: named with its size where it is, nowhere in a clean strict run."""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import count, cycle

import numpy as np
import pytest

from teijo.engine.content import content_of_files
from teijo.methods.classic.bonnie.method import Bonnie
from teijo.methods.classic.hidden_entry import Hidden
from teijo.methods.classic.phase_hidden import entries
from teijo.methods.classic.tiotest.method import Tiotest
from teijo.terms.census import HASH_BITS, SAMPLE_MOST, Census
from teijo.terms.geometry import NO_CAPACITY
from teijo.terms.histogram import Histogram, histogram_of
from teijo.terms.record import StepRecord
from teijo.terms.result import OperationResult, StepResult
from teijo.terms.step import Perform
from teijo.terms.work import RANDOM_CALLS, FileIo
from tests.methods.canned import record_of


def timed(times: int, each_ns: int) -> Histogram:
    values = histogram_of(np.array([each_ns])).values_ns
    return Histogram((values, np.array([times])), times * each_ns, each_ns, each_ns)


def census_of(work: FileIo, seed: int) -> Census:
    """Return the census of a work that draws its blocks evenly, with a sample of what it writes."""
    files = 1 if work.share else work.workers
    blocks = work.file_bytes // work.chunk_bytes * files
    touched = np.arange(blocks)
    if work.operation in RANDOM_CALLS:
        touched = np.random.default_rng(seed).integers(0, blocks, work.calls)
    # Any one-to-one function tells blocks apart as well as the engine's.
    hashes, counts = np.unique(touched * 0x1B873593 % (1 << HASH_BITS), return_counts=True)
    return Census(
        stream="files", operation=work.operation, ios=len(touched),
        hashes=tuple(hashes[:SAMPLE_MOST].tolist()), counts=tuple(counts[:SAMPLE_MOST].tolist()),
        content=content_of_files(work, seed),
    )  # fmt: skip


def answer(work: FileIo, *, mean_ns: int, flush_ns: int, seed: int) -> StepResult:
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
    return StepResult(
        started_ns=seed, elapsed_ns=took_ns, results=results, detail=detail,
        census=(census_of(work, seed),) if work.census else (),
    )  # fmt: skip


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
    method: Bonnie | Tiotest,
    given: dict[str, str],
    flush_ns: int,
    *,
    memory: str = "",
    seeds: Iterable[int] = count(1),
    counted: bool = True,
) -> dict[str, Hidden]:
    """Return everything that is looked for, by kind, in a run whose steps have these seeds."""
    seeds = iter(seeds)
    settings = method.settings("", given, NO_CAPACITY)
    steps = method.steps(settings, NO_CAPACITY)  # type: ignore[arg-type]
    told: list[StepRecord] = []
    try:
        asked = next(steps)
        while True:
            assert isinstance(asked, Perform)
            assert isinstance(asked.work, FileIo)
            work = asked.work if counted else replace(asked.work, census=False)
            heard = answer(work, mean_ns=50_000, flush_ns=flush_ns, seed=next(seeds))
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
    assert set(found) == {
        "flush", "page cache", "duplicates", "compressible", "revisits",
    }  # fmt: skip
    # 32,768 calls of 50 µs and a flush of 60 s, by each of eight threads.
    assert "flushes took 480 s, 97.3 % of the time" in found["flush"]
    assert "it has 2.7 % of the rate" in found["flush"]
    revisits = re.search(
        r"262,144 calls on 262,144 blocks touched (\S+) of them, where (\S+) would be expected;",
        found["revisits"],
    )
    assert revisits is not None
    touched, expected = (int(each.replace(",", "")) for each in revisits.groups())
    assert expected == 165_708, "262,144 × (1 − (1 − 1/262,144)^262,144)"
    assert touched == pytest.approx(expected, rel=0.05)
    assert "98.4 % of the pieces of 4 KiB in a sample of 64 writes" in found["duplicates"]
    assert "zlib takes 99." in found["compressible"]
    assert "16 GiB" in found["page cache"]


def test_a_flush_that_takes_no_time_or_is_in_the_latency_hides_nothing() -> None:
    assert "flush" not in hides(Tiotest(), ARTICLE, 1_000_000)
    clear = looked_for(Tiotest(), ARTICLE | {"strict": "on"}, 60_000_000_000)
    assert clear["flush"].found == "clear"
    assert clear["flush"].size == "Every flush is in the latency of the call before it."


def test_passes_that_repeat_their_offsets_or_their_data_are_named_with_the_share() -> None:
    """Two phases are of random calls: rwrite and rread."""
    given = ARTICLE | {"strict": "on", "random": "1000", "passes": "2"}
    clear = looked_for(Tiotest(), given, 0)
    assert {each.found for each in clear.values()} == {"clear"}
    chance = re.search(r"repeating it would be (\S+) %", clear["repeated offsets"].size)
    assert chance is not None
    assert float(chance[1]) == pytest.approx(100 * 8000 / 262_144, abs=0.15)
    again = looked_for(Tiotest(), given, 0, seeds=cycle((1, 2, 3, 4)))
    assert {each.kind for each in again.values() if each.found == "hidden"} == {
        "repeated offsets", "data again",
    }  # fmt: skip
    size = again["repeated offsets"].size
    assert re.search(r"\(pass 2\), 100.0 % had been touched by r(write|read) \(pass 1\)", size)
    # The reads go where the writes of their own pass went.
    alike = looked_for(Tiotest(), given, 0, seeds=iter([1, 2, 3, 2] * 2))
    size = str(alike["repeated offsets"].size)
    assert alike["repeated offsets"].found == "hidden", size


def test_what_no_run_counted_is_unknown_and_not_recited() -> None:
    found = looked_for(Tiotest(), ARTICLE, 0, counted=False)
    assert found["revisits"].found == "unknown"
    assert not {"duplicates", "compressible", "repeated offsets"} & set(found)


def test_a_strict_run_with_few_random_calls_hides_nothing() -> None:
    given = ARTICLE | {"strict": "on", "random": "1000"}
    assert hides(Tiotest(), given, 0) == {}


def test_bonnies_bytes_are_a_test_of_the_processor_and_short_seeks_are_told() -> None:
    given = {"size": "300MiB", "files": "0", "seeks": "1000"}
    found = hides(Bonnie(), given, 0)
    assert "80 % of its time, 75 % of that in the kernel" in found["processor"]
    assert "too short" in found
