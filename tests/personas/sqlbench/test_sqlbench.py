"""sql-bench's texts, byte for byte, and its command line."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from teijo.errors import UsageError
from teijo.personas.persona import Call, Order, Said
from teijo.personas.registry import persona_named
from teijo.personas.sqlbench.command import NAMES
from teijo.personas.sqlbench.output import (
    Header,
    Heard,
    Times,
    operation_text,
    total_line,
    totals_text,
)
from teijo.personas.sqlbench.output import (
    test_text as whole_text,
)
from teijo.personas.sqlbench.persona import SqlBenchPersona
from teijo.sql.suite import operations
from teijo.terms.result import StepResult
from teijo.terms.step import Perform
from teijo.terms.work import SqlBench

BEGAN = datetime(2013, 6, 1, 12, 0, 0, tzinfo=UTC)
S = 1_000_000_000


def call(*words: str) -> Call:
    return Call(words=words, like="", folder=Path("/x"), now=BEGAN)


def work(test: str, name: str, place: int, *, small: bool = False) -> SqlBench:
    return SqlBench(test=test, operation=name, place=place, count=1, small=small)


def heard(
    test: str, place: int, *, seconds: float = 12, user: float = 0.13, started: float = 0.0,
    small: bool = False, **detail: str,
) -> Heard:  # fmt: skip
    operation = operations(test, small=small)[place]
    facts = {
        "wall_ns": str(round(seconds * S)),
        "user_ns": str(round(user * S)),
        "system_ns": "0",
        "rows": "0",
        "loops": f"{operation.loops}/{operation.loops}",
        **detail,
    }
    answer = StepResult(started_ns=round(started * S), elapsed_ns=round(seconds * S), detail=facts)
    return Heard(work(test, operation.name, place, small=small), answer, BEGAN)


def test_a_time_is_printed_as_perl_prints_it() -> None:
    assert Times(12, 0.13, 0.0).text == (
        "12 wallclock secs ( 0.13 usr  0.00 sys +  0.00 cusr  0.00 csys =  0.13 CPU)"
    )
    assert Times(0, 12.5, 100.0).text == (
        " 0 wallclock secs (12.50 usr 100.00 sys +  0.00 cusr  0.00 csys = 112.50 CPU)"
    )


def test_the_line_of_create_is_the_originals() -> None:
    told = operation_text(heard("create", 0)).splitlines()
    assert told == [
        "Testing the speed of creating and dropping tables",
        "Testing with 10000 tables and 10000 loop count",
        "",
        "Testing create of tables",
        "Time for create_MANY_tables (10000): 12 wallclock secs ( 0.13 usr  0.00 sys +"
        "  0.00 cusr  0.00 csys =  0.13 CPU)",
        "",
    ]


def test_the_insert_of_alter_table_has_no_colon() -> None:
    line = operation_text(heard("alter-table", 0, seconds=0, small=True)).splitlines()[-2]
    assert line.startswith("Time for insert (100) 0 wallclock secs ( 0.13 usr")


def test_select_in_has_no_colon_and_update_has_two_blanks() -> None:
    names = [each.name for each in operations("insert", small=False)]
    line = operation_text(heard("insert", names.index("select_in"), rows="5000"))
    assert "\nTime for select_in (500:5000) 12 wallclock" in line
    line = operation_text(heard("insert", names.index("update_of_key")))
    assert "\nTime for update_of_key (50000):  12 wallclock" in line
    line = operation_text(heard("insert", names.index("drop table")))
    assert line.startswith("Time for drop table(2): 12 wallclock")


def test_create_key_and_drop_of_a_small_test_says_100_and_does_10() -> None:
    assert "Time for create_key+drop (100): " in operation_text(heard("create", 4, small=True))


def test_wisconsin_counts_its_tables_from_zero() -> None:
    assert "Time for create_table (3): " in operation_text(heard("wisconsin", 0))


def test_whole_seconds_are_those_of_a_clock_that_ticks_once_a_second() -> None:
    assert heard("create", 1, seconds=0.2, started=0.9).times.wall_s == 1
    assert heard("create", 1, seconds=0.9, started=0.05).times.wall_s == 0


def test_a_loop_that_stopped_is_estimated_and_says_from_what() -> None:
    told = operation_text(heard("alter-table", 1, seconds=601, user=1.0, loops="50/100"))
    assert told == (
        "Note: Query took longer then time-limit: 600\n"
        "Estimating end time based on:\n"
        "500 queries in 50 loops of 100 loops took 601 seconds\n"
        "Estimated time for alter_table_add (100): 1202 wallclock secs ( 2.00 usr  0.00 sys +"
        "  0.00 cusr  0.00 csys =  2.00 CPU)\n\n"
    )


def test_a_test_has_a_head_and_its_total_at_the_end() -> None:
    parts = [
        heard("create", place, seconds=2, started=2.0 * place, dialect="mariadb",
              **{"setting version": "5.1.69"})
        for place in range(5)
    ]  # fmt: skip
    lines = whole_text(parts).splitlines()
    assert lines[:2] == ["Testing server 'MySQL 5.1.69' at 2013-06-01 12:00:00", ""]
    assert lines[-1] == (
        "Total time: 10 wallclock secs ( 0.65 usr  0.00 sys +  0.00 cusr  0.00 csys =  0.65 CPU)"
    )
    assert total_line(parts) == lines[-1]


def test_the_header_has_the_suites_trailing_blanks() -> None:
    header = Header(date="2013-06-01 12:00:00", machine="Linux 2.6.32 x86_64",
                    arguments="--small-test", server="MySQL 5.1.69")  # fmt: skip
    assert header.text == (
        "Benchmark DBD suite: 2.15\n"
        "Date of test:        2013-06-01 12:00:00\n"
        "Running tests on:    Linux 2.6.32 x86_64\n"
        "Arguments:           --small-test\n"
        "Comments:            \n"
        "Limits from:         \n"
        "Server version:      MySQL 5.1.69\n"
        "Optimization:        None\n"
        "Hardware:            \n"
        "\n"
    )


def test_the_totals_are_read_from_lines_with_a_colon_and_one_word() -> None:
    cpu = "( 0.50 usr  0.25 sys +  0.00 cusr  0.00 csys =  0.75 CPU)"
    text = (
        f"Time for insert (100) 0 wallclock secs {cpu}\n"
        f"Time for insert (1000):  3 wallclock secs {cpu}\n"
        f"Time to insert (10):  1 wallclock secs {cpu}\n"
        f"Estimated time for alter_table_add (92): 20 wallclock secs {cpu}\n"
        f"Time for select_in (10:100)  7 wallclock secs {cpu}\n"
        f"Time for drop table(2):  7 wallclock secs {cpu}\n"
    )
    assert totals_text([text], tests=9, errors=0) == (
        "\nAll 9 test executed successfully\n"
        "Tests with estimated time have a + at end of line\n"
        "\nTotals per operation:\n"
        "Operation             seconds     usr     sys     cpu   tests\n"
        "alter_table_add                       20.00    0.50    0.25    0.75      92 +\n"
        "insert                                 4.00    1.00    0.50    1.50    1010 \n"
        "TOTALS                                24.00    1.50    0.75    2.25    1102 +\n"
    )
    assert totals_text([], tests=9, errors=9) == "\nOf 9 tests, 9 tests didn't work\n"


def test_every_test_has_its_name_and_runs_by_itself() -> None:
    assert NAMES == ("run-all-tests", "test-alter-table", "test-ATIS", "test-big-tables",
                     "test-connect", "test-create", "test-insert", "test-select",
                     "test-wisconsin")  # fmt: skip
    for name in NAMES:
        assert persona_named(name).names == NAMES


def ordered(name: str, *words: str) -> Order:
    order = SqlBenchPersona().order(name, call(*words))
    assert isinstance(order, Order)
    return order


def test_a_command_line_becomes_settings() -> None:
    words = ("--server=Pg", "--small", "--time-limit", "60", "--create-options=X")
    several = SqlBenchPersona().order("test-create", call(*words))
    assert isinstance(several, Said)  # --small begins three options
    order = ordered("test-create", *(words[0], "--small-test", *words[2:]))
    assert order.settings == {"server": "postgresql", "tests": "create", "small": "on",
                              "time_limit": "60s", "create_options": "X"}  # fmt: skip
    elsewhere = ordered("run-all-tests", "--host=db", "--user=me", "--skip-test=ATIS,wis")
    assert elsewhere.settings["server"] == "mysql://me@db/test"
    assert "wisconsin" not in elsewhere.settings["tests"]


@pytest.mark.parametrize("word", ["--fast", "--loop-count=3", "--socket=/x", "--password=x"])
def test_an_option_of_the_original_that_is_not_here_is_named(word: str) -> None:
    with pytest.raises(UsageError, match=word.partition("=")[0]):
        SqlBenchPersona().order("run-all-tests", call(word))


def test_an_unknown_option_is_told_as_getopt_does() -> None:
    said = SqlBenchPersona().order("run-all-tests", call("--nothing"))
    assert isinstance(said, Said)
    assert said.stderr == "Unknown option: nothing\n"


def test_run_all_tests_says_a_line_a_test_and_leaves_a_file_for_each() -> None:
    order = ordered("run-all-tests", "--small-test", "--machine=box", "--log")
    persona = SqlBenchPersona()
    for test in order.settings["tests"].split(","):
        for place, each in enumerate(operations(test, small=True)):
            answer = heard(test, place, seconds=0.1, small=True).answer
            step = Perform(work=work(test, each.name, place, small=True))
            assert persona.heard(order, step, answer) == Said()
    said = persona.outcome(order, None)  # type: ignore[arg-type]
    names = [name for name, _ in said.files]
    assert names[0] == "output/alter-table-mysql-box"
    assert names[-1] == "output/RUN-mysql-box"
    run = said.files[-1][1].decode()
    assert "Arguments:           --small-test\n" in run
    assert run.index("\nalter-table: Total time: ") < run.index("\nATIS: Total time: ")
    assert "\ntransactions: Test skipped because" in run
    assert "\nAll 9 test executed successfully\n" in run
    assert said.stdout == "Test finished. You can find the result in:\noutput/RUN-mysql-box\n"


def test_each_line_of_run_all_tests_is_said_as_its_test_ends_and_in_the_suites_order() -> None:
    order = ordered("run-all-tests", "--small-test", "--machine=box", "--skip-test=connect")
    persona, told = SqlBenchPersona(), {}
    for test in order.settings["tests"].split(","):
        for place, each in enumerate(operations(test, small=True)):
            answer = heard(test, place, seconds=0.1, small=True).answer
            step = Perform(work=work(test, each.name, place, small=True))
            told[test, place] = persona.heard(order, step, answer).stdout
    assert told["alter-table", 0].startswith("Benchmark DBD suite: 2.15\n")
    assert told["alter-table", 1] == ""
    last = {test: text for (test, _), text in told.items()}
    assert last["ATIS"].startswith("ATIS: Total time: ")
    # One that was skipped, or is not here, is told before the next one that ran.
    lines = [line.partition(":")[0] for line in last["create"].splitlines()]
    assert lines == ["connect", "create"]
    assert last["create"].startswith("connect: Failed (output/connect-mysql-box)\n")
    lines = [line.partition(":")[0] for line in last["wisconsin"].splitlines()]
    assert lines == ["transactions", "wisconsin"]
    assert persona.outcome(order, None).stdout.startswith(  # type: ignore[arg-type]
        "\nOf 9 tests, 1 tests didn't work\n"
    )
