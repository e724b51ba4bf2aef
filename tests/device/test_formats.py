"""Formats: all of libblkid 2.40 and more are seen, and random content is not taken for one."""

import os
import random
from pathlib import Path

import pytest

from teijo import api
from teijo.device.contents import signatures, weak_formats
from teijo.device.contents.formats import MAGICS
from teijo.device.contents.signatures import read_signatures
from teijo.errors import UnsafeError
from teijo.units import MIB
from tests.device.libblkid import KNOWN, LATER, NAMES, Image
from tests.device.loops import Loops, need, run, try_to_write

OURS = {
    "ext2": "ext2/3/4", "ext3": "ext2/3/4", "ext4": "ext2/3/4", "ext4dev": "ext2/3/4",
    "jbd": "ext2/3/4", "gfs": "gfs/gfs2", "gfs2": "gfs/gfs2", "squashfs3": "squashfs",
    "PMBR": "dos",
}  # fmt: skip
"""Where our reader has one name for several formats."""


def minimal(path: Path, image: Image) -> Path:
    """Write the values of a format into a file that is otherwise a hole."""
    with path.open("wb") as file:
        file.truncate(image.size)
        for offset, value in image.values:
            file.seek(offset if offset >= 0 else image.size + offset)
            file.write(value)
    return path


def kinds(path: Path) -> set[str]:
    fd = os.open(path, os.O_RDONLY)
    try:
        return {found.kind for found in read_signatures(fd, path.stat().st_size)}
    finally:
        os.close(fd)


def named(image: Image) -> str:
    return f"{image.name}@{image.values[-1][0]}"


def by_wipefs(path: Path) -> list[tuple[str, int]]:
    """Return kind and offset of all that libblkid finds in a file."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return [(one.kind, one.offset_bytes) for one in signatures._wipefs(fd)]
    finally:
        os.close(fd)


def test_the_table_has_every_format_of_libblkid_2_40() -> None:
    assert {image.name for image in KNOWN} == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_format_of_libblkid_2_40_is_seen_and_named(tmp_path: Path, name: str) -> None:
    for image in KNOWN:
        if image.name != name:
            continue
        found = kinds(minimal(tmp_path / "image", image))
        wanted = OURS.get(name, name)
        if name == "minix" and image.values[-1][0] == 510:
            wanted = "dos"  # a table of Minix is one of DOS with its own type of partition
        if name == "udf" and image.values[0][1] == b"CD001":
            wanted = "iso9660"  # both begin so
        assert any(kind.startswith(wanted) for kind in found), (named(image), found)


@pytest.mark.parametrize("image", LATER, ids=named)
def test_what_libblkid_does_not_know_or_look_for_is_seen_and_named(
    tmp_path: Path, image: Image
) -> None:
    assert image.name in kinds(minimal(tmp_path / "image", image))


def test_all_that_wipefs_finds_in_the_images_our_reader_finds_too(tmp_path: Path) -> None:
    need("wipefs")
    seen = 0
    for image in KNOWN:
        path = minimal(tmp_path / "image", image)
        theirs = by_wipefs(path)
        seen += bool(theirs)
        assert not theirs or kinds(path), (named(image), theirs)
    assert seen > len(KNOWN) // 3, "wipefs looked at next to nothing"


def test_a_blank_device_holds_nothing_whatever_its_size(tmp_path: Path) -> None:
    for size in (512, 4096, 1536, 64 * 1024, MIB + 512, 3 * MIB - 4096, 2**40):
        path = tmp_path / "image"
        path.unlink(missing_ok=True)
        path.touch()
        os.truncate(path, size)
        assert kinds(path) == set(), size


def random_reads(random_bytes: random.Random) -> weak_formats.Read:
    """Return a reader of a device of random content; the same place reads the same twice."""
    seen: dict[tuple[int, int], bytes] = {}

    def read(place: int, length: int) -> bytes:
        if length > 4096:
            return b""  # the uberblocks: counted below, and slow to sample
        return seen.setdefault((place, length), random_bytes.randbytes(length))

    return read


def test_random_content_is_taken_for_a_format_less_than_once_in_a_thousand_devices() -> None:
    """Long values by arithmetic; short ones by their two bytes and how often the rest fits."""
    places = sum((magic.steps + 1) * 2.0 ** (-8 * len(magic.value)) for magic in MAGICS)
    uberblocks = 4 * 128 * 2 * 2.0**-32
    rng = random.Random(1)
    heads = 20_000
    hits = sum(
        1
        for _ in range(heads)
        if any(True for _ in weak_formats.weak_signatures(random_reads(rng), 2**40))
    )
    assert hits == 0  # of 20,000: below 1.5e-4 with 95 % certainty
    chance = places + uberblocks + with_two_bytes_given(rng)
    assert chance < 1e-5


SHORT = (
    (510, b"\x55\xaa"), (1080, b"\x53\xef"), (1040, b"\x7f\x13"), (1048, b"\x5a\x4d"),
    (1024, b"BD"), (1024, b"H+"), (0, b"HM"), (88, b"CS"), (508, b"\xda\xbe"), (0, b"ER"),
    (512, b"PM"), (1030, b"\x34\x34"), (2**40 - 512, b"\x55\xaa"), (2**40 - 512, b"JM"),
)  # fmt: skip
ALIKE = {(1040, b"\x7f\x13"): 8, (1048, b"\x5a\x4d"): 2, (1080, b"\x53\xef"): 9, (512, b"PM"): 4}
"""How many places or values a pair stands for."""


def with_two_bytes_given(rng: random.Random) -> float:
    """Return the chance of all short values: 2^-16 each, times how often the rest then fits."""
    chance = 0.0
    for place, value in SHORT:
        fits = 0
        for _ in range(1000):
            read = random_reads(rng)

            def given(
                at: int,
                length: int,
                read: weak_formats.Read = read,
                place: int = place,
                value: bytes = value,
            ) -> bytes:
                data = read(at, length)
                if at <= place < at + length and data:
                    inside = place - at
                    data = data[:inside] + value + data[inside + len(value) :]
                return data

            fits += any(True for _ in weak_formats.weak_signatures(given, 2**40))
        chance += 2.0**-16 * ALIKE.get((place, value), 1) * (fits + 3) / 1000
    return chance


@pytest.fixture
def device(loops: Loops) -> tuple[Path, Path]:
    """A loop device and the file under it."""
    node = loops.new()
    return node, loops.folder / "disk.img"


@pytest.mark.parametrize("name", ["BitLocker", "bcachefs", "stratis", "geli", "btrfs", "atari"])
def test_a_header_on_a_device_refuses_the_run_and_the_remedy_ends_it(
    device: tuple[Path, Path], name: str
) -> None:
    node, file = device
    image = next(image for image in (*KNOWN, *LATER) if image.name == name)
    minimal(file, image._replace(size=file.stat().st_size))
    run("blockdev", "--flushbufs", str(node))
    with pytest.raises(UnsafeError, match=name) as caught:
        try_to_write(node)
    assert caught.value.exit_code == 3
    run("sh", "-c", caught.value.remedy.partition("needed: ")[2])
    assert try_to_write(node) == ""


def test_a_device_of_large_sectors_is_read_by_its_own_sectors(loops: Loops) -> None:
    path = minimal(loops.folder / "disk.img", next(one for one in LATER if one.name == "geli"))
    with path.open("r+b") as file:
        file.seek(-512, os.SEEK_END)
        file.write(bytes(512))
        file.seek(-4096, os.SEEK_END)
        file.write(b"GEOM::ELI")
    node = loops.over(path, "--sector-size", "4096")
    with pytest.raises(UnsafeError, match="geli at byte"):
        try_to_write(node)


def test_a_device_written_by_an_earlier_run_is_not_refused(tmp_path: Path) -> None:
    for verify in ("after", "off"):
        path = tmp_path / "disk.img"
        api.run(
            "workload",
            f"{path}?size=8MiB",
            output=tmp_path / verify,
            overwrite=True,
            seed=1,
            settings={"rw": "write", "bs": "64KiB", "qd": "4", "bytes": "8MiB", "verify": verify},
        )
        assert any(path.read_bytes()[:4096]), "the run wrote nothing at the start"
        assert kinds(path) == set()
