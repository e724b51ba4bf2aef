"""Processors of a run: how they are written, kept for its time, recorded and taken up again."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo import api
from teijo.errors import PlanError
from teijo.runner import pinning
from teijo.runner.events import Event, StepStarted

SETTINGS = {"rw": "randread", "seconds": "20ms"}
ONE = min(os.sched_getaffinity(0))


@given(st.frozensets(st.integers(min_value=0, max_value=200), min_size=1))
def test_what_is_shown_of_processors_is_read_back_as_they_are(cpus) -> None:
    assert pinning.numbers(pinning.shown(cpus)) == cpus
    fact = pinning.shown_with_nodes(cpus)
    assert pinning.recorded({pinning.CPUS: fact}) == cpus


def test_ranges_are_the_shortest_and_no_fact_is_no_processor() -> None:
    assert pinning.shown(frozenset({0, 1, 2, 8, 10, 11})) == "0-2,8,10-11"
    assert pinning.recorded({}) == frozenset()


@pytest.mark.parametrize("text", ["", "x", "1-", "3-1", "node9999", "-1", "0,,1", "8191", "99999"])
def test_what_names_no_processor_of_this_program_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="processor"):
        pinning.cpus_from(text)


def test_a_run_uses_its_processors_and_no_other_and_says_so(tmp_path: Path) -> None:
    before, seen = os.sched_getaffinity(0), []

    def observe(event: Event) -> None:
        if isinstance(event, StepStarted):
            seen.append(os.sched_getaffinity(0))

    settings = {**SETTINGS, "cpus": str(ONE)}
    target = "sim:mlc-a?capacity=64MiB&dies=2"
    run = api.run("workload", target, output=tmp_path / "run", settings=settings, observer=observe)
    assert seen
    assert set(map(frozenset, seen)) == {frozenset({ONE})}
    assert os.sched_getaffinity(0) == before
    assert run.record.environment["cpus"].partition(" ")[0] == str(ONE)
    assert "cpus" not in run.record.run.settings


def test_a_preview_takes_the_setting_as_well() -> None:
    assert api.preview("workload", "sim:mlc-a", settings={**SETTINGS, "cpus": str(ONE)})
