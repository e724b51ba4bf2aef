"""The text of a limit: what it asks for, what it may be written like, and what is none."""

import pytest

from teijo.compare.limit import Limit, in_unit, limits_from, parse_limit, words_of
from teijo.errors import PlanError


def test_the_example_of_every_page_is_read():
    assert parse_limit("iops[0/100,4KiB] >= 6000") == Limit(
        text="iops[0/100,4KiB] >= 6000",
        part="",
        figure="iops",
        places=frozenset({"0/100", "4096b"}),
        sign=">=",
        value=6000.0,
        unit="",
    )


@pytest.mark.parametrize(
    ("text", "figure", "sign", "value", "unit"),
    [
        ("IOPS >= 6,000", "iops", ">=", 6000, ""),
        ("iops≥50k", "iops", ">=", 50_000, ""),
        ("iops > 1.5M", "iops", ">", 1_500_000, ""),
        ("iops >= 6000 IOPS", "iops", ">=", 6000, ""),
        ("latency <= 250us", "mean latency", "<=", 250, "us"),
        ("Latency_Max < 1.5 ms", "maximum latency", "<", 1.5, "ms"),
        ("bandwidth>=1.2GB/s", "throughput", ">=", 1.2, "GB/s"),
        ("Write-Amplification ≤ 3", "write amplification", "<=", 3, ""),
        ("last two hours of group 3, by those of group 1 >= 95 %",
         "last two hours of group 3, by those of group 1", ">=", 95, "%"),
    ],
)  # fmt: skip
def test_a_limit_may_be_written_in_the_ways_people_write(text, figure, sign, value, unit):
    limit = parse_limit(text)
    assert (limit.figure, limit.sign, limit.value, limit.unit) == (figure, sign, value, unit)
    assert parse_limit(limit.text) == limit


def test_a_test_of_a_campaign_stands_before_the_figure():
    limit = parse_limit("WSAT / iops[last fifth of the minutes] >= 5000")
    assert (limit.part, limit.figure) == ("wsat", "iops")
    assert "minutes" in limit.places


@pytest.mark.parametrize("size", ["4 KiB", "4KiB", "4k", "4096B", "4096 b", "4kib"])
def test_a_size_is_one_word_however_it_is_written(size):
    assert words_of(f"RND {size} 0/100") == {"rnd", "4096b", "0/100"}


@pytest.mark.parametrize(
    "text",
    [
        "", "iops", "iops >=", ">= 5", "iops == 5", "iops >= x", "iops >= -5", "iops[4k >= 5",
        "iops >= 5 parsecs", "iops >= 5; iops >= 6", "iops >= 5e9x", "a" * 400 + " >= 1",
        "iops >= 5 ms ms", "iops\x00 >= 5",
    ],
)  # fmt: skip
def test_what_is_no_limit_is_refused_with_a_remedy(text):
    with pytest.raises(PlanError) as refused:
        parse_limit(text)
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("text", "unit", "bound"),
    [
        ("latency <= 250us", "ms", 0.25),
        ("latency <= 1s", "ns", 1e9),
        ("throughput >= 1.5GB/s", "MB/s", 1500.0),
        ("written <= 1GiB", "GB", 1.073741824),
        ("share >= 95%", "%", 95.0),
        ("share >= 95", "%", 95.0),
        ("iops >= 5", "IOPS", 5.0),
        ("latency <= 250", "ms", None),
        ("iops >= 5ms", "IOPS", None),
        ("throughput >= 5ms", "MB/s", None),
        ("iops >= 5%", "", None),
    ],
)
def test_the_number_is_put_in_the_unit_of_its_figure_and_never_guessed(text, unit, bound):
    found = in_unit(parse_limit(text), unit)
    assert found == (None if bound is None else pytest.approx(bound))


def test_a_limit_that_is_asked_twice_is_asked_once_and_there_are_not_too_many():
    assert limits_from(["iops >= 5", " iops  >= 5 "]) == ("iops >= 5",)
    with pytest.raises(PlanError, match="more than 100"):
        limits_from(f"iops >= {number}" for number in range(101))
