"""sql-bench's command lines: Getopt::Long's options, in full or abbreviated."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from teijo.errors import UsageError
from teijo.methods.found import Found
from teijo.personas.paths import refuse_windows
from teijo.personas.persona import Call, Order, Said
from teijo.personas.sqlbench.output import (
    SUITE,
    TRANSACTIONS,
    Header,
    Heard,
    date_of,
    operation_text,
    server_of,
    test_text,
    testing,
    total_line,
    totals_text,
)
from teijo.sql.suite import TESTS, operations
from teijo.terms.result import Answer, StepResult
from teijo.terms.step import Perform, Step
from teijo.terms.work import SqlBench

ALL: Final = "run-all-tests"
NAMES: Final = (ALL, *(f"test-{name}" for name in TESTS))
SKIPPED: Final = "transactions"
"""The ninth script of the suite: it is counted, and skipped."""
ORDER: Final = sorted((*TESTS, SKIPPED), key=str.lower)
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


class SqlBenchPersona:
    """sql-bench, with a private server in the folder it is called in, or the one at --host."""

    names = NAMES
    likes = (SUITE,)
    naming = "Go to the directory to measure: cd /mnt/disk."

    def order(self, name: str, call: Call) -> Order | Said:
        """Return the run that a command line asks for.

        Raises:
            UsageError: an option that Teijo has not, a Windows path, or a server that it does not
                know.
        """
        parsed = _parsed(call.words)
        if isinstance(parsed, Said):
            return parsed
        refuse_windows(parsed.get("dir", ""))
        name_of_server = parsed.get("server", "mysql")
        server = _SERVERS.get(name_of_server.lower())
        if server is None:
            raise UsageError(
                f"--server={name_of_server} is no server that Teijo has",
                remedy="It has mysql, Pg and SQLite.",
            )
        if parsed.get("host", "localhost") != "localhost" and server in _SCHEMES:
            user = f"{parsed['user']}@" if parsed.get("user") else ""
            database = parsed.get("database", "test")
            server = f"{_SCHEMES[server]}://{user}{parsed['host']}/{database}"
        if "password" in parsed:
            raise UsageError(
                "--password is seen by everybody on this machine",
                remedy="Put it into TEIJO_SQL_PASSWORD, and leave --password out.",
            )
        machine = os.uname()
        options = Options(
            test=name,
            values=parsed,
            arguments=" ".join(_arguments(call.words)),
            machine=f"{machine.sysname} {machine.release} {machine.machine}",
            began=call.now,
        )
        settings = {
            "server": server,
            "tests": ",".join(options.tests),
            "small": "on" if "small-test" in parsed else "off",
            "time_limit": f"{parsed.get('time-limit', '600')}s",
        }
        if "create-options" in parsed:
            settings["create_options"] = parsed["create-options"]
        return Order(
            method="classic.sql-bench",
            target=f"dir:{call.folder}",
            settings=settings,
            name=name,
            files_in=options.get("dir", "output") if name == ALL else None,
            memory={"options": options},
        )

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        """Return what is said when an operation has ended."""
        options: Options = order.memory["options"]
        if not (isinstance(step, Perform) and isinstance(step.work, SqlBench)):
            return Said()
        if not isinstance(answer, StepResult):
            return Said()
        mine = Heard(step.work, answer, options.began)
        options.heard.append(mine)
        last = _ended(mine)
        if options.test != ALL:
            begun = step.work.place == 0 and "silent" not in options.values
            begins = testing(mine) if begun else ""
            ends = f"{total_line(options.heard)}\n" if last else ""
            return Said(stdout=f"{begins}{operation_text(mine)}{ends}")
        first = _header(options).text if len(options.heard) == 1 else ""
        if not last or "log" in options.values:
            return Said(stdout="" if "log" in options.values else first)
        return Said(stdout=f"{first}{_lines(options, step.work.test)}")

    def outcome(self, order: Order, found: Found[Any]) -> Said:
        """Return the totals of run-all-tests, and the files it leaves."""
        del found
        options: Options = order.memory["options"]
        if options.test != ALL:
            return Said()
        folder = options.get("dir", "output")
        by_test = {
            name: [each for each in options.heard if each.work.test == name]
            for name in options.tests
        }
        texts = {name: test_text(heard) for name, heard in by_test.items() if heard}
        files = [
            (f"{folder}/{name}-{options.file_part}", text.encode()) for name, text in texts.items()
        ]
        missing = [name for name in TESTS if name not in texts]
        totals = totals_text(list(texts.values()), tests=len(TESTS) + 1, errors=len(missing))
        if "log" not in options.values:
            return Said(stdout=_lines(options) + totals, files=tuple(files))
        run = f"{folder}/RUN-{options.file_part}"
        whole = f"{_header(options).text}{_lines(options)}{totals}"
        said = f"Test finished. You can find the result in:\n{run}\n"
        return Said(stdout=said, files=(*files, (run, whole.encode())))


def _header(options: Options) -> Header:
    return Header(
        date=date_of(options.began),
        machine=options.machine,
        arguments=options.arguments,
        comments=options.get("comments"),
        limits=options.get("cmp").lower(),
        server=server_of(options.heard[0]) if options.heard else "",
        optimization=options.get("optimization", "None"),
        hardware=options.get("hw"),
    )


def _line(options: Options, name: str) -> str:
    """Return the line of one test, as it stands in the RUN file."""
    if name == SKIPPED:
        return f"{name}: {TRANSACTIONS}\n"
    own = [each for each in options.heard if each.work.test == name]
    if own and _ended(own[-1]):
        return f"{name}: {total_line(own)}\n"
    return f"{name}: Failed ({options.get('dir', 'output')}/{name}-{options.file_part})\n"


def _ended(heard: Heard) -> bool:
    """Return whether this was the last operation of its test."""
    work = heard.work
    return work.place + 1 == len(operations(work.test, small=work.small))


def _lines(options: Options, up_to: str = "") -> str:
    """Return the lines that were not said yet, up to a test's own or all: in the suite's order."""
    last = ORDER.index(up_to) + 1 if up_to else len(ORDER)
    names = ORDER[len(options.said) : last]
    options.said.extend(names)
    return "".join(_line(options, name) for name in names)


def _parsed(words: Sequence[str]) -> dict[str, str] | Said:
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            continue  # what is no option is left to nobody
        name, equals, value = word.lstrip("-").partition("=")
        known = _full(name)
        if known is None:
            return Said(stderr=f"Unknown option: {name}\n", stdout=_usage(), exit_code=0)
        if known in _NOT_HERE:
            raise UsageError(
                f"--{known} is an option of sql-bench that Teijo has not",
                remedy="Leave it out; `teijo methods classic.sql-bench` shows what can be set.",
            )
        if known == "help":
            return Said(stdout=_usage())
        if known in _TAKES and not equals:
            if not rest:
                return Said(stderr=f"Option {name} requires an argument\n", stdout=_usage())
            value = rest.pop(0)
        found[known] = value if known in _TAKES else "1"
    return found


def _full(name: str) -> str | None:
    """Return the option of a name or of its unambiguous beginning."""
    every = (*_TAKES, *_FLAGS, *_NOT_HERE)
    if name.lower() in every:
        return name.lower()
    begun = [each for each in every if name and each.startswith(name.lower())]
    return begun[0] if len(begun) == 1 else None


def _arguments(words: Sequence[str]) -> list[str]:
    return [
        word
        for word in words
        if word.startswith("-")
        and not any(each.startswith(word.lstrip("-").partition("=")[0]) for each in _NOT_ARGUMENTS)
    ]


def _usage() -> str:
    """Return the options there are: the original's own text is its authors'."""
    options = "".join(f"--{name}=...\n" for name in _TAKES) + "".join(
        f"--{name}\n" for name in _FLAGS
    )
    return f"The MySQL benchmarks Ver {SUITE}\n\nOptions that Teijo takes of them:\n\n{options}"
