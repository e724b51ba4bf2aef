"""A sample of blocks against the sets it stands for."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.terms.census import HASH_BITS, SAMPLE_MOST, Census, ContentSample

blocks = st.lists(st.integers(0, 2000), max_size=3000)


def hash_of(block: int) -> int:
    return random.Random(block).getrandbits(HASH_BITS)


def census(touched: list[int]) -> Census:
    """Return the census of these blocks, by sets."""
    counts = Counter(hash_of(block) for block in touched)
    kept = sorted(counts)[:SAMPLE_MOST]
    return Census(
        stream="main",
        operation="read",
        ios=len(touched),
        hashes=tuple(kept),
        counts=tuple(counts[each] for each in kept),
    )


@given(blocks)
def test_few_blocks_are_counted_exactly(touched: list[int]) -> None:
    few = [block % 400 for block in touched]
    found = census(few)
    assert found.is_exact
    assert found.distinct == pytest.approx(len(set(few)))
    share = 1 - len(set(few)) / len(few) if few else 0
    assert found.revisit_share == pytest.approx(share)


@given(st.integers(SAMPLE_MOST, 3000))
def test_a_pass_over_many_blocks_revisits_none_of_them(count: int) -> None:
    found = census(list(range(count)))
    assert (found.distinct, found.revisit_share) == (count, 0)
    assert found.overlap(found) == 1
    other = census(list(range(count, 2 * count)))
    assert found.overlap(other) == 0


@given(blocks, blocks)
def test_an_overlap_is_that_of_the_sets_below_what_both_know(
    one: list[int], other: list[int]
) -> None:
    first, second = census(one), census(other)
    mine, theirs = ({hash_of(block) for block in each} for each in (one, other))
    limit = min((max(each.hashes) for each in (first, second) if not each.is_exact), default=2**53)
    below = {each for each in mine if each <= limit}
    expected = len(below & theirs) / len(below) if below else None
    assert first.overlap(second) == (None if expected is None else pytest.approx(expected))


def test_even_draws_touch_as_many_blocks_as_the_urn_says() -> None:
    drawn = random.Random(1)
    for count, places in ((3000, 3000), (20_000, 5000), (1000, 100_000)):
        expected = places * (1 - (1 - 1 / places) ** count)
        found = census([drawn.randrange(places) for _ in range(count)])
        assert found.distinct == pytest.approx(expected, rel=0.08)


GOOD = Census(stream="x", operation="read", ios=3, hashes=(1, 2), counts=(1, 2))


@pytest.mark.parametrize(
    "wrong",
    [
        {"hashes": (2, 1)},
        {"hashes": (1, 1)},
        {"hashes": (1,)},
        {"counts": (0, 2)},
        {"counts": (2, 2)},
        {"ios": -1},
        {"ios": True},
        {"hashes": (-1, 2)},
        {"hashes": tuple(range(SAMPLE_MOST + 1)), "counts": (1,) * (SAMPLE_MOST + 1), "ios": 9999},
    ],
)
def test_what_no_engine_counts_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="census"):
        replace(GOOD, **wrong)  # type: ignore[arg-type]


def test_shares_of_a_sample_of_content() -> None:
    sample = ContentSample(
        writes=2, pieces=8, repeated_within=3, repeated_between=1, sampled_bytes=32768,
        deflated_bytes=8192, prints=(1,),
    )  # fmt: skip
    assert (sample.repeated_share, sample.compressible_share) == (0.5, 0.75)
    nothing = replace(sample, pieces=0, sampled_bytes=0, deflated_bytes=9)
    assert (nothing.repeated_share, nothing.compressible_share) == (0, 0)
    assert replace(sample, deflated_bytes=40000).compressible_share == 0
