"""What several members are as one target: size, name and counters, against counting by hand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teijo.device.composition import geometry_over, health_over, identity_over, layout_over
from teijo.device.target import BlockTarget, CompositeTarget, FileTarget, parse_target
from teijo.errors import TargetError
from teijo.terms.geometry import Geometry, Identity
from teijo.units import KIB, MIB

A, B = (BlockTarget(text=f"/dev/{name}", path=Path(f"/dev/{name}")) for name in "ab")


def size(capacity_bytes: int, logical: int = 512, physical: int = 4096) -> Geometry:
    return Geometry(
        capacity_bytes=capacity_bytes,
        nominal_capacity_bytes=capacity_bytes,
        logical_block_bytes=logical,
        physical_block_bytes=physical,
    )


def striped(chunk_bytes: int = MIB) -> CompositeTarget:
    return CompositeTarget(
        text="stripe:A,B", kind="striped", members=(A, B), chunk_bytes=chunk_bytes
    )


def concatenated() -> CompositeTarget:
    return CompositeTarget(text="concat:A,B", kind="concatenated", members=(A, B))


def test_a_stripe_holds_the_smallest_members_whole_chunks_of_each() -> None:
    found = layout_over(striped(64 * KIB), [size(10 * MIB), size(3 * MIB + 100 * KIB)])
    assert found.kind == "striped"
    assert found.chunk_bytes == 64 * KIB
    assert found.capacity_bytes == 2 * (3 * MIB + 64 * KIB)


def test_a_concatenation_holds_all_whole_mebibytes() -> None:
    found = layout_over(concatenated(), [size(10 * MIB + 512), size(3 * MIB - 512)])
    assert found.member_bytes == (10 * MIB, 2 * MIB)
    assert found.capacity_bytes == 12 * MIB


@given(
    st.lists(st.integers(1, 2**16), min_size=2, max_size=2),
    st.integers(1, 2**10),
    st.sampled_from(["concatenated", "striped"]),
)
def test_no_member_is_used_beyond_its_end_and_less_than_a_chunk_of_the_least_is_left(
    sectors: list[int], chunk: int, kind: str
) -> None:
    members = [size(count * 512 + MIB) for count in sectors]
    target = striped(chunk * 512) if kind == "striped" else concatenated()
    found = layout_over(target, members)
    grain = chunk * 512 if kind == "striped" else MIB
    least = min(member.capacity_bytes for member in members)
    for used, member in zip(found.member_bytes, members, strict=True):
        assert used <= member.capacity_bytes
        assert used % grain == 0
        assert used + grain > (least if kind == "striped" else member.capacity_bytes)
    assert found.capacity_bytes == geometry_over(target, members).capacity_bytes


def test_blocks_are_the_largest_of_the_members() -> None:
    found = geometry_over(striped(), [size(MIB, 512, 16384), size(MIB, 4096, 4096)])
    assert (found.logical_block_bytes, found.physical_block_bytes) == (4096, 16384)


def test_a_chunk_that_cuts_a_logical_block_is_refused() -> None:
    with pytest.raises(TargetError, match="no multiple of the logical block of 4096"):
        layout_over(striped(6 * KIB), [size(MIB), size(MIB, 4096)])


def test_a_member_smaller_than_a_chunk_is_refused_by_name() -> None:
    with pytest.raises(TargetError, match="/dev/b holds less than 1 MiB"):
        layout_over(striped(), [size(MIB), size(MIB - 512)])


def who(target: str, **more: str) -> Identity:
    return Identity(kind="block", target=target, facts={"bus": "SAS", "slot": target}, **more)


def test_names_are_joined_in_the_members_order() -> None:
    members = [who("/dev/a", model="X", serial="S1", firmware="1"), who("/dev/b", model="Y")]
    found = identity_over(striped(), members, [size(2 * MIB), size(3 * MIB)])
    assert found.model == "striped over 2: X, Y"
    assert (found.serial, found.firmware, found.wwid) == ("S1", "1, not known", "")
    assert found.target == "stripe:A,B"
    assert dict(found.facts) == {
        "layout": "striped",
        "chunk": "1 MiB",
        "member 1": "/dev/a X S1, 2 MiB",
        "member 2": "/dev/b Y, 3 MiB",
        "left out": "1 MiB of the 5 MiB that the members hold, at their ends",
        "bus": "SAS",
        "slot": "1: /dev/a; 2: /dev/b",
    }


def test_members_of_one_model_are_counted() -> None:
    members = [who("/dev/a", model="X"), who("/dev/b", model="X")]
    found = identity_over(striped(), members, [size(MIB), size(MIB)])
    assert found.model == "striped over 2: 2 × X"


def test_swapped_members_are_another_device() -> None:
    a, b = who("/dev/a", model="X", serial="S1"), who("/dev/b", model="X", serial="S2")
    sizes = [size(MIB), size(MIB)]
    assert identity_over(striped(), [a, b], sizes) != identity_over(striped(), [b, a], sizes)


def test_it_is_a_file_only_if_all_members_are() -> None:
    a, b = who("/dev/a"), Identity(kind="file", target="b")
    sizes = [size(MIB), size(MIB)]
    assert identity_over(striped(), [a, b], sizes).kind == "block"
    assert identity_over(striped(), [b, b], sizes).kind == "file"


def test_events_add_up_and_states_do_not() -> None:
    a = {"kernel_writes": 3, "kernel_write_bytes": 4096, "temperature_kelvin": 300}
    b = {"kernel_writes": 4, "kernel_write_bytes": 8192, "temperature_kelvin": 310}
    assert health_over([a, b]) == {
        "kernel_writes": 7,
        "kernel_write_bytes": 12288,
        "kernel_write_bytes_member_1": 4096,
        "kernel_write_bytes_member_2": 8192,
        "temperature_kelvin_member_1": 300,
        "temperature_kelvin_member_2": 310,
    }


def test_what_one_member_does_not_count_has_no_sum() -> None:
    assert health_over([{"kernel_writes": 3}, {}]) == {}
    assert health_over([{"kernel_write_bytes": 5}, {}]) == {"kernel_write_bytes_member_1": 5}


def test_a_stripe_is_written_with_its_chunk_before_its_members(tmp_path: Path) -> None:
    target = parse_target(f"stripe?chunk=64KiB:{tmp_path}/a?size=8MiB,{tmp_path}/b?size=9MiB")
    assert isinstance(target, CompositeTarget)
    assert (target.kind, target.chunk_bytes) == ("striped", 64 * KIB)
    sizes = [one.size_bytes for one in target.members if isinstance(one, FileTarget)]
    assert sizes == [8 * MIB, 9 * MIB]


def test_a_stripe_without_a_chunk_has_orions(tmp_path: Path) -> None:
    target = parse_target(f"stripe:{tmp_path}/a?size=8MiB,{tmp_path}/b?size=8MiB")
    assert isinstance(target, CompositeTarget)
    assert target.chunk_bytes == MIB


def test_a_comma_within_a_name_is_escaped(tmp_path: Path) -> None:
    target = parse_target(rf"concat:{tmp_path}/a\,b?size=8MiB,{tmp_path}/c?size=8MiB")
    assert isinstance(target, CompositeTarget)
    assert [one.path.name for one in target.members] == ["a,b", "c"]
    assert target.chunk_bytes == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("stripe:HERE/a?size=8MiB", "several, and 1 is named"),
        ("stripe:HERE/a?size=8MiB,", "empty member"),
        ("stripe:", "several, and 1 is named"),
        ("stripe:HERE/a?size=8MiB,HERE/b", "no size is given"),
        ("stripe?chunk=0:HERE/a?size=8MiB,HERE/b?size=8MiB", "multiple of 512 B"),
        ("stripe?chunk=1000:HERE/a?size=8MiB,HERE/b?size=8MiB", "multiple of 512 B"),
        ("stripe?chunk=big:HERE/a?size=8MiB,HERE/b?size=8MiB", "is not a size"),
        ("stripe?size=8MiB:HERE/a,HERE/b", "no setting 'size'"),
        ("concat?chunk=64KiB:HERE/a?size=8MiB,HERE/b?size=8MiB", "no setting 'chunk'"),
        ("stripe:sim:mlc-a,HERE/b?size=8MiB", "is simulated"),
        ("concat:stripe:HERE/a?size=8MiB,HERE/b?size=8MiB", "is several targets already"),
        ("stripe:HERE/a?size=8MiB&chunk=64KiB,HERE/b?size=8MiB", "no setting 'chunk'"),
    ],
)
def test_a_mistake_in_a_composite_is_named(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse_target(text.replace("HERE", str(tmp_path)))
    assert why in str(caught.value)
    assert caught.value.remedy
