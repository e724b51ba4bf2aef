"""What the record shows of preconditioning: how much, where, and how soon the test followed."""

from collections.abc import Sequence

from teijo import units
from teijo.analysis import measures
from teijo.conformance.offsets import Course
from teijo.conformance.requirement import Case, Check, Found, Measured, Stretch
from teijo.conformance.verdicts import digits_beside, judging, met_if, pause, untold
from teijo.conformance.versions import PRECONDITION_TIMES
from teijo.document.phrase import joined, say
from teijo.terms.result import StepResult

VOLUME_SHARE_MOST = 1.01
DEVICE_COUNTERS = ("host_writes_bytes", "kernel_write_bytes")


def _preconditioned(check: Check) -> Check:
    """Make a check of what tests were preconditioned with: a test without it deviates."""

    def checked(case: Case) -> Found:
        if any(each.measured and not each.preconditioned for each in case.stretches):
            return met_if(False, "nothing was written before the test")
        return check(case) if case.preconditioned else untold("not yet")

    return checked


@_preconditioned
def volume(case: Case) -> Found:
    """Judge whether twice the user capacity was written, by all threads together."""
    capacity = case.record.geometry.capacity_bytes
    grain = case.record.geometry.physical_block_bytes
    # A range is cut to whole physical blocks, so what is left of the last one is not written.
    least = PRECONDITION_TIMES * (capacity // grain * grain)
    written = [measures.written_bytes(answer) for _, _, answer in case.preconditioned]
    shares = [each / capacity for each in written]
    digits = digits_beside(((share, PRECONDITION_TIMES) for share in shares), least=4)
    times = joined(say("{times:.{digits}f}", times=share, digits=digits) for share in shares)
    text = say("{bytes:,} B written: {times} × the user capacity", bytes=sum(written), times=times)
    holds = all(least <= each <= least * VOLUME_SHARE_MOST for each in written)
    return met_if(holds, _with_counters(text, case, sum(written)))


@_preconditioned
def coverage(case: Case) -> Found:
    """Judge whether every LBA of the range was written, none twice before all once."""
    # Courses are of all steps, of stretches too that were broken off and do not count.
    counted = {record.seq for record, _, _ in case.preconditioned}
    found = [each for each in case.courses if each.is_precondition and each.seq in counted]
    if len(found) < len(counted):
        return untold("the record has no cursor of the preconditioning")
    failed = sum(measures.errors_of(answer) for _, _, answer in case.preconditioned)
    text = joined(dict.fromkeys(_passes(each) for each in found))
    if failed:
        return met_if(False, say("{told}; {count} writes failed", told=text, count=failed))
    whole = all(each.in_order and each.moved_bytes >= each.range_bytes for each in found)
    return met_if(whole, text)


@_preconditioned
def block_and_order(case: Case) -> Found:
    """Judge whether it was sequential writes of the block size the version asks for."""
    words, holds = [], True
    for stretch in case.stretches:
        for _, step, answer in stretch.preconditioned:
            (stream,) = step.workload.streams
            reads = sum(part.count for part in answer.of("read"))
            mean = answer.bytes / answer.ios if answer.ios else 0.0
            asked = _block_asked(case, stretch)
            holds &= stream.access == "sequential" and not reads
            # The last block before a range's end may be a shorter one.
            holds &= abs(mean - asked) <= 0.005 * asked
            words.append(
                say(
                    "{ios:,} writes of {kib:,.3f} KiB on average, {reads:,} reads",
                    ios=answer.ios - reads,
                    kib=mean / units.KIB,
                    reads=reads,
                )
            )
    return met_if(holds, joined(dict.fromkeys(words)))


def block_asked(case: Case) -> str:
    """Return the block size of the preconditioning as the version has it."""
    fixed = case.version.throughput.precondition_block_bytes
    if case.record.run.method == "pts.tp" and fixed is None:
        return "sequential, in the test's own block size"
    return "sequential, 128 KiB"


def _block_asked(case: Case, stretch: Stretch) -> int:
    fixed = case.version.throughput.precondition_block_bytes
    if case.record.run.method != "pts.tp":
        return 128 * units.KIB
    if fixed is not None:
        return fixed
    (_, step, _), *_ = stretch.measured or stretch.preconditioned
    return step.workload.streams[0].block_size_bytes


@_preconditioned
def no_delay(case: Case) -> Found:
    """Judge whether the test began as soon as the preconditioning ended."""
    pauses = [pause for stretch in case.stretches for pause in _pauses(stretch)]
    if not pauses:
        return untold("not yet")
    if any(pause is None for pause in pauses):
        return met_if(False, "the run was interrupted between the two, for an unknown time")
    longest_ns = max(pause for pause in pauses if pause is not None)
    text = say(
        "{ms:,.{digits}f} ms without I/O (this program's limit: {limit:,.{digits}f} ms)",
        **pause(case, longest_ns),
    )
    return met_if(longest_ns < case.rest_ns_most, text)


@judging(lambda case: case.measured)
def none_asked(case: Case, _: Sequence[Measured]) -> Found:
    """Judge whether nothing was written between the purge and the test."""
    last = case.stretches[-1]
    seq = last.measured[0][0].seq if last.measured else 0
    before = sum(
        measures.written_bytes(each.answer)
        for each in last.steps
        if isinstance(each.answer, StepResult) and each.seq < seq
    )
    text = say("{bytes:,} B written between the purge and the first minute", bytes=before)
    return met_if(before == 0, text)


def _passes(course: Course) -> str:
    if not course.in_order:
        return say(
            "began at {start:,}, ended at {end:,} of {range:,} B after {moved:,} B: not in order",
            start=course.start_bytes,
            end=course.end_bytes,
            range=course.range_bytes,
            moved=course.moved_bytes,
        )
    return say(
        "{passes:.4f} passes over {range:,} B from {start:,}: the cursor ended at {end:,}, where "
        "it must after {moved:,} B in order",
        passes=course.passes,
        range=course.range_bytes,
        start=course.start_bytes,
        end=course.end_bytes,
        moved=course.moved_bytes,
    )


def _pauses(stretch: Stretch) -> Sequence[int | None]:
    """Return the rest after each preconditioning, None where an interruption fell in it."""
    following = (
        next((each for each in stretch.steps if each.seq > record.seq), None)
        for record, _, _ in stretch.preconditioned
    )
    return [
        each.answer.rest_ns if isinstance(each.answer, StepResult) else None
        for each in following
        if each is not None
    ]


def _with_counters(text: str, case: Case, written: int) -> str:
    answers = [answer for _, _, answer in case.preconditioned]
    for counter in DEVICE_COUNTERS:
        counted = measures.counted(answers, counter)
        if counted is not None and written:
            return say(
                "{told}; the device counted {share:.4f} of that",
                told=text,
                share=counted / written,
            )
    return text
