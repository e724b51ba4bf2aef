"""A password in an address: used, and told to nobody."""

import pytest

from teijo.errors import UnsafeError
from teijo.outside.secret import (
    PASSWORD,
    check_receiver,
    hidden,
    parted,
    redacted,
    revealed,
)  # fmt: skip


def test_a_password_is_neither_in_what_is_recorded_nor_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert hidden("postgresql://me:secret@host/db") == "postgresql://me@host/db"
    assert revealed("me@host/db") == "me:secret@host/db"
    monkeypatch.setenv(PASSWORD, "other")
    assert revealed("you@host/db") == "you:other@host/db"
    monkeypatch.setenv(PASSWORD, "a@b/c:%")
    assert revealed("you@host/db") == "you:a%40b%2Fc%3A%25@host/db"
    assert hidden("sqlite") == "sqlite"


def test_a_file_says_to_no_server_of_its_own_what_the_environment_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = "postgresql://me@host/db"
    monkeypatch.delenv(PASSWORD, raising=False)
    check_receiver(url, None)
    monkeypatch.setenv(PASSWORD, "secret")
    for named in (None, "postgresql://me@other/db", ""):
        with pytest.raises(UnsafeError, match="would be sent there") as refused:
            check_receiver(url, named)
        assert "secret" not in f"{refused.value.message}{refused.value.remedy}"
    check_receiver(url, url)
    for private in ("", "sqlite", "postgresql", "postgresql://host/db"):
        check_receiver(private, None)


@pytest.mark.parametrize(
    ("url", "shown", "password"),
    [("x://me:a@b@host/db", "x://me@host/db", "a@b"),
     ("x://me:a/b@host/db", "x://me@host/db", "a/b"),
     ("--set=server=x://me:a@host/db?o=p@q", "--set=server=x://me@host/db?o=p@q", "a"),
     ("x://me@host:5432/db", "x://me@host:5432/db", ""), ("run", "run", "")],
)  # fmt: skip
def test_the_last_at_ends_a_password(url: str, shown: str, password: str) -> None:
    assert parted(url) == (shown, password)


def test_a_text_that_repeats_a_password_is_shown_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("teijo.outside.secret._known", {})
    monkeypatch.setenv(PASSWORD, "")
    hidden("x://me:se%40cret@host/db")
    assert redacted("no se@cret, no se%40cret") == "no ***, no ***"
    monkeypatch.setenv(PASSWORD, "se@cret-more")
    assert redacted("se@cret-more") == "***"
    assert redacted("nothing") == "nothing"
