"""Our decoding of an NVMe drive's logs held against nvme-cli's, on drawn bytes (see witness.c)."""

import random

import pytest

from teijo.device.health import nvme_logs, nvme_more, self_tests
from teijo.units import GIGA
from tests.device.test_drive_witnesses import UNSIGNED, Witness, library, witness

__all__ = ["library", "witness"]

SEEDS = range(2)
SMART = {
    "critical_warning": "critical_warning", "percentage_used": "percent_used",
    "read_commands": "host_read_commands", "write_commands": "host_write_commands",
    "busy_minutes": "controller_busy_time", "power_cycles": "power_cycles",
    "power_on_hours": "power_on_hours", "unsafe_shutdowns": "unsafe_shutdowns",
    "media_errors": "media_errors", "error_log_entries": "num_err_log_entries",
    "warning_temperature_minutes": "warning_temp_time",
    "critical_temperature_minutes": "critical_comp_time",
    "thermal_1_transitions": "thm_temp1_trans_count",
    "thermal_2_transitions": "thm_temp2_trans_count",
    "thermal_1_seconds": "thm_temp1_total_time", "thermal_2_seconds": "thm_temp2_total_time",
    "group_warning": "endurance_grp_critical_warning_summary",
}  # fmt: skip
GROUP = {
    "critical_warning": "critical_warning", "available_spare_percent": "avl_spare",
    "spare_threshold_percent": "avl_spare_threshold", "percentage_used": "percent_used",
    "read_commands": "host_read_cmds", "write_commands": "host_write_cmds",
    "media_errors": "media_data_integrity_err", "error_log_entries": "num_err_info_log_entries",
}  # fmt: skip
BILLIONS = {
    "endurance_estimate_bytes": "endurance_estimate", "host_reads_bytes": "data_units_read",
    "host_writes_bytes": "data_units_written", "media_writes_bytes": "media_units_written",
}  # fmt: skip


def put(witness: Witness, page: int, raw: bytes) -> None:
    for number in ("0", "ffffffff"):
        witness.put(f"02-{page:04x}-{number}", raw)


def number(text: object) -> int:
    """Return a number of nvme-cli: of 16 bytes it is a text, of 4 it may be a signed one."""
    value = int(str(text))
    return value & UNSIGNED if value < 0 else value


@pytest.mark.parametrize("seed", SEEDS)
def test_the_smart_log_is_what_nvme_cli_says(witness: Witness, seed: int) -> None:
    raw = bytearray(random.Random(seed).randbytes(512))
    raw[1:3] = (310 + seed).to_bytes(2, "little")
    raw[3:5] = bytes((40, 10))
    for at in range(200, 216, 2):
        raw[at : at + 2] = (300 + at).to_bytes(2, "little")
    put(witness, 0x02, bytes(raw))
    its = witness.json("nvme", "smart-log", "/dev/null", "-o", "json")
    ours = nvme_logs.smart(bytes(raw))
    assert {name: ours[name] for name in SMART} == {
        name: number(its[theirs]) for name, theirs in SMART.items()
    }
    assert ours["temperature_kelvin"] == its["temperature"]
    assert ours["available_spare_percent"] == its["avail_spare"]
    assert ours["spare_threshold_percent"] == its["spare_thresh"]
    sensors = tuple(its[f"temperature_sensor_{place}"] for place in range(1, 9))
    assert ours["sensors_kelvin"] == sensors
    for name, theirs in (("host_reads_bytes", "data_units_read"),
                         ("host_writes_bytes", "data_units_written")):  # fmt: skip
        assert ours[name] == number(its[theirs]) * 512_000


@pytest.mark.parametrize("seed", SEEDS)
def test_the_error_log_is_what_nvme_cli_says(witness: Witness, seed: int) -> None:
    raw = random.Random(seed).randbytes(4 * 64)
    put(witness, 0x01, raw)
    witness.put("06-0001-0", bytes(262) + b"\3" + bytes(4096 - 263))
    its = witness.json("nvme", "error-log", "/dev/null", "-e", "4", "-o", "json")["errors"]
    theirs = sorted(its, key=lambda one: int(one["error_count"]), reverse=True)
    ours = nvme_more.errors_of(raw)
    assert [(one.number, one.queue, one.command_id, one.status, one.lba, one.namespace)
            for one in ours] == [
        (one["error_count"], one["sqid"], one["cmdid"], one["status_field"], one["lba"],
         number(one["nsid"])) for one in theirs
    ]  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_the_self_test_log_is_what_nvme_cli_says(witness: Witness, seed: int) -> None:
    chance = random.Random(seed)
    raw = bytearray(564)
    raw[0:2] = bytes((2, 61))
    for place in range(20):
        at = 4 + 28 * place
        raw[at : at + 28] = chance.randbytes(28)
        raw[at] = 2 << 4 | (chance.randrange(10) if place < 9 else 0xF)
        raw[at + 2] = 0b1111
    put(witness, 0x06, bytes(raw))
    its = witness.json("nvme", "self-test-log", "/dev/null", "-o", "json")
    ours = self_tests.of_nvme(bytes(raw))
    assert (ours.running, ours.done_percent) == (
        "extended", its["Current Device Self-Test Completion"],
    )  # fmt: skip
    theirs = [one for one in its["List of Valid Reports"] if one["Self test result"] != 0xF]
    assert [(one.code, one.hours, one.failing_lba) for one in ours.results] == [
        (one["Self test result"], one["Power on hours"], one["Failing LBA"]) for one in theirs
    ]
    assert len(ours.results) == 9


@pytest.mark.parametrize("seed", SEEDS)
def test_an_endurance_group_is_what_nvme_cli_says(witness: Witness, seed: int) -> None:
    raw = random.Random(seed).randbytes(512)
    put(witness, 0x09, raw)
    its = witness.json("nvme", "endurance-log", "/dev/null", "-g", "1", "-o", "json")
    ours = nvme_more.group_of(raw, 1)
    assert {name: getattr(ours, name) for name in GROUP} == {
        name: number(its[theirs]) for name, theirs in GROUP.items()
    }
    assert {name: getattr(ours, name) for name in BILLIONS} == {
        name: number(its[theirs]) * GIGA for name, theirs in BILLIONS.items()
    }
