"""Addresses of databases that run: which schemes there are, and what may stand in one."""

import re
from collections.abc import Mapping
from typing import Final, Literal

Dialect = Literal["mariadb", "postgresql"]
SCHEMES: Final[Mapping[str, Dialect]] = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mariadb",
    "mariadb": "mariadb",
}
UNREADABLE: Final = "The URL of the server cannot be read"
URL_FORM: Final = (
    "Write postgresql://user@host:port/database; the password goes into TEIJO_SQL_PASSWORD."
)
_OPTIONS: Final = ("unix_sock", "unix_socket", "charset", "ssl_ca", "ssl_cert", "ssl_key")
"""No option of a driver that gives a password, opens a file or tells the server what to do."""
_REST: Final = re.compile(
    r"(?:[^\s:/?#@]+@)?"  # who
    r"(?:[\w.-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"  # where
    r"/[^\s:/?#@]+"  # which database
    rf"(?:\?(?:(?:{'|'.join(_OPTIONS)})=[^\s&#@:]*&?)+)?",
    re.ASCII,
)


def is_readable(url: str) -> bool:
    """Return whether a URL without a password names a database of a known scheme."""
    scheme, colon, rest = url.partition("://")
    return bool(colon and scheme in SCHEMES and _REST.fullmatch(rest))
