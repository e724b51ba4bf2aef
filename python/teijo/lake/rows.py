"""What one run file says, as rows of the lake's tables; a file that is in doubt has none."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from teijo.compare.limit import EXIT_NOT_MET, exit_code, recorded_limits, spelt
from teijo.compare.limits import judged, known_of
from teijo.errors import RunFileError
from teijo.methods.parts import Part, parts_of
from teijo.runfile import reader
from teijo.runfile.codec import to_json
from teijo.runfile.names import SEALED_SUFFIX
from teijo.terms.histogram import Histogram, merged
from teijo.terms.provenance import GroupName
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Perform
from teijo.units import KIB, NS_PER_MS

PERCENTILES: Final = (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999))
"""Those that each histogram is in the figures with, for a question that need not sum any."""
TEXT_MOST: Final = 64 * KIB
"""Letters of one value; a plan in the settings has some thousand."""
_READ_BYTES: Final = 1024 * KIB
_FASTER_WITH_MORE: Final = {"IOPS": True, "MB/s": True, "ms": False, "µs": False, "us": False}
"""By its unit, which way a figure is read that no comparison knows."""

Values = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Counted:
    """The latencies of one operation in one cell: of the rounds of the window, or of all."""

    part: str
    cell: str
    operation: str
    latency: Histogram


@dataclass(frozen=True, kw_only=True)
class RunRows:
    """One run: what leads each of its rows, and the rest of them, in the order of the columns."""

    method: str
    month: str
    digest: str
    leading: Values
    run: Values
    figures: tuple[Values, ...]
    counted: tuple[Counted, ...]
    remarks: tuple[Values, ...]

    @property
    def id(self) -> str:
        """The run."""
        return str(self.leading[0])


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal.

    Raises:
        OSError: it cannot be read.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(_READ_BYTES):
            digest.update(part)
    return digest.hexdigest()


def rows_of(path: Path, digest: str) -> RunRows:
    """Return the rows of a sealed run file.

    Raises:
        RunFileError: it is not sealed, is damaged, contradicts itself, or holds what no lake takes.
    """
    if not path.name.endswith(SEALED_SUFFIX):
        raise RunFileError("The run file is not sealed", remedy="Seal it: teijo seal FILE")
    proved = reader.prove(path)
    if not proved.sealed:
        raise RunFileError("The run file is not sealed", remedy="Seal it: teijo seal FILE")
    if proved.flaws:
        raise RunFileError(
            f"The record contradicts itself: {proved.flaws[0].text}",
            remedy="See all of it: teijo verify FILE",
        )
    return record_rows(proved.record, digest=digest, file=path.name)


def record_rows(record: Record, *, digest: str, file: str) -> RunRows:
    """Return the rows of a record.

    Raises:
        RunFileError: it holds what no lake takes.
    """
    run, parts = record.run, parts_of(record)
    started = moment(run.started_at)
    if started is None:
        raise RunFileError(
            f"The run began at {run.started_at!r}, which is no date",
            remedy="Look at it alone: teijo export FILE",
        )
    several = len(parts) > 1
    counted = tuple(
        one for part in parts for one in _counted(part, spelt(part.name) if several else "")
    )
    found = RunRows(
        method=run.method,
        month=f"{started:%Y-%m}",
        digest=digest,
        leading=_leading(record, started),
        run=_run(record, parts, digest=digest, file=file),
        figures=(*_figures(parts), *_percentiles(counted)),
        counted=counted,
        remarks=tuple((each.kind.value, str(each.text), each.step) for each in record.remarks),
    )
    _check_texts(found)
    return found


def _leading(record: Record, started: datetime) -> Values:
    identity, group = record.identity, record.run.group
    return (
        record.run.id,
        started,
        identity.model or identity.target,
        identity.serial,
        identity.firmware,
        group.get(GroupName.HOST) or record.environment.get("host", ""),
        *(
            group.get(name, "")
            for name in (GroupName.CAMPAIGN, GroupName.FLEET, GroupName.HOST, GroupName.DRIVE)
        ),
    )


def _run(record: Record, parts: Sequence[Part], *, digest: str, file: str) -> Values:
    run, identity, geometry = record.run, record.identity, record.geometry
    converged = [part.found.converged for part in parts if part.found.converged is not None]
    return (
        digest,
        file,
        run.spec,
        run.ending,
        all(converged) if converged else None,
        _limits(record),
        moment(run.ended_at),
        run.provenance,
        identity.target,
        identity.kind,
        identity.interface,
        identity.wwid,
        identity.write_cache,
        geometry.capacity_bytes or None,
        geometry.nominal_capacity_bytes or None,
        record.environment.get("cpu", ""),
        record.environment.get("kernel", ""),
        run.engine,
        run.version,
        run.seed,
        to_json(dict(run.settings)),
        sum(part.found.rounds for part in parts),
        any(each.kind is RemarkKind.THROTTLED for each in record.remarks),
        len(record.remarks),
    )


def _limits(record: Record) -> str:
    told = judged(record, recorded_limits(record))
    if not told:
        return ""
    code = exit_code(told)
    return "met" if not code else "not met" if code == EXIT_NOT_MET else "not known"


def moment(text: str) -> datetime | None:
    """Return a date of a run file as UTC without a zone, None of what is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.replace(tzinfo=None) if found.tzinfo is None else _in_utc(found)


def _in_utc(found: datetime) -> datetime | None:
    try:
        return found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


# --- figures ----------------------------------------------------------------------------------


def _figures(parts: Sequence[Part]) -> Iterator[Values]:
    known_ways = {
        spelt(each.figure.name): each.figure.more_is_faster
        for part in parts
        for each in part.found.quantities
    }
    for one in known_of(parts):
        if one.value is not None and math.isfinite(one.value):
            way = known_ways.get(one.name, _FASTER_WITH_MORE.get(one.unit))
            interval = (_finite(one.low), _finite(one.high))
            yield (one.part, one.place, one.name, one.value, one.unit, *interval, way, one.steady)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _percentiles(counted: Sequence[Counted]) -> Iterator[Values]:
    for one in counted:
        for name, share in PERCENTILES:
            value = one.latency.quantile_ns(share) / NS_PER_MS
            figure = f"{one.operation} latency {name}"
            yield (one.part, one.cell, figure, value, "ms", None, None, False, None)


# --- histograms -------------------------------------------------------------------------------


def _counted(part: Part, name: str) -> Iterator[Counted]:
    """Yield the latencies of each cell and operation, all rounds of the window together."""
    window = part.found.window_rounds
    found: dict[tuple[str, str], list[Histogram]] = {}
    for each in part.record.steps:
        step, answer = each.step, each.answer
        if not isinstance(step, Measure | Perform) or not isinstance(answer, StepResult):
            continue
        number = step.round_number
        if number is not None and window is not None and not window[0] <= number <= window[1]:
            continue
        for result in answer.results:
            if result.latency is not None and result.latency.count:
                key = (step.cell or step.phase, result.operation)
                found.setdefault(key, []).append(result.latency)
    for (cell, operation), latencies in found.items():
        yield Counted(part=name, cell=cell, operation=operation, latency=merged(latencies))


# --- what a lake takes ------------------------------------------------------------------------


def _check_texts(found: RunRows) -> None:
    """Make sure that no value of a run is longer than any that a run has.

    Raises:
        RunFileError: one is.
    """
    rows = (found.leading, found.run, *found.figures, *found.remarks)
    longest = max((len(each) for row in rows for each in row if isinstance(each, str)), default=0)
    if longest > TEXT_MOST:
        raise RunFileError(
            f"A text in it has {longest:,} letters, and a lake takes {TEXT_MOST:,}",
            remedy="Look at it alone: teijo export FILE",
        )
