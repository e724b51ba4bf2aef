"""Simulated devices behind the engine's door: virtual time, determinism, errors by name."""

import time

import numpy as np
import pytest

from teijo.engine import (
    Lap,
    Progress,
    SimulatedSession,
    open_simulated,
    simulated_parameters,
    simulated_presets,
)
from teijo.errors import DeviceError, PlanError, TargetError
from teijo.terms.histogram import encoded
from tests.engine.plans import LONG_NS, MIB, SECOND_NS, for_bytes, for_time, stream, totals

SPARE = "op_percent_effective"


def small(**overrides: str) -> SimulatedSession:
    return open_simulated("slc-a", **({"capacity": "256MiB"} | overrides))


def fingerprint(lap: Lap) -> list[object]:
    return [lap.result.started_ns, lap.result.elapsed_ns, dict(lap.result.cursors)] + [
        (
            d.count,
            d.bytes,
            d.latency.sum_ns,
            d.latency.values_ns.tolist(),
            d.latency.counts.tolist(),
        )
        for d in lap.result.results
    ]


def conversation(session: SimulatedSession) -> list[object]:
    size = session.facts.capacity_bytes
    session.purge()
    fill = stream(size, access="sequential", read_percent=0, block_size_bytes=MIB)
    mixed = stream(size, read_percent=50, threads=2, queue_depth=16)
    said = fingerprint(session.run(for_bytes(2 * size, fill)))
    session.idle(SECOND_NS)
    said += fingerprint(session.run(for_time(2 * SECOND_NS, mixed)))
    return [*said, session.health(), session.now_ns(), session.digest()]


def test_the_same_steps_give_the_same_answers_to_the_last_bit() -> None:
    first = conversation(small())
    assert conversation(small()) == first
    assert conversation(small(seed="8")) != first


def test_time_is_virtual() -> None:
    session = small()
    assert session.backend == "simulated"
    assert session.now_ns() == 0
    began = time.monotonic_ns()
    session.idle(1000 * SECOND_NS)
    lap = session.run(for_time(5 * SECOND_NS, stream(256 * MIB)))
    assert lap.result.started_ns == 1000 * SECOND_NS
    assert lap.result.elapsed_ns >= 5 * SECOND_NS
    assert session.now_ns() == lap.result.started_ns + lap.result.elapsed_ns
    assert time.monotonic_ns() - began < 1000 * SECOND_NS


def test_the_counters_are_the_sums_of_the_laps() -> None:
    session = small()
    lap = session.run(for_time(SECOND_NS, stream(256 * MIB, read_percent=30)))
    read, write = lap.result.results
    health = session.health()
    assert health["host_reads_bytes"] == read.bytes
    assert health["host_writes_bytes"] == write.bytes
    assert health["nand_writes_bytes"] >= write.bytes - 64 * MIB


def test_disks_in_an_array_answer_like_any_device() -> None:
    def said() -> list[object]:
        session = open_simulated("raid5(4×hdd-7200?scale=100)?chunk=64KiB")
        size = session.facts.capacity_bytes
        mixed = stream(size, read_percent=50, threads=2, queue_depth=4)
        lap = session.run(for_time(5 * SECOND_NS, mixed))
        read, write = lap.result.results
        health = session.health()
        assert health == {"host_reads_bytes": read.bytes, "host_writes_bytes": write.bytes}
        return [*fingerprint(lap), session.digest()]

    assert said() == said()


def test_the_intervals_add_up_to_the_lap() -> None:
    lap = small().run(for_time(3 * SECOND_NS, stream(256 * MIB, read_percent=50)))
    for direction in lap.result.results:
        series = direction.intervals
        assert series.ios.sum() == direction.count == direction.latency.counts.sum()
        assert series.bytes.sum() == direction.bytes
        assert series.latency_ns_sum.sum() == direction.latency.sum_ns
        assert series.latency_ns_max.max() == direction.latency.max_ns
        assert (np.diff(series.index) == 1).all()


def test_laps_that_go_on_follow_each_other_without_a_gap() -> None:
    session = small()
    main = stream(256 * MIB, read_percent=0, queue_depth=32)
    laps = [
        session.run(for_time(SECOND_NS, main, open_ended=True)),
        session.run(for_time(SECOND_NS, main, open_ended=True, continues=True)),
        session.run(for_time(SECOND_NS, main, continues=True)),
    ]
    assert [lap.result.started_ns for lap in laps] == [0, SECOND_NS, 2 * SECOND_NS]
    whole = sum(totals(lap)[1] for lap in laps)
    assert session.health()["host_writes_bytes"] == whole


def test_an_observer_ends_a_lap_of_any_length() -> None:
    looks: list[Progress] = []

    def observe(progress: Progress) -> bool:
        looks.append(progress)
        return len(looks) < 2

    session = small()
    lap = session.run(for_time(1000 * LONG_NS, stream(256 * MIB, read_percent=0)), observe)
    assert len(looks) == 2
    assert looks[0].finished
    assert 0 < looks[0].ios <= totals(lap)[0]
    with pytest.raises(ZeroDivisionError):
        session.run(for_time(1000 * LONG_NS, stream(256 * MIB)), lambda _: bool(1 // 0))
    assert totals(session.run(for_bytes(MIB, stream(256 * MIB))))[1] == MIB


def test_every_preset_says_what_it_is_and_opens() -> None:
    presets = simulated_presets()
    drives = {"mlc-a", "mlc-b", "slc-a", "s3700"}
    assert drives | {"hdd-7200", "raid5-4x2tb"} <= {preset.name for preset in presets}
    names = [name for name, _, _ in simulated_parameters()]
    for preset in presets:
        assert preset.label in ("calibrated", "plausible")
        assert preset.label_text
        if preset.name in drives:
            # Beside them the spare flash that whole blocks make.
            assert [name for name, _, _ in preset.parameters] == [*names, SPARE]
        is_ssd = SPARE in {name for name, _, _ in preset.parameters}
        assert (preset.by_second_scale is not None) == is_ssd
        facts = open_simulated(preset.name).facts
        assert facts.nominal_capacity_bytes == preset.nominal_capacity_bytes
        assert facts.capacity_bytes == preset.capacity_bytes
        assert (facts.label, facts.label_text) == (preset.label, preset.label_text)
        assert facts.model.startswith("Simulated")


@pytest.mark.parametrize(
    ("preset", "overrides", "error", "words"),
    [
        ("mlc-z", {}, TargetError, "mlc-a"),
        ("mlc-a", {"capactiy": "1GiB"}, PlanError, "op_percent"),
        ("mlc-a", {"capacity": "a lot"}, PlanError, "capacity=a lot"),
        ("mlc-a", {"op_percent": "0"}, PlanError, "spare"),
        ("raid5(4×hdd-7299)", {}, TargetError, 'At character 9, "hdd-7299"'),
        ("raid5(4×hdd-7200", {}, TargetError, "At its end"),
        ("raid5(2×hdd-7200)", {}, PlanError, "3 members at least"),
    ],
)
def test_a_mistake_in_a_target_is_named(
    preset: str, overrides: dict[str, str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        open_simulated(preset, **overrides)
    assert getattr(caught.value, "remedy", "")


def test_a_range_beyond_the_device_is_a_named_error() -> None:
    with pytest.raises(DeviceError, match="the range ends at"):
        small().run(for_time(SECOND_NS, stream(512 * MIB)))


def test_what_is_in_flight_is_known_exactly_whether_a_lap_drains_or_goes_on() -> None:
    session = small()
    large = stream(256 * MIB, read_percent=0, queue_depth=32, block_size_bytes=MIB)
    alone = session.run(for_time(SECOND_NS // 20, large))
    assert alone.result.elapsed_ns > SECOND_NS // 20, "it drains"
    on = session.run(for_time(SECOND_NS // 20, large, open_ended=True))
    assert (alone.result.in_flight_mean, on.result.in_flight_mean) == (32.0, 32.0)


def test_a_histogram_is_what_the_terms_would_write_of_its_buckets() -> None:
    session = small()
    laps = [
        session.run(for_time(SECOND_NS, stream(256 * MIB, read_percent=50, ios_per_second=rate)))
        for rate in (None, 20_000.0)
    ]
    parts = [part for lap in laps for part in lap.result.results]
    assert len(parts) == 4
    for part in parts:
        for latency in filter(None, (part.latency, part.response)):
            assert latency.v2 == encoded((latency.values_ns, latency.counts))
            assert latency.count == part.count
