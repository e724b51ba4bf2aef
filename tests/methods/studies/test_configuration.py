"""The study `configuration` on made-up devices: its order, its answers, what it must not claim."""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from teijo.document.model import Verdict, XYChart
from teijo.errors import PlanError
from teijo.methods.method import AnyMethod
from teijo.methods.parts import document_of, findings_of, found_in, watch_of
from teijo.methods.studies.configuration.answer import cached_sentences
from teijo.methods.studies.configuration.found import (
    Cached,
    ConfigurationFound,
    visits_of,
)
from teijo.methods.studies.configuration.method import Configuration
from teijo.methods.studies.configuration.settings import ConfigurationSettings
from teijo.methods.studies.configuration.words import factors
from teijo.report.language import Language, translator
from teijo.terms.result import Answer, Gap
from teijo.terms.step import Configure, Measure, Precondition, Step
from tests.methods.canned import DRIVE, Canned, Played, play, record_of
from tests.methods.documents import charts_of, text_of
from tests.report.english import data_of, untranslated

METHOD: AnyMethod = Configuration()
PLAN = """
title = "Chunks and caches"
device = "sim:raid5(4×hdd-7200)?chunk={chunk}&cache={cache}"
workloads = ["4k-write", { name = "large", rw = "read", bs = "1MiB" }]
repeats = 4
[factors]
chunk = ["16KiB", "64KiB", "128KiB"]
cache = { off = "0", wt = "0", wb = "32MiB" }
"""
Factors = dict[str, str]


def settings_of(plan: str = PLAN, **more: str) -> ConfigurationSettings:
    settings = METHOD.settings("", {"plan": plan, **more}, DRIVE)
    assert isinstance(settings, ConfigurationSettings)
    return settings


@dataclass
class Array:
    """A device whose rate follows from its levels, its workload and the place in the order.

    `effect` is a factor by which a base of 1,000 IOPS is multiplied; `scatter` varies each visit.
    """

    effect: Callable[[Factors, str], float] = lambda levels, workload: 1.0
    scatter: float = 0.01
    drift: float = 0.0
    again: float = 1.0
    gaps: frozenset[int] = frozenset()
    seed: int = 1
    visits: int = 0
    asked: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        self._canned = Canned(rate=self._rate)

    def __call__(self, step: Step) -> Answer:
        self.asked.append(step)
        if len(self.asked) in self.gaps:
            return Gap()
        self.visits += isinstance(step, Configure)
        return self._canned(step)

    def _rate(self, step: Measure) -> float:
        assert step.cell is not None
        name, _, workload = step.cell.rpartition(": ")
        parts = name.removesuffix(" (again)").split(", ")
        levels = dict(part.split("=") for part in parts if "=" in part)
        own = self.again if name.endswith("(again)") else 1.0
        grown = 1 + self.drift * self.visits
        noise = float(np.exp(self._random.normal(0, self.scatter))) if self.scatter else 1.0
        return 1_000 * self.effect(levels, workload) * own * grown * noise


def run(device: Array, plan: str = PLAN, **more: str) -> Played:
    return play(METHOD, device, overrides={"plan": plan, **more})  # type: ignore[arg-type]


def found_of(played: Played) -> ConfigurationFound:
    found = found_in(played.record)
    assert isinstance(found, ConfigurationFound)
    return found


def words(played: Played) -> str:
    return text_of(document_of(played.record))


def verdict(played: Played) -> Verdict:
    document = document_of(played.record)
    found = document.sections[0].blocks[0]
    assert isinstance(found, Verdict)
    return found


def larger_is_better(levels: Factors, workload: str) -> float:
    """The chunk matters for small writes, write-back much more, write-through not at all."""
    chunk = {"16KiB": 1.0, "64KiB": 1.3, "128KiB": 1.8}[levels["chunk"]]
    back = 10.0 if levels["cache"] == "wb" else 1.0
    return chunk * back if workload == "4k-write" else 1.0


# --- the design -------------------------------------------------------------------------------


def test_every_configuration_stands_once_in_each_block_and_the_control_twice() -> None:
    visits = visits_of(settings_of())
    assert [visit.number for visit in visits] == list(range(1, 41))
    for block in (1, 2, 3, 4):
        names = Counter(visit.cell.name for visit in visits if visit.block == block)
        assert names.pop("chunk=16KiB, cache=off") == 2
        assert set(names.values()) == {1}
        assert len(names) == 8
    assert [visit.block for visit in visits] == sorted(visit.block for visit in visits)


def test_the_order_is_drawn_for_each_block_and_the_same_for_the_same_seed() -> None:
    def order(block: int, **more: str) -> list[str]:
        return [visit.name for visit in visits_of(settings_of(**more)) if visit.block == block]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert order(1) != order(1, shuffle="2")


def test_no_place_in_the_order_belongs_to_a_configuration() -> None:
    places = np.zeros(10)
    visits = visits_of(settings_of(repeats="100"))
    for visit in visits:
        if visit.cell.place == 4:
            places[(visit.number - 1) % 10] += 1
    assert places.min() >= 2  # ten expected of a hundred blocks
    assert places.max() <= 20


def test_the_control_may_be_another_configuration_or_none() -> None:
    named = settings_of(control="cache=wb, chunk=64KiB")
    assert {visit.cell.name for visit in visits_of(named) if visit.copy} == {
        "chunk=64KiB, cache=wb"
    }
    assert not any(visit.copy for visit in visits_of(settings_of(control="none")))


def test_each_visit_configures_prepares_and_measures() -> None:
    played = run(Array(), purge="on", fill="0.5", ramp="1s", rest="2s", repeats="2")
    kinds = [step.kind for step in played.asked]
    one = ["configure", "purge", "precondition", *["idle", "measure", "measure"] * 2]
    assert kinds == one * 20
    configured = [step for step in played.asked if isinstance(step, Configure)]
    texts = {step.device for step in configured}
    assert "sim:raid5(4×hdd-7200)?chunk=64KiB&cache=32MiB" in texts
    assert dict(configured[0].settings).keys() == {"chunk", "cache"}
    fills = [step for step in played.asked if isinstance(step, Precondition)]
    assert {step.total_bytes for step in fills} == {DRIVE.capacity_bytes // 2}
    phases = Counter(step.phase for step in played.asked if isinstance(step, Measure))
    assert phases == {"ramp": 40, "measure": 40}


@pytest.mark.parametrize("gap", [1, 2, 3, 4, 5, 8, 9])
def test_after_a_gap_the_visit_begins_again_with_its_configuration(gap: int) -> None:
    whole, broken = run(Array(scatter=0)), run(Array(scatter=0, gaps=frozenset({gap})))
    after = broken.asked[gap]
    assert isinstance(after, Configure)
    at_gap = [step for step in broken.asked[:gap] if isinstance(step, Configure)][-1]
    assert after == at_gap
    names = [each.visit.name for each in found_of(broken).visited]
    assert names == [each.visit.name for each in found_of(whole).visited]
    assert findings_of(broken.record) == findings_of(whole.record)


def test_with_a_hook_the_texts_of_the_levels_are_handed_to_it() -> None:
    plan = PLAN.replace('device = "sim:raid5(4×hdd-7200)?chunk={chunk}&cache={cache}"',
                        'hook = ["./apply", "--now"]\ntimeout = "5min"')  # fmt: skip
    steps = [step for step in run(Array(), plan).asked if isinstance(step, Configure)]
    assert {step.hook for step in steps} == {("./apply", "--now")}
    assert {step.timeout_ns for step in steps} == {300 * 10**9}
    assert {dict(step.settings)["cache"] for step in steps} == {"0", "32MiB"}
    assert {step.device for step in steps} == {""}


# --- the plan ---------------------------------------------------------------------------------


def test_the_whole_plan_is_in_the_settings_and_single_settings_stand_above_it() -> None:
    settings = settings_of(seconds="250ms", repeats="2")
    assert settings.title == "Chunks and caches"
    assert settings.factors[1] == ("cache", (("off", "0"), ("wt", "0"), ("wb", "32MiB")))
    assert [each.title for each in settings.workloads] == [
        "randwrite 4 KiB, 1 × 1",
        "read 1024 KiB, 1 × 1",
    ]
    assert (settings.duration_ns, settings.repeats) == (250_000_000, 2)
    assert METHOD.settings_from(settings.model_dump(mode="json")) == settings


def test_levels_may_stand_in_each_other() -> None:
    plan = """
    device = "sim:{cache}"
    [factors]
    chunk = ["16KiB", "64KiB"]
    cache = { off = "raid5(4×hdd-7200)?chunk={chunk}", on = "cache(raid5(4×hdd)?chunk={chunk})" }
    """
    steps = [step for step in run(Array(), plan).asked if isinstance(step, Configure)]
    assert "sim:cache(raid5(4×hdd)?chunk=64KiB)" in {step.device for step in steps}


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("chunk = [", "no TOML"),
        ('colour = "blue"', "The plan's colour"),
        ("repeats = 1", "between 2 and 100"),
        ('workloads = ["5k-write"]', "'5k-write' is none of cdm5"),
        ("workloads = [{ rw = 'read' }]", "has no name"),
        ("workloads = [{ name = 'a', rw = 'sideways' }]", "sideways"),
        ("[factors]\nchunk = ['1']", "2 to 64"),
        ("[factors]\nchunk = ['1', '1']", "stands twice"),
        ("[factors]\nchunk = ['1', 'a=b']", "no name of a level"),
        ("[factors]\nchunk = ['1', '2']", "Nothing applies the factors chunk"),
        ("device = 'sim:a'\nhook = 'b'", "only one can apply"),
        ("device = 'disk.img'", "no simulated device"),
        ("device = 'sim:a?b={b}'", "a place for b, which is no factor"),
        ("device = 'sim:a'\n[factors]\nb = ['1', '2']", "stands nowhere in the device"),
        ("device = 'sim:a{b}'\n[factors]\nb = {x = '{b}', y = '2'}", "without end"),
        ("control = 'none'", "nothing is compared"),
        ("control = 'chunk=1'", "none of the configurations"),
        ('hook = "a \'b"', "quotation"),
    ],
)
def test_a_mistake_in_a_plan_is_told(plan: str, message: str) -> None:
    with pytest.raises(PlanError, match=re.escape(message)):
        settings_of(plan)


def test_more_visits_than_anybody_waits_for_are_refused() -> None:
    levels = ", ".join(f"'{each}'" for each in range(64))
    plan = f"hook = 'a'\n[factors]\na = [{levels}]\nb = [{levels}]"
    with pytest.raises(PlanError, match="20,000 is the most"):
        settings_of(plan, repeats="5")


def test_it_writes_only_if_something_in_it_writes() -> None:
    reading = {"workloads": "4k-read"}
    assert METHOD.writes(settings_of())
    assert not METHOD.writes(settings_of(**reading))
    assert METHOD.writes(settings_of(**reading, fill="1"))
    assert METHOD.writes(settings_of(**reading, purge="on"))


# --- the answer -------------------------------------------------------------------------------


def test_a_known_effect_is_found_with_its_size_and_where_there_is_none_none_is_claimed() -> None:
    played = run(Array(effect=larger_is_better))
    text = words(played)
    assert "cache MATTERS MOST" in verdict(played).text
    found = re.search(
        r"Chunk matters most for 4k-write: 128KiB is ([\d.]+) × 16KiB \(95 %: ([\d.]+) to ([\d.]+)",
        text,
    )
    assert found is not None, text
    ratio, low, high = (float(each) for each in found.groups())
    assert low <= 1.8 <= high
    assert ratio == pytest.approx(1.8, rel=0.02)
    assert "Cache off and wt do not differ for any workload." in text
    assert "What chunk does depends" not in text
    assert "The control, one configuration under two names" in text
    assert "The order of measuring made no difference." in text


def test_the_shares_of_the_variation_are_those_of_the_effects() -> None:
    played = run(Array(effect=larger_is_better, scatter=0))
    scalars = {each.name: each.value for each in findings_of(played.record).scalars}
    logs = np.log(np.array([1, 1.3, 1.8]))
    back = np.log(np.array([1, 1, 10.0]))
    expected = logs.var() / (logs.var() + back.var()) * 100
    assert scalars["4k-write: share of chunk"] == pytest.approx(expected, rel=0.01)
    assert scalars["4k-write: share of chunk × cache"] == pytest.approx(0, abs=0.01)
    assert scalars["4k-write: chunk 128KiB by 16KiB"] == pytest.approx(1.8, rel=0.001)
    assert scalars["large: control"] == pytest.approx(1)


def test_factors_that_depend_on_each_other_are_told() -> None:
    def together(levels: Factors, workload: str) -> float:
        return 3.0 if levels["chunk"] == "64KiB" and levels["cache"] == "wb" else 1.0

    text = words(run(Array(effect=together)))
    assert "What chunk does depends on cache" in text


def test_where_nothing_matters_hardly_ever_anything_is_claimed() -> None:
    claimed = 0
    for seed in range(60):
        played = run(Array(scatter=0.05, seed=seed), repeats="3")
        claimed += verdict(played).text != "NO FACTOR MAKES A DIFFERENCE"
    assert claimed <= 6  # one in twenty for each of two factors


def test_a_factor_that_helps_one_workload_and_harms_another_is_told_as_such() -> None:
    def turned(levels: Factors, workload: str) -> float:
        large = levels["chunk"] == "128KiB"
        return (2.0 if workload == "4k-write" else 0.8) if large else 1.0

    text = words(run(Array(effect=turned)))
    assert re.search(r"Chunk matters most for 4k-write: 128KiB is [\d.]+ × ", text)
    assert re.search(r"For large it is the other way round: \w+ is 1\.2\d* × 128KiB", text)


def test_a_drift_is_told_and_is_in_no_factors_difference() -> None:
    played = run(Array(effect=larger_is_better, drift=0.01))
    text = words(played)
    assert "From the first to the last visit" in text
    found = re.search(r"128KiB is ([\d.]+) × 16KiB", text)
    assert found is not None
    assert float(found[1]) == pytest.approx(1.8, rel=0.1)


def test_a_control_that_differs_from_itself_spoils_the_verdict() -> None:
    played = run(Array(effect=larger_is_better, again=0.8))
    assert verdict(played).good is False
    assert "THE CONTROL FAILED" in words(played)
    assert verdict(run(Array(effect=larger_is_better))).good is None


def test_a_difference_no_larger_than_that_of_the_control_is_none() -> None:
    def slightly(levels: Factors, workload: str) -> float:
        return 1.05 if levels["chunk"] == "64KiB" else 1.0

    found = found_of(run(Array(effect=slightly, scatter=0.001, again=0.9)))
    pairs = [pair for each in found.judged for pair in each.pairs]
    assert not any(pair.shown for pair in pairs)
    assert any(pair.p_value < 0.01 and not pair.beyond_noise for pair in pairs)


def cached_writes(levels: Factors, workload: str) -> float:
    """Behind write-back nothing of the chunk is seen by small writes: each is the cache's."""
    if levels["cache"] == "wb" and workload == "4k-write":
        return 2_000.0
    return {"16KiB": 1.0, "64KiB": 1.1, "128KiB": 1.2}[levels["chunk"]]


class EqualCache(Array):
    """The same, and what the cache answers is equal to the last digit."""

    def _rate(self, step: Measure) -> float:
        rate = super()._rate(step)
        return 2_000_000.0 if rate > 1_000_000 else rate


def test_rates_that_are_equal_whatever_lies_behind_are_said_to_be_a_caches() -> None:
    played = run(EqualCache(cached_writes))
    assert re.match(r"A CACHE WAS MEASURED: cache wb is [\d,]+ × ", verdict(played).text)
    told = words(played)
    assert "With cache=wb a cache answered 4k-write, not what lies behind it" in told
    assert "the rates are equal whatever is set behind it (3 settings)" in told
    assert "a cache of that size is enough for it" in told


def test_what_a_cache_cannot_answer_is_told_beside_what_was_measured() -> None:
    cached = Cached(
        workload="4k-write", factor=1, level=2, spread=0.0004, written_bytes=4e9,
        holds_bytes=8e9, rate_mb_s=4_000.0, fill_ns=2 * 10**9,
    )  # fmt: skip
    drive = replace(DRIVE, capacity_bytes=10**12, nominal_capacity_bytes=10**12)
    settings = settings_of()
    record = replace(record_of(METHOD, settings, ()), geometry=drive)
    told = " ".join(cached_sentences(METHOD.find(settings, record), [cached]))
    assert "the rates differ by 0.04 % at most, whatever is set behind it (3 settings)." in told
    assert "A visit wrote 4 GB at most, and the cache holds 8 GB." in told
    assert "more than 0.8 % of the device (here 100 %) for longer than 2.00 s at 4,000 MB/s" in told
    assert "(here 5.00 s)." in told
    record = replace(record, geometry=replace(drive, capacity_bytes=10**10))
    scaled = " ".join(cached_sentences(METHOD.find(settings, record), [cached]))
    assert "4 GB (at full size) at most, and the cache holds 8 GB (at full size)." in scaled


def saying(played: Played, holds: str) -> str:
    """What is said of the same devices where each write-back cache says how much it holds."""
    steps = []
    for each in played.record.steps:
        if isinstance(each.step, Configure):
            mode = "write-back" if ("cache", "wb") in each.step.settings else "none"
            detail = {"facts": json.dumps({"mode": mode, "size": holds})}
            answer = replace(each.answer, detail=detail)  # type: ignore[type-var]
            each = replace(each, answer=answer)
        steps.append(each)
    return text_of(document_of(replace(played.record, steps=tuple(steps))))


def test_a_cache_that_holds_all_that_was_written_answered_where_it_is_twice_as_fast() -> None:
    fast = run(Array(larger_is_better))
    assert "With cache=wb a cache answered 4k-write, not what lies behind it" in saying(fast, "9TB")
    assert "a cache answered" not in saying(fast, "1MB")
    hardly = run(Array(lambda levels, _: 1.5 if levels["cache"] == "wb" else 1.0))
    assert "a cache answered" not in saying(hardly, "9TB")


def test_a_setting_that_is_slower_by_less_than_is_seen_loses_nowhere() -> None:
    def hardly(levels: Factors, workload: str) -> float:
        place = ["16KiB", "64KiB", "128KiB"].index(levels["chunk"])
        return 4.0**place if workload == "4k-write" else 1 - place * 2e-4

    text = words(run(Array(hardly, scatter=1e-6)))
    assert "Recommended: chunk=128KiB" in text
    assert "in 2 of them nothing was faster by more than chance" in text
    assert "It loses most" not in text


def test_rates_that_scatter_as_devices_do_are_no_caches() -> None:
    played = run(Array(larger_is_better))
    assert "MATTERS MOST" in verdict(played).text
    assert "a cache answered" not in words(played)


def test_it_ends_with_the_setting_it_recommends_and_its_evidence() -> None:
    played = run(Array(larger_is_better))
    document = document_of(played.record)
    told = [section.title for section in document.sections]
    assert "Recommended setting" in told
    text = words(played)
    assert "Recommended: chunk=128KiB" in text
    assert "cache=wb" in text.split("Recommended: ")[1][:60]
    # The root of 18, for the other workload has no difference.
    times = float(re.search(r"it is ([\d.]+) × the slowest", text)[1])  # type: ignore[index]
    assert times == pytest.approx(18**0.5, rel=0.03)
    assert "in 2 of them nothing was faster by more than chance" in text


def test_a_factor_that_makes_no_difference_is_left_free() -> None:
    def chunk_only(levels: Factors, workload: str) -> float:
        del workload
        return {"16KiB": 1.0, "64KiB": 1.3, "128KiB": 1.8}[levels["chunk"]]

    text = words(run(Array(chunk_only)))
    assert "Recommended: chunk=128KiB." in text
    assert "Of cache take any." in text


def test_the_workload_that_the_recommended_setting_harms_is_named() -> None:
    def turned(levels: Factors, workload: str) -> float:
        place = ["16KiB", "64KiB", "128KiB"].index(levels["chunk"])
        return 4.0**place if workload == "4k-write" else 2.0**-place

    text = words(run(Array(turned)))
    assert "It loses most for large: 25 % of the rate with chunk=16KiB" in text


def test_nothing_is_recommended_where_nothing_matters_or_the_control_fails() -> None:
    assert "No setting is recommended" in words(run(Array()))
    assert "No setting is recommended" in words(run(Array(larger_is_better, again=2.0)))
    assert "ecommended" not in words(run(Array(), plan="repeats = 3"))


def test_without_factors_it_is_the_noise_of_equal_configurations() -> None:
    played = run(Array(), "control = 'first'", workloads="4k-read")
    assert re.match(r"EQUAL CONFIGURATIONS DIFFER BY \d", verdict(played).text)
    assert charts_of(document_of(played.record)) == []


def test_a_workload_that_did_nothing_is_not_judged_and_the_others_are() -> None:
    def dead(levels: Factors, workload: str) -> float:
        return 1e-9 if workload == "large" else larger_is_better(levels, workload)

    text = words(run(Array(effect=dead)))
    assert "matters most for 4k-write" in text
    assert "large" not in text.partition("== ")[2].partition("table")[0]


@pytest.mark.parametrize("steps", [0, 1, 2, 29, 30, 31, 59, 61])
def test_a_growing_record_has_a_report_of_its_whole_blocks(steps: int) -> None:
    played = run(Array(effect=larger_is_better))
    record = record_of(METHOD, played.settings, played.steps[:steps])
    findings = findings_of(record)
    assert findings.rounds == steps // 30
    text = text_of(document_of(record))
    assert ("nothing is judged" in text) == (steps < 60)


def test_the_watch_counts_down_to_nothing() -> None:
    played = run(Array())
    left = []
    for count in range(len(played.steps)):
        watch = watch_of(record_of(METHOD, played.settings, played.steps[:count]))
        assert (watch.rounds_least, watch.rounds_most) == (4, 4)
        left.append(watch.remaining_ns_most)
    assert left[0] == 80 * 5 * 10**9
    assert left == sorted(left, reverse=True)
    assert watch_of(played.record).phase == "done"


def test_every_number_that_is_drawn_is_in_a_table() -> None:
    played = run(Array(effect=larger_is_better))
    charts = charts_of(document_of(played.record))
    assert len(charts) == 4
    for chart in charts:
        assert isinstance(chart, XYChart)
        tabled = {value for row in chart.table.rows for value in row}
        for series in chart.series:
            ends = {end for both in series.spread for end in both or ()}
            assert set(series.y) | ends <= tabled


THREE = """
hook = "./apply"
control = "none"
repeats = 2
workloads = "4k-write"
[factors]
a = ["1", "2"]
b = ["1", "2"]
c = ["1", "2"]
"""


def odd(levels: Factors, workload: str) -> float:
    return 1.5 if len(set(levels.values())) == 1 else 1.0


@pytest.mark.parametrize(
    ("plan", "device"),
    [
        (PLAN, Array(effect=larger_is_better)),
        (PLAN, Array(effect=larger_is_better, drift=0.01, again=0.7)),
        (PLAN, Array()),
        (THREE, Array(effect=odd)),
    ],
)
def test_every_text_of_its_reports_is_translated(plan: str, device: Array) -> None:
    played = run(device, plan)
    document = document_of(played.record)
    data = data_of(played.record, METHOD.settings_from(played.record.run.settings))
    data |= {step.cell for step in played.asked if isinstance(step, Configure | Measure)}
    japanese = translator(Language.JAPANESE)
    assert untranslated(replace(document, name=""), japanese, frozenset(data)) == set()


def test_two_factors_that_a_hook_could_not_tell_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="two factors have one name"):
        factors("a-b=1,2; A_b=3,4")
