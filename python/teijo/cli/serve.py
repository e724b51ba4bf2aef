"""The verb `serve`: a folder of run files in a browser."""

from pathlib import Path
from typing import Annotated

import typer

from teijo.cli import console
from teijo.cli.options import Folder, Recursive
from teijo.errors import HostError, UsageError
from teijo.speech import tongue
from teijo.web import HOST, PORT

EXAMPLES = (
    "teijo serve                          the run files here, at http://127.0.0.1:8642",
    "teijo serve results --port 8700      those of another folder, at another port",
    "teijo serve --host 0.0.0.0 --token new    for other machines, who need the token it prints",
    "teijo serve --files /mnt/disk         runs may be started on files in this folder too",
    "teijo serve --destroy S4EVNX0R123456 --token new    and on the drive with this serial",
    "teijo serve --read-only               nothing is started, stopped or taken",
    "teijo serve --host lab --token new --cert lab.pem --key lab.key    and encrypted",
)

Certificate = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Speak TLS (https) with this certificate, in PEM form, those that vouch for it "
        "behind it.",
    ),
]
Key = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Its private key, where that is in another file."),
]
ReadOnly = Annotated[
    bool, typer.Option("--read-only", help="Nothing can be started, stopped or added.")
]
Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--files",
        metavar="DIR",
        help="Let runs be started on files in this folder, old or new; may stand many times.",
    ),
]
MayDestroy = Annotated[
    str | None,
    typer.Option(
        "--destroy",
        metavar="SERIAL",
        help="Let runs be started on the block device with this serial number, S1,S2 for several; "
        "whoever starts one types it again. Asks for --token.",
    ),
]


def verb(
    folder: Folder = Path(),
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="The address. [default: this machine alone]", show_default=False
        ),
    ] = HOST,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")
    ] = PORT,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="new|TOKEN",
            help="A word that whoever looks has to know; it is asked for on any address but this "
            "machine's own.",
        ),
    ] = None,
    cert: Certificate = None,
    key: Key = None,
    recursive: Recursive = False,
    read_only: ReadOnly = False,
    files: Files = None,
    destroy: MayDestroy = None,
) -> None:
    """Show every run in DIR in a browser, also those that go on, as they go on.

    From the page runs are started on simulated devices, and on what --files and --destroy name,
    stopped and resumed. It ends with Ctrl+C; runs go on.
    """
    try:
        from teijo.web import server
        from teijo.web.serving import serving_of
    except ImportError as error:
        raise UsageError(
            f"The page needs a package that is not installed ({error.name})",
            remedy="Install it: pip install 'teijo[web]'",
        ) from error
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder", remedy="Name one: teijo serve DIR")
    asked = "" if token == "new" else token
    serving = serving_of(
        folder,
        host=host,
        port=port,
        recursive=recursive,
        token=asked,
        read_only=read_only,
        files=files or (),
        destroy=destroy,
        certificate=cert,
        key=key,
    )
    try:
        bound = server.bound(serving)
    except OSError as error:
        raise HostError(
            f"{host} port {port} cannot be had: {error.strerror}",
            remedy="Another program may have it: take another one with --port, or 0 for any.",
        ) from error
    console.put(tongue.tr("Runs in {folder}: {address}", folder=folder, address=bound.address))
    console.finish()
    server.run(bound)
