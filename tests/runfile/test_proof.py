"""Forged files, with every checksum and digest right: each is seen, and by which check."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo import api
from teijo.api import Check
from teijo.errors import InvalidMeasurement, RunFileError
from teijo.runfile import reader
from teijo.terms.histogram import decoded, encoded
from teijo.terms.remark import RemarkKind
from tests.crash.runs import DRIVE, SEED, in_a_child, killed_after, run_iops
from tests.runfile.forging import Forger, forged

RUNS = {
    "iops": ("pts.iops", DRIVE, None),
    "wsat": ("pts.wsat", DRIVE, {"minute": "20ms", "max_minutes": "40"}),
    "tp": ("pts.tp", DRIVE, {"minute": "20ms"}),
    "faulty": (
        "workload",
        "sim:faulty(mlc-a)?eio_percent=5&eio_of=read",
        {"rw": "randrw", "qd": "4", "seconds": "50ms"},
    ),
    "file": ("workload", "disk.img?size=8MiB", {"rw": "randrw", "qd": "4", "bytes": "4MiB"}),
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return one short run of each kind, made when it is first asked for."""
    folder = tmp_path_factory.mktemp("recorded")
    made: dict[str, Path] = {}

    def ask(name: str) -> Path:
        if name not in made:
            method, target, settings = RUNS[name]
            if name == "iops":
                made[name] = run_iops(folder / name).path
            else:
                target = str(folder / target) if name == "file" else target
                run = api.run(method, target, output=folder / name, settings=settings, seed=SEED)
                made[name] = run.path
        return made[name]

    return ask


def sums_lowered(file: Forger) -> None:
    """Nine percent off the latency of every I/O, in results and intervals alike."""
    file.change("result", "count > 0", latency_ns_sum="= latency_ns_sum * 91 / 100")
    file.change("interval", "ios > 0", latency_ns_sum="= latency_ns_sum * 91 / 100")


def round_dropped(file: Forger) -> None:
    """The second round never was: numbers, rounds, seeds and times are as if."""
    second = file.steps("round = 2")
    file.drop(second[0], second[-1], times=True)
    file.renumber_rounds(second[0])
    file.reseed()


def minutes_cut(file: Forger) -> None:
    """A third of the minutes of WSAT are cut out, and nobody moves a clock."""
    minutes = file.steps("kind = 'measure'")
    file.drop(minutes[9], minutes[9] + 10, times=False)


def minutes_cut_with_times(file: Forger) -> None:
    minutes = file.steps("kind = 'measure'")
    file.drop(minutes[9], minutes[9] + 10, times=True)
    file.reseed()


def first_measured(file: Forger, direction: str = "write") -> int:
    found: int = file.one(
        "SELECT min(step) FROM result WHERE operation = ? AND count > 0 AND step IN"
        " (SELECT seq FROM step WHERE kind = 'measure')",
        direction,
    )
    return found


def histogram_too(file: Forger) -> None:
    """Latency lowered in sum and histogram, the time series left."""
    file.rebucket(first_measured(file), "write", 0.91)


def more_ios(file: Forger) -> None:
    """A few more I/Os than there were, in the bytes and in the series, not in the histogram."""
    step = first_measured(file)
    file.change("result", f"step = {step}", bytes="= bytes + 40960")


def more_of_everything(file: Forger) -> None:
    """Twice the I/Os, bytes, latencies and buckets: only time and the device know better."""
    step = first_measured(file)
    where = f"step = {step} AND operation = 'write'"
    ((low, counts),) = decoded([file.one(f"SELECT histogram FROM result WHERE {where}")])
    doubled = {name: f"= {name} * 2" for name in ("bytes", "latency_ns_sum")}
    twice = encoded((low, counts * 2))
    file.change("result", where, histogram=twice, count="= count * 2", **doubled)
    file.change("interval", where, ios="= ios * 2", **doubled)


def shorter(file: Forger) -> None:
    """A step that took less time has more IOPS."""
    file.change("step", f"seq = {first_measured(file)}", elapsed_ns="= elapsed_ns * 9 / 10")


def shorter_and_all_moved(file: Forger) -> None:
    step = first_measured(file)
    half = file.one("SELECT elapsed_ns FROM step WHERE seq = ?", step) // 2
    file.change("step", f"seq = {step}", elapsed_ns=f"= elapsed_ns - {half}")
    file.change("step", f"seq > {step}", started_ns=f"= started_ns - {half}")


def maximum_lowered(file: Forger) -> None:
    file.change("result", f"step = {first_measured(file)}", latency_ns_max="= latency_ns_min")


def peak_smoothed(file: Forger) -> None:
    """The worst second of the series is made like the others, the result is left."""
    file.change("interval", "ios > 0", latency_ns_max="= latency_ns_min + 1")


def interval_removed(file: Forger) -> None:
    file.db.execute("DELETE FROM interval WHERE step = ?", (first_measured(file),))
    file.change("result", f"step = {first_measured(file)}", intervals=0)


def intervals_of_nothing(file: Forger) -> None:
    file.change("result", f"step = {first_measured(file)}", intervals=None)


def another_run_seed(file: Forger) -> None:
    file.change("run", "1", seed=7)


def another_step_seed(file: Forger) -> None:
    file.change("step", "seq = 2", seed=7)


def errors_erased(file: Forger) -> None:
    file.change("result", "errors <> '{}'", errors="{}")


def errors_erased_everywhere(file: Forger) -> None:
    errors_erased(file)
    file.change("interval", "errors > 0", errors=0)


def remark_removed(file: Forger) -> None:
    file.db.execute("DELETE FROM remark WHERE kind = 'i/o errors'")


def ending_bettered(file: Forger) -> None:
    """A run that was cut short before it was steady says it is."""
    last = file.steps()[-1]
    file.db.execute("DELETE FROM interval WHERE step >= ?", (last - 3,))
    file.db.execute("DELETE FROM result WHERE step >= ?", (last - 3,))
    file.db.execute("DELETE FROM remark WHERE step >= ?", (last - 3,))
    file.db.execute("DELETE FROM step WHERE seq >= ?", (last - 3,))


def not_steady_hidden(file: Forger) -> None:
    file.change("run", "1", ending="not steady")


def settings_changed(file: Forger) -> None:
    file.edit("run", "settings", "1", lambda one: {**one, "queue_depth": one["queue_depth"] * 2})


def minutes_swapped(file: Forger) -> None:
    """A fresh minute and a worn one change their answers."""
    minutes = file.steps("kind = 'measure'")
    one, other = minutes[0], minutes[1]
    assert file.one("SELECT count FROM result WHERE step = ?", one) > 2 * file.one(
        "SELECT count FROM result WHERE step = ?", other
    )
    for table in ("result", "interval"):
        for old, new in ((one, 0), (other, one), (0, other)):
            file.db.execute(f"UPDATE {table} SET step = ? WHERE step = ?", (new, old))


def counters_changed(file: Forger) -> None:
    """Less was written to the flash than the drive says: a better write amplification."""
    step = file.steps("kind = 'measure'")[-3]
    file.edit(
        "step",
        "health_after",
        f"seq = {step}",
        lambda one: {**one, "nand_writes_bytes": one["nand_writes_bytes"] // 2},
    )


def cursor_moved(file: Forger) -> None:
    step = file.steps("kind = 'measure'")[1]
    file.edit("step", "cursors", f"seq = {step}", lambda one: dict.fromkeys(one, 0))


def purge_denied(file: Forger) -> None:
    file.change("step", "kind = 'purge'", detail='{"method":"none"}')


def columns_lie(file: Forger) -> None:
    file.change("step", f"seq = {file.steps('round = 2')[0]}", cell="100/0 512 B")


def another_device(file: Forger) -> None:
    """A simulation is given out as a drive."""
    file.change("device", "1", kind="block", target="/dev/nvme0n1")
    file.db.execute("DELETE FROM remark WHERE kind = 'simulated'")


def dates_turned(file: Forger) -> None:
    file.change("run", "1", started_at="2027-01-01T00:00:00+00:00")


def unfinished_left(file: Forger) -> None:
    file.change("step", "seq = 2", status="running", started_ns=None)


def depth_raised(file: Forger) -> None:
    file.edit("step", "witness", "seq = 1", lambda one: {**one, "in_flight_asked": 64})


def in_flight_raised(file: Forger) -> None:
    """The engine's account of the I/Os in flight is doubled to hide that few were."""
    file.edit(
        "step",
        "witness",
        "seq = 1",
        lambda one: {**one, "in_flight_mean": 9e9 * one["in_flight_mean"]},
    )


def busy_host_denied(file: Forger) -> None:
    """The numbers say that threads of the kernel did the work; the remark is gone."""
    file.edit("step", "witness", "seq = 1", lambda one: {**one, "io_wq_workers": 5})
    file.db.execute("DELETE FROM remark WHERE kind = 'i/o punted'")


def stream_renamed(file: Forger) -> None:
    step = first_measured(file)
    file.change("result", f"step = {step}", stream="other")
    file.change("interval", f"step = {step}", stream="other")


FORGERIES: tuple[tuple[str, Callable[[Forger], None], Check], ...] = (
    ("iops", sums_lowered, Check.LATENCIES),
    ("iops", round_dropped, Check.COUNTERS),
    ("iops", round_dropped, Check.CONVERSATION),
    ("wsat", minutes_cut, Check.CLOCK),
    ("wsat", minutes_cut_with_times, Check.COUNTERS),
    ("iops", histogram_too, Check.INTERVALS),
    ("iops", more_ios, Check.RESULTS),
    ("iops", more_of_everything, Check.DEPTH),
    ("iops", more_of_everything, Check.COUNTERS),
    ("iops", shorter, Check.CLOCK),
    ("iops", shorter_and_all_moved, Check.CLOCK),
    ("iops", maximum_lowered, Check.LATENCIES),
    ("iops", peak_smoothed, Check.INTERVALS),
    ("iops", interval_removed, Check.INTERVALS),
    ("iops", intervals_of_nothing, Check.TABLES),
    ("iops", another_run_seed, Check.SEEDS),
    ("iops", another_step_seed, Check.SEEDS),
    ("faulty", errors_erased, Check.INTERVALS),
    ("faulty", errors_erased_everywhere, Check.ENDING),
    ("faulty", remark_removed, Check.ENDING),
    ("iops", ending_bettered, Check.CONVERSATION),
    ("iops", not_steady_hidden, Check.ENDING),
    ("iops", settings_changed, Check.CONVERSATION),
    ("wsat", minutes_swapped, Check.COUNTERS),
    ("iops", counters_changed, Check.COUNTERS),
    ("tp", cursor_moved, Check.CURSORS),
    ("iops", purge_denied, Check.ENDING),
    ("iops", columns_lie, Check.TABLES),
    ("iops", another_device, Check.ENDING),
    ("iops", dates_turned, Check.CLOCK),
    ("iops", unfinished_left, Check.TABLES),
    ("file", depth_raised, Check.DEPTH),
    ("file", in_flight_raised, Check.DEPTH),
    ("file", busy_host_denied, Check.SELF_CHECKS),
    ("iops", stream_renamed, Check.RESULTS),
)


@pytest.mark.parametrize(
    ("run", "forge", "check"),
    FORGERIES,
    ids=[f"{run}-{forge.__name__}-{check.value}" for run, forge, check in FORGERIES],
)
def test_a_forgery_with_every_checksum_right_is_seen(
    tmp_path: Path,
    recorded: Callable[[str], Path],
    run: str,
    forge: Callable[[Forger], None],
    check: Check,
) -> None:
    path = forged(recorded(run), tmp_path / "forged.teijo", forge)
    found = api.verify(path)
    assert not found.holds
    assert found.of(check), [flaw.check for flaw in found.flaws]


def a_nanosecond_less(file: Forger) -> None:
    """One I/O of a result and of its series is shorter, within its bucket of the histogram."""
    step = first_measured(file)
    where = f"step = {step} AND operation = 'write'"
    file.change("result", where, latency_ns_sum="= latency_ns_sum - 1")
    number = file.one(f"SELECT number FROM interval WHERE {where} AND ios > 1 LIMIT 1")
    file.change("interval", f"{where} AND number = {number}", latency_ns_sum="= latency_ns_sum - 1")


def host_named_anew(file: Forger) -> None:
    file.change("environment", "name = 'cpu'", value="another")


def deviation_hidden(file: Forger) -> None:
    file.db.execute("DELETE FROM remark WHERE kind = 'deviation from the standard'")


def of_another_program(forge: Callable[[Forger], None]) -> Callable[[Forger], None]:
    """Return a forgery whose file says that another version of Teijo made it."""

    def act(file: Forger) -> None:
        forge(file)
        file.change("environment", "name = 'teijo build'", value="0123456789abcdef")

    return act


@pytest.mark.parametrize("forge", [a_nanosecond_less, deviation_hidden])
def test_what_was_computed_anew_consistently_is_found_by_a_replay(
    tmp_path: Path, recorded: Callable[[str], Path], forge: Callable[[Forger], None]
) -> None:
    path = forged(recorded("iops"), tmp_path / "forged.teijo", forge)
    assert api.verify(path).holds, "no check of the record alone can see it"
    found = api.verify(path, replay=True)
    assert not found.holds
    assert {flaw.check for flaw in found.flaws} == {Check.REPLAY}


def test_a_run_on_another_device_given_out_as_one_on_this_is_found_by_a_replay(
    tmp_path: Path, recorded: Callable[[str], Path]
) -> None:
    other = run_iops(tmp_path / "other", target=f"{DRIVE}&program_us=900").path

    def exchange(file: Forger) -> None:
        for table in ("device", "remark"):
            file.db.execute(f"DELETE FROM {table}")
        file.db.execute("ATTACH ? AS own", (str(recorded("iops")),))
        file.db.execute("INSERT INTO device SELECT * FROM own.device")
        file.db.execute("INSERT INTO remark SELECT * FROM own.remark")

    path = forged(other, tmp_path / "forged.teijo", exchange)
    assert api.verify(path).holds
    found = api.verify(path, replay=True)
    assert len({flaw.step for flaw in found.of(Check.REPLAY)}) > 3


def test_what_another_program_decided_otherwise_is_not_known_and_not_wrong(
    tmp_path: Path, recorded: Callable[[str], Path]
) -> None:
    for name, forge, check in (
        ("iops", a_nanosecond_less, Check.REPLAY),
        ("iops", settings_changed, Check.CONVERSATION),
        ("iops", ending_bettered, Check.CONVERSATION),
        ("file", busy_host_denied, Check.SELF_CHECKS),
    ):
        path = forged(recorded(name), tmp_path / "other.teijo", of_another_program(forge))
        found = api.verify(path, replay=name != "file")
        assert found.holds, found.flaws
        assert found.unknown_of(check)
        assert RemarkKind.RECORD_INCONSISTENT not in {one.kind for one in reader.read(path).remarks}
        path.unlink()
    path = forged(recorded("iops"), tmp_path / "other.teijo", of_another_program(host_named_anew))
    found = api.verify(path, replay=True)
    assert (found.flaws, found.unknown) == ((), ()), "and what it decides alike is known"
    path = forged(recorded("iops"), tmp_path / "wrong.teijo", of_another_program(sums_lowered))
    assert not api.verify(path).holds, "what contradicts itself does so for every program"


@pytest.mark.parametrize("run", RUNS)
def test_a_copy_that_is_summed_up_anew_without_a_change_proves_itself(
    tmp_path: Path, recorded: Callable[[str], Path], run: str
) -> None:
    found = api.verify(forged(recorded(run), tmp_path / "copied.teijo", lambda file: None))
    assert found.holds, found.flaws
    assert found.sealed


def test_a_sealed_file_without_its_digest_is_no_growing_one(
    tmp_path: Path, recorded: Callable[[str], Path]
) -> None:
    def clear(file: Forger) -> None:
        file.change("run", "1", digest="")

    path = forged(recorded("iops"), tmp_path / "forged.teijo.open", clear, digest=False)
    found = api.verify(path)
    assert found.unsealed
    assert not found.holds
    kinds = [remark.kind for remark in reader.read(path).remarks]
    assert RemarkKind.RECORD_UNSEALED in kinds

    def cut(file: Forger) -> None:
        clear(file)
        file.change("run", "1", ending="interrupted")

    path = forged(recorded("iops"), tmp_path / "cut.teijo.open", cut, digest=False)
    assert api.verify(path).unsealed, "a growing file is written with a log, and this one was not"


def test_every_reading_of_a_forged_file_says_so_on_page_one(
    tmp_path: Path, recorded: Callable[[str], Path]
) -> None:
    run = api.open(forged(recorded("iops"), tmp_path / "forged.teijo", sums_lowered))
    remarks = [one for one in run.remarks if one.kind is RemarkKind.RECORD_INCONSISTENT]
    assert remarks
    touched = remarks[0].step
    assert touched is not None
    answer = run.record.steps[touched - 1].answer
    assert remarks[0] in answer.remarks  # type: ignore[union-attr]
    document = run.document()
    assert "RECORD CONTRADICTS ITSELF" in document.header.stamp
    first = document.sections[0].blocks[0]
    assert "CONTRADICTS" in first.text  # type: ignore[union-attr]


def test_a_run_does_not_go_on_from_what_contradicts_itself(tmp_path: Path) -> None:
    whole = tmp_path / "run"
    assert in_a_child(lambda: run_iops(whole, observer=killed_after(8))) == -9
    left = whole.with_name("run.teijo.open")
    path = forged(left, tmp_path / "forged.teijo.open", another_run_seed, digest=False)
    before = path.read_bytes()
    with pytest.raises(RunFileError, match="contradicts itself in step 1"):
        api.resume(path)
    assert path.read_bytes() == before
    assert api.resume(left).record.run.ending == "steady", "and goes on from what does not"


def test_nothing_forged_is_signed(tmp_path: Path, recorded: Callable[[str], Path]) -> None:
    path = forged(recorded("iops"), tmp_path / "forged.teijo", sums_lowered)
    with pytest.raises(InvalidMeasurement, match="contradicts itself"):
        api.seal(path, key=tmp_path / "key")


def test_a_file_forged_in_each_row_is_told_in_few_remarks(
    tmp_path: Path, recorded: Callable[[str], Path]
) -> None:
    path = forged(recorded("iops"), tmp_path / "forged.teijo", another_run_seed)
    remarks = [
        one for one in reader.read(path).remarks if one.kind is RemarkKind.RECORD_INCONSISTENT
    ]
    assert 2 < len(remarks) < 10
    assert "more of this kind" in remarks[-1].text


def test_the_forger_of_these_tests_leaves_no_checksum_wrong(
    tmp_path: Path, recorded: Callable[[str], Path]
) -> None:
    path = forged(recorded("iops"), tmp_path / "forged.teijo", another_run_seed)
    reader.read(path)  # raises where one is
    with sqlite3.connect(path) as db:
        db.execute("UPDATE run SET seed = 8")
    with pytest.raises(Exception, match="checksum"):
        reader.read(path)
