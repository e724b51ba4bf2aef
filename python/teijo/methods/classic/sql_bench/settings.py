"""What sql-bench can be asked for, and the order of its tests."""

from typing import Annotated, Final

from teijo import units
from teijo.methods.databases import CREATE_OPTIONS, SERVER
from teijo.methods.forms import DURATION, ON_OFF, Form, OnOff, whole
from teijo.methods.knobs import Knob, meaning
from teijo.methods.settings import Settings
from teijo.sql.suite import TESTS

TIME_LIMIT_NS: Final = 600 * units.NS_PER_S
NO_LIMIT_NS: Final = 365 * 24 * 3600 * units.NS_PER_S


def _tests(text: str) -> tuple[str, ...]:
    known = {name.lower(): name for name in TESTS}
    names = [part.strip().lower() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in known:
            raise ValueError(f"{name[:40]!r} is none of {', '.join(TESTS)}")
    if not names or len(set(names)) < len(names):
        raise ValueError("it names no test, or one of them twice")
    return tuple(name for name in TESTS if name.lower() in names)


class SqlBenchSettings(Settings, frozen=True):
    """Which tests on which server, and how much of them."""

    tests: Annotated[tuple[str, ...], Knob(Form(_tests, ",".join), "tests=create,insert")] = (
        meaning("which of the eight tests, in the suite's order", TESTS)
    )
    server: Annotated[str, Knob(SERVER, "server=postgresql")] = meaning(
        "sqlite, mariadb or postgresql, private on the directory, or the URL of one that runs",
        "sqlite",
    )
    small: Annotated[OnOff, Knob(ON_OFF, "small=on")] = meaning(
        "on: a tenth to a thousandth of the rows and loops, as the suite's --small-test", "off"
    )
    passes: Annotated[int, Knob(whole(1, 100), "passes=5")] = meaning(
        "how often all of it is done", 1
    )
    clients: Annotated[int, Knob(whole(1, 64), "clients=4")] = meaning(
        "how many do it at the same time, each on tables of its own; the suite has one", 1
    )
    time_limit_ns: Annotated[int, Knob(DURATION, "time_limit=600s")] = meaning(
        "after how long a loop that may be extrapolated stops", TIME_LIMIT_NS
    )
    durable: Annotated[OnOff, Knob(ON_OFF, "durable=off")] = meaning(
        "off: the private server flushes nothing to the disk", "on"
    )
    create_options: Annotated[str, Knob(CREATE_OPTIONS, "create_options=ENGINE=Aria")] = meaning(
        "what stands behind every CREATE TABLE", ""
    )
    strict: Annotated[OnOff, Knob(ON_OFF, "strict=on")] = meaning(
        "on: a fresh server for each test, another order in each pass, nothing extrapolated", "off"
    )

    def order(self, number: int) -> tuple[str, ...]:
        """Return the tests of a pass: with `strict` each pass begins with another."""
        if self.strict == "off":
            return self.tests
        first = (number - 1) % len(self.tests)
        return self.tests[first:] + self.tests[:first]
