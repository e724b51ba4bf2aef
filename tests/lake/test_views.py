"""The five views against the same questions answered in Python."""

import statistics
from pathlib import Path

import pytest

from teijo.lake.lake import Lake
from teijo.lake.rows import RunRows
from teijo.lake.views import VIEWS
from tests.lake.made import another, at, lake_of, rates


def test_a_model_over_time_is_the_median_of_its_runs_by_month(
    tmp_path: Path, rows: RunRows
) -> None:
    values = {(2025, 1): [5.0, 1.0, 12.0], (2025, 2): [4.0, 2.0], (2026, 1): [7.0]}
    runs = [
        another(rows, 10 * place + number, started_at=at(*month), serial=f"S{number}",
                figures=rates(value))
        for place, (month, own) in enumerate(values.items())
        for number, value in enumerate(own)
    ]  # fmt: skip
    found = lake_of(tmp_path, runs).sql("FROM model_over_time").to_pylist()
    assert [
        (row["month"], row["runs"], row["drives"], row["least"], row["median"], row["most"])
        for row in found
    ] == [
        (f"{year}-{month:02}", len(own), len(own), min(own), statistics.median(own), max(own))
        for (year, month), own in values.items()
    ]
    assert {(row["model"], row["figure"], row["cell"]) for row in found} == {
        ("Simulated MLC-A", "iops", "RND 4 KiB")
    }


def test_each_later_firmware_stands_against_each_earlier_one(tmp_path: Path, rows: RunRows) -> None:
    # By name the second is the last: what is earlier is told by when it was first seen.
    firmwares = {"B": [100.0, 110.0, 120.0], "C": [90.0], "A": [50.0, 60.0]}
    runs = [
        another(rows, 10 * place + number, firmware=firmware, figures=rates(value),
                started_at=at(2025, 1 + place), serial="S")
        for place, (firmware, own) in enumerate(firmwares.items())
        for number, value in enumerate(own)
    ]  # fmt: skip
    found = lake_of(tmp_path, runs).sql("FROM firmware_against_firmware").to_pylist()
    assert [(row["firmware_a"], row["firmware_b"]) for row in found] == [
        ("B", "C"), ("B", "A"), ("C", "A"),
    ]  # fmt: skip
    for row in found:
        a, b = (statistics.median(firmwares[row[f"firmware_{side}"]]) for side in "ab")
        assert (row["median_a"], row["median_b"]) == (a, b)
        assert row["change_percent"] == pytest.approx(100 * (b / a - 1))
        assert row["runs_a"] == len(firmwares[row["firmware_a"]])
        assert row["drives_b"] == 1
    assert (found[0]["low_a"], found[0]["high_a"]) == (105.0, 115.0)


def slower(tmp_path: Path, runs: list[RunRows]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = (
        lake_of(tmp_path, runs).sql("FROM slower_than_last_year").to_pylist()
    )
    return found


def test_a_drive_is_slower_whose_rate_fell_or_whose_latency_rose(
    tmp_path: Path, rows: RunRows
) -> None:
    def both(rate: float, latency: float) -> list[object]:
        return [
            ("c", "iops", rate, "", rate - 1, rate + 1, True),
            ("c", "mean latency", latency, "ms", latency - 0.1, latency + 0.1, False),
            ("c", "maximum latency", latency, "ms", None, None, False),
            ("c", "rounds", rate, "", rate - 1, rate + 1, None),
        ]

    runs = [
        another(rows, 1, serial="fell", started_at=at(2024, 3), figures=both(500, 0.1)),
        another(rows, 2, serial="fell", started_at=at(2025, 3), figures=both(98, 1.2)),
        another(rows, 3, serial="fell", started_at=at(2025, 4), figures=both(102, 0.8)),
        another(rows, 4, serial="fell", started_at=at(2026, 3), figures=both(80, 1.5)),
        another(rows, 5, serial="rose", started_at=at(2025, 3), figures=both(100, 1.0)),
        another(rows, 6, serial="rose", started_at=at(2026, 3), figures=both(120, 0.5)),
        another(rows, 7, serial="gap", started_at=at(2023, 3), figures=both(100, 1.0)),
        another(rows, 8, serial="gap", started_at=at(2025, 3), figures=both(10, 9.0)),
        another(rows, 9, serial="", started_at=at(2025, 3), figures=both(100, 1.0)),
        another(rows, 10, serial="", started_at=at(2026, 3), figures=both(10, 9.0)),
    ]
    found = slower(tmp_path, runs)
    told = {(row["serial"], row["figure"]): row for row in found}
    assert set(told) == {("fell", "iops"), ("fell", "mean latency")}
    rate, latency = told["fell", "iops"], told["fell", "mean latency"]
    assert rate["slower_percent"] == pytest.approx(20)
    assert latency["slower_percent"] == pytest.approx(50)
    assert (rate["year"], rate["before"], rate["now"]) == (2026, 100, 80)
    assert (rate["runs_before"], rate["runs_now"], rate["method"]) == (2, 1, "quick")
    assert [row["figure"] for row in found] == ["mean latency", "iops"], "the slowest first"


@pytest.mark.parametrize(("high", "count"), [(84.9, 1), (85.0, 0), (90.0, 0)])
def test_intervals_that_reach_into_each_other_show_nothing(
    tmp_path: Path, rows: RunRows, high: float, count: int
) -> None:
    runs = [
        another(rows, 1, serial="s", started_at=at(2025, 3), figures=rates(100.0, 85.0, 115.0)),
        another(rows, 2, serial="s", started_at=at(2026, 3), figures=rates(84.5, 80.0, high)),
    ]
    assert len(slower(tmp_path, runs)) == count


def test_throttled_runs_are_those_with_that_remark_the_latest_first(
    tmp_path: Path, rows: RunRows
) -> None:
    hot = (("throttled", "b: 81 °C", 3), ("throttled", "a: 80 °C", 2), ("resumed", "x", None))
    runs = [
        another(rows, 1, throttled=True, remarks=hot, started_at=at(2025, 1), serial="one"),
        another(rows, 2, throttled=False, remarks=hot[2:], started_at=at(2025, 2)),
        another(rows, 3, throttled=True, remarks=hot[:1], started_at=at(2025, 3), serial="three"),
    ]
    found = lake_of(tmp_path, runs).sql("FROM throttled_runs").to_pylist()
    assert [(row["serial"], row["steps"], row["first_words"]) for row in found] == [
        ("three", 1, "b: 81 °C"), ("one", 2, "a: 80 °C"),
    ]  # fmt: skip


def test_a_fleet_spreads_by_its_drives_and_names_the_slowest(tmp_path: Path, rows: RunRows) -> None:
    values = {"a": 100.0, "b": 80.0, "c": 110.0, "d": 105.0}
    runs = [
        another(rows, number, serial=serial, group_fleet="north", figures=[
            ("c", "iops", value, "", None, None, True),
            ("c", "mean latency", 1000 / value, "ms", None, None, False),
            ("c", "rounds", value, "", None, None, None),
        ])
        for number, (serial, value) in enumerate(values.items())
    ]  # fmt: skip
    runs.append(another(rows, 99, group_fleet="", figures=rates(1.0)))
    found = lake_of(tmp_path, runs).sql("FROM fleet_spread").to_pylist()
    told = {row["figure"]: row for row in found}
    assert set(told) == {"iops", "mean latency", "rounds"}
    rate = told["iops"]
    median = statistics.median(values.values())
    assert (rate["runs"], rate["drives"], rate["least"], rate["most"]) == (4, 4, 80.0, 110.0)
    assert rate["median"] == median
    assert rate["spread_percent"] == pytest.approx(100 * 30 / median)
    assert {told[name]["slowest_drive"] for name in ("iops", "mean latency")} == {"b"}
    assert told["rounds"]["slowest_drive"] is None


def test_runs_that_are_there_twice_count_once_in_every_view(tmp_path: Path, rows: RunRows) -> None:
    hot = (("throttled", "a", 1),)
    runs = [
        another(rows, number, firmware=f"F{number % 2}", started_at=at(2025 + number % 2, 1),
                serial="s", throttled=True, remarks=hot,
                figures=rates(*(value - 20.0 * (number % 2) for value in (100.0, 99.0, 101.0))))
        for number in range(6)
    ]  # fmt: skip
    once = lake_of(tmp_path / "once", runs)
    twice = lake_of(tmp_path / "twice", runs)
    lake_of(tmp_path / "twice", runs[:3])
    lake_of(tmp_path / "twice", runs, batches=3)
    assert len(twice.store.batches()) > len(once.store.batches())
    for view in VIEWS:
        assert once.sql(f"FROM {view}").num_rows > 0, view
        assert twice.sql(f"FROM {view}").equals(once.sql(f"FROM {view}")), view


def test_views_of_an_empty_lake_are_empty(tmp_path: Path) -> None:
    lake: Lake = lake_of(tmp_path, [])
    assert [lake.sql(f"FROM {view}").num_rows for view in VIEWS] == [0] * 5
