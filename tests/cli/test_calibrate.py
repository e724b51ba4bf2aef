"""The verb `calibrate`: figures of this host, for people and for programs."""

import json
from pathlib import Path

import pytest

from teijo import api
from teijo.engine import Ceilings
from teijo.methods.platform_page import header_rows
from teijo.terms.platform import cell_name, platform_in
from teijo.terms.result import StepResult
from tests.cli.conftest import Teijo


def test_it_prints_what_the_host_does_at_best(teijo: Teijo) -> None:
    code, out, err = teijo("calibrate", "--seconds", "0.02")
    assert (code, err) == (0, "")
    assert "engine's loop" in out
    assert "memory copied" in out


def test_programs_get_every_figure_in_ns(teijo: Teijo) -> None:
    code, out, _ = teijo("calibrate", "--seconds", "0.02", "--json")
    assert code == 0
    found = Ceilings(**json.loads(out))
    # Which of them is smaller depends on what else the host does for these 20 ms.
    assert min(found.loop_ns, found.loop_ns_deep, found.copy_bytes_per_second) > 0


def test_a_kernel_that_refuses_a_ring_has_no_such_ceiling(
    teijo: Teijo, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = Ceilings(
        nop_ns=0.0, nop_ns_deep=0.0, loop_ns=50.0, loop_ns_deep=10.0, copy_bytes_per_second=1e9
    )
    monkeypatch.setattr(api, "calibrate", lambda _: refused)
    assert "not to be had" in teijo("calibrate")[1]
    assert "100,000,000 IOPS" in teijo("calibrate")[1]


def test_each_cell_of_a_method_is_shown_for_a_target(teijo: Teijo, tmp_path: Path) -> None:
    target = f"{tmp_path / 'drive.img'}?size=8MiB"
    code, out, err = teijo(
        "calibrate", "--for", target, "workload", "--set", "qd=4", "--seconds", "0.02"
    )
    assert code == 0
    assert "RND 4 KiB 100/0 TC 1 QD 4" in out
    assert "workload: 1 cell, about" in err
    assert "5 repeats of" in out
    assert "IOPS" in out
    assert "I/O scheduler" in out
    assert not (tmp_path / "drive.img").exists()


def test_programs_get_every_repeat_and_the_verdict(teijo: Teijo, tmp_path: Path) -> None:
    target = f"{tmp_path / 'drive.img'}?size=8MiB"
    code, out, _ = teijo(
        "calibrate", "--for", target, "workload", "--json", "--seconds", "0.02"
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    (cell,) = found["cells"]
    assert cell["name"] == "RND 4 KiB 100/0 TC 1 QD 1"
    assert len(cell["loop_iops_repeats"]) == 5
    assert cell["limit"] in ("cannot be known", "not the limit", "may be the limit")
    assert found["facts"]["processors used"]
    assert found["sentence"]


def test_it_is_held_against_what_the_drive_gave_in_a_run(teijo: Teijo, tmp_path: Path) -> None:
    """Planted: what the run is said to have given is far beyond any host."""
    target, run = f"{tmp_path / 'drive.img'}?size=8MiB", tmp_path / "run.teijo"
    assert teijo("run", "workload", target, "seconds=200ms", "-o", str(run))[0] == 0
    given = api.open(run)
    (step,) = given.record.steps
    taken = platform_in(given.record.environment)
    assert taken is not None
    assert isinstance(step.answer, StepResult)
    witness = step.answer.witness
    assert witness is not None
    # The step is held to its own cell's ceiling, not to one reckoned from another.
    assert witness.ceiling_iops == taken.cells[0].high
    assert [name for name, _ in header_rows(given.record)] == ["Host"]
    plan = api.plan_calibration(target, against=run)
    assert [cell_name(each) for each in plan.cells] == ["RND 4 KiB 100/0 TC 1 QD 1"]
    found = api.calibrate_for(plan, each_ns=2_000_000)
    assert found.against == given.record.run.id
    (cell,) = found.cells
    assert cell.given is not None
    assert cell.given.most_iops == measured(step.answer)
    refused = teijo("calibrate", "--for", target, "pts.iops", "--against", str(run))
    assert refused[0] == 2
    assert "one of workload" in refused[2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--for", "sim:mlc-a"), "is simulated"),
        (("pts.iops",), "are for a target"),
        (("--for", "dir:/tmp", "pts.iops"), "directory"),
    ],
)
def test_what_has_no_ceiling_is_refused(teijo: Teijo, words: tuple[str, ...], said: str) -> None:
    code, _, err = teijo("calibrate", *words)
    assert code == 2
    assert said in err


def measured(answer: object) -> float:
    assert isinstance(answer, StepResult)
    return answer.iops
