"""A simulated device written in a TOML file: what it stands for, and where a mistake in it is."""

import re
from contextlib import closing
from pathlib import Path

import pytest

from teijo import api
from teijo.device import open_target, parse_target
from teijo.device.target import SimulatedTarget
from teijo.errors import PlanError, TargetError
from teijo.runfile import reader

PAGE = Path(__file__).parents[2] / "docs" / "targets.md"
RAID = """
kind = "raid5"
chunk = "64KiB"
failed = [0]

[[parts]]
device = "hdd-7200"
count = 3
write_cache = 0

[[parts]]
kind = "faulty"
slow_factor = 1.5

[[parts.parts]]
device = "hdd-5400"
"""
TEXT = "sim:raid5(3×hdd-7200?write_cache=0,faulty(hdd-5400)?slow_factor=1.5)?chunk=64KiB&failed=0"


def spelt(tmp_path: Path, toml: str) -> SimulatedTarget:
    """Return what a file of this content stands for."""
    path = tmp_path / "device.toml"
    path.write_text(toml)
    target = parse_target(f"sim:{path}")
    assert isinstance(target, SimulatedTarget)
    return target


def test_tables_become_the_text_they_stand_for(tmp_path: Path) -> None:
    target = spelt(tmp_path, RAID)
    assert target.text == TEXT
    with closing(open_target(f"sim:{tmp_path / 'device.toml'}", write=True)) as device:
        assert device.identity.target == TEXT
        with closing(open_target(TEXT, write=True)) as typed:
            assert device.identity == typed.identity
    assert spelt(tmp_path, 'device = "mlc-a"\ncapacity = "1GiB"').text == "sim:mlc-a?capacity=1GiB"
    assert spelt(tmp_path, 'device = "raid50-36"').text == "sim:raid50-36"


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert example is not None
    path = tmp_path / "array.toml"
    path.write_text(example[1])
    settings = {"rw": "randread", "bs": "4KiB", "qd": "8", "seconds": "1"}
    run = api.run("workload", f"sim:{path}", output=tmp_path / "run", settings=settings)
    assert run.record.steps[-1].answer.ios > 50  # type: ignore[union-attr]
    path.unlink()
    target = reader.read(tmp_path / "run.teijo").identity.target
    assert target == "sim:raid5(3×hdd-7200,faulty(hdd-7200)?slow_factor=5)?chunk=64KiB"
    open_target(target, write=False).close()


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("chunk = 1", "device.toml, the top: it says neither device nor kind"),
        ('device = "a"\nkind = "b"', "the top: it says both device and kind"),
        ('device = "mlc-a"\nparts = [{device = "slc-a"}]', "the top: parts make a kind"),
        ('device = "mlc-a"\ncount = 2', "the top, key count: a target is one device"),
        ('kind = "raid1"\nparts = 3', "the top, key parts: it is no list of tables"),
        ('kind = "raid1"\nparts = [{device = "mlc-a", count = 0}]', r"parts\[1\], key count: 0"),
        ('device = "mlc-a?seed=3"', "the top, key device: 'mlc-a"),
        ('device = "mlc-a"\ngc = "greedy&seed=2"', "the top, key gc: 'greedy&seed=2' is no name"),
        ('device = "mlc-a"\nseed = true', "the top, key seed: no parameter is true or false"),
        ('device = "mlc-a"\nseed = {a = 1}', "the top, key seed: {'a': 1} is no number"),
        ("device = mlc-a", r"is no TOML: .*line 1"),
    ],
)
def test_a_file_that_describes_no_device_is_refused_where_it_is_wrong(
    tmp_path: Path, toml: str, said: str
) -> None:
    with pytest.raises(TargetError, match=said) as caught:
        open_target(f"sim:{_written(tmp_path, toml)}", write=True)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("write_cache = 0", "write_cash = 0", r"parts\[1\], key write_cash: .*no parameter"),
        ('"hdd-5400"', '"hdd-5401"', r'parts\[2\]\.parts\[1\]: .*no simulated device "hdd-5401"'),
        ("slow_factor = 1.5", "slow_factor = 0.5", r"parts\[2\], key slow_factor: .*at least 1"),
        ("[0]", "[9]", r"the top: .*there is no member 9"),
        ('"raid5"', '"mlc-a"', "the top: .*mlc-a takes no brackets"),
        ('"faulty"', '"raid0"', r"parts\[2\], key slow_factor: .*no parameter"),
    ],
)
def test_what_the_simulator_refuses_is_told_with_file_table_and_key(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in RAID
    path = _written(tmp_path, RAID.replace(old, new))
    with pytest.raises((TargetError, PlanError), match=f"device.toml, {said}"):
        open_target(f"sim:{path}", write=True)


def test_a_file_is_whole_and_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot be read"):
        parse_target(f"sim:{tmp_path / 'none.toml'}")
    with pytest.raises(TargetError, match="seed=3 stands behind it"):
        parse_target(f"sim:{_written(tmp_path, RAID)}?seed=3")


def _written(tmp_path: Path, toml: str) -> Path:
    path = tmp_path / "device.toml"
    path.write_text(toml)
    return path
