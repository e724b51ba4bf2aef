"""Preview: bounds that hold, worked out without a device."""

import pytest

from teijo.methods.registry import METHODS, method_named
from teijo.runner.preview import Rates, preview
from teijo.terms.geometry import Geometry
from teijo.units import GIB, NS_PER_S

DRIVE = Geometry(capacity_bytes=256 * GIB, nominal_capacity_bytes=256 * GIB)
MINUTE = 60 * NS_PER_S


def test_iops_takes_from_five_to_twenty_five_rounds() -> None:
    method = method_named("iops")
    found = preview(method, method.settings("2.0.2-client", {}, DRIVE), DRIVE)
    assert found.least.steps == 2 + 5 * 56
    assert found.most.steps == 2 + 25 * 56
    filled_ns = 2 * DRIVE.capacity_bytes * NS_PER_S // Rates().bytes_per_second
    assert found.least.duration_ns == pytest.approx(filled_ns + 5 * 56 * MINUTE, rel=1e-3)
    assert found.most.duration_ns == pytest.approx(filled_ns + 25 * 56 * MINUTE, rel=1e-3)
    assert found.drive_writes_most > found.drive_writes_least > 1.5
    assert "500 MB/s" in found.assumed


@pytest.mark.parametrize(("name", "cells", "ends"), [("tp", 2, 0), ("lat", 9, 1)])
def test_the_other_methods_of_rounds_have_the_same_bounds(name: str, cells: int, ends: int) -> None:
    method = method_named(name)
    found = preview(method, method.settings("2.0.2-client", {}, DRIVE), DRIVE)
    assert found.least.steps == 2 + 5 * cells + ends
    assert found.most.steps == 2 + 25 * cells + ends


@pytest.mark.parametrize("spec", method_named("wsat").specs)
def test_every_version_of_wsat_comes_to_an_end(spec: str) -> None:
    method = method_named("wsat")
    found = preview(method, method.settings(spec, {}, DRIVE), DRIVE)
    assert 0 < found.least.duration_ns <= found.most.duration_ns <= 24 * 60 * MINUTE


def test_a_workload_takes_the_time_it_is_given() -> None:
    method = method_named("workload")
    settings = method.settings("", {"rw": "randread", "seconds": "10"}, DRIVE)
    found = preview(method, settings, DRIVE)
    assert found.least.duration_ns == found.most.duration_ns == 10 * NS_PER_S
    assert found.most.written_bytes == 0


def test_a_faster_drive_is_written_more_in_the_same_time() -> None:
    method = method_named("wsat")
    settings = method.settings("1.0-enterprise", {}, DRIVE)
    slow = preview(method, settings, DRIVE, Rates(bytes_per_second=10**8, ios_per_second=10**4))
    fast = preview(method, settings, DRIVE)
    assert fast.most.written_bytes >= slow.most.written_bytes


def test_a_mix_of_sizes_is_written_by_its_mean_and_not_by_its_largest() -> None:
    method = method_named("workload")
    asked = {"rw": "randwrite", "seconds": "10", "bssplit": "4KiB:3,64KiB:1"}
    found = preview(method, method.settings("", asked, DRIVE), DRIVE)
    ios = min(100_000, 500_000_000 // (19 * 1024)) * 10
    assert found.most.written_bytes == pytest.approx(ios * 19 * 1024, rel=1e-3)


def test_dirth_takes_ten_hours_at_least_and_its_preconditioning_may_be_restless() -> None:
    method = method_named("dirth")
    found = preview(method, method.settings("", {}, DRIVE), DRIVE)
    assert found.least.duration_ns == (121 + 5 * 54 + 3 * 70) * MINUTE
    assert found.most.duration_ns == (721 + 25 * 54 + 3 * 70) * MINUTE


def test_every_method_can_be_previewed() -> None:
    for method in METHODS:
        settings = method.settings(method.default_spec, {}, DRIVE)
        assert preview(method, settings, DRIVE).most.steps > 0
