"""The persona of sql-bench: a command line becomes a run of `classic.sql-bench`, and its lines."""

import os
from typing import Any, Final

from teijo.methods.found import Found
from teijo.personas.persona import Call, Order, Refused, Said
from teijo.personas.sqlbench.command import ALL, NAMES, Options, arguments_of, read, settings_of
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

OPTIONS: Final = "options"
SKIPPED: Final = "transactions"
"""The ninth script of the suite: it is counted, and skipped."""
ORDER: Final = sorted((*TESTS, SKIPPED), key=str.lower)


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
        try:
            parsed = read(call.words)
        except Refused as refused:
            return refused.said
        machine = os.uname()
        options = Options(
            test=name,
            values=parsed,
            arguments=arguments_of(call.words),
            machine=f"{machine.sysname} {machine.release} {machine.machine}",
            began=call.now,
        )
        return Order(
            method="classic.sql-bench",
            target=f"dir:{call.folder}",
            settings=settings_of(options),
            name=name,
            files_in=options.get("dir", "output") if name == ALL else None,
            memory={OPTIONS: options},
        )

    def heard(self, order: Order, step: Step, answer: Answer | None) -> Said:
        """Return what is said when an operation has ended."""
        options: Options = order.memory[OPTIONS]
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
        options: Options = order.memory[OPTIONS]
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
