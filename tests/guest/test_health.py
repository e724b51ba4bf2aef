"""`teijo health` through a kernel, held against nvme-cli and smartctl field by field."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.guest import test_nvme_tcp as nvme_tcp
from tests.guest import test_tcmu as tcmu
from tests.guest.machine import Guest

pytestmark = pytest.mark.vm

HIDDEN = "/run/hidden"
SMART = {
    "critical_warning": "critical_warning", "temperature_kelvin": "temperature",
    "available_spare_percent": "avail_spare", "spare_threshold_percent": "spare_thresh",
    "percentage_used": "percent_used", "read_commands": "host_read_commands",
    "write_commands": "host_write_commands", "busy_minutes": "controller_busy_time",
    "power_cycles": "power_cycles", "power_on_hours": "power_on_hours",
    "unsafe_shutdowns": "unsafe_shutdowns", "media_errors": "media_errors",
    "error_log_entries": "num_err_log_entries",
    "warning_temperature_minutes": "warning_temp_time",
    "critical_temperature_minutes": "critical_comp_time",
    "sensor_1_kelvin": "temperature_sensor_1", "sensor_2_kelvin": "temperature_sensor_2",
    "thermal_1_transitions": "thm_temp1_trans_count",
    "thermal_2_seconds": "thm_temp2_total_time",
}  # fmt: skip


def told(guest: Guest, device: str, *, fresh: bool = False) -> dict[str, Any]:
    said = guest.run(["teijo", "health", device, "--json"], timeout=120, fresh=fresh).good()
    found: dict[str, Any] = json.loads(said)
    return found


def smartctl(drive: tcmu.Drive) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(drive.run("smartctl -j -a -l devstat {} || true"))
    return found


def missing(logs: Mapping[str, Any]) -> dict[str, str]:
    return {name: one["not_told"] for name, one in logs.items() if one["not_told"]}


def test_an_nvme_drive_is_told_without_smartctl_as_nvme_cli_tells_it(guest: Guest) -> None:
    knobs = {
        "temperature": 321.0,
        "smart": {"percentage_used": 7, "media_errors": 2**64 + 5, "spare": 91, "t1_count": 9,
                  "t2_seconds": 77, "warning_minutes": 3, "critical_minutes": 1},
    }  # fmt: skip
    with nvme_tcp.plugged(guest, **knobs) as drive:
        guest.run(f"mkdir {HIDDEN} && mv $(command -v smartctl) {HIDDEN}").good()
        try:
            seen = told(guest, drive.node(1), fresh=True)
        finally:
            guest.run(f"mv {HIDDEN}/smartctl /usr/sbin/ && rmdir {HIDDEN}").good()
        its = drive.told("smart-log")
    counters = seen["counters"]
    assert seen["kind"] == "nvme"
    assert {name: counters[name] for name in SMART} == {
        name: int(its[theirs]) for name, theirs in SMART.items()
    }
    for name, theirs in (("host_reads_bytes", "data_units_read"),
                         ("host_writes_bytes", "data_units_written")):  # fmt: skip
        assert counters[name] == int(its[theirs]) * 512_000
    assert missing(seen["logs"]) == {}
    assert (seen["verdict"]["word"], seen["crystaldiskinfo"]["word"]) == ("caution", "Good")
    assert [one["numbers"] for one in seen["verdict"]["reasons"] if one["word"] != "good"] == [
        f"{2**64 + 5} media errors"
    ]


def test_a_sata_drive_is_told_as_smartctl_tells_it(guest: Guest) -> None:
    with tcmu.plugged(guest, "sata", temperature=41, percent_used=6) as drive:
        seen, its = told(guest, drive.node), smartctl(drive)
    counters, logs = seen["counters"], seen["logs"]
    assert (seen["kind"], seen["verdict"]["word"]) == ("ata", "good")
    assert seen["crystaldiskinfo"]["word"] == "Good"
    assert [
        counters["temperature_kelvin"] - 273, counters["power_on_hours"],
        counters["power_cycles"], logs["smart_status"]["told"],
    ] == [
        its["temperature"]["current"], its["power_on_time"]["hours"], its["power_cycle_count"],
        not its["smart_status"]["passed"],
    ]  # fmt: skip
    assert [
        [one["number"], one["value"], one["worst"], one["threshold"], one["raw"]]
        for one in logs["attributes"]["told"]
    ] == [
        [one["id"], one["value"], one["worst"], one["thresh"], one["raw"]["value"]]
        for one in its["ata_smart_attributes"]["table"]
    ]
    theirs = [
        [page["number"], one["value"]]
        for page in its["ata_device_statistics"]["pages"]
        for one in page["table"]
    ]
    assert [[one["page"], one["value"]] for one in logs["statistics"]["told"]] == theirs
    assert len(theirs) > 10
    assert [one["code"] for one in logs["self_tests"]["told"]["results"]] == [
        one["status"]["value"] >> 4
        for one in its["ata_smart_self_test_log"]["standard"].get("table", [])
    ]
    assert logs["errors"]["told"] == its["ata_smart_error_log"]["summary"]["count"]
    assert missing(logs) == {}


def test_a_sas_drive_is_told_as_smartctl_tells_it_and_watched_until_ctrl_c(guest: Guest) -> None:
    with tcmu.plugged(guest, "sas", temperature=43, percent_used=8) as drive:
        drive.run("smartctl -t short {} >/dev/null")
        its = smartctl(drive)
        seen = told(guest, drive.node)
        watch = guest.start(f"teijo health {drive.node} --json --watch 1s")
        for _ in range(120):
            said, ended = watch.look(timeout=1)
            assert not ended, said
            if said.out.count('"kind": "look"') >= 2:
                break
        watch.kill("SIGINT")
        ended_well = watch.wait()
    counters, logs = seen["counters"], seen["logs"]
    assert (seen["kind"], seen["verdict"]["word"]) == ("scsi", "good")
    assert [
        counters["temperature_kelvin"] - 273, counters["percentage_used"],
        counters["power_on_hours"], logs["temperature"]["told"]["reference_celsius"],
    ] == [
        its["temperature"]["current"], its["scsi_percentage_used_endurance_indicator"],
        its["power_on_time"]["hours"], its["temperature"]["drive_trip"],
    ]  # fmt: skip
    errors = its["scsi_error_counter_log"]
    # It leaves out what counts nothing but zeros.
    assert errors.keys() >= {"read", "write"}
    for name in errors:
        ours = logs[f"{name}_errors"]["told"]
        assert ours["uncorrected"] == errors[name]["total_uncorrected_errors"]
        assert ours["corrected"] == errors[name]["total_errors_corrected"]
        gigabytes = float(errors[name]["gigabytes_processed"])
        assert ours["processed_bytes"] / 1e9 == pytest.approx(gigabytes, abs=0.001)
    assert logs["self_tests"]["told"]["results"][0]["ended"] == "passed"
    assert missing(logs) == {"performance": "the drive does not list this page"}
    assert ended_well.code == 0, ended_well
    lines = [json.loads(line) for line in ended_well.out.splitlines()]
    assert [line["kind"] for line in lines[:2]] == ["look", "look"]
    assert lines[-1]["kind"] == "summary"
    assert lines[0]["counters"]["temperature_kelvin"] == 43 + 273
