"""The methods' pages say what the code does: every setting, default, alias and version."""

import re
from pathlib import Path

import pytest

from teijo.conformance.versions import COMPOSITE_BLOCKS, COMPOSITE_ZONES, VERSIONS
from teijo.methods.knobs import describe
from teijo.methods.registry import METHODS, method_named
from teijo.units import format_size
from tests.methods.canned import DRIVE

FOLDER = Path(__file__).parents[2] / "docs" / "methods"


def page_of(method_id: str) -> str:
    return (FOLDER / f"{method_id.replace('.', '-')}.md").read_text()


def table_rows(page: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("|")
    ]


@pytest.mark.parametrize("method", METHODS)
def test_every_setting_stands_in_the_page_with_its_default_and_meaning(method):
    rows = table_rows(page_of(method.id))
    for each in describe(method.settings("", {}, DRIVE)):
        aliases = ", ".join(f"`{alias}`" for alias in each.aliases)
        assert [f"`{each.key}`", aliases, f"`{each.value}`", each.meaning] in rows


@pytest.mark.parametrize("method", METHODS)
def test_the_page_documents_no_setting_that_does_not_exist(method):
    page = page_of(method.id)
    keys = {each.key for each in describe(method.settings("", {}, DRIVE))}
    settings = page[page.index("| `--set`") :]
    shown = re.findall(r"^\| `(\w+)` \|", settings, re.MULTILINE)
    assert set(shown) == keys
    for words in re.findall(r"--set ((?:\w+=[^\s`]+ ?)+)", page):
        overrides = dict(word.split("=", 1) for word in words.split())
        method.settings("", overrides, DRIVE)


def row(rows: list[list[str]], name: str) -> dict[str, str]:
    specs = next([cell.strip("`") for cell in cells[1:]] for cells in rows if not cells[0])
    return dict(zip(specs, next(cells[1:] for cells in rows if cells[0] == name), strict=True))


def test_the_versions_of_iops_are_the_ones_in_the_table():
    rows = table_rows(page_of("pts.iops"))
    for version in VERSIONS:
        rule, load = version.active_range, version.load
        assert row(rows, "tracking variables")[version.id] == str(len(version.tracking))
        assert row(rows, "write cache")[version.id] == version.write_cache
        assert row(rows, "page header")[version.id] == version.layout
        word = "recommended" if load.recommended else "free"
        told = row(rows, "threads × queue depth")[version.id]
        assert told == f"{load.threads} × {load.queue_depth}, {word}"
        shares = {f"{share} %" for share in rule.allowed_percents}
        assert set(row(rows, "active range")[version.id].split(" or ")) == shares
        amounts = {"–" if a is None else format_size(a) for a in rule.allowed_amounts_bytes}
        assert set(row(rows, "active range amount")[version.id].split(" or ")) == amounts
        segments = str(rule.segments) if rule.segments > 1 else "–"
        assert row(rows, "segments")[version.id] == segments


def test_the_versions_of_wsat_are_the_ones_in_the_table():
    rows = table_rows(page_of("pts.wsat"))
    for version in VERSIONS:
        rule = version.saturation
        assert row(rows, "stops at user capacities written")[version.id] == str(rule.capacity_times)
        assert row(rows, "stops after")[version.id] == f"{rule.minutes} min"
        steady = "five rounds" if rule.check_minutes else "–"
        assert row(rows, "stops at steady state")[version.id] == steady
        fills = "yes" if version.layout == "2.0" else "–"
        assert row(rows, "plots against drive fills")[version.id] == fills


def test_the_versions_of_tp_and_lat_are_the_ones_in_the_tables():
    tp, lat = table_rows(page_of("pts.tp")), table_rows(page_of("pts.lat"))
    for version in VERSIONS:
        rule = version.throughput
        sizes = ", ".join(f"{block / 1024:g}" for block in rule.block_sizes_bytes)
        assert row(tp, "block sizes (KiB)")[version.id] == sizes
        own = rule.precondition_block_bytes is None
        assert row(tp, "preconditioned with")[version.id] == (
            "the test's own" if own else "128 KiB"
        )
        word = "recommended" if rule.load.recommended else "free"
        told = f"{rule.load.threads} × {rule.load.queue_depth}, {word}"
        assert row(tp, "threads × queue depth")[version.id] == told
        minutes = version.histogram_minutes
        run = "–" if minutes is None else f"{minutes} min"
        for rows in (lat, table_rows(page_of("pts.wsat"))):
            assert row(rows, "histogram run")[version.id] == run
        assert row(lat, "5 9s in the table")[version.id] == ("–" if minutes is None else "yes")
        told = f"{version.load.threads} × {version.load.queue_depth}"
        assert row(lat, "load of the preconditioning")[version.id] == told


def test_the_versions_of_dirth_and_cbw_are_the_ones_in_the_tables():
    for method_id in ("pts.dirth", "pts.cbw"):
        rows = table_rows(page_of(method_id))
        versions = [version for version in VERSIONS if version.demand is not None]
        assert {version.id for version in versions} == set(method_named(method_id).specs)
        for version in versions:
            share = f"{version.active_range.share_percent} %"
            assert row(rows, "active range")[version.id] == share
            assert row(rows, "write cache")[version.id] == version.write_cache
            if method_id == "pts.cbw" and version.demand is not None:
                assert row(rows, "name")[version.id] == version.demand.composite_name


def test_the_page_of_cbw_has_the_composite_as_it_is():
    rows = {cells[0]: cells[1:] for cells in table_rows(page_of("pts.cbw"))}
    sizes, shares = zip(*COMPOSITE_BLOCKS, strict=True)
    assert rows["Block size (KiB)"] == [f"{size / 1024:g}" for size in sizes]
    told = [cells[1:] for cells in table_rows(page_of("pts.cbw")) if cells[0] == "% of accesses"]
    assert told[0] == [str(share) for share in shares]
    assert told[1] == [f"{share:g}" for share, _ in COMPOSITE_ZONES]
    parts = [re.findall(r"(\d+) %", text)[0] for text in rows["Part of the active range"]]
    assert parts == [f"{share:g}" for _, share in COMPOSITE_ZONES]


def test_the_pages_name_every_version():
    for method_id in ("pts.iops", "pts.tp", "pts.lat", "pts.wsat"):
        assert all(f"`{version.id}`" in page_of(method_id) for version in VERSIONS)
        assert method_named(method_id).specs == tuple(version.id for version in VERSIONS)
