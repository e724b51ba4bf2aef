"""The study `configuration`: a matrix of settings, applied one by one, measured in blocks."""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from typing import Any

from teijo.errors import PlanError
from teijo.methods.drive_settings import purge_of
from teijo.methods.load import check_blocks
from teijo.methods.method import Method, Steps
from teijo.methods.studies.configuration import words
from teijo.methods.studies.configuration.found import MEASURE, ConfigurationFound, Visit, visits_of
from teijo.methods.studies.configuration.settings import ConfigurationSettings
from teijo.terms.configured import geometry_in
from teijo.terms.geometry import Geometry
from teijo.terms.purge import NONE
from teijo.terms.result import Answer, Gap
from teijo.terms.step import Configure, Idle, Measure, Precondition, Purge, Step
from teijo.terms.workload import Access, ActiveRange, Stream, Workload
from teijo.units import KIB

VISITS_MOST = 20_000  # more than anybody waits for


class Configuration(Method[ConfigurationSettings, ConfigurationFound]):
    """The method `configuration`."""

    id = "configuration"
    settings_type = ConfigurationSettings
    found_type = ConfigurationFound

    def asked(self, overrides: Mapping[str, str], geometry: Geometry) -> dict[str, Any]:
        """Return the settings of a plan, with single settings put over it."""
        own = dict(overrides)
        text = own.pop(words.PLAN, None)
        planned = {} if text is None else words.settings_in(text)
        return super().asked(planned, geometry) | super().asked(own, geometry)

    def check(self, settings: ConfigurationSettings, geometry: Geometry) -> None:
        """Make sure that the study can be made, and that it ends."""
        _check_factors(settings)
        sizes = (each.stream("").sizes_bytes for each in settings.workloads)
        check_blocks(tuple(size for each in sizes for size in each), geometry)
        visits = visits_of(settings)
        if len(visits) > VISITS_MOST:
            raise PlanError(
                f"The plan has {len(visits):,} visits, and {VISITS_MOST:,} is the most",
                remedy="Take fewer levels, or fewer repeats.",
            )
        # Written out now, so that a text that cannot be is refused before the first visit.
        for visit in visits:
            _configure(settings, visit)

    def writes(self, settings: ConfigurationSettings) -> bool:
        """Return whether any configuration is purged, filled or written."""
        prepared = purge_of(settings.purge) != NONE or settings.precondition_times > 0
        return prepared or any(each.stream("").writes for each in settings.workloads)

    def steps(self, settings: ConfigurationSettings, geometry: Geometry) -> Steps:
        """Visit every configuration of every block; after a gap, a visit from its beginning."""
        for visit in visits_of(settings):
            while not (yield from _visit(settings, visit, geometry)):
                pass
        return "done"


def _check_factors(settings: ConfigurationSettings) -> None:
    """Make sure that something applies each factor, and that there is something to compare."""
    names = [name for name, _ in settings.factors]
    if settings.device and settings.hook:
        raise PlanError(
            "The settings device and hook are both given, and only one can apply a configuration",
            remedy="Leave hook out for simulated devices, and device for a real target.",
        )
    if names and not (settings.device or settings.hook):
        raise PlanError(
            f"Nothing applies the factors {', '.join(names)}",
            remedy="Set device for simulated devices, or hook for a real target.",
        )
    places = words.places_in(settings.device, settings.factors)
    if strange := sorted(places - set(names)):
        raise PlanError(
            f"The setting device has a place for {', '.join(strange)}, which is no factor",
            remedy=f"Factors are: {', '.join(names) or 'none'}.",
        )
    if settings.device and (idle := [name for name in names if name not in places]):
        raise PlanError(
            f"The factor {idle[0]} stands nowhere in the device, so it changes nothing",
            remedy=f"Write {{{idle[0]}}} where its levels stand, or leave the factor out.",
        )
    if settings.control == "none" and not names:
        raise PlanError(
            "There are no factors and no control, so nothing is compared",
            remedy="Set factors, or control=first.",
        )


def _visit(
    settings: ConfigurationSettings, visit: Visit, geometry: Geometry
) -> Generator[Step, Answer, bool]:
    """Configure, prepare and measure; return whether no gap came between."""
    answer = yield _configure(settings, visit)
    if isinstance(answer, Gap):
        return False
    for step in _steps(settings, visit, geometry_in(answer.detail) or geometry):
        if isinstance((yield step), Gap):
            return False
    return True


def _configure(settings: ConfigurationSettings, visit: Visit) -> Configure:
    """Return what puts the device in a visit's configuration.

    Raises:
        teijo.errors.PlanError: its levels have each other's places without end.
    """
    try:
        device = words.filled(settings.device, dict(visit.cell.texts))
    except ValueError as error:
        raise PlanError(
            f"The device of {visit.cell.name} cannot be written out: {error}",
            remedy="Take the places in braces out of the levels that stand in each other.",
        ) from error
    return Configure(
        # A hook works with the texts; in a simulated device's name they stand already.
        settings=visit.cell.texts if settings.hook else visit.cell.levels,
        device=device,
        hook=settings.hook,
        timeout_ns=settings.timeout_ns,
        round_number=visit.block,
        cell=visit.name,
    )


def _steps(settings: ConfigurationSettings, visit: Visit, geometry: Geometry) -> Iterator[Step]:
    """Return what follows the configuration, on a device of this size: preparation, workloads."""
    if (method := purge_of(settings.purge)) != NONE:
        yield Purge(method=method)
    if fill_bytes := int(settings.precondition_times * geometry.capacity_bytes):
        yield Precondition(workload=_FILL, total_bytes=fill_bytes)
    for named in settings.workloads:
        percent = min(settings.range_percent, named.active_range_percent)
        active_range = ActiveRange(share_percent=percent)
        stream = replace(named.stream(named.name), active_range=active_range)
        if settings.rest_ns:
            yield Idle(duration_ns=settings.rest_ns, round_number=visit.block)
        for phase, length_ns in (("ramp", settings.ramp_ns), (MEASURE, settings.duration_ns)):
            if length_ns:
                yield Measure(
                    workload=Workload(streams=(stream,)),
                    duration_ns=length_ns,
                    phase=phase,
                    round_number=visit.block,
                    cell=f"{visit.name}: {named.name}",
                )


_FILL = Workload(
    streams=(
        Stream(
            name="fill",
            read_percent=0,
            block_size_bytes=128 * KIB,
            access=Access.SEQUENTIAL,
            queue_depth=32,
        ),
    )
)
