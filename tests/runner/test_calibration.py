"""Ceilings cell by cell: the cells are the method's own, and what cannot be driven is said."""

import pytest

from teijo.errors import HostError
from teijo.methods.registry import method_named
from teijo.runner import calibration
from teijo.runner.calibration import REPEATS_OF_A_RUN, cells_of, expected_ns, measured, of_run
from teijo.terms.geometry import Geometry
from teijo.terms.platform import HostCell, cell_name
from teijo.units import GIB
from tests.terms.test_platform import cell

DRIVE = Geometry(capacity_bytes=64 * GIB, nominal_capacity_bytes=64 * GIB)
LAP_NS = 1_000_000


def cells(name: str, **settings: str) -> tuple[HostCell, ...]:
    method = method_named(name)
    return cells_of(method, method.settings(method.default_spec, settings, DRIVE), DRIVE)


def test_the_cells_are_those_that_the_method_asks_for() -> None:
    found = cells("pts.iops")
    # Eight sizes by seven mixes, and the preconditioning.
    assert len(found) == 8 * 7 + 1
    assert cell_name(found[0]).startswith("SEQ 128 KiB 0/100 ")
    assert len(cells("classic.crystaldiskmark")) == 8


def test_each_cell_is_driven_with_its_threads_depth_and_blocks() -> None:
    asked = (
        cell(),
        cell(threads=2, queue_depth=16, read_percent=0, block_size_bytes=131072),
        cell(block_mix=((4096, 1), (8192, 3)), block_size_bytes=8192, queue_depth=4),
    )
    said: list[tuple[int, int]] = []
    found = measured(
        asked, DRIVE, each_ns=LAP_NS, repeats=3, told=lambda done, of: said.append((done, of))
    )
    assert [each.cell for each in found] == list(asked)
    assert said[-1] == (3 * 3 * 2, 3 * 3 * 2)
    for each in found:
        assert len(each.loop_iops) == 3
        assert len(each.nop_iops) == 3 or each.why_not
        if each.low is not None:
            assert each.middle is not None
            assert each.high is not None
            assert 0 < each.low <= each.middle <= each.high


def test_repeats_take_turns_over_all_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[tuple[int, HostCell]] = []

    def drive(self: "calibration._Seen", *arguments: object) -> None:
        turn = arguments[-1]
        assert isinstance(turn, int)
        order.append((turn, self.cell))

    monkeypatch.setattr(calibration._Seen, "drive", drive)
    both = (cell(), cell(queue_depth=8))
    measured(both, DRIVE, each_ns=LAP_NS, repeats=3, with_loop=False)
    assert order == [(turn, one) for turn in range(3) for one in both]


def test_what_cannot_be_driven_has_no_figure_and_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*arguments: object, **named: object) -> object:
        raise HostError("The kernel refuses a ring", remedy="None.")

    (judged,) = measured((cell(verified=True),), DRIVE, each_ns=LAP_NS, repeats=3)
    assert (judged.low, judged.nop_iops) == (None, ())
    assert "judge data" in judged.why_not
    (odd,) = measured((cell(block_size_bytes=1000),), DRIVE, each_ns=LAP_NS, repeats=3)
    assert "no multiple" in odd.why_not
    monkeypatch.setattr(calibration, "open_descriptor", refused)
    (none,) = measured((cell(),), DRIVE, each_ns=LAP_NS, repeats=3)
    assert none.why_not == "The kernel refuses a ring."


def test_a_session_takes_the_way_that_its_run_would() -> None:
    one, deep, wide = cell(), cell(queue_depth=2), cell(threads=2)
    ways = [calibration._way(each, "io_uring") for each in (one, deep, wide)]
    assert ways == ["nop-call", "nop", "nop"]
    assert calibration._way(deep, "sync") == "nop-call"


def test_the_start_of_a_run_measures_each_cell_once_in_a_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calibration, "_KNOWN", {})
    method = method_named("workload")
    settings = method.settings("", {"qd": "3"}, DRIVE)
    first = of_run(method, settings, DRIVE, backend="io_uring")
    assert len(first.cells) == 1
    assert len(first.cells[0].nop_iops) == REPEATS_OF_A_RUN
    monkeypatch.setattr(calibration._Seen, "drive", None)
    assert of_run(method, settings, DRIVE, backend="io_uring").cells == first.cells


def test_more_cells_take_longer_and_none_takes_none() -> None:
    assert expected_ns(0, each_ns=LAP_NS) == 0
    assert expected_ns(2, each_ns=LAP_NS) == 2 * expected_ns(1, each_ns=LAP_NS)
