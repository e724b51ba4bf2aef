"""The ledger crossed: every test under every version, on a drive that is sound, that fails reads,
that fails writes, and at a scaled minute; and what is printed beside a verdict bears it out.
"""

import re
from dataclasses import replace
from functools import cache

import pytest

from teijo.analysis import measures
from teijo.conformance.ledger import stamp_of_ledger
from teijo.conformance.requirements import REQUIREMENTS
from teijo.conformance.versions import VERSIONS, version_of
from teijo.methods.pts.campaign.plan import TESTS
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.result import StepResult
from tests.conformance.exemplary import (
    Exemplary,
    drive_of,
    kept,
    lines_of,
    little,
    steady_rate,
)
from tests.methods.canned import GIB, play

SCALED = Geometry(capacity_bytes=8 * GIB, nominal_capacity_bytes=240 * GIB)
LONG = ("hir 2.0.2-client", "hir 2.0.2-enterprise")
"""Of HIR's three versions, which ask for the same 8,000 steps, one is looked at every time."""
RUNS = [
    pytest.param(
        name,
        version.id,
        id=(label := f"{name} {version.id}"),
        marks=[pytest.mark.long] if label in LONG else [],
    )
    for name, method in TESTS.items()
    for version in VERSIONS
    if version.id in method.specs
]
EIO = 5
AT_SCALE = {
    "lat": {"course.histogram"},
    "wsat": {"course.histogram"},
    "hir": {"course.bursts", "course.idle"},
    "xsr": {"course.groups"},
    "cbw": {"course.points"},
    "dirth": {"course.points"},
}
"""What is asked for in the standard's own minutes, besides their length."""


@cache
def clean(name: str, spec: str) -> Record:
    return kept(TESTS[name], spec).record


@cache
def scaled(name: str, spec: str) -> Record:
    device = Exemplary(rate=steady_rate, latency_ns=little, purge="NVMe Format", geometry=SCALED)
    return play(TESTS[name], device, spec=spec, geometry=SCALED, identity=drive_of(spec)).record


def failing(record: Record, direction: str) -> Record:
    """Let three I/Os of one direction fail in each step that has it, beside those that succeed."""

    def touched(answer: object) -> object:
        if not isinstance(answer, StepResult):
            return answer
        return replace(
            answer,
            results=tuple(
                replace(part, errors={EIO: 3}) if part.operation == direction else part
                for part in answer.results
            ),
        )

    steps = tuple(replace(each, answer=touched(each.answer)) for each in record.steps)
    return replace(record, steps=steps)


def deviating(name: str, record: Record) -> set[str]:
    lines = lines_of(TESTS[name], record)
    return {key for key, line in lines.items() if line.verdict == "deviated"}


@pytest.mark.parametrize(("name", "spec"), RUNS)
def test_what_fails_is_in_its_own_line_and_on_every_page(name: str, spec: str) -> None:
    sound = clean(name, spec)
    assert deviating(name, sound) == set()
    for direction in ("read", "write"):
        record = failing(sound, direction)
        lines = lines_of(TESTS[name], record)
        count = sum(
            measures.errors_of(each.answer)
            for each in record.steps
            if isinstance(each.answer, StepResult)
        )
        spoilt = {"stimulus.failed"} if count else set()
        if direction == "write" and "wipc.coverage" in lines:
            spoilt.add("wipc.coverage")
        assert deviating(name, record) == spoilt
        if not count:
            continue
        assert lines["stimulus.failed"].evidence.startswith(f"{count:,} failed")
        assert lines["stimulus.failed"].evidence.endswith(f"{direction} EIO: {count:,}")
        assert stamp_of_ledger(list(lines.values())) == "NON-CONFORMING: failed I/Os"


@pytest.mark.parametrize(("name", "spec"), RUNS)
def test_a_scaled_minute_deviates_as_such_and_scales_the_limits(name: str, spec: str) -> None:
    record = scaled(name, spec)
    lines = lines_of(TESTS[name], record)
    asked = AT_SCALE.get(name, set()) & set(lines)
    assert deviating(name, record) == {"stimulus.minutes"} | asked
    for key in ("stimulus.rests", "wipc.delay", "stimulus.continuous"):
        if key in lines and "limit" in lines[key].evidence:
            assert "limit: 33.333 ms" in lines[key].evidence


@pytest.mark.parametrize("name", ["lat", "tp", "xsr"])
@pytest.mark.parametrize("share", [1.0, 0.9, 1.2])
@pytest.mark.parametrize("make", [clean, scaled])
def test_a_verdict_on_depth_or_rest_follows_from_the_numbers_beside_it(make, share, name) -> None:
    lines = lines_of(TESTS[name], longer(make(name, "1.1-enterprise"), share))
    line, rest = lines["stimulus.depth"], lines["stimulus.rests"]
    low, high = map(float, re.match(r"([\d.]+) to ([\d.]+)", line.evidence).groups())
    least, most = map(float, re.search(r"([\d.]+) to ([\d.]+) of it", line.asked).groups())
    assert line.verdict == ("met" if least <= low and high <= most else "deviated")
    longest = float(re.match(r"([\d.,]+) ms", rest.evidence)[1].replace(",", ""))
    limit = float(re.search(r"limit: ([\d.,]+) ms", rest.evidence)[1].replace(",", ""))
    told = "was not recorded" not in rest.evidence
    wrong = "deviated" if told else "not verifiable"
    assert rest.verdict == ("met" if longest < limit else wrong)


def longer(record: Record, share: float) -> Record:
    """Let every step take another time for the same I/Os, with a rest of 40 ms before it."""

    def slowed(answer: object) -> object:
        if not isinstance(answer, StepResult):
            return answer
        return replace(answer, elapsed_ns=round(answer.elapsed_ns * share), gap_ns=40_000_000)

    steps = tuple(replace(each, answer=slowed(each.answer)) for each in record.steps)
    return replace(record, steps=steps)


UNREAD = {
    ("device.cache", "iops", "1.0-client"),
    ("stimulus.range", "xsr", "2.0.2-enterprise"),
    ("course.steady", "hir", "1.1-enterprise"),
    ("stimulus.cells", "tp", "2.0.2-client"),
    ("wipc.volume", "iops", "2.0.2-client"),
    ("stimulus.range", "wsat", "1.0-client"),
}


@pytest.mark.parametrize(("requirement", "name", "spec"), sorted(UNREAD))
def test_what_the_docs_call_unverified_is_never_met(requirement, name, spec) -> None:
    line = lines_of(TESTS[name], clean(name, spec))[requirement]
    assert line.verdict == "not verifiable"
    own = next(each for each in REQUIREMENTS if each.id == requirement)
    assert own.known_of(TESTS[name].id, version_of(spec)) == "code"
