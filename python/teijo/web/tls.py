"""The certificate of a server: what makes its address https, and what is said where it does not."""

import ssl
from pathlib import Path
from typing import Final

from teijo.errors import UsageError
from teijo.outside.file import Unreadable, read_text
from teijo.units import MIB

_FILE_BYTES_MOST: Final = MIB
_CERTIFICATE: Final = "-----BEGIN CERTIFICATE-----"
_KEY: Final = "PRIVATE KEY-----"
_PEM: Final = "Name a file in PEM form: --cert CERT.pem --key KEY.pem"


class _Locked(Exception):
    """OpenSSL asks for a passphrase; nobody is asked."""


def context_of(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """Return what a server shakes hands with: TLS 1.2 at least. The key may be in `certificate`.

    Raises:
        UsageError: a file cannot be read, or is not what it should be.
    """
    text = _read("--cert", certificate)
    if _CERTIFICATE not in text:
        raise UsageError(f"--cert {certificate}: there is no certificate in it", remedy=_PEM)
    if key is None and _KEY not in text:
        raise UsageError(
            f"--cert {certificate}: there is no private key in it",
            remedy="Name the file of its key: --key KEY.pem",
        )
    if key is not None and _KEY not in _read("--key", key):
        raise UsageError(f"--key {key}: there is no private key in it", remedy=_PEM)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(context, certificate, key)
    return context


def _load(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    def locked() -> str:
        raise _Locked

    where = f"--cert {certificate}" if key is None else f"--key {key}"
    try:
        context.load_cert_chain(certificate, key, password=locked)
    except _Locked as error:
        raise UsageError(
            f"{where}: the private key is locked with a passphrase",
            remedy="Write one without, which only you can read: openssl pkey -in KEY -out OPEN.pem",
        ) from error
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise UsageError(
                f"{where}: the private key is not that of the certificate {certificate}",
                remedy="Name the two files that were made together.",
            ) from error
        raise UsageError(
            f"--cert {certificate} cannot be used: {error.reason or 'it is damaged'}", remedy=_PEM
        ) from error
    except OSError as error:
        raise UsageError(f"{where} cannot be read: {error.strerror}", remedy=_PEM) from error


def _read(option: str, path: Path) -> str:
    try:
        return read_text(path, most_bytes=_FILE_BYTES_MOST)
    except Unreadable as error:
        raise UsageError(f"{option} {path} {error}", remedy=_PEM) from error
