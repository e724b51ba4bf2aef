"""Metrics as OpenMetrics text, version 1.0.0 (its ABNF is what the tests read it by)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from teijo.analysis.exponential import Exponential
from teijo.units import NS_PER_S
from teijo.web.programs.family import SUFFIX, Family, Sample, classic

TYPE: Final = "application/openmetrics-text"
MEDIA_TYPE: Final = f"{TYPE}; version=1.0.0; charset=utf-8"
_ESCAPES: Final = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def text(families: Iterable[Family]) -> str:
    """Return the exposition of all families that have samples."""
    lines = [line for family in families if family.samples for line in _lines(family)]
    return "\n".join([*lines, "# EOF", ""])


def _lines(family: Family) -> Iterator[str]:
    yield f"# TYPE {family.name} {family.kind}"
    if family.unit:
        yield f"# UNIT {family.name} {family.unit}"
    yield f"# HELP {family.name} {family.meaning.translate(_ESCAPES)}"
    for sample in family.samples:
        yield from _sample(family, sample)


def _sample(family: Family, sample: Sample) -> Iterator[str]:
    match sample.value:
        case Exponential() as latencies:
            for le, count in classic(latencies):
                yield _line(f"{family.name}_bucket", {**sample.labels, "le": repr(le)}, count)
            count = latencies.count
            yield _line(f"{family.name}_bucket", {**sample.labels, "le": "+Inf"}, count)
            yield _line(f"{family.name}_count", sample.labels, count)
            yield _line(f"{family.name}_sum", sample.labels, latencies.sum_ns / NS_PER_S)
        case value:
            yield _line(f"{family.name}{SUFFIX[family.kind]}", sample.labels, value)


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    pairs = ",".join(f'{key}="{each.translate(_ESCAPES)}"' for key, each in labels.items())
    return f"{name}{{{pairs}}} {value!r}" if pairs else f"{name} {value!r}"
