"""Several hosts as one session: merged exactly, begun together, and lost one by one."""

import math
from pathlib import Path
from typing import Any

import pytest

from teijo.engine.hosts import wire
from teijo.engine.hosts.channel import Channel
from teijo.engine.hosts.party import Party
from teijo.engine.session import Progress
from teijo.errors import HostAway, HostError, PlanError
from teijo.terms.histogram import bucket_width_ns
from teijo.terms.shared import hosts_in, parts_in
from teijo.units import NS_PER_S
from tests.engine.hosts import (
    SIZE_BYTES,
    latencies_of,
    lines_of,
    shared,
    sharing,
)
from tests.engine.known_worker import AHEAD_NS, IOS
from tests.engine.plans import MIB, for_bytes, for_time, stream

SHORT_NS = 5 * NS_PER_S
MIXED = for_time(NS_PER_S, stream(SIZE_BYTES, read_percent=50))


def true_quantile(times: list[int], share: float) -> int:
    return sorted(times)[math.ceil(share * len(times)) - 1]


@pytest.mark.parametrize("share", [0.5, 0.99, 0.999])
@pytest.mark.parametrize("operation", ["read", "write"])
def test_a_percentile_is_that_of_all_ios_of_all_hosts_within_a_bucket(
    tmp_path: Path, share: float, operation: str
) -> None:
    with shared(tmp_path, {"one": [], "two": ["slow"], "three": []}) as session:
        lap = session.run(MIXED)
    (merged,) = lap.result.of(operation)
    every = [t for name in ("one", "two", "three") for t in latencies_of(tmp_path, name, operation)]
    assert merged.count == len(every) == 3 * IOS
    assert merged.timed.sum_ns == sum(every)
    assert (merged.timed.min_ns, merged.timed.max_ns) == (min(every), max(every))
    truth = true_quantile(every, share)
    assert abs(merged.timed.quantile_ns(share) - truth) <= bucket_width_ns(truth)
    means = [true_quantile(latencies_of(tmp_path, n, operation), share) for n in ("one", "two")]
    averaged = sum(means) / 2
    assert abs(averaged - truth) > bucket_width_ns(truth), "an average would pass for it here"


def test_counts_errors_bytes_and_intervals_are_added(tmp_path: Path) -> None:
    with shared(tmp_path, {"one": ["errors"], "two": ["errors"]}) as session:
        lap = session.run(MIXED)
        facts = session.choices()
        backend = session.backend
    (reads,) = lap.result.of("read")
    assert (reads.count, reads.bytes, reads.errors) == (2 * IOS, 2 * IOS * 4096, {5: 4})
    assert reads.intervals is not None
    assert reads.intervals.ios.tolist() == [2 * IOS // 4] * 4
    assert int(reads.intervals.latency_ns_sum.sum()) == reads.timed.sum_ns
    assert int(reads.intervals.latency_ns_min.min()) == reads.timed.min_ns
    assert int(reads.intervals.latency_ns_max.max()) == reads.timed.max_ns
    assert lap.result.witness is None
    assert lap.notes == ("one: it is made up", "two: it is made up")
    parts = parts_in(lap.result.detail)
    assert [(part.name, part.ios, part.errors) for part in parts] == [
        ("one", 2 * IOS, 4),
        ("two", 2 * IOS, 4),
    ]
    assert [host.name for host in hosts_in(facts)] == ["one", "two"]
    assert backend == "2 hosts, known"


def test_each_host_has_a_seed_of_its_own_and_bytes_are_divided(tmp_path: Path) -> None:
    with shared(tmp_path, {"one": [], "two": []}) as session:
        session.run(for_bytes(9 * MIB, stream(SIZE_BYTES)))
    (one,), (two,) = (lines_of(tmp_path, name, "seed") for name in ("one", "two"))
    assert one[0] == "7"
    assert two[0] != one[0]
    assert int(one[2]) + int(two[2]) == 9 * MIB


def test_hosts_whose_clocks_are_an_hour_apart_begin_at_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[wire.Run] = []
    send = Channel.send

    def overheard(channel: Channel, message: wire.Message) -> None:
        if isinstance(message, wire.Run):
            sent.append(message)
        send(channel, message)

    monkeypatch.setattr(Channel, "send", overheard)
    with shared(tmp_path, {"one": [], "two": ["ahead"]}) as session:
        lap = session.run(MIXED)
        (_, two) = hosts_in(session.choices())
    assert abs(two.ahead_ns - AHEAD_NS) <= two.error_ns
    began = [int(lines_of(tmp_path, name, "began")[0][0]) for name in ("one", "two")]
    parts = parts_in(lap.result.detail)
    told_ns = parts[1].began_ns - parts[0].began_ns
    assert abs(told_ns - (began[1] - began[0])) <= parts[0].error_ns + parts[1].error_ns
    assert lap.result.elapsed_ns < AHEAD_NS // 2
    # On the clock that none is ahead of, all were told one moment, and nobody began before it.
    moments = [sent[0].at_ns, sent[1].at_ns - AHEAD_NS]
    assert abs(moments[0] - moments[1]) <= parts[0].error_ns + parts[1].error_ns
    assert all(at >= moment for at, moment in zip(began, moments, strict=True))


def test_the_observer_sees_each_interval_once_and_all_hosts_in_it(tmp_path: Path) -> None:
    looks: list[Progress] = []

    def look(now: Progress) -> bool:
        looks.append(now)
        return now.ios < 4 * IOS

    with shared(tmp_path, {"one": ["waits"], "two": ["waits"]}) as session:
        lap = session.run(MIXED, look)
    assert looks[-1].ios == 4 * IOS
    (reads,) = lap.result.of("read")
    assert reads.count == 2 * IOS
    seen: dict[tuple[str, int], int] = {}
    for now in looks:
        for _, operation, series in now.finished:
            for index, ios in zip(series.index.tolist(), series.ios.tolist(), strict=True):
                assert (operation, index) not in seen
                seen[operation, index] = ios
    assert seen
    assert set(seen.values()) == {2 * IOS // 4}


@pytest.mark.parametrize(("how", "why"), [("dies", "its channel was closed"), ("stands", "for 5")])
def test_a_host_that_is_lost_in_a_lap_is_named_with_the_moment(
    tmp_path: Path, how: str, why: str
) -> None:
    looks: list[Progress] = []
    silence_ns = SHORT_NS if how == "stands" else 600 * NS_PER_S
    with (
        shared(tmp_path, {"one": ["waits"], "two": [how]}, silence_ns) as session,
        pytest.raises(HostAway, match=r"Host two went away, last heard of at 20\d\d-.*") as lost,
    ):
        session.run(MIXED, lambda now: looks.append(now) is None)
    assert why in lost.value.message
    # What was heard of it counts all the same; of the other, if that was sooner.
    told = [series for now in looks for _, _, series in now.finished]
    assert sum(int(series.ios.sum()) for series in told) in (2 * IOS, 4 * IOS)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("another", r"teijo 1\.0 \(build another\)"),
        ("chatters", "says what no worker says: 'Welcome to rack2!'"),
    ],
)
def test_another_program_is_refused_before_anything_is_asked_of_it(
    tmp_path: Path, how: str, why: str
) -> None:
    with pytest.raises(HostError, match=why):
        Party(sharing(tmp_path, {"one": [], "two": [how]}))
    assert list(tmp_path.iterdir()) == []


def test_a_host_that_cannot_be_reached_says_why(tmp_path: Path) -> None:
    given: Any = sharing(tmp_path, {"one": []})
    gone = given.guests[0].__class__(name="far", words=("sh", "-c", "echo no route >&2; exit 255"))
    with pytest.raises(HostError, match=r"Host far went away.*no route"):
        Party(given.__class__(guests=(gone,), teijo="", build=""))
    missing = given.guests[0].__class__(name="far", words=("/no/such/ssh",))
    with pytest.raises(HostError, match="far cannot be reached"):
        Party(given.__class__(guests=(missing,), teijo="", build=""))


def test_a_histogram_of_other_ios_than_its_count_is_not_merged(tmp_path: Path) -> None:
    with (
        shared(tmp_path, {"one": [], "two": ["lies"]}) as session,
        pytest.raises(HostAway, match=r"two went away.*cannot be measured"),
    ):
        session.run(MIXED)


def test_an_open_ended_stimulus_is_finished_once_on_every_host(tmp_path: Path) -> None:
    with shared(tmp_path, {"one": [], "two": []}) as session:
        session.finish()
        session.run(for_time(NS_PER_S, stream(SIZE_BYTES), open_ended=True))
        session.run(for_time(NS_PER_S, stream(SIZE_BYTES), continues=True, open_ended=True))
        session.finish()
        session.finish()
    for name in ("one", "two"):
        assert len(lines_of(tmp_path, name, "began")) == 2
        assert len(lines_of(tmp_path, name, "finish")) == 1


def test_what_is_of_one_host_alone_is_refused(tmp_path: Path) -> None:
    with shared(tmp_path, {"one": []}) as session:
        session.pin(())
        with pytest.raises(PlanError, match="Processors are those of one host"):
            session.pin((0,))
        with pytest.raises(PlanError, match="each block once"):
            session.run(for_time(NS_PER_S, stream(SIZE_BYTES, access="shuffled")))
