"""sql-bench: each operation of each test is a step, so that it has its own time and disk."""

from collections.abc import Generator

from teijo.errors import PlanError
from teijo.methods.classic.sql_bench.found import SqlBenchFound
from teijo.methods.classic.sql_bench.settings import NO_LIMIT_NS, SqlBenchSettings
from teijo.methods.databases import database_of
from teijo.methods.method import Method, Steps
from teijo.sql.suite import operations
from teijo.terms.geometry import Geometry
from teijo.terms.result import Answer, StepResult
from teijo.terms.step import Perform, Step
from teijo.terms.work import SqlBench


class SqlBenchMethod(Method[SqlBenchSettings, SqlBenchFound]):
    """The eight tests, in the suite's order."""

    id = "classic.sql-bench"
    work = "databases"
    settings_type, found_type = SqlBenchSettings, SqlBenchFound

    def check(self, settings: SqlBenchSettings, geometry: Geometry) -> None:
        """Make sure that the settings go together.

        Raises:
            PlanError: a server of somebody else's, or a strict run, is to flush nothing.
        """
        del geometry
        if settings.durable == "off" and settings.strict == "on":
            raise PlanError(
                "strict=on flushes what is committed, and durable=off does not",
                remedy="Leave one of them out.",
            )
        if settings.durable == "off" and "://" in settings.server:
            raise PlanError(
                "durable=off changes a private server, and a URL names one of somebody else's",
                remedy="Leave durable out, or name sqlite, mariadb or postgresql.",
            )

    def steps(self, settings: SqlBenchSettings, geometry: Geometry) -> Steps:
        """Return the passes; a test that was interrupted begins anew, for its tables are gone."""
        del geometry
        for number in range(1, settings.passes + 1):
            for test in settings.order(number):
                while not (yield from _one_test(settings, test, number)):
                    pass
        return "done"


def _one_test(settings: SqlBenchSettings, test: str, number: int) -> Generator[Step, Answer, bool]:
    for work in works_of(settings, test, number):
        step = Perform(
            work=work,
            round_number=number,
            cell=f"{test} {work.place + 1}: {work.operation}",
        )
        if not isinstance((yield step), StepResult):
            return False
    return True


def works_of(settings: SqlBenchSettings, test: str, number: int = 1) -> list[SqlBench]:
    """Return the operations of a test in a pass."""
    strict, small = settings.strict == "on", settings.small == "on"
    database = database_of(settings.server, settings.durable, settings.create_options)
    if strict:
        database = database.fresh(f"{test} {number}")
    return [
        SqlBench(
            test=test,
            operation=each.name,
            place=place,
            count=each.count,
            small=small,
            clients=settings.clients,
            time_limit_ns=NO_LIMIT_NS if strict else settings.time_limit_ns,
            database=database,
        )
        for place, each in enumerate(operations(test, small=small))
    ]
