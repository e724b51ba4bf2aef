"""What a mistyped device was meant to be."""

from pathlib import Path

import pytest

from teijo.device.nearest import guess, shortened, sibling
from teijo.device.simulated import make_simulated
from teijo.device.target import SimulatedTarget, parse_target
from teijo.errors import PlanError, TargetError, TeijoError


@pytest.mark.parametrize(
    ("text", "says"),
    [("sim:mlca", "did you mean mlc-a?"), ("sim:mlc-a?sed=1", "did you mean seed?")],
)
def test_a_simulated_device_is_answered_by_the_nearest_in_one_line(text: str, says: str) -> None:
    target = parse_target(text)
    assert isinstance(target, SimulatedTarget)
    with pytest.raises(TeijoError) as refusal:
        make_simulated(target)
    assert says in refusal.value.message
    assert len(refusal.value.message) < 100, "all there are is said by the remedy"
    assert "There are: " in refusal.value.remedy


def test_an_error_that_lists_nothing_stays_as_it_is() -> None:
    error = PlanError("a value is impossible", remedy="Give another.")
    assert shortened(error) is error


def test_names_within_brackets_are_no_names_of_their_own() -> None:
    error = TargetError('x has no parameter "gx"; it has: gc (fifo, greedy or random), dies')
    assert shortened(error).remedy.endswith("There are: gc, dies.")


def test_a_name_beside_it_is_meant_and_a_far_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "nvme0n1").touch()
    assert sibling(tmp_path / "nvme0n") == f"; did you mean {tmp_path / 'nvme0n1'}?"
    assert sibling(tmp_path / "sdx") == ""
    assert sibling(tmp_path / "no folder" / "sdx") == ""
    assert guess("zzz", ["size"]) == ""
