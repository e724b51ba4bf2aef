"""Each event of a run as one JSON object: for a program that reads along, and for a browser."""

from dataclasses import asdict

from teijo.runner import events
from teijo.terms.result import StepResult
from teijo.terms.step import Measure, Step
from teijo.units import megabytes_per_second


def as_json(event: events.Event) -> dict[str, object]:
    """Return an event as one JSON object; times in ns on the run's clock, sizes in bytes."""
    match event:
        case events.HookNamed(hook=hook):
            program = {"argv": list(hook.argv), "program": hook.program, "digest": hook.digest}
            return {"event": "hook", **program}
        case events.LayingOut():
            return {"event": "laying_out", **asdict(event)}
        case events.RunStarted():
            return {
                "event": "run_started",
                "run": event.run.id,
                "method": event.run.method,
                "spec": event.run.spec,
                "target": event.identity.target,
                "model": event.identity.model,
                "capacity_bytes": event.geometry.capacity_bytes,
                "path": str(event.path),
                "resumed": event.resumed,
                # In virtual time it is not what a person waits.
                "ahead": None if event.ahead is None or event.virtual else asdict(event.ahead),
            }
        case events.StepStarted():
            return step_json("step_started", event.seq, event.step) | {"replayed": event.replayed}
        case events.Progress():
            return step_json("progress", event.seq, event.step) | {
                "share": round(event.share, 4),
                "elapsed_ns": event.elapsed_ns,
                "ios": event.ios,
                "bytes": event.bytes,
                "errors": event.errors,
                "iops_now": round(event.iops_now, 1),
                "mb_s_now": round(event.mb_s_now, 2),
                "temperature_kelvin": event.temperature_kelvin,
            }
        case events.Purging():
            return step_json("purging", event.seq, event.step) | {"share": round(event.share, 4)}
        case events.StepDone():
            return step_json("step_done", event.seq, event.step) | answer_json(event.answer)
        case events.Judged():
            watch = event.watch
            return {
                "event": "judged",
                "phase": watch.phase,
                "round": watch.round_number,
                "rounds_least": watch.rounds_least,
                "rounds_most": watch.rounds_most,
                "steady": watch.steady,
                "remaining_ns_least": watch.remaining_ns_least,
                "remaining_ns_most": watch.remaining_ns_most,
                "remaining_bytes": watch.remaining_bytes,
                "rounds_left": None if watch.rounds_left is None else asdict(watch.rounds_left),
            }
        case events.Remarked():
            remark = event.remark
            return {
                "event": "remark",
                "kind": remark.kind.value,
                "text": remark.text,
                "step": remark.step,
            }
        case events.Stopping():
            return {"event": "stopping", "signal": event.signal}
        case events.Ended():
            return {
                "event": "ended",
                "ending": event.ending,
                "path": str(event.path),
                "error": event.error,
            }


def step_json(name: str, seq: int, step: Step) -> dict[str, object]:
    """Return what every event about a step says."""
    place: dict[str, object] = {"event": name, "seq": seq, "kind": step.kind, "phase": step.phase}
    if isinstance(step, Measure):
        place |= {"round": step.round_number, "cell": step.cell}
    return place


def answer_json(answer: object) -> dict[str, object]:
    """Return the numbers of an answer, or that the step did not take place."""
    if not isinstance(answer, StepResult):
        return {"gap": True}
    return {
        "gap": False,
        "elapsed_ns": answer.elapsed_ns,
        "ios": answer.ios,
        "bytes": answer.bytes,
        "iops": round(answer.iops, 1),
        "mb_s": round(megabytes_per_second(answer.bytes, answer.elapsed_ns), 2),
    }
