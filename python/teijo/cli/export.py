"""The verb `export`: one run as JSON, CSV or Parquet, for other programs."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from teijo.cli import console
from teijo.creating import deliver

EXAMPLES = (
    "teijo export run.teijo | jq .findings        JSON on stdout (schema: docs/schema)",
    "teijo export run.teijo --to csv -o run.csv   one row per step, stream and direction",
    "teijo export run.teijo --to parquet --table intervals -o seconds.parquet",
)


class Form(StrEnum):
    """What a run can be exported as."""

    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


class Table(StrEnum):
    """What CSV and Parquet hold; JSON holds everything."""

    STEPS = "steps"
    RESULTS = "results"
    INTERVALS = "intervals"
    HEALTH = "health"


def verb(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A run file, sealed or growing.")],
    to: Annotated[Form, typer.Option("--to", help="The format.")] = Form.JSON,
    table: Annotated[
        Table, typer.Option("--table", help="Which table, for CSV and Parquet.")
    ] = Table.RESULTS,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write it.")
    ] = None,
) -> None:
    """Print a run as data, or write it to a file."""
    from teijo import api
    from teijo.errors import UsageError

    if output is None and to is Form.PARQUET and sys.stdout.isatty():
        raise UsageError(
            "Parquet is binary and stdout is a terminal",
            remedy="Give a file: teijo export FILE --to parquet -o run.parquet",
        )
    data = api.export(file, to=to.value, table=table.value)
    if output is None:
        console.put_bytes(data)
    else:
        written(output, data)
        console.put(str(output))


def written(path: Path, data: bytes) -> None:
    """Write a file whole.

    Raises:
        HostError: it cannot be written there.
    """
    from teijo.errors import HostError

    try:
        deliver(path, data)
    except OSError as error:
        raise HostError(
            f"Cannot write {path}: {error.strerror}", remedy="Choose another place with -o."
        ) from error
