"""The free workload: fio's words, its one step, its numbers, its page."""

import pytest

from teijo.document.model import Table, Verdict, XYChart
from teijo.errors import PlanError
from teijo.methods.knobs import describe
from teijo.methods.parts import document_of, findings_of, watch_of
from teijo.methods.registry import method_named
from teijo.methods.workload.found import step_of, stimulus_name
from teijo.methods.workload.method import FreeWorkload
from teijo.terms.geometry import Geometry
from teijo.terms.step import Measure, Precondition
from teijo.terms.workload import Access, Content, Schedule
from tests.methods.canned import DRIVE, Canned, Played, play, record_of

METHOD = FreeWorkload()


def run(*, gaps=(), geometry: Geometry = DRIVE, **overrides: str) -> Played:
    device = Canned(lambda _: 50_000.0, gaps=frozenset(gaps))
    return play(METHOD, device, overrides=overrides, geometry=geometry)


@pytest.mark.parametrize(
    ("word", "access", "read_percent"),
    [
        ("randread", Access.RANDOM, 100),
        ("randwrite", Access.RANDOM, 0),
        ("randrw", Access.RANDOM, 50),
        ("read", Access.SEQUENTIAL, 100),
        ("write", Access.SEQUENTIAL, 0),
        ("rw", Access.SEQUENTIAL, 50),
    ],
)
def test_fios_words_mean_what_they_mean_in_fio(word, access, read_percent):
    (step,) = run(rw=word).asked
    assert isinstance(step, Measure)
    (stream,) = step.workload.streams
    assert (stream.access, stream.read_percent) == (access, read_percent)
    assert METHOD.writes(METHOD.settings("", {"rw": word}, DRIVE)) == (read_percent < 100)


@pytest.mark.parametrize("key", ["bs", "bssplit"])
def test_a_mix_of_sizes_is_drawn_by_weight_and_named(key):
    played = run(**{"rw": "randread", key: "4KiB:70, 16k:30%"})
    (stream,) = played.asked[0].workload.streams
    assert stream.block_mix == ((4096, 70), (16384, 30))
    assert (stream.block_size_bytes, stream.sizes_bytes) == (16384, (4096, 16384))
    settings = METHOD.settings("", {key: "4KiB:70,16KiB:30"}, DRIVE)
    assert "4KiB:70,16KiB:30" in stimulus_name(settings)
    assert METHOD.settings_from(settings.model_dump(mode="json")) == settings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("random", (Access.RANDOM, 0.0, ())),
        ("shuffled", (Access.SHUFFLED, 0.0, ())),
        ("zipf:1.10", (Access.ZIPF, 1.1, ())),
        ("pareto:0.2", (Access.PARETO, 0.2, ())),
        ("zoned:50/5, 30/15%,20/80", (Access.ZONED, 0.0, ((50, 5), (30, 15), (20, 80)))),
    ],
)
def test_an_access_reaches_the_stream_and_is_shown_as_it_is_read(text, expected):
    settings = METHOD.settings("", {"access": text}, DRIVE)
    (stream,) = step_of(settings).workload.streams
    assert (stream.access, stream.skew, stream.zones) == expected
    assert METHOD.settings("", {"access": settings.access}, DRIVE) == settings


@pytest.mark.parametrize(
    ("text", "what_to_do"),
    [
        ("80/20", "With the rest of the range: access=zoned:80/20,20/80"),
        ("50/5,30/15", "With the rest of the range: access=zoned:50/5,30/15,20/80"),
        ("50/50,60/50", "Give every part of the range a zone, as in access=zoned:80/20,20/80."),
    ],
)
def test_zones_that_are_not_the_whole_range_are_refused_with_what_is_missing(text, what_to_do):
    for method, spec in ((METHOD, ""), (method_named("pts.dirth"), "2.0.2-enterprise")):
        with pytest.raises(PlanError, match="both must be 100 %") as refused:
            method.settings(spec, {"access": f"zoned:{text}"}, DRIVE)
        assert refused.value.remedy == what_to_do


def test_three_thirds_are_a_whole():
    settings = METHOD.settings("", {"access": "zoned:33.3/33.3,33.3/33.3,33.3/33.3"}, DRIVE)
    assert len(step_of(settings).workload.streams[0].zones) == 3


def test_a_recorded_run_whose_zones_were_stretched_is_read_as_it_ran():
    stored = METHOD.settings("", {}, DRIVE).model_dump(mode="json") | {"access": "zoned:80/20"}
    settings = METHOD.settings_from(stored)
    assert step_of(settings).workload.streams[0].zones == ((80, 20),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("refill", (Content.REFILL, 0)),
        ("compressible:40%", (Content.COMPRESSIBLE, 40)),
        ("dedup:30", (Content.DEDUPABLE, 30)),
        ("zero", (Content.ZERO, 0)),
    ],
)
def test_a_content_reaches_the_stream(text, expected):
    settings = METHOD.settings("", {"rw": "randwrite", "content": text}, DRIVE)
    (stream,) = step_of(settings).workload.streams
    assert (stream.content, stream.content_percent) == expected
    assert METHOD.settings("", {"content": settings.content}, DRIVE).content == settings.content


def test_flushes_and_verified_reads_reach_the_stream():
    settings = METHOD.settings("", {"rw": "randrw", "fsync": "32", "verify": "on"}, DRIVE)
    (stream,) = step_of(settings).workload.streams
    assert (stream.flush_every_writes, stream.verified) == (32, True)


def test_named_streams_have_mixes_and_places_of_their_own_and_are_shown_as_they_are_read():
    words = "small: rw=randrw bs=4KiB:3,8KiB:1 access=zipf:1.1; large: rw=randread bs=1MiB"
    settings = METHOD.settings("", {"stream": words, "verify": "on"}, DRIVE)
    small, large = step_of(settings).workload.streams
    assert (small.block_mix, small.access) == (((4096, 3), (8192, 1)), Access.ZIPF)
    assert (large.block_mix, large.access) == ((), Access.RANDOM)
    assert (small.verified, large.verified) == (True, True)
    shown = next(each.value for each in describe(settings) if each.key == "stream")
    assert METHOD.settings("", {"stream": shown}, DRIVE).streams == settings.streams


@pytest.mark.parametrize(
    "overrides",
    [
        {"stream": "a: rw=randrw verify=on; b: rw=randread"},
        {"stream": "a: rw=randread verify=on; b: rw=read verify=on"},
        {"bs": "4KiB:70,8KiB"},
        {"bs": "4KiB:70,4KiB:30"},
        {"bs": "4KiB:0,8KiB:1"},
        {"bs": "4KiB", "bssplit": "4KiB:1,8KiB:1"},
        {"bs": "1000:1,4KiB:1"},
        {"access": "zipf"},
        {"access": "zipf:0"},
        {"access": "zipf:21"},
        {"access": "pareto:0.5"},
        {"access": "zoned:50"},
        {"access": "zoned:50/0"},
        {"access": "zoned:80/20"},
        {"access": "zoned:50/5,60/95"},
        {"stream": "a: rw=randread access=zoned:80/20; b: rw=randread"},
        {"access": "random:1"},
        {"rw": "read", "access": "zipf:1.1"},
        {"access": "shuffled", "bs": "4KiB:1,8KiB:1"},
        {"content": "compressible"},
        {"content": "dedup:101"},
        {"content": "zero:5"},
        {"verify": "on"},
        {"verify": "on", "rw": "randwrite"},
        {"verify": "after"},
        {"verify": "after", "rw": "write", "discard": "5"},
        {"stream": "a: rw=randrw verify=on; b: rw=randrw verify=after"},
        {"discard": "101"},
        {"verify": "on", "rw": "randrw", "content": "zero"},
        {"verify": "on", "rw": "randrw", "content": "dedup:10"},
        {"verify": "maybe"},
    ],
)
def test_what_has_no_meaning_is_refused_with_a_remedy(overrides):
    with pytest.raises(PlanError) as refused:
        METHOD.settings("", overrides, DRIVE)
    assert refused.value.remedy


def test_the_one_line_of_the_help_is_one_step():
    (step,) = run(rw="randread", bs="4KiB", threads="1", qd="32", seconds="10").asked
    assert isinstance(step, Measure)
    (stream,) = step.workload.streams
    assert stream.block_size_bytes == 4096
    assert (stream.threads, stream.queue_depth) == (1, 32)
    assert step.duration_ns == 10_000_000_000


def test_every_setting_reaches_the_stream():
    (step,) = run(
        rw="randrw", rwmixread="70", blocksize="8k", numjobs="4", iodepth="8", runtime="2min",
        range="50%", content="zero", rate="1000", schedule="poisson",
    ).asked  # fmt: skip
    assert isinstance(step, Measure)
    (stream,) = step.workload.streams
    assert stream.read_percent == 70
    assert stream.block_size_bytes == 8192
    assert stream.outstanding_ios == 32
    assert stream.active_range.share_percent == 50
    assert stream.content is Content.ZERO
    assert stream.rate is not None
    assert (stream.rate.ios_per_second, stream.rate.schedule) == (1000, Schedule.POISSON)
    assert step.duration_ns == 120_000_000_000


def test_bytes_bound_it_instead_of_time():
    (step,) = run(rw="write", bs="128KiB", size="1GiB").asked
    assert isinstance(step, Precondition)
    assert step.total_bytes == 1024**3
    assert step.phase == "measure"


def test_a_gap_asks_for_the_same_step_again():
    played = run(gaps={1}, rw="randread")
    assert played.asked[0] == played.asked[1]
    assert findings_of(played.record).cells[0].iops == 50_000
    assert played.ending == "done"


def test_its_findings_are_the_headline_numbers():
    findings = findings_of(run(rw="randrw", read="70").record)
    found = {each.name: each.value for each in findings.scalars}
    assert found["IOPS"] == 50_000
    assert found["throughput"] == pytest.approx(204.8)
    assert found["latency mean"] == found["latency p99.999"] == 1e9 / 50_000  # one at a time
    assert found["failed I/Os"] == 0
    assert findings.converged is None


def test_before_it_took_place_there_is_nothing_and_the_watch_waits():
    played = run(rw="randread", seconds="30")
    empty = record_of(METHOD, played.settings, ())
    assert findings_of(empty).scalars == ()
    watch = watch_of(empty)
    assert (watch.phase, watch.remaining_ns_most) == ("measure", 30_000_000_000)
    assert watch_of(played.record).phase == "done"
    assert watch_of(record_of(METHOD, played.settings, played.steps)).remaining_ns_least == 0
    document = document_of(empty)
    assert document.sections[0].title == "Result"


def test_the_page_has_headline_time_series_and_distribution():
    played = run(rw="randrw", read="70")
    document = document_of(played.record)
    titles = [section.title for section in document.sections]
    assert titles[:3] == ["Result", "Over time", "Latency distribution"]
    verdict, table = document.sections[0].blocks[:2]
    assert isinstance(verdict, Verdict)
    assert verdict.text.startswith("50,000 IOPS, 204.8 MB/s")
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == ["read", "write", "all"]
    assert sum(row[2] for row in table.rows[:2]) == table.rows[2][2] == 50_000  # type: ignore[misc]
    charts = [
        block for section in document.sections for block in section.blocks
        if isinstance(block, XYChart)
    ]  # fmt: skip
    assert [chart.y.name for chart in charts] == [
        "IOPS", "Throughput", "Mean latency", "I/Os as slow or slower",
    ]  # fmt: skip
    assert document.header.subtitle == "randrw 70/30 4 KiB, 1 × 1"


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"rw": "randwrites"}, ["rw=randwrites", "none of randread", "--set rw=randrw"]),
        ({"rw": "randread", "read": "70"}, ["does not go with", "rw=randrw"]),
        ({"seconds": "10", "bytes": "1GiB"}, ["both given"]),
        ({"bytes": "0"}, ["more than 0 bytes"]),
        ({"size": "10 elephants"}, ["not a size"]),
        ({"bs": "1000"}, ["multiple of 512"]),
        ({"bs": "1GiB", "range": "1"}, []),
        ({"qd": "0"}, ["between 1 and"]),
        ({"depth": "4"}, ["Unknown setting 'depth'", "did you mean", "qd"]),
        ({"rate": "-5"}, ["above zero"]),
        ({"schedule": "sometimes"}, ["fixed, poisson"]),
        ({"bs": "4"}, ["4 bytes", "did you mean 4KiB?"]),
        ({"rw": "randread,bs=4k"}, ["2 settings in one word", "--set rw=randread bs=4k"]),
        ({"rate": "1000MB/s"}, ["not bytes", "244141"]),
        ({"rate": "10k"}, ["did you mean 10000?"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_reason_and_a_remedy(overrides, words):
    if not words:
        METHOD.settings("", overrides, DRIVE)
        return
    with pytest.raises(PlanError) as caught:
        METHOD.settings("", overrides, DRIVE)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.remedy


def test_a_block_larger_than_the_range_is_refused():
    small = Geometry(capacity_bytes=1 << 20, nominal_capacity_bytes=1 << 20)
    with pytest.raises(PlanError, match="does not fit in 50 % of 1 MiB"):
        METHOD.settings("", {"bs": "1MiB", "range": "50"}, small)


def test_it_has_no_versions_and_no_deviations():
    with pytest.raises(PlanError, match="no version"):
        METHOD.settings("2.0.2", {}, DRIVE)
    settings = METHOD.settings("", {}, DRIVE)
    assert METHOD.deviations(settings, DRIVE) == ()
    assert METHOD.settings_from(settings.model_dump(mode="json")) == settings
