"""Precondition: write a number of bytes; how fast that went is not asked."""

from teijo.runner.compile import compile_precondition
from teijo.runner.handlers.lap import run_plan
from teijo.runner.stage import Outcome, Stage
from teijo.terms.step import Precondition


def precondition(stage: Stage, seq: int, step: Precondition, seed: int) -> Outcome:
    """Write until the bytes are written."""
    verify = stage.verify_plan(seq)
    plan = compile_precondition(step, stage.device.geometry, stage.cursors, seed, verify)
    return run_plan(stage, seq, step, plan)
