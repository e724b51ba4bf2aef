"""The study `cache-overflow` on made-up caches: its steps, its ends, its findings, its words."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from teijo.document.model import Section, Table, XYChart
from teijo.errors import PlanError
from teijo.methods.method import AnyMethod
from teijo.methods.parts import document_of, findings_of, watch_of
from teijo.methods.studies.cache_overflow.method import CacheOverflow
from teijo.report.language import Language, translator
from teijo.terms.geometry import Geometry
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Answer, Gap, Intervals, OperationResult, StepResult
from teijo.terms.step import Idle, Measure, Purge, Step
from teijo.units import NS_PER_S
from tests.methods.canned import DRIVE, GIB, Played, latencies, play, record_of
from tests.methods.documents import text_of
from tests.report.english import data_of, untranslated

MB, GB = 1e6, 1e9
METHOD: AnyMethod = CacheOverflow()
SCALED = Geometry(capacity_bytes=256 * GIB // 32, nominal_capacity_bytes=256 * GIB)
SOURCE = "rate=110MB/s"


@dataclass
class CachedDevice:
    """A device that writes at `drain` behind a cache of `size` bytes; full, it waits for `low`.

    The source is the step's, or 400 MB/s; each sample varies by `scatter`. It is walked through in
    hundredths of a sample.
    """

    size: float = 25 * GB
    drain: float = 52 * MB
    low: float | None = None
    scatter: float = 0.0
    random: np.random.Generator = field(default_factory=np.random.default_rng)
    gaps: frozenset[int] = frozenset()
    held: float = 0.0
    closed: bool = False
    now_ns: int = 0
    asked: list[Step] = field(default_factory=list)

    def __call__(self, step: Step) -> Answer:
        self.asked.append(step)
        if len(self.asked) in self.gaps:
            return Gap()
        started = self.now_ns
        match step:
            case Purge():
                self.held, self.closed = 0.0, False
                return StepResult(started_ns=started, elapsed_ns=0, detail={"method": "format"})
            case Idle():
                self.now_ns += step.duration_ns
                self.held = max(0.0, self.held - self.drain * step.duration_ns / 1e9)
                self.closed = False
                return StepResult(started_ns=started, elapsed_ns=step.duration_ns)
            case Measure():
                self.now_ns += step.duration_ns
                return StepResult(
                    started_ns=started, elapsed_ns=step.duration_ns, results=(self.written(step),)
                )
            case _:
                raise AssertionError(step)

    def written(self, step: Measure) -> OperationResult:
        stream = step.workload.streams[0]
        block = stream.block_size_bytes
        source = 400 * MB if stream.rate is None else stream.rate.ios_per_second * block
        samples = [self.sample(source, step.interval_ns / 1e9) for _ in range(self.count(step))]
        size = np.array(samples).round().astype(np.int64)
        ios = size // block
        return OperationResult(
            stream=stream.name,
            operation="write",
            count=int(ios.sum()),
            bytes=int(size.sum()),
            errors={},
            latency=latencies(int(ios.sum()), 1_000_000),
            intervals=Intervals(
                length_ns=step.interval_ns,
                index=np.arange(size.size),
                ios=ios,
                bytes=size,
                errors=ios * 0,
                latency_ns_sum=ios * 1_000_000,
                latency_ns_min=ios * 0 + 1_000_000,
                latency_ns_max=ios * 0 + 1_000_000,
            ),
        )

    def sample(self, source: float, seconds: float) -> float:
        taken, dt = 0.0, seconds / 100
        source *= self.random.uniform(1 - self.scatter, 1 + self.scatter)
        for _ in range(100):
            self.held = max(0.0, self.held - self.drain * dt)
            if self.closed and self.held > (self.low or 0.0):
                continue
            self.closed = False
            part = min(source * dt, self.size - self.held)
            self.held, taken = self.held + part, taken + part
            self.closed = self.low is not None and self.held >= self.size - 1
        return taken

    @staticmethod
    def count(step: Measure) -> int:
        return round(step.duration_ns / step.interval_ns)


def run(device: CachedDevice, asked: str = "", geometry: Geometry = DRIVE) -> Played:
    """Play the study; `asked` is "key=value key=value", as after --set."""
    overrides = dict(pair.split("=", 1) for pair in asked.split())
    return play(METHOD, device, overrides=overrides, geometry=geometry)  # type: ignore[arg-type]


def scalars_of(played: Played) -> dict[str, float]:
    scalars = findings_of(played.record).scalars
    return {each.name: each.value for each in scalars if each.value is not None}


def words_of(played: Played) -> str:
    return text_of(document_of(played.record))


# --- the steps --------------------------------------------------------------------------------


def test_it_purges_and_writes_without_a_pause_in_pieces_of_ten_samples() -> None:
    played = run(CachedDevice(), f"{SOURCE} proof=off")
    assert isinstance(played.asked[0], Purge)
    first, *others = played.measured
    assert not first.continues
    assert all(step.continues for step in others)
    assert all(step.open_ended for step in played.measured)
    assert {step.duration_ns for step in others} == {10 * NS_PER_S}
    assert {step.interval_ns for step in played.measured} == {NS_PER_S}


def test_it_can_leave_the_device_as_it_is() -> None:
    assert not any(isinstance(step, Purge) for step in run(CachedDevice(), "purge=no").asked)


def test_a_rest_comes_before_each_further_burst() -> None:
    played = run(CachedDevice(), "rest=100s,1s rate=110MB/s seconds=10min")
    rests = [step for step in played.asked if isinstance(step, Idle)]
    assert [step.duration_ns for step in rests] == [100 * NS_PER_S, NS_PER_S]
    begun = [step.round_number for step in played.measured if not step.continues]
    assert begun == [1, 2, 3]


def test_seconds_of_a_scaled_device_are_shorter_and_its_rates_are_not() -> None:
    played = run(CachedDevice(size=25 * GB / 32), "rest=32s rate=110MB/s", SCALED)
    assert {step.interval_ns for step in played.measured} == {NS_PER_S // 32}
    (rest,) = [step for step in played.asked if isinstance(step, Idle)]
    assert rest.duration_ns == NS_PER_S
    found = scalars_of(played)
    assert found["burst 1: rate before"] == pytest.approx(110, rel=0.01)
    assert found["burst 1: cache"] == pytest.approx(25, rel=0.01)
    assert found["burst 1: time until the overflow"] == pytest.approx(431, rel=0.01)


def test_a_burst_ends_when_the_rate_has_been_level_after_its_fall() -> None:
    played = run(CachedDevice(), "flat=60s rate=110MB/s proof=off")
    assert 431 + 55 <= 10 * len(played.measured) <= 431 + 80
    assert "once the rate had settled" in words_of(played)


def test_in_turns_a_burst_ends_after_four_of_them_and_not_within_the_first() -> None:
    played = run(CachedDevice(low=17 * GB), "rate=110MB/s flat=1min seconds=2h proof=off")
    turn_s = 8_000 / 52 + 8_000 / 58
    lasted_s = sum(step.duration_ns for step in played.measured) / NS_PER_S
    assert 431 + 4 * turn_s <= lasted_s <= 431 + 4 * turn_s + 30


def test_a_rate_that_only_wavers_ends_no_burst() -> None:
    for seed in range(6):
        device = CachedDevice(size=1e15, scatter=0.5, random=np.random.default_rng(seed))
        played = run(device, "flat=20s seconds=2min")
        assert sum(step.duration_ns for step in played.measured) == 120 * NS_PER_S
        assert "NO OVERFLOW" in words_of(played)


@pytest.mark.parametrize("volume_gb", [0.3, 1.1, 7.3])
def test_a_burst_goes_beyond_its_volume_by_a_sample_at_most(volume_gb: float) -> None:
    played = run(CachedDevice(), f"volume={volume_gb}GB")
    assert volume_gb <= scalars_of(played)["burst 1: written"] <= volume_gb + 0.4


def test_a_burst_ends_with_its_volume_and_not_ten_samples_later() -> None:
    played = run(CachedDevice(), "volume=20GB rate=110MB/s")
    assert scalars_of(played)["burst 1: written"] == pytest.approx(20, abs=0.11)
    assert "ended with its volume" in words_of(played)


def test_a_burst_ends_with_its_time() -> None:
    played = run(CachedDevice(), "seconds=95 rate=110MB/s")
    assert sum(step.duration_ns for step in played.measured) == 95 * NS_PER_S
    assert "ended with its time" in words_of(played)


def test_without_a_volume_the_range_is_written_once_over() -> None:
    played = run(CachedDevice(size=10_000 * GB), "active_range=25 seconds=1h")
    assert scalars_of(played)["burst 1: written"] == pytest.approx(64 * GIB / GB, rel=0.01)


@pytest.mark.parametrize("gap", [3, 45, 52])
def test_after_a_gap_it_begins_again_with_the_purge(gap: int) -> None:
    device = CachedDevice(gaps=frozenset({gap}))
    played = run(device, "rest=10s flat=60s rate=110MB/s")
    again, first = played.asked[gap : gap + 2]
    assert isinstance(again, Purge)
    assert isinstance(first, Measure)
    assert not first.continues
    found = scalars_of(played)
    assert found["burst 1: cache"] == pytest.approx(25, rel=0.01)
    assert "burst 2: cache" in found


# --- what is found ----------------------------------------------------------------------------


def test_the_cache_of_the_article_is_told_with_the_model_beside_it() -> None:
    played = run(CachedDevice(), "cache=25GB rate=110MB/s")
    found = scalars_of(played)
    assert found["burst 1: written until the overflow (V*)"] == pytest.approx(47.41, rel=0.005)
    assert found["burst 1: V* of the model"] == pytest.approx(47.41, rel=0.005)
    assert found["burst 1: cache"] == pytest.approx(25, rel=0.005)
    assert found["burst 1: rate after"] == pytest.approx(52, rel=0.005)
    words = words_of(played)
    assert "OVERFLOW after 47.4 GB: from 110 to 52 MB/s" in words
    assert "A cache of 25 GB would overflow after 47.4 GB" in words


def test_what_a_rest_brings_back_is_what_the_model_drains() -> None:
    found = scalars_of(run(CachedDevice(), "rest=100s,1h rate=110MB/s"))
    assert found["burst 2: cache that came back"] == pytest.approx(5.2, rel=0.05)
    assert found["burst 3: cache that came back"] == pytest.approx(25, rel=0.02)


def test_a_burst_that_finds_the_cache_full_says_that_nothing_came_back() -> None:
    played = run(CachedDevice(), "rest=1ms rate=110MB/s seconds=10min")
    assert scalars_of(played)["burst 2: cache that came back"] == 0
    assert "there was no overflow up to" in words_of(played)


def test_water_marks_are_stalls_and_turns_in_the_words_too() -> None:
    played = run(CachedDevice(low=20 * GB), "flat=none seconds=20min rate=110MB/s")
    words = words_of(played)
    assert "in turns, as a cache with water marks" in words
    assert scalars_of(played)["burst 1: longest stall"] == pytest.approx(96, abs=2)
    assert scalars_of(played)["burst 1: cache"] == pytest.approx(25, rel=0.03)


def test_where_nothing_overflows_it_says_so_and_up_to_where() -> None:
    played = run(CachedDevice(size=1e15), "volume=64GB cache=25GB")
    words = words_of(played)
    assert "NO OVERFLOW up to 64" in words
    assert "no cache overflowed" in words
    found = scalars_of(played)
    assert found["burst 1: overflows"] == 0
    assert "burst 1: cache" not in found


@dataclass
class WornDevice(CachedDevice):
    """A drive that writes at 400 MB/s until `size` bytes are written, and then no better."""

    def sample(self, source: float, seconds: float) -> float:
        rate = source if self.held < self.size else self.drain
        self.held += rate * seconds
        return rate * seconds

    def __call__(self, step: Step) -> Answer:
        held = self.held
        answer = super().__call__(step)
        if isinstance(step, Idle):
            self.held = held
        return answer


def test_a_fall_is_followed_by_a_rest_and_a_burst_that_show_a_cache() -> None:
    played = run(CachedDevice(), "rate=110MB/s flat=60s")
    (rest,) = [step for step in played.asked if isinstance(step, Idle)]
    # A tenth of 25 GB at 52 MB/s.
    assert rest.duration_ns / NS_PER_S == pytest.approx(2_500 / 52, rel=0.01)
    begun = [step.round_number for step in played.measured if not step.continues]
    assert begun == [1, 2]
    words = words_of(played)
    assert "OVERFLOW after 47.4 GB" in words
    assert "brought back 2.5 GB, where the model drains 2.5 GB" in words


def test_a_cache_that_drains_faster_than_it_is_seen_rests_until_it_is() -> None:
    played = run(CachedDevice(drain=300 * MB), "flat=60s")
    (rest,) = [step for step in played.asked if isinstance(step, Idle)]
    # Ten samples of 100 MB/s are less than a tenth of 25 GB, which 300 MB/s drain in 8.3 seconds.
    assert rest.duration_ns / NS_PER_S == pytest.approx(2_500 / 300, rel=0.02)
    small = run(CachedDevice(size=1.5 * GB, drain=200 * MB), "flat=60s")
    (rest,) = [step for step in small.asked if isinstance(step, Idle)]
    assert rest.duration_ns / NS_PER_S == pytest.approx(1.5 * GB / (200 * MB), rel=0.02)


def test_a_drive_that_is_written_over_has_no_cache_and_it_is_said_why() -> None:
    written = 1.2 * DRIVE.capacity_bytes
    played = run(WornDevice(size=written), f"volume={written * 2 / GB:.0f}GB seconds=2h")
    words = words_of(played)
    assert "NO CACHE SEEN: the drive is saturated after" in words
    assert "had been written 1.20 times over when it fell" in words
    assert "burst 1: cache" not in scalars_of(played)


def test_what_a_rest_does_not_empty_on_a_fresh_device_is_a_tier() -> None:
    words = words_of(run(WornDevice(size=30 * GB), "flat=60s"))
    assert "OVERFLOW after 30 GB" in words
    assert "a cache that is not emptied while the device rests" in words


def test_on_a_device_that_was_not_purged_it_cannot_be_known() -> None:
    words = words_of(run(WornDevice(size=30 * GB), "flat=60s purge=no"))
    assert "WHETHER A CACHE OVERFLOWED CANNOT BE KNOWN: it fell after 30 GB" in words
    assert "The device was not purged" in words


def test_without_a_proof_it_cannot_be_known_either() -> None:
    words = words_of(run(CachedDevice(), "rate=110MB/s flat=60s proof=off"))
    assert "WHETHER A CACHE OVERFLOWED CANNOT BE KNOWN: it fell after 47.4 GB" in words
    assert "a burst after a rest would tell" in words


def test_a_beginning_of_three_samples_is_too_short_to_be_a_cache() -> None:
    played = run(WornDevice(size=1.2 * GB), "volume=40GB")
    assert "NO OVERFLOW up to 40" in words_of(played)


def test_after_a_gap_in_the_proof_all_begins_again() -> None:
    whole = run(CachedDevice(), "rate=110MB/s flat=60s")
    last = len(whole.asked)
    device = CachedDevice(gaps=frozenset({last}))
    played = run(device, "rate=110MB/s flat=60s")
    assert isinstance(played.asked[last], Purge)
    assert scalars_of(played) == pytest.approx(scalars_of(whole))


# --- settings, watch, report ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        ({"rate": "110"}, "no unit"),
        ({"bs": "1000"}, "multiple of 512"),
        ({"rest": ","}, "names none"),
        ({"purge": "maybe"}, "none of yes, no"),
        ({"rw": "read"}, "none of write, randwrite"),
        ({"colour": "red"}, "Unknown setting"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_do(
    overrides: dict[str, str], says: str
) -> None:
    with pytest.raises(PlanError, match=says) as caught:
        METHOD.settings("", overrides, DRIVE)
    assert caught.value.remedy


def test_samples_too_short_for_the_engine_are_refused() -> None:
    with pytest.raises(PlanError, match="less than a millisecond"):
        METHOD.settings("", {"sample": "10ms"}, SCALED)


def test_the_watch_tells_the_burst_and_what_is_left_of_it() -> None:
    played = run(CachedDevice(), "rest=100s flat=60s seconds=10min rate=110MB/s")
    seen = []
    for count in range(len(played.steps)):
        record = record_of(METHOD, played.settings, played.steps[:count])
        watch = watch_of(record)
        seen.append((watch.phase, watch.round_number))
        assert watch.remaining_ns_least <= watch.remaining_ns_most
        assert watch.remaining_ns_most <= (2 * 600 + 100) * NS_PER_S
    assert list(dict.fromkeys(seen)) == [("purge", None), ("burst", 1), ("rest", 1), ("burst", 2)]
    assert watch_of(played.record).phase == "done"


def test_every_number_that_is_drawn_is_in_a_table() -> None:
    played = run(CachedDevice(low=20 * GB), "rest=1min seconds=15min rate=110MB/s")
    document = document_of(played.record)
    charts = [b for section in document.sections for b in section.blocks if isinstance(b, XYChart)]
    assert len(charts) == 4
    for chart in charts:
        tabled = {value for row in chart.table.rows for value in row}
        for series in chart.series:
            assert set(series.x) | set(series.y) <= tabled


def test_the_source_that_is_held_back_is_one_remark_and_not_one_a_step() -> None:
    played = run(CachedDevice(), SOURCE)
    late = tuple(
        Remark(kind=RemarkKind.SCHEDULE_NOT_KEPT, text=f"Stream main: {place}", step=place)
        for place in range(50, 60)
    )
    record = record_of(METHOD, played.settings, played.steps, "done", remarks=late)
    words = text_of(document_of(record))
    assert words.count(RemarkKind.SCHEDULE_NOT_KEPT.value) == 1
    assert "held back in 10 steps" in words


def test_a_run_that_has_not_begun_has_a_report() -> None:
    settings = METHOD.settings("", {}, DRIVE)
    record = record_of(METHOD, settings, ())
    document = document_of(record)
    assert isinstance(document.sections[0], Section)
    assert "Nothing has been written yet." in text_of(document)


@pytest.mark.parametrize(
    "overrides",
    [
        "rate=110MB/s rest=1min,1ms cache=25GB seconds=15min",
        "volume=64GB rest=1s",
        "rate=110MB/s seconds=20min flat=none",
    ],
)
@pytest.mark.parametrize("low", [None, 20 * GB])
def test_every_text_of_the_report_is_translated(overrides: str, low: float | None) -> None:
    played = run(CachedDevice(low=low), overrides, SCALED)
    document = document_of(played.record)
    japanese = translator(Language.JAPANESE)
    answer, phases = document.sections[:2]
    assert any(isinstance(block, XYChart) for block in answer.blocks), "the picture beside it"
    assert any(isinstance(block, Table) for block in phases.blocks)
    data = data_of(played.record, played.settings)
    assert untranslated(document, japanese, data) - {document.name} == set()
