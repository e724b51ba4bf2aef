"""What must hold after each life, whatever befell it; that a run ends at all is world.py's.

A step that was acknowledged is in the file, as it was told. A sealed file is whole, and finds what
an undisturbed run finds, or holds what the drive did, each disturbance named. The exit code fits,
nothing is written without a claim, nothing left behind blocks, and no time is absurd.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from teijo.errors import HostError, RunFileError
from teijo.methods.parts import findings_of
from teijo.runfile import reader
from teijo.runner.events import StepDone
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Measure, Precondition, Purge

if TYPE_CHECKING:
    from tests.world.life import Story
    from tests.world.world import World

CODES: Final = frozenset({0, 2, 3, 4, 5, 6, 7, 8})
BY_SIGNAL: Final = frozenset({-1, -2, -9, -15, 130})
OF_A_LIFE: Final = frozenset({"resumed", "results disk", "clock stepped", "record cut short"})
"""What a disturbed run may say beyond what an undisturbed one says."""
SLEEP_NS_SEEN: Final = 10_000_000
DAY_NS: Final = 86_400 * 10**9
FORBIDDEN: Final = ("Traceback (most recent call last)", "Teijo itself failed", "panicked at")
HOST_FAULTS: Final = frozenset({"EIO", "ENOSPC", "ENOMEM", "EINTR", "short write", "lost fsync"})


class Broken(Exception):
    """Something did not hold; `kind` is which."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


@dataclass
class Past:
    """What the world knows of the lives so far that was not read from the run file."""

    acknowledged: dict[int, StepDone] = field(default_factory=dict)
    done: list[tuple[Any, ...]] = field(default_factory=list)
    run_id: str = ""
    lives: int = 0
    """Lives in which this run was under way."""
    slept_lives: int = 0
    faults: list[str] = field(default_factory=list)

    def hear(self, story: "Story") -> None:
        """Take over what one life told."""
        if story.run_id and story.run_id != self.run_id:
            self.__init__()  # type: ignore[misc]
            self.run_id = story.run_id
        self.lives += bool(story.run_id)
        self.acknowledged.update({event.seq: event for event in story.acknowledged})
        self.done += story.done
        self.faults += story.faults


def judge_life(world: "World", story: "Story", *, lost_power: bool) -> None:
    """Judge what one life left behind. `lost_power`: the disk lied and then lost what it had.

    Raises:
        Broken: it is not as it must be.
    """
    if story.crash:
        raise Broken("crash", story.crash)
    for word in FORBIDDEN:
        if word in story.text:
            raise Broken("traceback", story.text[-3000:])
    if story.violations:
        raise Broken("unclaimed write", "; ".join(story.violations))
    _judge_code(world, story)
    path = world.sealed if world.sealed.exists() else world.open
    if not path.exists():
        if world.past.acknowledged and not lost_power:
            world.played.steps_lost += len(world.past.acknowledged)
            raise Broken("steps lost", f"{len(world.past.acknowledged)} steps, and no file")
        if story.code == 0:
            raise Broken("exit code", "0, and no file")
        _judge_debris(world, story)
        return
    record = _read(world, path, story, lost_power=lost_power)
    if record is not None:
        _judge_kept(world, record, lost_power=lost_power)
        _judge_times(record)


def _judge_code(world: "World", story: "Story") -> None:
    code = story.code
    if code not in CODES | BY_SIGNAL:
        raise Broken("exit code", f"{code} is none of the tree\n{story.text[-2000:]}")
    if code == 0 and not world.sealed.exists() and not world.disk.head.lying:
        raise Broken("exit code", f"0 without a sealed file\n{story.text[-2000:]}")
    if code > 1 and code not in (130,) and "error" not in story.text:
        raise Broken("exit code", f"{code} without a word: {story.text[-2000:]!r}")
    befell = set(story.faults) | {
        fault.kind for fault in world.schedule.of(world.played.lives, "disk", "before")
    }
    if code == 6 and not befell & HOST_FAULTS and not world.disk.head.lying:
        raise Broken("exit code", f"6 where the host did nothing\n{story.text[-2000:]}")
    if code == 7 and not befell & {"SIGINT", "SIGINT twice", "SIGTERM", "SIGHUP"}:
        raise Broken("exit code", f"7 where nobody asked to stop\n{story.text[-2000:]}")
    if code in (3, 4) and world.schedule.shape.kind == "simulated":
        raise Broken("exit code", f"{code} on a simulated device\n{story.text[-2000:]}")


def _judge_debris(world: "World", story: "Story") -> None:
    """Without a run file nothing may be left that keeps the name from the next run."""
    left = sorted(item.name for item in world.disk.folder.iterdir())
    world.played.story += [f"  left: {left}"] if left else []
    del story


def _read(world: "World", path: Any, story: "Story", *, lost_power: bool) -> Record | None:
    try:
        return reader.read(path)
    except RunFileError as error:
        if lost_power:
            world.forget(f"{error.message}")
            return None
        if world.past.acknowledged:
            raise Broken("steps lost", f"{path.name} cannot be read: {error}") from error
        if path == world.sealed:
            world.played.sealed_wrong += 1
            raise Broken("sealed wrong", f"{error}") from error
        del story
        return None  # made, and no step in it yet: the next life must find its way
    except HostError as error:
        raise Broken("reading", f"{error}") from error


def _is_kept(answer: StepResult | Gap, told: StepResult | Gap, *, last: bool) -> bool:
    """Tell whether an answer is the one that was told.

    With the last one stands what the drive itself counted by the run's end, and warned of then.
    """
    if last and isinstance(answer, StepResult) and isinstance(told, StepResult):
        kept = told.health_after.items() <= answer.health_after.items()
        first = answer.remarks[: len(told.remarks)] == told.remarks
        answer = replace(answer, health_after=told.health_after, remarks=told.remarks)
        return kept and first and answer == told
    return answer == told


def _judge_kept(world: "World", record: Record, *, lost_power: bool) -> None:
    there = {each.seq: each for each in record.steps}
    for seq, event in world.past.acknowledged.items():
        kept = there.get(seq)
        if kept is None:
            if lost_power or world.disk.head.lying:
                continue
            world.played.steps_lost += 1
            raise Broken("steps lost", f"step {seq} was acknowledged and is not in the file")
        last = kept is record.steps[-1]
        if kept.step != event.step or not _is_kept(kept.answer, event.answer, last=last):
            world.played.sealed_wrong += 1
            raise Broken("step changed", f"step {seq} is not what was acknowledged")
    if [each.seq for each in record.steps] != list(range(1, len(record.steps) + 1)):
        raise Broken("steps lost", f"step numbers {[each.seq for each in record.steps]}")
    if lost_power:
        world.past.acknowledged = {
            seq: event for seq, event in world.past.acknowledged.items() if seq in there
        }


def _judge_times(record: Record) -> None:
    ended_ns = 0
    for each in record.steps:
        if isinstance(each.answer, Gap):
            continue
        answer = each.answer
        for name, value in (("elapsed", answer.elapsed_ns), ("gap", answer.gap_ns)):
            if not 0 <= value < DAY_NS:
                raise Broken("time", f"step {each.seq}: {name} of {value} ns")
        if answer.started_ns + 1 < ended_ns:
            raise Broken("time", f"step {each.seq} began before step {each.seq - 1} ended")
        ended_ns = answer.started_ns + answer.elapsed_ns


def judge_sealed(world: "World", story: "Story") -> None:
    """Judge a sealed file.

    Raises:
        Broken: it is not as it must be.
    """
    try:
        record = reader.read(world.sealed)
        findings = findings_of(record)
    except RunFileError:
        if world.disk.head.lying:
            return
        raise
    try:
        if not world.open.exists():
            left = sorted(item.name for item in world.disk.folder.iterdir())
            strange = [
                name
                for name in left
                if name.startswith(f"{world.name}.")
                and name not in (world.sealed.name, f"{world.name}.txt")
            ]
            # What the disk would not remove may stay: the next run of this name removes it.
            if strange and story.code == 0 and not set(story.faults) & HOST_FAULTS:
                raise Broken("debris", f"beside the sealed file: {strange}")
        _judge_remarks(world, record)
        if world.schedule.shape.kind == "simulated":
            _judge_replayed(world, record, findings)
        else:
            _judge_told(world, record)
    except Broken:
        world.played.sealed_wrong += 1
        raise


def _judge_replayed(world: "World", record: Record, findings: Any) -> None:
    """Judge a device that answers the same again: only what is said of the stops may differ."""
    whole = world.reference
    assert whole is not None
    if record.steps != whole.record.steps:
        raise Broken("sealed wrong", "its steps are not those of the undisturbed run")
    if findings != whole.findings:
        raise Broken("sealed wrong", "its findings are not those of the undisturbed run")
    if record.run.ending != whole.record.run.ending:
        raise Broken("sealed wrong", f"ending {record.run.ending} {record.run.error!r}")
    said, expected = _said(record.remarks), _said(whole.record.remarks)
    if said != expected:
        raise Broken("sealed wrong", f"remarks {said ^ expected}")


def _said(remarks: tuple[Remark, ...]) -> set[tuple[str, str, int | None]]:
    return {
        (one.kind.value, one.text, one.step) for one in remarks if one.kind.value not in OF_A_LIFE
    }


def _judge_told(world: "World", record: Record) -> None:
    """Judge one that does not: each answer is what the drive did, in order, each at most once."""
    laps = [frame[1] for frame in world.past.done if frame[0] == "lap"]
    place = 0
    for each in record.steps:
        if isinstance(each.answer, Gap) or not isinstance(each.step, Measure | Precondition):
            continue
        mine = _in_plain_numbers(each.answer)
        while place < len(laps) and laps[place]["parts"] != mine["parts"]:
            place += 1
        if place == len(laps):
            raise Broken("sealed wrong", f"step {each.seq} is not what the drive did: {mine}")
        if laps[place]["elapsed_ns"] != mine["elapsed_ns"]:
            raise Broken("sealed wrong", f"step {each.seq} took {laps[place]['elapsed_ns']} ns")
        failed = laps[place]["failure"]
        last = each.seq == record.steps[-1].seq
        if failed and not (last and record.run.ending == "failed"):
            raise Broken("sealed wrong", f"step {each.seq} failed, and the run went on")
        place += 1


def _in_plain_numbers(answer: StepResult) -> dict[str, Any]:
    return {
        "elapsed_ns": answer.elapsed_ns,
        "parts": [
            (
                part.stream, part.operation, part.count, part.bytes, sorted(part.errors.items()),
                part.latency.sum_ns, part.latency.min_ns, part.latency.max_ns,
                part.latency.counts.tolist(),
                [] if part.intervals is None else part.intervals.ios.tolist(),
            )
            for part in answer.results
        ],
    }  # fmt: skip


def _judge_remarks(world: "World", record: Record) -> None:
    """No clean verdict with a disturbance that nothing tells."""
    kinds = [remark.kind for remark in record.remarks]
    ended = record.run.ending
    if world.past.lives > 1 and RemarkKind.RESUMED not in kinds and world.resumed:
        raise Broken("not told", "the run was taken up again, and no remark says so")
    errors = 0
    for each in record.steps:
        if not isinstance(each.answer, StepResult):
            continue
        failed = sum(sum(part.errors.values()) for part in each.answer.results)
        told = RemarkKind.IO_ERRORS in [one.kind for one in each.answer.remarks]
        errors += failed
        if bool(failed) != told and isinstance(each.step, Measure | Precondition):
            raise Broken("not told", f"step {each.seq}: {failed} failed I/Os, remark {told}")
    if RemarkKind.INTERRUPTED in kinds and ended != "interrupted":
        raise Broken("not told", "a finished run says that it was interrupted")
    slept = world.slept and world.schedule.shape.kind != "simulated"
    if slept and RemarkKind.CLOCK_STEPPED not in kinds:
        raise Broken("not told", "the host slept between two steps, and no remark says so")
    jumps = [one for one in record.remarks if one.text.startswith("The clock was set ")]
    if world.clock_set and not jumps:
        raise Broken("not told", "the clock was set during the run, and no remark says so")
    gaps = [each for each in record.steps if isinstance(each.answer, Gap)]
    if len(gaps) > world.past.lives - 1:
        raise Broken("sealed wrong", f"{len(gaps)} gaps in {world.past.lives} lives")
    for each in record.steps:
        purged = isinstance(each.step, Purge) and isinstance(each.answer, StepResult)
        if purged and not each.answer.detail.get("method"):  # type: ignore[union-attr]
            raise Broken("not told", f"step {each.seq}: how it was purged")
    # One that failed in the end may be gone, and cannot be asked.
    if world.warned and ended != "failed" and RemarkKind.DRIVE_WARNS not in kinds:
        raise Broken("not told", "the drive warned during the run, and no remark says so")
