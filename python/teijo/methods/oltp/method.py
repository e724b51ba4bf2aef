"""OLTP: the tables are made, then passes of transactions for a time."""

from teijo.errors import PlanError
from teijo.methods.databases import database_of
from teijo.methods.method import Method, Steps
from teijo.methods.oltp.found import FILL, OltpFound
from teijo.methods.oltp.settings import OltpSettings
from teijo.terms.geometry import Geometry
from teijo.terms.result import StepResult
from teijo.terms.step import ROUND, Perform
from teijo.terms.work import Transactions


class Oltp(Method[OltpSettings, OltpFound]):
    """Transactions at a fixed rate of arrival, their service and response times apart."""

    id = "oltp"
    work = "databases"
    settings_type, found_type = OltpSettings, OltpFound

    def check(self, settings: OltpSettings, geometry: Geometry) -> None:
        """Make sure that the settings go together.

        Raises:
            PlanError: a server of somebody else's is asked to flush nothing.
        """
        del geometry
        if settings.durable == "off" and "://" in settings.server:
            raise PlanError(
                "durable=off changes a private server, and a URL names one of somebody else's",
                remedy="Leave durable out, or name sqlite, mariadb or postgresql.",
            )

    def steps(self, settings: OltpSettings, geometry: Geometry) -> Steps:
        """Return the passes; after an interruption the tables are gone, and are made anew."""
        del geometry
        number, filled = 1, False
        while number <= settings.passes:
            if not filled:
                answer = yield Perform(work=work_of(settings, fills=True), phase=FILL)
                filled = isinstance(answer, StepResult)
                continue
            answer = yield Perform(
                work=work_of(settings), phase=ROUND, round_number=number, cell=settings.load
            )
            if isinstance(answer, StepResult):
                number += 1
            else:
                filled = False
        return "done"


def work_of(settings: OltpSettings, *, fills: bool = False) -> Transactions:
    """Return the work of a pass, or the one that makes the tables."""
    return Transactions(
        load=settings.load,
        duration_ns=settings.duration_ns,
        rows=settings.rows,
        row_bytes=settings.row_bytes,
        clients=settings.clients,
        rate_per_second=settings.rate_per_second,
        read_percent=settings.read_percent,
        working_set_percent=settings.working_set_percent,
        fills=fills,
        database=database_of(settings.server, settings.durable),
    )
