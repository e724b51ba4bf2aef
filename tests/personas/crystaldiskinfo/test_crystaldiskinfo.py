"""`teijo as crystaldiskinfo`: of drives in this process, of simulated ones, and what is refused."""

import re
from datetime import datetime
from pathlib import Path
from threading import Event

import pytest

from teijo.cli import app
from teijo.device.commands import nvme
from teijo.errors import StuckDevice, TargetError, UsageError
from teijo.personas.crystaldiskinfo import disk_of, persona, reading, text_of, verdict_of
from teijo.personas.crystaldiskinfo.persona import CrystalDiskInfoPersona
from teijo.personas.persona import Call, Said
from teijo.speech import tongue
from tests.drives.in_process import NvmeBench
from tests.drives.sg_in_process import SasBench, SataBench

NOW = datetime(2026, 11, 23, 8, 0, 10)


def told(*words: str) -> Said:
    call = Call(words=words, like="", folder=Path(), now=NOW)
    said = CrystalDiskInfoPersona().order("crystaldiskinfo", call)
    assert isinstance(said, Said)
    return said


def facts(text: str) -> dict[str, str]:
    return dict(re.findall(r"^ *([\w# ]+) : (.*?)\r?$", text, re.MULTILINE))


def test_an_nvme_drive_is_shown_by_its_own_bytes(monkeypatch, tmp_path):
    bench = NvmeBench(tmp_path, monkeypatch)
    disk = disk_of(bench.subject())
    text = text_of([disk], system="Linux", date=NOW)
    shown = facts(text)
    assert disk.blind == ()
    assert shown["Model"] == bench.drive.state["model"]
    assert shown["Interface"] == "NVM Express"
    assert shown["Health Status"].startswith("Good (")
    assert shown["Features"].startswith("S.M.A.R.T., TRIM")
    ids = re.findall(r"^([0-9A-F]{2}) [0-9A-F]{12} ", text, re.MULTILINE)
    assert ids[:15] == [f"{number:02X}" for number in range(0x01, 0x10)]
    for dump in ("IDENTIFY_DEVICE", "SMART_NVME"):
        assert text.count(f"-- {dump} ") == 1
    bench.close()


def test_a_sata_drive_is_shown_by_its_own_bytes(monkeypatch, tmp_path):
    bench = SataBench(tmp_path, monkeypatch, size=4 << 30)
    disk = disk_of(bench.subject(), 3)
    text = text_of([disk], system="Linux", date=NOW)
    shown = facts(text)
    assert disk.blind == ()
    assert disk.thresholds != disk.smart
    assert "\r\n05 100 100 _10 000000000000 " in text
    assert shown["Serial Number"] == bench.serial
    assert shown["Interface"] == "Serial ATA"
    assert " [3/X/X, pd1]" in text
    assert "ID Cur Wor Thr RawValues(6) Attribute Name\r\n" in text
    for dump in ("IDENTIFY_DEVICE", "SMART_READ_DATA", "SMART_READ_THRESHOLD"):
        assert text.count(f"-- {dump} ") == 1


def test_a_sas_drive_is_shown_as_far_as_it_is_known(monkeypatch, tmp_path):
    bench = SasBench(tmp_path, monkeypatch)
    text = text_of([disk_of(bench.subject())], system="Linux", date=NOW)
    assert facts(text)["Health Status"] == "Unknown"
    assert "S.M.A.R.T." not in text
    assert "IDENTIFY_DEVICE" not in text


def test_what_could_not_be_read_is_said_and_judged_unknown(monkeypatch, tmp_path):
    bench = SataBench(tmp_path, monkeypatch)
    bench.front.every = (1, "fail")
    disk = disk_of(bench.subject())
    assert disk.blind
    assert verdict_of(disk).word == "Unknown"
    monkeypatch.setattr(persona.CrystalDiskInfoPersona, "_disk", lambda *_: disk)
    said = told("/dev/sda")
    assert said.unread == tuple(("/dev/sda", one) for one in disk.blind)
    assert said.stderr == ""


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_could_not_be_read_is_told_in_the_language_of_who_asked(
    language, monkeypatch, tmp_path, capfd
):
    bench = SataBench(tmp_path, monkeypatch)
    bench.front.every = (1, "fail")
    disk = disk_of(bench.subject())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(persona.CrystalDiskInfoPersona, "_disk", lambda *_: disk)
    with pytest.raises(SystemExit) as ended:
        app.main(["--lang", language, "as", "crystaldiskinfo", "/dev/sda"])
    tongue.speak("en")
    assert ended.value.code == 0
    out, err = capfd.readouterr()
    assert out.startswith("-----")
    begin, *reasons = (
        ("/dev/sda: not read: ", "the drive") if language == "en"
        else ("/dev/sda: 読めません: ", "ドライブ")
    )  # fmt: skip
    lines = err.splitlines()
    assert len(lines) == len(disk.blind)
    for line in lines:
        assert line.startswith(begin)
        assert any(each in line.removeprefix(begin) for each in reasons)


def test_nothing_but_questions_is_sent(monkeypatch, tmp_path):
    bench = NvmeBench(tmp_path, monkeypatch)
    subject = bench.subject()
    before = len(bench.sent)
    disk_of(subject)
    identify, get_log = 0x06, 0x02
    assert {one["opcode"] for one in bench.sent[before:]} == {identify, get_log}
    bench.close()


def test_a_drive_that_does_not_answer_is_left_to_itself(monkeypatch, tmp_path):
    bench = NvmeBench(tmp_path, monkeypatch)
    subject, answers = bench.subject(), Event()
    monkeypatch.setattr(reading, "PATIENCE_NS", 1)
    monkeypatch.setattr(nvme, "identify", lambda *_, **__: bytes(answers.wait()))
    with pytest.raises(StuckDevice, match="was asked of its health") as stuck:
        disk_of(subject)
    answers.set()
    assert stuck.value.has_stuck_ios
    bench.close()


def test_what_is_not_known_of_a_simulated_drive_is_left_out():
    said = told("sim:mlc-a")
    assert "           Model : Simulated MLC-A\r\n" in said.stdout
    assert " (01) Simulated MLC-A : 256.0 GB [0/X/X, un]\r\n" in said.stdout
    assert "Power On Hours" not in said.stdout
    assert "S.M.A.R.T." not in said.stdout
    assert said.files == (("CrystalDiskInfo_20261123080010.txt", said.stdout.encode()),)


def test_what_is_no_drive_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"x" * 2**20)
    for words in ((), (str(tmp_path / "file"),)):
        with pytest.raises((UsageError, TargetError)) as refused:
            told(*words)
        assert refused.value.remedy
    assert "Usage" in told("--help").stdout
