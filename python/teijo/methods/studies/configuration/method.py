"""The study `configuration`: a matrix of settings, applied one by one, measured in blocks."""

from collections.abc import Generator, Mapping
from functools import cached_property

from teijo.analysis import measures
from teijo.document.model import Document
from teijo.errors import PlanError
from teijo.methods import knobs
from teijo.methods.found import FlatFound
from teijo.methods.method import Method, Steps, no_standard
from teijo.methods.pts.settings import check_blocks
from teijo.methods.studies.configuration import plan
from teijo.methods.studies.configuration.design import (
    Visit,
    configure_step,
    steps_of,
    visits_of,
)
from teijo.methods.studies.configuration.judged import Judged, judged
from teijo.methods.studies.configuration.outcome import (
    Visited,
    rates_of,
    visited,
    whole_blocks,
)
from teijo.methods.studies.configuration.settings import ConfigurationSettings, check
from teijo.terms.configured import geometry_in
from teijo.terms.finding import Cell, Findings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.result import Answer, Gap
from teijo.terms.step import Step
from teijo.terms.watch import Watch

VISITS_MOST = 20_000


class ConfigurationFound(FlatFound[ConfigurationSettings]):
    """What a record of Configuration shows."""

    @cached_property
    def findings(self) -> Findings:
        """Return each workload's effects, and every configuration's means over the blocks."""
        settings, record = self.settings, self.record
        found = visited(settings, record)
        return Findings(
            method=record.run.method,
            spec="",
            converged=None,
            rounds=whole_blocks(settings, found),
            scalars=tuple(
                scalar
                for each in judged(rates_of(settings, found))
                for scalar in _scalars(settings, each)
            ),
            cells=_cells(settings, found),
        )

    @cached_property
    def watch(self) -> Watch:
        """Return which visit is under way, and what is still to be measured."""
        settings, record = self.settings, self.record
        if record.run.ending != "running":
            return Watch(phase=record.run.ending)
        visits, found = visits_of(settings), visited(settings, record)
        whole = sum(len(each.answers) == len(settings.workloads) for each in found)
        begun = found[-1].answers if len(found) > whole else ()
        each_ns = settings.duration_ns + settings.ramp_ns + settings.rest_ns
        left = (len(visits) - whole) * len(settings.workloads) - len(begun)
        geometry = record.geometry
        fills = len(visits) - whole - bool(begun)
        now = visits[min(whole, len(visits) - 1)]
        return Watch(
            phase="block",
            round_number=now.block,
            rounds_least=settings.repeats,
            rounds_most=settings.repeats,
            cell=now.name,
            remaining_ns_least=left * each_ns,
            remaining_ns_most=left * each_ns,
            remaining_bytes=int(fills * settings.precondition_times * geometry.capacity_bytes),
        )


class Configuration(Method[ConfigurationSettings, ConfigurationFound]):
    """The method `configuration`."""

    id = "configuration"
    title = "Configurations"
    summary = "a matrix of settings from a plan: which factor matters, in random order, repeated"
    settings_type = ConfigurationSettings
    found_type = ConfigurationFound

    def settings(
        self, spec: str, overrides: Mapping[str, str], geometry: Geometry
    ) -> ConfigurationSettings:
        """Return the study asked for: a plan's, with single settings put over it; see Method."""
        if spec:
            raise no_standard(self.id, spec)
        own = dict(overrides)
        text = own.pop(plan.KEY, None)
        planned = {} if text is None else plan.settings_in(text)
        asked = knobs.parse_overrides(ConfigurationSettings, planned)
        asked |= knobs.parse_overrides(ConfigurationSettings, own)
        settings = ConfigurationSettings.model_validate(asked)
        check(settings)
        sizes = (each.stream("").sizes_bytes for each in settings.workloads)
        check_blocks(tuple(size for each in sizes for size in each), geometry)
        visits = visits_of(settings)
        if len(visits) > VISITS_MOST:
            raise PlanError(
                f"The plan has {len(visits):,} visits, and {VISITS_MOST:,} is the most",
                remedy="Take fewer levels, or fewer repeats.",
            )
        for visit in visits:
            _filled(settings, visit)
        return settings

    def writes(self, settings: ConfigurationSettings) -> bool:
        """Return whether any configuration is purged, filled or written."""
        own = settings
        prepared = own.purge == "on" or own.precondition_times > 0
        return prepared or any(each.stream("").writes for each in own.workloads)

    def steps(self, settings: ConfigurationSettings, geometry: Geometry) -> Steps:
        """Visit every configuration of every block; after a gap, a visit from its beginning."""
        own = settings
        for visit in visits_of(own):
            whole = False
            while not whole:
                whole = yield from _visit(own, visit, geometry)
        return "done"

    def document(self, found: ConfigurationFound) -> Document:
        """Return the report."""
        from teijo.methods.studies.configuration.pages import pages

        return pages(found.settings, found.record, found.reported)


def _visit(
    settings: ConfigurationSettings, visit: Visit, geometry: Geometry
) -> Generator[Step, Answer, bool]:
    """Configure, prepare and measure; return whether no gap came between."""
    answer = yield configure_step(settings, visit)
    if isinstance(answer, Gap):
        return False
    for step in steps_of(settings, visit, geometry_in(answer.detail) or geometry):
        if isinstance((yield step), Gap):
            return False
    return True


def _filled(settings: ConfigurationSettings, visit: Visit) -> None:
    try:
        configure_step(settings, visit)
    except ValueError as error:
        raise PlanError(
            f"The device of {visit.cell.name} cannot be written out: {error}",
            remedy="Take the places in braces out of the levels that stand in each other.",
        ) from error


def _scalars(settings: ConfigurationSettings, found: Judged) -> list[Scalar]:
    name = found.rates.stream.name
    scalars = []
    for source in () if found.variance is None else found.variance.sources:
        factors = " × ".join(settings.factors[factor][0] for factor in source.factors)
        scalars.append(
            Scalar(name=f"{name}: share of {factors}", value=source.share * 100, unit="%")
        )
    for pair in found.pairs:
        factor, levels = settings.factors[pair.factor]
        first, second = levels[pair.first][0], levels[pair.second][0]
        text = f"{name}: {factor} {second} by {first}"
        scalars.append(Scalar(name=text, value=pair.ratio, unit=""))
    for what, ratio in (("control", found.control), ("drift", found.drift)):
        if ratio is not None:
            scalars.append(Scalar(name=f"{name}: {what}", value=ratio.ratio, unit=""))
    return scalars


def _cells(settings: ConfigurationSettings, found: tuple[Visited, ...]) -> tuple[Cell, ...]:
    """Return the mean over all finished visits of each configuration and workload."""
    groups: dict[str, list[Visited]] = {}
    for each in sorted(found, key=lambda one: (one.visit.cell.place, one.visit.copy)):
        groups.setdefault(each.visit.name, []).append(each)
    cells = []
    for name, group in groups.items():
        for place, stream in enumerate(settings.workloads):
            answers = [each.answers[place] for each in group if len(each.answers) > place]
            labels = (("configuration", name), ("workload", stream.name))
            if answers:
                cells.append(measures.cell_over(labels, answers))
    return tuple(cells)
