"""What a browser is told of a run: its state in words and numbers, and its course."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from teijo.api import Shelved
from teijo.methods.remark_groups import grouped
from teijo.runner.run_state import RunState
from teijo.speech.state_words import coarse, left, phase, rounds_left, steady, title
from teijo.speech.tongue import printed, said
from teijo.units import NS_PER_S, ZERO_CELSIUS_KELVIN
from teijo.web.live import Sight

Json = dict[str, Any]


def run_json(row: Shelved, folder: Path) -> Json:
    """Return a row of the list; `file` is its place in the folder, for no more is told of paths."""
    said = asdict(row.listed)
    del said["path"]
    return {"id": row.id, "file": str(row.listed.path.relative_to(folder)), **said}


def state_json(state: RunState) -> Json:
    """Return a state: texts in the language that is spoken, rates in IOPS and MB/s, shares 0 to 1.

    `elapsed_s` and `left_s` (least, expected, most) are seconds as a person waits.
    """
    look, span = state.progress, state.time_left
    kelvin = look.temperature_kelvin if look else None
    return {
        "title": "" if state.started is None else title(state.started),
        "ending": state.ending,
        "ending_words": said(state.ending),
        "error": said(state.error),
        "stopping": bool(state.stopping),
        "phase": phase(state) if state.ending == "running" else "",
        "round": state.round_number,
        "cell": state.cell,
        "performs": state.performs,
        "share": round(state.share, 4),
        "step_share": round(look.share, 4) if look else None,
        "iops": state.iops,
        "mb_s": state.mb_s,
        "celsius": None if kelvin is None else kelvin - ZERO_CELSIUS_KELVIN,
        "steady": steady(state),
        "forecast": rounds_left(state),
        "elapsed": coarse(state.elapsed_ns),
        "elapsed_s": state.elapsed_ns / NS_PER_S,
        "left": left(state),
        "left_s": None
        if span is None
        else [each / NS_PER_S for each in (span.least_ns, span.expected_ns, span.most_ns)],
        "remarks": [
            {
                "kind": printed(group.kind.value),
                "text": printed(group.text),
                "count": len(group.touched),
            }
            for group in grouped((each, at) for at, each in enumerate(state.remarks))
        ],
        "cells": [
            {"cell": each.cell, "round": each.round_number, "iops": each.iops, "mb_s": each.mb_s}
            for each in state.cells
        ],
    }


def course_json(sight: Sight, *, first: int = 0, levels_from: int = 0) -> Json:
    """Return the points of a course from place `first` on, and percentiles from `levels_from` on.

    A point is [start s, length s, IOPS, least, most, MB/s, errors, mean ms, most ms]; a step's
    level [start s, end s, p50, p99, p99.9 in ms].
    """
    return {
        "epoch": sight.epoch,
        "joined": sight.joined,
        "first": first,
        "levels_first": levels_from,
        "points": [
            _short(
                (
                    point.start_s,
                    point.length_s,
                    point.iops,
                    point.iops_least,
                    point.iops_most,
                    point.mb_s,
                    point.errors,
                    point.latency_ms,
                    point.latency_most_ms,
                )
            )
            for point in sight.points[first:]
        ],
        "levels": [
            _short((each.start_s, each.end_s, *each.levels_ms))
            for each in sight.levels[levels_from:]
        ],
    }


def _short(values: Sequence[float | None]) -> list[float | None]:
    """Return numbers without digits that no picture shows."""
    return [None if value is None else float(f"{value:.7g}") for value in values]
