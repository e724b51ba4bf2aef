"""A drive and its health in words: what is not told is left out, what is told stands once."""

from pathlib import Path

import pytest

from teijo.api.crystaldiskinfo import original_disk, original_verdict
from teijo.api.device_json import VERSION, health_json, verdict_json
from teijo.device.drive.seen import look_at
from teijo.device.health.report import HealthReport, health_report, of_subject
from teijo.device.health.verdict import Reason, Verdict, Word
from teijo.speech import device_words, drive_words, health_words, tongue
from teijo.speech.sections import Facts, Section, Table
from tests.drives.disk import Knobs
from tests.drives.in_process import NvmeBench
from tests.drives.sg_in_process import SataBench


@pytest.fixture
def nvme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HealthReport:
    bench = NvmeBench(tmp_path, monkeypatch, ocp=False, smart={"percentage_used": 12})
    report = of_subject(bench.subject())
    bench.close()
    return report


def by_title(sections: list[Section]) -> dict[str, Section]:
    return {each.title: each for each in sections if each.is_told}


def reason(word: Word, numbers: str) -> Reason:
    return Reason(word=word, numbers=numbers, source="a rule")


def test_what_is_empty_is_not_told() -> None:
    assert Facts("x", (("a", ""), ("b", "1"))).shown == [("b", "1")]
    assert not Facts("x", (("a", ""),)).is_told
    assert not Table("x", ("A",), []).is_told
    assert Table("x", ("A",), [], none="none").is_told
    assert Table("x", ("A",), [("1",)]).is_told


def test_names_and_heads_are_in_the_language_that_is_spoken() -> None:
    with tongue.speaking("ja"):
        assert Facts("", (("serial", "S1"),)).shown == [("シリアル番号", "S1")]
        assert Table("", ("VERDICT",), []).heads == ["判定"]


def test_a_verdict_tells_the_reasons_that_make_it_so_and_no_others() -> None:
    worn, hot, fine = reason("bad", "worn"), reason("caution", "hot"), reason("good", "fine")
    assert health_words.grounds(Verdict(reasons=(fine, worn, hot))) == ["worn"]
    assert health_words.verdict_line(Verdict(reasons=(hot, fine))) == "caution: hot"
    assert health_words.grounds(Verdict(reasons=(fine, fine))) == [
        "none of 2 rules speaks against it"
    ]
    assert health_words.grounds(Verdict(reasons=(fine,), blind=("no log",))) == ["no log"]
    assert health_words.grounds(Verdict()) == ["it told nothing that can be judged"]


def test_rules_stand_with_the_worst_first(nvme: HealthReport) -> None:
    reasons = (reason("good", "fine"), reason("bad", "worn"), reason("caution", "hot"))
    worn = HealthReport(
        identity=nvme.identity, geometry=nvme.geometry, counts={}, verdict=Verdict(reasons=reasons)
    )
    table = by_title(list(health_words.sections(worn)))["the verdict's rules"]
    assert [row[0] for row in table.rows] == ["bad", "caution", "good"]


def test_a_drive_tells_its_numbers_by_topic(nvme: HealthReport) -> None:
    told = by_title(list(health_words.sections(nvme)))
    assert ("used", "12 %") in told["life"].rows
    assert ("now", "37 °C") in told["temperature"].rows
    assert health_words.in_short(nvme).shown == [("temperature", "37 °C"), ("life used", "12 %")]
    assert list(told)[-1] == "not told, and why"
    assert health_words.model_line(nvme) == health_words.partition_line(nvme) == ""


def test_a_sata_drive_has_attributes_and_says_how_it_can_be_purged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    subject = SataBench(tmp_path, monkeypatch, Knobs(failing=True)).subject()
    health = by_title(list(health_words.sections(of_subject(subject))))
    row = ("05", "5", "5", "10", "4,711", "reallocated sectors")
    assert row in health["SMART attributes"].rows
    drive = by_title(list(drive_words.sections(look_at(subject))))
    assert ("security", "supported, no password, enhanced erase") in drive["ATA drive"].rows


def test_a_model_is_told_to_be_one() -> None:
    report = health_report("sim:mlc-a")
    assert health_words.model_line(report).startswith("SIMULATED: ")
    original = original_verdict(original_disk("sim:mlc-a", report))
    assert health_words.original_word(original) == "Unknown"
    assert health_words.original_line(original).startswith("CrystalDiskInfo says: Unknown: ")
    shown = device_words.identity_facts(report.identity, report.geometry).shown
    assert ("kind", "simulated") in shown
    told = health_json(report, original)
    assert (told["version"], told["simulated"]) == (VERSION, True)
    assert told["verdict"] == verdict_json(report.verdict)


def test_what_gives_a_device_up_is_one_word_of_a_shell() -> None:
    write = device_words.writing("/dev/a b", "Write:", "S 1", " --accept x")
    assert write.command == "teijo run pts.iops '/dev/a b' --destroy 'S 1' --accept x"
    assert "--destroy" not in device_words.reading("/dev/a", "").command
