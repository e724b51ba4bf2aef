"""The page of the hosts that shared a run: who they were, and what each did of every step."""

from collections.abc import Sequence
from dataclasses import dataclass

from teijo.document import model
from teijo.document.phrase import Verbatim, listed, say
from teijo.terms.record import Record
from teijo.terms.result import RESUMED, Gap, StepResult
from teijo.terms.shared import HostPart, SharingHost, hosts_in, parts_in
from teijo.units import GIGA, NS_PER_MS, NS_PER_US, per_second


@dataclass(frozen=True, kw_only=True)
class _Shared:
    """One step and what each host did of it."""

    seq: int
    phase: str
    parts: tuple[HostPart, ...]


def header_rows(record: Record) -> tuple[tuple[str, str], ...]:
    """Return the line of the header on the hosts; nothing of a run from one host."""
    hosts = hosts_in(record.environment)
    if not hosts:
        return ()
    names = listed(Verbatim(each.name) for each in hosts)
    return (("Hosts", say("{n}, each with the whole depth: {names}", n=len(hosts), names=names)),)


def hosts_section(record: Record) -> model.Section | None:
    """Return the page of the hosts, None of a run from one host."""
    hosts = hosts_in(record.environment)
    if not hosts:
        return None
    steps = _steps_of(record)
    note = say(
        "Threads and depth are each host's own, so that {n} hosts had {n} times as many I/Os in "
        "flight as a step asks for; bytes and rates were divided among them. Counts were added and "
        "latencies merged bucket by bucket: a percentile is that of all I/Os of all hosts.",
        n=len(hosts),
    )
    blocks: list[model.Block] = [model.Paragraph(text=note), _hosts_table(hosts)]
    if steps:
        blocks += [_sums_table(hosts, steps), _steps_table(steps)]
    if gaps := _gaps(record):
        blocks.append(model.Facts(caption="Steps that a host broke off", rows=gaps))
    return model.Section(title="The hosts", blocks=tuple(blocks))


def _steps_of(record: Record) -> list[_Shared]:
    return [
        _Shared(seq=each.seq, phase=each.step.phase, parts=parts)
        for each in record.steps
        if isinstance(each.answer, StepResult) and (parts := parts_in(each.answer.detail))
    ]


def _hosts_table(hosts: Sequence[SharingHost]) -> model.Table:
    return model.Table(
        caption="The hosts, and how their clocks stood when the run began",
        columns=(
            model.Column(name="Host"),
            model.Column(name="Its own name"),
            model.Column(name="Kernel"),
            model.Column(name="Processors", digits=0),
            model.Column(name="Backend"),
            model.Column(name="Clock ahead", unit="ms", digits=3),
            model.Column(name="Wrong by at most", unit="ms", digits=3),
        ),
        rows=tuple(
            (
                Verbatim(each.name),
                Verbatim(each.host),
                Verbatim(each.kernel),
                each.cpus,
                Verbatim(each.backend),
                each.ahead_ns / NS_PER_MS,
                each.error_ns / NS_PER_MS,
            )
            for each in hosts
        ),
    )


def _sums_table(hosts: Sequence[SharingHost], steps: Sequence[_Shared]) -> model.Table:
    every = sum(part.ios for step in steps for part in step.parts)
    rows = []
    for host in hosts:
        own = [part for step in steps for part in step.parts if part.name == host.name]
        ios = sum(part.ios for part in own)
        rows.append(
            (
                Verbatim(host.name),
                ios,
                100 * ios / every if every else None,
                sum(part.bytes for part in own) / GIGA,
                per_second(ios, sum(part.elapsed_ns for part in own)),
                max((part.p999_ns for part in own), default=0) / NS_PER_US,
                max((part.began_ns for part in own), default=0) / NS_PER_MS,
                sum(part.errors for part in own),
            )
        )
    return model.Table(
        caption="Each host over all steps",
        columns=(
            model.Column(name="Host"),
            model.Column(name="I/Os", digits=0),
            model.Column(name="Share", unit="%", digits=1),
            model.Column(name="Moved", unit="GB", digits=3),
            model.Column(name="Rate", unit="IOPS", digits=0),
            model.Column(name="p99.9, worst step", unit="µs", digits=1),
            model.Column(name="Began after the first by at most", unit="ms", digits=3),
            model.Column(name="Failed I/Os", digits=0),
        ),
        rows=tuple(rows),
    )


def _steps_table(steps: Sequence[_Shared]) -> model.Table:
    return model.Table(
        caption="Each host in each step",
        folded=True,
        columns=(
            model.Column(name="Step", digits=0),
            model.Column(name="Phase"),
            model.Column(name="Host"),
            model.Column(name="Rate", unit="IOPS", digits=0),
            model.Column(name="Moved", unit="GB", digits=3),
            model.Column(name="p99.9", unit="µs", digits=1),
            model.Column(name="Began after the first", unit="ms", digits=3),
            model.Column(name="Wrong by at most", unit="ms", digits=3),
        ),
        rows=tuple(
            (
                step.seq,
                step.phase,
                Verbatim(part.name),
                per_second(part.ios, part.elapsed_ns),
                part.bytes / GIGA,
                part.p999_ns / NS_PER_US,
                part.began_ns / NS_PER_MS,
                part.error_ns / NS_PER_MS,
            )
            for step in steps
            for part in step.parts
        ),
    )


def _gaps(record: Record) -> tuple[tuple[str, str], ...]:
    """Return the steps that ended as gaps of which more is known than that the run was resumed."""
    return tuple(
        (say("step {step}", step=each.seq), each.answer.reason)
        for each in record.steps
        if isinstance(each.answer, Gap) and each.answer.reason != RESUMED
    )
