"""What /metrics tells of runs that go on is what their files hold, in both of its formats."""

import http.client
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from teijo import api
from teijo.api import Watched
from teijo.outside.text import visible
from teijo.runfile import reader
from teijo.runfile.recorder import Recorder
from teijo.terms.histogram import merged
from teijo.terms.reading import Reading
from teijo.terms.record import Record, StepRecord
from teijo.terms.result import OperationResult, StepResult
from teijo.web.programs import metrics, openmetrics
from teijo.web.programs.family import Family, Sample
from tests.runfile.samples import histogram, open_run
from tests.web.expositions import (
    Told,
    families_in,
    histogram_in,
    messages_in,
    native_counts,
)
from tests.web.serving import Answer, Served, served

SETTINGS = {
    "minute": "1s", "mixes": "65/35,0/100", "block_sizes": "4KiB,8KiB", "precondition_times": "1",
}  # fmt: skip
PROTOBUF = "application/vnd.google.protobuf"
DELIMITED = f"{PROTOBUF};proto=io.prometheus.client.MetricFamily;encoding=delimited"
TEXT = "application/openmetrics-text"
TRIES = 600
TOKEN = "a-token-of-24-characters"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Return a run as if a drive had been measured, in which I/Os failed and commands were sent."""
    path = tmp_path_factory.mktemp("runs") / "run.teijo"
    api.run("pts.iops", "sim:slc-a?capacity=256MiB", output=path, settings=SETTINGS, seed=1)
    record = reader.read(path)
    return replace(
        record,
        identity=replace(record.identity, kind="block"),
        run=replace(record.run, ending="running", ended_at="", provenance="measured"),
        steps=tuple(failing(each) for each in record.steps),
    )


def failing(step: StepRecord) -> StepRecord:
    if not isinstance(step.answer, StepResult) or not step.answer.results:
        return step
    first, *rest = step.answer.results
    flush = OperationResult(
        stream=first.stream, operation="flush", count=2, errors={5: 1}, latency=histogram(7, 9)
    )
    results = (replace(first, errors={5: 2, 110: 1}), *rest)
    return replace(step, answer=replace(step.answer, results=results, commands=(flush,)))


def told(site: Served, until: Callable[[dict[str, Told]], object]) -> dict[str, Told]:
    """Return what is told once that is so: a file is looked at again some seconds later."""
    for _ in range(TRIES):
        answer = site.ask("/metrics")
        assert answer.status == 200
        if until(found := families_in(answer.text)):
            return found
        threading.Event().wait(0.1)
    pytest.fail(f"not told: {answer.text}")


def in_file(path: Path) -> tuple[dict[str, tuple[int, int]], int]:
    """Return I/Os and ns of latency by operation, and errors of all, by SQL."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        rows = db.execute(
            "SELECT operation, SUM(count), SUM(latency_ns_sum) FROM result"
            " WHERE operation NOT IN ('flush', 'discard') GROUP BY operation"
        )
        sums = {operation: (count, total) for operation, count, total in rows}
        errors = "SELECT SUM(each.value) FROM result, json_each(result.errors) AS each"
        return sums, db.execute(errors).fetchone()[0]


def begun(path: Path, record: Record, steps: int) -> Recorder:
    return open_run(path, replace(record, steps=record.steps[:steps]))


def test_the_numbers_are_those_of_the_file_and_grow_with_it(
    measured: Record, tmp_path: Path
) -> None:
    recorder = begun(tmp_path / "one.teijo", measured, 8)
    path = tmp_path / "one.teijo.open"
    with served(tmp_path) as site, closing(recorder):
        key = site.runs()["one.teijo.open"]["id"]
        before = -1
        for part in ((), measured.steps[8:9], measured.steps[9:12]):
            for each in part:
                recorder.begin(each.seq, each.step, each.seed, interval_ns=1_000_000_000)
                recorder.record(each.seq, each.answer)
            sums, errors = in_file(path)
            assert errors > before
            before = errors
            found = told(site, lambda now, so=errors: now["teijo_run_errors"].of(run=key) == so)
            operations = {
                dict(labels)["operation"] for _, labels in found["teijo_latency_seconds"].values
            }
            assert operations == sums.keys() == {"read", "write"}
            for operation, (count, total_ns) in sums.items():
                _, ios, seconds = histogram_in(
                    found["teijo_latency_seconds"], run=key, operation=operation
                )
                assert ios == count
                assert seconds == pytest.approx(total_ns / 1e9, rel=1e-15)
        state = site.ask(f"/api/v1/runs/{key}").json["state"]
    assert {name: told.of(run=key) for name, told in found.items() if "teijo_run_" in name} == {
        "teijo_run_progress_ratio": pytest.approx(state["share"], abs=1e-4),
        "teijo_run_round": state["round"],
        "teijo_run_iops": state["iops"],
        "teijo_run_bytes_per_second": pytest.approx(state["mb_s"] * 1e6),
        "teijo_run_time_left_seconds": state["left_s"][1],
        "teijo_run_steady": 0,
        "teijo_run_written_timestamp_seconds": pytest.approx(written_s(path)),
        "teijo_run_errors": errors,
    }


def written_s(path: Path) -> float:
    log = path.with_name(f"{path.name}-wal")
    return max(each.stat().st_mtime for each in (path, log) if each.exists())


def test_a_number_that_is_in_the_file_is_in_each_bucket_above_it(
    measured: Record, tmp_path: Path
) -> None:
    with served(tmp_path) as site, closing(begun(tmp_path / "one.teijo", measured, 9)):
        key = site.runs()["one.teijo.open"]["id"]
        found = told(site, lambda now: "teijo_latency_seconds" in now)
        buckets, _, _ = histogram_in(found["teijo_latency_seconds"], run=key, operation="write")
    answers = [each.answer for each in measured.steps[:9] if isinstance(each.answer, StepResult)]
    whole = merged(one.timed for answer in answers for one in answer.of("write"))
    edges = whole.upper_edges_ns().tolist()
    for le, count in buckets.items():
        inside = zip(edges, whole.counts.tolist(), strict=True)
        assert count == sum(ios for edge, ios in inside if (edge - 1) / 1e9 <= le)
    assert 0 < buckets[2.0**-10] < buckets[1.0]


def test_a_temperature_is_that_of_the_last_reading(measured: Record, tmp_path: Path) -> None:
    readings = (
        Reading(step=1, at_ns=0, cost_ns=1, counters={"temperature_kelvin": 290}),
        Reading(step=2, at_ns=9, cost_ns=1, counters={"temperature_kelvin": 310}),
    )
    record = replace(measured, readings=readings)
    with served(tmp_path) as site, closing(begun(tmp_path / "one.teijo", record, 3)):
        key = site.runs()["one.teijo.open"]["id"]
        found = told(site, lambda now: "teijo_run" in now)
        assert found["teijo_run_temperature_celsius"].of(run=key) == 37


def test_steady_state_is_told_when_it_is_reached(measured: Record, tmp_path: Path) -> None:
    steps = len(measured.steps)
    with served(tmp_path) as site, closing(begun(tmp_path / "one.teijo", measured, steps)):
        key = site.runs()["one.teijo.open"]["id"]
        found = told(site, lambda now: "teijo_run" in now)
        assert found["teijo_run_steady"].of(run=key) == 1


def test_both_formats_say_the_same(measured: Record, tmp_path: Path) -> None:
    with served(tmp_path) as site, closing(begun(tmp_path / "one.teijo", measured, 9)):
        site.runs()
        texts = told(site, lambda now: "teijo_latency_seconds" in now)
        answer, data = asked_for_bytes(site)
    assert answer["content-type"].replace(" ", "") == DELIMITED
    kinds = {"gauge": (1, ""), "info": (1, "_info"), "counter": (0, "_total"), "histogram": (4, "")}
    found = {each["name"]: each for each in messages_in(data)}
    assert len(found) == len(texts)
    for name, family in texts.items():
        kind, suffix = kinds[family.said["TYPE"]]
        other = found[name + suffix]
        assert (other["type"], other["help"]) == (kind, family.said["HELP"])
        assert other.get("unit", "") == family.said.get("UNIT", "")
        for metric in other["metric"]:
            labels = {pair["name"]: pair["value"] for pair in metric["label"]}
            if "histogram" in metric:
                assert_same(metric["histogram"], histogram_in(family, **labels))
            else:
                (value,) = (each for key, each in metric.items() if key in ("gauge", "counter"))
                assert value["value"] == family.of(**labels)


def assert_same(native: dict[str, Any], text: tuple[dict[float, int], int, float]) -> None:
    buckets, count, seconds = text
    assert (native["sample_count"], native["sample_sum"]) == (count, seconds)
    assert native["zero_threshold"] > 0
    counts = native_counts(native)
    assert len(counts) > 20
    assert native["zero_count"] + sum(counts.values()) == count
    assert min(counts.values()) > 0
    classic = {each["upper_bound"]: each["cumulative_count"] for each in native["bucket"]}
    assert classic | {float("inf"): count} == buckets
    for le, up_to in classic.items():
        below = [ios for i, ios in counts.items() if 2 ** (i / 2 ** native["schema"]) <= le]
        assert native["zero_count"] + sum(below) == up_to


def asked_for_bytes(site: Served) -> tuple[dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    connection.request("GET", "/metrics", headers={"Host": site.host, "Accept": DELIMITED})
    answer = connection.getresponse()
    headers = {name.lower(): value for name, value in answer.getheaders()}
    with closing(connection):
        return headers, answer.read()


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", False),
        ("*/*", False),
        (f"{TEXT};version=1.0.0;q=0.5,{DELIMITED};q=0.6", True),
        (f"{DELIMITED};q=0.5,{TEXT};version=1.0.0;q=0.6,*/*;q=0.1", False),
        (f"{DELIMITED};q=0.6,*/*;q=0.7", False),
        (f"{DELIMITED}, */*;q=0.1", True),
        (DELIMITED.upper(), True),
        (f"{DELIMITED};q=0", False),
        (f"{DELIMITED};q=much", False),
        (f"{DELIMITED.replace('delimited', 'text')};q=1", False),
        (PROTOBUF, False),
        (";;,;=,q=", False),
    ],
)
def test_what_is_asked_for_more_is_answered(accept: str, expected: bool) -> None:
    assert metrics.prefers_protobuf(accept) is expected


def test_text_from_outside_stays_within_its_label(measured: Record, tmp_path: Path) -> None:
    model = 'A"} 1\n# EOF\n\\" \x1b[31m 雪 \u202e,serial="'
    record = replace(measured, identity=replace(measured.identity, model=model, serial="\\"))
    name = 'x"\\n{}\n.teijo'
    with served(tmp_path) as site, closing(begun(tmp_path / name, record, 3)):
        key = site.runs()[f"{name}.open"]["id"]
        found = told(site, lambda now: "teijo_run" in now)
        ((_, labels),) = found["teijo_run"].values
        _, data = asked_for_bytes(site)
    expected = {
        "run": key,
        "file": visible(f"{name}.open"),
        "method": "pts.iops",
        "device": visible(model),
        "serial": "\\",
    }
    assert dict(labels) == expected
    (info,) = (each for each in messages_in(data) if each["name"] == "teijo_run_info")
    pairs = {pair["name"]: pair["value"] for pair in info["metric"][0]["label"]}
    assert pairs == expected


def test_whatever_a_label_holds_is_read_back() -> None:
    value = 'a"b\\c\nd\\n{}=",'
    family = Family(
        name="x", kind="gauge", meaning=value, samples=(Sample({"a": value, "b": ""}, 1),)
    )
    found = families_in(openmetrics.text([family]))["x"]
    assert found.said["HELP"] == value
    assert found.of(a=value, b="") == 1


def test_without_a_run_it_is_valid(tmp_path: Path) -> None:
    with served(tmp_path) as site:
        found = families_in(site.ask("/metrics").text)
        _, data = asked_for_bytes(site)
    assert found.keys() == {"teijo_unreadable_runs"}
    assert found["teijo_unreadable_runs"].of() == 0
    assert [each["name"] for each in messages_in(data)] == ["teijo_unreadable_runs"]


def test_runs_are_counted_by_ending_and_none_that_ended_is_told(
    measured: Record, simulated: Path, tmp_path: Path
) -> None:
    for name in ("one.teijo", "two.teijo"):
        shutil.copy(simulated, tmp_path / name)
    (tmp_path / "bad.teijo").write_bytes(b"nothing")
    with served(tmp_path) as site, closing(begun(tmp_path / "live.teijo", measured, 3)):
        rows = site.runs()
        found = told(site, lambda now: "teijo_run" in now)
    assert found["teijo_runs"].of(ending="done") == 2
    assert found["teijo_runs"].of(ending="running") == 1
    assert found["teijo_unreadable_runs"].of() == 1
    assert len(found["teijo_run"].values) == 1
    assert found["teijo_run"].of(run=rows["live.teijo.open"]["id"]) == 1


def test_a_run_that_cannot_be_read_or_not_soon_is_left_out_and_counted(
    measured: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, go_on = Watched.look, threading.Event()

    def slow(run: Watched) -> object:
        go_on.wait()
        return look(run)

    def fails(_: Watched) -> object:
        raise ZeroDivisionError

    with served(tmp_path) as site, closing(begun(tmp_path / "one.teijo", measured, 3)):
        site.runs()
        monkeypatch.setattr(metrics, "PATIENCE_S", 0.05)
        for way in (slow, fails):
            with monkeypatch.context() as broken:
                broken.setattr(Watched, "look", way)
                found = told(site, lambda now: now["teijo_unreadable_runs"].of() == 1)
                assert "teijo_run" not in found
                go_on.set()
            told(site, lambda now: "teijo_run" in now)


def test_a_scrape_has_a_bound(
    measured: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "RUNS_MOST", 2)
    dates = [f"2026-01-0{day}T00:00:00+00:00" for day in (1, 3, 2)]
    recorders = [
        begun(
            tmp_path / f"{date[:10]}.teijo",
            replace(measured, run=replace(measured.run, started_at=date)),
            2,
        )
        for date in dates
    ]
    with served(tmp_path) as site:
        rows = site.runs()
        found = told(site, lambda now: len(now["teijo_run"].values) == 2)
        assert found["teijo_runs"].of(ending="running") == 3
        for date in dates[1:]:
            assert found["teijo_run"].of(run=rows[f"{date[:10]}.teijo.open"]["id"]) == 1
    for each in recorders:
        each.close()


@pytest.fixture
def locked(simulated: Path, tmp_path: Path) -> Iterator[Served]:
    shutil.copy(simulated, tmp_path / "one.teijo")
    with served(tmp_path, token=TOKEN) as found:
        yield found


def test_a_token_is_asked_for_as_everywhere(locked: Served) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert locked.ask("/metrics").status == 401
    assert locked.ask("/metrics", headers={"Authorization": "Bearer wrong"}).status == 401
    assert locked.ask("/metrics", headers=bearer).status == 200
    assert locked.ask("/metrics", method="POST", headers=bearer).status == 405


def test_head_says_what_get_would(locked: Served) -> None:
    def asked(method: str) -> Answer:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return locked.ask("/metrics", method=method, headers=headers)

    assert asked("HEAD").text == ""
    assert asked("HEAD").status == 200
    kind = asked("HEAD").headers["content-type"]
    assert kind == asked("GET").headers["content-type"]
    assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
