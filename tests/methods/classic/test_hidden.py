"""What a number hides: what is planted is named with its size, and a clean run stays empty."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from teijo import api
from teijo.document.model import Facts, Paragraph
from teijo.methods.classic import hidden, hidden_caches, hidden_checks
from teijo.methods.classic.hidden import Hidden, entries, hidden_in, section
from teijo.report.language import Language, translator
from teijo.terms.census import Census
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import UNWRITTEN, OperationResult, StepResult
from teijo.terms.step import Measure, Step
from teijo.terms.workload import Access, ActiveRange, Stream, Workload
from teijo.units import GIB, KIB, MIB, NS_PER_MS
from tests.runfile.samples import record

SMALL = {"size": "64MiB", "measure": "100ms", "interval": "0s", "runs": "3"}


@cache
def run(target: str, seed: int = 1, **asked: str) -> Record:
    settings, method = {**SMALL, **asked}, "classic.crystaldiskmark"
    with TemporaryDirectory() as folder:
        output = Path(folder) / "run"
        return api.run(method, target, output=output, settings=settings, seed=seed).record


def kinds(found: tuple[Hidden, ...]) -> set[str]:
    return {each.kind for each in hidden_in(found)}


def of_kind(found: tuple[Hidden, ...], kind: str) -> Hidden:
    (one,) = [each for each in found if each.kind == kind]
    return one


DRIVE_530 = "sim:intel-530?capacity=2GiB"


def test_what_is_planted_in_passes_that_repeat_each_other_is_named_with_its_size() -> None:
    found = entries(run(DRIVE_530), pick="best")
    assert {"repeated offsets", "duplicates", "data again"} <= kinds(found)
    assert "100.0 %" in of_kind(found, "duplicates").size or "98.4 %" in (
        of_kind(found, "duplicates").size
    )
    assert of_kind(found, "compressible").found == "clear"


def test_zeros_on_a_drive_that_compresses_are_named() -> None:
    found = entries(run(DRIVE_530, data="0fill"), pick="best")
    zeros = of_kind(found, "compressible")
    assert zeros.found == "hidden"
    assert "99.0 %" in zeros.size


def test_a_strict_run_without_a_defect_has_an_empty_page_that_says_what_was_looked_at() -> None:
    found = entries(run(DRIVE_530, strict="on"), pick="mean")
    assert kinds(found) == set()
    page = section(found)
    assert page.title == hidden.TITLE
    assert not any(isinstance(block, Facts) for block in page.blocks)
    text = " ".join(block.text for block in page.blocks if isinstance(block, Paragraph))
    assert text.startswith("Nothing that was looked for is hidden: In ")
    assert "different blocks" in text
    assert "Not known here: Whether every block that was read had been written" in text


@pytest.mark.campaign
def test_a_clean_strict_run_raises_a_false_alarm_in_less_than_one_of_twenty_seeds() -> None:
    alarms = {
        seed: found
        for seed in range(60)
        if (found := kinds(entries(run(DRIVE_530, strict="on", seed=seed), pick="mean")))
    }
    print(f"false alarms of 60 seeds: {alarms}")
    assert len(alarms) < 3


# One thing at a time, on records that are made by hand.

GEOMETRY = Geometry(capacity_bytes=GIB, nominal_capacity_bytes=GIB)


def of_steps(*pairs: tuple[Step, StepResult], **changes: object) -> Record:
    steps = tuple(
        StepRecord(seq=seq, step=step, seed=seq, answer=answer)
        for seq, (step, answer) in enumerate(pairs, start=1)
    )
    whole = replace(record(), steps=steps, geometry=GEOMETRY, remarks=())
    return replace(whole, **changes)  # type: ignore[arg-type]


def measure(cell: str = "row", number: int = 1, **changes: object) -> Measure:
    load = {"read_percent": 100, "block_size_bytes": 4 * KIB, "census": True} | changes
    return Measure(
        workload=Workload(streams=(Stream(**load),)),  # type: ignore[arg-type]
        duration_ns=NS_PER_MS,
        cell=cell,
        round_number=number,
    )


def census(ios: int, hashes: range, times: int = 1) -> Census:
    counts = (times,) * len(hashes)
    return Census(stream="main", operation="read", ios=ios, hashes=tuple(hashes), counts=counts)


def answer(*found: Census, ios: int = 10, **changes: object) -> StepResult:
    reads = OperationResult(stream="main", operation="read", count=ios, bytes=ios * 4096)
    result = StepResult(started_ns=0, elapsed_ns=NS_PER_MS, results=(reads,), census=found)
    return replace(result, **changes)  # type: ignore[arg-type]


def one(found: list[Hidden]) -> Hidden:
    (entry,) = found
    return entry


def test_blocks_read_over_and_over_are_counted_and_those_of_even_draws_are_not_blamed() -> None:
    again = of_steps((measure(), answer(census(1000, range(100), times=10))))
    found = one(hidden_checks.revisits(again))
    assert found.found == "hidden"
    assert "1,000 reads were of 100 different blocks of 4 KiB" in found.size
    assert "90.0 % went to a block touched before" in found.size
    few = ActiveRange(length_bytes=400 * KIB)
    small = of_steps((measure(active_range=few), answer(census(1000, range(100), times=10))))
    assert one(hidden_checks.revisits(small)).found == "clear"
    walk = {"access": Access.SEQUENTIAL, "threads": 4, "thread_stride_bytes": 0}
    same = of_steps((measure(**walk), answer(census(400, range(100), times=4))))
    assert one(hidden_checks.revisits(same)).found == "hidden"
    assert hidden_checks.revisits(of_steps((measure(), answer()))) == []
    few_ios = of_steps((measure(), answer(census(10, range(5), times=2))))
    told = one(hidden_checks.revisits(few_ios))
    assert (told.found, "So few I/Os cannot tell." in told.size) == ("unknown", True)
    both = of_steps(
        (measure(), answer(census(10, range(4), times=2))),
        (measure(), answer(census(1000, range(500), times=2))),
    )
    assert "of 500 different blocks" in one(hidden_checks.revisits(both)).size, "not the ten I/Os"


def test_a_pass_that_repeats_is_told_from_one_that_overlaps_by_chance() -> None:
    def passes(second: range, **changes: object) -> Hidden:
        steps = (
            (measure(number=1, **changes), answer(census(200, range(200)))),
            (measure(number=2, **changes), answer(census(200, second))),
        )
        return one(hidden_checks.repeated_offsets(of_steps(*steps)))

    assert passes(range(200)).found == "hidden"
    assert "100.0 % of the blocks" in passes(range(200)).size
    assert passes(range(200, 400)).found == "clear"
    few = [
        (measure(number=number), answer(census(4, range(4)))) for number in (1, 2)
    ]  # fmt: skip
    told = one(hidden_checks.repeated_offsets(of_steps(*few)))
    assert (told.found, "So few I/Os cannot tell." in told.size) == ("unknown", True)
    tiny = ActiveRange(length_bytes=200 * 4 * KIB)
    assert passes(range(200), active_range=tiny).found == "clear"
    walk = {"access": Access.SEQUENTIAL}
    assert passes(range(200), **walk).found == "hidden"
    assert passes(range(200), active_range=tiny, **walk).found == "clear"
    # A sample may estimate more blocks than there are.
    half = ActiveRange(length_bytes=100 * 4 * KIB)
    assert passes(range(200), active_range=half, **walk).found == "clear"


def test_unwritten_blocks_have_a_size_and_are_unknown_where_nobody_tells() -> None:
    def said(detail: dict[str, str]) -> Hidden:
        return one(hidden_checks.unwritten(of_steps((measure(), answer(detail=detail)))))

    assert said({UNWRITTEN: str(GIB // 4)}).found == "hidden"
    assert "256 MiB of the file, 25.0 %" in said({UNWRITTEN: str(GIB // 4)}).size
    assert said({UNWRITTEN: "0"}).found == "clear"
    assert said({}).found == said({UNWRITTEN: "-1"}).found == "unknown"


@pytest.mark.parametrize(
    ("depths", "found"),
    [
        ((1, 2, 3, 4, 5, 6), "hidden"),
        ((6, 5, 4, 3, 2, 1), "hidden"),
        ((3, 1, 6, 2, 5, 4), "clear"),
        ((1, 2, 3), "clear"),
    ],
)
def test_loads_in_order_are_told_by_how_seldom_chance_does_so(
    depths: tuple[int, ...], found: str
) -> None:
    steps = ((measure(cell=str(depth), queue_depth=depth), answer()) for depth in depths)
    assert one(hidden_checks.order(of_steps(*steps))).found == found


def test_one_load_has_no_order() -> None:
    assert hidden_checks.order(of_steps((measure(), answer()), (measure(), answer()))) == []


def test_a_cache_that_holds_the_file_is_named_and_one_of_no_known_size_is_unknown() -> None:
    pair = (measure(active_range=ActiveRange(length_bytes=64 * MIB)), answer())
    plain = of_steps(pair)
    assert one(hidden_caches.caches(plain)).found == "unknown"
    buffered = (Remark(kind=RemarkKind.BUFFERED, text="direct=no"),)
    cached = replace(plain, remarks=buffered, environment={"memory": "31.3 GiB"})
    found = one(hidden_caches.caches(cached))
    assert found.found == "hidden"
    assert "page cache" in found.size
    identity = replace(plain.identity, facts={"0.write_cache": "32MiB"})
    assert one(hidden_caches.caches(replace(plain, identity=identity))).found == "clear"
    identity = replace(plain.identity, facts={"write_cache": "64MiB"})
    assert one(hidden_caches.caches(replace(plain, identity=identity))).found == "hidden"


@pytest.mark.parametrize(
    ("facts", "scale", "found"),
    [
        ({"size": "26GB"}, 1.0, "hidden"),
        ({"size": "26GB"}, 1000.0, "clear"),
        ({"holds": "64000000000 bytes", "promote_reads": "first"}, 30.0, "hidden"),
        ({"holds": "2000000000000 bytes", "placement": "fast"}, 1.0, "unknown"),
        ({"size": "26GB", "mode": "write-through", "read_cache": "off"}, 1.0, "unknown"),
        ({"1.size": "26GB", "1.mode": "write-through", "1.read_cache": "on"}, 1.0, "hidden"),
        ({"size": "26GB", "mode": "write-back", "read_cache": "off"}, 1.0, "hidden"),
        ({"0.buffer": "64MiB"}, 1000.0, "hidden"),
        ({"size": "auto"}, 1.0, "unknown"),
    ],
)
def test_a_cache_is_as_large_as_what_is_measured_makes_of_it(
    facts: dict[str, str], scale: float, found: str
) -> None:
    plain = of_steps((measure(active_range=ActiveRange(length_bytes=64 * MIB)), answer()))
    nominal = round(plain.geometry.capacity_bytes * scale)
    geometry = replace(plain.geometry, nominal_capacity_bytes=nominal)
    identity = replace(plain.identity, facts=facts)
    given = replace(plain, geometry=geometry, identity=identity)
    assert one(hidden_caches.caches(given)).found == found


@pytest.mark.parametrize(("nand", "found"), [(0, "hidden"), (89, "hidden"), (91, "clear")])
def test_reads_that_the_medium_did_not_see_are_named(nand: int, found: str) -> None:
    before = {"host_reads_bytes": 0, "nand_reads_bytes": 0}
    after = {"host_reads_bytes": 100 * MIB, "nand_reads_bytes": nand * MIB}
    told = one(
        hidden_caches.medium(
            of_steps((measure(), answer(health_before=before, health_after=after)))
        )
    )
    assert told.found == found
    assert "The host read 100 MiB" in told.size
    assert f"{nand} " in told.size or nand == 0
    without = {"host_reads_bytes": 100 * MIB}
    of_a_disk = of_steps((measure(), answer(health_before=before, health_after=without)))
    assert hidden_caches.medium(of_a_disk) == []


def test_the_best_of_several_passes_is_held_against_their_mean_unless_the_run_is_strict() -> None:
    def rates(*ios: int) -> Record:
        steps = enumerate(ios, start=1)
        return of_steps(*((measure(number=n), answer(ios=count)) for n, count in steps))

    found = one(hidden_checks.best_of(rates(100, 110, 90)))
    assert found.found == "hidden"
    assert "10.00 % above their mean" in found.size
    assert one(hidden_checks.best_of(rates(1000, 1001, 999))).found == "clear"
    assert hidden_checks.best_of(rates(100)) == []
    assert "best pass" not in {each.kind for each in entries(rates(100, 200), pick="mean")}


def test_a_cell_that_is_made_of_words_is_named_in_the_language_of_the_report() -> None:
    japanese = translator(Language.JAPANESE)
    found = entries(run(DRIVE_530, like="3"), pick="best")
    sizes = [japanese.text(each.size) for each in found if "Q1T1 " in each.size]
    assert sizes
    for size in sizes:
        assert re.search(r"(SEQ|RND) [0-9]+ [KM]iB Q[0-9]+T1 (読み出し|書き込み)", size)
        assert not re.search(r"T1 (read|write)", size)


def test_the_page_of_a_record_without_anything_says_so() -> None:
    page = section(())
    assert page.blocks == (Paragraph(text="Nothing of this run could be looked at."),)
