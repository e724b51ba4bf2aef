"""HdrHistogram V2 blobs, against a decoder written here from the format's description."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from teijo.engine import decode_histogram, encode_histogram
from teijo.errors import RunFileError

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
    assert decoded_by_hand(encode_histogram(*columns(pairs))) == bucketed(pairs)


@given(latencies)
def test_what_was_encoded_comes_back(pairs: dict[int, int]) -> None:
    values, counts = decode_histogram(encode_histogram(*columns(pairs)))
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == bucketed(pairs)
    again = decode_histogram(encode_histogram(values, counts))
    np.testing.assert_array_equal(again[0], values)
    np.testing.assert_array_equal(again[1], counts)


def test_an_empty_histogram_is_one_too() -> None:
    empty = np.empty(0, np.int64)
    values, counts = decode_histogram(encode_histogram(empty, empty))
    assert values.size == counts.size == 0


@pytest.mark.parametrize("blob", [b"", b"no histogram", bytes(40)])
def test_other_bytes_are_refused_by_name(blob: bytes) -> None:
    with pytest.raises(RunFileError, match="Not an HdrHistogram V2"):
        decode_histogram(blob)


def test_columns_that_are_no_histogram_are_refused() -> None:
    values = np.array([1, 2], np.int64)
    with pytest.raises(ValueError, match="one length"):
        encode_histogram(values, values[:1])
    with pytest.raises(ValueError, match="negative"):
        encode_histogram(values, -values)
