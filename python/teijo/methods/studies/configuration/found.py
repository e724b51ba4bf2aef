"""What a record of the study shows: its visits, what their rates say, what a cache answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from teijo.analysis import measures
from teijo.analysis.judged import Choice, Effect, Judged, Rates, choice_of, effects_of, judged
from teijo.methods.found import Found
from teijo.methods.studies.configuration.cached import Cached, cached_of
from teijo.methods.studies.configuration.design import Visit, visits_of
from teijo.methods.studies.configuration.outcome import Visited, rates_of, visited, whole_blocks
from teijo.methods.studies.configuration.settings import ConfigurationSettings
from teijo.methods.workload.settings import NamedStream
from teijo.terms.finding import Cell, Scalar
from teijo.terms.result import StepResult
from teijo.terms.watch import Watch


@dataclass(frozen=True, kw_only=True)
class Group:
    """All finished measurements of one workload in one configuration, or in the control's copy."""

    visit: Visit
    stream: NamedStream
    answers: tuple[StepResult, ...]

    @property
    def cell(self) -> Cell:
        """The mean over its visits."""
        labels = (("configuration", self.visit.name), ("workload", self.stream.name))
        return measures.cell_over(labels, self.answers)


class ConfigurationFound(Found[ConfigurationSettings]):
    """What a record of the study shows."""

    @cached_property
    def visited(self) -> tuple[Visited, ...]:
        """The visits that took place, in order; the last one may not be whole yet."""
        return visited(self.settings, self.record)

    @property
    def rounds(self) -> int:
        """How many blocks were measured from end to end."""
        return whole_blocks(self.settings, self.visited)

    @cached_property
    def rates(self) -> tuple[Rates, ...]:
        """Each workload's rates over the whole blocks."""
        return rates_of(self.settings, self.visited)

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """What they say, workload by workload."""
        return judged(self.rates)

    @cached_property
    def effects(self) -> list[Effect]:
        """The largest difference of each factor that makes one, the largest of all first."""
        return effects_of(self.judged)

    @cached_property
    def cached(self) -> tuple[Cached, ...]:
        """Where a cache answered, and not what lies behind it."""
        return cached_of(self.settings, self.visited, self.rates, self.record.geometry)

    @cached_property
    def choice(self) -> Choice | None:
        """The configuration to choose, None where none can be told from the others."""
        return choice_of(self.judged)

    @cached_property
    def groups(self) -> tuple[tuple[Group, ...], ...]:
        """Every configuration in the order of the plan, each with all workloads."""

        def at(each: Visited) -> tuple[int, bool]:
            return each.visit.cell.place, each.visit.copy

        own = (tuple(group) for _, group in groupby(sorted(self.visited, key=at), key=at))
        return tuple(
            tuple(
                Group(
                    visit=group[0].visit,
                    stream=stream,
                    answers=tuple(one.answers[place] for one in group if len(one.answers) > place),
                )
                for place, stream in enumerate(self.settings.workloads)
            )
            for group in own
        )

    @cached_property
    def measured(self) -> tuple[Group, ...]:
        """Every configuration and workload that was measured, one after the other."""
        return tuple(each for own in self.groups for each in own if each.answers)

    @cached_property
    def cells(self) -> Sequence[Cell]:
        """Each configuration and workload, the mean over its visits."""
        return tuple(each.cell for each in self.measured)

    @cached_property
    def scalars(self) -> Sequence[Scalar]:
        """Each workload's shares of the variation, ratios of levels, control and drift."""
        return tuple(scalar for each in self.judged for scalar in self._scalars(each))

    def _scalars(self, found: Judged) -> list[Scalar]:
        factors = self.settings.factors
        rows = []
        for source in () if found.variance is None else found.variance.sources:
            names = " × ".join(factors[factor][0] for factor in source.factors)
            rows.append((f"share of {names}", source.share * 100, "%"))
        for pair in found.pairs:
            name, levels = factors[pair.factor]
            first, second = levels[pair.first][0], levels[pair.second][0]
            rows.append((f"{name} {second} by {first}", pair.ratio, ""))
        for what, ratio in (("control", found.control), ("drift", found.drift)):
            if ratio is not None:
                rows.append((what, ratio.ratio, ""))
        return [
            Scalar(name=f"{found.rates.name}: {name}", value=value, unit=unit)
            for name, value, unit in rows
        ]

    @property
    def watch_running(self) -> Watch:
        """Which visit is under way, and what is still to be measured."""
        settings, record = self.settings, self.record
        visits, workloads = visits_of(settings), len(settings.workloads)
        whole = sum(len(each.answers) == workloads for each in self.visited)
        begun = self.visited[-1].answers if len(self.visited) > whole else ()
        left = (len(visits) - whole) * workloads - len(begun)
        left_ns = left * (settings.duration_ns + settings.ramp_ns + settings.rest_ns)
        fills = (len(visits) - whole - bool(begun)) * settings.precondition_times
        now = visits[min(whole, len(visits) - 1)]
        return Watch(
            phase="block",
            round_number=now.block,
            rounds_least=settings.repeats,
            rounds_most=settings.repeats,
            cell=now.name,
            remaining_ns_least=left_ns,
            remaining_ns_most=left_ns,
            remaining_bytes=int(fills * record.geometry.capacity_bytes),
        )
