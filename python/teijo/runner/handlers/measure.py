"""Measure: a workload for a time, on its own or as the next piece of a continuous stimulus."""

from teijo.runner.compile import compile_measure
from teijo.runner.handlers.lap import run_plan
from teijo.runner.stage import Outcome, Stage
from teijo.terms.step import Measure


def measure(stage: Stage, seq: int, step: Measure, seed: int) -> Outcome:
    """Drive the workload for its time."""
    verify = stage.verify_plan(seq)
    plan = compile_measure(step, stage.device.geometry, stage.cursors, seed, verify)
    return run_plan(stage, seq, step, plan)
