"""All checks of a record in their order, and what a reader learns of those that fail."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from teijo.document.phrase import say
from teijo.runfile.proof import chain, making, sums
from teijo.runfile.proof.flaw import Check, Flaw, Flaws
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import StepResult

_TOLD_MOST: Final = 5
"""Of one check: a forged file may have a flaw in each of its steps."""

_ALWAYS: Final[tuple[Callable[[Record], Flaws], ...]] = (
    chain.order_flaws,
    chain.clock_flaws,
    chain.seed_flaws,
    sums.result_flaws,
    sums.latency_flaws,
    sums.interval_flaws,
    making.depth_flaws,
    chain.cursor_flaws,
    chain.counter_flaws,
)


_APART: Final = (sums.result_flaws, sums.latency_flaws, sums.interval_flaws)
"""Those that look at each step by itself, which takes most of the time."""
OF_STEPS_APART: Final = (Check.RESULTS, Check.LATENCIES, Check.INTERVALS, Check.SELF_CHECKS)


def flaws_of(record: Record, *, checksummed: bool, clean: int = 0) -> tuple[Flaw, ...]:
    """Return what contradicts itself in a record, whichever Teijo made it.

    `checksummed` says that the file is of a version that recorded all remarks. In so many steps
    from the first as are `clean` nothing was found that a step shows by itself (`OF_STEPS_APART`):
    that is not asked again, and nothing else becomes of it.
    """
    checks = [*_ALWAYS, *([making.ending_flaws] if checksummed else [])]
    later = replace(record, steps=record.steps[clean:])
    return tuple(flaw for check in checks for flaw in check(later if check in _APART else record))


def remarks_on(flaws: Sequence[Flaw]) -> tuple[Remark, ...]:
    """Return the remarks that a reader is given: the first of each check, and how many more."""
    counts = Counter(flaw.check for flaw in flaws)
    seen: Counter[str] = Counter()
    remarks = []
    for flaw in flaws:
        seen[flaw.check] += 1
        if seen[flaw.check] <= _TOLD_MOST:
            remarks.append(
                Remark(kind=RemarkKind.RECORD_INCONSISTENT, text=flaw.text, step=flaw.step)
            )
    for check, count in counts.items():
        if count > _TOLD_MOST:
            text = say("{count} more of this kind: {check}", count=count - _TOLD_MOST, check=check)
            remarks.append(Remark(kind=RemarkKind.RECORD_INCONSISTENT, text=text))
    return tuple(remarks)


def marked(record: Record, flaws: Sequence[Flaw]) -> Record:
    """Return a record with its flaws as remarks, of the run and of the steps that have them."""
    if not flaws:
        return record
    remarks = remarks_on(flaws)
    return replace(
        record,
        steps=tuple(_marked_step(each, remarks) for each in record.steps),
        remarks=(*record.remarks, *remarks),
    )


def _marked_step(each: StepRecord, remarks: Iterable[Remark]) -> StepRecord:
    own = tuple(remark for remark in remarks if remark.step == each.seq)
    if not own or not isinstance(each.answer, StepResult):
        return each
    return replace(each, answer=replace(each.answer, remarks=(*each.answer.remarks, *own)))
