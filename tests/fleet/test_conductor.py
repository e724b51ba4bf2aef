"""Who begins when, on hosts that play their part by a script; run files that are brought here."""

import time
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from teijo.errors import HostError
from teijo.fleet import conductor as conducting
from teijo.fleet.collecting import collect, remove
from teijo.fleet.conductor import Conductor, Drive
from teijo.fleet.drives import meant_by
from teijo.fleet.hosts import HostLost
from tests.fleet.plans import QUICK, drive, plan, told


class Scripted:
    """A host whose runs take `looks` looks each; `fails` end so, and it is gone after `lives`."""

    def __init__(self, name: str, looks: int = 3, fails: tuple[str, ...] = (), lives: int = 10**9):
        self.name, self.looks, self.fails, self.lives = name, looks, fails, lives
        self.left: dict[str, int] = {}
        self.begun: list[str] = []
        self.most = 0
        self.stopped: list[str] = []

    def ask(self, what: str, *given: Any) -> Any:
        self.lives -= 1
        if self.lives < 0:
            raise HostLost("no answer")
        match what, given:
            case "begin", (order, False, {}):
                self.begun.append(order["run"])
                self.left[order["run"]] = self.looks
                self.most = max(self.most, sum(left > 0 for left in self.left.values()))
                return "starting"
            case "look", (runs, _closely):
                return [self.look(run) for run in runs]
            case "stop", (run,):
                self.stopped.append(run)
                self.left[run] = -1
            case "digest", _:
                return {"bytes": 0, "sha256": "0"}
        return None

    def look(self, run: str) -> dict[str, Any]:
        if run not in self.left:
            return {"state": "absent"}
        if self.left[run] == -1:
            return {"state": "left", "share": 0.5, "ending": "interrupted"}
        self.left[run] = max(0, self.left[run] - 1)
        if self.left[run]:
            return {"state": "running", "share": 0.5}
        failed = any(each in run for each in self.fails)
        return {"state": "sealed", "ending": "failed" if failed else "done", "share": 1.0}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conducting, "_LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(conducting, "collect", lambda *_given, **_more: "0")


def conducted(rules: str, *hosts: Scripted, head: str = "", stop: Event | None = None) -> Conductor:
    asked = plan(rules, f'fleet = "lab"\n{QUICK}{head}')
    drives = [drive(f"S{number}") for number in range(1, 7)]
    orders = meant_by(asked, {host.name: told(*drives) for host in hosts}, 7).orders
    made = Conductor(
        asked, [Drive(order) for order in orders], {host.name: host for host in hosts}, Path(),
        lambda *_: None, stop or Event(),
    )  # fmt: skip
    made.conduct()
    return made


ALL = '[[targets]]\nmodel = "ACME*"\n'


def standings(found: Conductor) -> list[str]:
    return [each.standing for each in found.drives]


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_no_more_runs_go_on_at_once_than_the_plan_says(at_once: int) -> None:
    host = Scripted("local")
    found = conducted(ALL, host, head=f"at_once = {at_once}\n")
    assert standings(found) == ["done"] * 6
    assert host.most == at_once
    assert host.begun == sorted(host.begun)
    assert len(host.begun) == 6


def test_without_a_bound_all_go_on_together() -> None:
    host = Scripted("local")
    conducted(ALL, host)
    assert host.most == 6


def test_a_spare_is_begun_for_each_drive_that_failed_and_no_other() -> None:
    host = Scripted("local", fails=("S2", "S3"))
    found = conducted(ALL + "spares = 3\n", host)
    assert standings(found) == ["done", "failed", "failed", "done", "done", "reserve"]
    none = Scripted("local")
    assert standings(conducted(ALL + "spares = 3\n", none)) == ["done"] * 3 + ["reserve"] * 3
    assert len(none.begun) == 3


def test_a_host_that_is_lost_holds_up_no_other() -> None:
    heads = '[[host]]\nname = "a"\n[[host]]\nname = "b"\n'
    rules = '[[targets]]\nhosts = ["a"]\nserials = ["S1", "S2"]\n'
    rules += '[[targets]]\nhosts = ["b"]\nserials = ["S3"]\n'
    a, b = Scripted("a", lives=4), Scripted("b", looks=20)
    found = conducted(rules, a, b, head=heads)
    assert found.lost == {"a": "no answer"}
    assert found.drives[2].standing == "done"
    assert not any(each.is_over for each in found.drives[:2])


def test_a_stop_asks_every_run_once_and_begins_nothing_more() -> None:
    stop = Event()
    host = Scripted("local", looks=10**6)
    asked = plan(ALL, f'fleet = "lab"\n{QUICK}at_once = 2\n')
    orders = meant_by(asked, {"local": told(*(drive(f"S{n}") for n in range(4)))}, 7).orders

    def observer(fleet: Conductor, _drive: Drive | None, word: str) -> None:
        if word == "looked" and len(host.begun) == 2:
            stop.set()

    found = Conductor(
        asked, [Drive(order) for order in orders], {"local": host}, Path(), observer, stop
    )
    found.conduct()
    assert sorted(host.stopped) == sorted(host.begun)
    assert len(host.begun) == 2
    assert standings(found) == ["left", "left", "waiting", "waiting"]


class Holding(Scripted):
    """A host whose runs hold, from the `ready`-th look on, until they are told to begin."""

    def __init__(self, name: str, ready: int, **more: Any) -> None:
        super().__init__(name, **more)
        self.ready = ready
        self.started: dict[str, tuple[int, int]] = {}
        self.looks_of: dict[str, int] = {}

    def ask(self, what: str, *given: Any) -> Any:
        if what == "clock_ns":
            return time.time_ns()
        if what == "start":
            run, at_ns, ahead_ns, _error_ns = given
            self.started[run] = (at_ns - ahead_ns, self.looks_of[run])
            return None
        return super().ask(what, *given)

    def look(self, run: str) -> dict[str, Any]:
        if run in self.left and run not in self.started:
            self.looks_of[run] = self.looks_of.get(run, 0) + 1
            return {"state": "held" if self.looks_of[run] >= self.ready else "starting"}
        return super().look(run)


def test_all_are_told_one_moment_once_the_last_is_ready() -> None:
    heads = 'together = true\n[[host]]\nname = "a"\n[[host]]\nname = "b"\n'
    rules = '[[targets]]\nhosts = ["a"]\nserials = ["S1", "S2"]\n'
    rules += '[[targets]]\nhosts = ["b"]\nserials = ["S3"]\n'
    a, b = Holding("a", ready=1), Holding("b", ready=9)
    found = conducted(rules, a, b, head=heads)
    assert standings(found) == ["done"] * 3
    assert len({moment for host in (a, b) for moment, _ in host.started.values()}) == 1
    assert all(looks >= 9 for host in (a, b) for _, looks in host.started.values())


def test_a_host_that_is_lost_keeps_no_other_from_beginning() -> None:
    heads = 'together = true\n[[host]]\nname = "a"\n[[host]]\nname = "b"\n'
    rules = '[[targets]]\nhosts = ["a"]\nserials = ["S1"]\n'
    rules += '[[targets]]\nhosts = ["b"]\nserials = ["S3"]\n'
    a, b = Holding("a", ready=1), Holding("b", ready=10**9, lives=6)
    found = conducted(rules, a, b, head=heads)
    assert found.drives[0].standing == "done"
    assert "b" in found.lost


class Sender:
    """A host that has one run file, and may send it wrong."""

    name = "far"

    def __init__(self, data: bytes, sent: bytes | None = None) -> None:
        from hashlib import sha256

        self.data, self.sent = data, data if sent is None else sent
        self.sha256 = sha256(data).hexdigest()
        self.removed = ""

    def ask(self, what: str, *given: Any) -> Any:
        match what, given:
            case "digest", _:
                return {"bytes": len(self.data), "sha256": self.sha256}
            case "part", (_, offset):
                return self.sent[offset : offset + 100]
            case "remove", (_, digest):
                if digest != self.sha256:
                    return False
                self.removed = digest
                return True
        return None


def test_a_run_file_arrives_whole_and_is_removed_only_then(tmp_path: Path) -> None:
    sender = Sender(bytes(range(256)) * 10)
    collect(sender, "x.teijo", tmp_path / "runs")
    assert (tmp_path / "runs/x.teijo").read_bytes() == sender.data
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["x.teijo"]
    assert sender.removed == ""
    remove(sender, "x.teijo", tmp_path / "runs")
    assert sender.removed == sender.sha256


@pytest.mark.parametrize("sent", [b"", b"another file", bytes(1000)])
def test_a_run_file_that_does_not_arrive_as_it_was_is_not_kept(tmp_path: Path, sent: bytes) -> None:
    sender = Sender(b"what was measured" * 10, sent)
    with pytest.raises(HostError, match="did not arrive"):
        collect(sender, "x.teijo", tmp_path)
    assert not list(tmp_path.iterdir())


def test_another_file_of_the_name_is_never_replaced_nor_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / "x.teijo").write_bytes(b"mine")
    sender = Sender(b"theirs")
    for act in (collect, remove):
        with pytest.raises(HostError, match="another file"):
            act(sender, "x.teijo", tmp_path)
    assert (tmp_path / "x.teijo").read_bytes() == b"mine"
    assert sender.removed == ""
