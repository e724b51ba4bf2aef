"""What a run file says is what its rows say."""

import hashlib
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from teijo import api
from teijo.compare.limits import known_in
from teijo.errors import RunFileError
from teijo.lake import rows as rows_module
from teijo.lake.rows import digest_of, moment, record_rows, rows_of
from teijo.lake.schema import LEADING, TABLES, TableName
from teijo.runfile import columns, reader
from teijo.runfile.proof.flaw import Check, Flaw
from teijo.terms.histogram import bucket_width_ns, merged
from tests.lake.made import make_run


def named(table: TableName, values: tuple[object, ...]) -> dict[str, object]:
    return dict(zip((each.name for each in TABLES[table]), values, strict=True))


def test_a_run_leads_its_rows_with_its_id_device_host_and_group(run_files: Path) -> None:
    path = run_files / "run-2.teijo"
    record = api.open(path).record
    found = rows_of(path, digest_of(path))
    leading = dict(zip((each.name for each in LEADING), found.leading, strict=False))
    assert leading["run_id"] == record.run.id
    assert leading["model"] == "Simulated MLC-A"
    assert leading["serial"] == record.identity.serial != ""
    assert leading["firmware"] == record.identity.firmware != ""
    assert leading["host"] == record.environment["host"]
    assert (leading["group_fleet"], leading["group_drive"]) == ("north", "bay-2")
    assert (leading["group_campaign"], leading["group_host"]) == ("", "")
    assert leading["started_at"] == datetime.fromisoformat(record.run.started_at).replace(
        tzinfo=None
    )
    assert (found.method, found.month) == ("quick", record.run.started_at[:7])


def test_the_row_of_a_run_has_what_its_record_has(run_files: Path) -> None:
    path = run_files / "run-1.teijo"
    record = api.open(path).record
    run = named("runs", rows_of(path, digest_of(path)).run)
    assert run["digest"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (run["file"], run["verdict"], run["steady"]) == ("run-1.teijo", "done", None)
    assert run["capacity_bytes"] == record.geometry.capacity_bytes
    assert run["provenance"] == "simulated"
    assert run["throttled"] is False
    assert run["remarks"] == len(record.remarks) > 0
    assert run["limits"] == ""


def test_limits_are_told_as_they_were_met(tmp_path: Path) -> None:
    path = make_run(tmp_path / "met", 1, limits=["iops[RND 4KiB Q32T1 read] >= 1"])
    assert named("runs", rows_of(path, "d").run)["limits"] == "met"
    path = make_run(tmp_path / "not", 1, limits=["iops[RND 4KiB Q32T1 read] >= 900000"])
    assert named("runs", rows_of(path, "d").run)["limits"] == "not met"


def test_figures_are_those_that_a_limit_can_name_with_their_intervals(run_files: Path) -> None:
    path = run_files / "run-1.teijo"
    known = {(one.place, one.name): one for one in known_in(api.open(path).record)}
    found = [named("figures", each) for each in rows_of(path, "d").figures]
    told = {(each["cell"], each["figure"]): each for each in found}
    assert len(told) == len(found), "each figure once"
    for key, one in known.items():
        assert (told[key]["value"], told[key]["unit"]) == (one.value, one.unit)
        assert (told[key]["low"], told[key]["high"]) == (one.low, one.high)
    rate, latency = (told["RND 4 KiB Q32T1 read", name] for name in ("iops", "mean latency"))
    assert (rate["more_is_faster"], latency["more_is_faster"]) == (True, False)


def test_histograms_hold_every_operation_and_percentiles_are_those_of_the_run_file(
    run_files: Path,
) -> None:
    path = run_files / "run-1.teijo"
    record, found = api.open(path).record, rows_of(path, "d")
    results = columns.results(record)
    for one in found.counted:
        own = (results["cell"] == one.cell) & (results["direction"] == one.operation)
        assert one.latency.count == results["ios"][own].sum()
    # A cell that was measured once has the run file's own percentile.
    once = record_rows(record, digest="d", file="f")
    for one in once.counted:
        own = (results["cell"] == one.cell) & (results["direction"] == one.operation)
        if own.sum() != 1:
            continue
        told = {name: value for _, cell, name, value, *_ in once.figures if cell == one.cell}
        exact = int(results["latency_ns_p99"][own][0])
        found_ns = told[f"{one.operation} latency p99"] * 1e6
        assert abs(found_ns - exact) <= bucket_width_ns(exact)


def test_only_rounds_of_the_window_are_in_the_histograms(tmp_path: Path) -> None:
    path = tmp_path / "iops"
    # A drive that nothing was written to before is not steady in its first rounds.
    small = {
        "minute": "10s", "precondition_times": "0", "mixes": "0/100",
        "block_sizes": "4KiB",
    }  # fmt: skip
    api.run("iops", "sim:sp900", output=path, settings=small, seed=1)
    run = api.open(path)
    found = rows_of(path.with_name("iops.teijo"), "d")
    window = run.findings.window_rounds
    assert window is not None
    assert window[0] > 1, "some rounds lie before the window"
    results = columns.results(run.record)
    for one in found.counted:
        if "/" not in one.cell:
            continue
        inside = (
            (results["cell"] == one.cell)
            & (results["direction"] == one.operation)
            & (results["round"] >= window[0])
            & (results["round"] <= window[1])
        )
        assert one.latency.count == results["ios"][inside].sum() > 0
    assert named("runs", found.run)["steady"] is run.findings.converged


def test_a_file_that_is_not_sealed_or_damaged_or_contradicts_itself_is_refused(
    run_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed = (run_files / "run-1.teijo").read_bytes()
    growing = tmp_path / "run.teijo.open"
    growing.write_bytes(sealed)
    with pytest.raises(RunFileError, match="not sealed"):
        rows_of(growing, "d")
    cut = tmp_path / "cut.teijo"
    cut.write_bytes(sealed[: len(sealed) // 2])
    with pytest.raises(RunFileError):
        rows_of(cut, "d")
    changed = tmp_path / "changed.teijo"
    place = sealed.index(b"Simulated MLC-A")
    changed.write_bytes(sealed[:place] + b"Simulated MLC-B" + sealed[place + 15 :])
    with pytest.raises(RunFileError, match=r"damaged|checksum"):
        rows_of(changed, "d")
    monkeypatch.setattr(rows_module, "TEXT_MOST", 10)
    with pytest.raises(RunFileError, match="letters"):
        rows_of(run_files / "run-1.teijo", "d")


def test_a_record_with_a_flaw_is_refused_with_its_words(
    run_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prove = reader.prove
    flaw = Flaw(check=Check.RESULTS, text="3 I/Os in 2")
    monkeypatch.setattr(reader, "prove", lambda path: replace(prove(path), flaws=(flaw,)))
    with pytest.raises(RunFileError, match="contradicts itself: 3 I/Os in 2"):
        rows_of(run_files / "run-1.teijo", "d")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-29T09:53:01+00:00", datetime(2026, 11, 29, 9, 53, 1)),
        ("2026-01-01T01:00:00+09:00", datetime(2025, 12, 31, 16)),
        ("2026-01-01T00:00:00", datetime(2026, 1, 1)),
        ("9999-12-31T23:59:59-23:00", None),
        ("../../etc", None),
        ("", None),
    ],
)
def test_a_date_is_utc_or_none(text: str, expected: datetime | None) -> None:
    assert moment(text) == expected


def test_merged_histograms_are_what_is_summed(rows: rows_module.RunRows) -> None:
    whole = merged([one.latency for one in rows.counted])
    assert whole.count == sum(one.latency.count for one in rows.counted)
