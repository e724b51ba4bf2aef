"""One rule for the volumes and times of a scaled device, once, on page one of every report."""

import re
from collections.abc import Mapping

import pytest

from teijo.document.model import Axis, Column, Facts, Paragraph, Section, Series, Table, XYChart
from teijo.methods.parts import document_of
from teijo.methods.registry import method_named
from teijo.methods.scaled import (
    at_full_size,
    both_sizes,
    full_size,
    in_both_sizes,
    scalar_told,
    scale_rule,
    with_rule,
    without_rule,
)
from teijo.terms.finding import Scalar
from teijo.terms.geometry import Geometry
from tests.methods.canned import DRIVE, GIB, Canned, play
from tests.methods.documents import text_of

SCALED = Geometry(capacity_bytes=8 * GIB, nominal_capacity_bytes=240 * GIB)
SHORT: Mapping[str, Mapping[str, str]] = {
    "iops": {"mixes": "0/100", "block_sizes": "4KiB"},
    "tp": {},
    "lat": {"histogram": "none"},
    "wsat": {"max_minutes": "10", "check_every": "none", "histogram": "none"},
    "hir": {"round_minutes": "1", "bursts": "5", "baseline_minutes": "4", "idle": "5"},
    "xsr": {"first_minutes": "5", "random_minutes": "5", "last_minutes": "5"},
    "dirth": {"threads": "2,1", "queue_depth": "2,1", "precondition_rounds": "5"},
    "workload": {"rw": "randwrite", "seconds": "1s"},
    "classic.orion": {"run": "advanced", "small_loads": "1", "large_loads": "1", "duration": "1s"},
    "classic.crystaldiskmark": {"runs": "1"},
    "classic.sqlio": {"seconds": "1s"},
    "classic.diskspd": {"seconds": "1s"},
}


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("geometry", [SCALED, DRIVE], ids=["scaled", "full size"])
def test_every_report_of_a_scaled_device_says_the_rule_once_on_its_first_page(
    name: str, geometry: Geometry
) -> None:
    method = method_named(name)
    record = play(
        method, Canned(lambda _: 10_000.0), geometry=geometry, overrides=SHORT[name]
    ).record
    document = document_of(record)
    rule = scale_rule(geometry)
    found = [
        place
        for place, section in enumerate(document.sections)
        for block in section.blocks
        if isinstance(block, Paragraph) and block == rule
    ]
    assert found == ([0] if geometry is SCALED else [])
    assert ("at full size" in text_of(document)) == (geometry is SCALED)


@pytest.mark.parametrize("name", ["iops", "tp", "lat", "wsat", "dirth"])
def test_what_a_run_wrote_stands_on_page_one_as_measured_and_at_full_size(name: str) -> None:
    method = method_named(name)
    record = play(method, Canned(lambda _: 10_000.0), geometry=SCALED, overrides=SHORT[name]).record
    first = document_of(record).sections[0]
    told = [
        text
        for block in first.blocks
        if isinstance(block, Facts)
        for label, text in block.rows
        if "written" in label.lower() and " GB" in text
    ]
    assert told
    for text in told:
        own, full = (float(each.replace(",", "")) for each in re.findall(r"([0-9.,]+) GB", text))
        assert full == pytest.approx(own * SCALED.scale, rel=1e-3)
        assert text.endswith("GB at full size)")


def test_a_column_of_volumes_has_one_of_the_full_size_beside_it_where_a_device_is_scaled() -> None:
    units = [column.unit for column in both_sizes("Written", "GB", 2, scaled=True)]
    assert units == ["GB", "GB at full size"]
    assert in_both_sizes(2.0, SCALED) == (2.0, 60.0)
    assert [column.unit for column in both_sizes("Written", "GB", 2, scaled=False)] == ["GB"]
    assert in_both_sizes(2.0, DRIVE) == (2.0,)


def test_the_rule_names_both_capacities_and_the_scale() -> None:
    rule = scale_rule(SCALED)
    assert rule is not None
    assert "8.59 GB" in rule.text
    assert "257.7 GB" in rule.text
    assert "1:30" in rule.text


def test_the_rule_follows_the_answer_and_can_be_left_out_again() -> None:
    first = Section(title="Summary", blocks=(Paragraph(text="the answer"), Paragraph(text="b")))
    second = Section(title="Plots", blocks=())
    told = with_rule([first, second], SCALED)
    assert [block == scale_rule(SCALED) for block in told[0].blocks] == [False, True, False]
    assert told[1] == second
    assert without_rule(told[0], SCALED) == first
    assert with_rule([first, second], DRIVE) == (first, second)


def test_a_volume_is_as_measured_with_the_full_size_beside_it() -> None:
    written = Scalar(name="Written", value=13.39, unit="GB")
    assert scalar_told(written, ",.6g", SCALED) == "13.39 GB (401.7 GB at full size)"
    assert scalar_told(written, ",.6g", DRIVE) == "13.39 GB"
    assert full_size("s", SCALED) == "s at full size"
    assert full_size("s", DRIVE) == "s"


def test_a_study_that_tells_the_full_size_says_so_on_each_of_its_columns_and_axes() -> None:
    table = Table(
        columns=(Column(name="Written", unit="GB"), Column(name="Rate", unit="MB/s")), rows=()
    )
    chart = XYChart(
        title="Rate",
        x=Axis(name="Time", unit="s"),
        y=Axis(name="Rate", unit="MB/s"),
        series=(Series(name="a", x=(1.0,), y=(1.0,)),),
        table=table,
    )
    (section,) = at_full_size([Section(title="A", blocks=(chart, table))], SCALED, {"GB", "s"})
    drawn, rule, told = section.blocks
    assert isinstance(rule, Paragraph)
    assert "sentences and settings of this study are those of the drive it stands for" in rule.text
    assert isinstance(drawn, XYChart)
    assert isinstance(told, Table)
    assert (drawn.x.unit, drawn.y.unit) == ("s at full size", "MB/s")
    for each in (told, drawn.table):
        assert [column.unit for column in each.columns] == ["GB at full size", "MB/s"]
    plain = Section(title="A", blocks=(chart, table))
    assert at_full_size([plain], DRIVE, {"GB", "s"}) == (plain,)
