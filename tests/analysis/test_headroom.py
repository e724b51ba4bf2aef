"""Headroom: a table of ceilings gives the verdicts worked out by hand, and errs seldom."""

import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from teijo.analysis.headroom import (
    HEADROOM_LEAST,
    Given,
    Limit,
    Narrowest,
    given_in,
    headroom,
    headrooms,
    in_a_word,
    sentence,
    summary,
)
from teijo.methods.registry import method_named
from teijo.terms.platform import CellCeiling, HostCell, HostLink, Platform, cell_of
from teijo.terms.record import StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Idle, Measure
from teijo.terms.workload import ActiveRange, Rate, Stream, Workload
from tests.methods.canned import DRIVE, flow, record_of
from tests.runfile.samples import WITNESS

SECOND = 1_000_000_000
DOCS = Path(__file__).parents[2] / "docs" / "platform.md"


def step(block: int = 4096, depth: int = 32, **other: object) -> Measure:
    usual: dict[str, object] = {"block_size_bytes": block, "queue_depth": depth}
    stream = Stream(read_percent=100, **usual | other)  # type: ignore[arg-type]
    return Measure(workload=Workload(streams=(stream,)), duration_ns=SECOND)


def cell(block: int = 4096, depth: int = 32) -> HostCell:
    found = cell_of(step(block, depth))
    assert found is not None
    return found


def host(*rates: float, block: int = 4096, link: HostLink | None = None) -> Platform:
    return Platform(cells=(CellCeiling(cell=cell(block), nop_iops=rates),), link=link)


GEN4 = HostLink(kind="PCIe", text="16.0 GT/s x4", raw=7_876_923_077, usable=7_201_758_242)


@pytest.mark.parametrize(
    ("rates", "most", "busiest", "limit", "times", "narrowest"),
    [
        ((1e6, 1.2e6, 1.1e6), 400_000, 0.3, Limit.NO, 2.5, Narrowest.ENGINE),
        ((1e6, 1.2e6, 1.1e6), 500_000, 0.3, Limit.NO, 2.0, Narrowest.ENGINE),
        ((1e6, 1.2e6, 1.1e6), 500_001, 0.3, Limit.MAY_BE, 1.999996, Narrowest.ENGINE),
        ((9e6, 9e6, 9e6), 1_000, 0.5, Limit.NO, 2.0, Narrowest.THREADS),
        ((9e6, 9e6, 9e6), 1_000, 0.51, Limit.MAY_BE, 1 / 0.51, Narrowest.THREADS),
        ((9e6, 9e6, 9e6), 1_000, None, Limit.NO, 9000.0, Narrowest.ENGINE),
        ((1e6, 2e6, 3e6), 2_500_000, 0.1, Limit.MAY_BE, 0.4, Narrowest.ENGINE),
    ],
)
def test_a_cell_has_the_verdict_of_its_narrowest_room(
    rates: tuple[float, ...],
    most: float,
    busiest: float | None,
    limit: Limit,
    times: float,
    narrowest: Narrowest,
) -> None:
    gave = Given(least_iops=most / 2, most_iops=most, busiest=busiest)
    found = headroom(host(*rates), cell(), gave)
    assert found.limit is limit
    assert found.times == pytest.approx(times)
    assert found.narrowest is narrowest
    assert (found.low_iops, found.high_iops) == (min(rates), max(rates))


def test_a_cell_without_a_ceiling_or_with_too_few_repeats_is_unknown() -> None:
    gave = Given(least_iops=1.0, most_iops=1.0)
    for platform in (Platform(), host(), host(1e6, 1e6)):
        found = headroom(platform, cell(), gave)
        assert (found.limit, found.times, found.narrowest) == (Limit.UNKNOWN, None, None)
        assert found.why
    refused = Platform(cells=(CellCeiling(cell=cell(), why_not="no ring here"),))
    assert headroom(refused, cell(), gave).why == "no ring here"


def test_a_slow_host_is_named_with_its_cell() -> None:
    """Planted: in one of three cells the host does less than the drive gave."""
    cells = (cell(512), cell(4096), cell(131072))
    ceilings = ((4e6, 4e6, 4e6), (90_000.0, 95_000.0, 92_000.0), (1e6, 1e6, 1e6))
    platform = Platform(
        cells=tuple(
            CellCeiling(cell=one, nop_iops=rates)
            for one, rates in zip(cells, ceilings, strict=True)
        )
    )
    gave = {one: Given(least_iops=1e5, most_iops=1e5, busiest=0.1) for one in cells}
    found = summary(headrooms(platform, gave))
    assert [each.cell for each in found.may_be] == [cell(4096)]
    assert sentence(found) == (
        "The host may be the limit in 1 of 3 cells: "
        "RND 4 KiB 100/0 TC 1 QD 32 (×0.9, engine and ring)."
    )
    assert in_a_word(found) == "may be the limit in 1 of 3 cells"


def test_a_step_that_was_host_limited_overrules_any_ceiling() -> None:
    gave = Given(least_iops=1.0, most_iops=1.0, busiest=0.1, limited_steps=(7,))
    found = headroom(host(1e6, 1e6, 1e6), cell(), gave)
    assert (found.limit, found.why) == (Limit.MAY_BE, "steps of it are host limited")


def test_without_a_run_the_drive_is_held_to_what_its_link_carries() -> None:
    ample, scant = host(4e6, 4e6, 4e6, link=GEN4), host(3e6, 3e6, 3e6, link=GEN4)
    carried = 7_876_923_077 / 4096
    found = headroom(ample, cell(), None)
    assert found.claimed_iops == pytest.approx(carried)
    assert (found.limit, found.times) == (Limit.NO, pytest.approx(4e6 / carried))
    assert headroom(scant, cell(), None).limit is Limit.MAY_BE
    silent = headroom(host(4e6, 4e6, 4e6), cell(), None)
    assert (silent.limit, silent.times) == (Limit.UNKNOWN, None)


def test_a_link_is_the_hosts_only_where_the_drive_could_do_more() -> None:
    block = 131072
    most = 7_000_000_000 / block
    gave = Given(least_iops=most, most_iops=most, busiest=0.1)
    own = host(1e6, 1e6, 1e6, block=block, link=GEN4)
    assert headroom(own, cell(block), gave).limit is Limit.NO
    slot = replace(GEN4, drive_raw=2 * GEN4.raw)
    held = headroom(replace(own, link=slot), cell(block), gave)
    assert (held.limit, held.narrowest) == (Limit.MAY_BE, Narrowest.LINK)
    assert held.times == pytest.approx(7_201_758_242 / 7_000_000_000)


rates_drawn = st.lists(
    st.integers(min_value=1, max_value=10**9), min_size=3, max_size=7
)  # fmt: skip


@drawn(rates=rates_drawn, most=st.integers(1, 10**9), busy=st.integers(1, 100))
def test_the_verdict_is_that_of_exact_fractions(rates: list[int], most: int, busy: int) -> None:
    gave = Given(least_iops=1.0, most_iops=float(most), busiest=busy / 100)
    found = headroom(host(*map(float, rates)), cell(), gave)
    exact = min(Fraction(min(rates), most), Fraction(100, busy))
    assert found.times == pytest.approx(float(exact))
    if exact != HEADROOM_LEAST:
        assert (found.limit is Limit.NO) == (exact > Fraction(HEADROOM_LEAST))
    assert found.times_most is not None
    assert found.times is not None
    assert found.times <= found.times_most


def test_what_the_drive_gave_is_read_from_the_steps_of_a_cell_wherever_they_lie() -> None:
    elsewhere = step(active_range=ActiveRange(share_percent=50), rate=Rate(ios_per_second=5.0))
    witness = replace(WITNESS, wall_ns=SECOND, busiest_worker=0.4)
    limited = (Remark(kind=RemarkKind.HOST_LIMITED, text="so"),)
    answers = (
        (step(), answer(1000, replace(witness, busiest_worker=0.2))),
        (elsewhere, replace(answer(3000, witness), remarks=limited)),
        (Idle(duration_ns=SECOND), StepResult(started_ns=0, elapsed_ns=SECOND)),
        (step(8192), answer(10, None)),
    )
    steps = tuple(
        StepRecord(seq=seq, step=one, seed=0, answer=told)
        for seq, (one, told) in enumerate(answers, 1)
    )
    method = method_named("workload")
    found = given_in(record_of(method, method.settings("", {}, DRIVE), steps))
    assert list(found) == [cell(), cell(8192)]
    assert found[cell()] == Given(
        least_iops=1000.0, most_iops=3000.0, busiest=0.4, limited_steps=(2,)
    )
    assert found[cell(8192)].busiest is None


def answer(ios: int, witness: object) -> StepResult:
    return StepResult(
        started_ns=0,
        elapsed_ns=SECOND,
        results=(flow("read", ios, 4096),),
        witness=witness,  # type: ignore[arg-type]
    )


def test_sentences_say_how_much_is_known_and_never_round_up() -> None:
    nothing = summary(())
    assert "not known" in sentence(nothing)
    assert in_a_word(nothing) == "not known to be the limit or not"
    seen = Given(least_iops=1.0, most_iops=1_010_000 / 2.99, busiest=0.2)
    rooms = headrooms(host(1_010_000, 1.1e6, 1.2e6), {cell(): seen})
    assert sentence(summary(rooms)) == (
        "The host is not the limit, by ×2.9 in the narrowest cell (RND 4 KiB 100/0 TC 1 QD 32)."
    )
    unseen = headrooms(host(1e6, 1e6, 1e6), {cell(): replace(seen, busiest=None)})
    assert "No thread of a measured step was seen" in sentence(summary(unseen))
    with_unknown = headrooms(host(1e6, 1e6, 1e6), {cell(): seen, cell(512): seen})
    assert "In 1 of 2 cells it cannot be known" in sentence(summary(with_unknown))
    assert in_a_word(summary(with_unknown)).endswith("narrowest of 1 of 2 cells")


def test_one_cell_is_not_counted() -> None:
    """Neither "1 cells" nor "1 of 1": a reader would look for the others."""
    slow = Given(least_iops=1e5, most_iops=1e6, busiest=0.2)
    limited = summary(headrooms(host(1e6, 1e6, 1e6), {cell(): slow}))
    unknown = summary(headrooms(host(), {cell(): slow}))
    assert sentence(limited).startswith("The host may be the limit in the one cell: RND 4 KiB")
    assert in_a_word(limited) == "may be the limit in the one cell"
    assert sentence(unknown).startswith("Whether the host is the limit cannot be known: ")


def test_a_strange_file_with_many_reasons_is_told_in_four_of_them() -> None:
    strange = Platform(
        cells=tuple(CellCeiling(cell=cell(512 * n), why_not=f"why {n}") for n in range(1, 3001))
    )
    said = sentence(summary(headrooms(strange, {})))
    assert said.endswith(": why 1, why 2, why 3, why 4 and 2996 more.")


# --- how often a verdict is wrong ---------------------------------------------------------------

TRUE_TIMES = (1.0, 1.5, 1.8, 1.9, 2.1, 2.5, 3.0, 5.0)
CALIBRATIONS = 500


def scattered(true_iops: float, repeats: int, chance: random.Random) -> tuple[float, ...]:
    """Return repeats of a host: 8 % both ways, and one in five beside a burst of other work."""
    return tuple(
        true_iops
        * chance.lognormvariate(0, 0.08)
        * (chance.uniform(0.4, 0.95) if chance.random() < 0.2 else 1.0)
        for _ in range(repeats)
    )


@cache
def said_not_the_limit(times: float, repeats: int) -> int:
    """Return how many of the calibrations of a host with so much room say "not the limit"."""
    chance = random.Random(f"{times} {repeats}")
    gave = Given(least_iops=1e5, most_iops=1e5)
    verdicts = (
        headroom(host(*scattered(times * 1e5, repeats, chance)), cell(), gave).limit
        for _ in range(CALIBRATIONS)
    )
    return sum(verdict is Limit.NO for verdict in verdicts)


def error_rows() -> list[str]:
    """Return the rows of the table in docs/platform.md."""
    return [
        f"| ×{times} | {'no' if times >= HEADROOM_LEAST else 'yes'} "
        f"| {said_not_the_limit(times, 3) / CALIBRATIONS:.1%} "
        f"| {said_not_the_limit(times, 5) / CALIBRATIONS:.1%} |"
        for times in TRUE_TIMES
    ]


def test_a_host_with_too_little_room_is_seldom_called_no_limit() -> None:
    for repeats in (3, 5):
        assert said_not_the_limit(1.0, repeats) == 0
        assert said_not_the_limit(1.5, repeats) == 0
        assert said_not_the_limit(1.9, repeats) < CALIBRATIONS // 20
        assert said_not_the_limit(5.0, repeats) > CALIBRATIONS * 9 // 10


def test_the_documented_error_rates_are_those_of_this_program() -> None:
    said = DOCS.read_text(encoding="utf-8")
    for row in error_rows():
        assert row in said, "\n".join(error_rows())
