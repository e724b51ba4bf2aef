"""The study `tier` on a made-up tier whose size and rates are known: its steps, cliffs, words."""

from dataclasses import dataclass, field, replace

import pytest

from teijo.analysis.tiering import hit_share, in_turn
from teijo.document.model import Paragraph, Span, Table, Verdict, XYChart
from teijo.errors import PlanError
from teijo.methods.forms import VOLUME
from teijo.methods.method import AnyMethod
from teijo.methods.parts import document_of, findings_of, found_in, watch_of
from teijo.methods.studies.tier.cells import cells_in
from teijo.methods.studies.tier.found import TierFound
from teijo.methods.studies.tier.method import Tier, between
from teijo.methods.studies.tier.settings import (
    TierSettings,
    asked_on,
)
from teijo.terms.configured import detail_of
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.result import Answer, Gap, StepResult
from teijo.terms.step import Configure, Idle, Measure, Precondition, Purge, Step
from tests.methods.canned import IDENTITY, Played, flow, play, record_of
from tests.methods.documents import text_of

METHOD: AnyMethod = Tier()
TB = 10**12
WHOLE = Geometry(capacity_bytes=10 * TB, nominal_capacity_bytes=10 * TB)
FAST = Geometry(capacity_bytes=2 * TB, nominal_capacity_bytes=2 * TB)
SCALED = Geometry(capacity_bytes=TB // 4, nominal_capacity_bytes=10 * TB)
ASKED = {
    "sets": "256GB,512GB,1TB,2TB,4TB,8TB",
    "block_sizes": "4KiB,64KiB,256KiB,1MiB",
    "patterns": "randread,read",
    "fast": "fast",
    "slow": "slow",
    "fill": "1",
}


@dataclass
class TieredDevice:
    """A tier of 2 TB before disks, each I/O in its device's own time; rates in MB/s.

    Random blocks cost the disks 4 ms each of 36; sequential ones run at 5,000 MB/s. The first
    slices of a cell are slow while the tier warms up.
    """

    tier_bytes: int = 2 * TB
    warming: int = 2
    worn_after: int = 0
    """Slices of writes after which writes are slow, whatever the set; 0 for never."""
    written: int = 0
    restless: bool = False
    gaps: frozenset[int] = frozenset()
    scale: float = 1.0
    stage: str = "tier"
    asked: list[Step] = field(default_factory=list)

    def __call__(self, step: Step) -> Answer:
        self.asked.append(step)
        if len(self.asked) in self.gaps:
            return Gap()
        match step:
            case Configure():
                self.stage = dict(step.settings)["stage"]
                own = FAST if self.stage == "fast" else WHOLE
                detail = detail_of(IDENTITY, own) if step.device else {}
                return StepResult(started_ns=0, elapsed_ns=0, detail=detail)
            case Measure():
                return self.measured(step)
            case Precondition():
                return StepResult(started_ns=0, elapsed_ns=1)
            case Purge() | Idle():
                raise AssertionError(step)

    def alone(self, stage: str, block: int, *, random: bool) -> float:
        if stage == "fast":
            return min(3_000.0, 450_000 * block / 1e6)
        return 36 / (0.012 + block / 200e6) * block / 1e6 if random else 5_000.0

    def rate(self, step: Measure) -> float:
        (stream,) = step.workload.streams
        block, random = stream.block_size_bytes, stream.access == "random"
        fast, slow = (self.alone(each, block, random=random) for each in ("fast", "slow"))
        if self.stage != "tier":
            return fast if self.stage == "fast" else slow
        assert stream.active_range.amount_bytes is not None
        share = hit_share(self.tier_bytes, stream.active_range.amount_bytes * self.scale)
        if self.worn_after and not stream.read_percent:
            self.written += 1
            return fast / 10 if self.written > self.worn_after else fast
        number = step.round_number or 1
        cold = 0.3 if number <= self.warming or (self.restless and number % 2) else 1.0
        return cold * in_turn(fast, slow, share)

    def measured(self, step: Measure) -> StepResult:
        (stream,) = step.workload.streams
        ios = round(self.rate(step) * 1e6 / stream.block_size_bytes)
        direction = "read" if stream.read_percent else "write"
        return StepResult(
            started_ns=0,
            elapsed_ns=10**9,
            results=(flow(direction, ios, stream.block_size_bytes, mean_ns=100_000),),
        )


@dataclass
class ColdDevice(TieredDevice):
    """A tier whose largest set that it holds is slow on the first visit: it is not warm yet."""

    def rate(self, step: Measure) -> float:
        (stream,) = step.workload.streams
        first = step.cell is not None and step.cell.startswith("tier")
        cold = first and stream.active_range.amount_bytes == self.tier_bytes
        return super().rate(step) * (0.15 if cold else 1.0)


def played(device: TieredDevice | None = None, **overrides: str) -> Played:
    used = device or TieredDevice()
    return play(METHOD, used, geometry=WHOLE, overrides=ASKED | overrides)  # type: ignore[arg-type]


def tiering(run: Played) -> TierFound:
    return tiering_in(run.record)


def tiering_in(record: Record) -> TierFound:
    found = found_in(record)
    assert isinstance(found, TierFound)
    return found


def first_words(run: Played) -> str:
    report = document_of(run.record)
    blocks = report.sections[0].blocks
    return " ".join(each.text for each in blocks if isinstance(each, Verdict | Paragraph))


def test_the_largest_set_is_filled_on_every_device_before_its_cells() -> None:
    run = played()
    order = [
        step.total_bytes if isinstance(step, Precondition) else dict(step.settings)["stage"]
        for step in run.asked
        if isinstance(step, Precondition | Configure)
    ]
    assert order == [8 * TB, "fast", 2 * TB, "slow", 8 * TB]
    devices = [step.device for step in run.asked if isinstance(step, Configure)]
    assert devices == ["sim:fast", "sim:slow"]


def test_sets_that_a_device_alone_does_not_hold_are_not_asked_of_it() -> None:
    fast = {key.set_bytes for key in tiering(played()).measured if key.stage == "fast"}
    assert max(fast) == 2 * TB


def test_a_cell_is_driven_until_five_slices_are_steady_and_only_those_count() -> None:
    run = played(refine="0")
    cell = next(iter(tiering(run).measured.values()))
    assert len(cell.answers) == 2 + 5
    assert cell.steady
    assert cell.throughput.mean == pytest.approx(450_000 * 4096 / 1e6, rel=1e-3)


def test_a_cell_that_is_never_steady_ends_and_says_so() -> None:
    run = played(TieredDevice(restless=True), slices="8", refine="0")
    cells = [cell for key, cell in tiering(run).measured.items() if key.stage == "tier"]
    assert {len(cell.answers) for cell in cells} == {8}
    assert not any(cell.steady for cell in cells)
    assert "were not steady" in first_words(run)


def test_the_cliff_is_found_at_the_tiers_size_and_narrowed() -> None:
    curves = {(each.pattern, each.block_size_bytes): each for each in tiering(played()).curves}
    cliff = curves["randread", 4096].cliff
    assert cliff is not None
    assert cliff.good_bytes <= 2.2 * TB
    assert 2 * TB <= cliff.bad_bytes <= 2.4 * TB
    coarse = {(e.pattern, e.block_size_bytes): e for e in tiering(played(refine="0")).curves}
    wide = coarse["randread", 4096].cliff
    assert wide is not None
    assert (wide.good_bytes, wide.bad_bytes) == (2 * TB, 4 * TB)
    assert between(wide) == 2828 * 10**9
    assert curves["read", 4096].cliff is None


def test_the_models_run_through_the_rates_of_a_tier_that_follows_one_of_them() -> None:
    found = tiering(played(refine="0"))
    assert found.tier_bytes == 2 * TB
    for curve in found.of("randread"):
        for cell in curve.tier.values():
            both = curve.model(2 * TB, cell.key.set_bytes)
            assert both is not None
            assert cell.throughput.mean == pytest.approx(both[0], rel=0.01)


def test_what_a_fast_device_holds_may_be_said_instead() -> None:
    assert tiering(played(tier_size="1TB", refine="0")).tier_bytes == TB


def test_the_slow_device_wins_sequential_blocks_and_two_fast_ones_would_not_hurt() -> None:
    run = played()
    found = tiering(run)
    # 450,000 × s = 5,000 MB/s never, since the fast one ends at 3,000: slower at every size.
    assert found.crossover("read") == 4096
    assert found.crossover("randread") is None
    assert found.widest is not None
    scalars = {each.name: each.value for each in findings_of(run.record).scalars}
    # Sequential 4 KiB: 5,000 / 1,843 = 2.71, so three.
    assert scalars["fast devices that never hurt"] == 3
    text = first_words(run)
    assert "3 fast devices, striped, would be no slower" in text
    assert "5,000 MB/s / 1,843 MB/s = 2.71, so N = 3" in text
    assert "THE TIER HOLDS" in text


def test_a_sequential_stream_that_does_not_get_through_its_set_has_no_model() -> None:
    found = tiering(played(refine="0"))
    assert {curve.pattern for curve in found.curves if not curve.swept} == {"read"}
    assert {curve.model(2 * TB, TB) for curve in found.of("read")} == {None}
    assert "did not get through" in first_words(played(refine="0"))
    run = played(refine="0", sets="1GB,2GB", patterns="read")
    assert all(curve.swept for curve in tiering(run).curves)
    assert "did not get through" not in first_words(run)


def test_without_the_devices_alone_nothing_is_modelled_and_that_is_said() -> None:
    run = played(fast="none", slow="none")
    assert not any(isinstance(step, Configure) for step in run.asked)
    assert tiering(run).tier_bytes is None
    text = first_words(run)
    assert "were not measured" in text
    assert "THE TIER HOLDS" in text


PLAIN = {"fast": "none", "slow": "none", "tier_size": "none", "block_sizes": "4KiB"}


def test_a_plain_drive_has_no_tier_and_its_writes_are_said_to_be_its_own() -> None:
    worn = TieredDevice(tier_bytes=100 * TB, warming=0, worn_after=12)
    run = played(worn, patterns="randread,randwrite", **PLAIN)
    reads, writes = tiering(run).curves
    assert reads.fall is None
    assert writes.fall is not None
    assert writes.fall.kind == "worn"
    text = first_words(run)
    assert "NO TIER SEEN FROM 256 GB TO 8 TB" in text
    assert "Random writes of 4 KiB fall from 1,843 MB/s at" in text
    assert "when 512 GB is written again" in text


def test_a_tier_is_gone_back_to_and_forth_and_both_rates_stand_beside_the_verdict() -> None:
    run = played(patterns="randread", **PLAIN)
    (curve,) = tiering(run).curves
    assert next(iter(curve.again)) == 256 * 10**9
    assert curve.fall is not None
    assert curve.fall.kind == "tier"
    report = document_of(run.record)
    table = next(each for each in report.sections[0].blocks if isinstance(each, Table))
    (row,) = table.rows
    assert row[-1] == "a tier: sharp, and again"
    assert row[6:8] == pytest.approx((curve.fall.back, curve.fall.again))
    assert "measured once more after that, 256 GB ran at" in first_words(run)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"patterns": "randread", "fill": "0"}, "nothing was written before it was read"),
        ({"patterns": "read"}, "no random accesses to two sets or more"),
        ({"patterns": "randread", "sets": "1TB"}, "no random accesses to two sets or more"),
    ],
)
def test_what_cannot_be_known_is_not_answered(asked: dict[str, str], why: str) -> None:
    text = first_words(played(**PLAIN | asked))
    assert f"WHETHER THERE IS A TIER CANNOT BE KNOWN: {why}" in text
    assert "TIER HOLDS" not in text
    assert "NO TIER" not in text


def test_writes_that_fall_alone_leave_it_open() -> None:
    worn = TieredDevice(tier_bytes=100 * TB, warming=0, worn_after=12)
    text = first_words(played(worn, patterns="randwrite", **PLAIN))
    assert "CANNOT BE KNOWN: writes fall, and no reads were measured" in text


def test_a_set_that_was_cold_the_first_time_is_held_and_the_next_one_is_looked_at() -> None:
    run = played(ColdDevice(), patterns="randread", refine="0", **PLAIN)
    (curve,) = tiering(run).curves
    again = list(curve.again)
    assert again == [256 * 10**9, 2 * TB, 4 * TB]
    assert curve.warmed == (2 * TB,)
    assert curve.cliff is not None
    assert (curve.cliff.good_bytes, curve.cliff.bad_bytes) == (2 * TB, 4 * TB)
    text = first_words(run)
    assert "THE TIER HOLDS 2 TB, NOT 4 TB" in text
    assert "2 TB was slow at first and as fast as the smaller ones when read again" in text


def test_a_fall_within_the_scatter_of_the_slices_is_not_called_a_tier() -> None:
    run = played(patterns="randread", refine="0", **PLAIN)
    noisy = [
        replace(each, answer=louder(each.answer, 0.05 if number % 2 else 1.95))
        if isinstance(each.step, Measure)
        else each
        for number, each in enumerate(run.steps)
    ]
    record = record_of(METHOD, run.settings, tuple(noisy), geometry=WHOLE)
    found = tiering_in(record)
    assert found.seen == "unknown"
    text = text_of(document_of(record))
    assert "unknown: within the scatter" in text
    assert "it is not clear why" in text


def louder(answer: Answer, factor: float) -> StepResult:
    assert isinstance(answer, StepResult)
    (part,) = answer.results
    block, ios = part.bytes // part.count, round(part.count * factor)
    return replace(answer, results=(flow(part.operation, ios, block),))


def test_a_fall_that_was_not_gone_back_from_yet_is_open() -> None:
    run = played(patterns="randread", **PLAIN)
    steps = [each for each in run.steps if not getattr(each.step, "cell", "").startswith("again")]
    record = record_of(METHOD, run.settings, steps, geometry=WHOLE)
    text = text_of(document_of(record))
    assert "random reads of 4 KiB fall, and it is not clear why" in text
    assert "unknown: not measured again" in text


def test_a_tier_that_holds_everything_has_no_cliff() -> None:
    run = played(TieredDevice(tier_bytes=10 * TB))
    assert "NO WORKING SET IS TOO LARGE" in first_words(run)
    assert all(each.cliff is None for each in tiering(run).curves)


def test_a_gap_measures_the_cell_again_and_calls_the_hook_again() -> None:
    quick = {"refine": "0", "block_sizes": "4KiB", "patterns": "read", "fill": "0"}
    run = played(TieredDevice(gaps=frozenset({4})), **quick)
    first = next(iter(tiering(run).measured.values()))
    assert first.rates == pytest.approx([first.rates[-1]] * 5)
    numbers = [step.round_number for step in run.measured[:6]]
    assert numbers == [1, 2, 3, 4, 1, 2]
    none = {"fast": "none", "slow": "none"}
    hooked = played(TieredDevice(gaps=frozenset({4})), hook="./pin.sh --all", **quick, **none)
    stages = [dict(s.settings)["stage"] for s in hooked.asked if isinstance(s, Configure)]
    assert stages == ["tier", "tier", "fast", "slow"]
    assert {s.hook for s in hooked.asked if isinstance(s, Configure)} == {("./pin.sh", "--all")}


def test_volumes_are_divided_by_a_simulated_devices_scale() -> None:
    device = TieredDevice(scale=SCALED.scale)
    asked = ASKED | {"refine": "0"}
    run = play(METHOD, device, geometry=SCALED, overrides=asked)  # type: ignore[arg-type]
    fill = run.asked[0]
    assert isinstance(fill, Precondition)
    assert fill.total_bytes == pytest.approx(8 * TB / SCALED.scale, rel=1e-6)
    found = cells_in((each.step, each.answer) for each in run.steps)
    assert {key.set_bytes for key in found if key.stage == "tier"} == {
        256 * 10**9, 512 * 10**9, TB, 2 * TB, 4 * TB, 8 * TB,
    }  # fmt: skip


def test_what_only_reads_writes_nothing_unless_a_fill_is_asked_for() -> None:
    reads = METHOD.settings("", {"patterns": "randread,read"}, WHOLE)
    assert not METHOD.writes(reads)
    assert METHOD.writes(METHOD.settings("", {"patterns": "read", "fill": "1"}, WHOLE))
    assert METHOD.writes(METHOD.settings("", {}, WHOLE))


PAIR = {"fast": "nvme?seed=1", "slow": "disks?seed=2", "holds": "2000398934016 bytes"}


def test_a_simulated_pair_says_what_it_is_made_of_and_what_the_fast_one_holds() -> None:
    settings = METHOD.settings("", asked_on({}, PAIR), WHOLE)
    assert (settings.fast, settings.slow) == ("sim:nvme?seed=1", "sim:disks?seed=2")
    assert settings.tier_bytes == 2_000_398_934_016
    assert settings.stages == ("tier", "fast", "slow")


def test_a_pair_that_fills_by_misses_is_given_longer_slices() -> None:
    of_tiers = METHOD.settings("", asked_on({}, PAIR), WHOLE)
    of_cache = METHOD.settings("", asked_on({}, PAIR | {"promote_reads": "second"}), WHOLE)
    assert of_cache.slice_ns == 20 * of_tiers.slice_ns
    assert of_cache.block_sizes_bytes == (4096, 1 << 20)


def test_what_is_set_is_not_taken_from_the_pair() -> None:
    asked = asked_on({"fast": "none", "Tier-Size": "1TB", "slice": "2s"}, PAIR)
    settings = METHOD.settings("", asked, WHOLE)
    assert (settings.fast, settings.slow) == ("", "sim:disks?seed=2")
    assert (settings.tier_bytes, settings.slice_ns) == (TB, 2 * 10**9)


def test_nothing_is_taken_from_what_is_no_pair_or_beside_a_hook() -> None:
    assert asked_on({}, {"0.fast": "nvme", "scale": "60"}) == {}
    assert asked_on({"hook": "./pin.sh"}, PAIR) == {"hook": "./pin.sh"}


def test_the_sets_lie_about_the_tiers_size_as_far_as_the_device_goes() -> None:
    settings = METHOD.settings("", {"tier_size": "2000398934016B"}, WHOLE)
    sets = list(map(VOLUME.show, settings.sets_of(WHOLE)))
    assert sets == ["250GB", "500GB", "1TB", "2TB", "4TB", "8TB"]
    large = Geometry(capacity_bytes=300 * TB, nominal_capacity_bytes=300 * TB)
    assert settings.sets_of(large)[-1] == 16 * TB
    larger_than_all = METHOD.settings("", {"tier_size": "200TB"}, WHOLE)
    assert larger_than_all.sets_of(WHOLE)[-1] == 10 * TB


@pytest.mark.parametrize(
    ("overrides", "word"),
    [
        ({"sets": "20TB"}, "does not lie on"),
        ({"sets": "1MiB"}, "no choice of places"),
        ({"patterns": "randrw"}, "it must name some of"),
        ({"hook": "a.sh", "fast": "nvme-2tb"}, "a device is real or simulated"),
        ({"block_sizes": "100"}, "multiple of 512"),
    ],
)
def test_what_cannot_be_measured_is_refused_by_name(overrides: dict[str, str], word: str) -> None:
    with pytest.raises(PlanError, match=word):
        METHOD.settings("", overrides, WHOLE)


def test_the_watch_names_the_cell_and_counts_what_is_left() -> None:
    run = played()
    settings = run.settings
    assert isinstance(settings, TierSettings)
    empty = record_of(METHOD, settings, (), geometry=WHOLE)
    begun = watch_of(empty)
    assert begun.phase == "precondition"
    assert begun.remaining_bytes == 8 * TB
    growing = record_of(METHOD, settings, run.steps[:20], geometry=WHOLE)
    now = watch_of(growing)
    assert now.phase == "cell"
    assert now.cell is not None
    assert now.cell.startswith("tier randread 4 KiB")
    assert 0 < now.remaining_ns_least < now.remaining_ns_most
    assert now.remaining_ns_least < begun.remaining_ns_least
    assert watch_of(run.record).phase == "done"


def test_the_hero_chart_has_the_three_devices_both_models_and_the_cliff() -> None:
    run = played()
    report = document_of(run.record)
    (chart,) = [block for block in report.sections[0].blocks if isinstance(block, XYChart)]
    assert [each.name for each in chart.series] == [
        "tier", "fast device alone", "slow device alone",
        "model, in turn", "model, side by side",
    ]  # fmt: skip
    (span,) = chart.spans
    assert isinstance(span, Span)
    assert span.first < span.last
    assert chart.title == "Random reads of 4 KiB, by working set"


@pytest.mark.parametrize(
    ("sets", "unit", "drawn"),
    [
        ("8MiB,16MiB,256MiB", "MB", (8.389, 16.78, 268.4)),
        ("1GB,2GiB,16GB", "GB", (1.0, 2.147, 16.0)),
        ("256GB,8TB", "TB", (0.256, 8.0)),
    ],
)
def test_sets_are_told_in_the_unit_that_suits_the_largest(
    sets: str, unit: str, drawn: tuple[float, ...]
) -> None:
    run = played(sets=sets, refine="0", fast="none", slow="none")
    report = document_of(run.record)
    (chart,) = [block for block in report.sections[0].blocks if isinstance(block, XYChart)]
    assert chart.x.unit == unit
    assert chart.series[0].x == drawn


def test_a_record_without_a_cell_has_a_report_that_says_so() -> None:
    settings = METHOD.settings("", ASKED, WHOLE)
    record = record_of(METHOD, settings, (), geometry=WHOLE)
    assert "No cell has been measured" in text_of(document_of(record))
    assert findings_of(replace(record, steps=())).cells == ()
