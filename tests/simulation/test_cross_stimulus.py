"""XSR end to end on simulated drives: a log of its own for old pages brings the rate back.

At the drives' default scale and the standard's hours, in samples of two minutes.
"""

import itertools
from collections.abc import Mapping
from pathlib import Path

import pytest

from teijo import api
from teijo.document.model import Table
from teijo.terms.result import DRAIN
from teijo.terms.step import Measure
from tests.methods.documents import text_of

TWO = {"minute": "4s", "first_minutes": "240", "random_minutes": "180", "last_minutes": "240"}
RECOVERY = "recovery, first minute not below group 1"
REGAINED = "95 % of group 1's end regained for good"


def run(folder: Path, target: str, **more: str) -> api.Run:
    return api.run("pts.xsr", target, output=folder / "run", settings={**TWO, **more}, seed=1)


def scalars_of(run: api.Run) -> Mapping[str, float | None]:
    return {each.name: each.value for each in run.findings.scalars}


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.campaign) for seed in (2, 3, 4, 5))]
)
def test_a_separate_relocation_frontier_regains_the_first_throughput(tmp_path, seed):
    done = run(tmp_path, f"sim:mlc-a?seed={seed}")
    found = scalars_of(done)
    after = found[RECOVERY]
    assert after is not None, "in the standard's eight hours, whatever the seed"
    assert f"RECOVERED: after {after:.0f} min" in text_of(done.document())
    # The standard's figure is one lucky minute's; that the drive stays there is not.
    assert found[REGAINED] is not None
    assert after == pytest.approx(found[REGAINED], rel=0.15)
    amplification = [row[-1] for row in groups_of(done)]
    assert amplification[1] > 6, "and group 2 had worn it down"


@pytest.mark.long
def test_greedy_cleaning_regains_it_in_the_time_of_a_line_from_random_to_one(tmp_path):
    done = run(tmp_path, "sim:mlc-a?gc=greedy")
    found = scalars_of(done)
    after = found[RECOVERY]
    assert after is not None
    # Greedy, two frontiers: write amplification falls in a line from its random level to 1 over
    # one capacity, so that takes the mean of both times the time of a sequential fill.
    amplification = [row[-1] for row in groups_of(done)]
    fill_s = done.record.geometry.capacity_bytes / (found["mean of group 1"] or 0) / 1e6
    random = amplification[1]
    assert after * 4 == pytest.approx((random + 1) / 2 * fill_s, rel=0.15)


def groups_of(done: api.Run) -> list[list[float]]:
    """Return the numbers of the report's table of groups."""
    (table,) = [
        block
        for block in done.document().sections[0].blocks
        if isinstance(block, Table) and block.caption == "The groups"
    ]
    return [[float(v) if isinstance(v, int | float) else 0.0 for v in row] for row in table.rows]


@pytest.mark.parametrize("target", ["sim:mlc-a?gc=greedy&frontier=shared", "sim:mlc-b"])
def test_a_shared_log_does_not_and_the_report_says_so(tmp_path, target):
    done = run(tmp_path, target)
    found = scalars_of(done)
    assert found[RECOVERY] is None
    assert found[REGAINED] is None
    assert "NOT RECOVERED: in 240 min" in text_of(done.document())


def test_the_gap_at_a_switch_is_what_was_in_flight_and_no_more(tmp_path):
    done = run(tmp_path, "sim:mlc-a", first_minutes="3", random_minutes="3", last_minutes="3")
    begun = [each for each in done.record.measured() if not each[0].continues]
    for (_, before), (_, answer) in itertools.pairwise(begun):
        assert answer.gap_ns <= before.results[0].latency.max_ns * 1.2


def test_what_ends_after_a_stimulus_is_no_rest_and_the_depth_is_counted(tmp_path):
    few = {"minute": "250ms", "first_minutes": "3", "random_minutes": "3", "last_minutes": "3"}
    done = run(tmp_path, "sim:mlc-a", **few)
    answers = [each.answer for each in done.record.steps if isinstance(each.step, Measure)]
    after = [answer for answer in answers if DRAIN in answer.detail]
    assert len(after) == 2, "after each group that another follows"
    assert all(answer.gap_ns == int(answer.detail[DRAIN]) > 0 for answer in after)
    assert {answer.rest_ns for answer in answers} == {0}
    lines = {line.requirement: line for line in done.findings.ledger}
    assert lines["stimulus.rests"].verdict == "met"
    assert lines["stimulus.rests"].evidence.startswith("0.000 ms at most")
    assert lines["stimulus.depth"].evidence.startswith("1.0000 to 1.0000 of threads × queue depth")
    assert lines["stimulus.depth"].verdict == "met"
