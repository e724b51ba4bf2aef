"""`teijo device` of a drive: what is unfinished first, who it is, and what it does not tell."""

import json
from pathlib import Path

import pytest

from teijo.cli import console, drive
from teijo.device.drive import portrait as asking
from teijo.device.drive.nvme_drive import NvmeDrive, ask_nvme
from teijo.device.drive.portrait import Portrait
from tests.cli.conftest import Teijo
from tests.device.test_drive_portrait import answers, scsi_answers, serve


def as_nvme(monkeypatch: pytest.MonkeyPatch, *, sanitize: int = 1, format_left: int = 0) -> None:
    """Let whatever is looked at answer as the NVMe drive of the tests of the device room."""
    told = answers(sanitize=sanitize)
    for structure in (0x00, 0x11):
        raw = bytearray(told[6, structure])  # type: ignore[arg-type]
        raw[32] = 0x80 | format_left
        told[6, structure] = bytes(raw)

    def portrait(*_: object) -> Portrait:
        with monkeypatch.context() as patch:
            serve(patch, told)
            seen = Portrait(nvme=NvmeDrive())
            asked = asking.Asked(not_told=seen.not_told)
            assert seen.nvme is not None
            ask_nvme(3, asked, seen.nvme)
        return seen

    monkeypatch.setattr("teijo.device.drive.seen.portrait", portrait)


def test_a_drive_is_told_in_text_and_in_json(
    teijo: Teijo, loop_device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_nvme(monkeypatch)
    code, out, err = teijo("device", loop_device)
    assert (code, err) == (0, "")
    for line in (
        "subsystem  nqn.2026:one",
        "controllers  5, 6",
        "sanitize  block erase, crypto erase",
        "last sanitize  completed",
        "Format NVM  user data erase, a secure erase is of all namespaces, crypto erase",
        "by itself  off 1→3 (500 ms)",
    ):
        assert line in out
    assert "first of all" not in out
    shown = json.loads(teijo("device", loop_device, "--json")[1])
    assert shown["unfinished"] == []
    nvme = shown["drive"]["nvme"]
    assert nvme["controller"]["sanitize"]["block"] is True
    assert [one["number"] for one in nvme["namespaces"]] == [1, 2, 9]
    assert [one["attached"] for one in nvme["namespaces"]] == [True, True, False]
    assert shown["identity"]["facts"]["namespaces"].startswith("1 (")
    assert shown["identity"]["facts"]["specification"] == "NVMe 1.4"


def test_what_is_unfinished_comes_before_everything_else(
    teijo: Teijo, loop_device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_nvme(monkeypatch, sanitize=2, format_left=40)
    code, out, _ = teijo("device", loop_device)
    first, head, sanitize, format_1, *_ = out.splitlines()
    assert code == 0
    assert first == "first of all: this is not finished"
    assert head.split() == ["WHAT", "DONE", "TO", "LOOK", "OR", "TO", "END", "IT"]
    assert sanitize.split("  ")[1] == "a sanitize runs"
    assert "25.0 %" in sanitize
    assert f"teijo purge {loop_device} --status" in sanitize
    assert "60.0 %" in format_1
    text = teijo("device", loop_device, "--json")[1]
    shown = json.loads(text)
    assert next(iter(shown)) == "unfinished"
    assert [(one["kind"], one["percent"], one["refuses"]) for one in shown["unfinished"]][:2] == [
        ("sanitize", 25.0, True),
        ("format", 60.0, True),
    ]


@pytest.mark.parametrize(
    ("sanitize", "left", "words"),
    [(2, 0, "a sanitize runs"), (3, 0, "last sanitize failed"), (1, 9, "a format of namespace 1")],
)
def test_a_run_does_not_begin_on_an_unfinished_drive(
    teijo: Teijo,
    loop_device: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    scratch: Path,
    sanitize: int,
    left: int,
    words: str,
) -> None:
    serial = json.loads(teijo("device", loop_device, "--json")[1])["identity"]["serial"]
    before = loop_device.read_bytes()
    as_nvme(monkeypatch, sanitize=sanitize, format_left=left)
    path = tmp_path / "r.teijo"
    for line in (
        ("workload", loop_device, "rw=randread", "seconds=1"),
        ("workload", loop_device, "rw=randwrite", "seconds=1", "--destroy", serial),
        (
            "workload",
            f"concat:{loop_device},{scratch}/new.img?size=4MiB",
            "rw=randread",
            "seconds=1",
        ),
    ):
        code, _, err = teijo("run", *line, "-o", path)
        assert code == 5
        assert words in err
        assert "nothing was begun" in err
        assert f"teijo purge {loop_device}" in err
    assert loop_device.read_bytes() == before
    assert not (scratch / "new.img").exists()
    assert not path.exists()


def test_a_narrow_link_is_a_remark_of_the_run(
    teijo: Teijo, loop_device: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from tests.device.test_bus import chain

    below = chain(tmp_path / "sys", ("8.0", 2, "8.0", 4), ("8.0", 2, "16.0", 4))
    monkeypatch.setattr("teijo.device.heads.carrier", lambda folder: below)
    path = tmp_path / "r.teijo"
    code, _, err = teijo(
        "run", "workload", loop_device, "rw=randread", "seconds=1", "-o", path, "--report=none"
    )
    assert code == 0, err
    listed = teijo("report", path, "--format", "text", "-o", "-")[1]
    out = teijo("device", loop_device)[1]
    assert "8.0 GT/s PCIe x2 (both ends can 8.0 GT/s PCIe x4) DEGRADED" in out
    assert "runs at 8.0 GT/s PCIe x2, and both its ends can 8.0 GT/s PCIe x4" in (
        listed + err
    ).replace("\n", " ")


def lines(capsys: pytest.CaptureFixture[str]) -> str:
    console.finish()
    return capsys.readouterr().out


def test_an_ata_drive_tells_its_security(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from teijo.device.commands import scsi
    from teijo.device.drive.seen import look_at
    from tests.device.test_stack import Tree, subject

    monkeypatch.setattr(scsi, "execute", scsi_answers(b"ATA"))
    tree = Tree(tmp_path)
    seen = look_at(subject(tree, tree.disk("sda", "8:0")))
    drive.show_unfinished(seen)
    drive.show_drive(seen)
    out = lines(capsys)
    assert "security  supported, a password is set, locked" in out
    assert "last sanitize  under way 10.0 %" in out
    assert "RAID  no: no adapter is on its way" in out
    assert "rotation  7200 rpm" not in out  # ATA tells none, and the page of SCSI is SAT's
    assert seen.facts["rotation"] == "7200 rpm"


def test_a_frozen_drive_tells_the_ways_out_within_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from teijo.device.drive.seen import look_at
    from tests.drives.sg_in_process import SataBench

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(console, "width", lambda stream: 80)
    drive.show_drive(look_at(SataBench(tmp_path, monkeypatch, frozen=True).subject()))
    out = lines(capsys)
    assert "out of frozen  The BIOS froze it at the start." in out
    assert "suspend" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_sas_drive_tells_what_purges_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from teijo.device.commands import scsi
    from teijo.device.drive.seen import look_at
    from tests.device.test_stack import Tree, subject

    monkeypatch.setattr(scsi, "execute", scsi_answers(b"MAKER"))
    tree = Tree(tmp_path)
    drive.show_drive(look_at(subject(tree, tree.disk("sda", "8:0"))))
    out = lines(capsys)
    assert "rotation  7200 rpm" in out
    assert "purges  sanitize block erase, sanitize overwrite, format unit" in out
