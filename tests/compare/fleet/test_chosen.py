"""Which runs are one fleet: what most have in common decides, and what is not in it is told."""

from dataclasses import replace

import pytest

from teijo.compare.fleet.chosen import LeftOut, chosen_from
from teijo.errors import UsageError
from tests.compare.fleet.made import drive, fleet_of, keys

ONE = {keys(1)[0]: 1_000.0}


def reasons(found: object) -> dict[str, str]:
    return {str(each.file): str(each.why) for each in found.left_out}  # type: ignore[attr-defined]


def test_runs_made_alike_are_all_in_it_in_order_of_their_names() -> None:
    found = chosen_from(list(reversed(fleet_of(5))))
    assert [each.name for each in found.drives] == [f"bay-{at:04}" for at in range(5)]
    assert (found.fleet, found.method) == ("spring", "pts.iops")
    assert not found.left_out
    assert not found.deviations


def test_a_fleet_of_several_is_named_and_the_others_are_left_out() -> None:
    drives = [*fleet_of(3), drive(9, ONE, fleet="autumn"), drive(10, ONE, fleet="")]
    with pytest.raises(UsageError, match=r"2 fleets: autumn \(1\), spring \(3\)"):
        chosen_from(drives)
    found = chosen_from(drives, fleet="spring")
    assert len(found.drives) == 3
    assert reasons(found) == {
        "d0009.teijo": "it is of the fleet autumn",
        "d0010.teijo": "it is of no fleet",
    }
    with pytest.raises(UsageError, match="No run names the fleet 'winter'"):
        chosen_from(drives, fleet="winter")


def test_runs_that_name_no_fleet_are_one() -> None:
    assert len(chosen_from([replace(each, fleet="") for each in fleet_of(4)]).drives) == 4


def test_the_method_of_most_runs_counts() -> None:
    drives = [*fleet_of(3), drive(7, ONE, method="pts.tp")]
    assert reasons(chosen_from(drives)) == {"d0007.teijo": "its method is pts.tp, and not pts.iops"}


def test_a_condition_that_differs_from_most_is_told_and_may_be_allowed() -> None:
    other = {("", "model"): "Other Drive", ("iops", "oio"): "64"}
    drives = [*fleet_of(3), drive(7, ONE, conditions=other)]
    found = chosen_from(drives)
    why = reasons(found)["d0007.teijo"]
    assert "model is Other Drive, and Example Drive in most" in why
    assert "iops: oio is 64, and 32 in most" in why
    assert len(chosen_from(drives, allowed=["oio"]).drives) == 3
    both = chosen_from(drives, allowed=["oio", "model"])
    assert len(both.drives) == 4
    assert [each.aspect for each in both.deviations] == ["model", "oio"]
    with pytest.raises(UsageError, match="--allow colour names nothing"):
        chosen_from(drives, allowed=["colour"])


def test_runs_that_are_not_whole_are_apart() -> None:
    drives = [*fleet_of(3), drive(7, ONE, is_whole=False, ending="interrupted")]
    found = chosen_from(drives)
    assert [each.name for each in found.unfinished] == ["bay-0007"]
    assert len(found.drives) == 3


def test_of_several_runs_of_a_drive_the_latest_whole_one_counts() -> None:
    early, late = (
        drive(
            1, ONE, run_id=f"r{day}", file=f"r{day}", started_at=f"2026-11-{day:02}T00:00:00+00:00"
        )
        for day in (3, 9)
    )
    broken = drive(1, ONE, run_id="r12", file="r12", is_whole=False,
                   started_at="2026-11-12T00:00:00+00:00")  # fmt: skip
    found = chosen_from([late, broken, early])
    assert [each.run_id for each in found.drives] == ["r9"]
    assert reasons(found) == {"r3": "a later run of this drive counts: r9"}
    assert [each.run_id for each in found.unfinished] == ["r12"]


def test_one_run_in_two_files_counts_once_by_the_one_that_came_farther() -> None:
    whole = drive(1, ONE, file="a.teijo")
    grown = drive(1, ONE, file="a.teijo.open", is_whole=False, steps=3)
    for several in ([whole, grown], [grown, whole]):
        found = chosen_from(several)
        assert [each.file for each in found.drives] == ["a.teijo"]
        assert reasons(found) == {"a.teijo.open": "it is the same run as a.teijo"}
        assert not found.unfinished


def test_drives_of_one_name_are_told_apart() -> None:
    drives = [drive(at, ONE, name="bay") for at in (1, 2)]
    assert [each.name for each in chosen_from(drives).drives] == ["bay (S0001)", "bay (S0002)"]
    hosts = [drive(at, ONE, name="bay", serial="", host=f"h{at}") for at in (1, 2)]
    assert [each.name for each in chosen_from(hosts).drives] == ["bay (h1)", "bay (h2)"]


def test_nothing_to_report_says_so() -> None:
    with pytest.raises(UsageError, match="no run file here"):
        chosen_from([])
    broken = LeftOut(file="x.teijo", drive="", why="it is cut off", unreadable=True)
    with pytest.raises(UsageError, match=r"None of 1 run files can be read.*it is cut off"):
        chosen_from([], unreadable=[broken])


def test_what_cannot_be_read_is_among_what_is_left_out() -> None:
    broken = LeftOut(file="x.teijo", drive="", why="it is cut off", unreadable=True)
    assert chosen_from(fleet_of(2), unreadable=[broken]).left_out == (broken,)
