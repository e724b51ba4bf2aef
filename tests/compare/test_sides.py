"""Who is compared: names, what the sides are to each other, and the tests they share."""

from dataclasses import replace

import pytest

from teijo.compare.sides import check_sides, kind_of, matches_of, names_for
from teijo.errors import UsageError
from tests.compare.drawn import drive, record, side


def test_different_devices_are_named_by_their_models_without_what_these_share() -> None:
    models = [record(n, identity=drive(model=f"Acme {name}")) for n, name in enumerate("AB")]
    assert names_for(models, ["x", "y"]) == ["A", "B"]


def test_devices_of_one_model_are_named_by_their_serials_and_one_device_by_its_firmware() -> None:
    serials = [record(n, identity=drive(serial=f"S{n}")) for n in (1, 2)]
    assert names_for(serials, ["x", "y"]) == ["S1", "S2"]
    firmwares = [record(n, identity=drive(firmware=f"F{n}")) for n in (1, 2)]
    assert names_for(firmwares, ["x", "y"]) == ["F1", "F2"]


def test_one_device_is_named_by_its_files_without_what_their_names_share() -> None:
    runs = [record(1), record(2)]
    stems = ["pts.iops-before-20260101", "pts.iops-after-20260101"]
    assert names_for(runs, stems) == ["before", "after"]
    assert names_for(runs, ["run", "run"]) == ["1: run", "2: run"]


@pytest.mark.parametrize(
    ("serials", "told"),
    [
        (["S1", "S1"], "One device (S1), before and after."),
        (["S1", "S1", "S1"], "One device (S1) in 3 states."),
        (["S1", "S2"], "2 different devices."),
        (["S1", "S2", "S2"], "2 devices on 3 sides: some are on more than one."),
        (["S1", ""], "It is not known whether this is one device: a serial number is missing."),
    ],
)
def test_what_the_sides_are_is_read_from_their_serial_numbers(
    serials: list[str], told: str
) -> None:
    sides = [side(str(n), record(n, identity=drive(serial=s))) for n, s in enumerate(serials)]
    assert kind_of(sides) == told


def test_another_firmware_of_one_device_is_said() -> None:
    sides = [side(f, record(n, identity=drive(firmware=f))) for n, f in enumerate(("F1", "F2"))]
    assert kind_of(sides) == "One device (S1) with different firmware: F1, F2."


def test_a_side_may_have_runs_of_several_devices() -> None:
    runs = [record(n, identity=drive(serial=f"S{n}")) for n in range(4)]
    told = kind_of([side("old", *runs[:2]), side("new", *runs[2:])])
    assert told == "Groups of devices: a side has runs of several, 4 in all."


def test_one_side_too_many_runs_and_one_run_twice_are_refused() -> None:
    one = record(1)
    with pytest.raises(UsageError, match="at least two sides, and here is 1"):
        check_sides([side("a", one)])
    with pytest.raises(UsageError, match="stands twice"):
        check_sides([side("a", one), side("b", one)])
    one = record(0)
    many = [side(str(n), replace(one, run=replace(one.run, id=str(n)))) for n in range(25)]
    with pytest.raises(UsageError, match="25 runs are more than"):
        check_sides(many)
    check_sides(many[:24])


def test_runs_without_a_test_in_common_are_refused_with_what_each_has() -> None:
    with pytest.raises(UsageError, match=r"a: pts\.iops; b: pts\.lat"):
        matches_of([side("a", record(1)), side("b", record(2, test="lat"))])


def test_a_test_that_one_side_alone_has_run_is_left_out() -> None:
    sides = [
        side("a", record(1), record(2, test="lat")),
        side("b", record(3)),
    ]
    (match,) = matches_of(sides)
    assert (match.name, match.sides) == ("iops", ("a", "b"))
    assert [entry.label for entry in match.entries] == ["a 1", "b"]
