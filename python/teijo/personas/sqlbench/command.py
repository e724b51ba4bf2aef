"""sql-bench's command lines: Getopt::Long's options, in full or abbreviated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from teijo.errors import UsageError
from teijo.personas.long_options import long_options_of
from teijo.personas.paths import refuse_windows
from teijo.personas.persona import Refused, Said
from teijo.personas.sqlbench.output import SUITE, Heard
from teijo.sql.suite import TESTS

ALL: Final = "run-all-tests"
NAMES: Final = (ALL, *(f"test-{name}" for name in TESTS))
_TAKES: Final = (
    "comments", "cmp", "server", "user", "host", "database", "password", "time-limit", "machine",
    "dir", "suffix", "create-options", "optimization", "hw", "skip-test",
)  # fmt: skip
_FLAGS: Final = ("log", "small-test", "hires", "silent", "die-on-errors", "help", "random")
_NOT_HERE: Final = (
    "loop-count", "row-count", "field-count", "regions", "groups", "stage", "threads", "socket",
    "connect-options", "connect-command", "skip-create", "skip-delete", "verbose", "fast-insert",
    "lock-tables", "debug", "fast", "force", "use-old-results", "odbc", "small-tables",
    "small-key-tables", "old-headers", "tcpip", "only-missing-tests", "temporary-tables",
)  # fmt: skip
_SERVERS: Final = {"mysql": "mariadb", "pg": "postgresql", "sqlite": "sqlite"}
_SCHEMES: Final = {"mariadb": "mysql", "postgresql": "postgresql"}
_NOT_ARGUMENTS: Final = (
    "comments", "cmp", "server", "user", "host", "database", "password", "use-old-results",
    "skip-test", "optimization", "hw", "machine", "dir", "suffix", "log",
)  # fmt: skip
"""What the line "Arguments:" leaves out."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a command line asks for."""

    test: str
    values: dict[str, str]
    arguments: str
    machine: str
    began: datetime
    heard: list[Heard] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """The tests whose lines were printed, in their order."""

    def get(self, name: str, default: str = "") -> str:
        """Return an option's value."""
        return self.values.get(name, default)

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that run, in the order of their names in a shell."""
        if self.test != ALL:
            return (self.test.removeprefix("test-"),)
        return tuple(name for name in TESTS if not self.skips(name))

    def skips(self, name: str) -> bool:
        """Return whether --skip-test names a test, or a part of its name."""
        asked = [part.strip() for part in self.get("skip-test").split(",") if part.strip()]
        return any(part.lower() in name.lower() for part in asked)

    @property
    def file_part(self) -> str:
        """What the names of all files end with."""
        machine = self.get("machine") or self.machine
        for sign in (" ", "-", "/"):
            machine = machine if self.get("machine") else machine.replace(sign, "_")
        compared = f"-cmp-{self.get('cmp')}" if self.get("cmp") else ""
        return f"{self.get('server', 'mysql')}{self.get('suffix')}-{machine}{compared}"


def read(words: Sequence[str]) -> dict[str, str]:
    """Return the options by their whole names; a switch has the value "1".

    Raises:
        Refused: one is none of the suite's, or it asks for help.
        UsageError: one that Teijo has not.
    """
    found: dict[str, str] = {}
    for each in long_options_of(words, valued=_TAKES, switches=(*_FLAGS, *_NOT_HERE)):
        if each.name in _NOT_HERE:
            raise UsageError(
                f"--{each.name} is an option of sql-bench that Teijo has not",
                remedy="Leave it out; `teijo methods classic.sql-bench` shows what can be set.",
            )
        if each.wrong:
            raise Refused(Said(stderr=each.wrong, stdout=_usage()))
        if each.name == "help":
            raise Refused(Said(stdout=_usage()))
        found[each.name] = each.value if each.name in _TAKES else "1"
    return found


def settings_of(options: Options) -> Mapping[str, str]:
    """Return what classic.sql-bench is to be set to.

    Raises:
        UsageError: a server that Teijo has not, a password, or a Windows path.
    """
    values = options.values
    refuse_windows(options.get("dir"))
    if "password" in values:
        raise UsageError(
            "--password is seen by everybody on this machine",
            remedy="Put it into TEIJO_SQL_PASSWORD, and leave --password out.",
        )
    settings = {
        "server": _server(options),
        "tests": ",".join(options.tests),
        "small": "on" if "small-test" in values else "off",
        "time_limit": f"{options.get('time-limit', '600')}s",
    }
    if "create-options" in values:
        settings["create_options"] = values["create-options"]
    return settings


def _server(options: Options) -> str:
    """Return a private server by its name, or the URL of the one at --host."""
    asked = options.get("server", "mysql")
    server = _SERVERS.get(asked.lower())
    if server is None:
        raise UsageError(
            f"--server={asked} is no server that Teijo has",
            remedy="It has mysql, Pg and SQLite.",
        )
    host = options.get("host", "localhost")
    if host == "localhost" or server not in _SCHEMES:
        return server
    user = f"{options.get('user')}@" if options.get("user") else ""
    return f"{_SCHEMES[server]}://{user}{host}/{options.get('database', 'test')}"


def arguments_of(words: Sequence[str]) -> str:
    """Return what the line "Arguments:" shows of a command line."""
    return " ".join(
        word
        for word in words
        if word.startswith("-")
        and not any(each.startswith(word.lstrip("-").partition("=")[0]) for each in _NOT_ARGUMENTS)
    )


def _usage() -> str:
    """Return the options there are: the original's own text is its authors'."""
    options = "".join(f"--{name}=...\n" for name in _TAKES) + "".join(
        f"--{name}\n" for name in _FLAGS
    )
    return f"The MySQL benchmarks Ver {SUITE}\n\nOptions that Teijo takes of them:\n\n{options}"
