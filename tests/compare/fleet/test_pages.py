"""The report of a fleet: what it says first, that it drops nothing, its size, and its Japanese."""

import csv as tables
import io
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest

from teijo.compare.fleet.chosen import LeftOut, chosen_from
from teijo.compare.fleet.drive import Drive
from teijo.compare.fleet.findings import Fleet
from teijo.compare.fleet.pages import document_name, pages
from teijo.compare.limit import Judged
from teijo.document.model import Headline, Verdict, XYChart
from teijo.report import csv, html, pdf, text
from teijo.report.language import Language, translator
from teijo.terms.remark import Remark, RemarkKind
from teijo.units import MEGA
from tests.compare.fleet.made import fleet_of, keys
from tests.report.english import untranslated

THROTTLED = Remark(kind=RemarkKind.THROTTLED, text="step 3 was throttled", step=3)


def fleet(drives: Sequence[Drive], *left_out: LeftOut, **asked: object) -> Fleet:
    return Fleet(chosen=chosen_from(drives, unreadable=left_out, **asked))  # type: ignore[arg-type]


@cache
def full(count: int = 24) -> Fleet:
    """Return a fleet of which everything is told that a report can tell."""
    changes: list[dict[str, object]] = [
        {
            "host": f"h{at % 3}",
            "firmware": f"F{at // 3 % 2}",
            "slot": f"bay {at % 6}",
            "temperature_c": 30 + at,
            "remarks": (THROTTLED,) if at == 5 else (),
            "converged": at != 6,
            "limits": (
                Judged(
                    text="iops[0/100,4KiB] >= 3000",
                    verdict="not met" if at == 5 else "met",
                    value=2_900.0,
                    low=2_880.0,
                    high=2_920.0,
                ),
            ),
        }
        for at in range(count)
    ]
    drives = fleet_of(count, factors={5: 0.9}, changes=changes)
    half = replace(fleet_of(count + 1)[-1], is_whole=False, ending="interrupted", rounds=2)
    other = replace(
        fleet_of(count + 2)[-1], conditions={("", "model"): "Other", ("iops", "oio"): "64"}
    )
    broken = LeftOut(file="x.teijo", drive="", why="it is cut off", unreadable=True)
    odd = replace(drives[2], conditions={("", "model"): "Example Drive", ("iops", "oio"): "48"})
    drives[2] = odd
    return fleet([*drives, half, other], broken, allowed=["oio"])


def rendered(found: Fleet) -> str:
    return text.render(pages(found), width=240)


def test_the_first_page_says_which_drives_differ_and_at_which_error_rate() -> None:
    document = pages(full())
    first = document.sections[0]
    answers = [block.text for block in first.blocks if isinstance(block, Verdict)]
    assert answers == [
        "DRIVES THAT DIFFER: 1 of 24 (bay-0005)",
        "LIMITS: 23 drives meet all, 1 do not, 1 cannot be known",
    ]
    shown = " ".join(rendered(full()).split())
    assert "Counted was 1 of 200 fleets" in shown
    assert "would have been named in 95 of 100 such fleets" in shown


def test_what_was_left_out_stands_with_its_reason() -> None:
    shown = rendered(full())
    assert "x.teijo" in shown
    assert "it is cut off" in shown
    assert "model is Other, and Example Drive in most" in shown
    assert "interrupted" in shown
    assert "oio" in shown


def test_few_drives_are_said_to_be_unknown_and_never_alike() -> None:
    shown = rendered(fleet(fleet_of(4)))
    assert "DRIVES THAT DIFFER: cannot be known of 4 drives, it takes 6" in shown
    assert "none shown" not in shown
    assert "cannot be known of fewer than 6 drives" in " ".join(shown.split())


def test_drives_alike_are_none_shown_with_what_would_have_been() -> None:
    shown = rendered(fleet(fleet_of(30, seed=2)))
    assert "DRIVES THAT DIFFER: none shown among 30" in shown


def test_a_fleet_without_a_whole_run_has_a_report() -> None:
    drives = [replace(each, is_whole=False, ending="failed") for each in fleet_of(3)]
    shown = rendered(fleet(drives))
    assert "cannot be known, no run is whole" in shown
    assert shown.count("failed") == 3
    assert pdf.render(pages(fleet(drives)))


def test_every_drive_and_figure_is_in_the_csv() -> None:
    files = csv.render(pages(full(70)))
    every = "\n".join(files.values())
    for each in full(70).drives:
        assert every.count(each.name) >= 2
    rows = [row for body in files.values() for row in tables.reader(io.StringIO(body))]
    places = {key.place for key in keys(6)}
    assert places <= {cell for row in rows for cell in row}


def test_the_charts_have_a_dot_for_each_drive_and_name_those_that_differ() -> None:
    charts = [
        block.chart if isinstance(block, Headline) else block
        for section in pages(full()).sections
        for block in section.blocks
        if isinstance(block, XYChart | Headline)
    ]
    in_order = charts[0]
    assert sum(len(series.x) for series in in_order.series) == 24
    assert [series.name for series in in_order.series][1:] == ["bay-0005"]
    assert in_order.series[1].x == (1,)
    for chart in charts:
        assert sum(len(series.x) for series in chart.series) == 24
        assert len(chart.table.rows) == 24


def test_a_report_is_named_after_its_fleet() -> None:
    assert document_name(full()) == "fleet-spring"
    nameless = fleet([replace(each, fleet="") for each in fleet_of(3)])
    assert document_name(nameless) == "fleet-pts-iops"


@pytest.mark.parametrize("found", [full(), fleet(fleet_of(3)), fleet(fleet_of(20, seed=2))])
def test_every_text_is_translated(found: Fleet) -> None:
    words = translator("ja")
    data = frozenset({"step 3 was throttled", "Example Drive", "it is cut off"})
    assert untranslated(pages(found), words, data) == set()


def test_the_report_is_printed_in_both_languages() -> None:
    for language in Language:
        assert html.render(pages(full()), language)
        assert pdf.render(pages(full()), language).startswith(b"%PDF")


def test_a_thousand_drives_with_two_hundred_figures_stay_below_5_mb() -> None:
    changes = [
        {"host": f"host-{at % 40}", "firmware": f"F{at % 3}", "temperature_c": 30 + at % 20,
         "slot": f"bay {at % 24}"}
        for at in range(1_000)
    ]  # fmt: skip
    found = fleet(fleet_of(1_000, places=200, factors={77: 0.9}, changes=changes))
    page = html.render(pages(found))
    assert len(page.encode()) < 5 * MEGA
    for each in found.drives:
        assert each.name in page
