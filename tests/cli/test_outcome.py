"""What a run leaves behind, in words: its verdict with what must be said of its numbers."""

from types import SimpleNamespace
from typing import Any

import pytest

from teijo.cli.outcome import scalar_line, verdict
from teijo.terms.finding import Findings, Scalar
from teijo.terms.remark import Remark, RemarkKind


def run_that(converged: bool | None, *kinds: RemarkKind, **found: Any) -> Any:
    findings = Findings(method="m", spec="", converged=converged, rounds=25, **found)
    remarks = tuple(Remark(kind=kind, text="") for kind in kinds)
    record = SimpleNamespace(run=SimpleNamespace(method="m", ending="done"))
    return SimpleNamespace(findings=findings, record=record, remarks=remarks)


def test_the_verdict_on_steady_state_is_yes_with_its_rounds_or_no() -> None:
    assert verdict(run_that(True, window_rounds=(3, 7))) == "STEADY STATE: YES, rounds 3 to 7"
    assert verdict(run_that(False)) == "STEADY STATE: NO, after 25 rounds"


def test_remarks_are_counted_by_kind() -> None:
    kinds = (RemarkKind.SIMULATED, RemarkKind.DEVIATION, RemarkKind.DEVIATION)
    said = verdict(run_that(False, *kinds)).splitlines()[-1]
    assert said == "remarks: simulated, deviation from the standard (2)"


def test_a_run_without_steady_state_shows_its_first_numbers() -> None:
    scalars = tuple(Scalar(name=f"n{place}", value=1.0, unit="") for place in range(9))
    assert verdict(run_that(None, scalars=scalars)).splitlines() == [
        "m: done", "n0: 1.0", "n1: 1.0", "n2: 1.0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "unit", "line"),
    [
        ("IOPS", 16996.2, "IOPS", "IOPS: 16,996"),
        ("throughput", 69.62, "MB/s", "throughput: 69.6 MB/s"),
        ("latency mean", 470_700.0, "ns", "latency mean: 471 µs"),
        ("write amplification", None, "", "write amplification: not available"),
    ],
)
def test_a_number_is_written_in_its_unit(
    name: str, value: float | None, unit: str, line: str
) -> None:
    assert scalar_line(Scalar(name=name, value=value, unit=unit)) == line
