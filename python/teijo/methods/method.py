"""What every method can do. A method is pure: it sees no clock, file, device or engine."""

from collections.abc import Generator, Mapping
from typing import Protocol, runtime_checkable

from pydantic import BaseModel

from teijo.document.model import Document
from teijo.terms.finding import Findings
from teijo.terms.geometry import Geometry
from teijo.terms.record import Ending, Record
from teijo.terms.remark import Remark
from teijo.terms.result import Answer
from teijo.terms.step import Step
from teijo.terms.watch import Watch

Steps = Generator[Step, Answer, Ending]
"""A method at work: yields steps, is sent their answers, returns how it ended."""


class Settings(BaseModel, frozen=True, extra="forbid"):
    """The numbers of one run. Every method has its own; all of them are JSON and back.

    `spec` is the version of the standard by its full id, empty for a method without one.
    """

    spec: str = ""


class Method(Protocol):
    """One way to measure. `specs` are the versions of its standard, empty for none."""

    id: str
    title: str
    summary: str
    specs: tuple[str, ...]
    default_spec: str

    def settings(self, spec: str, overrides: Mapping[str, str], geometry: Geometry) -> Settings:
        """Return the settings of `spec` on this geometry, with `--set` overrides applied.

        `spec` may be a short form ("2.0.2", "1.1") or empty for the default; the settings hold
        the full id. A device simulated at a scale has its minutes divided by that scale.

        Raises:
            teijo.errors.PlanError: an unknown version or key (the valid ones are listed), or a
                bad value.
        """
        ...

    def settings_from(self, stored: Mapping[str, object]) -> Settings:
        """Return the settings a run file holds (`Settings.model_dump(mode="json")`)."""
        ...

    def writes(self, settings: Settings) -> bool:
        """Whether any step writes, so that consent is needed."""
        ...

    def deviations(self, settings: Settings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what these settings change against the standard, one remark each."""
        ...

    def steps(self, settings: Settings, geometry: Geometry) -> Steps:
        """Return the conversation. The same answers give the same steps, always."""
        ...

    def findings(self, record: Record) -> Findings:
        """Return what a record shows, growing or sealed."""
        ...

    def watch(self, record: Record) -> Watch:
        """Return where a growing record stands: phase, round, steadiness, time still needed."""
        ...

    def document(self, record: Record, findings: Findings) -> Document:
        """Return what the report says."""
        ...


@runtime_checkable
class NamesHook(Protocol):
    """Settings that name a program which changes a real device between two measurements."""

    hook: tuple[str, ...]


def hook_of(settings: Settings) -> tuple[str, ...]:
    """Return the command of the program that settings name, empty for none."""
    return settings.hook if isinstance(settings, NamesHook) else ()


@runtime_checkable
class KnowsPairs(Protocol):
    """A method that asks for what a device is made of, where nobody has said it."""

    def asked_on(self, overrides: Mapping[str, str], facts: Mapping[str, str]) -> Mapping[str, str]:
        """Return the overrides, and those that follow from the facts of the device's identity."""
        ...


def settings_on(
    method: Method,
    spec: str,
    overrides: Mapping[str, str],
    geometry: Geometry,
    facts: Mapping[str, str],
) -> Settings:
    """Return a method's settings on a device whose facts are known; see Method.settings.

    Raises:
        teijo.errors.PlanError: as Method.settings.
    """
    if isinstance(method, KnowsPairs):
        overrides = method.asked_on(overrides, facts)
    return method.settings(spec, overrides, geometry)
