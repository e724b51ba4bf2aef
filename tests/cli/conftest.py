"""One command line, run in this process: its exit code, its data and its messages."""

from collections.abc import Callable

import pytest

from teijo.cli import app

Said = tuple[int, str, str]
Teijo = Callable[..., Said]


@pytest.fixture
def teijo(capsysbinary: pytest.CaptureFixture[bytes]) -> Teijo:
    """Run one command line; return its exit code, stdout and stderr."""

    def run(*arguments: object) -> Said:
        with pytest.raises(SystemExit) as leaving:
            app.main([str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return int(leaving.value.code or 0), out.decode(), err.decode()

    return run
