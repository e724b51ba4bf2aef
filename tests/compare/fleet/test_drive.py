"""What is kept of a run for a fleet's report, and where each of it comes from."""

from dataclasses import replace

import pytest

from teijo.analysis.quantities import IOPS, LATENCY
from teijo.compare.fleet.drive import drive_of, hottest_c, in_order, slot_of
from teijo.compare.limit import FACT
from teijo.methods.parts import parts_of
from teijo.terms.provenance import GroupName
from tests.compare.fleet.made import record


def test_a_drive_has_its_names_and_every_figure_of_its_run() -> None:
    made = record(3, host="lab-7", celsius=41)
    found = drive_of(made, "out/three.teijo")
    assert (found.name, found.serial, found.fleet) == ("bay-03", "S003", "spring")
    assert (found.host, found.firmware, found.file) == ("lab-7", "F1", "out/three.teijo")
    assert (found.temperature_c, found.is_whole) == (41, True)
    assert found.steps == len(made.steps)
    (part,) = parts_of(made)
    assert {(key.place, key.figure): value.value for key, value in found.values.items()} == {
        (each.place, each.figure): each.value for each in part.found.quantities
    }
    assert {key.figure for key in found.values} == {IOPS}
    assert found.rounds == part.found.rounds > 0


def test_without_a_group_a_drive_goes_by_its_serial_and_the_host_that_was_recorded() -> None:
    made = record(3, environment={"host": "vm-2"})
    alone = replace(made, run=replace(made.run, group={}))
    found = drive_of(alone, "a")
    assert (found.name, found.host, found.fleet) == ("S003", "vm-2", "")


def test_a_latency_test_has_mean_and_maximum_latencies() -> None:
    found = drive_of(record(1, test="lat"), "a")
    assert LATENCY in {key.figure for key in found.values}


def test_the_temperature_is_the_highest_that_the_drive_told() -> None:
    made = record(1, celsius=35)
    hotter = replace(made.readings[0], counters={"temperature_kelvin": 273 + 52})
    assert hottest_c(replace(made, readings=(*made.readings, hotter))) == 52
    assert hottest_c(replace(made, readings=())) is None


def test_a_slot_is_what_was_recorded_or_the_path_of_the_target() -> None:
    made = record(1)
    assert slot_of(made) == ""
    by_path = replace(made.identity, target="/dev/disk/by-path/pci-0000:41:00.0-nvme-1")
    assert slot_of(replace(made, identity=by_path)) == "pci-0000:41:00.0-nvme-1"
    told = replace(made, identity=by_path, environment={"slot": "bay 3"})
    assert slot_of(told) == "bay 3"
    silent = replace(made, environment={"slot": "unknown"})
    assert slot_of(silent) == ""


def test_limits_are_the_run_s_own_and_those_asked_for_now() -> None:
    made = record(1, environment={FACT: "iops[0/100,4KiB] >= 1"})
    found = drive_of(made, "a", ["iops[0/100,4KiB] >= 999,999"])
    assert [(each.text, each.verdict) for each in found.limits] == [
        ("iops[0/100,4KiB] >= 1", "met"),
        ("iops[0/100,4KiB] >= 999,999", "not met"),
    ]


@pytest.mark.parametrize("change", ["interrupted", "running", "failed"])
def test_a_run_that_did_not_end_is_not_whole(change: str) -> None:
    made = record(1)
    ended = replace(made, run=replace(made.run, ending=change))  # type: ignore[arg-type]
    assert not drive_of(ended, "a").is_whole


def test_a_drive_is_the_same_in_two_runs_by_name_and_serial() -> None:
    one, again = drive_of(record(1), "a"), drive_of(record(1), "b")
    other = drive_of(record(2), "c")
    assert one.identity == again.identity != other.identity
    moved = record(1)
    group = {**moved.run.group, GroupName.DRIVE: "bay-09"}
    moved = replace(moved, run=replace(moved.run, group=group))
    assert drive_of(moved, "d").identity != one.identity


def test_names_stand_in_the_order_of_their_numbers() -> None:
    names = ["host-10", "host-9", "a2b10", "a2b9", "host", "10", "9"]
    assert sorted(names, key=in_order) == [
        "9", "10", "a2b9", "a2b10", "host", "host-9", "host-10",
    ]  # fmt: skip
