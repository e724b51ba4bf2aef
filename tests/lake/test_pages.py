"""The report of a lake: its views in sections, and what is not in it said as that."""

from dataclasses import replace
from pathlib import Path

from teijo.document import model
from teijo.lake import pages
from teijo.lake.rows import RunRows
from teijo.report import html, text
from teijo.report.language import Language, translator
from tests.lake.made import another, at, lake_of, rates
from tests.report.english import untranslated

TITLES = (
    "What the lake holds", "Models over time", "Firmware against firmware",
    "Slower than last year", "Throttled runs", "Spread within fleets",
)  # fmt: skip


def told(rows: RunRows) -> list[RunRows]:
    """Runs of which every view has something to say."""
    return [
        another(
            rows, number, serial=f"S{number % 3}", firmware=f"F{number % 2}",
            started_at=at(2025 + number // 6, 1 + number % 6), group_fleet="north",
            figures=rates(100.0 - number, 99.5 - number, 100.5 - number),
            throttled=number == 3, remarks=(("throttled", "hot", 1),) if number == 3 else (),
        )
        for number in range(12)
    ]  # fmt: skip


def test_every_view_has_its_section_with_a_table(tmp_path: Path, rows: RunRows) -> None:
    document = lake_of(tmp_path, told(rows)).document()
    sections = {str(each.title): each for each in document.sections}
    assert [name for name in sections if name in TITLES] == list(TITLES)
    for title in TITLES[1:]:
        tables = [each for each in sections[title].blocks if isinstance(each, model.Table)]
        assert [len(each.rows) > 0 for each in tables] == [True], title
    assert " 2026 " in text.render(document), "a year has no comma"
    (chart,) = [
        block for each in document.sections for block in each.blocks
        if isinstance(block, model.XYChart)
    ]  # fmt: skip
    months = [f"{2025 + number // 6}-{1 + number % 6:02}" for number in range(12)]
    assert list(chart.series[0].x) == months
    assert list(chart.series[0].y) == [100.0 - number for number in range(12)]
    assert document.header.stamp == "SIMULATED DEVICE"
    assert text.render(document)
    assert "median by month" in html.render(document, Language("en"))


def test_every_text_of_the_report_is_japanese_or_data(tmp_path: Path, rows: RunRows) -> None:
    for number, runs in enumerate((told(rows), [])):
        document = lake_of(tmp_path / str(number), runs).document()
        left = untranslated(replace(document, name=""), translator(Language("ja")))
        assert left == set()


def test_an_empty_lake_says_so_in_every_section(tmp_path: Path) -> None:
    document = lake_of(tmp_path, []).document()
    for section in document.sections[1:]:
        assert [type(block) for block in section.blocks] == [model.Paragraph]


def test_a_long_view_is_cut_and_says_how_to_see_all(
    tmp_path: Path, rows: RunRows, monkeypatch: object
) -> None:
    runs = [another(rows, n, model=f"M{n:03}", figures=rates(1.0)) for n in range(50)]
    document = lake_of(tmp_path, runs).document()
    section = next(each for each in document.sections if each.title == "Models over time")
    (table,) = [each for each in section.blocks if isinstance(each, model.Table)]
    assert len(table.rows) == pages.ROWS_MOST
    assert 'teijo lake sql "FROM model_over_time"' in str(section.blocks[-1])


def test_text_from_outside_does_not_reach_a_terminal_as_it_is(
    tmp_path: Path, rows: RunRows
) -> None:
    evil = another(rows, 1, model="\x1b[2Jevil<script>", figures=rates(1.0), group_fleet="<b>")
    document = lake_of(tmp_path, [evil]).document()
    assert "\x1b" not in text.render(document)
    page = html.render(document, Language("en"))
    assert "\x1b" not in page
    assert "evil<script>" not in page
