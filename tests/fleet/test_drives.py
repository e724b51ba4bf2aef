"""Which drives a plan means on hosts that were made up, and what stands against it."""

import pytest

from teijo.fleet.drives import meant_by, missing_serials, seed_of
from tests.fleet.plans import QUICK, drive, plan, told

TWO = 'fleet = "lab"\n' + QUICK + '[[host]]\nname = "a"\n[[host]]\nname = "b"\n'


def test_serials_are_found_on_whichever_host_has_them() -> None:
    asked = plan('[[targets]]\nserials = ["S2", "S1"]\n', TWO)
    meant = meant_by(asked, {"a": told(drive("S1")), "b": told(drive("S2"))}, 7)
    assert not meant.problems
    assert [(each.host, each.serial, each.target) for each in meant.orders] == [
        ("a", "S1", "/dev/s1"),
        ("b", "S2", "/dev/s2"),
    ]
    assert meant.serials == ["S1", "S2"]
    assert not missing_serials(asked, meant.orders)


def test_a_serial_that_no_host_has_is_missing() -> None:
    asked = plan('[[targets]]\nserials = ["S1", "S9"]\n', TWO)
    meant = meant_by(asked, {"a": told(drive("S1")), "b": told()}, 7)
    assert missing_serials(asked, meant.orders) == ["S9"]


@pytest.mark.parametrize("rule", ['model = "ACME*"', 'by_id = "nvme-S*"'])
def test_a_pattern_means_the_drives_it_fits_and_count_checks_it(rule: str) -> None:
    host = told(drive("S1"), drive("S2"), drive("Q3", model="OTHER", by_id=["ata-Q3"]))
    meant = meant_by(plan(f"[[targets]]\n{rule}\ncount = 2\nspares = 1\n"), {"local": host}, 7)
    assert not meant.problems
    assert [(each.name, each.is_spare) for each in meant.orders] == [("S1", False), ("S2", True)]
    meant = meant_by(plan(f"[[targets]]\n{rule}\ncount = 3\n"), {"local": host}, 7)
    assert meant.problems == ["targets 1: 2 drives on local, and the plan counts 3"]


def test_all_that_stands_against_drives_is_named() -> None:
    asked = plan(
        '[[targets]]\nserials = ["S1", "S1"]\n[[targets]]\nhosts = ["b"]\nserials = ["S9"]\n'
        '[[targets]]\nmodel = "ACME*"\n[[targets]]\nhosts = ["a"]\nfile = "/x"\n'
        '[[targets]]\nhosts = ["a"]\nfile = "/x"\n',
        TWO,
    )
    hosts = {
        "a": told(drive("S1"), drive("S2", use="ext4 at /home"), drive("")),
        "b": told(drive("S1"), drive("S4"), drive("S4", target="/dev/other")),
    }
    problems = "\n".join(meant_by(asked, hosts, 7).problems)
    for word in (
        "b has no drive S9",
        "S2 on a (/dev/s2) is in use: ext4 at /home",
        "/dev/ on a tells no serial",
        "S1 is on more than one host: a, b",
        "S4 is meant 2 times on b",
        "a:/x is meant 2 times on a",
    ):
        assert word in problems, word


def test_a_drive_that_a_host_has_by_two_paths_is_refused() -> None:
    host = told(drive("S1"), drive("S1", target="/dev/second"))
    meant = meant_by(plan('[[targets]]\nserials = ["S1"]\n'), {"local": host}, 7)
    assert meant.problems == ["targets 1: S1 is on local more than once: /dev/s1, /dev/second"]


def test_a_plan_that_means_nothing_is_refused() -> None:
    meant = meant_by(plan('[[targets]]\nmodel = "NONE*"\n'), {"local": told(drive("S1"))}, 7)
    assert meant.problems == ["The plan means no drive"]


def test_each_run_has_a_seed_a_name_and_a_group_of_its_own() -> None:
    asked = plan('[[targets]]\nsim = "slc-a?seed={n}"\ncount = 40\n')
    orders = meant_by(asked, {"local": told()}, 7).orders
    assert len({order.seed for order in orders}) == len({order.run for order in orders}) == 40
    assert orders[6].seed == seed_of(7, 7) < 2**53
    assert orders[6].run == "lab-0007-slc-a-7.teijo"
    assert orders[6].group == {"fleet": "lab", "host": "local", "drive": "slc-a-7"}
    assert meant_by(asked, {"local": told()}, 8).orders[6].seed != orders[6].seed


def test_the_words_of_a_run_name_its_seed_its_group_and_its_one_serial() -> None:
    asked = plan('[[targets]]\nserials = ["S1"]\n')
    (order,) = meant_by(asked, {"local": told(drive("S1"), drive("S2"))}, 7).orders
    words = order.words("/there/x.teijo")
    assert words[:3] == ("run", "-o", "/there/x.teijo")
    assert words[-3:] == ("--", "workload", "/dev/s1")
    assert words[words.index("--destroy") + 1] == "S1"
    assert "fleet=lab" in words
    assert "--overwrite" not in words
    assert "--overwrite" in order.words("x", overwrite=True)
    assert order.words_to_resume("x")[-2:] == ("--destroy", "S1")
