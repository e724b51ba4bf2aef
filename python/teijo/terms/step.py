"""What a method asks for, one step at a time. The set is closed: a new kind is a new handler.

`part` names the test a step belongs to where a run is made of several; else it is empty.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Discriminator, TypeAdapter

from teijo import units
from teijo.terms.purge import AUTO
from teijo.terms.work import PerformedWork, Work
from teijo.terms.workload import Workload

ROUND = "round"
MINUTE = "minute"
HISTOGRAM = "histogram"
"""Phases that several methods have: a round's cell, a minute of a continuous stimulus, and the run
for the response-time histogram.
"""


@dataclass(frozen=True, kw_only=True)
class Purge:
    """Put the device in the state "never written" (FOB). A device that cannot says so.

    `method` is one of `terms.purge.METHODS`, AUTO (the surest that asks for no more than this
    device) or NONE (the state it is in is the one that is wanted).
    """

    phase: str = "purge"
    part: str = ""
    kind: Literal["purge"] = "purge"
    method: str = AUTO


@dataclass(frozen=True, kw_only=True)
class Precondition:
    """Move `total_bytes`, however long that takes: writes that condition the device (WIPC).

    A free workload that ends after so many bytes is one too, and so is a reading back.
    """

    workload: Workload
    total_bytes: int
    phase: str = "precondition"
    part: str = ""
    kind: Literal["precondition"] = "precondition"

    @property
    def work(self) -> Work:
        """What the target is to do."""
        return self.workload


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Drive a workload for a time and measure it.

    `round_number` counts from 1; `cell` names the place in the round's matrix
    ("65/35 4 KiB"). `continues` asks for the same stimulus as the step before, without a gap:
    its I/O stays in flight between the two steps. `open_ended` lets a next step do so.
    `interval_ns` is the length of an interval of its time series.
    """

    workload: Workload
    duration_ns: int
    phase: str = "measure"
    round_number: int | None = None
    cell: str | None = None
    continues: bool = False
    open_ended: bool = False
    interval_ns: int = units.NS_PER_S
    part: str = ""
    ends_early: bool = False
    """Whoever asks to stop ends it where it is, and what was measured until then is its answer."""
    kind: Literal["measure"] = "measure"

    @property
    def work(self) -> Work:
        """What the target is to do."""
        return self.workload


@dataclass(frozen=True, kw_only=True)
class Idle:
    """Leave the device alone for a time."""

    duration_ns: int
    phase: str = "idle"
    round_number: int | None = None
    part: str = ""
    kind: Literal["idle"] = "idle"


@dataclass(frozen=True, kw_only=True)
class Configure:
    """Put the device in another configuration; what follows is measured on that.

    `settings` are names and values, as a person reads them and a hook is given them. `device` is
    the simulated device that takes the place of the present one (a `sim:` text), "" the present
    one made anew; it is always fresh. `hook` is the program, with its arguments, that applies the
    settings to a real target while nobody holds it; empty for none. A device is either simulated
    and takes a `device`, or real and takes a `hook`.
    """

    settings: tuple[tuple[str, str], ...]
    device: str = ""
    hook: tuple[str, ...] = ()
    timeout_ns: int = 600_000_000_000
    phase: str = "configure"
    round_number: int | None = None
    cell: str | None = None
    part: str = ""
    kind: Literal["configure"] = "configure"

    @property
    def text(self) -> str:
        """The settings in one line: "chunk=64KiB, cache=WB"; "as it is" where there are none."""
        return ", ".join(f"{name}={value}" for name, value in self.settings) or "as it is"


@dataclass(frozen=True, kw_only=True)
class Perform:
    """Do a number of operations on files or of statements, and time each.

    It ends when all are done, however long that takes. `round_number` and `cell` are as in
    `Measure`, which does the same with blocks for a time.
    """

    work: Annotated[PerformedWork, Discriminator("kind")]
    phase: str = "measure"
    round_number: int | None = None
    cell: str | None = None
    part: str = ""
    memory_bytes: int | None = None
    """The limit of memory that the program, its page cache and its servers are held to meanwhile;
    None is no limit."""
    kind: Literal["perform"] = "perform"


Step = Purge | Precondition | Measure | Idle | Configure | Perform

_ADAPTER: TypeAdapter[Step] = TypeAdapter(Annotated[Step, Discriminator("kind")])


def step_to_json(step: Step) -> str:
    """Return the step as canonical JSON: same step, same text."""
    return _ADAPTER.dump_json(step).decode()


def step_from_json(text: str) -> Step:
    """Return the step a run file holds as JSON.

    Raises:
        pydantic.ValidationError: the text is no step of this version.
    """
    return _ADAPTER.validate_json(text)
