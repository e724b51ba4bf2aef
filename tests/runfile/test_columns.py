"""Columns are arrays of one length that pandas and polars take as they are."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from teijo.runfile import columns
from tests.runfile.samples import SECOND, record


@pytest.mark.parametrize("table", ["steps", "results", "intervals", "health"])
def test_pandas_and_polars_take_them(table: columns.Table) -> None:
    found = columns.tables(record())[table]
    frame, other = pd.DataFrame(found), pl.DataFrame(found)
    assert list(frame.columns) == other.columns == list(found)
    assert len(frame) == other.height == len(next(iter(found.values())))
    assert pl.Object not in other.dtypes


def test_a_gap_is_a_row_that_says_so() -> None:
    steps = columns.steps(record())
    assert steps["gap"].tolist() == [False, False, False, False, True, False]
    assert steps["round"].tolist() == [0, 0, 0, 1, 2, 2]
    assert steps["ios"][4] == 0


def test_intervals_have_their_place_in_time() -> None:
    found = columns.intervals(record())
    assert found["start_ns"].tolist() == [0, SECOND, 0, SECOND]
    assert found["ios"].tolist() == [3, 1, 3, 1]
    assert found["seq"].tolist() == [4, 4, 6, 6]


@pytest.mark.parametrize("table", ["steps", "results", "intervals", "health"])
def test_a_run_without_steps_has_empty_columns_of_the_same_kinds(table: columns.Table) -> None:
    full = columns.tables(record())[table]
    empty = columns.tables(replace(record(), steps=(), readings=()))[table]
    assert list(empty) == list(full)
    for name, column in empty.items():
        assert len(column) == 0
        assert column.dtype.kind == full[name].dtype.kind


def test_a_row_of_results_carries_its_response_its_backlog_and_its_remarks() -> None:
    found = columns.results(record())
    assert found["response_ns_p99"].tolist()[:3] == [0, 0, 1900]
    assert found["backlog_max"].tolist()[:3] == [0, 0, 7]
    assert set(found["remarks"].tolist()) == {"i/o errors"}


def test_a_reading_is_a_row_for_each_counter_and_one_that_failed_says_why() -> None:
    found = columns.health(record())
    assert list(zip(found["step"], found["counter"], found["value"], strict=True)) == [
        (1, "", 0),
        (4, "host_writes_bytes", 2**63 - 1),
        (4, "temperature_kelvin", 310),
        (6, "temperature_kelvin", 0),
    ]
    assert [bool(error) for error in found["error"]] == [True, False, False, False]


def test_results_carry_exact_and_quantile_latencies() -> None:
    found = columns.results(record())
    assert found["latency_ns_mean"][0] == 350.25
    assert found["latency_ns_p50"][0] == 200
    assert np.all(found["latency_ns_p99999"] <= found["latency_ns_max"])
