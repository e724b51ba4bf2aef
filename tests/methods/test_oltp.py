"""Transactions as a method: its conversation, and the report of what was found."""

from dataclasses import replace
from pathlib import Path

import pytest

from teijo import api
from teijo.document.model import Table
from teijo.errors import PlanError
from teijo.methods.databases import DiskCounts
from teijo.methods.oltp.found import OltpFound
from teijo.methods.oltp.method import Oltp
from teijo.methods.oltp.pages import disk_sentence, pages
from teijo.methods.oltp.settings import OltpSettings
from teijo.terms.geometry import NO_CAPACITY
from teijo.terms.record import StepRecord
from teijo.terms.result import Gap, OperationResult, StepResult
from teijo.terms.step import Perform, step_from_json, step_to_json
from tests.methods.canned import record_of

DONE = StepResult(started_ns=0, elapsed_ns=1)


def test_after_an_interruption_the_tables_are_made_anew() -> None:
    steps = Oltp().steps(OltpSettings(passes=2), NO_CAPACITY)
    asked = [next(steps)]
    for answer in (Gap(), DONE, DONE, Gap(), DONE):
        asked.append(steps.send(answer))
    assert [step.phase for step in asked] == ["fill", "fill", "round", "round", "fill", "round"]
    assert all(step_from_json(step_to_json(step)) == step for step in asked)
    assert isinstance(asked[-1], Perform)
    assert asked[-1].round_number == 2
    with pytest.raises(StopIteration):
        steps.send(DONE)


def test_a_server_of_somebody_else_is_not_asked_to_flush_nothing() -> None:
    with pytest.raises(PlanError, match="somebody else"):
        Oltp().settings("", {"server": "postgres://h/db", "durable": "off"}, NO_CAPACITY)


@pytest.mark.parametrize("load", ["tpcb", "key-value"])
def test_service_and_response_times_are_told_apart(tmp_path: Path, load: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    asked = {"load": load, "durable": "off", "rows": "1000", "passes": "2", "seconds": "100ms",
             "clients": "2", "rate": "200"}  # fmt: skip
    run = api.run("oltp", f"dir:{home}", output=tmp_path / "run", settings=asked, seed=1)
    assert run.record.run.ending == "done"
    assert not [each for each in run.record.remarks if "inconsistent" in each.kind.value]
    service, response = run.found.service(), run.found.response()
    assert response is not None
    assert service.count == response.count
    assert response.sum_ns >= service.sum_ns
    assert [each.figure.name for each in run.found.quantities] == [
        "Transactions", "Mean service time", "Mean response time",
    ]  # fmt: skip
    text = str(run.document())
    for words in ("service time", "response time", "transactions a second", "synchronous"):
        assert words in text
    assert not list(home.iterdir())


def test_no_percentile_and_no_interval_is_told_beyond_what_was_seen(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    asked = {"durable": "off", "rows": "200", "passes": "1", "seconds": "20ms", "clients": "1"}
    run = api.run("oltp", f"dir:{home}", output=tmp_path / "run", settings=asked, seed=1)
    means, times = [
        block for block in run.document().sections[0].blocks if isinstance(block, Table)
    ]
    assert {row[3] for row in means.rows} == {None}
    names = [each.name for each in times.columns]
    for row in times.rows:
        told = dict(zip(names, row, strict=True))
        assert told["Count"] < 100, "no more than 2 arrive on average"
        assert (told["p99"], told["p99.9"]) == (None, None)
        assert told["Max"] is not None


def test_flushes_that_nobody_counts_are_not_told_as_none() -> None:
    disk = DiskCounts(reads=1, read_bytes=1, writes=2, written_bytes=2, flushes=None)
    assert "does not count its flushes" in disk_sentence(disk, 5)
    assert "4 flushes; 0.800" in disk_sentence(replace(disk, flushes=4), 5)


def test_a_rate_that_was_not_kept_is_said() -> None:
    found = found_with_late("41")
    assert (found.late, found.due) == (41, 200)
    verdict, *more = map(str, pages(found).sections[0].blocks)
    assert "the 200 asked for were not kept: 41 of 200 that were due were not begun" in verdict
    assert any("are in no row" in text for text in more)
    assert "are in no row" not in str(pages(found_with_late("0")))
    assert found_with_late("0").late == found_with_late("9" * 30).late == 0


def test_the_clients_own_delay_is_told_and_of_none_nothing() -> None:
    found = found_with_late("0", woken="4", woken_ns="2000000")
    assert found.woken_late_ms == 0.5
    assert "woke 0.500 ms late on average" in str(pages(found))
    assert found_with_late("0").woken_late_ms is None


def test_the_passes_that_are_left_are_the_time_that_is_left() -> None:
    found = found_with_late("0")
    assert found.watch_running.remaining_ns_most == 0
    more = OltpFound(settings=OltpSettings(passes=3, duration_ns=10**9), record=found.record)
    assert more.watch_running.remaining_ns_most == 2 * 10**9


def found_with_late(late: str, results: tuple[OperationResult, ...] = (), **more: str) -> OltpFound:
    settings = OltpSettings(passes=1, rate_per_second=200)
    steps = Oltp().steps(settings, NO_CAPACITY)
    fill, asked = next(steps), steps.send(DONE)
    while isinstance(asked, Perform) and asked.phase != "round":
        asked = steps.send(DONE)
    answer = StepResult(
        started_ns=0, elapsed_ns=10**9, results=results, detail={"late": late, "due": "200", **more}
    )
    played = ((fill, DONE), (asked, answer))
    record = record_of(
        Oltp(), settings,
        tuple(StepRecord(seq=n, step=s, seed=n, answer=a) for n, (s, a) in enumerate(played, 1)),
    )  # fmt: skip
    return OltpFound(settings=settings, record=record)
