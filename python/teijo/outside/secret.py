"""Passwords in addresses: kept in memory for this process, and nowhere else.

An address is recorded, shown and compared without its password; who connects asks for it here.
"""

import os
import re
from typing import Final
from urllib.parse import quote

PASSWORD: Final = "TEIJO_SQL_PASSWORD"
"""The environment variable with the password, where an address has none."""
_USER: Final = re.compile(r"([^/@:]*):([^@]*)@")
_known: dict[str, str] = {}


def hidden(url: str) -> str:
    """Return a URL without its password, which is remembered until the end of this process."""
    scheme, colon, rest = url.partition("://")
    found = _USER.match(rest)
    if not colon or found is None:
        return url
    shown = f"{found[1]}@{rest[found.end() :]}"
    _known[shown] = found[2]
    return f"{scheme}://{shown}"


def revealed(rest: str) -> str:
    """Return what stands behind a URL's scheme with the password in it, as far as it is known."""
    user, at, host = rest.partition("@")
    # In a URL it is written with its signs encoded; in the environment it is as it is.
    password = _known.get(rest) or quote(os.environ.get(PASSWORD, ""), safe="")
    return f"{user}:{password}@{host}" if at and password else rest
