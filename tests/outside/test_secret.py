"""A password in an address: used, and told to nobody."""

import pytest

from teijo.outside.secret import PASSWORD, hidden, parted, redacted, revealed


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
