"""The page on how a run was measured: every self-check of every step, with its value.

A check that could not look says "unknown".
"""

from collections import Counter

from teijo.analysis import validity
from teijo.document.model import Column, Facts, Paragraph, Section, Table, Value
from teijo.document.phrase import listed, say
from teijo.terms.record import Record, StepRecord
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Precondition
from teijo.units import NS_PER_S

UNKNOWN = "unknown"
ROWS_UNFOLDED = 8
COLUMNS = (
    Column(name="Step", digits=0),
    Column(name="Cell"),
    Column(name="In flight asked", digits=0),
    Column(name="In flight mean", digits=2),
    Column(name="Busiest thread", unit="%", digits=1),
    Column(name="Waited for a CPU", unit="%", digits=1),
    Column(name="Made or judged data", unit="%", digits=1),
    Column(name="Of the host's ceiling", unit="%", digits=1),
    Column(name="CPU per I/O", unit="ns", digits=0),
    Column(name="Device bytes / own", digits=4),
    Column(name="Device I/Os / own", digits=3),
    Column(name="Longest unwatched", unit="s", digits=3),
    Column(name="Clock drift", unit="ppm", digits=3),
    Column(name="Kernel I/O threads", digits=0),
    Column(name="Wakes for", unit="I/Os", digits=0),
    Column(name="Remarks"),
)


def self_checks_section(record: Record) -> Section | None:
    """Return the page, None for a run of which nobody could give an account (virtual time)."""
    told = [
        (each, each.step, each.answer)
        for each in record.steps
        if isinstance(each.step, Measure | Precondition) and isinstance(each.answer, StepResult)
        if each.answer.witness is not None
        or validity.device_shares(each.answer).bytes_share is not None
    ]
    if not told:
        return None
    table = Table(
        columns=COLUMNS,
        rows=tuple(_row(*each) for each in told),
        caption="Self-checks, step by step",
        folded=len(told) > ROWS_UNFOLDED,
    )
    text = (
        "Shares of time are of the threads that make the I/O. The device's bytes and I/Os are the "
        "kernel's counters of the device against this run's own: 1 is all of it and nothing else."
    )
    granted = _granted([answer for _, _, answer in told])
    return Section(title="How it was measured", blocks=(table, Paragraph(text=text), granted))


def _row(record: StepRecord, step: Measure | Precondition, answer: StepResult) -> tuple[Value, ...]:
    cell = step.cell if isinstance(step, Measure) else step.phase
    shares = validity.device_shares(answer)
    kinds = listed(dict.fromkeys(remark.kind.value for remark in answer.remarks)) or "none"
    device = (_known(shares.bytes_share), _known(shares.ios_share))
    witness = answer.witness
    if witness is None:
        return (record.seq, cell or "", *(UNKNOWN,) * 7, *device, *(UNKNOWN,) * 4, kinds)
    ceiling = validity.ceiling_share(answer)
    content = validity.content_share(witness)
    # An open loop asks for no depth, so there is none to compare with.
    open_loop = validity.depth_share(step, witness) is None
    return (
        record.seq,
        cell or "",
        "open loop" if open_loop else witness.in_flight_asked,
        witness.in_flight_mean,
        100 * witness.busiest_worker,
        100 * validity.delay_share(witness),
        UNKNOWN if content is None else 100 * content,
        UNKNOWN if ceiling is None else 100 * ceiling,
        witness.cpu_ns / answer.ios if answer.ios else None,
        *device,
        witness.look_gap_ns_max / NS_PER_S,
        _known(witness.drift_ppm),
        witness.io_wq_workers,
        witness.min_complete,
        kinds,
    )


def _known(value: float | None) -> Value:
    return UNKNOWN if value is None else value


def _granted(answers: list[StepResult]) -> Facts:
    """Return what carried the I/O, the clocks, and what the kernel granted, over all steps."""
    witnesses = [answer.witness for answer in answers if answer.witness is not None]
    clocks = dict.fromkeys(witness.clock for witness in witnesses)
    techniques = dict.fromkeys(name for witness in witnesses for name in witness.techniques)
    backends = Counter(witness.backend for witness in witnesses if witness.backend)
    served = (say("{name} (steps: {n})", name=name, n=n) for name, n in backends.items())
    rows = (
        ("Backend", listed(served) or UNKNOWN),
        ("Clock", ", ".join(clocks) or UNKNOWN),
        ("Techniques", ", ".join(techniques) or ("none" if witnesses else UNKNOWN)),
    )
    return Facts(caption="Engine", rows=rows)
