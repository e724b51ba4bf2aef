"""What a person may type: settings, report formats, and where the run file goes."""

from datetime import datetime
from pathlib import Path

import pytest

from teijo.api.naming import name_of
from teijo.cli.options import (
    meant,
    planned,
    printers_from,
    run_file_for,
    settings_from,
    to_stdout,
)
from teijo.errors import PlanError, UsageError

NOON = datetime(2026, 1, 2, 12, 0, 5)


def test_settings_of_the_option_and_of_the_rest_of_the_line_are_one() -> None:
    assert settings_from(["bs=4KiB", "threads=1"], ["qd=32"], None) == {
        "bs": "4KiB",
        "threads": "1",
        "qd": "32",
    }


def test_a_value_may_hold_an_equals_sign() -> None:
    assert settings_from(["content=a=b"]) == {"content": "a=b"}


@pytest.mark.parametrize("text", ["minute", "=1s", ""])
def test_a_setting_without_key_or_value_is_refused_by_its_text(text: str) -> None:
    with pytest.raises(PlanError, match=repr(text)):
        settings_from([text])


def test_one_key_with_two_values_is_refused() -> None:
    with pytest.raises(PlanError, match="twice"):
        settings_from(["minute=1s"], ["minute=2s"])


def test_report_formats_are_a_list_and_none_is_no_format() -> None:
    assert printers_from("html, PDF,html") == ("html", "pdf")
    assert printers_from("none") == ()
    with pytest.raises(UsageError, match="did you mean 'html'"):
        printers_from("htlm")


def test_nothing_is_meant_where_nothing_is_near() -> None:
    assert meant("zebra", ("html", "pdf")) == ""


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("sim:mlc-a?seed=7&capacity=16GiB", "mlc-a"),
        ("/dev/disk/by-id/nvme-Sam_1.0", "nvme-Sam_1.0"),
        ("drive.img?size=1GiB", "drive.img"),
        ("/a b/c*d", "c-d"),
        ("stripe?chunk=64KiB:/dev/sdb,/tmp/b.img?size=1GiB", "sdb-b.img"),
        ("../..", "target"),
    ],
)
def test_a_run_file_is_named_after_its_target(target: str, name: str) -> None:
    assert name_of(target) == name
    expected = f"pts.iops-{name}-20260102-120005.teijo"
    assert run_file_for("pts.iops", target, None, NOON) == Path(expected)


def test_a_name_with_a_slash_behind_it_is_a_folder_yet_to_be_made(
    tmp_path: Path,
) -> None:
    named = run_file_for("pts.iops", "sim:x", f"{tmp_path}/new/", NOON)
    assert named.parent == tmp_path / "new"
    with pytest.raises(UsageError, match="stdout"):
        run_file_for("pts.iops", "sim:x", "-", NOON)


@pytest.mark.parametrize(
    ("output", "form", "as_json", "printer"),
    [
        (None, "html,pdf", False, ""),
        ("out", None, False, ""),
        ("-", None, False, "text"),
        ("-", "html", False, "html"),
        ("-", None, True, ""),
    ],
)
def test_a_dash_stands_for_stdout(
    output: str | None, form: str | None, as_json: bool, printer: str
) -> None:
    path = None if output is None else Path(output)
    assert to_stdout(path, form, printers_from(form or "html,pdf"), as_json=as_json) == printer


@pytest.mark.parametrize(("form", "as_json"), [("html,pdf", False), ("csv", False), ("text", True)])
def test_stdout_takes_one_report(form: str, as_json: bool) -> None:
    with pytest.raises(UsageError) as refusal:
        to_stdout(Path("-"), form, printers_from(form), as_json=as_json)
    assert refusal.value.remedy


def test_a_folder_as_output_keeps_the_name_and_a_name_gets_its_ending(tmp_path: Path) -> None:
    named = run_file_for("pts.iops", "sim:x", tmp_path, NOON)
    assert named == tmp_path / "pts.iops-x-20260102-120005.teijo"
    assert run_file_for("m", "t", tmp_path / "a.b", NOON) == tmp_path / "a.b.teijo"
    assert run_file_for("m", "t", tmp_path / "a.teijo", NOON) == tmp_path / "a.teijo"


def test_the_text_of_a_plan_becomes_a_setting(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('title = "混合"\n', encoding="utf-8")
    assert planned({"seconds": "1"}, plan) == {"seconds": "1", "plan": 'title = "混合"\n'}
    assert planned({"seconds": "1"}, None) == {"seconds": "1"}


def test_a_plan_that_cannot_be_read_or_stands_twice_is_told(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"cannot be read: No such file"):
        planned({}, tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(PlanError, match="no UTF-8"):
        planned({}, broken)
    with pytest.raises(PlanError, match="given twice"):
        planned({"plan": ""}, broken)
