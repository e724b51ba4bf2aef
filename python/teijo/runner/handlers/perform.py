"""Perform: operations on files or statements, each timed by what carries them out."""

from dataclasses import replace

from teijo.device.simulated import SimulatedDevice
from teijo.device.working import WorkingDevice
from teijo.engine.content import content_of_files
from teijo.engine.session import Progress as Look
from teijo.errors import PlanError
from teijo.runner.events import Progress
from teijo.runner.stage import Outcome, Stage
from teijo.terms.census import Census
from teijo.terms.result import StepResult
from teijo.terms.step import Perform
from teijo.terms.work import FileIo
from teijo.units import NS_PER_S, megabytes_per_second, per_second

_LOOK_NS = NS_PER_S // 4


def perform(stage: Stage, seq: int, step: Perform, seed: int) -> Outcome:
    """Do the work, as far as nobody asks to stop.

    Raises:
        PlanError: the target has blocks, and no files or statements.
        HostError: the memory cannot be limited as the step asks.
        Interrupted: somebody asked to stop; what was done is not counted.
        DeviceError: what carries the work out can go no further.
    """
    device = stage.device
    if not isinstance(device, WorkingDevice | SimulatedDevice):
        raise PlanError(
            f"{device.identity.target} cannot do this work: {step.work.kind}",
            remedy="Name a target that can.",
        )
    held = stage.memory.hold(step.memory_bytes)
    hits = stage.memory.hits()
    started_ns = next_look_ns = stage.now_ns()

    def look(done: int, now: Look | None = None, /) -> bool:
        nonlocal next_look_ns
        if now is not None and now.finished:
            # At each look, so that a kill loses about a second of a long step.
            stage.recorder.append(seq, now.finished)
        # A clock of virtual time belongs to the work as long as that goes on.
        virtual = now if device.replayable else None
        now_ns = started_ns + virtual.elapsed_ns if virtual else stage.now_ns()
        if now_ns >= next_look_ns:
            next_look_ns = now_ns + _LOOK_NS
            stage.interrupt.look()
            counted = now or Look(elapsed_ns=now_ns - started_ns, ios=done, bytes=0, errors=0)
            stage.observer(_progress(seq, step, counted))
        return not stage.interrupt.requested

    done = device.perform(step.work, seed, look)
    ended_ns = stage.now_ns() - done.cleared_ns
    stage.interrupt.check()
    if done.elapsed_ns is not None:
        # What was made ready before the operations is no part of their time.
        started_ns = max(started_ns, ended_ns - done.elapsed_ns)
    elapsed_ns = ended_ns - started_ns if done.elapsed_ns is None else done.elapsed_ns
    failure = {"failure": done.failure} if done.failure else {}
    if held:
        held["memory_limit_hits"] = str(max(0, stage.memory.hits() - hits))
    result = StepResult(
        started_ns=started_ns,
        elapsed_ns=elapsed_ns,
        gap_ns=stage.gap_ns(started_ns),
        results=done.results,
        detail={**done.detail, **held, **failure},
        census=_with_content(done.census, step, seed),
    )
    return Outcome(result=result, failure=done.failure)


def _with_content(found: tuple[Census, ...], step: Perform, seed: int) -> tuple[Census, ...]:
    """Return the census of a work, with what was written beside where it was written."""
    work = step.work
    if not isinstance(work, FileIo):
        return found
    return tuple(replace(each, content=content_of_files(work, seed)) for each in found)


def _progress(seq: int, step: Perform, now: Look) -> Progress:
    rate, mb_s = (
        per_second(now.ios, now.elapsed_ns),
        megabytes_per_second(now.bytes, now.elapsed_ns),
    )
    return Progress(
        seq=seq,
        step=step,
        elapsed_ns=now.elapsed_ns,
        share=min(1.0, now.ios / max(1, step.work.count)),
        ios=now.ios,
        bytes=now.bytes,
        errors=now.errors,
        iops_now=rate,
        mb_s_now=mb_s,
        iops=rate,
        mb_s=mb_s,
    )
