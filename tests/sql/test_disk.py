"""Which device's counter has the flushes, and which has none to count."""

from pathlib import Path

import pytest

from teijo.sql import disk
from teijo.sql.disk import DiskWatch, cache_of
from teijo.units import NS_PER_S

FLUSHED = " ".join(str(n) for n in range(17))


@pytest.fixture
def blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a /sys/dev/block with a disk 8:0, and a partition 8:1 on it."""
    monkeypatch.setattr(disk, "_BLOCKS", tmp_path)
    made(tmp_path, "8:0", "write back")
    made(tmp_path / "8:0", "8:1", "")
    (tmp_path / "8:0" / "8:1" / "partition").write_text("1\n")
    (tmp_path / "8:1").symlink_to(tmp_path / "8:0" / "8:1")
    return tmp_path


def made(place: Path, number: str, cache: str, *below: Path) -> Path:
    device = place / number
    (device / "slaves").mkdir(parents=True)
    (device / "dev").write_text(f"{number}\n")
    (device / "stat").write_text(f"{FLUSHED}\n")
    if cache:
        (device / "queue").mkdir()
        (device / "queue" / "write_cache").write_text(f"{cache}\n")
    for each in below:
        (device / "slaves" / each.name.replace(":", "_")).symlink_to(each)
    return device


def kinds(number: str) -> set[str]:
    with DiskWatch(number) as watch:
        pass
    return {each.operation for each in watch.results(NS_PER_S)}


def test_a_partition_s_flushes_are_counted_at_its_disk(blocks: Path) -> None:
    (blocks / "8:1" / "stat").write_text(" ".join(["5"] * 15) + " 0 0\n")
    assert disk._flushed("8:1") == "8:0"
    reading = disk._read("8:1", "8:0")
    assert reading is not None
    assert reading.kinds["disk-flush"] == (15, 0, 16)
    assert reading.kinds["disk-write"][0] == 5


def test_what_passes_flushes_on_to_one_device_has_that_one_s(blocks: Path) -> None:
    volume = made(blocks, "253:0", "write back", blocks / "8:1")
    made(blocks, "253:1", "write back", volume)
    assert disk._flushed("253:1") == "8:0"
    assert kinds("253:1") == {"disk-read", "disk-write", "disk-flush"}


def test_over_several_devices_nobody_knows_the_flushes(blocks: Path) -> None:
    made(blocks, "8:16", "write back")
    made(blocks, "9:0", "write back", blocks / "8:0", blocks / "8:16")
    assert disk._flushed("9:0") is None
    assert kinds("9:0") == {"disk-read", "disk-write"}


def test_of_a_device_without_a_volatile_cache_no_flush_is_missed(blocks: Path) -> None:
    made(blocks, "8:16", "write through")
    assert (cache_of("8:16"), cache_of("8:1"), cache_of(None)) == (
        "write through", "write back", "",
    )  # fmt: skip
    assert kinds("8:16") == {"disk-read", "disk-write"}


def test_layers_that_go_round_end(blocks: Path) -> None:
    loop = made(blocks, "253:0", "write back")
    (loop / "slaves" / "itself").symlink_to(loop)
    assert disk._flushed("253:0") is None


def test_a_device_that_is_gone_has_no_counters(blocks: Path) -> None:
    assert kinds("7:7") == set()
    with DiskWatch("8:0") as watch:
        (blocks / "8:0" / "stat").unlink()
    assert watch.results(NS_PER_S) == ()


def test_a_reading_that_came_late_begins_no_second_after_the_work(blocks: Path) -> None:
    watch = DiskWatch("8:0")
    for at_ns, count in ((0, 0), (900_000_000, 1), (1_700_000_000, 3), (2_100_000_000, 6)):
        kinds = {"disk-write": (count, 512 * count, 0)}
        watch._readings.append(disk._Reading(at_ns, kinds))
    (wrote,) = watch.results(1_900_000_000)
    assert wrote.intervals is not None
    assert wrote.intervals.index.tolist() == [0, 1]
    assert wrote.intervals.ios.tolist() == [1, 5]
    assert wrote.count == 6
