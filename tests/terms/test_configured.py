"""A configured device is detail of an answer and back."""

from teijo.terms.configured import detail_of, facts_in, geometry_in
from teijo.terms.geometry import Geometry, Identity

GEOMETRY = Geometry(
    capacity_bytes=1 << 30,
    nominal_capacity_bytes=1 << 35,
    logical_block_bytes=4096,
    physical_block_bytes=16384,
)
IDENTITY = Identity(
    kind="simulated", target="sim:a", model="A", facts={"chunk": "64 KiB", "ラベル": "“b”"}
)


def test_sizes_and_facts_come_back_as_they_were() -> None:
    detail = detail_of(IDENTITY, GEOMETRY)
    assert geometry_in(detail) == GEOMETRY
    assert facts_in(detail) == IDENTITY.facts
    assert (detail["target"], detail["model"]) == ("sim:a", "A")


def test_what_is_not_known_is_absent() -> None:
    assert not {"serial", "wwid", "firmware"} & set(detail_of(IDENTITY, GEOMETRY))


def test_a_device_on_paper_tells_neither() -> None:
    assert geometry_in({}) is None
    assert facts_in({}) == {}
