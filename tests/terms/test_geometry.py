"""Geometry: the scale of a device that stands for a larger one."""

from teijo.terms.geometry import Geometry, Identity


def test_the_scale_is_nominal_by_own_capacity():
    assert Geometry(capacity_bytes=10, nominal_capacity_bytes=600).scale == 60
    assert Geometry(capacity_bytes=10, nominal_capacity_bytes=10).scale == 1


def test_what_is_not_known_of_a_device_is_empty():
    identity = Identity(kind="file", target="disk.img")
    assert {identity.model, identity.serial, identity.firmware, identity.write_cache} == {""}
    assert identity.facts == {}
