"""A classic test beside itself without its defects: the one difference that needs no word."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from teijo import api
from teijo.compare.comparison import Comparison, compared
from teijo.compare.judged import SHOWN
from teijo.compare.pages import pages
from teijo.compare.sides import Side
from teijo.compare.strict import defects_of, strict_sections
from teijo.document.model import Facts, Section, Table, Verdict
from teijo.errors import UsageError
from teijo.terms.record import Record

SMALL = {"size": "64MiB", "measure": "100ms", "interval": "0s", "runs": "3", "profile": "peak"}


@cache
def run(method: str = "classic.crystaldiskmark", seed: int = 1, **asked: str) -> Record:
    settings = {**SMALL, **asked} if method.endswith("mark") else asked
    target = "sim:intel-530?capacity=2GiB"
    with TemporaryDirectory() as folder:
        output = Path(folder) / "run"
        return api.run(method, target, output=output, settings=settings, seed=seed).record


def side(name: str, found: Record) -> Side:
    return Side(name=name, records=(replace(found, run=replace(found.run, id=name)),))


def both() -> Comparison:
    return compared(
        [side("original", run(data="0fill")), side("strict", run(strict="on"))], ["data"]
    )


def page(found: Comparison) -> Section:
    (one,) = found.tests
    (section,) = strict_sections(one.match, one.pairings)
    return section


def test_original_and_strict_compare_without_a_word_and_say_what_the_defect_was() -> None:
    found = compared([side("original", run()), side("strict", run(strict="on"))])
    assert "strict" in {each.aspect for each in found.deviations}, "and every page says so"
    verdict, table, _, facts = page(found).blocks
    assert isinstance(verdict, Verdict)
    assert "as the original prints it" in verdict.text
    assert isinstance(table, Table)
    assert isinstance(facts, Facts)
    assert "Passes repeat their offsets" in [name for name, _ in facts.rows]
    titles = [section.title for section in pages(found).sections]
    assert titles.index("How much of the number was the defect") == 1


@cache
def orion() -> Comparison:
    asked = {"duration": "100ms", "size_small": "8KiB", "passes": "3"}
    original, strict = run("classic.orion", **asked), run("classic.orion", strict="on", **asked)
    return compared([side("original", original), side("strict", strict)])


def test_what_one_run_each_cannot_tell_is_not_called_a_defect() -> None:
    (one,) = both().tests
    assert not [each for each in one.pairings[0].rows if each.verdict in SHOWN]
    verdict, *_ = page(both()).blocks
    assert isinstance(verdict, Verdict)
    assert "apart by themselves" in verdict.text
    assert verdict.text.endswith(": not decidable from one run each")


def test_a_defect_that_is_shown_is_named_by_its_interval() -> None:
    (one,) = orion().tests
    shown = [each for each in one.pairings[0].rows if each.verdict in SHOWN]
    assert shown, "a fresh drive answers what was never written at once"
    verdict, *_ = page(orion()).blocks
    assert isinstance(verdict, Verdict)
    assert any(verdict.text.startswith(each.place) for each in shown)
    assert verdict.text.endswith("% apart")


def test_of_several_passes_orion_prints_the_first() -> None:
    asked = {"duration": "100ms", "size_small": "8KiB", "passes": "3"}
    original, strict = run("classic.orion", **asked), run("classic.orion", strict="on", **asked)
    (one,) = compared([side("original", original), side("strict", strict)]).tests
    defects = defects_of(one.match, one.pairings[0])
    rate = next(each for each in defects if each.judged.place == "Small=5 Large=0, small")
    first = next(answer for step, answer in original.measured() if step.cell == "Small=5 Large=0")
    assert rate.printed == first.iops
    assert rate.printed != rate.mean


def test_of_several_passes_tiotest_prints_the_last(tmp_path: Path) -> None:
    sides = []
    for strict in ("off", "on"):
        asked = {"size": "64MiB", "threads": "2", "random": "200", "passes": "2", "strict": strict}
        done = api.run(
            "classic.tiotest", "sim:os(s3700)", output=tmp_path / strict, settings=asked, seed=3
        )
        sides.append(side(strict, done.record))
    (one,) = compared(sides).tests
    write, *_ = defects_of(one.match, one.pairings[0])
    found = one.match.entries[0].part.found
    assert found.pick == "last"
    (quantity, *_) = found.quantities
    assert write.judged.place == quantity.place
    assert write.printed == quantity.batches[-1] != quantity.batches[0]


def test_the_parts_add_up_and_the_order_of_the_sides_does_not_matter() -> None:
    one, other = side("original", run()), side("strict", run(strict="on"))
    forwards, backwards = (compared(sides).tests[0] for sides in ([one, other], [other, one]))
    first = defects_of(forwards.match, forwards.pairings[0])
    second = defects_of(backwards.match, backwards.pairings[0])
    assert [each.total_percent for each in first] == [each.total_percent for each in second]
    for each, again in zip(first, second, strict=True):
        pick, rest = each.pick_percent or 0, each.rest_percent or 0
        assert each.total_percent == pytest.approx(pick + rest)
        assert each.ends == pytest.approx(again.ends)
        if each.judged.figure.more_is_faster:
            assert each.printed >= each.mean


def test_zeros_on_a_drive_that_compresses_are_part_of_the_defect() -> None:
    (one,) = both().tests
    writes = [
        each
        for each in defects_of(one.match, one.pairings[0])
        if "write" in each.judged.place and each.judged.figure.more_is_faster
    ]
    assert any((each.total_percent or 0) > 5 for each in writes)
    facts = page(both()).blocks[-1]
    assert isinstance(facts, Facts)
    assert "Data that compress" in [name for name, _ in facts.rows]


def test_anything_else_that_differs_is_still_refused() -> None:
    sides = [side("original", run()), side("strict", run(strict="on", size="32MiB"))]
    with pytest.raises(UsageError, match="size"):
        compared(sides)
    with pytest.raises(UsageError, match="size"):
        compared([side("a", run()), side("b", run(size="32MiB"))])


def test_two_originals_have_no_such_page() -> None:
    found = compared([side("a", run()), side("b", run(seed=2))])
    (one,) = found.tests
    assert list(strict_sections(one.match, one.pairings)) == []


def test_what_strict_brings_along_needs_no_word() -> None:
    asked = {"duration": "100ms", "size_small": "8KiB"}
    original = run("classic.orion", **asked)
    strict = run("classic.orion", strict="on", ramp="1ms", **asked)
    with pytest.raises(UsageError, match="ramp: original 0s, strict 1ms") as refused:
        compared([side("original", original), side("strict", strict)])
    assert "passes" not in refused.value.message, "strict itself asks for three"
    found = compared([side("original", original), side("strict", strict)], ["ramp"])
    assert {"strict", "passes", "order"} <= {each.aspect for each in found.deviations}
