"""The verb `seal`: close the file of a run that has ended, and sign it."""

from pathlib import Path
from typing import Annotated

import typer

from teijo.cli import console

EXAMPLES = (
    "teijo seal run.teijo --sign ~/.ssh/id_ed25519   writes run.teijo.sig",
    "teijo seal run.teijo.open                       a run that ended and could not be sealed",
)


def verb(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A run file whose run has ended.")],
    key: Annotated[
        Path | None,
        typer.Option(
            "--sign",
            metavar="KEY",
            help="Sign it with this SSH key: a private one, or a public one of your agent's.",
        ),
    ] = None,
) -> None:
    """Seal FILE if it is not sealed yet, and sign it; the paths go to stdout, one a line.

    The signature lies beside the file as NAME.teijo.sig. Nothing that contradicts itself is
    signed (exit code 8).
    """
    from teijo import api

    for path in api.seal(file, key=key):
        if path is not None:
            console.put(str(path))
