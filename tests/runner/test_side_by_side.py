"""Drives read at the same time: their rates where all were read, a planted limit found, errors."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from teijo.analysis.bottleneck import Bottlenecks, Verdict
from teijo.engine.plan import Plan
from teijo.engine.session import Lap
from teijo.errors import DeviceError
from teijo.fleet.bottleneck import measure
from teijo.fleet.order import Order
from teijo.runner import side_by_side
from teijo.runner.side_by_side import LEAD_SHARE, Seat, busy_share, rate_between, read_together
from teijo.terms.bottleneck import LoadName, SpellResult
from teijo.terms.geometry import Geometry
from teijo.terms.result import Intervals, OperationResult, StepResult
from teijo.units import MIB, NS_PER_MS, NS_PER_S
from tests.methods.canned import flow
from tests.runfile.samples import WITNESS

GEOMETRY = Geometry(capacity_bytes=64 * MIB, nominal_capacity_bytes=64 * MIB,
                    logical_block_bytes=512, physical_block_bytes=4096)  # fmt: skip
LENGTH_NS = 50 * NS_PER_MS
LEAD_NS = round(LEAD_SHARE * NS_PER_S)


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody look at the processors of the host that the tests run on."""
    monkeypatch.setattr(side_by_side, "_ticks", lambda: ())


def series(ios: Sequence[int], *, index: Sequence[int] | None = None) -> Intervals:
    zeros = np.zeros(len(ios), np.int64)
    at = np.array(range(len(ios)) if index is None else index, np.int64)
    return Intervals(length_ns=LENGTH_NS, index=at, ios=np.array(ios, np.int64), bytes=zeros,
                     errors=zeros, latency_ns_sum=zeros, latency_ns_min=zeros,
                     latency_ns_max=zeros)  # fmt: skip


def result(ios: Sequence[int], started_ns: int, **more: object) -> StepResult:
    part = replace(flow("read", max(1, sum(ios)), 4096), intervals=series(ios))
    return StepResult(started_ns=started_ns, elapsed_ns=len(ios) * LENGTH_NS, results=(part,),
                      **more)  # type: ignore[arg-type]  # fmt: skip


@dataclass
class World:
    """Drives that can do so many I/Os a second each, and `shared` of them so many together."""

    own: dict[str, float]
    shared: frozenset[str] = frozenset()
    limit: float = float("inf")
    scatter: float = 0.0
    is_limited: bool = False
    settled_ns: int = 0
    """Until then every drive answers from a cache, three times as fast."""
    present: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Each drive has its own draws: which thread comes first is nobody's to say.
        self.draws = {name: np.random.default_rng((7, at)) for at, name in enumerate(self.own)}

    def rate(self, name: str) -> float:
        together = [each for each in self.present if each in self.shared]
        share = self.limit / len(together) if name in together else float("inf")
        drawn = self.scatter * self.draws[name].standard_normal()
        return min(self.own[name], share) * float(np.exp(drawn))


@dataclass
class Stub:
    """A session of a drive of the world: its laps take no time and give its rate."""

    world: World
    name: str
    started_ns: int = 0
    plans: list[Plan] = field(default_factory=list)
    error: str = ""
    failure: str = ""

    def run(self, plan: Plan, observer: object = None) -> Lap:
        assert observer is None
        assert all(each.stream.read_percent == 100 for each in plan.streams), "reads alone"
        self.plans.append(plan)
        if self.error:
            raise DeviceError(self.error)
        assert plan.duration_ns is not None
        each = self.world.rate(self.name) * LENGTH_NS / NS_PER_S
        begins = range(self.started_ns, self.started_ns + plan.duration_ns, LENGTH_NS)
        settled = self.world.settled_ns
        found = result([round(each) * (3 if at < settled else 1) for at in begins], self.started_ns)
        busy = 0.99 if self.world.is_limited else 0.1
        witness = replace(WITNESS, wall_ns=found.elapsed_ns, busiest_worker=busy,
                          worker_delay_ns=0, made_ns=0, judged_ns=0)  # fmt: skip
        return Lap(result=replace(found, witness=witness), failure=self.failure)

    def limit_io(self, io_timeout_ns: int) -> None:
        assert io_timeout_ns > 0

    def ceilings(self) -> None:
        return None


def seats(world: World, *names: str) -> list[Seat]:
    world.present = list(names)
    stubs = (Stub(world, name) for name in names)
    return [Seat(session=each, geometry=GEOMETRY) for each in stubs]  # type: ignore[arg-type]


def read(world: World, load: LoadName, *names: str) -> SpellResult:
    return read_together(seats(world, *names), load, duration_ns=NS_PER_S, seed=3)


@dataclass
class StubHost:
    """A host whose drives are those of a world; they hang on what `ways` says."""

    world: World
    parts: dict[str, list[str]]
    name: str = "here"
    asked: list[str] = field(default_factory=list)

    def ask(self, what: str, *given: object) -> object:
        self.asked.append(what)
        if what == "ways":
            targets, tries = given
            assert tries is True
            assert isinstance(targets, list)
            return [
                {"way": {"parts": [{"kind": "adapter", "name": part} for part in self.parts[each]]}}
                for each in targets
            ]
        assert what == "read_together"
        targets, load, duration_ns, seed = given
        found = read_together(
            seats(self.world, *targets),
            load,
            duration_ns=duration_ns,
            seed=seed,  # type: ignore[misc, arg-type]
        )
        return found.model_dump(mode="json")


def orders(*names: str) -> list[Order]:
    return [
        Order(number=at, host="here", name=name, target=name, method="x", seed=0,
              run=f"lab-{name}.teijo")
        for at, name in enumerate(names, 1)
    ]  # fmt: skip


def judged(world: World, parts: dict[str, list[str]]) -> dict[tuple[str, ...], set[Verdict]]:
    host = StubHost(world, parts)
    found = measure(
        "lab", {"here": host}, orders(*parts), seed=5, stop=threading.Event(), rounds=6, seconds=1.0
    )
    assert set(host.asked) == {"ways", "read_together"}
    return {
        each.group.drives: {one.verdict for one in each.comparisons}
        for each in Bottlenecks(found).shared
    }


def test_a_planted_limit_is_found_and_drives_apart_from_it_share_nothing() -> None:
    own = dict.fromkeys("abcd", 20_000.0)
    world = World(own=own, shared=frozenset("ab"), limit=24_000.0, scatter=0.004)
    parts = {"a": ["x", "all"], "b": ["x", "all"], "c": ["y", "all"], "d": ["y", "all"]}
    assert judged(world, parts) == {
        ("a", "b"): {Verdict.SHARES},
        ("c", "d"): {Verdict.NOT},
        ("a", "b", "c", "d"): {Verdict.NOT},  # a and b lose nothing more by c and d
    }


def test_a_limit_that_is_not_reached_is_none() -> None:
    world = World(own=dict.fromkeys("ab", 20_000.0), shared=frozenset("ab"), limit=40_000.0,
                  scatter=0.004)  # fmt: skip
    assert judged(world, {"a": ["x"], "b": ["x"]}) == {("a", "b"): {Verdict.NOT}}


def test_threads_that_had_no_more_to_give_make_the_host_the_limit() -> None:
    world = World(own=dict.fromkeys("ab", 20_000.0), shared=frozenset("ab"), limit=20_000.0,
                  scatter=0.004, is_limited=True)  # fmt: skip
    assert judged(world, {"a": ["x"], "b": ["x"]}) == {("a", "b"): {Verdict.HOST}}


def test_each_drive_is_read_elsewhere_each_time_and_none_is_written() -> None:
    world = World(own=dict.fromkeys("ab", 1000.0))
    places = seats(world, "a", "b")
    for seed in (1, 2):
        answer = read_together(places, "sequential", duration_ns=NS_PER_S, seed=seed)
        assert [round(each.iops) for each in answer.driven] == [1000, 1000]
    plans = [plan for seat in places for plan in seat.session.plans]  # type: ignore[attr-defined]
    begins = [plan.streams[0].cursor_bytes for plan in plans]
    assert len(set(begins)) == 4
    assert all(begin % (128 * 1024) == 0 for begin in begins)
    assert {plan.duration_ns for plan in plans} == {NS_PER_S + LEAD_NS}


def test_the_beginning_counts_for_none_and_only_the_time_of_all_for_each() -> None:
    late_ns = 500 * NS_PER_MS
    places = seats(World(own=dict.fromkeys("ab", 1000.0), settled_ns=late_ns + LEAD_NS), "a", "b")
    places[1].session.started_ns = late_ns  # type: ignore[attr-defined]
    answer = read_together(places, "random", duration_ns=NS_PER_S, seed=1)
    assert [round(each.iops) for each in answer.driven] == [1000, 1000]
    # Those that were never read at the same time have no rate.
    places[1].session.started_ns = 2 * NS_PER_S  # type: ignore[attr-defined]
    answer = read_together(places, "random", duration_ns=NS_PER_S, seed=1)
    assert all("not read long enough" in each.error for each in answer.driven)


def test_a_drive_that_cannot_be_driven_leaves_no_thread_waiting() -> None:
    places = seats(World(own=dict.fromkeys("ab", 1000.0)), "a", "b")
    places[1].session.error = "it refuses direct I/O"  # type: ignore[attr-defined]
    answer = read_together(places, "random", duration_ns=NS_PER_S, seed=1)
    assert (answer.driven[0].error, round(answer.driven[0].iops)) == ("", 1000)
    assert answer.driven[1].error == "it refuses direct I/O"
    places[1].session.error = ""  # type: ignore[attr-defined]
    places[1].session.failure = "it went away\n" * 100  # type: ignore[attr-defined]
    answer = read_together(places, "random", duration_ns=NS_PER_S, seed=1)
    assert answer.driven[1].error.startswith("it went away\\n")
    assert len(answer.driven[1].error) < 300
    small = Seat(session=places[1].session, geometry=replace(GEOMETRY, capacity_bytes=4096))
    answer = read_together([places[0], small], "sequential", duration_ns=NS_PER_S, seed=1)
    assert "does not fit" in answer.driven[1].error
    assert answer.driven[0].error == "another drive of the spell failed before it"


def test_a_rate_is_of_the_whole_intervals_in_which_all_were_read() -> None:
    found = result([100, 10, 20, 30, 100], 1_000 * NS_PER_MS)
    # From 1.04 to 1.21 s: the intervals 1, 2 and 3 lie within.
    rate = rate_between(found, 1_040 * NS_PER_MS, 1_210 * NS_PER_MS)
    assert rate == pytest.approx(60 / 0.15)
    assert rate_between(found, 1_240 * NS_PER_MS, 1_260 * NS_PER_MS) is None
    part = replace(flow("read", 5, 4096), intervals=series([3, 2], index=[0, 3]))
    sparse = replace(found, results=(part,))
    # What was not completed in an interval counts as none, and its time counts.
    assert rate_between(sparse, 1_000 * NS_PER_MS, 1_200 * NS_PER_MS) == pytest.approx(5 / 0.2)
    untimed = OperationResult(stream="main", operation="read", count=1)
    assert rate_between(replace(found, results=(untimed,)), 0, 10**12) is None


def test_processors_that_were_busy_are_told_with_the_spell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = iter([(0,) * 8, (90, 0, 0, 10, 0, 0, 0, 0)])
    monkeypatch.setattr(side_by_side, "_ticks", lambda: next(looks))
    answer = read(World(own={"a": 1000.0}), "random", "a")
    assert answer.busy == pytest.approx(0.9)


def test_what_processors_did_is_told_by_the_kernels_ticks() -> None:
    assert busy_share((0,) * 8, (30, 0, 20, 40, 10, 0, 0, 0)) == pytest.approx(0.5)
    assert busy_share((0,) * 8, (0,) * 8) is None
    assert busy_share((), (1,) * 8) is None
