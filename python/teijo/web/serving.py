"""What a server was told as it began, and who may ask it for anything."""

import os
import re
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from teijo.device import serial
from teijo.errors import UsageError
from teijo.web import HOST, PORT

_HTTP_PORT: Final = 80
_HTTPS_PORT: Final = 443
_TOKEN_BYTES: Final = 24
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~-]{16,}")
"""A token somebody brings along: it stands in an address and in a cookie as it is."""


@dataclass(frozen=True, kw_only=True)
class Serving:
    """A folder of run files, and the address it is served at.

    `token` is what a browser has to know; "" where only this machine may ask. `names` are what
    the browser may call the server: a name that is none of them is somebody else's, made to point
    here (DNS rebinding). Where it is not `read_only`, runs are started: on simulated devices, on
    files in the folders `files`, and on the devices whose serials are in `destroy`.
    here (DNS rebinding). With a certificate it speaks TLS alone; `key` is None where the key is in
    the same file. `begun` is the name of a run file that is shown before the index knows of it.
    """

    folder: Path
    host: str = HOST
    port: int = PORT
    recursive: bool = False
    read_only: bool = False
    files: tuple[Path, ...] = ()
    destroy: tuple[str, ...] = ()
    token: str = ""
    names: frozenset[str] = field(default_factory=frozenset)
    certificate: Path | None = None
    key: Path | None = None
    begun: str = ""

    @property
    def scheme(self) -> str:
        """What its address begins with."""
        return "http" if self.certificate is None else "https"

    @property
    def usual_port(self) -> int:
        """The port that a browser leaves out of an address."""
        return _HTTP_PORT if self.certificate is None else _HTTPS_PORT

    @property
    def is_everywhere(self) -> bool:
        """Whether it is served at every address of this machine."""
        return self.host in ("0.0.0.0", "::")

    @property
    def address(self) -> str:
        """Where it is, for a browser; with the token, which the browser then keeps."""
        name = _reached() if self.is_everywhere else self.host
        host = f"[{name}]" if ":" in name else name
        query = f"?token={self.token}" if self.token else ""
        return f"{self.scheme}://{host}:{self.port}/{query}"


def serving_of(
    folder: Path,
    *,
    host: str = HOST,
    port: int = PORT,
    recursive: bool = False,
    token: str | None = None,
    read_only: bool = False,
    files: Sequence[Path] = (),
    destroy: str | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    begun: str = "",
) -> Serving:
    """Return what is served where. `token` is "" for one that is made here, None for none;
    `destroy` the serials of the devices that may be written, "S1,S2".

    Raises:
        UsageError: others could reach the address, and no token was asked for; or a token that
            can be guessed; or a key without a certificate; or a device may be destroyed without a
            token; or what is to be started where nothing is.
    """
    if key is not None and certificate is None:
        raise UsageError(
            "--key: a key alone makes no TLS", remedy="Name its certificate as well: --cert FILE"
        )
    serials = serial.named(destroy)
    _check_started(files, serials, read_only=read_only, has_token=token is not None)
    if token is None and not _is_own(host):
        raise UsageError(
            f"--host {host}: others can reach this address",
            remedy="Add --token, and give the address it prints to those who may see the runs.",
        )
    if token and not _TOKEN.fullmatch(token):
        raise UsageError(
            "--token: a token has 16 characters at least: letters, digits, and - . _ ~",
            remedy="Write --token new for one that is made here.",
        )
    made = secrets.token_urlsafe(_TOKEN_BYTES) if token == "" else token or ""
    names = {"localhost", "127.0.0.1", "::1"} if _is_own(host) else {socket.gethostname().lower()}
    return Serving(
        folder=folder,
        host=host,
        port=port,
        recursive=recursive,
        token=made,
        read_only=read_only,
        files=tuple(dict.fromkeys(Path(os.path.realpath(place)) for place in files)),
        destroy=serials,
        names=frozenset({host.lower(), *names}),
        certificate=certificate,
        key=key,
        begun=begun,
    )


def _check_started(
    files: Sequence[Path], serials: Sequence[str], *, read_only: bool, has_token: bool
) -> None:
    if read_only and (files or serials):
        raise UsageError(
            "--read-only starts nothing, and --files and --destroy say what may be started",
            remedy="Leave one of them away.",
        )
    if serials and not has_token:
        raise UsageError(
            "--destroy: everybody who is logged in to this machine could start a run from the page",
            remedy="Add --token new, and open the address it prints.",
        )
    for place in files:
        if not place.is_dir():
            raise UsageError(f"--files: {place} is no folder", remedy="Name a folder for files.")


def _is_own(host: str) -> bool:
    """Tell whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _reached() -> str:
    """Return the address that this machine has in its network; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))  # of no network (RFC 5737)
        except OSError:
            return HOST
        return str(asked.getsockname()[0])
