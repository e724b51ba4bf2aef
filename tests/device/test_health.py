"""Counters: the units smartctl's JSON has, and the columns of the kernel's statistics."""

from pathlib import Path

from teijo.device.health.asked import kernel_counters
from teijo.device.health.smart import smart_counters
from teijo.device.kernel import Number
from teijo.device.stack import Node


def test_nvme_counts_in_thousands_of_512_bytes() -> None:
    answer = {
        "nvme_smart_health_information_log": {
            "data_units_written": 3,
            "data_units_read": 2,
            "percentage_used": 7,
            "media_errors": 0,
        },
        "temperature": {"current": 41},
        "power_on_time": {"hours": 12},
    }
    assert smart_counters(answer) == {
        "host_writes_bytes": 1_536_000,
        "host_reads_bytes": 1_024_000,
        "percentage_used": 7,
        "media_errors": 0,
        "temperature_kelvin": 314,
        "power_on_hours": 12,
    }


def test_what_is_not_counted_is_absent() -> None:
    assert smart_counters({}) == {}
    odd = {"nvme_smart_health_information_log": None, "temperature": {"current": None}}
    assert smart_counters(odd) == {}


def test_the_kernels_columns_are_read_by_their_place(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text(" 10 0 80 5 20 0 1600 9 0 14 14 3 0 24 1 4 2\n")
    node = Node(number=Number(8, 0), name="sda", folder=tmp_path)
    assert kernel_counters(node) == {
        "kernel_reads": 10,
        "kernel_read_bytes": 40_960,
        "kernel_writes": 20,
        "kernel_write_bytes": 819_200,
        "kernel_discard_bytes": 12_288,
        "kernel_flushes": 4,
    }
    (tmp_path / "stat").unlink()
    assert kernel_counters(node) == {}
