"""What may be served where: an address that others reach asks for a token."""

from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from teijo.errors import UsageError
from teijo.web.serving import serving_of

HERE = Path()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", "127.evil.example"])
def test_an_address_that_others_reach_asks_for_a_token(host: str) -> None:
    with pytest.raises(UsageError, match="others can reach"):
        serving_of(HERE, host=host)
    assert len(serving_of(HERE, host=host, token="").token) >= 24


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.9.9.9"])
def test_this_machine_alone_needs_none(host: str) -> None:
    assert serving_of(HERE, host=host).token == ""


@pytest.mark.parametrize("token", ["short", "x" * 15, "日本語" * 9, "a" * 20 + "\n"])
def test_a_token_that_can_be_guessed_or_not_be_sent_is_refused(token: str) -> None:
    with pytest.raises(UsageError, match="16 characters"):
        serving_of(HERE, token=token)


def test_two_servers_make_two_tokens() -> None:
    assert serving_of(HERE, token="").token != serving_of(HERE, token="").token


def test_the_address_has_the_token_and_brackets_where_they_belong() -> None:
    assert serving_of(HERE, host="::1").address == "http://[::1]:8642/"
    made = serving_of(HERE, token="")
    assert made.address == f"http://127.0.0.1:8642/?token={made.token}"


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_of_all_is_told_as_one_that_others_reach(host: str) -> None:
    serving = serving_of(HERE, host=host, token="")
    told = urlsplit(serving.address)
    assert told.hostname is not None
    assert not ip_address(told.hostname).is_unspecified
    assert "localhost" not in serving.names
