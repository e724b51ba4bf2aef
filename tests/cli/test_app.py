"""Errors become messages and exit codes; no traceback is shown."""

from collections.abc import Callable

import pytest

from teijo import errors
from teijo.cli import app, methods
from tests.cli.conftest import Teijo


def all_errors(root: type[errors.TeijoError] = errors.TeijoError) -> list[type[errors.TeijoError]]:
    return [root, *(leaf for branch in root.__subclasses__() for leaf in all_errors(branch))]


def failing_with(error: Exception) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize("kind", all_errors(), ids=lambda kind: kind.__name__)
def test_every_error_is_its_message_its_remedy_and_its_exit_code(
    kind: type[errors.TeijoError], teijo: Teijo, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = kind("what happened", remedy="What to do.")
    monkeypatch.setattr(methods, "show", failing_with(error))
    code, out, err = teijo("methods", "iops")
    assert (code, out) == (kind.exit_code, "")
    assert err == "error: what happened.\n\nWhat to do.\n"


def test_an_error_nobody_foresaw_is_one_line_and_a_way_to_report_it(
    teijo: Teijo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEIJO_DEBUG", raising=False)
    monkeypatch.setattr(methods, "show", failing_with(ValueError("boom\nmore")))
    code, out, err = teijo("methods", "iops")
    assert (code, out) == (1, "")
    assert "Teijo itself failed: ValueError: boom.\n" in err
    assert "TEIJO_DEBUG=1" in err
    assert "Traceback" not in err


def test_a_debugging_person_sees_where_it_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEIJO_DEBUG", "1")
    monkeypatch.setattr(methods, "show", failing_with(ValueError("boom")))
    with pytest.raises(ValueError, match="boom"):
        app.main(["methods", "iops"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rnu",), "did you mean 'run'?"),
        (("run", "iops"), "TARGET is missing"),
        (("run", "iops", "sim:mlc-a", "--sead", "1"), "--seed"),
        (("run", "iops", "sim:mlc-a", "--engine", "ifo"), "none of native, fio"),
        (("run", "iops", "sim:mlc-a", "--set", "minute"), "KEY=VALUE"),
        (("run", "iops", "sim:mlc-a", "--report", "pfd"), "did you mean 'pdf'?"),
        (("methods", "iosp"), "did you mean 'iops'?"),
        (("methods", "iops", "--spec", "2.0.2-clinet"), "did you mean '2.0.2-client'?"),
        (("export", "x.teijo", "--to", "xml"), "none of json, csv, parquet"),
    ],
)
def test_a_mistyped_line_is_a_usage_error_that_says_what_was_meant(
    arguments: tuple[str, ...], said: str, teijo: Teijo
) -> None:
    code, out, err = teijo(*arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_the_version_is_printed_as_data(teijo: Teijo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda _: "9.9.9")
    assert teijo("--version") == (0, "teijo 9.9.9\n", "")
