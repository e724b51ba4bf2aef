"""A simulated device: it lives in virtual time, has nothing to lose, and says what it is."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from teijo import engine as door
from teijo.device.device import Configured
from teijo.device.health.tiers import AskedCounters, FreeCounters
from teijo.device.nearest import shortened
from teijo.device.target import SimulatedTarget, parse_target
from teijo.device.watched import SILENCE_NS
from teijo.device.watched import Progress as Heard
from teijo.device.working import Look
from teijo.document.phrase import say
from teijo.engine.session import Session
from teijo.errors import PlanError, TargetError
from teijo.terms.configured import detail_of
from teijo.terms.geometry import Geometry, Identity
from teijo.terms.purge import AUTO, SIMULATED, PurgeResult
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.result import PAGE_CACHE, Performed
from teijo.terms.step import Configure
from teijo.terms.work import PerformedWork, Sql, SqlBench, Transactions
from teijo.units import format_capacity

UNITS: Final = frozenset(
    {"µs", "bytes", "%", "% of capacity", "mapping units", "MB/s (10^6)"}
    | {"% of the free capacity", "% of a unit", "% of the full speed"}
    | {"°C", "W", "nJ/B", "J/K", "K/W"}
)

DIVIDED: Final = frozenset({"size", "slc_region"})
"""Sizes of parts that are given as those of the full-size device, and divided by its scale."""

BUFFERS: Final = frozenset({"buffer", "write_cache"})

SCALES_AGREE: Final = 0.01
"""Two scales are the same up to the rounding of capacities."""


class SimulatedDevice:
    """One simulated drive and its session. The same steps give the same answers."""

    replayable = True

    def __init__(self, target: SimulatedTarget, simulation: door.SimulatedSession) -> None:
        """Take over a session on a simulated device."""
        self._target = target
        self._take(target, simulation)

    def _take(self, target: SimulatedTarget, simulation: door.SimulatedSession) -> None:
        facts = simulation.facts
        self._simulation = simulation
        self._label = _label(facts.label, facts.label_text)
        self.session: Session = simulation
        self.identity = Identity(
            kind="simulated",
            target=target.text,
            model=facts.model,
            serial=facts.serial,
            firmware=facts.firmware,
            interface="simulated",
            write_cache=_write_cache(facts.parameters),
            facts={"label": str(self._label)}
            | {name: _with_unit(value, unit) for name, value, unit in facts.parameters},
        )
        self.geometry = Geometry(
            capacity_bytes=facts.capacity_bytes,
            nominal_capacity_bytes=facts.nominal_capacity_bytes,
            logical_block_bytes=facts.logical_block_bytes,
            physical_block_bytes=facts.physical_block_bytes,
        )

    def remarks(self) -> tuple[Remark, ...]:
        """Return that every number is a simulation's, and where it is one at a scale."""
        text = say("{device} is a simulation, {text}", device=self.identity.model, text=self._label)
        simulated = Remark(kind=RemarkKind.SIMULATED, text=text)
        geometry = self.geometry
        texts = scales_inside(self._simulation.facts.parameters, geometry.scale)
        if geometry.scale > 1:
            whole = say(
                "{capacity} stand for {nominal}: minutes and volumes of a standard or a study are "
                "divided by {scale}",
                capacity=format_capacity(geometry.capacity_bytes),
                nominal=format_capacity(geometry.nominal_capacity_bytes),
                scale=f"{geometry.scale:.4g}",
            )
            texts = [whole, *texts]
        scaled = (Remark(kind=RemarkKind.CAPACITY_SCALED, text=text) for text in texts)
        return (simulated, *scaled)

    def free_counters(self) -> FreeCounters:
        """Return all counters: in virtual time it costs nothing to read them."""
        return FreeCounters(self._simulation.health())

    def asked_counters(self) -> AskedCounters:
        """Return nothing more."""
        return AskedCounters()

    def log_reader(self) -> None:
        """Return nothing: a model tells all it counts at every step."""

    def unwritten_bytes(self) -> None:
        """Return nothing: a model keeps no account of that for its host."""

    def counts(self) -> dict[str, int]:
        """Return what the model knows and a real device would not tell."""
        return self._simulation.counts()

    def perform(self, work: PerformedWork, seed: int, look: Look) -> Performed:
        """Carry out work on files in virtual time.

        Raises:
            PlanError: the work is of statements, or on more files than were made.
            HostError: the file system is full.
            DeviceError: the device fails.
        """
        if isinstance(work, Sql | SqlBench | Transactions):
            raise PlanError("There are no files to work on", remedy="Create them first.")
        done = self._simulation.perform(work, seed, lambda now: look(now.ios, now))
        # An operating system that was added by itself is no part of the target's text.
        memory = self.identity.facts.get("memory", "")
        return replace(done, detail={**done.detail, PAGE_CACHE: memory})

    def purge(
        self,
        method: str = AUTO,
        silence_ns: int = SILENCE_NS,
        *,
        progress: Heard | None = None,
    ) -> PurgeResult:
        """Purge in virtual time."""
        del method, silence_ns, progress
        self._simulation.purge()
        return PurgeResult(method=SIMULATED, words="purge of the simulated drive")

    def idle(self, duration_ns: int, look: Callable[[], None]) -> None:
        """Let virtual time pass."""
        del look
        self._simulation.idle(duration_ns)

    def configure(self, step: Configure) -> Configured:
        """Put another simulated device in place, or the same one made anew. It takes no time.

        Raises:
            teijo.errors.PlanError: the step has a hook, or no simulated device.
            teijo.errors.TargetError: there is no such device.
        """
        if step.hook:
            raise PlanError(
                f"A hook configures a real target, and {self._target.text} is simulated.",
                remedy="Give the plan a simulated device for each cell, or name a real target.",
            )
        target = parse_target(step.device) if step.device else self._target
        if not isinstance(target, SimulatedTarget):
            raise PlanError(
                f"{step.device} cannot take the place of a simulated device.",
                remedy="Write a simulated device: sim:NAME?key=value.",
            )
        # Before the old one is closed, so that a mistake leaves that as it was.
        simulation = _simulation_of(target)
        self._simulation.close()
        self._take(target, simulation)
        return Configured(detail=detail_of(self.identity, self.geometry), elapsed_ns=0)

    def check(self) -> None:
        """Find nothing: nobody can swap a simulated device."""

    def close(self) -> None:
        """Release its memory."""
        self._simulation.close()


def _label(label: str, text: str) -> str:
    """Return what a model rests on, and on whose figures."""
    match label:
        case "calibrated":
            return say("calibrated: {text}", text=text)
        case "plausible":
            return say("plausible: {text}", text=text)
        case _:
            return f"{label}: {text}"


def scales_inside(parameters: Sequence[tuple[str, str, str]], scale: float) -> list[str]:
    """Return what the scale of a whole does inside it, for a remark.

    `parameters` are a device's facts, `scale` divides its times and volumes. Sizes of caches and
    regions are divided too; parts with a scale of their own are not at the one they are told by.
    """
    named = [(name.rpartition(".")[2], value) for name, value, _ in parameters]
    sizes = sorted({f"{name}={value}" for name, value in named if name in DIVIDED and value != "0"})
    scales = sorted({float(value) for name, value in named if name == "scale" and value != "auto"})
    texts: list[str] = []
    if sizes and scale > 1:
        texts.append(say("sizes inside it are divided too: {sizes}", sizes=", ".join(sizes)))
    if scales and scales[-1] > scales[0] * (1 + SCALES_AGREE):
        texts.append(
            say(
                "its parts have scales of their own ({scales}), and minutes and volumes are "
                "divided by {scale} for all of them",
                scales=", ".join(f"{one:.4g}" for one in scales),
                scale=f"{scale:.4g}",
            )
        )
    return texts


def _write_cache(parameters: Sequence[tuple[str, str, str]]) -> str:
    """Return whether any part of a device acknowledges writes before they are where they stay."""
    sizes = (value for name, value, _ in parameters if name.rpartition(".")[2] in BUFFERS)
    return "simulated write buffer" if any(size != "0" for size in sizes) else "none"


def _with_unit(value: str, unit: str) -> str:
    """Return a value with its unit, where that is one and not a list of words to choose from."""
    has_its_own = unit == "bytes" and not value.isdigit()
    return f"{value} {unit}" if unit in UNITS and not has_its_own else value


def make_simulated(target: SimulatedTarget) -> SimulatedDevice:
    """Make a simulated device.

    Raises:
        teijo.errors.TargetError: there is no such device.
        teijo.errors.PlanError: no such parameter, or an impossible value.
    """
    return SimulatedDevice(target, _simulation_of(target))


def _simulation_of(target: SimulatedTarget) -> door.SimulatedSession:
    """Return a session on the device; what is wrong with it is said of its file, if it has one."""
    try:
        return door.open_simulated(target.name, **target.overrides)
    except (TargetError, PlanError) as error:
        shorter = shortened(error)
        if target.source is None:
            raise shorter from error
        raise target.source.blame(shorter) from error
