"""Where numbers are from follows from the device that this program drove."""

from teijo.terms.provenance import GROUP_MEANINGS, GroupName, provenance_of


def test_only_what_ran_on_a_simulated_device_is_simulated() -> None:
    assert provenance_of("simulated") == "simulated"
    assert {provenance_of(kind) for kind in ("file", "block", "directory", "database")} == {
        "measured"
    }


def test_every_name_of_a_group_has_a_meaning() -> None:
    assert set(GROUP_MEANINGS) == set(GroupName)
