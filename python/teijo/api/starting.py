"""A run that goes on beside the program that began it: started, watched, stopped by a handle."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypedDict, Unpack

from teijo.api import acting
from teijo.api.reading import Run
from teijo.device import Survey
from teijo.device.sessions import Engine
from teijo.runner.running import Running


class _Options(TypedDict, total=False):
    """What `run` and `resume` both take."""

    destroy: str | None
    overwrite: bool
    max_drive_writes: float | None
    accept_warnings: Sequence[str]
    hook: str | None
    limits: Sequence[str]
    io_timeout_ns: int


class ResumeOptions(_Options, total=False):
    """What `resume` takes beside the path; see there."""

    server: str | None


class RunOptions(_Options, total=False):
    """What `run` takes beside method, target and output; see there."""

    spec: str
    settings: Mapping[str, str] | None
    seed: int | None
    engine: Engine
    hold: bool
    notes: Mapping[str, str] | None
    group: Mapping[str, str] | None


def start(
    method: str, target: str | Survey, *, output: Path | str, **options: Unpack[RunOptions]
) -> Running[Run]:
    """Begin a run as `run` does, in a thread of its own, and return its handle.

    What is wrong with it is raised by the handle's `result`.
    """
    return Running(partial(acting.run, method, target, output=output, **options))


def start_resume(path: Path | str, **options: Unpack[ResumeOptions]) -> Running[Run]:
    """Carry on a run as `resume` does, in a thread of its own, and return its handle."""
    return Running(partial(acting.resume, path, **options))
