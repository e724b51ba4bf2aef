"""Following a growing file: each look shows what a whole reading does, and reads what is new."""

import shutil
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from teijo.errors import RunFileError, TeijoError
from teijo.runfile import content, guard, reader
from teijo.runfile.following import FileFollower, Grown
from teijo.runfile.names import Names
from teijo.runfile.recorder import Recorder
from teijo.terms.reading import Reading
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Gap, Intervals
from teijo.units import MIB
from tests.runfile.forging import as_version, forged, sum_up
from tests.runfile.samples import (
    SECOND,
    histogram,
    measure,
    measured,
    open_run,
    record,
    sealed_run,
    series,
)

DAY = 86_400


def followed(path: Path) -> FileFollower:
    return FileFollower(Names.of(path))


def looked(follower: FileFollower, path: Path) -> Grown:
    """Look, and hold what is seen against a whole reading."""
    grown = follower.look()
    path = reader.locate(Names.of(path).open)
    assert grown.record == reader.read(path)
    assert grown.running == reader.read_running(path)
    assert grown.path == path
    return grown


def warned(seq: int | None = None, text: str = "hot") -> Remark:
    return Remark(kind=RemarkKind.THROTTLED, text=text, step=seq)


def verbs(recorder: Recorder) -> Iterator[None]:
    """Record the sample verb by verb, with a step that is watched for long."""
    for each in record().steps:
        if isinstance(each.answer, Gap):
            recorder.record_gap(each.seq, each.step, each.seed, each.answer, interval_ns=SECOND)
            yield
            continue
        recorder.begin(each.seq, each.step, each.seed, interval_ns=SECOND)
        yield
        if each.answer.results:
            recorder.append(each.seq, [("oltp", "read", series(3))])
            yield
            recorder.append(each.seq, [("log", "write", series(1)), ("oltp", "write", series(2))])
            yield
        recorder.record(each.seq, each.answer)
        yield
        recorder.keep_readings(*[one for one in record().readings if one.step == each.seq])
        yield
    recorder.remark(warned(4), warned())
    yield
    recorder.begin(7, measure(3), 7, interval_ns=SECOND)
    for number in range(0, 900, 300):  # beyond the room of a series, twice
        ios = range(number, number + 300)
        recorder.append(7, [("oltp", "read", series(*ios, first=number))])
        yield
    recorder.append(7, [("a", "write", series(1, first=899))])
    yield
    recorder.record(7, replace(measured(3), remarks=()))
    yield
    recorder.begin(8, measure(4), 8, interval_ns=SECOND)
    yield


def begun(path: Path) -> Recorder:
    return Recorder.create(path, replace(record(), steps=(), remarks=record().remarks[:1]))


def test_each_look_shows_what_a_whole_reading_does(tmp_path: Path) -> None:
    recorder, follower = begun(tmp_path / "run"), followed(tmp_path / "run")
    looks = [looked(follower, tmp_path / "run")]
    looks += [looked(follower, tmp_path / "run") for _ in verbs(recorder)]
    assert len(looks) > 20
    assert {each.beginning for each in looks} == {1}, "nothing of it was a reason to begin anew"
    assert [each.new.anew for each in looks] == [True] + [False] * (len(looks) - 1)
    assert sum((each.new.steps for each in looks), ()) == tuple(
        replace(each, answer=step.answer)
        for each, step in zip(looks[-1].record.steps, _as_told(looks), strict=True)
    )
    assert sum((each.new.readings for each in looks), ()) == record().readings
    told = [remark for each in looks for remark in each.new.remarks if _was_written(remark)]
    assert told == [remark for remark in looks[-1].record.remarks if _was_written(remark)]
    recorder.close()


def _was_written(remark: Remark) -> bool:
    return remark.kind is not RemarkKind.RECORD_INCONSISTENT


def _as_told(looks: list[Grown]) -> list[object]:
    return [step for each in looks for step in each.new.steps]


def test_new_intervals_are_told_once_and_stand_in_all_that_were_told(tmp_path: Path) -> None:
    recorder, follower = begun(tmp_path / "run"), followed(tmp_path / "run")
    recorder.begin(1, measure(1), 1, interval_ns=SECOND)
    parts: list[Intervals] = []
    for number in range(0, 1000, 100):
        recorder.append(1, [("oltp", "read", series(*range(100), first=number))])
        grown = looked(follower, tmp_path / "run")
        parts.append(grown.new.intervals["oltp", "read"])
    assert [len(part.index) for part in parts] == [100] * 10
    assert grown.running is not None
    whole = grown.running.intervals["oltp", "read"]
    assert np.array_equal(np.concatenate([part.index for part in parts]), whole.index)
    assert np.array_equal(np.concatenate([part.ios for part in parts]), whole.ios)
    with pytest.raises(ValueError, match="read-only"):
        whole.ios[0] = 1
    assert looked(follower, tmp_path / "run").new.intervals == {}
    recorder.close()


def test_what_is_new_can_be_asked_since_any_earlier_look(tmp_path: Path) -> None:
    recorder, follower = begun(tmp_path / "run"), followed(tmp_path / "run")
    steps = verbs(recorder)
    looks = [follower.look() for _ in steps]
    first, last = looks[4], looks[-1]
    assert last.since(first).steps == last.record.steps[len(first.record.steps) :]
    assert not last.since(first).anew
    assert last.since(None).anew
    assert last.since(last) == looked(follower, tmp_path / "run").new
    recorder.close()


def test_a_look_at_nothing_new_gives_the_record_of_before(tmp_path: Path) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    recorder.begin(7, measure(3), 7, interval_ns=SECOND)
    before = follower.look()
    recorder.append(7, [("oltp", "read", series(1))])
    assert follower.look().record is before.record
    recorder.close()


def test_the_rows_a_step_leaves_are_no_longer_those_of_a_running_one(tmp_path: Path) -> None:
    recorder, follower = begun(tmp_path / "run"), followed(tmp_path / "run")
    recorder.begin(1, measure(1), 1, interval_ns=SECOND)
    recorder.append(1, [("oltp", "read", series(9, 9, 9))])
    looked(follower, tmp_path / "run")
    recorder.record(1, replace(measured(1), remarks=()))
    recorder.begin(2, measure(2), 2, interval_ns=SECOND)
    recorder.append(2, [("oltp", "read", series(1))])
    grown = looked(follower, tmp_path / "run")
    assert ([each.seq for each in grown.new.steps], grown.beginning) == ([1], 1)
    assert len(grown.new.intervals["oltp", "read"].index) == 1
    recorder.close()


def test_a_run_that_was_killed_and_goes_on_is_followed(tmp_path: Path) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    recorder.begin(7, measure(3), 7, interval_ns=SECOND)
    recorder.append(7, [("oltp", "read", series(1, 2, 3))])
    assert looked(follower, tmp_path / "run").new.anew
    recorder.close()
    assert looked(follower, tmp_path / "run").beginning == 1
    recorder = Recorder.reopen(tmp_path / "run")
    recorder.go_on(Remark(kind=RemarkKind.RESUMED, text="again"))
    looked(follower, tmp_path / "run")
    recorder.record_gap(7, measure(3), 7, Gap(), interval_ns=SECOND)
    grown = looked(follower, tmp_path / "run")
    assert grown.running is None
    recorder.begin(8, measure(3), 8, interval_ns=SECOND)
    recorder.append(8, [("oltp", "read", series(5))])
    assert looked(follower, tmp_path / "run").new.intervals["oltp", "read"].ios.tolist() == [5]
    recorder.close()


def test_a_step_that_begins_again_is_read_again(tmp_path: Path) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    for ios in ((1, 2, 3), (7, 8, 9, 10)):
        recorder.begin(7, measure(3), 7, interval_ns=SECOND)
        recorder.append(7, [("oltp", "read", series(*ios))])
        grown = looked(follower, tmp_path / "run")
        assert grown.new.anew
        assert grown.new.intervals["oltp", "read"].ios.tolist() == list(ios)
    recorder.close()


def test_an_interrupted_run_that_goes_on_is_read_anew(tmp_path: Path) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    looked(follower, tmp_path / "run")
    recorder.remark(Remark(kind=RemarkKind.INTERRUPTED, text="by hand"))
    recorder.end("interrupted", "by hand")
    recorder.close()
    assert looked(follower, tmp_path / "run").new.anew
    assert not looked(follower, tmp_path / "run").new.anew
    recorder = Recorder.reopen(tmp_path / "run")
    recorder.go_on(Remark(kind=RemarkKind.RESUMED, text="again"))
    assert looked(follower, tmp_path / "run").new.anew
    recorder.close()


@pytest.mark.parametrize("note", [
    lambda recorder: recorder.note("limits", "none"),
    lambda recorder: recorder.look_again(6, {"host_writes_bytes": 99}, [warned(6)]),
    lambda recorder: recorder.end("failed", "no"),
])  # fmt: skip
def test_what_changes_in_place_is_read_anew(
    tmp_path: Path, note: Callable[[Recorder], object]
) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    looked(follower, tmp_path / "run")
    note(recorder)
    assert looked(follower, tmp_path / "run").new.anew
    recorder.close()


def test_a_run_is_followed_into_its_sealed_file(tmp_path: Path) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    looked(follower, tmp_path / "run")
    recorder.end("steady")
    looked(follower, tmp_path / "run")
    sealed = recorder.seal()
    grown = looked(follower, tmp_path / "run")
    assert (grown.path, grown.new.anew, grown.record.run.ending) == (sealed, True, "steady")
    assert not looked(follower, tmp_path / "run").new.anew
    assert [item.name for item in tmp_path.iterdir()] == ["run.teijo"]


def test_a_file_of_another_run_in_its_place_is_read_anew(tmp_path: Path) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    looked(follower, tmp_path / "run")
    recorder.close()
    other = replace(record(), run=replace(record().run, id="0002", seed=9))
    open_run(tmp_path / "other", other).close()
    for ending in ("", "-wal", "-shm"):
        part = tmp_path / f"other.teijo.open{ending}"
        if part.exists():
            part.replace(tmp_path / f"run.teijo.open{ending}")
    grown = looked(follower, tmp_path / "run")
    assert (grown.record.run.id, grown.new.anew) == ("0002", True)


def test_an_earlier_state_of_the_file_is_read_anew(tmp_path: Path) -> None:
    recorder, follower = begun(tmp_path / "run"), followed(tmp_path / "run")
    list(verbs(recorder))
    recorder.close()
    last = looked(follower, tmp_path / "run")
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    open_run(tmp_path / "run").close()
    grown = looked(follower, tmp_path / "run")
    assert len(grown.record.steps) < len(last.record.steps)
    assert grown.new.anew


def refusal(act: Callable[[], object]) -> tuple[type, str]:
    with pytest.raises(TeijoError) as caught:
        act()
    return type(caught.value), caught.value.message


def test_a_file_that_is_gone_is_named_and_its_return_is_seen(tmp_path: Path) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    recorder.close()
    looked(follower, tmp_path / "run")
    away = shutil.move(tmp_path / "run.teijo.open", tmp_path / "away")
    assert refusal(follower.look)[0] is RunFileError
    shutil.move(away, tmp_path / "run.teijo.open")
    assert looked(follower, tmp_path / "run").new.anew


def changed(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


NEW = {
    "remark": "INSERT INTO remark (kind, text, checksum) VALUES ('purged', 'x', 5)",
    "step": "UPDATE step SET seed = 6 WHERE status = 'running'",
    "interval": "INSERT INTO interval VALUES (7, 'oltp', 'read', 50, 1, 1, 1, 1, 1, 1, 5)",
    "health": "INSERT INTO health VALUES (9, 1, 0, 0, '{}', 'x', 5)",
    "run": "UPDATE run SET seed = seed + 1",
    "tally": "UPDATE tally SET row_count = row_count + 1",
    "result": "DELETE FROM result WHERE rowid = (SELECT max(rowid) FROM result)",
}


@pytest.mark.parametrize("table", NEW)
def test_a_new_row_that_nobody_wrote_is_the_error_it_is_to_a_reader(
    tmp_path: Path, table: str
) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    recorder.begin(7, measure(3), 7, interval_ns=SECOND)
    path = recorder.names.open
    if table != "result":  # one of a step that was not looked at yet
        looked(follower, tmp_path / "run")
    changed(path, NEW[table])
    expected = refusal(lambda: reader.read(path))
    assert "is damaged" in expected[1]
    assert refusal(follower.look) == expected
    assert refusal(follower.look) == expected
    recorder.close()


def test_a_row_changed_in_an_old_step_is_the_readers_error_once_the_run_has_ended(
    tmp_path: Path,
) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    looked(follower, tmp_path / "run")
    changed(recorder.names.open, "UPDATE step SET seed = seed + 1 WHERE seq = 2")
    recorder.begin(7, measure(3), 7, interval_ns=SECOND)
    assert follower.look().beginning == 1, "a later look does not go back, as it says"
    recorder.end("interrupted")
    expected = refusal(lambda: reader.read(recorder.names.open))
    assert refusal(follower.look) == expected
    recorder.close()


def test_a_row_changed_in_an_old_step_and_summed_up_is_seen_at_once(tmp_path: Path) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    before = looked(follower, tmp_path / "run")
    with closing(sqlite3.connect(recorder.names.open)) as db:
        db.execute("UPDATE step SET elapsed_ns = elapsed_ns + 1 WHERE seq = 3")
        sum_up(db)
        db.commit()
    after = looked(follower, tmp_path / "run")
    assert before.record.steps != after.record.steps
    recorder.close()


def grown_by(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        sum_up(db)
        db.commit()


@pytest.mark.parametrize("forgery", [
    "INSERT INTO result SELECT 7, 0, 'x', 'read', 0, 0, '{}', 0, 0, 0, histogram, NULL, NULL, NULL,"
    " NULL, NULL, NULL, NULL, 0 FROM result WHERE rowid = 2",
    "INSERT INTO remark (kind, text, step, checksum) VALUES ('hot', 'x', 99, 0)",
    "INSERT INTO interval VALUES (6, 'none', 'read', 0, 0, 0, 0, 0, 0, 0, 0)",
    "INSERT INTO interval VALUES (99, 'none', 'read', 0, 0, 0, 0, 0, 0, 0, 0)",
    "INSERT INTO step (seq, status, kind, phase, step, seed, interval_ns, gap_reason, checksum)"
    " SELECT 8, 'gap', kind, phase, step, seed, interval_ns, 'x', 0 FROM step WHERE seq = 6",
    "UPDATE step SET phase = 'other' WHERE seq = 7",
    "UPDATE result SET latency_ns_max = latency_ns_max + 1 WHERE rowid = 1",
])  # fmt: skip
def test_rows_that_belong_to_nothing_are_told_as_a_reader_does(
    tmp_path: Path, forgery: str
) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    recorder.begin(7, measure(3), 7, interval_ns=SECOND)
    before = len(looked(follower, tmp_path / "run").record.remarks)
    changed(recorder.names.open, "PRAGMA foreign_keys = OFF")
    grown_by(recorder.names.open, forgery.replace("'hot'", f"'{warned().kind.value}'"))
    told = looked(follower, tmp_path / "run").record.remarks
    assert len(told) > before
    recorder.append(7, [("oltp", "read", series(1))])
    looked(follower, tmp_path / "run")
    recorder.close()


@pytest.mark.parametrize("bytes_", [b"", b"hello", b"SQLite format 3\0" + bytes(5000)])
def test_a_hostile_file_in_its_place_is_the_readers_error(tmp_path: Path, bytes_: bytes) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    looked(follower, tmp_path / "run")
    recorder.close()
    path = tmp_path / "run.teijo.open"
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes(bytes_)
    assert refusal(follower.look) == refusal(lambda: reader.read(path))


def test_a_view_put_in_the_growing_file_is_refused_at_the_next_look(tmp_path: Path) -> None:
    recorder, follower = open_run(tmp_path / "run"), followed(tmp_path / "run")
    looked(follower, tmp_path / "run")
    changed(recorder.names.open, "CREATE VIEW mine AS SELECT 1")
    kind, message = refusal(follower.look)
    assert (kind, "other tables" in message) == (RunFileError, True)
    recorder.close()


def test_a_file_of_an_older_version_is_read_as_a_whole_each_time(tmp_path: Path) -> None:
    recorder = open_run(tmp_path / "new")
    recorder.close()
    for version in (3, 4, 6):
        path = tmp_path / f"v{version}.teijo.open"
        as_version(tmp_path / "new.teijo.open", path, version)
        follower = followed(path)
        looked(follower, path)
        assert looked(follower, path).new.anew == (version == 3)


def test_a_sealed_file_that_was_changed_is_read_again(tmp_path: Path) -> None:
    path = sealed_run(tmp_path / "run")
    follower = followed(path)
    looked(follower, path)
    forged(path, tmp_path / "other.teijo", lambda forger: forger.change("run", "1", method="x"))
    (tmp_path / "other.teijo").replace(path)
    assert looked(follower, path).record.run.method == "x"


class _Work:
    """Counts what SQLite does for the reader, in steps of its machine, and rows that are taken."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.steps = self.rows = 0
        each, count = content.Room.each, content.Room.count

        def tick() -> int:
            self.steps += 1
            return 0

        def counted(room: content.Room, rows: int) -> None:
            self.rows += rows
            count(room, rows)

        assert each
        patch.setattr(content.Room, "count", counted)
        patch.setattr(guard, "allow", lambda db, *, ticks: db.set_progress_handler(tick, 1))

    def of(self, act: Callable[[], object]) -> tuple[int, int]:
        self.steps = self.rows = 0
        act()
        return self.steps, self.rows


def day_long(path: Path, seconds: int) -> Recorder:
    """Begin a run whose only step has gone on for so long, with reads and writes."""
    recorder = begun(path)
    recorder.begin(1, measure(1), 1, interval_ns=SECOND)
    for first in range(0, seconds, 3600):
        ios = range(min(3600, seconds - first))
        part = series(*ios, first=first)
        recorder.append(1, [("oltp", "read", part), ("oltp", "write", part)])
    return recorder


def second_more(recorder: Recorder, number: int) -> None:
    part = series(5, first=number)
    recorder.append(1, [("oltp", "read", part), ("oltp", "write", part)])


def test_a_later_look_reads_no_more_of_a_long_step_than_of_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _Work(monkeypatch)
    later = []
    for seconds in (600, 7200):
        recorder = day_long(tmp_path / f"{seconds}", seconds)
        follower = followed(tmp_path / f"{seconds}")
        _, rows = work.of(follower.look)
        assert rows > 2 * seconds
        for number in range(seconds, seconds + 3):
            second_more(recorder, number)
            later.append(work.of(follower.look))
        recorder.close()
    assert len(set(later)) == 1
    _, rows = later[0]
    assert rows == 6  # the run, the step, two places, an interval of each


def test_a_later_look_reads_no_more_behind_many_steps_than_behind_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = _Work(monkeypatch)
    later = []
    for count in (3, 60):
        recorder, follower = begun(tmp_path / f"{count}"), followed(tmp_path / f"{count}")
        for seq in range(1, count + 1):
            recorder.begin(seq, measure(seq), seq, interval_ns=SECOND)
            recorder.record(seq, replace(measured(1), remarks=(warned(seq),)))
            recorder.keep_readings(Reading(step=seq, at_ns=seq, cost_ns=0, error="x"))
        follower.look()
        recorder.begin(count + 1, measure(1), 1, interval_ns=SECOND)
        recorder.record(count + 1, replace(measured(1), remarks=(warned(count + 1),)))
        later.append(work.of(follower.look))
        recorder.close()
    assert len(set(later)) == 1


@pytest.mark.parametrize("seconds", [7200, pytest.param(DAY, marks=pytest.mark.long)])
def test_a_run_of_a_day_is_followed_in_little_memory(tmp_path: Path, seconds: int) -> None:
    recorder, follower = day_long(tmp_path / "run", seconds), followed(tmp_path / "run")
    bare = 2 * seconds * 7 * 8
    # The log is looked at too, as large as it is, and is emptied as it grows.
    recorder._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    tracemalloc.start()
    follower.look()
    kept, most = tracemalloc.get_traced_memory()
    assert kept < 1.3 * bare + MIB
    assert most < 4 * bare + 2 * MIB
    second_more(recorder, seconds)
    follower.look()  # the room of its series is doubled
    second_more(recorder, seconds + 1)
    recorder._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    grown = follower.look()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2.3 * bare + MIB
    assert most - kept < MIB
    assert grown.running is not None
    assert len(grown.running.intervals["oltp", "read"].index) == seconds + 2
    recorder.close()


def test_nothing_stays_open_between_looks(tmp_path: Path) -> None:
    recorder, follower = begun(tmp_path / "run"), followed(tmp_path / "run")
    log = recorder.names.logs[0]
    for _ in verbs(recorder):
        follower.look()
        # A reader that held its view would keep the log from being emptied.
        assert recorder._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        assert log.stat().st_size == 0
    recorder.close()


def test_histograms_of_new_steps_are_opened(tmp_path: Path) -> None:
    recorder, follower = begun(tmp_path / "run"), followed(tmp_path / "run")
    looked(follower, tmp_path / "run")
    answer = measured(1)
    wrong = replace(answer.results[0], count=3, latency=histogram(1, 2))
    recorder.begin(1, measure(1), 1, interval_ns=SECOND)
    recorder.record(1, replace(answer, results=(wrong, *answer.results[1:]), remarks=()))
    expected = refusal(lambda: reader.read(recorder.names.open))
    assert "stands beside a count" in expected[1]
    assert refusal(follower.look) == expected
    recorder.close()
