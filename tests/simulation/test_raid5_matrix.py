"""The plan examples/raid5.toml, shortened: what an article found of a RAID 5's chunk and cache."""

from pathlib import Path

import pytest

import teijo.api
from teijo.terms.configured import facts_in
from teijo.terms.result import StepResult
from teijo.terms.step import Configure
from tests.house.tree import ROOT

PLAN = (ROOT / "examples" / "raid5.toml").read_text("utf-8")
SHORT = {"workloads": "seq-read; 4k-read; 4k-write", "seconds": "500ms", "repeats": "2"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> teijo.api.Run:
    folder: Path = tmp_path_factory.mktemp("raid5")
    return teijo.api.run(
        "configuration",
        "sim:raid5-4x2tb",
        output=folder / "run",
        settings={"plan": PLAN, **SHORT},
        seed=1,
    )


@pytest.fixture(scope="module")
def found(run: teijo.api.Run) -> dict[str, float]:
    return {each.name: each.value for each in run.findings.scalars if each.value is not None}


def test_large_reads_in_order_are_as_fast_with_any_chunk(found: dict[str, float]) -> None:
    # Three disks' data at 155 MB/s: a member passes the chunk of parity as it reads on.
    assert found["seq-read: chunk 128KiB by 16KiB"] == pytest.approx(1, abs=0.05)


def test_write_through_is_as_no_cache(found: dict[str, float]) -> None:
    for workload in ("seq-read", "4k-read", "4k-write"):
        assert found[f"{workload}: cache wt by off"] == pytest.approx(1, abs=0.1)


def test_write_back_is_far_better_at_small_writes_and_no_better_at_reads(
    found: dict[str, float],
) -> None:
    assert found["4k-write: cache wb by off"] > 100
    assert found["4k-read: cache wb by off"] == pytest.approx(1, abs=0.1)


def test_the_control_differs_by_no_more_than_chance(found: dict[str, float]) -> None:
    assert found["seq-read: control"] == pytest.approx(1, abs=0.05)
    assert found["4k-read: control"] == pytest.approx(1, abs=0.2)


def test_every_configuration_is_in_the_record_as_the_device_it_was(run: teijo.api.Run) -> None:
    configured = [
        each
        for each in run.record.steps
        if isinstance(each.step, Configure) and isinstance(each.answer, StepResult)
    ]
    assert len(configured) == 26
    for each in configured:
        assert isinstance(each.answer, StepResult)
        levels = dict(each.step.settings)  # type: ignore[union-attr]
        assert f"chunk={levels['chunk']}" in each.answer.detail["target"]
        chunks = {value for name, value in facts_in(each.answer.detail).items() if "chunk" in name}
        assert any(levels["chunk"].removesuffix("KiB") in value for value in chunks), chunks
