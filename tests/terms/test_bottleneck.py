"""Drives that were read together, as it is kept: read again whole, or not at all."""

import json

import pytest

from teijo.terms.bottleneck import LOADS, measured_from, measured_to_json, stream_of
from tests.analysis.drawn_spells import blank, measured

PAIR = ("a", "b")


def test_it_is_read_as_it_was_written_and_what_contradicts_itself_is_none() -> None:
    found = measured([PAIR], {PAIR: 0.5}, scatter=0.01)
    told = measured_to_json(found)
    assert measured_from(json.dumps(told)) == found
    spell = told["spells"][0]
    for broken in (
        {"version": "teijo.bottleneck/2"},
        {"spells": [spell | {"host": "nowhere"}]},
        {"spells": [spell | {"driven": []}]},
        {"spells": [spell | {"drives": ["z"] * len(spell["drives"])}]},
        {"spells": [spell | {"driven": [{"iops": -1}] * len(spell["drives"])}]},
        {"more": 1},
    ):
        assert measured_from(json.dumps(told | broken)) is None, broken
    assert measured_from("{" * 100_000) is None


def test_a_load_reads_and_never_writes() -> None:
    for load in LOADS:
        stream = stream_of(load)
        assert not stream.writes
        assert stream.queue_depth == 32
    assert [stream_of(load).block_size_bytes for load in LOADS] == [131_072, 4096]


@pytest.mark.parametrize("left_out", [(), ("a",), PAIR])
def test_a_drive_that_was_not_read_is_in_no_group(left_out: tuple[str, ...]) -> None:
    groups = blank([PAIR], left_out=left_out).groups
    assert [each.drives for each in groups] == ([] if left_out else [PAIR])
