"""Processors of a run: how they are written, kept for its time, recorded and taken up again."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo import api
from teijo.errors import PlanError
from teijo.methods.pages import conditions_section
from teijo.methods.workload.method import FreeWorkload
from teijo.runner import pinning
from teijo.runner.events import Event, StepDone, StepStarted
from teijo.terms.result import StepResult

SETTINGS = {"rw": "randread", "seconds": "20ms"}
ALL = sorted(os.sched_getaffinity(0))
BACKWARDS = f"{ALL[-1]},{ALL[0]}"


@given(st.lists(st.integers(min_value=0, max_value=200), min_size=1, unique=True))
def test_what_is_shown_of_processors_is_read_back_as_they_are(cpus) -> None:
    assert pinning.numbers(pinning.shown(cpus)) == tuple(cpus)
    fact = pinning.shown_with_nodes(cpus)
    assert pinning.recorded({pinning.CPUS: fact}) == tuple(cpus)


def test_ranges_are_the_shortest_each_counts_once_and_no_fact_is_no_processor() -> None:
    assert pinning.shown([8, 0, 1, 2, 10, 11]) == "8,0-2,10-11"
    assert pinning.numbers("8, 0-2,1-3") == (8, 0, 1, 2, 3)
    assert pinning.recorded({}) == ()


def test_a_node_of_many_is_shown_with_its_own_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for node, cpus in enumerate(("0-3", "4-7", "8-11")):
        (tmp_path / f"node{node}").mkdir()
        (tmp_path / f"node{node}" / "cpulist").write_text(cpus)
    monkeypatch.setattr(pinning, "_NODES", tmp_path)
    assert pinning.shown_with_nodes([8, 1, 0]) == "8,1,0 (NUMA node 0: 0-1; 2: 8)"
    assert pinning.shown_with_nodes([5, 6]) == "5-6 (NUMA node 1)"
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(12)))
    assert pinning.cpus_from("node1") == (4, 5, 6, 7)


@pytest.mark.parametrize("text", ["", "x", "1-", "3-1", "node9999", "-1", "0,,1", "99999"])
def test_what_names_no_processor_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="names no processor") as refused:
        pinning.cpus_from(text)
    assert refused.value.exit_code == 2


def test_a_processor_that_is_not_there_and_one_that_is_kept_from_us_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pinning, "_online", lambda: (0, 1, 2, 3))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2})
    with pytest.raises(PlanError, match=r"cpus=2,9: this machine has no processor 9") as absent:
        pinning.cpus_from("2,9")
    assert absent.value.remedy == "It has 0-3."
    with pytest.raises(PlanError, match=r"may not use processor 1") as kept:
        pinning.cpus_from("0-2")
    assert kept.value.remedy == "It may use 0,2: a cgroup or taskset keeps it from others."


def allowed() -> list[str]:
    """Give what each worker thread may run on, in the order in which they were started."""
    tasks = sorted(Path("/proc/self/task").iterdir(), key=lambda task: int(task.name))
    workers = [task for task in tasks if (task / "comm").read_text() == "teijo-worker\n"]
    lines = [line for task in workers for line in (task / "status").read_text().splitlines()]
    return [line.split()[1] for line in lines if line.startswith("Cpus_allowed_list:")]


def test_each_worker_of_a_run_is_on_its_own_processor_and_the_run_file_and_report_say_which(
    tmp_path: Path,
) -> None:
    seen: list[list[str]] = []

    def observe(event: Event) -> None:
        if isinstance(event, StepDone):
            seen.append(allowed())

    settings = {**SETTINGS, "threads": "3", "qd": "2", "cpus": BACKWARDS}
    target = f"{tmp_path}/target?size=1MiB"
    run = api.run("workload", target, output=tmp_path / "run", settings=settings, observer=observe)
    (answer,) = [each.answer for each in run.record.steps]
    assert isinstance(answer, StepResult)
    assert answer.witness is not None
    workers = answer.witness.workers  # one I/O each where the file cannot be queued for
    order = [str(ALL[-1]), str(ALL[0])] * workers
    assert seen == [order[:workers]]
    places = [cpu for cpu, _ in answer.witness.places]
    assert places == list(dict.fromkeys([ALL[-1], ALL[0]]))
    settings_as_run = FreeWorkload().settings_from(run.record.run.settings)
    section = conditions_section(run.record, settings_as_run)
    facts = dict(row for block in section.blocks for row in block.rows)  # type: ignore[union-attr]
    told = facts["Threads kept on processors"]
    assert str(told).startswith(f"1 on processor {ALL[-1]} (NUMA node ")
    assert run.record.environment["cpus"].partition(" ")[0] == pinning.shown(places)


def test_a_run_stays_among_its_processors_and_leaves_them_in_the_end(tmp_path: Path) -> None:
    before, seen = os.sched_getaffinity(0), []

    def observe(event: Event) -> None:
        if isinstance(event, StepStarted):
            seen.append(os.sched_getaffinity(0))

    settings = {**SETTINGS, "cpus": str(ALL[0])}
    target = "sim:mlc-a?capacity=64MiB&dies=2"
    run = api.run("workload", target, output=tmp_path / "run", settings=settings, observer=observe)
    assert seen
    assert set(map(frozenset, seen)) == {frozenset({ALL[0]})}
    assert os.sched_getaffinity(0) == before
    assert run.record.environment["cpus"].partition(" ")[0] == str(ALL[0])
    assert "cpus" not in run.record.run.settings


def test_processors_that_are_gone_when_a_run_is_taken_up_again_are_named() -> None:
    with (
        pytest.raises(PlanError, match="processor 1023"),
        pinning.kept_among((ALL[0], 1023)),
    ):
        pytest.fail("a run began on less than it names")


def test_a_preview_takes_the_setting_as_well() -> None:
    assert api.preview("workload", "sim:mlc-a", settings={**SETTINGS, "cpus": str(ALL[0])})
