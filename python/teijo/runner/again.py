"""A simulated run carried out again from its settings and seed, and held against its record."""

from collections.abc import Iterable
from typing import Final

from teijo.device.device import Device
from teijo.document.phrase import say
from teijo.errors import HostError, Interrupted, TeijoError
from teijo.methods.method import AnyMethod
from teijo.runfile.codec import differing, rows_of
from teijo.runfile.proof.flaw import Check, Flaw, Flaws
from teijo.runner.drive import carry_out, seed_of
from teijo.runner.events import Observer, StepStarted
from teijo.runner.interrupt import Interrupt
from teijo.runner.replay import check_identity
from teijo.runner.stage import Stage
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import Gap, StepResult

_OF_THE_BEGINNING: Final = frozenset(
    {RemarkKind.SIMULATED, RemarkKind.CAPACITY_SCALED, RemarkKind.DEVIATION}
)
"""What is said of a run before its first step, and follows from device and settings."""


def replayed(
    record: Record, method: AnyMethod, device: Device, observer: Observer, interrupt: Interrupt
) -> Flaws:
    """Give each step of a record that a device answers otherwise when it is asked again.

    The device is one that gives the same answers to the same steps, and fresh. What it answers
    now is what later steps build on, so that a number changed in one place gives one remark. It
    stops before a step that somebody ended early: no setting says at which moment.

    Raises:
        IdentityError: it is not the device of the record.
        Interrupted, KeyboardInterrupt: somebody asked to stop.
        HostError: this machine cannot carry it out.
    """
    assert device.replayable
    check_identity(record, device)
    yield from _beginning(record, method, device)
    stage = Stage(
        device=device,
        observer=observer,
        interrupt=interrupt,
        run_seed=record.run.seed,
        origin_ns=device.session.now_ns(),
        replaying=True,
        ceilings=device.session.ceilings(),
    )
    with interrupt.listening():
        for exchange in record.steps:
            interrupt.check()
            if exchange.ended_early:
                break
            own = _answer(stage, exchange)
            if isinstance(own, str):
                yield _flaw(own, exchange.seq)
                return
            apart = differing(rows_of(exchange.answer), rows_of(own))
            if apart:
                text = say("the simulation answers otherwise: {names}", names="; ".join(apart))
                yield _flaw(text, exchange.seq)
            stage.settle(exchange.step, own)
        device.session.finish()


def _beginning(record: Record, method: AnyMethod, device: Device) -> Flaws:
    """Give the remarks of the beginning that are missing, or there without a reason."""
    settings = method.settings_from(record.run.settings)
    due = {*device.remarks(), *method.deviations(settings, record.geometry)}
    recorded = {each for each in record.remarks if each.step is None}
    for remark in _in_order(due - recorded):
        yield _flaw(say("the remark {kind} is missing: {text}", **_words(remark)))
    for remark in _in_order(each for each in recorded - due if each.kind in _OF_THE_BEGINNING):
        yield _flaw(say("the remark {kind} has no reason: {text}", **_words(remark)))


def _in_order(remarks: Iterable[Remark]) -> list[Remark]:
    return sorted(remarks, key=lambda each: (each.kind, each.text))


def _words(remark: Remark) -> dict[str, str]:
    return {"kind": remark.kind.value, "text": remark.text}


def _answer(stage: Stage, exchange: StepRecord) -> StepResult | str:
    """Return what a recorded step is answered now, or why it cannot be."""
    answer, step, seq = exchange.answer, exchange.step, exchange.seq
    if isinstance(answer, Gap):
        return "it did not take place, and every step of a simulated run does"
    stage.observer(StepStarted(seq=seq, step=step, replayed=True, recorded_ns=answer.elapsed_ns))
    try:
        return carry_out(stage, seq, step, seed_of(stage, seq, step)).result
    # A person or this host ended it, which says nothing of the record.
    except (Interrupted, HostError):
        raise
    except TeijoError as error:
        return say("it cannot be carried out: {why}", why=error.message)


def _flaw(text: str, step: int | None = None) -> Flaw:
    return Flaw(check=Check.REPLAY, text=text, step=step)
