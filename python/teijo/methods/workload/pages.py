"""The report of a free workload: headline numbers, the time series, the latency distribution."""

from collections.abc import Mapping, Sequence

from teijo import units
from teijo.analysis import measures
from teijo.document import model
from teijo.document.grid import Fields, listing
from teijo.document.phrase import Verbatim, listed, say
from teijo.methods.pages import threads_by_depth
from teijo.methods.report import study_report
from teijo.methods.series_pages import (
    DIRECTION,
    TIMES,
    Flow,
    latency_section,
    time_section,
    times_of,
)
from teijo.methods.verification_page import verification_section
from teijo.methods.workload.found import WorkloadFound, stimulus_name
from teijo.methods.workload.settings import WorkloadSettings
from teijo.terms.histogram import merged
from teijo.terms.result import OperationResult, StepResult

_DIRECTION = model.Column(name=DIRECTION)


def pages(found: WorkloadFound) -> model.Document:
    """Return the whole report of a record, growing or sealed."""
    settings, answer = found.settings, found.answer
    bound = (
        units.format_size(settings.total_bytes)
        if settings.total_bytes is not None
        else units.format_duration(settings.duration_ns or 0)
    )
    return study_report(
        found,
        title="Workload",
        subtitle=stimulus_name(settings),
        group="Workload",
        test=(*_stimulus_rows(settings), ("Ends after", bound)),
        sections=[] if answer is None else _sections(found, answer),
        empty="The workload has not taken place yet.",
    )


def _sections(found: WorkloadFound, answer: StepResult) -> list[model.Section]:
    verified = verification_section(found.record.steps)
    flows = [Flow(name=_name(answer, part), parts=((answer, part),)) for part in answer.results]
    return [
        _result_section(found, answer),
        *([] if verified is None else [verified]),
        time_section(flows),
        latency_section(flows),
    ]


def _stimulus_rows(settings: WorkloadSettings) -> tuple[tuple[str, str], ...]:
    if settings.streams:
        return tuple((Verbatim(each.name), each.title) for each in settings.streams)
    return (
        ("Access", say("{rw}, {percent} % read", rw=settings.rw, percent=settings.read_percent)),
        ("Block size", settings.block_name),
        ("OIO", threads_by_depth(settings.threads, settings.queue_depth)),
    )


def _headline(found: WorkloadFound, answer: StepResult) -> str:
    scalars = {scalar.name: scalar.value or 0.0 for scalar in found.scalars}
    headline = say(
        "{iops:,.0f} IOPS, {throughput:,.1f} MB/s, mean {mean}, p99 {p99}",
        iops=scalars["IOPS"],
        throughput=scalars["throughput"],
        mean=units.format_latency(scalars["latency mean"]),
        p99=units.format_latency(measures.latency_of(answer).quantile_ns(0.99)),
    )
    response = measures.response_of(answer)
    if response is None or found.settings.streams:
        return headline
    latency = units.format_latency(response.quantile_ns(0.99))
    return say("{headline} (response {latency})", headline=headline, latency=latency)


def _result_section(found: WorkloadFound, answer: StepResult) -> model.Section:
    parts = {_name(answer, part): (part,) for part in answer.results}
    rows = [_row(name, answer, flows) for name, flows in parts.items()]
    if len(rows) > 1:
        rows.append(_row("all", answer, answer.results))
    rows += [_row(_name(answer, part), answer, (part,)) for part in answer.commands]
    columns = (
        _DIRECTION,
        model.Column(name="I/Os", digits=0),
        model.Column(name="IOPS", digits=1),
        model.Column(name="Throughput", unit="MB/s", digits=2),
        *TIMES,
        model.Column(name="Failed", unit="I/Os", digits=0),
    )
    table = model.Table(columns=columns, rows=tuple(rows), caption="Result")
    blocks: tuple[model.Block, ...] = (
        model.Verdict(text=_headline(found, answer), good=None),
        table,
    )
    blocks += _open_loop_blocks(found.settings, answer)
    if kinds := listed(dict.fromkeys(remark.kind.value for remark in answer.remarks)):
        text = say("To be read with the remarks on this step: {kinds}.", kinds=kinds)
        blocks += (model.Paragraph(text=text),)
    if answer.commands:
        aside = "Flushes and discards move no data: they are in no figure of the rows above them."
        blocks += (model.Paragraph(text=aside),)
    failed = measures.errors_of(answer)
    if failed:
        told: str = "1 I/O failed; it is counted in no rate and no latency."
        if failed > 1:
            told = say(
                "{failed:,} I/Os failed; they are counted in no rate and no latency.", failed=failed
            )
        blocks += (model.Paragraph(text=told), *_error_tables(answer))
    return model.Section(title="Result", blocks=blocks)


def _name(answer: StepResult, part: OperationResult) -> str:
    """Return what a part of the answer is called: its stream is named where there are several."""
    several = len({each.stream for each in answer.results}) > 1
    if not several:
        return part.operation
    stream = Verbatim(part.stream)
    return say("{stream} {direction}", stream=stream, direction=part.operation)


def _open_loop_blocks(settings: WorkloadSettings, answer: StepResult) -> tuple[model.Block, ...]:
    """Return service and response side by side, for every stream that ran at a rate."""
    asked = {name: one.ios_per_second for name, one in settings.stimuli if one.ios_per_second}
    if not asked:
        text = (
            "The loop is closed: an I/O is due when it is issued, so its response time is its "
            "latency, and is not printed twice."
        )
        return (model.Paragraph(text=text),)
    rows: list[tuple[model.Value, ...]] = []
    for part in answer.results:
        if part.stream not in asked:
            continue
        name = _name(answer, part)
        rows.append((name, "service", *times_of(part.timed)))
        if part.response is not None:
            rows.append((name, "response", *times_of(part.response)))
    columns = (_DIRECTION, model.Column(name="Time"), *TIMES)
    text = "Service counts from the issue of an I/O, response from the moment it was due."
    if all(part.response is None for part in answer.results):
        text += " This engine measures no response."
    table = model.Table(columns=columns, rows=tuple(rows), caption="Service and response")
    return (table, _schedule_table(asked, answer), model.Paragraph(text=text))


def _schedule_table(asked: Mapping[str, float], answer: StepResult) -> model.Table:
    def achieved(parts: Sequence[OperationResult]) -> float:
        done = sum(part.count + sum(part.errors.values()) for part in parts)
        return units.per_second(done, answer.elapsed_ns)

    rows = [(name, [part for part in answer.results if part.stream == name]) for name in asked]
    fields: Fields[tuple[str, list[OperationResult]]] = (
        ("Stream", "", None, lambda row: Verbatim(row[0])),
        ("Asked", "I/Os per second", 1, lambda row: asked[row[0]]),
        ("Achieved", "I/Os per second", 1, lambda row: achieved(row[1])),
        ("Backlog at most", "I/Os", 0, lambda row: row[1][0].backlog_max if row[1] else None),
        ("Backlog at the end", "I/Os", 0, lambda row: row[1][0].backlog_end if row[1] else None),
    )
    return listing(rows, fields, caption="Schedule")


def _row(
    name: str, answer: StepResult, parts: Sequence[OperationResult]
) -> tuple[model.Value, ...]:
    ios = sum(part.count for part in parts)
    size = sum(part.moved_bytes for part in parts)
    return (
        name,
        ios,
        units.per_second(ios, answer.elapsed_ns),
        units.megabytes_per_second(size, answer.elapsed_ns),
        *times_of(merged(part.timed for part in parts)),
        sum(sum(part.errors.values()) for part in parts),
    )


def _error_tables(answer: StepResult) -> tuple[model.Block, ...]:
    errors = [
        (part, number, count)
        for part in (*answer.results, *answer.commands)
        for number, count in sorted(part.errors.items())
    ]
    fields: Fields[tuple[OperationResult, int, int]] = (
        ("Stream", "", None, lambda error: Verbatim(error[0].stream)),
        ("Direction", "", None, lambda error: error[0].operation),
        ("errno (0: short I/O)", "", None, lambda error: str(error[1])),
        ("I/Os", "", 0, lambda error: error[2]),
    )
    return (listing(errors, fields, caption="Failed I/Os by error"),) if errors else ()
