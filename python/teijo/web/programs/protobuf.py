"""Metrics in Prometheus' protobuf exposition, with native histograms.

Source: prometheus/client_model, io/prometheus/client/metrics.proto; the constants below are its
numbers of fields. A message is written field by field: a tag, and a varint, a double or the length
of what follows (protobuf.dev, "Encoding").
"""

import struct
from collections.abc import Iterable, Mapping
from typing import Final

from teijo.analysis.exponential import SCHEMA, Exponential
from teijo.units import NS_PER_S
from teijo.web.programs.family import SUFFIX, Family, Kind, Sample, classic

TYPE: Final = "application/vnd.google.protobuf"
PARAMETERS: Final = {"proto": "io.prometheus.client.MetricFamily", "encoding": "delimited"}
MEDIA_TYPE: Final = "; ".join([TYPE, *(f"{key}={value}" for key, value in PARAMETERS.items())])

_FAMILY_NAME, _FAMILY_HELP, _FAMILY_TYPE, _FAMILY_METRIC, _FAMILY_UNIT = 1, 2, 3, 4, 5
_METRIC_LABEL, _METRIC_GAUGE, _METRIC_COUNTER, _METRIC_HISTOGRAM = 1, 2, 3, 7
_LABEL_NAME, _LABEL_VALUE = 1, 2
_VALUE: Final = 1
"""Of a gauge and of a counter."""
_COUNT, _SUM, _BUCKET, _SCHEMA, _ZERO_THRESHOLD, _ZERO_COUNT = 1, 2, 3, 5, 6, 7
_POSITIVE_SPAN, _POSITIVE_DELTA = 12, 13
_BUCKET_COUNT, _BUCKET_BOUND = 1, 2
_SPAN_OFFSET, _SPAN_LENGTH = 1, 2
_TYPES: Final[Mapping[Kind, int]] = {"counter": 0, "gauge": 1, "info": 1, "histogram": 4}
"""MetricType, which has no info: that is a gauge of 1."""
_ZERO_MOST_S: Final = 2.0**-128
"""How wide the bucket of zero is; more than nothing, which tells a native histogram from others."""
_VARINT, _DOUBLE, _LENGTH = 0, 1, 2
_WIRE_BITS: Final = 3
_MORE: Final = 0x80
_64_BITS: Final = (1 << 64) - 1


def delimited(families: Iterable[Family]) -> bytes:
    """Return all families that have samples, each behind its length."""
    messages = [_family(each) for each in families if each.samples]
    return b"".join(_varint(len(message)) + message for message in messages)


def _family(family: Family) -> bytes:
    return b"".join(
        [
            _text(_FAMILY_NAME, family.name + SUFFIX[family.kind]),
            _text(_FAMILY_HELP, family.meaning),
            _number(_FAMILY_TYPE, _TYPES[family.kind]),
            *(_part(_FAMILY_METRIC, _metric(family.kind, each)) for each in family.samples),
            _text(_FAMILY_UNIT, family.unit),
        ]
    )


def _metric(kind: Kind, sample: Sample) -> bytes:
    labels = [
        _part(_METRIC_LABEL, _text(_LABEL_NAME, name) + _text(_LABEL_VALUE, value))
        for name, value in sample.labels.items()
    ]
    match sample.value:
        case Exponential() as latencies:
            value = _part(_METRIC_HISTOGRAM, _histogram(latencies))
        case number:
            field = _METRIC_COUNTER if kind == "counter" else _METRIC_GAUGE
            value = _part(field, _double(_VALUE, number))
    return b"".join([*labels, value])


def _histogram(latencies: Exponential) -> bytes:
    """Return a native histogram, and the classic one for who does not know such."""
    return b"".join(
        [
            _number(_COUNT, latencies.count),
            _double(_SUM, latencies.sum_ns / NS_PER_S),
            *(
                _part(_BUCKET, _number(_BUCKET_COUNT, count) + _double(_BUCKET_BOUND, le))
                for le, count in classic(latencies)
            ),
            _signed(_SCHEMA, SCHEMA),
            _double(_ZERO_THRESHOLD, _ZERO_MOST_S),
            _number(_ZERO_COUNT, latencies.zero),
            _buckets(latencies.counts),
        ]
    )


def _buckets(counts: Mapping[int, int]) -> bytes:
    """Return the spans of occupied buckets, and each count as its difference from the last."""
    spans: list[tuple[int, int]] = []
    deltas: list[int] = []
    expected = count_before = 0
    for number, count in counts.items():
        if number == expected and spans:
            offset, length = spans[-1]
            spans[-1] = (offset, length + 1)
        else:
            spans.append((number - expected, 1))
        deltas.append(count - count_before)
        expected, count_before = number + 1, count
    return b"".join(
        [
            *(
                _part(_POSITIVE_SPAN, _signed(_SPAN_OFFSET, offset) + _number(_SPAN_LENGTH, length))
                for offset, length in spans
            ),
            *(_signed(_POSITIVE_DELTA, delta) for delta in deltas),
        ]
    )


def _text(field: int, text: str) -> bytes:
    return _part(field, text.encode()) if text else b""


def _part(field: int, content: bytes) -> bytes:
    return _tag(field, _LENGTH) + _varint(len(content)) + content


def _number(field: int, number: int) -> bytes:
    return _tag(field, _VARINT) + _varint(number)


def _signed(field: int, number: int) -> bytes:
    """Return a sint: of 0, -1, 1, -2 it makes 0, 1, 2, 3."""
    return _number(field, 2 * number if number >= 0 else -2 * number - 1)


def _double(field: int, number: float) -> bytes:
    return _tag(field, _DOUBLE) + struct.pack("<d", number)


def _tag(field: int, wire: int) -> bytes:
    return _varint(field << _WIRE_BITS | wire)


def _varint(number: int) -> bytes:
    number &= _64_BITS  # more has no place here, and only a forged file counts so far
    found = bytearray()
    while number >= _MORE:
        found.append(number & _MORE - 1 | _MORE)
        number >>= 7
    found.append(number)
    return bytes(found)
