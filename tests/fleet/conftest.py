"""The command line as the tests of fleets ask it, and the token of their clusters."""

import secrets
from collections.abc import Callable

import pytest

from teijo.cli import app

Said = tuple[int, str, str]
"""Exit code, stdout and stderr."""


@pytest.fixture
def teijo(capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Said]:
    def run(*words: object) -> Said:
        with pytest.raises(SystemExit) as leaving:
            app.main([str(word) for word in words])
        out, err = capsysbinary.readouterr()
        return int(leaving.value.code or 0), out.decode(), err.decode()

    return run


@pytest.fixture
def own_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the clusters of a test a token of their own, whatever this user has for his."""
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
