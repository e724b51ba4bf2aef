"""sql-bench as a method: its conversation, and the report of what was found."""

from pathlib import Path

import pytest

from teijo import api
from teijo.document.model import Table
from teijo.errors import PlanError, TargetError
from teijo.methods.classic.sql_bench.found import SqlBenchFound
from teijo.methods.classic.sql_bench.hidden import entries
from teijo.methods.classic.sql_bench.method import SqlBenchMethod, works_of
from teijo.methods.classic.sql_bench.pages import pages
from teijo.methods.classic.sql_bench.settings import SqlBenchSettings
from teijo.methods.databases import SERVER
from teijo.report import text as printed
from teijo.sql.suite import operations
from teijo.terms.geometry import NO_CAPACITY
from teijo.terms.record import StepRecord
from teijo.terms.result import Gap, OperationResult, StepResult
from teijo.terms.step import Perform, step_from_json, step_to_json
from teijo.terms.work import SqlBench
from tests.methods.canned import latencies, record_of

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
                  "What this number hides", "Whole seconds", "prints 100, and 10"):  # fmt: skip
        assert words in text


def test_commits_without_flushes_are_named_where_the_disk_is_seen(run: api.Run) -> None:
    seen = [each.disk for each in run.found.timed if each.disk is not None]
    if not seen or seen[0].flushes is None:
        pytest.skip("nothing below this directory counts flushes")
    assert "no flush" in hides(run.found)


def test_flushes_of_others_do_not_make_commits_durable() -> None:
    busy = hides(canned(CLEAN | {"durable": "off"}, flushes=5))
    assert "5.000 each" in busy["no flush"]


def hides(found: SqlBenchFound) -> dict[str, str]:
    return {each.kind: str(each.size) for each in entries(found) if each.found == "hidden"}


CLEAN = {"small": "on", "tests": "insert"}
SECOND_NS = 1_000_000_000


def canned(
    given: dict[str, str], *, flushes: float = 1, reads: float = 1, null_ns: int = 1000,
    statement_ns: int = SECOND_NS, done: int = 1,
) -> SqlBenchFound:  # fmt: skip
    """Return what is found where a statement has so many flushes and reads, and takes so long."""
    method = SqlBenchMethod()
    settings = method.settings("", given, NO_CAPACITY)
    steps, told = method.steps(settings, NO_CAPACITY), []
    try:
        asked = next(steps)
        while True:
            assert isinstance(asked, Perform)
            assert isinstance(asked.work, SqlBench)
            count = asked.work.count
            results = (
                part("sql", asked.work.operation, count, statement_ns),
                part("disk", "disk-read", round(count * reads), 1),
                part("disk", "disk-write", count, 1),
                part("disk", "disk-flush", round(count * flushes), 1),
            )
            answer = StepResult(
                started_ns=0, elapsed_ns=count * statement_ns, results=results,
                detail={"null_query_ns": str(null_ns), "loops": f"{done}/{count}"}
                if done > 1 else {"null_query_ns": str(null_ns)},
            )  # fmt: skip
            told.append(StepRecord(seq=len(told) + 1, step=asked, seed=1, answer=answer))
            asked = steps.send(answer)
    except StopIteration:
        pass
    record = record_of(method, settings, tuple(told), geometry=NO_CAPACITY)
    return method.find(settings, record)


def part(stream: str, operation: str, count: int, each_ns: int) -> OperationResult:
    moved = None if stream == "sql" or operation == "disk-flush" else count * 4096
    return OperationResult(
        stream=stream, operation=operation, count=count, bytes=moved,
        latency=latencies(count, each_ns),
    )  # fmt: skip


def test_a_clean_run_hides_nothing_and_each_planted_difference_is_named_with_its_size() -> None:
    assert hides(canned(CLEAN)) == {}
    flushless = hides(canned(CLEAN, flushes=0.01))
    assert set(flushless) == {"no flush"}
    assert "0.010 each" in flushless["no flush"]
    memory = hides(canned(CLEAN, reads=0.001))
    assert set(memory) == {"memory"}
    assert "statements read, the disk read" in memory["memory"]
    client = hides(canned(CLEAN, null_ns=SECOND_NS * 3 // 4))
    assert client == {
        "client": "A statement that asks for nothing takes 750,000 µs: 75 % of the time."
    }
    short = hides(canned(CLEAN, statement_ns=1000, null_ns=0))
    assert set(short) == {"whole seconds"}
    cut = hides(canned(CLEAN, done=5))
    assert set(cut) == {"extrapolated"}
    assert "stopped after" in cut["extrapolated"]
    assert set(hides(canned({"small": "on", "tests": "create"}))) == {"printed count"}


def test_a_strict_run_hides_nothing_but_commits_that_nobody_flushes() -> None:
    strict = {"small": "on", "tests": "create,insert", "strict": "on"}
    planted = {"reads": 0.0, "null_ns": 900, "statement_ns": 1000}
    assert hides(canned(strict, **planted)) == {}
    assert set(hides(canned(strict, **planted, flushes=0))) == {"no flush"}
    document = printed.render(SqlBenchMethod().document(canned(strict, **planted)))
    told = document if isinstance(document, str) else document.decode()
    for words in ("Without the client", "say nothing of the storage", "that was looked for"):
        assert words in told


def test_the_time_of_a_test_has_the_interval_of_its_passes_beside_it() -> None:
    def table_of(passes: str) -> Table:
        document = SqlBenchMethod().document(canned(CLEAN | {"passes": passes}))
        (table,) = [
            block for section in document.sections for block in section.blocks
            if isinstance(block, Table) and block.caption == "Time of each test"
        ]  # fmt: skip
        return table

    one, two = table_of("1"), table_of("2")
    assert [each.name for each in one.columns][1:3] == ["Time", "±"]
    assert one.rows[0][2] is None
    assert two.rows[0][2] == 0.0, "canned passes are all alike"


def test_several_clients_wait_for_nothing_at_the_same_time() -> None:
    one, four = canned(CLEAN, null_ns=1000), canned(CLEAN | {"clients": "4"}, null_ns=1000)
    assert one.client_s(one.timed[0]) == pytest.approx(4 * four.client_s(four.timed[0]))


def test_a_strict_run_that_flushes_nothing_is_refused() -> None:
    with pytest.raises(PlanError, match="strict=on flushes"):
        SqlBenchMethod().settings("", {"strict": "on", "durable": "off"}, NO_CAPACITY)


def test_what_is_left_is_told_by_the_pace_so_far_and_as_in_the_pass_before() -> None:
    settings = SqlBenchSettings(tests=("create",), small="on", passes=2)
    assert watched(settings, 0).remaining_ns == 2 * 220 * 10**5  # 10,000 statements a second
    assert watched(settings, 1).remaining_ns == (210 + 210) * 10**8 + 10**9
    assert watched(settings, 5).remaining_ns == 5 * 10**9
    assert watched(settings, 10).remaining_ns == 0


def test_a_loop_that_may_be_cut_is_not_expected_to_take_longer_than_its_limit() -> None:
    settings = SqlBenchSettings(tests=("alter-table",), small="on", time_limit_ns=10**9)
    first, *rest = works_of(settings, "alter-table")
    limited = operations("alter-table", small=True)
    left = watched(settings, 1, count=first.count, elapsed_ns=100 * 10**9).remaining_ns
    pace_ns = 100 * 10**9 / first.count
    assert left == round(
        sum(10**9 if limited[each.place].limited else each.count * pace_ns for each in rest)
    )
    assert left < sum(each.count for each in rest) * pace_ns


def watched(
    settings: SqlBenchSettings,
    done: int,
    *,
    count: int = 10,
    elapsed_ns: int = 10**9,
    loops: str = "1/1",
) -> SqlBenchFound:
    """Return what a run has found that has done so many operations."""
    steps, played = SqlBenchMethod().steps(settings, NO_CAPACITY), []
    asked = next(steps)
    for number in range(1, done + 1):
        answer = StepResult(
            started_ns=number * elapsed_ns, elapsed_ns=elapsed_ns,
            results=(part("sql", "x", count, 1),), detail={"loops": loops},
        )  # fmt: skip
        played.append(StepRecord(seq=number, step=asked, seed=1, answer=answer))
        try:
            asked = steps.send(answer)
        except StopIteration:
            break
    return SqlBenchFound(
        settings=settings, record=record_of(SqlBenchMethod(), settings, tuple(played))
    )


def test_a_rate_is_of_what_was_carried_out_and_an_extrapolated_time_is_marked() -> None:
    settings = SqlBenchSettings(tests=("create",), small="on")
    whole = watched(settings, 1, count=10)
    cut = watched(settings, 1, count=10, loops="1/4")
    assert [found.cells[0].iops for found in (whole, cut)] == [10.0, 10.0]
    assert [found.timed[0].seconds for found in (whole, cut)] == [1.0, 4.0]
    assert [dict(found.cells[0].labels).get("estimated") for found in (whole, cut)] == [None, "+"]
    assert "extrapolated (+)" in str(pages(cut).sections[0].blocks[0])
    assert "extrapolated" not in str(pages(whole).sections[0].blocks[0])
