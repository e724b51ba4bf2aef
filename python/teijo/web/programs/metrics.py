"""The runs that are going on as metrics: for Prometheus, and whatever reads OpenMetrics."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from teijo.api import Column, Question, Shelved
from teijo.errors import TeijoError
from teijo.runfile.listed import LEFT_OPEN, RUNNING
from teijo.runfile.mark import mark_of
from teijo.units import MEGA, NS_PER_S, ZERO_CELSIUS_KELVIN
from teijo.web.desk import Desk
from teijo.web.live import Sight
from teijo.web.programs import openmetrics, protobuf
from teijo.web.programs.describing import Json, asked, text
from teijo.web.programs.family import Family, Sample
from teijo.web.site import Site, shown

RUNS_MOST: Final = 32
"""Runs that are told of at one time, those that began last."""
PATIENCE_S: Final = 8.0
"""What is not read by then is left to the next scrape; Prometheus waits 10 s for one."""
AT_ONCE: Final = 2
"""Runs that are read at one time, so that a scrape leaves room for those who look at a page."""
_OPEN: Final = ((Column.ENDING, RUNNING), (Column.ENDING, LEFT_OPEN))
"""What the list calls a run that is going on, or was cut off."""
_Labels = Mapping[str, str]


def routes(site: Site) -> list[Route]:
    """Return the address of the metrics."""

    async def metrics(request: Request) -> Response:
        families = await _families(site.desk)
        if prefers_protobuf(request.headers.get("accept", "")):
            return Response(protobuf.delimited(families), media_type=protobuf.MEDIA_TYPE)
        return Response(openmetrics.text(families), media_type=openmetrics.MEDIA_TYPE)

    return [site.route("/metrics", metrics)]


def describe() -> Mapping[str, Json]:
    """Return the address of the metrics in the words of OpenAPI."""
    answers = {
        openmetrics.MEDIA_TYPE: text("OpenMetrics text, without an Accept header too."),
        protobuf.MEDIA_TYPE: {"description": "With native histograms, as metrics.proto has it."},
    }
    summary = f"The runs that are going on, {RUNS_MOST} at most, as metrics."
    return {"/metrics": asked(summary, answers, failed=())}


def prefers_protobuf(accept: str) -> bool:
    """Return whether an Accept header asks for Prometheus' protobuf more than for the text."""
    weights: dict[str, float] = {}
    for part in accept.split(","):
        kind, *rest = (each.strip().lower() for each in part.split(";"))
        given = dict(each.partition("=")[::2] for each in rest)
        if kind == protobuf.TYPE and any(
            given.get(key, "") != value.lower() for key, value in protobuf.PARAMETERS.items()
        ):
            continue
        weights[kind] = max(weights.get(kind, 0.0), _weight(given.get("q", "1")))
    texts = (openmetrics.TYPE, "application/*", "*/*")
    of_text = next((weights[kind] for kind in texts if kind in weights), 0.0)
    return weights.get(protobuf.TYPE, 0.0) > of_text


def _weight(text: str) -> float:
    with suppress(ValueError):
        return float(text)
    return 0.0


@dataclass(frozen=True)
class _Told:
    """A run that could be read."""

    row: Shelved
    sight: Sight


async def _families(desk: Desk) -> list[Family]:
    counts = await asyncio.to_thread(desk.shelf.choices, Column.ENDING)
    damaged = await asyncio.to_thread(desk.shelf.find, Question(trouble=True, limit=1))
    going = await asyncio.to_thread(desk.shelf.find, Question(only=_OPEN, limit=RUNS_MOST))
    turns = asyncio.Semaphore(AT_ONCE)
    sights = await asyncio.gather(*(_sight(desk, row.id, turns) for row in going.rows))
    pairs = zip(going.rows, sights, strict=True)
    told = [_Told(row, sight) for row, sight in pairs if sight is not None]
    return [
        Family(
            name="teijo_runs",
            kind="gauge",
            meaning='Run files of the folder by ending; "left open": nobody writes to it.',
            samples=tuple(Sample({"ending": shown(value)}, n) for value, n in counts if value),
        ),
        Family(
            name="teijo_unreadable_runs",
            kind="gauge",
            meaning="Run files that cannot be read, or not in the time of a scrape.",
            samples=(Sample({}, damaged.total + sights.count(None)),),
        ),
        *_of_runs(told, desk),
    ]


async def _sight(desk: Desk, key: str, turns: asyncio.Semaphore) -> Sight | None:
    """Return a run as it is now; None where it cannot be read, or not soon."""
    with suppress(TeijoError, TimeoutError):
        async with asyncio.timeout(PATIENCE_S), turns, desk.watchers.looking(key) as watcher:
            return await watcher.after(0)
    return None


def _of_runs(told: Sequence[_Told], desk: Desk) -> Iterator[Family]:
    yield Family(
        name="teijo_run",
        kind="info",
        meaning="What a run is: join it by the label run.",
        samples=tuple(Sample(_labels(each.row, desk), 1) for each in told),
    )
    for gauge in _GAUGES:
        values = ((each.row.id, gauge.value(each.sight)) for each in told)
        yield Family(
            name=gauge.name,
            kind="gauge",
            meaning=gauge.meaning,
            unit=gauge.unit,
            samples=tuple(Sample({"run": key}, each) for key, each in values if each is not None),
        )
    yield Family(
        name="teijo_run_errors",
        kind="counter",
        meaning="Operations that failed since the run began.",
        samples=tuple(Sample({"run": each.row.id}, _errors(each.sight)) for each in told),
    )
    yield Family(
        name="teijo_latency_seconds",
        kind="histogram",
        meaning="Service times of all I/Os of the steps that have ended, by operation.",
        unit="seconds",
        samples=tuple(
            Sample({"run": each.row.id, "operation": shown(operation)}, latencies)
            for each in told
            for operation, latencies in sorted(each.sight.totals.latencies.items())
        ),
    )


def _labels(row: Shelved, desk: Desk) -> _Labels:
    listed = row.listed
    return {
        "run": row.id,
        "file": shown(str(listed.path.relative_to(desk.folder))),
        "method": shown(listed.method),
        "device": shown(listed.device or listed.target),
        "serial": shown(listed.serial),
    }


@dataclass(frozen=True)
class _Gauge:
    """A number of a run; None where it is not known."""

    name: str
    unit: str
    meaning: str
    value: Callable[[Sight], float | None]


def _bytes_per_second(sight: Sight) -> float | None:
    rate = sight.state.mb_s
    return None if rate is None else rate * MEGA


def _celsius(sight: Sight) -> float | None:
    kelvin = sight.totals.kelvin
    return None if kelvin is None else kelvin - ZERO_CELSIUS_KELVIN


def _seconds_left(sight: Sight) -> float | None:
    span = sight.state.time_left
    return None if span is None else span.expected_ns / NS_PER_S


def _steady(sight: Sight) -> float | None:
    steady = sight.state.watch.is_steady if sight.state.watch else None
    return None if steady is None else int(steady)


def _written_s(sight: Sight) -> float | None:
    path = sight.state.path
    with suppress(OSError):  # sealed meanwhile
        return None if path is None else mark_of(path).changed_ns / NS_PER_S
    return None


def _errors(sight: Sight) -> int:
    running = sight.state.progress
    return sight.totals.errors + (running.errors if running else 0)


_GAUGES: Final = (
    _Gauge(
        "teijo_run_progress_ratio",
        "ratio",
        "How much of the run is done, from 0 to 1, by what is expected of it.",
        lambda sight: sight.state.share,
    ),
    _Gauge(
        "teijo_run_round",
        "",
        "The round under way, counted from 1; absent outside rounds.",
        lambda sight: sight.state.round_number,
    ),
    _Gauge(
        "teijo_run_iops",
        "",
        "I/Os per second in the last second written, or in the last step if that is shorter.",
        lambda sight: sight.state.iops,
    ),
    _Gauge(
        "teijo_run_bytes_per_second",
        "bytes_per_second",
        "Bytes per second in the same time.",
        _bytes_per_second,
    ),
    _Gauge(
        "teijo_run_temperature_celsius",
        "celsius",
        "What the drive told last; absent where it is not watched.",
        _celsius,
    ),
    _Gauge(
        "teijo_run_time_left_seconds",
        "seconds",
        "How much longer the run is expected to take; absent in virtual time.",
        _seconds_left,
    ),
    _Gauge(
        "teijo_run_steady",
        "",
        "1 if steady state has been reached, 0 if not yet; absent where it is not looked for.",
        _steady,
    ),
    _Gauge(
        "teijo_run_written_timestamp_seconds",
        "seconds",
        "When the run last wrote to its file, in Unix time.",
        _written_s,
    ),
)
