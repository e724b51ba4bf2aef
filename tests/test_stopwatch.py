"""Operations are timed one by one; one that fails is counted by its errno."""

from errno import ENOENT
from pathlib import Path

from teijo.stopwatch import Stopwatch


def test_each_operation_is_counted_with_its_bytes_and_its_time() -> None:
    watch = Stopwatch("files", "create", 100)
    assert [watch.time(lambda: 7) for _ in range(3)] == [7, 7, 7]
    result = watch.result
    assert (result.count, result.bytes, result.timed.count) == (3, 300, 3)
    assert result.timed.min_ns <= result.timed.max_ns <= result.timed.sum_ns


def test_an_operation_that_fails_is_counted_and_not_timed(tmp_path: Path) -> None:
    watch = Stopwatch("files", "stat")
    assert watch.time((tmp_path / "none").stat) is None
    assert (watch.result.count, watch.result.bytes) == (0, None)
    assert dict(watch.result.errors) == {ENOENT: 1}
