"""HdrHistogram V2 blobs, against a decoder written here from the format's description."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from teijo.terms.histogram import EMPTY, Histogram, decoded, encoded

HIGHEST_NS = (1 << 48) - 1
latencies = st.dictionaries(
    st.integers(1, HIGHEST_NS), st.integers(1, 1 << 40), min_size=1, max_size=40
)


def decoded_by_hand(blob: bytes) -> dict[int, int]:
    """Return {lowest value of the bucket: count}.

    Header: cookie, payload length, normalising offset, digits (int32), lowest, highest (int64),
    ratio (double), big-endian. Payload: ZigZag LEB128 counts; a negative one skips empty buckets.
    """
    cookie, length, offset, digits, lowest, _, _ = struct.unpack(">iiiiqqd", blob[:40])
    assert (cookie, offset, digits, lowest) == (0x1C849303 | 0x10, 0, 3, 1)
    counts: dict[int, int] = {}
    place, index, end = 40, 0, 40 + length
    while place < end:
        number = 0
        for byte_number in range(9):
            byte = blob[place]
            place += 1
            # Eight bytes carry 7 bits; the ninth, if it comes, all 8 of its own.
            number |= (byte if byte_number == 8 else byte & 0x7F) << (7 * byte_number)
            if byte < 0x80 or byte_number == 8:
                break
        number = (number >> 1) ^ -(number & 1)
        if number < 0:
            index -= number
            continue
        if number:
            half, sub = divmod(index, 1024)
            value = sub if half == 0 else (sub + 1024) << (half - 1)
            counts[value] = number
        index += 1
    return counts


def columns(pairs: dict[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    values = sorted(pairs)
    return np.array(values, np.int64), np.array([pairs[value] for value in values], np.int64)


def bucketed(pairs: dict[int, int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for value, count in pairs.items():
        shift = max(0, value.bit_length() - 11)
        lowest = value >> shift << shift
        found[lowest] = found.get(lowest, 0) + count
    return found


@given(latencies)
def test_a_blob_holds_every_count_in_its_bucket(pairs: dict[int, int]) -> None:
    assert decoded_by_hand(encoded(columns(bucketed(pairs)))) == bucketed(pairs)


@given(st.lists(latencies, min_size=1, max_size=4))
def test_what_was_encoded_comes_back_alone_and_among_others(
    all_pairs: list[dict[int, int]],
) -> None:
    blobs = [encoded(columns(bucketed(pairs))) for pairs in all_pairs]
    alone = [buckets for blob in blobs for buckets in decoded([blob])]
    for found in (alone, decoded(blobs)):
        as_pairs = [dict(zip(*(each.tolist() for each in one), strict=True)) for one in found]
        assert as_pairs == [bucketed(pairs) for pairs in all_pairs]


def test_an_empty_histogram_is_one_too() -> None:
    blob = EMPTY.v2
    assert decoded_by_hand(blob) == {}
    ((values, counts),) = decoded([blob])
    assert values.size == counts.size == 0
    without = blob[:4] + bytes(4) + blob[8:40]
    found = decoded([blob, encoded(columns({5: 2})), blob, without])
    assert [len(values) for values, _ in found] == [0, 1, 0, 0]
    assert decoded([]) == []


def test_a_histogram_is_opened_when_somebody_looks_into_it() -> None:
    shut = Histogram(b"no histogram", 0, 0, 0)
    assert shut.v2 == b"no histogram"
    with pytest.raises(ValueError, match="Not an HdrHistogram V2"):
        _ = shut.count


SOUND = encoded(columns({5: 1, 1 << 40: 3}))


@pytest.mark.parametrize(
    ("blob", "reason"),
    [
        (b"", "0 bytes are no header"),
        (b"no histogram", "12 bytes are no header"),
        (bytes(40), "it begins with 0x0"),
        (SOUND[:4] + b"\xff" + SOUND[5:], "it announces 42781"),
        (SOUND[:4] + b"\x7f" + SOUND[5:], "it announces 2130"),
        (SOUND[:-1], "it announces"),
        (SOUND[:15] + b"\x02" + SOUND[16:], "2 digits from 1"),
        (SOUND[:16] + b"\x80" + SOUND[17:], "3 digits from 9223372036854775809"),
        (SOUND[:-1] + b"\x86", "it ends within a count"),
        (SOUND[:4] + b"\0\0\0\1" + SOUND[8:40] + b"\xff", "it ends within a count"),
        (SOUND[:4] + bytes([0, 0, 0, 10]) + SOUND[8:40] + b"\xff" * 9 + b"\1", "63 bits"),
        (SOUND[:4] + bytes([0, 0, 0, 9]) + SOUND[8:40] + b"\xff" * 8 + b"\1", "more buckets"),
    ],
)
def test_other_bytes_are_refused_by_name(blob: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        decoded([SOUND, blob, SOUND])
    with pytest.raises(ValueError, match=reason):
        decoded([blob])
