"""Signatures: real formats made by their own tools, and magic values put where they belong."""

import os
import struct
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from teijo.device.contents import signatures
from teijo.device.contents.signatures import ProbeError, contents, read_signatures
from teijo.errors import UnsafeError
from teijo.units import MIB
from tests.device.loops import Loops, need, run, try_to_write

SIZE = 8 * MIB


@pytest.fixture
def image(tmp_path: Path) -> Iterator[int]:
    """A blank file, open for reading and writing."""
    fd = os.open(tmp_path / "image", os.O_RDWR | os.O_CREAT)
    os.truncate(fd, SIZE)
    yield fd
    os.close(fd)


def write_mbr(fd: int) -> None:
    """Write a table with one partition of 4 MiB."""
    entry = bytes([0x80, 0, 0, 0, 0x83, 0, 0, 0]) + struct.pack("<II", 2048, 8192)
    os.pwrite(fd, bytes(446) + entry + bytes(48) + b"\x55\xaa", 0)


def write_gpt(fd: int) -> None:
    """Write an empty table as the UEFI specification has it, checksums and all (§5.3.2)."""
    entries = bytes(128 * 128)
    last = SIZE // 512 - 1

    def header(checksum: int) -> bytes:
        return struct.pack(
            "<8sIIIIQQQQ16sQIII",
            b"EFI PART", 0x10000, 92, checksum, 0, 1, last, 34, last - 33,
            bytes(range(16)), 2, 128, 128, zlib.crc32(entries),
        )  # fmt: skip

    os.pwrite(fd, bytes(446) + bytes([0, 0, 2, 0, 0xEE, 255, 255, 255, 1, 0, 0, 0]), 0)
    os.pwrite(fd, struct.pack("<I", last) + bytes(48) + b"\x55\xaa", 458)
    os.pwrite(fd, header(zlib.crc32(header(0))), 512)
    os.pwrite(fd, entries, 1024)


def kinds(fd: int) -> set[str]:
    return {found.kind for found in read_signatures(fd, SIZE)}


@pytest.mark.parametrize(
    "command",
    [
        ("mkfs.ext4", "-q"),
        ("mkfs.xfs", "-q", "-f"),
        ("mkfs.btrfs", "-q", "-f"),
        ("mkswap",),
    ],
    ids=lambda command: command[0],
)
def test_a_device_with_a_real_format_is_refused_with_its_name_and_the_way_out(
    loops: Loops, command: tuple[str, ...]
) -> None:
    need(command[0])
    node = loops.new(size_bytes=320 * MIB)
    run(*command, str(node))
    fd = os.open(node, os.O_RDONLY)
    try:
        by_us = read_signatures(fd, 320 * MIB)
    finally:
        os.close(fd)
    assert by_us, "the built-in reader alone must see it"
    with pytest.raises(UnsafeError, match=r"signatures: it holds .*UUID") as caught:
        try_to_write(node)
    command = caught.value.remedy.partition("needed: ")[2]
    assert command.startswith(f"wipefs --all {node}")
    run("sh", "-c", command)  # copied as it stands, it must do
    assert try_to_write(node) == ""


def test_a_partition_table_is_refused(loops: Loops) -> None:
    for name, write in (("gpt", write_gpt), ("dos", write_mbr)):
        node = loops.new(f"{name}.img", size_bytes=SIZE)
        fd = os.open(node, os.O_RDWR)
        try:
            write(fd)
        finally:
            os.close(fd)
        with pytest.raises(UnsafeError, match=name):
            try_to_write(node)


def test_a_magic_on_a_real_device_is_a_refusal_where_libblkid_does_not_know_it(
    loop: Path, loops: Loops
) -> None:
    with (loops.folder / "disk.img").open("r+b") as file:
        file.seek(0)
        file.write(b"LUKS\xba\xbe")
    with pytest.raises(UnsafeError, match="crypto_LUKS"):
        try_to_write(loop)


def test_random_data_are_no_signature_and_not_blank(loop: Path, loops: Loops) -> None:
    size = (loops.folder / "disk.img").stat().st_size
    fd = os.open(loop, os.O_RDWR)
    try:
        assert contents(fd, size).blank
        os.pwrite(fd, bytes([0x5A]) * 4096, size - 4096)
        os.fsync(fd)
        found = contents(fd, size)
        assert not found.blank
        assert found.signatures == ()
    finally:
        os.close(fd)


def test_a_reader_that_fails_or_answers_nonsense_is_an_error(
    image: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for code, answer in ((1, ""), (0, "not json"), (0, '{"signatures": [{"type": "ext4"}]}')):

        def answered(
            *_: object, code: int = code, answer: str = answer, **__: object
        ) -> "subprocess.CompletedProcess[str]":
            return subprocess.CompletedProcess([], code, answer, "device busy")

        monkeypatch.setattr(subprocess, "run", answered)
        with pytest.raises(ProbeError, match="wipefs"):
            contents(image, SIZE)


def test_a_program_that_hangs_or_a_device_that_fails_is_an_error(
    image: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("wipefs", 60)

    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "run", hang)
        with pytest.raises(ProbeError, match="did not answer"):
            contents(image, SIZE)
    os.truncate(image, SIZE // 2)
    with pytest.raises(ProbeError, match="cannot be read"):
        contents(image, SIZE)


def test_without_wipefs_the_built_in_reader_says_that_it_was_alone(
    image: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signatures, "_SEARCH", "/nonexistent")
    assert contents(image, SIZE).readers == ("built in",)
