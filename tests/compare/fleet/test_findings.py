"""What a fleet's runs show together, from the drives alone and from records."""

import math
from dataclasses import replace

import pytest

from teijo.analysis.quantities import IOPS, LATENCY, LATENCY_MAX, THROUGHPUT
from teijo.compare.fleet.chosen import LeftOut, chosen_from
from teijo.compare.fleet.drive import Drive, Key, Value, drive_of
from teijo.compare.fleet.findings import KEY_FIGURES_MOST, Fleet
from teijo.compare.limit import EXIT_NOT_KNOWN, EXIT_NOT_MET, Judged
from tests.compare.fleet.made import drive, fleet_of, keys, record


def fleet(drives: list[Drive], *unreadable: LeftOut) -> Fleet:
    return Fleet(chosen=chosen_from(drives, unreadable=unreadable))


def test_a_slow_drive_among_forty_records_is_named_with_its_loss() -> None:
    drives = [
        drive_of(record(at, iops=9_500 if at == 11 else 10_000, host=f"h{at % 4}"), f"{at}")
        for at in range(40)
    ]
    found = fleet(drives)
    assert {each.drive.name for each in found.named} == {"bay-11"}
    together = next(each for each in found.named if each.key is None)
    assert together.slower
    assert together.percent == pytest.approx(-5, abs=0.7)


def test_drives_alike_name_nobody_and_say_what_would_have_been_found() -> None:
    found = fleet(fleet_of(40, seed=2))
    assert not found.named
    assert found.outliers.level is not None
    assert found.outliers.level.scale == pytest.approx(0.01, rel=0.35)
    assert found.outliers.level.least == pytest.approx(0.0575, rel=0.35)


def test_too_few_drives_are_not_judged() -> None:
    found = fleet(fleet_of(5, factors={2: 0.5}))
    assert not found.is_judged
    assert not found.named
    assert not found.factors
    assert len(found.spreads) == 6


def test_every_figure_has_its_distribution_and_its_slowest_drive() -> None:
    found = fleet(fleet_of(9, factors={4: 0.8}))
    for spread in found.spreads:
        values = sorted(value for value in found.column(spread.key) if value is not None)
        assert spread.distribution.count == 9
        assert spread.distribution.median == values[4]
        assert spread.worst.name == "bay-0004"
        assert spread.worst_value == values[0]


def test_of_a_latency_more_is_slower() -> None:
    (key,) = keys(1, LATENCY)
    drives = [drive(at, {key: 1.0 + 0.001 * (at % 5)}) for at in range(20)]
    drives[7] = drive(7, {key: 2.0})
    found = fleet(drives)
    assert found.spreads[0].worst.name == "bay-0007"
    named = [each for each in found.named if each.drive.name == "bay-0007"]
    assert named
    assert all(each.slower for each in named)
    of_figure = next(each for each in named if each.key is not None)
    assert of_figure.percent == pytest.approx(99.6, abs=0.5)
    together = next(each for each in named if each.key is None)
    assert together.percent == pytest.approx(-50, abs=0.5)


def test_a_maximum_and_a_throughput_beside_iops_are_not_judged_by_themselves() -> None:
    found = [Key(test="t", place="P", figure=each) for each in (IOPS, THROUGHPUT, LATENCY_MAX)]
    drives = [
        drive(
            at, {key: 100.0 + at % 7 + (50 if at == 3 and key is found[2] else 0) for key in found}
        )
        for at in range(20)
    ]
    result = fleet(drives)
    tested = [each is not None for each in result.outliers.columns]
    assert tested == [True, False, False]
    assert result.level_keys == (found[0],)


def test_a_figure_that_one_drive_lacks_is_not_in_the_level() -> None:
    drives = fleet_of(12)
    values = dict(list(drives[3].values.items())[1:])
    drives[3] = replace(drives[3], values=values)
    found = fleet(drives)
    assert [each.distribution.count for each in found.spreads] == [11, 12, 12, 12, 12, 12]
    assert [each.name for each in found.incomplete] == ["bay-0003"]
    assert len(found.factor_keys) == 5


def test_a_value_of_zero_has_no_logarithm_and_stays_in_the_table() -> None:
    drives = fleet_of(12)
    first = keys(1)[0]
    zero = Value(value=0.0, resolution=0.0, by_round=True)
    drives[3] = replace(drives[3], values={**drives[3].values, first: zero})
    found = fleet(drives)
    assert math.isnan(found.logarithms[3, found.keys.index(first)])
    assert found.spreads[found.keys.index(first)].distribution.least == 0.0
    assert len(found.factor_keys) == 5
    assert [each.name for each in found.incomplete] == ["bay-0003"]


def test_the_key_figures_are_those_of_the_method_s_summary_and_few() -> None:
    found = fleet(fleet_of(6))
    assert [key.place for key in found.key_figures] == [key.place for key in keys(3)]
    bare = fleet([replace(each, headlines=frozenset()) for each in fleet_of(6, places=9)])
    assert len(bare.key_figures) == KEY_FIGURES_MOST


def limited(*verdicts: str) -> list[Drive]:
    drives = fleet_of(len(verdicts))
    return [
        replace(each, limits=(Judged(text="iops >= 1", verdict=verdict),))  # type: ignore[arg-type]
        for each, verdict in zip(drives, verdicts, strict=True)
    ]


def test_limits_are_counted_and_the_worst_decides_the_exit_code() -> None:
    found = fleet(limited("met", "not met", "not known", "met"))
    (one,) = found.limits
    assert (one.met, len(one.missed), len(one.unknown)) == (2, 1, 1)
    assert found.exit_code == EXIT_NOT_MET
    assert fleet(limited("met", "not known")).exit_code == EXIT_NOT_KNOWN
    assert fleet(limited("met", "met")).exit_code == 0
    assert fleet(fleet_of(3)).exit_code == 0


def test_an_unfinished_or_unreadable_run_leaves_its_limits_unknown() -> None:
    met = limited("met", "met")
    unread = LeftOut(file="x", drive="", why="it is cut off", unreadable=True)
    assert fleet(met, unread).exit_code == EXIT_NOT_KNOWN
    half = replace(limited("met", "met", "not known")[2], is_whole=False, ending="interrupted")
    found = fleet([*met, half])
    assert found.exit_code == EXIT_NOT_KNOWN
    assert len(found.limits[0].unknown) == 1
    assert fleet(fleet_of(3), unread).exit_code == 0
