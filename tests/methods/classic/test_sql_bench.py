"""sql-bench as a method: its conversation, and the report of what was found."""

from pathlib import Path

import pytest

from teijo import api
from teijo.errors import PlanError, TargetError
from teijo.methods.classic.databases import SERVER
from teijo.methods.classic.sql_bench.method import SqlBenchMethod, works_of
from teijo.methods.classic.sql_bench.settings import SqlBenchSettings
from teijo.report import text as printed
from teijo.terms.geometry import NO_CAPACITY
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Perform, step_from_json, step_to_json

QUICK = {"small": "on", "tests": "create,alter-table", "durable": "off"}


def test_the_steps_are_the_operations_of_the_tests_in_the_suites_order() -> None:
    settings = SqlBenchSettings(tests=("ATIS", "create"), passes=1)
    steps = SqlBenchMethod().steps(settings, NO_CAPACITY)
    asked, names = next(steps), []
    for _ in range(13):
        assert isinstance(asked, Perform)
        assert step_from_json(step_to_json(asked)) == asked
        names.append((asked.work.test, asked.work.operation))
        if len(names) < 13:
            asked = steps.send(StepResult(started_ns=0, elapsed_ns=1))
    with pytest.raises(StopIteration):
        steps.send(StepResult(started_ns=0, elapsed_ns=1))
    assert [test for test, _ in names] == ["ATIS"] * 8 + ["create"] * 5
    assert names[-1] == ("create", "create_key+drop")


def test_a_test_that_was_interrupted_begins_anew() -> None:
    settings = SqlBenchSettings(tests=("create",))
    steps = SqlBenchMethod().steps(settings, NO_CAPACITY)
    first = next(steps)
    steps.send(StepResult(started_ns=0, elapsed_ns=1))
    assert steps.send(Gap()) == first


def test_strict_has_a_fresh_database_for_each_test_and_another_order_in_each_pass() -> None:
    settings = SqlBenchSettings(tests=("create", "select"), strict="on", passes=2)
    assert [settings.order(number) for number in (1, 2)] == [
        ("create", "select"),
        ("select", "create"),
    ]
    databases = {works_of(settings, test, 1)[0].database for test in settings.tests}
    assert len(databases) == 2


def test_a_servers_password_is_not_in_the_settings() -> None:
    settings = SqlBenchMethod().settings("", {"server": "mysql://me:secret@h/db"}, NO_CAPACITY)
    assert settings.server == "mysql://me@h/db"
    assert "secret" not in settings.model_dump_json()
    with pytest.raises(PlanError) as caught:
        SERVER.parse("ftp://me:secret@h/db")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [("tests", "nothing"), ("create_options", "; drop table x"), ("server", "oracle")],
)
def test_a_setting_that_cannot_be_is_refused(key: str, value: str) -> None:
    with pytest.raises(PlanError):
        SqlBenchMethod().settings("", {key: value}, NO_CAPACITY)


def test_a_server_of_somebody_else_is_not_asked_to_flush_nothing() -> None:
    asked = {"server": "mysql://me@h/db", "durable": "off"}
    with pytest.raises(PlanError, match="somebody else"):
        SqlBenchMethod().settings("", asked, NO_CAPACITY)


def test_a_file_is_no_place_for_a_database_server(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="has a database in one"):
        api.run("classic.sql-bench", f"sqlite:{tmp_path / 'x.db'}", output=tmp_path / "run")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> api.Run:
    folder = tmp_path_factory.mktemp("bench")
    home = folder / "home"
    home.mkdir()
    done = api.run("classic.sql-bench", f"dir:{home}", output=folder / "run", settings=QUICK)
    assert not list(home.iterdir())
    return done


def test_a_run_is_whole_and_its_record_says_so(run: api.Run) -> None:
    assert run.record.run.ending == "done"
    assert not [each for each in run.record.remarks if "inconsistent" in each.kind.value]
    names = [each.name for each in run.found.timed]
    assert names[0] == "alter-table 1: insert"
    assert len(names) == 10
    assert all(quantity.value > 0 for quantity in run.found.quantities)


def test_the_report_has_the_totals_and_what_they_hide(run: api.Run) -> None:
    told = printed.render(run.document())
    text = told if isinstance(told, str) else told.decode()
    for words in ("Totals per operation", "create_key+drop", "TOTALS", "synchronous",
                  "What this number hides", "whole seconds", "prints 100, and 10"):  # fmt: skip
        assert words in text


def test_commits_without_flushes_are_named_where_the_disk_is_seen(run: api.Run) -> None:
    seen = [each.disk for each in run.found.timed if each.disk is not None]
    if not seen or seen[0].flushes is None:
        pytest.skip("nothing below this directory counts flushes")
    text = str(run.document())
    flushes = sum(each.flushes or 0 for each in seen)
    commits = sum(each.times.count for each in run.found.timed if each.writes)
    assert ("commits that no flush follows" in text) == (flushes < commits / 2)
