"""The verb `purge`: the table of ways, a purge on a loop device, and what it refuses."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Teijo


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
    assert (code, "64 of 64 stamps are gone" in out, "purge: " in err) == (0, True, True)
    shown = teijo("purge", loop_device, "--method", "discard", "--destroy", token, "--json")
    assert json.loads(shown[1])["stamps_gone"] == 64


def test_a_device_with_nothing_left_open_says_so(teijo: Teijo, loop_device: Path) -> None:
    for option in ("--status", "--finish"):
        assert teijo("purge", loop_device, option)[:2] == (0, "nothing of it is left open\n")
    assert json.loads(teijo("purge", loop_device, "--finish", "--json")[1]) == {"ended": []}


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
