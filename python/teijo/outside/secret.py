"""Passwords in addresses: kept in memory for this process, and nowhere else.

An address is recorded, shown and compared without its password; who connects asks for it here.
"""

import os
from typing import Final
from urllib.parse import quote, unquote

from teijo.errors import UnsafeError
from teijo.outside.text import visible

PASSWORD: Final = "TEIJO_SQL_PASSWORD"
"""The environment variable with the password, where an address has none."""
_STARS: Final = "***"
_known: dict[str, str] = {}


def parted(url: str) -> tuple[str, str]:
    """Return a URL without its password, and the password as it is written there, "" for none.

    A sign of the password that is not encoded is of the password still: the last @ ends it.
    """
    scheme, colon, rest = url.partition("://")
    way, question, options = rest.partition("?")
    who, at, place = way.rpartition("@")
    user, has_password, password = who.partition(":")
    if not (colon and at and has_password):
        return url, ""
    return f"{scheme}://{user}@{place}{question}{options}", password


def hidden(url: str) -> str:
    """Return a URL without its password, which is remembered until the end of this process."""
    shown, password = parted(url)
    if shown != url:
        _known[shown.partition("://")[2]] = password
    return shown


def revealed(rest: str) -> str:
    """Return what stands behind a URL's scheme with the password in it, as far as it is known."""
    user, at, host = rest.partition("@")
    # In a URL it is written with its signs encoded; in the environment it is as it is.
    password = _known.get(rest) or quote(os.environ.get(PASSWORD, ""), safe="")
    return f"{user}:{password}@{host}" if at and password else rest


def check_receiver(url: str, named: str | None) -> None:
    """Make sure that the password goes where the caller means it to go: a file names `url`.

    `named` is the address that the caller gave. A name of a private server is no address.

    Raises:
        UnsafeError: the environment has a password, and the caller did not name this server.
    """
    goes_there = "://" in url and "@" in url and bool(os.environ.get(PASSWORD))
    if goes_there and named != url:
        raise UnsafeError(
            f"The run file names the server {visible(url)}, and the password in {PASSWORD} would "
            "be sent there",
            remedy=f"If it is yours, consent: --server {visible(url)}. Else unset {PASSWORD}.",
        )


def redacted(text: str) -> str:
    """Return a text of a server without the passwords that it was told: it may repeat them."""
    told = {os.environ.get(PASSWORD, ""), *_known.values(), *map(unquote, _known.values())}
    for password in sorted(told - {""}, key=len, reverse=True):
        text = text.replace(password, _STARS)
    return text
