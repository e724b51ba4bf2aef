"""An address of a database: what may stand in one, and what a driver must not be told by it."""

import pytest

from teijo.outside.address import is_readable


@pytest.mark.parametrize(
    "url",
    ["postgresql://me@host/db", "postgres://host:5432/db", "mysql://[::1]:3306/db",
     "mariadb://a%40b@my-host.example/db_1", "mysql://root@localhost/db?unix_socket=/run/a.sock",
     "mysql://me@host/db?ssl_ca=/ca.pem&charset=utf8mb4"],
)  # fmt: skip
def test_a_database_of_a_known_scheme_is_readable(url: str) -> None:
    assert is_readable(url)


@pytest.mark.parametrize(
    "url",
    ["", "sqlite", "oracle://me@host/db", "mysql://me@host", "mysql://me@host/",
     "mysql://me:word@host/db", "mysql://me@host/db?password=x",
     "mysql://me@host/db?init_command=x",
     "mysql://me@host/db?read_default_file=/etc/x", "mysql://me@host/a/b", "mysql://me@host/db\n",
     "postgresql://me:a?b@host/db", "mysql://me@ho st/db"],
)  # fmt: skip
def test_what_may_hold_a_password_or_an_order_to_the_driver_is_not(url: str) -> None:
    assert not is_readable(url)
