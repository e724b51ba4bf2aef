"""Strict readers of what /metrics says: OpenMetrics text by its ABNF, protobuf by its .proto."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Labels = tuple[tuple[str, str], ...]
NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
ESCAPED = r'(?:[^\n"\\]|\\[\\n"])*'
LABEL = rf'{NAME}="{ESCAPED}"'
NUMBER = r"[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?"
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? ({NUMBER})")
DESCRIPTOR = re.compile(rf"# (TYPE|UNIT|HELP) ({NAME}) ({ESCAPED})")
SUFFIXES = {
    "gauge": {""},
    "counter": {"_total"},
    "info": {"_info"},
    "histogram": {"_bucket", "_count", "_sum"},
}


@dataclass
class Told:
    """A family: its descriptors, and its numbers by name and labels."""

    said: dict[str, str] = field(default_factory=dict)
    values: dict[tuple[str, Labels], float] = field(default_factory=dict)

    def of(self, **labels: str) -> float:
        """Return the one number of these labels."""
        (found,) = [
            value for (_, has), value in self.values.items() if labels.items() <= dict(has).items()
        ]
        return found


def families_in(text: str) -> dict[str, Told]:
    """Return what an exposition says; whatever is no OpenMetrics is an AssertionError."""
    assert text.endswith("# EOF\n")
    found: dict[str, Told] = {}
    name = ""
    for line in text.removesuffix("# EOF\n").splitlines():
        if (said := DESCRIPTOR.fullmatch(line)) is not None:
            if said[2] != name:
                name = said[2]
                assert name not in found, "a family stands in one place"
                found[name] = Told()
            assert not found[name].values, "descriptors come first"
            assert said[1] not in found[name].said
            found[name].said[said[1]] = unescaped(said[3])
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample is not None, line
        suffix = sample[1].removeprefix(name)
        told = found[name]
        assert suffix in SUFFIXES[told.said["TYPE"]], line
        key = (suffix, labels_in(sample[2] or ""))
        assert key not in told.values, line
        told.values[key] = float(sample[3]) if "+Inf" not in sample[3] else float("inf")
    for each, told in found.items():
        assert told.said.keys() >= {"TYPE", "HELP"}
        assert not (unit := told.said.get("UNIT", "")) or each.endswith(f"_{unit}")
    return found


def labels_in(text: str) -> Labels:
    pairs = re.findall(rf'({NAME})="({ESCAPED})"', text)
    assert len({name for name, _ in pairs}) == len(pairs)
    return tuple(sorted((name, unescaped(value)) for name, value in pairs))


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text)


def histogram_in(told: Told, **labels: str) -> tuple[dict[float, int], int, float]:
    """Return (counts by `le`, count, sum) of a classic histogram."""
    mine = {
        (suffix, dict(has).get("le", "")): value
        for (suffix, has), value in told.values.items()
        if labels.items() <= dict(has).items()
    }
    buckets = {float(le): int(value) for (suffix, le), value in mine.items() if le}
    assert list(buckets) == sorted(buckets)
    assert list(buckets.values()) == sorted(buckets.values())
    count = int(mine["_count", ""])
    assert buckets[float("inf")] == count
    return buckets, count, mine["_sum", ""]


# As io/prometheus/client/metrics.proto has it; what is not named here, no field may be.
MESSAGES: dict[str, dict[int, tuple[str, str]]] = {
    "LabelPair": {1: ("name", "string"), 2: ("value", "string")},
    "Gauge": {1: ("value", "double")},
    "Counter": {1: ("value", "double")},
    "Bucket": {1: ("cumulative_count", "uint64"), 2: ("upper_bound", "double")},
    "BucketSpan": {1: ("offset", "sint"), 2: ("length", "uint64")},
    "Histogram": {
        1: ("sample_count", "uint64"),
        2: ("sample_sum", "double"),
        3: ("bucket", "*Bucket"),
        5: ("schema", "sint"),
        6: ("zero_threshold", "double"),
        7: ("zero_count", "uint64"),
        12: ("positive_span", "*BucketSpan"),
        13: ("positive_delta", "*sint"),
    },
    "Metric": {
        1: ("label", "*LabelPair"),
        2: ("gauge", "Gauge"),
        3: ("counter", "Counter"),
        7: ("histogram", "Histogram"),
    },
    "MetricFamily": {
        1: ("name", "string"),
        2: ("help", "string"),
        3: ("type", "uint64"),
        4: ("metric", "*Metric"),
        5: ("unit", "string"),
    },
}


def messages_in(data: bytes) -> list[dict[str, Any]]:
    """Return the MetricFamilies of a delimited exposition."""
    found, at = [], 0
    while at < len(data):
        length, at = varint(data, at)
        assert at + length <= len(data)
        found.append(message(data[at : at + length], "MetricFamily"))
        at += length
    return found


def message(data: bytes, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        key: [] for key, kind in MESSAGES[name].values() if kind.startswith("*")
    }
    for number, wire, raw in fields(data):
        key, kind = MESSAGES[name][number]
        value = read(raw, wire, kind.removeprefix("*"))
        if kind.startswith("*"):
            found[key].append(value)
        else:
            assert key not in found
            found[key] = value
    return found


def fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == 0:
            raw, at = varint(data, at)
            yield tag >> 3, wire, raw
            continue
        length, at = (8, at) if wire == 1 else varint(data, at)
        assert wire in (1, 2)
        assert at + length <= len(data)
        yield tag >> 3, wire, data[at : at + length]
        at += length


def read(raw: Any, wire: int, kind: str) -> Any:
    if kind in ("uint64", "sint"):
        assert wire == 0
        return raw if kind == "uint64" else (raw >> 1) ^ -(raw & 1)
    assert wire == (1 if kind == "double" else 2)
    if kind == "double":
        return struct.unpack("<d", raw)[0]
    return raw.decode() if kind == "string" else message(raw, kind)


def varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            assert number < 1 << 64
            return number, at


def native_counts(histogram: dict[str, Any]) -> dict[int, int]:
    """Return the counts of a native histogram by the number of the bucket."""
    counts, deltas, number, count = {}, iter(histogram["positive_delta"]), 0, 0
    for span in histogram["positive_span"]:
        number += span["offset"]
        for _ in range(span["length"]):
            count += next(deltas)
            counts[number] = count
            number += 1
    assert next(deltas, None) is None
    return counts
