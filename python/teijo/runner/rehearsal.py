"""A run rehearsed on paper: the record that a drive which settles would leave, at assumed rates."""

from teijo.methods.method import AnyMethod
from teijo.methods.settings import Settings
from teijo.runner.drive import Conversation
from teijo.runner.paper import Paper, Rates, settling
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.record import Record, RunInfo, StepRecord

_STEPS_MOST = 20_000
"""What a run finds is known by then; a longer one is rehearsed so far."""


def rehearsed(method: AnyMethod, settings: Settings, geometry: Geometry) -> Record:
    """Return the record of a method on a device on paper; its figures mean nothing."""
    conversation = Conversation(method.steps(settings, geometry))
    paper = Paper(capacity_bytes=geometry.capacity_bytes, rates=Rates(), share=settling)
    steps: list[StepRecord] = []
    while conversation.step is not None and len(steps) < _STEPS_MOST:
        step = conversation.step
        answer = paper.carry_out(step)
        steps.append(StepRecord(seq=len(steps) + 1, step=step, seed=0, answer=answer))
        conversation.answer(answer)
    run = RunInfo(
        id="",
        method=method.id,
        spec=settings.spec,
        settings=settings.model_dump(mode="json"),
        seed=0,
        engine="",
        version="",
        started_at="",
        ending="done",
    )
    return Record(
        run=run,
        geometry=geometry,
        identity=Identity(kind="simulated", target="on paper"),
        environment={},
        steps=tuple(steps),
    )
