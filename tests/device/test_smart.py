"""SMART: what smartctl's JSON says of each kind of drive, and that no answer of it is believed."""

import copy
import json
import random
from typing import Any

import pytest

from teijo.device.health.smart import answer_of, smart_counters, warning_bits

NVME: dict[str, Any] = {
    "json_format_version": [1, 0],
    "smartctl": {"version": [7, 3], "exit_status": 0},
    "device": {"name": "/dev/nvme0", "type": "nvme", "protocol": "NVMe"},
    "smart_status": {"passed": True, "nvme": {"value": 0}},
    "nvme_smart_health_information_log": {
        "critical_warning": 0, "temperature": 41, "available_spare": 100,
        "available_spare_threshold": 10, "percentage_used": 3, "data_units_read": 2,
        "data_units_written": 3, "host_reads": 12, "host_writes": 15, "power_on_hours": 12,
        "media_errors": 0, "warning_temp_time": 0, "critical_comp_time": 0, "unsafe_shutdowns": 1,
    },
    "temperature": {"current": 41},
    "power_on_time": {"hours": 12},
}  # fmt: skip
ATA: dict[str, Any] = {
    "smartctl": {"version": [7, 3], "exit_status": 0},
    "device": {"name": "/dev/sda", "type": "sat", "protocol": "ATA"},
    "smart_status": {"passed": True},
    "ata_smart_attributes": {"table": [{"id": 5, "raw": {"value": 0}}]},
    "temperature": {"current": 33},
    "power_on_time": {"hours": 4021},
}
SCSI: dict[str, Any] = {
    "smartctl": {"version": [7, 3], "exit_status": 0},
    "device": {"name": "/dev/sdb", "type": "scsi", "protocol": "SCSI"},
    "smart_status": {"passed": True},
    "temperature": {"current": 30, "drive_trip": 65},
}
BRIDGE: dict[str, Any] = {
    "smartctl": {
        "version": [7, 3],
        "exit_status": 2,
        "messages": [{"string": "Unknown USB bridge [0x1234:0x5678]", "severity": "error"}],
    }
}


def failed(answer: dict[str, Any], **sense: object) -> dict[str, Any]:
    status = {"passed": False} | ({"scsi": sense} if sense else {})
    return answer | {"smart_status": status, "smartctl": {"exit_status": 8}}


def nvme_with(bits: object, passed: object = True) -> dict[str, Any]:
    log = NVME["nvme_smart_health_information_log"] | {"critical_warning": bits}
    status = {"smart_status": {"passed": passed}}
    return NVME | status | {"nvme_smart_health_information_log": log}


@pytest.mark.parametrize(
    ("answer", "bits"),
    [
        (NVME, 0),
        (nvme_with(4, passed=False), 4),
        (nvme_with(0xFF, passed=False), 0xFF),
        (nvme_with(2, passed=True), 2),
        (ATA, 0),
        (failed(ATA), 4),
        (SCSI, 0),
        (failed(SCSI, asc=0x5D, ascq=0x32, ie_string="FIRMWARE IMPENDING FAILURE"), 4),
        (failed(SCSI, asc=0x0B, ascq=0x01, ie_string="WARNING - TEMPERATURE EXCEEDED"), 2),
        (failed(SCSI, asc=0x0B, ascq=0x06), 16),
        (failed(SCSI, asc=0x0B, ascq=0x03), 64),
        ({"smartctl": {"exit_status": 8}}, 4),
    ],
    ids=[
        "NVMe", "NVMe degraded", "NVMe all", "NVMe hot", "ATA", "ATA failed", "SCSI",
        "SCSI failing", "SCSI hot", "SCSI cache", "SCSI other", "exit status alone",
    ],
)  # fmt: skip
def test_each_kind_of_drive_says_its_warnings_as_the_bits_of_nvme(
    answer: dict[str, Any], bits: int
) -> None:
    assert warning_bits(answer) == bits
    assert smart_counters(answer)["critical_warning"] == bits


@pytest.mark.parametrize("answer", [{}, BRIDGE, {"smart_status": {}}, {"device": {}}])
def test_where_nothing_is_told_health_is_unknown_and_never_good(answer: dict[str, Any]) -> None:
    assert warning_bits(answer) is None
    assert "critical_warning" not in smart_counters(answer)


@pytest.mark.parametrize(
    "bits", [None, "0", "4", -1, 256, 2**70, 4.0, True, [], {}, float("nan"), float("inf")]
)
def test_bits_of_another_type_or_range_are_no_health(bits: object) -> None:
    assert warning_bits(nvme_with(bits)) is None
    assert warning_bits(nvme_with(bits, passed=False)) == 4


@pytest.mark.parametrize("passed", [None, "true", 1, 0, [], {}, "FAILED"])
def test_an_assessment_of_another_type_is_no_health(passed: object) -> None:
    assert warning_bits(ATA | {"smart_status": {"passed": passed}}) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "empty"),
        (b"null", "no object"),
        (b"[1, 2]", "no object"),
        (b'{"smart_status": {"passed": true}', "cut off"),
        (b"\xff\xfe\x00", "no text"),
        (b'{"a":' * 100_000, "too deep"),
        (b'{"a": ' + b"9" * 5000 + b"}", "a number of 5,000 digits"),
        (b'{"smart_status": {"passed": true, "passed": false}}', "two answers"),
        (b'{"smart_status": {"passed": false}, "smart_status": {"passed": true}}', "two answers"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_answer_or_two_is_none(text: bytes, why: str) -> None:
    assert answer_of(text) is None, why


def test_a_key_that_stands_twice_with_one_value_is_believed() -> None:
    assert answer_of(b'{"smart_status": {"passed": true, "passed": true}}') is not None


def test_nan_and_infinity_are_no_counters() -> None:
    text = json.dumps({"temperature": {"current": float("nan")}, "power_on_time": {"hours": 1e999}})
    answer = answer_of(text.encode())
    assert answer is not None
    assert smart_counters(answer) == {}


def test_zero_kelvin_and_hours_below_zero_are_not_told() -> None:
    assert smart_counters({"temperature": {"current": -273}, "power_on_time": {"hours": -1}}) == {}
    assert smart_counters({"temperature": {"current": -272}}) == {"temperature_kelvin": 1}


JUNK: tuple[Any, ...] = (
    None, True, False, -1, 0, 255, 256, 2**64, 2**4000, -(2**4000), 1.5, float("nan"),
    float("-inf"), "", "\x1b[2J", "ÿ" * 1000, [], [[]], {}, {"": None}, {"current": {"current": 1}},
)  # fmt: skip


def test_no_answer_of_wrong_types_crashes_or_leaves_its_range() -> None:
    rng = random.Random(1)
    for _ in range(5000):
        answer = json.loads(json.dumps(rng.choice((NVME, ATA, SCSI, BRIDGE))))
        for _ in range(rng.randrange(1, 6)):
            group = answer
            while True:
                key = rng.choice(list(group))
                if isinstance(group[key], dict) and group[key] and rng.random() < 0.7:
                    group = group[key]
                    continue
                group[key] = copy.deepcopy(rng.choice(JUNK))
                break
        counters = smart_counters(answer)
        assert all(type(value) is int and 0 <= value < 2**150 for value in counters.values())
        assert 0 <= counters.get("critical_warning", 0) <= 255
        cut = json.dumps(answer).encode()[: rng.randrange(400)]
        assert isinstance(answer_of(cut), dict | None)
