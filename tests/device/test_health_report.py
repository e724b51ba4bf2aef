"""All of a drive's health on emulated drives: each log told with its source, or why it is not."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from teijo.device.commands import nvme, seam
from teijo.device.health import report as reports
from teijo.device.health.report import HealthReport, drive_of, health_report, of_subject
from teijo.device.health.smartctl_answer import decoded
from teijo.errors import StuckDevice, TargetError
from tests.device.test_stack import Tree
from tests.drives.disk import Knobs
from tests.drives.in_process import NvmeBench
from tests.drives.sg_in_process import SasBench, SataBench

Made = Callable[..., NvmeBench]


@pytest.fixture
def nvme_bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    made: list[NvmeBench] = []

    def build(**knobs: object) -> NvmeBench:
        made.append(NvmeBench(tmp_path, monkeypatch, **knobs))
        return made[-1]

    yield build
    for one in made:
        one.close()


def logs(report: HealthReport) -> dict[str, tuple[bool, str]]:
    assert report.seen is not None
    return {one.name: (one.told is not None, one.not_told) for one in report.seen.logs}


def words(report: HealthReport) -> set[tuple[str, str]]:
    return {(one.word, one.numbers) for one in report.verdict.reasons}


def test_an_nvme_drive_tells_every_log_by_its_own_commands(nvme_bench: Made) -> None:
    bench = nvme_bench(
        smart={"percentage_used": 7, "spare": 91, "media_errors": 0}, temperature=321.0
    )
    seen = of_subject(bench.subject())
    assert seen.verdict.word == "good"
    told = ("temperature_kelvin", "available_spare_percent", "percentage_used", "power_on_hours")
    assert [seen.counts[name] for name in told] == [321, 91, 7, 1234]
    assert [seen.counts[f"{name}_limit_kelvin"] for name in ("warning", "critical")] == [343, 353]
    names = ("smart", "ocp", "errors", "self_tests", "endurance_groups", "limits")
    assert logs(seen) == dict.fromkeys(names, (True, ""))
    asked = {one["cdw"][0] & 0xFF for one in bench.sent if one["opcode"] == nvme.GET_LOG_PAGE}
    assert asked == {0x02, 0xC0, 0x01, 0x06, 0x09}
    assert "not_told" not in json.dumps(words(seen), default=list)


def test_a_log_that_a_drive_has_not_says_why_and_the_others_are_told(nvme_bench: Made) -> None:
    seen = of_subject(nvme_bench(ocp=False, oacs=0x0A).subject())
    told = logs(seen)
    assert told["ocp"] == (False, "the drive refuses it (invalid log page)")
    assert told["self_tests"] == (False, "the drive has no self-test")
    assert told["smart"] == (True, "")
    assert "media_writes_bytes" not in seen.counts
    assert seen.verdict.word == "good"


def test_a_drive_of_which_the_main_log_is_not_told_is_never_good(
    nvme_bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = nvme_bench()
    monkeypatch.setattr("teijo.device.health.smartctl_answer.SEARCH", "")
    real = nvme.log_page

    def log_page(fd: int, page: int, length: int, **more: int) -> bytes:
        return bytes(length) if page == nvme.SMART_LOG else real(fd, page, length, **more)

    monkeypatch.setattr(nvme, "log_page", log_page)
    seen = of_subject(bench.subject())
    assert seen.verdict.word == "unknown"
    assert seen.verdict.blind == ("NVMe log 02h: the drive's SMART log (02h) is blank",)
    monkeypatch.setattr(nvme, "log_page", real)
    assert of_subject(bench.subject()).verdict.word == "good"


def test_warnings_the_spare_and_a_failed_self_test_are_reasons(nvme_bench: Made) -> None:
    bench = nvme_bench(smart={"spare": 9, "spare_threshold": 10, "media_errors": 2})
    bench.drive.state["self_tests"] = [(1, 0, 5), (2, 7, 1200)]
    seen = of_subject(bench.subject())
    assert seen.verdict.word == "bad"
    assert words(seen) >= {
        ("bad", "critical warning 0x01: spare-low"),
        ("bad", "spare 9 %, threshold 10 %"),
        ("bad", "1 of 2 self-tests failed, the newest failed"),
        ("caution", "2 media errors"),
    }
    assert {one.numbers for one in seen.verdict.grounds} == {
        numbers for word, numbers in words(seen) if word == "bad"
    }


@pytest.fixture
def sata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., SataBench]:
    return lambda **knobs: SataBench(tmp_path, monkeypatch, Knobs(**knobs))


@pytest.fixture
def sas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., SasBench]:
    return lambda **knobs: SasBench(tmp_path, monkeypatch, Knobs(**knobs))


def test_a_sata_drive_tells_its_attributes_statistics_and_status(
    sata: Callable[..., SataBench],
) -> None:
    seen = of_subject(sata(temperature=41, percent_used=6).subject())
    assert (seen.verdict.word, seen.seen and seen.seen.kind) == ("good", "ata")
    told = ("temperature_kelvin", "percentage_used", "power_on_hours", "power_cycles")
    assert [seen.counts[name] for name in told] == [314, 6, 1234, 1]
    assert set(logs(seen).values()) == {(True, "")}
    assert seen.seen is not None
    assert seen.seen.ata is not None
    worn = next(one for one in seen.seen.ata.attributes or () if one.number == 0xB1)
    assert (worn.name, worn.value, worn.threshold, worn.raw) == ("wear levelling count", 94, 10, 20)
    pages = {one.page for one in seen.seen.ata.statistics or ()}
    assert pages == {1, 4, 5, 6, 7}


def test_a_failing_sata_drive_is_bad_and_says_which_attribute(
    sata: Callable[..., SataBench],
) -> None:
    seen = of_subject(sata(failing=True).subject())
    assert seen.verdict.word == "bad"
    assert words(seen) >= {
        ("bad", "05h reallocated sectors: value 5, threshold 10"),
        ("bad", "the drive says: threshold exceeded"),
        ("caution", "05h reallocated sectors: 4711 raw"),
    }


def test_a_bridge_that_keeps_the_registers_back_leaves_the_attributes(
    sata: Callable[..., SataBench],
) -> None:
    seen = of_subject(sata(task_file=False).subject())
    told = logs(seen)
    assert told["smart_status"][0] is False
    assert "keeps" in told["smart_status"][1]
    assert told["attributes"] == (True, "")
    assert seen.verdict.word == "good"


def test_a_sas_drive_tells_the_pages_it_lists(sas: Callable[..., SasBench]) -> None:
    bench = sas(temperature=44, percent_used=8)
    seen = of_subject(bench.subject())
    assert (seen.verdict.word, seen.seen and seen.seen.kind) == ("good", "scsi")
    told = ("temperature_kelvin", "percentage_used", "power_on_hours", "media_errors")
    assert [seen.counts[name] for name in told] == [317, 8, 1234, 0]
    missing = {name: why for name, (is_told, why) in logs(seen).items() if not is_told}
    assert missing == {"performance": "the drive does not list this page"}


def test_a_sas_drive_that_expects_to_fail_is_bad(sas: Callable[..., SasBench]) -> None:
    seen = of_subject(sas(failing=True).subject())
    assert (seen.verdict.word, [one.numbers for one in seen.verdict.grounds]) == (
        "bad", ["failure ahead (5Dh/10h)"],
    )  # fmt: skip


def test_no_command_of_it_changes_a_sata_drive(sata: Callable[..., SataBench]) -> None:
    bench = sata()
    of_subject(bench.subject())
    assert set(bench.names()) == {"INQUIRY", "SMART", "READ LOG EXT"}


def test_no_command_of_it_changes_an_nvme_drive(nvme_bench: Made) -> None:
    bench = nvme_bench()
    of_subject(bench.subject())
    assert set(bench.opcodes()) == {nvme.IDENTIFY, nvme.GET_LOG_PAGE, nvme.GET_FEATURES}


def test_a_drive_that_hangs_is_left_and_what_it_said_is_kept(
    nvme_bench: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = nvme_bench()
    subject = bench.subject()

    def stuck(*_: object, **__: object) -> None:
        raise StuckDevice("What it was asked does not come back")

    monkeypatch.setattr("teijo.device.health.snapshot.watched", stuck)
    seen = of_subject(subject)
    assert seen.verdict.word == "unknown"
    assert seen.seen is not None
    assert isinstance(seen.seen.stuck, StuckDevice)


def test_a_file_and_a_loop_device_name_what_they_lie_on(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x")
    with pytest.raises(TargetError) as refused:
        health_report(str(file))
    assert "is a file, which has no health of its own" in refused.value.message


def test_what_lies_on_a_drive_names_it_and_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = Tree(tmp_path)
    tree.disk("sdb", "8:16")
    number = tree.node(tree.roots.sys / "devices" / "pci0" / "sdb").number
    monkeypatch.setattr(reports, "_under_path", lambda *_: frozenset({number}))
    drive = tree.roots.dev / "sdb"
    with pytest.raises(TargetError) as refused, drive_of(str(tmp_path), tree.roots):
        pass
    assert f"below it is {drive}" in refused.value.message
    assert refused.value.remedy == f"Ask the drive: teijo health {drive}"


def test_several_targets_are_asked_one_by_one() -> None:
    with pytest.raises(TargetError) as refused:
        health_report("stripe:a?size=1MiB,b?size=1MiB")
    assert refused.value.remedy.startswith("Ask each: teijo health 'a?size=1MiB' and teijo health ")


def test_a_simulated_drive_has_the_counters_of_its_model_and_no_verdict() -> None:
    seen = health_report("sim:mlc-a")
    assert (seen.is_simulated, seen.verdict.word) == (True, "unknown")
    assert "nand_writes_bytes" in seen.counts


SMARTCTL = {
    "smartctl": {
        "version": [7, 3],
        "exit_status": 0b1001000,
        "messages": [{"string": "Unknown USB bridge", "severity": "error"}, {"string": 7}, None],
    },
    "smart_status": {"passed": False},
    "temperature": {"current": 40},
    "power_cycle_count": 12,
    "endurance_used": {"current_percent": 3},
    "spare_available": {"current_percent": 90, "threshold_percent": 10},
    "ata_smart_attributes": {
        "table": [
            {"id": 5, "value": 90, "worst": 80, "thresh": 10, "flags": {"value": 51},
             "raw": {"value": 3}},
            {"id": "5"}, 7, {"id": 300, "value": 1, "worst": 1},
        ]
    },
}  # fmt: skip


def test_smartctl_is_read_with_its_exit_bits_and_messages() -> None:
    answer = decoded(SMARTCTL)
    assert (answer.version, answer.exit_bits, answer.passed) == ("7.3", (3, 6), False)
    assert answer.troubles == (
        "the drive says that it is failing",
        "the drive's error log has errors",
        "Unknown USB bridge",
    )
    assert answer.counts == {
        "temperature_kelvin": 313, "power_cycles": 12, "percentage_used": 3,
        "available_spare_percent": 90, "spare_threshold_percent": 10,
    }  # fmt: skip
    (one,) = answer.attributes
    assert (one.number, one.value, one.threshold, one.raw) == (5, 90, 10, 3)


def test_nonsense_of_smartctl_tells_nothing() -> None:
    for nonsense in ({}, {"smartctl": 7, "smart_status": [], "temperature": None}):
        answer = decoded(nonsense)
        assert (answer.is_blind, answer.exit_bits, answer.troubles) == (True, (), ())


def test_smartctl_is_asked_where_the_drive_itself_tells_nothing(
    sas: Callable[..., SasBench], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def read(disk: object, _roots: object) -> object:
        asked.append(disk)
        return decoded(SMARTCTL)

    monkeypatch.setattr("teijo.device.health.smartctl_answer.read", read)
    bench = sas()
    assert of_subject(bench.subject()).verdict.word == "good"
    assert asked == []
    real = seam.ioctl

    def no_logs(fd: int, request: int, argument: bytearray | int = 0) -> int:
        done = real(fd, request, argument)
        if "LOG SENSE" in bench.names()[-1:]:
            raise OSError(5, "refused")
        return done

    monkeypatch.setattr(seam, "ioctl", no_logs)
    seen = of_subject(bench.subject())
    assert len(asked) == 1
    assert (seen.verdict.word, seen.verdict.blind) == ("bad", ())
    assert ("bad", "bit 3: the drive says that it is failing") in words(seen)
    assert seen.counts["temperature_kelvin"] == 313


def test_a_partition_is_asked_for_its_whole_drive_and_that_is_said(nvme_bench: Made) -> None:
    bench = nvme_bench()
    whole = bench.subject()
    folder = bench.tree.part(whole.found.node.folder, 1, "259:7")
    part = replace(whole, found=replace(whole.found, node=bench.tree.node(folder)))
    seen = of_subject(part)
    assert (of_subject(whole).whole, seen.whole) == ("", str(bench.tree.roots.dev / "nvme0n1"))
    assert seen.counts["power_on_hours"] == 1234
