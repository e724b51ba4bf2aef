"""Targets of several members: what they hold, where an address lies, and what is refused."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.engine import Layout, Session, open_descriptor, open_fio
from teijo.errors import DeviceError, PlanError
from tests.engine.plans import LONG_NS, MIB, SECOND_NS, for_bytes, for_time, stream, totals

CHUNK = MIB // 4
SIZES = (MIB + CHUNK, 2 * MIB, MIB + CHUNK + 4096)
STRIPED = Layout(kind="striped", member_bytes=SIZES, chunk_bytes=CHUNK)
CONCATENATED = Layout(kind="concatenated", member_bytes=SIZES)


def members(folder: Path) -> list[Path]:
    paths = [folder / f"member{number}" for number in range(len(SIZES))]
    for path, size in zip(paths, SIZES, strict=True):
        path.write_bytes(bytes(size))
    return paths


@contextmanager
def opened(paths: list[Path], layout: Layout, **changes: Any) -> Iterator[Session]:
    with ExitStack() as stack:
        descriptors = [os.open(path, os.O_RDWR | os.O_DIRECT) for path in paths]
        for descriptor in descriptors:
            stack.callback(os.close, descriptor)
        options: dict[str, Any] = {"capacity_bytes": layout.capacity_bytes, "layout": layout}
        session = open_descriptor(descriptors, **(options | changes))
        stack.callback(session.close)
        yield session


def places(layout: Layout, grain: int) -> list[tuple[int, int]]:
    """Return (member, offset) of every grain of the target, one after the other."""
    if layout.kind == "concatenated":
        sizes = enumerate(layout.member_bytes)
        return [(number, at) for number, size in sizes for at in range(0, size, grain)]
    rows = range(0, min(layout.member_bytes) - layout.chunk_bytes + 1, layout.chunk_bytes)
    return [
        (number, row + at)
        for row in rows
        for number in range(len(layout.member_bytes))
        for at in range(0, layout.chunk_bytes, grain)
    ]


@given(
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=6),
    chunk=st.integers(1, 300),
)
def test_a_target_holds_what_its_members_hold_in_whole_chunks(sizes: list[int], chunk: int) -> None:
    together = Layout(kind="concatenated", member_bytes=tuple(sizes))
    assert together.capacity_bytes == len(places(together, 1))
    if chunk <= min(sizes):
        striped = Layout(kind="striped", member_bytes=tuple(sizes), chunk_bytes=chunk)
        assert striped.capacity_bytes == len(places(striped, 1))


@pytest.mark.parametrize("backend", ["auto", "sync"])
@pytest.mark.parametrize("layout", [STRIPED, CONCATENATED], ids=lambda layout: layout.kind)
def test_a_write_lands_on_the_members_its_addresses_lie_on(
    scratch: Path, layout: Layout, backend: str
) -> None:
    paths = members(scratch)
    start, length = CHUNK - 8192, 5 * CHUNK + 3 * 4096
    write = stream(
        length,
        start_bytes=start,
        access="sequential",
        read_percent=0,
        block_size_bytes=2 * CHUNK + 4096,
        flush_every_writes=2,
    )
    with opened(paths, layout, backend=backend) as session:
        lap = session.run(for_bytes(length, write))
    assert totals(lap)[1] == length
    contents = [path.read_bytes() for path in paths]
    for address, (member, offset) in enumerate(places(layout, 4096)):
        holds_data = any(contents[member][offset : offset + 4096])
        assert holds_data == (start <= address * 4096 < start + length), (address, member)


@pytest.mark.parametrize("layout", [STRIPED, CONCATENATED], ids=lambda layout: layout.kind)
def test_every_thread_reads_the_whole_target(scratch: Path, layout: Layout) -> None:
    size = layout.capacity_bytes // 4096 * 4096
    with opened(members(scratch), layout) as session:
        lap = session.run(for_bytes(8 * size, stream(size, threads=3, block_size_bytes=64 << 10)))
    assert totals(lap)[1] == 8 * size
    assert not lap.failure
    assert all(not direction.errors for direction in lap.result.results)


def test_a_member_that_fails_is_named_and_what_was_measured_is_kept(scratch: Path) -> None:
    paths = [members(scratch)[0], Path("/dev/full")]
    layout = Layout(kind="striped", member_bytes=(MIB, MIB), chunk_bytes=4096)
    descriptors = [os.open(path, os.O_RDWR) for path in paths]
    try:
        session = open_descriptor(descriptors, capacity_bytes=2 * MIB, layout=layout)
        lap = session.run(for_time(LONG_NS, stream(2 * MIB, read_percent=0)))
        session.close()
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    assert lap.failure.startswith("the target's member 2 is gone")
    assert totals(lap)[0] > 0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "single", "member_bytes": (MIB, MIB)}, "2 members are no single target"),
        ({"kind": "concatenated", "member_bytes": ()}, "make no target"),
        ({"kind": "concatenated", "member_bytes": (MIB, 0)}, "make no target"),
        ({"kind": "striped", "member_bytes": (MIB, MIB)}, "A chunk of 0 B"),
        ({"kind": "striped", "member_bytes": (MIB,), "chunk_bytes": 2 * MIB}, "cannot be striped"),
    ],
)
def test_a_layout_without_meaning_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message) as refused:
        Layout(**fields)
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("layout", "changes", "message"),
    [
        (STRIPED, {"capacity_bytes": 16 * MIB}, "is not one of 3 descriptors"),
        (
            Layout(kind="concatenated", member_bytes=SIZES[:2]),
            {},
            "is not one of 3 descriptors",
        ),
        (
            Layout(kind="striped", member_bytes=SIZES, chunk_bytes=4096 + 512),
            {"logical_block_bytes": 4096},
            "ends at 4608 B, within a logical block of 4096 B",
        ),
    ],
)
def test_a_layout_that_is_not_the_descriptors_is_refused(
    scratch: Path, layout: Layout, changes: dict[str, Any], message: str
) -> None:
    with (
        pytest.raises(PlanError, match=message),
        opened(members(scratch), layout, **changes),
    ):
        pass


def test_a_plan_beyond_the_members_is_refused(scratch: Path) -> None:
    with (
        opened(members(scratch), STRIPED) as session,
        pytest.raises(DeviceError, match="The target holds"),
    ):
        session.run(for_time(SECOND_NS, stream(STRIPED.capacity_bytes + 4096)))


def test_a_depth_of_blocks_in_more_pieces_than_a_ring_holds_is_refused(scratch: Path) -> None:
    layout = Layout(kind="striped", member_bytes=SIZES, chunk_bytes=4096)
    with opened(members(scratch), layout, backend="auto") as session:
        if session.backend != "io_uring":
            pytest.skip("no ring here, and plain system calls have no such limit")
        with pytest.raises(PlanError, match="Blocks of 1048576 B, 200 at a time") as refused:
            session.run(for_time(1, stream(MIB, block_size_bytes=MIB, queue_depth=200)))
    assert "larger chunk" in refused.value.remedy


def test_fio_is_not_driven_over_several_targets() -> None:
    with pytest.raises(PlanError, match="fio is not driven over several targets") as refused:
        open_fio([0, 1, 2], capacity_bytes=STRIPED.capacity_bytes, layout=STRIPED)
    assert "--engine native" in refused.value.remedy
