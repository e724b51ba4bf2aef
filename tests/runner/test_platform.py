"""What a run records of its host: nothing in virtual time, facts without ceilings by fio."""

from contextlib import closing
from pathlib import Path

import pytest

from teijo.device import open_target
from teijo.device.platform import FACTS
from teijo.methods.registry import method_named
from teijo.runner.calibration import REPEATS_OF_A_RUN
from teijo.runner.ceiling import ceiling_of
from teijo.runner.platform import platform_facts
from teijo.terms.platform import FACT, CellCeiling, Platform, platform_in
from teijo.terms.step import Measure
from teijo.terms.workload import Stream, Workload
from tests.runner.test_ceiling import HOST
from tests.terms.test_platform import cell

METHOD = method_named("workload")


def step(depth: int) -> Measure:
    stream = Stream(read_percent=100, block_size_bytes=4096, queue_depth=depth)
    return Measure(workload=Workload(streams=(stream,)), duration_ns=1)


def test_in_virtual_time_nothing_is_recorded() -> None:
    with closing(open_target("sim:mlc-a", write=False)) as device:
        settings = METHOD.settings("", {}, device.geometry)
        assert platform_facts(METHOD, settings, device, ()) == {}


def test_a_real_target_has_its_cells_and_the_way_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "drive.img"
    place.write_bytes(bytes(1 << 20))
    with closing(open_target(str(place), write=False)) as device:
        settings = METHOD.settings("", {"qd": "7"}, device.geometry)
        found = platform_facts(METHOD, settings, device, ())
        assert found.keys() >= {*FACTS, FACT, "ceiling memory"}
        taken = platform_in(found)
        assert taken is not None
        (only,) = taken.cells
        assert only.cell == cell(queue_depth=7)
        assert len(only.nop_iops) == REPEATS_OF_A_RUN or only.why_not
        monkeypatch.setattr(type(device.session), "ceilings", lambda self: None)
        assert platform_facts(METHOD, settings, device, ()).keys() == set(FACTS)


def test_a_step_is_held_to_its_own_cell_where_that_was_measured() -> None:
    own = CellCeiling(cell=cell(queue_depth=4), nop_iops=(10.0, 30.0, 20.0))
    taken = Platform(cells=(own, CellCeiling(cell=cell(), why_not="refused")))
    assert ceiling_of(step(4), HOST, taken) == 30.0
    for depth in (1, 32):
        assert ceiling_of(step(depth), HOST, taken) == ceiling_of(step(depth), HOST)
    assert ceiling_of(step(4), None, taken) == 30.0
