"""When a device is asked for its own counters (SMART): at the start, by phase, and at the end.

The question takes a drive from milliseconds to seconds, and it rests meanwhile. So it is asked
where no rest and no measurement is interrupted, and between the start and the end at most once
a minute. The kernel's counters cost nothing and are read around every step. Nothing else in this
room asks a drive.
"""

from typing import Final

from teijo.device.health.tiers import recorded
from teijo.runner.events import Remarked
from teijo.runner.stage import Stage
from teijo.terms.remark import Remark
from teijo.terms.result import Health, StepResult
from teijo.terms.step import Configure, Idle, Measure, Perform, Precondition, Purge, Step
from teijo.units import NS_PER_S

APART_NS: Final = 60 * NS_PER_S
"""Between two looks while a run is under way."""


def look_before(stage: Stage, step: Step) -> Health:
    """Return the counters before a step, the device's own among them where a look is due."""
    now_ns = stage.now_ns()
    since_ns = None if stage.looked_ns is None else now_ns - stage.looked_ns
    if since_ns is not None and (since_ns < APART_NS or not _is_between_phases(stage.last, step)):
        return recorded(stage.device.free_counters())
    stage.looked_ns = now_ns
    return recorded(stage.device.free_counters(), stage.device.asked_counters())


def look_after(stage: Stage, *, has_failed: bool) -> Health:
    """Return the counters after a step; of a device that failed, its own may tell why."""
    asked = stage.device.asked_counters() if has_failed else None
    return recorded(stage.device.free_counters(), asked)


def look_at_the_end(stage: Stage, seq: int, result: StepResult) -> None:
    """Keep the device's own counters with the last step, which was answered without them."""
    found = {**stage.device.asked_counters().counts, **result.health_after}
    if found.keys() == result.health_after.keys():
        return  # it has none, or they are with every step
    remarks = [
        Remark(kind=each.kind, text=each.text, step=seq) for each in stage.new_warnings(found)
    ]
    stage.recorder.look_again(seq, found, remarks)
    for remark in remarks:
        stage.observer(Remarked(remark=remark))


def _is_between_phases(last: Step | None, step: Step) -> bool:
    """Return whether nobody measures what lies between two steps.

    A rest is measured up to the step that ends it, what follows a preconditioning follows it at
    once, and phases of one round belong together: a ramp and what it leads to. What has no round
    (a workload, and its reading back) is in none with anything else.
    """
    match step:
        case Idle():
            return False
        case Purge() | Configure() | Perform():
            return True
        case Precondition():
            return not isinstance(last, Idle)
        case Measure():
            match last:
                case None | Purge() | Configure() | Perform():
                    return True
                case Idle() | Precondition():
                    return False
                case Measure():
                    changes = (last.part, last.phase) != (step.part, step.phase)
                    rounds = (last.round_number, step.round_number)
                    return changes and (rounds == (None, None) or rounds[0] != rounds[1])
