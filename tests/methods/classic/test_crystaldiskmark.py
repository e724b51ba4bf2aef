"""CrystalDiskMark as a method: rows and steps of every version and profile, score and mean."""

import itertools

import numpy as np
import pytest

from teijo import api, units
from teijo.document.model import Paragraph, Table
from teijo.errors import PlanError
from teijo.methods.classic import hidden
from teijo.methods.classic.crystaldiskmark.found import transported_mb_s
from teijo.methods.classic.crystaldiskmark.method import CrystalDiskMark
from teijo.methods.classic.crystaldiskmark.rows import rows_of
from teijo.methods.parts import document_of, found_in, watch_of
from teijo.terms.geometry import Geometry
from teijo.terms.remark import RemarkKind
from teijo.terms.result import OperationResult, StepResult
from teijo.terms.step import Idle, Measure, Precondition
from teijo.terms.workload import Access, Content
from tests.methods.canned import DRIVE, GIB, Canned, Played, play, record_of
from tests.methods.documents import text_of

METHOD = CrystalDiskMark()
MIB = units.MIB
SEQ_1M_Q8, SEQ_1M = "SEQ 1 MiB Q8T1", "SEQ 1 MiB Q1T1"
RND_Q32, RND = "RND 4 KiB Q32T1", "RND 4 KiB Q1T1"
NAMES = {
    ("8", "default"): (SEQ_1M_Q8, SEQ_1M, RND_Q32, RND),
    ("8", "nvme"): (SEQ_1M_Q8, "SEQ 128 KiB Q32T1", "RND 4 KiB Q32T16", RND),
    ("8", "peak"): (SEQ_1M_Q8, RND_Q32),
    ("8", "real-world"): (SEQ_1M, RND),
    ("8", "demo"): (SEQ_1M_Q8,),
    ("5", "default"): ("SEQ 128 KiB Q32T1", RND_Q32, SEQ_1M, RND),
    ("3", "default"): (SEQ_1M, "RND 512 KiB Q1T1", RND, RND_Q32),
}


def mark(rate=lambda _: 8_000.0, *, gaps=(), geometry: Geometry = DRIVE, **overrides) -> Played:
    return play(METHOD, Canned(rate, gaps=frozenset(gaps)), overrides=overrides, geometry=geometry)


def streams_of(played: Played):
    return {step.cell: step.workload.streams[0] for step in played.measured}


def order_of(played: Played) -> list[str]:
    return [name for name, _ in itertools.groupby(step.cell for step in played.measured)]


@pytest.mark.parametrize("mix", ["none", "R70/W30", "R10/W90"])
@pytest.mark.parametrize(("like", "profile"), NAMES)
def test_every_version_and_profile_has_its_rows_in_its_order(like, profile, mix):
    if mix != "none" and (like != "8" or profile == "demo"):
        with pytest.raises(PlanError):
            mark(like=like, profile=profile, mix=mix)
        return
    played = mark(like=like, profile=profile, mix=mix)
    names = NAMES[like, profile]
    columns = ("read", "write") if mix == "none" else ("read", "write", "mix")
    if like == "3":
        expected = [f"{name} {column}" for name in names for column in columns]
    else:
        expected = [f"{name} {column}" for column in columns for name in names]
    assert order_of(played) == expected
    for name, stream in streams_of(played).items():
        order, size, unit, load, column = str(name).split()
        depth, _, threads = load.removeprefix("Q").partition("T")
        assert stream.access is (Access.SEQUENTIAL if order == "SEQ" else Access.RANDOM)
        assert stream.block_size_bytes == int(size) * {"KiB": 1024, "MiB": MIB}[unit]
        assert (stream.queue_depth, stream.threads) == (int(depth), int(threads))
        shares = {"read": 100, "write": 0, "mix": int(mix[1:3]) if mix != "none" else 0}
        assert stream.read_percent == shares[column]


def test_a_row_has_one_pass_that_is_thrown_away_and_then_its_runs():
    played = mark(runs="3")
    first = played.measured[:4]
    assert [(step.phase, step.round_number) for step in first] == [
        ("preparing", None),
        ("pass", 1),
        ("pass", 2),
        ("pass", 3),
    ]
    assert {step.duration_ns for step in played.measured} == {5 * units.NS_PER_S}
    rests = [step for step in played.asked if isinstance(step, Idle)]
    assert [rest.duration_ns for rest in rests] == [5 * units.NS_PER_S] * 7
    assert not any(isinstance(step, Idle) for step in mark(interval="0s").asked)


def test_the_file_is_filled_first_by_one_mebibyte_over_and_over():
    played = mark(size="64MiB")
    fill, *others = played.asked
    assert isinstance(fill, Precondition)
    assert fill.total_bytes == 64 * MIB
    stream = fill.workload.streams[0]
    assert (stream.block_size_bytes, stream.queue_depth) == (MIB, 1)
    assert stream.content is Content.ONE_BLOCK
    assert not any(isinstance(step, Precondition) for step in others)
    ranges = {stream.active_range for stream in streams_of(played).values()}
    assert ranges == {stream.active_range}
    assert stream.active_range.length_bytes == 64 * MIB


def test_all_passes_have_the_same_offsets_and_all_threads_begin_at_the_start():
    played = mark(profile="nvme")
    assert {step.workload.streams[0].repeats for step in played.measured} == {"file"}
    assert {stream.content for stream in streams_of(played).values()} == {Content.ONE_BLOCK}
    threaded = streams_of(mark(like="5", threads="4"))
    assert threaded["SEQ 128 KiB Q32T4 read"].thread_stride_bytes == 0
    assert threaded["RND 4 KiB Q32T4 read"].thread_stride_bytes is None


def test_version_3_draws_its_random_offsets_on_and_on():
    repeats = {str(name)[:3]: stream.repeats for name, stream in streams_of(mark(like="3")).items()}
    assert repeats == {"SEQ": "file", "RND": ""}
    settings = METHOD.settings("", {"like": "3"}, DRIVE)
    assert (settings.size_bytes, settings.interval_ns) == (1000 * MIB, 0)


def test_zeros_are_written_where_they_are_asked_for():
    played = mark(data="0fill")
    assert {stream.content for stream in streams_of(played).values()} == {Content.ZERO}
    assert played.asked[0].workload.streams[0].content is Content.ZERO


def test_what_others_use_is_written_before_the_file_and_the_file_lies_behind_it():
    use, fill = mark(used="25%").asked[:2]
    assert isinstance(use, Precondition)
    assert use.total_bytes == 64 * GIB
    assert use.workload.streams[0].content is Content.RANDOM
    where = fill.workload.streams[0].active_range
    assert (where.first_byte, where.length_bytes) == (64 * GIB, GIB)


def test_strict_has_new_offsets_unique_data_own_parts_and_an_order_that_is_drawn():
    played = mark(strict="on", like="5", threads="4", runs="5", size="64MiB")
    streams = streams_of(played)
    assert {(each.repeats, each.content) for each in streams.values()} == {("", Content.RANDOM)}
    assert streams["SEQ 128 KiB Q32T4 read"].thread_stride_bytes == 16 * MIB
    assert {step.phase for step in played.measured} == {"pass"}
    assert [step.round_number for step in played.measured[:6]] == [1, 2, 3, 4, 5, 6]
    assert played.asked[0].workload.streams[0].content is Content.RANDOM
    plain = order_of(mark(like="5", threads="4"))
    assert sorted(order_of(played)) == sorted(plain)
    assert order_of(played) != plain
    again = {tuple(order_of(mark(strict="on", shuffle=str(seed)))) for seed in range(5)}
    assert len(again) == 5


@pytest.mark.parametrize(
    "overrides",
    [
        {"like": "5", "profile": "peak"},
        {"like": "3", "mix": "R70/W30"},
        {"profile": "demo", "mix": "R70/W30"},
        {"queues": "8"},
        {"like": "5", "queues": "1"},
        {"strict": "on", "data": "0fill"},
        {"size": "1000000"},
        {"size": "1TiB"},
        {"size": "128GiB", "used": "60%"},
        {"runs": "10"},
        {"runs": "0"},
        {"mix": "R70/W40"},
        {"mix": "R75/W25"},
        {"mix": "R100/W0"},
        {"mix": "70/30"},
        {"mix": "R" + "7" * 5000 + "/W30"},
        {"like": "6"},
        {"data": "1fill"},
    ],
)
def test_what_has_no_meaning_is_refused_with_a_remedy(overrides):
    with pytest.raises(PlanError) as refused:
        METHOD.settings("", overrides, DRIVE)
    assert refused.value.remedy


def test_settings_are_the_same_after_the_run_file():
    asked = {"profile": "peak", "mix": "R70/W30", "runs": "7", "size": "2GiB", "strict": "on"}
    settings = METHOD.settings("", asked, DRIVE)
    assert METHOD.settings_from(settings.model_dump(mode="json")) == settings


def test_a_device_at_a_scale_has_sizes_and_times_divided_by_it():
    scaled = Geometry(capacity_bytes=8 * GIB, nominal_capacity_bytes=32 * GIB)
    settings = METHOD.settings("", {}, scaled)
    assert (settings.size_bytes, settings.measure_ns) == (GIB // 4, 5 * units.NS_PER_S // 4)
    tiny = METHOD.settings("", {}, Geometry(capacity_bytes=GIB, nominal_capacity_bytes=900 * GIB))
    assert (tiny.size_bytes, tiny.measure_ns) == (16 * MIB, 250 * units.NS_PER_MS)


def test_a_rate_is_cut_to_whole_kilobytes_a_second_as_the_exit_code_carries_it():
    part = OperationResult(stream="x", operation="read", count=1, bytes=1_234_567_899)
    answer = StepResult(started_ns=0, elapsed_ns=1_000_000_000, results=(part,))
    assert transported_mb_s(answer, "8") == 1234.567
    assert transported_mb_s(answer, "3") == 1234.567899
    odd = StepResult(started_ns=0, elapsed_ns=1_000_999_999, results=(part,))
    assert transported_mb_s(odd, "3") == 1234.567899, "version 3 counts whole milliseconds"


def test_the_score_is_the_best_pass_and_the_latency_that_of_the_quickest():
    rates = itertools.cycle([9_999.0, 100.0, 104.0, 103.0, 101.0, 102.0])
    slow = {1: 500, 2: 900, 3: 800, 4: 200, 5: 700}
    device = Canned(
        lambda step: next(rates) if isinstance(step, Measure) else 1.0,
        latency_ns=lambda step, _: 1_000 * slow.get(getattr(step, "round_number", 0) or 0, 1),
    )
    found = found_in(play(METHOD, device, overrides={}).record)
    score = {each.place.name: each for each in found.scores}[f"{RND} read"]
    assert score.discarded_mb_s == pytest.approx(9_999 * 4096 / 1e6, abs=0.001)
    assert score.score_mb_s == pytest.approx(104 * 4096 / 1e6, abs=0.001)
    assert score.iops == pytest.approx(score.score_mb_s * 1e6 / 4096)
    assert (score.best_pass, score.quickest_pass) == (2, 4)
    assert score.latency_us == pytest.approx(200.0)
    assert score.mean_mb_s.value == pytest.approx(102 * 4096 / 1e6, abs=0.001)
    assert score.gain_percent == pytest.approx(2 / 102 * 100, abs=0.3)


def test_of_noise_alone_the_best_of_five_lies_1_16_sigma_above_the_mean():
    drawn = np.random.default_rng(5).normal(100_000.0, 2_000.0, 40 * 8 * 6)
    noise = iter(drawn.tolist())
    gains, expected = [], []
    for _ in range(40):
        played = mark(lambda step: next(noise) if isinstance(step, Measure) else 1.0, runs="5")
        for score in found_in(played.record).scores:
            gains.append(score.gain_percent)
            expected.append(score.expected_gain_percent)
    # σ is 2 % of the mean; 320 maxima of 0.67 σ each leave 0.075 %.
    assert np.mean(gains) == pytest.approx(1.163 * 2.0, abs=0.25)
    assert np.mean(expected) == pytest.approx(1.163 * 2.0, abs=0.25)


def test_strict_scores_the_mean_of_all_passes():
    rates = itertools.cycle([100.0, 104.0, 103.0, 101.0, 102.0, 90.0])
    played = mark(lambda step: next(rates) if isinstance(step, Measure) else 1.0, strict="on")
    score = found_in(played.record).scores[0]
    assert len(score.passes) == 6
    assert score.discarded is None
    assert score.score_mb_s == pytest.approx(100 * MIB / 1e6, rel=1e-4)


def test_the_report_has_the_score_first_and_the_mean_beside_it():
    rates = itertools.cycle([50.0, 100.0, 104.0, 103.0, 101.0, 102.0])
    played = mark(lambda step: next(rates) if isinstance(step, Measure) else 1.0, mix="R70/W30")
    document = document_of(played.record)
    text = text_of(document)
    assert document.header.title == "CrystalDiskMark 8"
    assert "the best of 5 passes; their mean is" in text
    tables = {b.caption: b for s in document.sections for b in s.blocks if isinstance(b, Table)}
    window = tables["The window, in MB/s"]
    assert [column.name for column in window.columns] == ["Row", "Read", "Write", "Mix"]
    assert [row[0] for row in window.rows] == list(NAMES["8", "default"])
    assert window.rows[0][1] == pytest.approx(104 * MIB / 1e6, rel=1e-4)
    assert {"The window, in IOPS", "The window, in µs", "Throughput", "Mean latency"} <= set(tables)
    assert "maximum of 5" in text
    assert "minimum of 5" in text


def test_versions_without_latency_show_none():
    text = text_of(document_of(mark(like="5").record))
    assert "CrystalDiskMark 5" in text
    assert "in µs" not in text
    assert "minimum of" not in text


def test_passes_of_two_kinds_are_told_and_so_is_a_fall():
    def rate(step):
        if not isinstance(step, Measure) or step.round_number is None:
            return 1_000.0
        if step.cell == f"{RND} read":
            return 100.0 if step.round_number % 2 else 480.0
        if step.cell == f"{RND} write":
            return 10_000.0 - 1_000 * step.round_number
        return 10_000.0

    document = document_of(mark(rate).record)
    told = [b.text for s in document.sections for b in s.blocks if isinstance(b, Paragraph)]
    assert (
        f"{RND} read: the passes are of two kinds, 3 around 0.4 MB/s and 2 around 2.0 MB/s; the "
        "maximum shows only the quicker kind."
    ) in told
    assert any("every pass is slower than the one before" in text for text in told)


def test_it_says_what_such_a_score_is_not():
    told = {remark.kind for remark in mark().record.remarks}
    assert told == {RemarkKind.QUICK_LOOK, RemarkKind.CACHE_MAY_HOLD}


def test_after_a_gap_the_file_is_filled_again_and_the_missing_pass_is_asked_again():
    whole, broken = mark().asked, mark(gaps=[5]).asked
    assert broken[4:7] == [whole[4], whole[0], whole[4]]
    assert broken[7:] == whole[5:]
    assert len(found_in(mark(gaps=[1, 5, 9]).record).scores) == 8
    rest = whole.index(next(step for step in whole if isinstance(step, Idle)))
    assert mark(gaps=[rest + 1]).asked[rest : rest + 2] == [whole[rest]] * 2


def test_a_live_screen_is_told_the_pass_and_what_is_left():
    played = mark(runs="2")
    before = watch_of(record_of(METHOD, played.settings, ()))
    assert (before.phase, before.remaining_bytes) == ("fill", GIB)
    first = watch_of(record_of(METHOD, played.settings, played.steps[:1]))
    assert (first.phase, first.cell) == ("preparing", f"{SEQ_1M_Q8} read")
    assert first.remaining_ns_least == (24 * 5 + 7 * 5) * units.NS_PER_S
    second = watch_of(record_of(METHOD, played.settings, played.steps[:2]))
    assert (second.phase, second.round_number) == ("pass", 1)
    assert watch_of(played.record).phase == "done"


def test_an_unmeasured_run_has_a_report_and_no_number():
    settings = METHOD.settings("", {}, DRIVE)
    record = record_of(METHOD, settings, ())
    assert found_in(record).quantities == ()
    assert "No pass has ended yet." in text_of(document_of(record))


def test_a_device_that_answers_nothing_has_a_score_of_zero_and_no_latency():
    played = mark(lambda step: 0.0 if isinstance(step, Measure) else 1.0)
    scores = found_in(played.record).scores
    assert {(score.score_mb_s, score.latency_us) for score in scores} == {(0.0, None)}
    document_of(played.record)


def test_the_first_two_rows_of_version_5_have_its_queues_and_threads():
    rows = rows_of("5", "default", queues=16, threads=2)
    assert [row.name for row in rows[:2]] == ["SEQ 128 KiB Q16T2", "RND 4 KiB Q16T2"]


def test_zeros_are_a_trick_of_a_drive_that_compresses_and_of_no_other(tmp_path):
    """The known answer: `intel-530` compresses what it stores, `mlc-a` does not."""

    def written(drive: str, data: str) -> float:
        path = tmp_path / f"{drive}-{data}.teijo"
        asked = {"profile": "demo", "runs": "1", "interval": "0s", "data": data}
        api.run("classic.crystaldiskmark", f"sim:{drive}", output=path, settings=asked, seed=1)
        return {each.place.column: each.score_mb_s for each in api.open(path).found.scores}["write"]

    assert written("intel-530", "0fill") > 1.7 * written("intel-530", "random")
    assert written("mlc-a", "0fill") == written("mlc-a", "random")


@pytest.mark.parametrize("strict", ["off", "on"])
def test_the_page_of_what_is_hidden_names_the_defects_and_is_empty_of_a_strict_run(
    tmp_path, strict
):
    asked = {"profile": "demo", "runs": "2", "interval": "0s", "strict": strict}
    run = api.run(
        "classic.crystaldiskmark", "sim:mlc-a", output=tmp_path / "x.teijo", settings=asked, seed=1
    )
    found = hidden.entries(run.record, pick="mean" if strict == "on" else "best")
    kinds = {each.name for each in hidden.hidden_in(found)}
    named = {"Passes repeat their offsets", "The same data over and over"}
    assert named <= kinds if strict == "off" else kinds == set()
    assert hidden.TITLE in text_of(run.document())
