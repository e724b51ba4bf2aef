"""The versions as data: what the standard's text says of each, and their short names."""

import pytest

from teijo.conformance.versions import (
    BLOCK_SIZES,
    COMPOSITE_BLOCKS,
    COMPOSITE_ZONES,
    DEFAULT_SPEC,
    DEMAND_LEVELS,
    DEMAND_SPECS,
    READ_PERCENTS,
    SPECS,
    VERSIONS,
    version_of,
)
from teijo.errors import PlanError


def test_the_matrix_is_the_standards_in_its_order():
    assert READ_PERCENTS == (100, 95, 65, 50, 35, 5, 0)
    assert [size / 1024 for size in BLOCK_SIZES] == [1024, 128, 64, 32, 16, 8, 4, 0.5]
    assert len(READ_PERCENTS) * len(BLOCK_SIZES) == 56


@pytest.mark.parametrize(
    ("spec", "variables", "share", "cache", "threads", "queue_depth"),
    [
        ("1.0-enterprise", 1, 100, "disabled", 2, 16),
        ("1.1-enterprise", 1, 100, "disabled", 2, 16),
        ("1.0-client", 1, 100, "enabled", 1, 8),
        ("2.0.2-enterprise", 3, 100, "disabled", 4, 32),
        ("2.0.2-client", 3, 75, "enabled", 2, 16),
    ],
)
def test_the_versions_differ_as_the_standard_has_it(
    spec, variables, share, cache, threads, queue_depth
):
    version = version_of(spec)
    assert len(version.tracking) == variables
    assert version.active_range.share_percent == share
    assert version.write_cache == cache
    assert (version.load.threads, version.load.queue_depth) == (threads, queue_depth)


@pytest.mark.parametrize(
    ("spec", "minutes", "checks"),
    [
        ("1.0-enterprise", 1440, None),
        ("1.0-client", 1440, None),
        ("1.1-enterprise", 1440, 30),
        ("2.0.2-enterprise", 360, 30),
        ("2.0.2-client", 360, 30),
    ],
)
def test_saturation_stops_by_version(spec, minutes, checks):
    rule = version_of(spec).saturation
    assert (rule.capacity_times, rule.minutes, rule.check_minutes) == (4, minutes, checks)


@pytest.mark.parametrize(
    ("spec", "name"),
    [("1.1-enterprise", "ECW"), ("2.0.2-enterprise", "CBW"), ("2.0.2-client", "CBW")],
)
def test_demand_is_swept_by_the_same_minutes_under_the_composites_changing_name(spec, name):
    rule = version_of(spec).demand
    assert rule is not None
    assert rule.composite_name == name
    assert (rule.precondition_minutes, rule.prewrite_minutes) == (30, 5)
    assert (rule.point_prewrite_minutes, rule.histogram_minutes) == (60, 10)
    assert rule.latency_limit_ns == 5_000_000


def test_version_1_0_has_no_demand_intensity():
    assert DEMAND_SPECS == ("2.0.2-client", "2.0.2-enterprise", "1.1-enterprise")
    assert DEMAND_LEVELS == (32, 16, 8, 6, 4, 2, 1)


def test_the_composites_shares_add_up():
    assert sum(percent for _, percent in COMPOSITE_BLOCKS) == 100
    assert [size / 1024 for size, _ in COMPOSITE_BLOCKS] == [
        0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 8, 16, 32, 64,
    ]  # fmt: skip
    assert [sum(each) for each in zip(*COMPOSITE_ZONES, strict=True)] == [100, 100]


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("", DEFAULT_SPEC),
        ("2.0.2", "2.0.2-client"),
        ("client", "2.0.2-client"),
        ("Enterprise", "2.0.2-enterprise"),
        ("1.1", "1.1-enterprise"),
        ("E-1.0", "1.0-enterprise"),
        ("C-1.0", "1.0-client"),
    ],
)
def test_short_forms_name_a_version(text, spec):
    assert version_of(text).id == spec


def test_no_name_means_two_versions():
    names = [name for version in VERSIONS for name in (version.id, *version.aliases)]
    assert len(names) == len(set(names))
    assert set(SPECS) <= set(names)


def test_an_unknown_version_lists_the_valid_ones():
    with pytest.raises(PlanError) as caught:
        version_of("2.0.2-clinet")
    assert "did you mean '2.0.2-client'" in str(caught.value)
    assert "1.1-enterprise" in caught.value.remedy
