"""PTS XSR, cross stimulus recovery: hours of sequential writes, of random ones, and of sequential
ones again. Does the drive come back? The groups are in groups, the report in pages.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from teijo.analysis import measures
from teijo.analysis.quantities import of_series
from teijo.analysis.recovery import Recovery
from teijo.conformance.versions import VERSIONS, version_of
from teijo.document.model import Document
from teijo.document.phrase import say
from teijo.methods import knobs
from teijo.methods.method import Method, Steps
from teijo.methods.phrases import purge
from teijo.methods.pts import settings as shared
from teijo.methods.pts.found import FlatPtsFound
from teijo.methods.pts.xsr.groups import (
    LEVEL_MINUTES,
    Group,
    XsrSettings,
    answers_of,
    group_at,
    groups_of,
    minute_step,
    recovery,
    rule_of,
    standard,
)
from teijo.methods.rounds import before_rounds
from teijo.outside.names import unknown
from teijo.terms.finding import Cell, Findings, Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.quantity import THROUGHPUT, Quantity
from teijo.terms.remark import Remark
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import MINUTE
from teijo.terms.watch import Watch

SPECS_WITH_XSR = tuple(each.id for each in VERSIONS if each.cross_stimulus is not None)


class XsrFound(FlatPtsFound[XsrSettings]):
    """What a record of Xsr shows."""

    @cached_property
    def findings(self) -> Findings:
        """Return each group's means, and how group 3 came back to group 1.

        There is no steady state in this test: `converged` is None, and `rounds` are minutes.
        """
        settings, record = self.settings, self.record
        answers = answers_of(record)
        cells = [_cell(group, group.of(answers)) for group in groups_of(settings)]
        written = sum(measures.written_bytes(answer) for answer in answers)
        return Findings(
            method=record.run.method,
            spec=settings.spec,
            converged=None,
            rounds=len(answers),
            scalars=(
                *_scalars(recovery(settings, answers)),
                Scalar(name="total written (TGBW)", value=written / 1e9, unit="GB"),
                Scalar(
                    name="drive fills",
                    value=written / record.geometry.capacity_bytes,
                    unit="user capacities",
                ),
            ),
            cells=tuple(cell for cell in cells if cell is not None),
        )

    @cached_property
    def watch(self) -> Watch:
        """Return where the run stands."""
        settings, record = self.settings, self.record
        done = len(answers_of(record))
        count = settings.minutes_most
        minute = min(done + 1, count)
        group = group_at(settings, minute)
        left_ns = (count - done) * settings.minute_ns
        watch = Watch(
            phase=MINUTE,
            round_number=minute,
            rounds_least=count,
            rounds_most=count,
            cell=f"group {group.number}, {group.name}",
            remaining_ns_least=left_ns,
            remaining_ns_most=left_ns,
        )
        return before_rounds(record, watch, 0)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Throughput of the last two hours of each group."""
        answers = answers_of(self.record)
        return tuple(
            each
            for group in groups_of(self.settings)
            for each in of_series(
                say("group {number}, its last two hours", number=group.number),
                group.of(answers)[-LEVEL_MINUTES:],
                (THROUGHPUT,),
            )
        )


class Xsr(Method[XsrSettings, XsrFound]):
    """The method `pts.xsr`."""

    id = "pts.xsr"
    title = "Cross Stimulus Recovery"
    summary = "whether sequential writes come back after hours of random ones (SNIA PTS)"
    settings_type = XsrSettings
    found_type = XsrFound
    specs = SPECS_WITH_XSR
    # It came with the enterprise specification 1.1.
    default_spec = "2.0.2-enterprise"

    def settings(self, spec: str, overrides: Mapping[str, str], geometry: Geometry) -> XsrSettings:
        """Return the settings of a version on this device; see Method."""
        version = version_of(spec or self.default_spec)
        if version.id not in self.specs:
            raise unknown("version of the standard with XSR", spec, self.specs)
        asked = knobs.parse_overrides(XsrSettings, overrides)
        asked = shared.with_pieces(asked, version, geometry)
        settings = knobs.changed(standard(version, geometry), asked)
        blocks = (settings.sequential_block_bytes, settings.random_block_bytes)
        shared.check_blocks(blocks, geometry)
        shared.check_range(settings, geometry, max(blocks))
        return settings

    def deviations(self, settings: XsrSettings, geometry: Geometry) -> tuple[Remark, ...]:
        """Return what differs from the version; see Method."""
        version = version_of(settings.spec)
        ruled, load = standard(version, geometry), rule_of(version).load
        return tuple(shared.shared_deviations(settings, ruled, version, geometry, load))

    def steps(self, settings: XsrSettings, geometry: Geometry) -> Steps:
        """Purge, then write minute after minute; from the purge again after a gap."""
        del geometry
        while True:
            yield from purge()
            for minute in range(1, settings.minutes_most + 1):
                answer = yield minute_step(settings, minute)
                if isinstance(answer, Gap):
                    break
            else:
                return "done"

    def document(self, found: XsrFound) -> Document:
        """Return the report, in the standard's order of pages."""
        from teijo.methods.pts.xsr.pages import pages

        return pages(found)


def _cell(group: Group, answers: Sequence[StepResult]) -> Cell | None:
    labels = (("group", str(group.number)), ("stimulus", group.name))
    return measures.cell_over(labels, answers) if answers else None


def _scalars(found: Recovery | None) -> tuple[Scalar, ...]:
    """Return the recovery's figures; the same names, without values, before group 3."""

    def minutes(count: int | None) -> float | None:
        return None if count is None else float(count)

    recovered = None if found is None else found.recovered_samples
    regained = None if found is None else found.regained_samples
    reference = None if found is None else found.reference
    highest = None if found is None else found.highest
    level = None if found is None else found.level
    end_percent = None if found is None else found.end_share * 100
    return (
        Scalar(
            name="recovery, first minute not below group 1", value=minutes(recovered), unit="min"
        ),
        Scalar(name="mean of group 1", value=reference, unit="MB/s"),
        Scalar(name="highest minute of group 3", value=highest, unit="MB/s"),
        Scalar(name="95 % of group 1's end regained for good", value=minutes(regained), unit="min"),
        Scalar(name="mean of the last two hours of group 1", value=level, unit="MB/s"),
        Scalar(name="last two hours of group 3, by those of group 1", value=end_percent, unit="%"),
    )
