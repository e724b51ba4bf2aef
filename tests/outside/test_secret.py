"""A password in an address: used, and told to nobody."""

import pytest

from teijo.outside.secret import PASSWORD, hidden, revealed


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
