"""What several drives share, from the parts of each one's way."""

import pytest
from pydantic import ValidationError

from teijo.terms.topology import KINDS, Part, Sharers, Way, groups_of, ranges, unknown_of


def named(group: Sharers) -> list[str]:
    return [f"{part.kind} {part.name}" for part in group.parts]


def test_numbers_are_told_as_ranges() -> None:
    assert ranges([8, 0, 1, 3, 2]) == "0-3,8"
    assert ranges([]) == ""


def test_groups_are_the_sets_of_drives_that_share_the_smallest_first() -> None:
    def way(*names: str) -> Way:
        return Way(parts=tuple(Part(kind="disk", name=name) for name in names))

    ways = {"a": way("x", "y", "z"), "b": way("x", "y"), "c": way("x", "own")}
    assert [(group.drives, named(group)) for group in groups_of("here", ways)] == [
        (("a", "b"), ["disk y"]), (("a", "b", "c"), ["disk x"]),
    ]  # fmt: skip


def test_processors_make_no_group_and_are_told_where_they_serve_several() -> None:
    def way(*cpus: str) -> Way:
        served = tuple(Part(kind="interrupts", name=cpu) for cpu in cpus)
        return Way(parts=(Part(kind="adapter", name="x"), *served))

    ways = {"a": way("0", "1"), "b": way("1", "2"), "c": way("3", "9")}
    (group,) = groups_of("here", ways)
    assert (group.drives, named(group)) == (("a", "b", "c"), ["adapter x", "interrupts 1"])


def test_the_narrowest_part_is_the_link_that_carries_the_least() -> None:
    parts = (
        Part(kind="adapter", name="a", usable=7),
        Part(kind="PCIe bridge", name="b", usable=5),
        Part(kind="host", name="c"),
    )
    group = Sharers(host="here", drives=("a", "b"), parts=parts)
    assert group.narrowest == parts[1]
    assert Sharers(host="here", drives=("a", "b"), parts=parts[2:]).narrowest is None


def test_what_is_not_told_is_listed_by_kind_nearest_first() -> None:
    ways = {"a": Way(unknown=("interrupts", "disk")), "b": Way(unknown=("disk",)), "c": Way()}
    assert unknown_of(ways) == {"disk": ("a", "b"), "interrupts": ("a",)}


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "moon"}, {"name": "x" * 301}, {"usable": 0}, {"usable": 2**60}, {"more": 1}],
)
def test_a_part_of_another_host_is_held_to_its_form(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Part.model_validate({"kind": KINDS[0], "name": "sda"} | wrong)
    assert Part(kind="disk", name="\x1b[31m").name.isprintable()
