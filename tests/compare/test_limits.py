"""A run held against limits: met, not met, or not to be known, and what says which."""

from dataclasses import replace

import pytest

from teijo.compare.limit import FACT, Judged, exit_code, fact_of, recorded_limits
from teijo.compare.limit_pages import line_of, table_of, with_limits
from teijo.compare.limits import check_named, judged, known_in
from teijo.document.model import Table, Verdict
from teijo.errors import PlanError
from teijo.methods.parts import document_of
from teijo.methods.pts.iops.method import Iops
from teijo.methods.quick.method import Quick
from teijo.methods.workload.method import FreeWorkload
from teijo.terms.step import Measure
from tests.methods.canned import Canned, play

CELL = "RND 4 KiB 0/100"


def iops_run(rates=(10_000.0, 10_100.0, 9_900.0, 10_050.0, 9_950.0)):
    """A run of PTS IOPS, whose rounds have these rates in every cell."""

    def rate(step):
        number = step.round_number if isinstance(step, Measure) else None
        return rates[(number or 1) - 1]

    return play(Iops(), Canned(rate), overrides={"rounds": "5"}).record


STEADY = iops_run()


def verdict(text, record=STEADY) -> Judged:
    (found,) = judged(record, [text])
    return found


def test_the_whole_interval_of_the_rounds_is_held_against_the_limit():
    # Five rounds around 10,000 with s = 79.06: ± 2.7764 · 79.06 / √5 = ± 98.2.
    met = verdict("iops[0/100,4KiB] >= 9900")
    assert (met.verdict, met.why) == ("met", "")
    assert met.value == pytest.approx(10_000)
    assert met.low == pytest.approx(10_000 - 98.16, abs=0.1)
    assert verdict("iops[0/100,4KiB] >= 10,100").verdict == "not met"
    straddling = verdict("iops[0/100,4KiB] >= 9950")
    assert (straddling.verdict, "interval" in straddling.why) == ("not known", True)


@pytest.mark.parametrize(
    ("sign", "inside", "outside"), [(">=", 9800, 10200), (">", 9800, 10200), ("<=", 10200, 9800)]
)
def test_each_sign_has_its_side(sign, inside, outside):
    assert verdict(f"iops[0/100,4KiB] {sign} {inside}").verdict == "met"
    assert verdict(f"iops[0/100,4KiB] {sign} {outside}").verdict == "not met"
    assert verdict(f"iops[0/100,4KiB] {sign} 10000").verdict == "not known"


def test_a_value_without_an_interval_is_held_against_the_limit_by_itself():
    exact = verdict("maximum latency[0/100,4KiB] <= 10s")
    assert (exact.verdict, exact.low, exact.high) == ("met", None, None)
    bound = f"{exact.value}ms"
    assert verdict(f"maximum latency[0/100,4KiB] <= {bound}").verdict == "met"
    assert verdict(f"maximum latency[0/100,4KiB] < {bound}").verdict == "not met"


def test_a_run_that_is_not_steady_decides_nothing():
    restless = iops_run((10_000.0, 14_000.0, 10_000.0, 14_000.0, 10_000.0))
    assert restless.run.ending == "not steady"
    found = verdict("iops[0/100,4KiB] >= 1", restless)
    assert (found.verdict, found.why) == ("not known", "steady state was not reached")


@pytest.mark.parametrize("ending", ["running", "interrupted", "failed"])
def test_a_run_that_did_not_end_decides_nothing(ending):
    cut = replace(STEADY, run=replace(STEADY.run, ending=ending))
    found = verdict("iops[0/100,4KiB] >= 1", cut)
    assert (found.verdict, ending in found.why) == ("not known", True)


def test_a_figure_that_there_is_not_is_not_known_and_the_nearest_is_named():
    assert "did you mean 'iops'" in verdict("iosp[0/100,4KiB] >= 1").why
    assert verdict("iosp[0/100,4KiB] >= 1").verdict == "not known"
    assert "no such place" in verdict("iops[0/100,3KiB] >= 1").why
    assert "56 figures" in verdict("iops >= 1").why
    assert "is in ms" in verdict("maximum latency[0/100,4KiB] <= 10").why


def test_the_worst_verdict_sets_the_exit_code():
    met, missed, unknown = (
        Judged(text="", verdict=word) for word in ("met", "not met", "not known")
    )
    assert exit_code([]) == exit_code([met]) == 0
    assert exit_code([met, unknown]) == 11
    assert exit_code([unknown, missed, met]) == 9


def test_the_passes_of_a_quick_look_are_its_interval():
    rates = iter([98.0, 101.0, 103.0, 99.0, 104.0] * 8)
    device = Canned(lambda step: next(rates) if isinstance(step, Measure) else 1.0)
    record = play(Quick(), device).record
    found = verdict("iops[RND 4k Q32T1 read] >= 90", record)
    assert found.verdict == "met"
    assert found.high - found.value == pytest.approx(2.776445 * 3.34664 / 1.25 / 5**0.5, rel=1e-4)
    assert verdict("throughput[rnd q32t1 read] >= 0.1MB/s", record).verdict == "met"


def test_the_only_cell_of_a_run_needs_no_place_and_takes_all_of_its_words():
    record = play(FreeWorkload(), Canned(lambda _: 5_000.0), overrides={"qd": "32"}).record
    for text in ("iops >= 4000", "iops[100/0] >= 4000", "iops[randread 4k] >= 4000"):
        assert verdict(text, record).verdict == "met"
    assert verdict("latency p99 <= 1s", record).verdict == "met"


def test_a_name_may_hold_a_stroke():
    known = known_in(STEADY)
    named = replace(known[0], name="failed i/os", place="", words=frozenset())
    from teijo.compare.limit import parse_limit
    from teijo.compare.limits import _found

    assert _found(parse_limit("failed I/Os <= 0"), [*known, named]) == named


def test_what_names_no_figure_is_refused_before_the_run_and_a_measured_one_is_not():
    check_named(STEADY, ["iops[0/100,4KiB] >= 6000", "sectors wrong <= 0"])
    for text, told in (
        ("iopss[0/100,4KiB] >= 1", "did you mean 'iops'"),
        ("iops[0/100,3k] >= 1", "no such place"),
        ("iops >= 1", "56 figures"),
        ("mean latency[0/100,4k] >= 1", "is in ms"),
    ):
        with pytest.raises(PlanError, match=told):
            check_named(STEADY, [text])


def test_limits_are_recorded_with_the_run_and_read_again():
    texts = ("iops[0/100,4KiB] >= 6000", "latency[0/100,4KiB] <= 1ms")
    record = replace(STEADY, environment={FACT: fact_of(texts)})
    assert recorded_limits(record) == texts
    assert recorded_limits(STEADY) == ()


def test_page_one_says_how_the_limits_stand_below_its_verdict():
    document = document_of(STEADY)
    found = judged(STEADY, ["iops[0/100,4KiB] >= 9000", "iops[100/0,4KiB] >= 20000", "x >= 1"])
    blocks = with_limits(document, found).sections[0].blocks
    at = next(at for at, each in enumerate(blocks) if isinstance(each, Verdict))
    headline, table = blocks[at + 1 : at + 3]
    assert headline == Verdict(text="LIMITS: 1 met, 1 not met, 1 cannot be known", good=False)
    assert isinstance(table, Table)
    assert [row[3].partition(":")[0] for row in table.rows] == ["met", "NOT MET", "cannot be known"]
    assert table.marked == ((1, 3),)
    assert with_limits(document, ()) == document
    assert with_limits(document, found[:1]).sections[0].blocks[at + 1].good is True
    assert with_limits(document, found[2:]).sections[0].blocks[at + 1].good is None


def test_a_terminal_has_each_limit_in_a_line():
    met = verdict("iops[0/100,4KiB] >= 9000")
    assert line_of(met) == "limit iops[0/100,4KiB] >= 9000: met (10,000)"
    assert table_of([met]).rows[0][1] == "10,000"
