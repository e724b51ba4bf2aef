"""Passwords in addresses: kept in memory for this process, and nowhere else.

An address is recorded, shown and compared without its password; who connects asks for it here.
"""

import os
from typing import Final
from urllib.parse import quote, unquote

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


def redacted(text: str) -> str:
    """Return a text of a server without the passwords that it was told: it may repeat them."""
    told = {os.environ.get(PASSWORD, ""), *_known.values(), *map(unquote, _known.values())}
    for password in sorted(told - {""}, key=len, reverse=True):
        text = text.replace(password, _STARS)
    return text
