"""The verb `steady`: the standard's determination for numbers from anywhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teijo.cli import console
from teijo.cli.options import Json, printers_from, to_stdout
from teijo.cli.spreadsheet import columns_of, number_of
from teijo.errors import UsageError

if TYPE_CHECKING:
    from decimal import Decimal

    from teijo.terms.finding import SteadyState, Window

NOT_STEADY = 10
"""What the program leaves with where it was asked to check, and no window is steady."""
EXAMPLES = (
    "teijo steady 346.22 346.16 346.61 338.03 296.00 285.18 252.63",
    "teijo steady --csv rounds.csv --column 'IOPS 4K W' --report html",
    "teijo steady --csv rounds.csv --column A --column B --column C    all in one window",
    "teijo steady --json 1660 1702 1633 1655 1650 | jq .stops_at",
    "teijo steady --check 1660 1702 1633 1655 1650 && echo steady",
)


def verb(
    numbers: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NUMBER...]", help="One value a round, in order."),
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Take them from a CSV file; - is stdin."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="NAME", help="Which column; named often, all must be steady."
        ),
    ] = None,
    unit: Annotated[
        str, typer.Option("--unit", metavar="UNIT", help="The unit to print: IOPS, MB/s, ms.")
    ] = "",
    report: Annotated[
        str, typer.Option("--report", metavar="FORMATS", help="Pictures too: html,pdf,text,csv.")
    ] = "none",
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="DIR", help="The folder of the reports, or - for stdout."
        ),
    ] = Path(),
    as_json: Json = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="End with exit code 10 where no window is steady."),
    ] = False,
) -> None:
    """Find where a series of rounds stops: the first steady window of five, as the PTS has it."""
    printers = printers_from(report)
    alone = to_stdout(output, report if printers else None, printers, as_json=as_json)
    values = _values(numbers or [], sheet, column or [])

    from teijo import api
    from teijo.cli.outcome import print_all, print_to_stdout

    states = api.steady(values, unit)
    document = api.steady_document(states)
    if alone:
        print_to_stdout(document, alone)
        return
    if as_json:
        console.put_json(_json(states))
    elif not printers:
        from teijo.report import text

        console.put_lines(text.render(document).rstrip("\n"))
    for path in print_all(document, "steady-state", printers, output):
        (console.say if as_json else console.put)(str(path))
    if check and states[0].reached is None:
        raise typer.Exit(NOT_STEADY)


def _values(
    numbers: list[str], sheet: Path | None, columns: list[str]
) -> "dict[str, tuple[Decimal, ...]]":
    if sheet is None:
        if columns:
            raise UsageError("--column names a column of no file", remedy="Add --csv FILE.")
        if not numbers:
            raise UsageError(
                "No numbers are given",
                remedy="Give one a round, or a file: --csv FILE --column NAME",
            )
        places = enumerate(numbers, start=1)
        return {"value": tuple(number_of(text, place=f"round {n}") for n, text in places)}
    if numbers:
        raise UsageError("Numbers and --csv are both given", remedy="Give one of them.")
    if not columns:
        raise UsageError(f"Which column of {sheet}?", remedy="Name it: --column NAME")
    found = columns_of(sheet, columns)
    lengths = {name: len(series) for name, series in found.items()}
    if not all(lengths.values()):
        empty = ", ".join(name for name, length in lengths.items() if not length)
        raise UsageError(
            f"No values are in the column {empty} of {sheet}",
            remedy="Name a column with one value a round.",
        )
    if len(set(lengths.values())) > 1:
        lengths_named = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise UsageError(
            f"The columns are not of one length: {lengths_named}",
            remedy="Give each round a value in every column.",
        )
    return found


def _json(states: "tuple[SteadyState, ...]") -> dict[str, Any]:
    """Return the determination as JSON has it, in one shape for one variable and for several.

    The rounds are those of all variables: what stops a run is a window in which each is steady.
    """
    variables = [_variable_json(state) for state in states]
    window, stop = variables[0]["window"], variables[0]["stops_at"]
    return {
        "steady": stop is not None,
        "stops_at": stop,
        "window": window,
        "variables": variables,
    }


def _variable_json(state: "SteadyState") -> dict[str, Any]:
    reached = None if state.reached is None else state.windows[state.reached]
    return {
        "variable": state.variable,
        "unit": state.unit,
        "stops_at": None if reached is None else reached.last_round,
        "window": None if reached is None else [reached.first_round, reached.last_round],
        "average": None if reached is None else reached.average,
        "windows": [_window_json(window) for window in state.windows],
    }


def _window_json(window: "Window") -> dict[str, Any]:
    average = window.average
    return {
        "window": [window.first_round, window.last_round],
        "values": list(window.values),
        "average": average,
        "range": window.range,
        "range_limit": window.range_limit,
        "range_percent": window.range / average * 100 if average else None,
        "range_ok": window.range_ok,
        "slope": window.slope,
        "intercept": window.intercept,
        "slope_excursion": window.slope_excursion,
        "slope_limit": window.slope_limit,
        "slope_percent": window.slope_excursion / average * 100 if average else None,
        "slope_ok": window.slope_ok,
        "steady": window.steady,
    }
