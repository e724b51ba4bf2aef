"""What every method can do. A method is pure: it sees no clock, file, device or engine."""

from collections.abc import Generator, Mapping
from importlib import import_module
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

from teijo.conformance.rescoring import rescored
from teijo.document.model import Document
from teijo.errors import PlanError
from teijo.methods import knobs
from teijo.methods.drive_settings import purge_of
from teijo.methods.found import Found
from teijo.methods.settings import Settings
from teijo.terms.geometry import Geometry
from teijo.terms.purge import NONE
from teijo.terms.record import Ending, Record
from teijo.terms.remark import Remark
from teijo.terms.result import Answer
from teijo.terms.step import Step
from teijo.terms.work import WorkKind

Steps = Generator[Step, Answer, Ending]
"""A method at work: yields steps, is sent their answers, returns how it ended."""

S = TypeVar("S", bound=Settings)
F = TypeVar("F", bound=Found[Any])


class Method(Protocol[S, F]):
    """One way to measure: `S` are its settings, `F` is what it finds in a record.

    `specs` are the versions of its standard, empty where it follows none; `work` is what its
    target must be able to do. Its title and summary are on its card in the registry.
    """

    id: str
    settings_type: type[S]
    found_type: type[F]
    specs: tuple[str, ...] = ()
    default_spec: str = ""
    work: WorkKind = "blocks"

    def settings(self, spec: str, overrides: Mapping[str, str], geometry: Geometry) -> S:
        """Return the settings of `spec` on this geometry, with `--set` overrides applied.

        `spec` may be a short form ("2.0.2", "1.1") or empty for the default; the settings hold
        the full id. A device simulated at a scale has its minutes divided by that scale.

        Raises:
            teijo.errors.PlanError: an unknown version or key (the valid ones are listed), or a
                bad value.
        """
        if spec:
            raise PlanError(
                f"The method {self.id} follows no standard, so it has no version {spec!r}",
                remedy="Leave --spec out.",
            )
        settings = self.settings_type.model_validate(self.asked(overrides, geometry))
        self.check(settings, geometry)
        return settings

    def asked(
        self,
        overrides: Mapping[str, str],
        geometry: Geometry,  # noqa: ARG002 — of those whose defaults follow from it
    ) -> dict[str, Any]:
        """Return the fields that are set: by the overrides, or as follows from them."""
        return knobs.parse_overrides(self.settings_type, overrides)

    def check(self, settings: S, geometry: Geometry) -> None:  # noqa: ARG002 — of some
        """Make sure that the settings go together, and that the target can carry them out.

        Raises:
            teijo.errors.PlanError: they do not, or it cannot.
        """
        return

    def settings_from(self, stored: Mapping[str, object]) -> S:
        """Return the settings a run file holds (`Settings.model_dump(mode="json")`)."""
        return knobs.build(self.settings_type, stored)

    def writes(self, settings: S) -> bool:  # noqa: ARG002 — of those that may only read
        """Whether any step writes, so that consent is needed."""
        return True

    def deviations(
        self,
        settings: S,  # noqa: ARG002 — of those with a standard
        geometry: Geometry,  # noqa: ARG002
    ) -> tuple[Remark, ...]:
        """Return what these settings change against the standard, one remark each."""
        return ()

    def steps(self, settings: S, geometry: Geometry) -> Steps:
        """Return the conversation. The same answers give the same steps, always."""
        ...

    def judging(self, ran: S, ruled: S) -> set[str]:
        """Return the fields in which another version has its own way with what was run: those
        that only judge, and those that add steps which the version does not have.
        """
        return {
            name
            for name, knob in knobs.knobs_of(type(ran)).items()
            if knob.judges or (knob.adds and getattr(ruled, name) is None)
        }

    def rescored(self, record: Record, spec: str) -> Record:
        """Return a record as if it had been taken under another version of the standard.

        Raises:
            teijo.errors.PlanError: the method follows no standard, or there is no such version.
        """
        return rescored(record, self, spec)

    def find(self, settings: S, record: Record) -> F:
        """Return what a record shows, growing or sealed; a number is computed when first read."""
        return self.found_type(settings=settings, record=record)

    def document(self, found: F) -> Document:
        """Return the report: what `pages` makes of it, in the module of that name beside this one.

        A run needs no report, so that module is imported only here.
        """
        folder = type(self).__module__.rpartition(".")[0]
        document: Document = import_module(f"{folder}.pages").pages(found)
        return document


AnyMethod = Method[Any, Any]
"""A method by its name: its settings and findings go from one of its functions to another."""


@runtime_checkable
class NamesHook(Protocol):
    """Settings that name a program which changes a real device between two measurements."""

    hook: tuple[str, ...]


def hook_of(settings: Settings) -> tuple[str, ...]:
    """Return the command of the program that settings name, empty for none."""
    return settings.hook if isinstance(settings, NamesHook) else ()


@runtime_checkable
class LimitsMemory(Protocol):
    """Settings that may hold this program to a limit of memory."""

    memory_bytes: int | None


def memory_of(settings: Settings) -> int | None:
    """Return the limit of memory that settings ask for, None for none."""
    return settings.memory_bytes if isinstance(settings, LimitsMemory) else None


@runtime_checkable
class AsksForCache(Protocol):
    """Settings of a whole run that say what the drive's write cache is to be in it."""

    @property
    def cache_asked(self) -> tuple[Literal["enabled", "disabled"], bool] | None:
        """The state, and whether a person named it and no standard; None for any."""
        ...


def cache_of(settings: Settings) -> tuple[Literal["enabled", "disabled"], bool] | None:
    """Return the state of the write cache that settings ask for, None for any."""
    return settings.cache_asked if isinstance(settings, AsksForCache) else None


@runtime_checkable
class AsksForPurge(Protocol):
    """Settings of a run that purges what it measures."""

    @property
    def purge(self) -> str:
        """The method by its name, or a word of `drive_settings.purge_or`."""
        ...


def purge_by(settings: Settings) -> str:
    """Return the method that a run of these settings purges by, NONE where it does not."""
    return purge_of(settings.purge) if isinstance(settings, AsksForPurge) else NONE


@runtime_checkable
class KnowsPairs(Protocol):
    """A method that needs to know what a device is made of, where nobody has said it."""

    def asked_on(self, overrides: Mapping[str, str], facts: Mapping[str, str]) -> Mapping[str, str]:
        """Return the overrides, and those that follow from the facts of the device's identity."""
        ...


def settings_on(
    method: AnyMethod,
    spec: str,
    overrides: Mapping[str, str],
    geometry: Geometry,
    facts: Mapping[str, str],
) -> Settings:
    """Return a method's settings on a device whose facts are known.

    Raises:
        teijo.errors.PlanError: as Method.settings.
    """
    if isinstance(method, KnowsPairs):
        overrides = method.asked_on(overrides, facts)
    settings: Settings = method.settings(spec, overrides, geometry)
    return settings
