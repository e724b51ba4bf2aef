"""The verb `purge`: the table of ways, a purge on a loop device, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo.cli import console
from teijo.device.open_changes import OpenChange, note
from teijo.device.purging import by_hand
from teijo.device.target import BlockTarget
from teijo.report.width import columns_of
from tests.cli.conftest import Teijo
from tests.drives.sg_in_process import SataBench


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_a_loop_device_shows_its_ways_and_is_purged_by_one(teijo: Teijo, loop_device: Path) -> None:
    code, out, err = teijo("purge", loop_device)
    (offer,) = json.loads(teijo("purge", loop_device, "--json")[1])["offers"]
    assert (code, err, offer["method"]) == (0, "", "discard")
    (token,) = offer["victims"]
    assert f"teijo purge {loop_device} --method discard --destroy {token}" in out
    code, out, err = teijo("purge", loop_device, "--method", "discard")
    assert (code, out) == (3, "")
    assert f"--destroy {token}" in err
    code, out, err = teijo("purge", loop_device, "--method", "auto", "--destroy", token)
    assert (code, "64 of 64 stamps are gone" in out) == (0, True)
    shown = teijo("purge", loop_device, "--method", "discard", "--destroy", token, "--json")
    assert json.loads(shown[1])["stamps_gone"] == 64


def test_a_device_with_nothing_left_open_says_so(teijo: Teijo, loop_device: Path) -> None:
    for option in ("--status", "--finish"):
        assert teijo("purge", loop_device, option)[:2] == (0, "nothing of it is left open\n")
    assert json.loads(teijo("purge", loop_device, "--finish", "--json")[1]) == {"ended": []}


@pytest.fixture
def sata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., SataBench]:
    """Return what makes an emulated SATA drive /dev/sda here."""

    def made(**knobs: object) -> SataBench:
        on = SataBench(tmp_path, monkeypatch, **knobs)
        here = BlockTarget(text="/dev/sda", path=Path("/dev/sda"))
        monkeypatch.setattr(by_hand, "parse_target", lambda text, **_: here)
        monkeypatch.setattr(by_hand, "claim", lambda *_, **__: on.claimed())
        return on

    return made


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_ways_of_a_frozen_drive_fit_the_terminal_and_say_the_way_out(
    teijo: Teijo,
    sata: Callable[..., SataBench],
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
    language: str,
) -> None:
    on = sata(frozen=True)
    monkeypatch.setattr(console, "width", lambda stream: columns)
    code, out, err = teijo("purge", "/dev/sda", "--lang", language)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert max(map(columns_of, lines)) <= columns
    (row,) = [line for line in lines if line.startswith("  ata-security-erase  ")]
    answers = {"en": "no yes no no yes", "ja": "なし あり なし なし あり"}
    assert row.split()[-5:] == answers[language].split()
    assert lines.count("  ata-security-erase, ata-security-erase-enhanced") == 1
    assert "suspend this machine" in out or "サスペンド" in out
    assert on.disk.saw(0xF1, ata=True) == 0
    offers = json.loads(teijo("purge", "/dev/sda", "--json")[1])["offers"]
    assert [one["refusal"] for one in offers if one["leaves_password"]] == ["it is frozen"] * 2
    assert all("suspend" in one["remedy"] for one in offers if one["leaves_password"])


def test_a_password_that_was_left_is_printed_and_ended(
    teijo: Teijo, sata: Callable[..., SataBench]
) -> None:
    on = sata(password="teijo")
    code, out, err = teijo("purge", "/dev/sda", "--finish")
    assert (code, out) == (5, "")
    assert "none was tried" in err
    found = on.subject().found.identity
    note(OpenChange(kind="password", serial=found.serial, wwid=found.wwid, target="/dev/sda",
                    method="ata-security-erase", secret="teijo"))  # fmt: skip
    out = teijo("purge", "/dev/sda", "--status")[1]
    assert "Teijo's own password 'teijo' may be set" in out
    assert "left open: password, ata-security-erase; the password is teijo" in out
    shown = json.loads(teijo("purge", "/dev/sda", "--json")[1])
    assert shown["open_changes"][0]["secret"] == "teijo"
    code, out, err = teijo("purge", "/dev/sda", "--method", "discard", "--destroy", found.serial)
    assert (code, out) == (5, "")
    assert "'teijo'" in err
    assert "teijo purge /dev/sda --finish" in err
    assert teijo("purge", "/dev/sda", "--finish")[:2] == (0, "the password is off\n")
    assert teijo("purge", "/dev/sda", "--status")[1] == "nothing of it is left open\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--status", "--finish"), "three ways"),
        (("--destroy", "S1"), "no --method says what for"),
        (("--method", "none"), "no purge by 'none'"),
        ((), "no block device"),
    ],
)
def test_what_says_nothing_clear_is_refused(
    teijo: Teijo, words: tuple[str, ...], said: str
) -> None:
    code, out, err = teijo("purge", "sim:mlc-a", *words)
    assert (code, out) == (2, "")
    assert said in err
