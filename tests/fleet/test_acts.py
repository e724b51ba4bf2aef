"""A plan looked over on hosts that were made up, and hosts that cannot be reached."""

from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from teijo.errors import HostError, PlanError
from teijo.fleet import acts, ray_hosts
from teijo.fleet.hosts import HostLost
from teijo.runfile import program
from tests.fleet.plans import QUICK, drive, plan, told

TWO = 'fleet = "lab"\n' + QUICK + '[[host]]\nname = "a"\n[[host]]\nname = "b"\n'


class Telling:
    """A host that tells what it is told to, and examines each drive with the same answer."""

    def __init__(self, name: str, answer: dict[str, Any] | None, problem: str = "") -> None:
        self.name, self.answer, self.problem = name, answer, problem
        self.asked: list[str] = []

    def ask(self, what: str, *_given: Any) -> Any:
        self.asked.append(what)
        if self.answer is None:
            raise HostLost("no route")
        return self.answer if what == "told" else {"problem": self.problem}


def over(rules: str, *hosts: Telling) -> list[str]:
    seen = acts.look_over(plan(rules, TWO), {host.name: host for host in hosts})
    assert all(set(host.asked) <= {"told", "examine"} for host in hosts)
    return list(seen.problems)


def host(name: str, *drives: dict[str, Any], build: str = "", problem: str = "") -> Telling:
    return Telling(name, told(*drives, build=build or program.build()), problem)


def test_a_host_with_another_program_is_named_with_both_digests() -> None:
    (problem,) = over(
        '[[targets]]\nserials = ["S1"]\n', host("a", drive("S1")), host("b", build="f00")
    )
    assert "b has another Teijo" in problem
    assert "f00" in problem
    assert program.build() in problem


def test_a_host_that_is_silent_is_named_and_hides_no_drive_from_the_list() -> None:
    problems = over('[[targets]]\nserials = ["S1"]\n', host("a"), Telling("b", None))
    assert problems == ["b does not answer: no route"]


def test_a_drive_that_no_host_has_is_named_once() -> None:
    problems = over('[[targets]]\nserials = ["S1", "S2"]\n', host("a", drive("S1")), host("b"))
    assert problems == ["No host has a drive S2"]


def test_a_missing_serial_is_not_hidden_by_one_that_begins_alike() -> None:
    rules = '[[targets]]\nserials = ["S1"]\n[[targets]]\nhosts = ["a"]\nserials = ["S10"]\n'
    problems = over(rules, host("a"), host("b"))
    assert problems == ["targets 2: a has no drive S10", "No host has a drive S1"]


def test_simulated_drives_are_examined_once_only_where_their_seed_alone_differs() -> None:
    asked = plan(
        '[[targets]]\nhosts = ["a"]\nsim = "mlc-a?seed={n}"\ncount = 9\n'
        '[[targets]]\nhosts = ["a"]\nsim = "mlc-a?capacity=1KiB"\n',
        TWO,
    )
    one, other = host("a"), host("b")
    acts.look_over(asked, {"a": one, "b": other})
    assert one.asked.count("examine") == 2


def test_what_stands_against_many_drives_of_a_host_is_told_once() -> None:
    problems = over(
        '[[targets]]\nmodel = "ACME*"\n',
        host("a", drive("S1"), drive("S2"), drive("S3"), problem="no such setting"),
        host("b", drive("S4")),
    )
    assert problems == ["S1 and 2 more on a: no such setting"]


def test_without_ray_other_hosts_cannot_be_reached(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ray_hosts, "find_spec", lambda _name: None)
    asked = plan('[[targets]]\nsim = "mlc-a"\n')
    with (
        pytest.raises(HostError, match="Ray is missing"),
        acts.hosts_of(asked, tmp_path, "192.0.2.1:6379"),
    ):
        pass


class Cluster:
    """What is asked of Ray, answered with the labels of nodes: those that are alive, those not."""

    def __init__(self, alive: str, dead: str = "") -> None:
        self.told = [(label, True) for label in alive] + [(label, False) for label in dead]

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {"NodeID": f"id-{label}", "Alive": alive, "Labels": {"teijo-host": label}}
            for label, alive in self.told
        ]


def test_a_fleet_begins_with_all_of_its_hosts_and_goes_on_without_one_that_is_away() -> None:
    asked = plan('[[targets]]\nsim = "x"\n', TWO)
    with pytest.raises(PlanError) as refused:
        ray_hosts._nodes(Cluster("a", dead="b"), asked, is_begun=False)
    assert refused.value.details == ("b: 0 nodes carry the label teijo-host=b",)
    found = ray_hosts._nodes(Cluster("a", dead="b"), asked, is_begun=True)
    assert found == {"a": "id-a"}
    with pytest.raises(PlanError, match="Not every host"):
        ray_hosts._nodes(Cluster("abb"), asked, is_begun=True)


def test_a_host_that_is_away_is_lost_and_its_label_named() -> None:
    with pytest.raises(HostLost, match="no node of the cluster carries the label teijo-host=b"):
        ray_hosts.AbsentHost("b").ask("told")


def test_a_host_that_falls_silent_before_the_first_run_is_named(tmp_path: Path) -> None:
    asked = plan('[[targets]]\nsim = "x"\n', TWO)
    a, b = host("a"), host("b")
    seen = acts.look_over(asked, {"a": a, "b": b})
    b.answer = None
    with pytest.raises(HostError, match="cannot begin") as refused:
        acts.begin(
            replace(seen, problems=()), {"a": a, "b": b}, tmp_path / "lab", consent=None,
            observer=lambda *_: None, stop=Event(),
        )  # fmt: skip
    assert refused.value.details == ("b does not answer: no route",)
    assert not (tmp_path / "lab").exists()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere", "localhost:99999999", ":6379"])
def test_a_cluster_that_nobody_listens_at_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str
) -> None:
    monkeypatch.setattr(ray_hosts, "find_spec", lambda _name: True)
    asked = plan('[[targets]]\nsim = "mlc-a"\n')
    with (
        pytest.raises(HostError, match="cannot be reached"),
        acts.hosts_of(asked, tmp_path, address),
    ):
        pass


def test_several_hosts_need_an_address(tmp_path: Path) -> None:
    with pytest.raises(PlanError), acts.hosts_of(plan('[[targets]]\nsim = "x"\n', TWO), tmp_path):
        pass
