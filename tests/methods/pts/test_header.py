"""The page header: both layouts, and that nothing in it is a wish."""

from dataclasses import replace

import pytest

from teijo.conformance.versions import version_of
from teijo.methods.parts import document_of
from teijo.methods.pts.header import cache_remarks, cache_state
from teijo.methods.pts.iops.method import Iops
from teijo.terms.remark import Remark, RemarkKind
from tests.methods.canned import IDENTITY, Canned, play
from tests.methods.pts.test_iops import flat


def header_of(spec: str, *, purge: str = "NVMe format", write_cache: str = "write back"):
    played = play(
        Iops(),
        Canned(flat, purge=purge),
        spec=spec,
        identity=replace(IDENTITY, write_cache=write_cache),
    )
    document = document_of(played.record)
    return document.header


def rows_of(header) -> dict[str, str]:
    return {name: value for group in header.groups for name, value in group.rows}


def test_version_1_0_has_the_four_coloured_groups():
    header = header_of("1.0-client")
    assert [group.tone for group in header.groups] == ["dut", "preparation", "test", "steady"]
    assert header.title == "Client IOPS (REQUIRED) – Report Page"
    assert header.revision == "PTS-C 1.0"
    dates = [name for name, _ in header.top][:3]
    assert dates == ["Test run date", "Test run end", "Report run date"]
    rows = rows_of(header)
    assert rows["Workload independent"] == "2X SEQ/128KiB"
    assert rows["Workload dependent"] == "Full IOPS loop"
    assert (rows["Convergence"], rows["Rounds"]) == ("YES", "1–5")
    assert (rows["AR amount"], rows["AR segments"]) == ("16 GiB", "2048")


@pytest.mark.parametrize("spec", ["1.1-enterprise", "2.0.2-enterprise", "2.0.2-client"])
def test_the_2_0_layout_has_four_column_pairs(spec):
    header = header_of(spec)
    assert [group.title for group in header.groups] == [
        "Test platform",
        "Device under test",
        "Setup parameters",
        "Test parameters",
    ]
    assert "REQUIRED" not in header.title
    rows = rows_of(header)
    assert rows["Steady state"] == "YES, rounds 1–5"
    assert rows["AR segments"] == "N/A"


def test_the_purge_printed_is_the_one_that_took_place():
    assert rows_of(header_of("2.0.2-client"))["Purge method"] == "NVMe format"
    assert rows_of(header_of("1.0-client", purge="none"))["Purge"] == "not possible"


def test_the_write_cache_printed_is_what_the_device_said():
    rows = rows_of(header_of("2.0.2-enterprise"))
    assert rows["Write cache"] == "write back (asked: disabled)"
    rows = rows_of(header_of("2.0.2-enterprise", write_cache=""))
    assert rows["Write cache"] == "not known (asked: disabled)"


@pytest.mark.parametrize(
    ("write_cache", "state"),
    [("write back", "enabled"), ("Enabled", "enabled"), ("write through", "disabled"), ("", None)],
)
def test_a_cache_state_is_read_in_its_usual_words(write_cache, state):
    assert cache_state(write_cache) == state


def test_a_cache_that_is_not_as_the_version_asks_is_remarked():
    played = play(Iops(), Canned(flat), spec="2.0.2-client")
    client, enterprise = version_of("2.0.2-client"), version_of("2.0.2-enterprise")
    assert cache_remarks(played.record, client) == ()
    (remark,) = cache_remarks(played.record, enterprise)
    assert remark.kind is RemarkKind.DEVIATION
    assert remark.text == "write cache enabled instead of disabled"
    unknown = replace(played.record, identity=replace(IDENTITY, write_cache=""))
    (remark,) = cache_remarks(unknown, client)
    assert remark.kind is RemarkKind.CACHE_UNKNOWN


def test_a_simulated_drives_buffer_is_part_of_its_model_and_not_unknown():
    played = play(Iops(), Canned(flat), identity=replace(IDENTITY, write_cache="buffer"))
    simulated = replace(played.record, remarks=(Remark(kind=RemarkKind.SIMULATED, text="a model"),))
    client = version_of("2.0.2-client")
    assert [remark.kind for remark in cache_remarks(played.record, client)] == [
        RemarkKind.CACHE_UNKNOWN
    ]
    assert cache_remarks(simulated, client) == ()
