"""What drives share, as the command line reads them: two loops and two files of this host."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teijo import api
from teijo.analysis.bottleneck import Bottlenecks
from teijo.errors import HostError, Interrupted, UnsafeError
from teijo.fleet.bottleneck import keep, measure, tasks_of
from teijo.fleet.hand import Hand
from teijo.fleet.hosts import HostLost
from teijo.terms.bottleneck import FILE, LOADS, ROUNDS_LEAST, measured_from, measured_to_json
from teijo.terms.topology import Sharers
from tests.analysis.drawn_spells import measured
from tests.fleet.conftest import Said
from tests.runner.test_side_by_side import StubHost, World, orders

PAIR = ("a", "b")
SIZE = 8 << 20
SHORT: Any = {"seed": 1, "rounds": 6, "seconds": 1.0}


def files(folder: Path, count: int = 2) -> Path:
    """Write files and a plan that means them."""
    for number in range(1, count + 1):
        (folder / f"d{number}.img").write_bytes(os.urandom(SIZE))
    path = folder / "plan.toml"
    path.write_text(
        'fleet = "lab"\nmethod = "workload"\nseed = 7\n'
        'settings = { seconds = 1, rw = "randread" }\n'
        f'[[targets]]\nfile = "{folder}/d{{n}}.img"\ncount = {count}\n'
    )
    return path


def test_a_round_has_each_spell_twice_the_second_half_in_reverse() -> None:
    groups = (Sharers(host="here", drives=PAIR, parts=()),
              Sharers(host="here", drives=("a", "b", "c"), parts=()))  # fmt: skip
    tasks = [*tasks_of(groups, 4, 5)]
    assert tasks == [*tasks_of(groups, 4, 5)]
    assert tasks != [*tasks_of(groups, 4, 6)]
    units = {("a",), ("b",), ("c",), PAIR, ("a", "b", "c")}
    for number in range(1, 5):
        for load in LOADS:
            own = [each.drives for each in tasks if (each.round, each.load) == (number, load)]
            assert own == own[::-1]
            assert set(own[: len(own) // 2]) == units
            assert len(own) == 2 * len(units)
    assert len({tuple(each.drives for each in tasks[at : at + 10]) for at in range(0, 80, 10)}) > 1


def test_what_is_kept_takes_the_place_of_an_earlier_one_and_is_read_again(tmp_path: Path) -> None:
    found = measured([PAIR], {PAIR: 0.5}, scatter=0.01)
    (tmp_path / FILE).write_text("an older one")
    path = keep(found, tmp_path)
    assert measured_from(path.read_text()) == found
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


class Broken(StubHost):
    """A host that answers something else, or nothing."""

    answer: Any = None

    def ask(self, what: str, *given: object) -> object:
        if what != "read_together":
            return super().ask(what, *given)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "no measurement"),
        ({"driven": []}, "no measurement"),
        ({"driven": [{"iops": float("nan")}]}, "no measurement"),
        ({"driven": [{"iops": 1, "error": "x" * 1000}]}, "no measurement"),
        (HostLost("the wire is cut"), "does not answer: the wire is cut"),
    ],
)
def test_a_host_that_answers_nonsense_or_nothing_ends_it(answer: object, told: str) -> None:
    host = Broken(World(own=dict.fromkeys("ab", 1000.0)), {"a": ["x"], "b": ["x"]})
    host.answer = answer
    with pytest.raises(HostError, match=told):
        measure(
            "lab",
            {"here": host},
            orders("a", "b"),
            seed=1,
            rounds=6,
            seconds=1.0,
            stop=threading.Event(),
        )


def test_it_is_stopped_between_two_spells() -> None:
    host = StubHost(World(own=dict.fromkeys("ab", 1000.0)), {"a": ["x"], "b": ["x"]})
    stop, seen = threading.Event(), []

    def told(done: int, of: int, *_: object) -> None:
        seen.append((done, of))
        if done == 2:
            stop.set()

    with pytest.raises(Interrupted):
        measure(
            "lab",
            {"here": host},
            orders("a", "b"),
            seed=1,
            rounds=6,
            seconds=1.0,
            stop=stop,
            told=told,
        )
    assert seen == [(done, 6 * 2 * 6) for done in range(3)]


def test_files_of_one_host_are_read_and_left_as_they_were(
    scratch: Path,
    teijo: Callable[..., Said],
) -> None:
    path = files(scratch)
    before = {each: (each.stat().st_mtime_ns, os.listxattr(each)) for each in scratch.iterdir()}
    code, out, _ = teijo("fleet", "check", path)
    assert code == 0
    assert "local: d1.img, d2.img share" in out
    shared = json.loads(teijo("fleet", "check", path, "--json")[1])["shared"]
    assert [each["drives"] for each in shared] == [["d1.img", "d2.img"]]
    words = ("fleet", "bottleneck", path, "--rounds", 4, "--seconds", 0.2, "--progress", "none")
    code, out, err = teijo(*words, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert [(each["load"], len(each["drives"])) for each in told["verdicts"]] == [
        ("sequential", 2), ("random", 2),
    ]  # fmt: skip
    assert len(told["measured"]["spells"]) == 4 * 2 * 6
    for each in told["verdicts"]:
        assert each["together_bytes_per_second"] > 0
        for drive in each["drives"]:
            assert drive["verdict"] in (
                "shares a bottleneck", "shares one, which may be the host", "does not share one",
                "cannot be known",
            )  # fmt: skip
            assert drive["alone_iops"] > 0
            # On a busy host drives may not be read at the same time for long enough.
            if drive["why"] is None:
                assert drive["low"] <= drive["ratio"] <= drive["high"]
    assert before == {
        each: (each.stat().st_mtime_ns, os.listxattr(each)) for each in scratch.iterdir()
    }


def test_in_the_folder_of_a_fleet_it_is_kept_and_its_report_has_it(
    scratch: Path,
    tmp_path: Path,
    teijo: Callable[..., Said],
) -> None:
    path, folder = files(scratch), tmp_path / "lab"
    assert teijo("fleet", "run", path, "-o", folder, "--progress", "none")[0] == 0
    words = ("fleet", "bottleneck", folder, "--rounds", 4, "--seconds", 0.2, "--progress", "none")
    code, out, err = teijo(*words)
    assert code == 0, err
    assert f"kept: {folder / FILE}" in err
    assert "What drives share" in out
    found = api.fleet_report([folder])
    (shared,) = found.sharing
    assert {drive for each in shared.shared for drive in each.group.drives} == {"d1.img", "d2.img"}
    code, out, _ = teijo("fleet", "report", folder, "--format", "text")
    assert "Drives read together, and without the others of their group" in out
    code, out, _ = teijo("fleet", "report", folder, "--format", "text", "--lang", "ja")
    assert "ドライブが共有するもの" in out
    (folder / FILE).write_text("{}")
    (left,) = api.fleet_report([folder]).chosen.left_out
    assert left.file == str(folder / FILE)


def test_fewer_rounds_than_say_anything_are_refused(teijo: Callable[..., Said]) -> None:
    code, _, err = teijo("fleet", "bottleneck", "plan.toml", "--rounds", ROUNDS_LEAST - 1)
    assert (code, "--rounds" in err) == (2, True)


def test_simulated_drives_share_nothing(
    tmp_path: Path,
    teijo: Callable[..., Said],
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(
        'fleet = "lab"\nmethod = "workload"\n[[targets]]\nsim = "slc-a?seed={n}"\ncount = 2\n'
    )
    code, _, err = teijo("fleet", "bottleneck", path)
    assert (code, "slc-a-1 on local: it is simulated" in err) == (2, True)


def test_to_list_the_drives_of_a_host_claims_none(
    loop_device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []
    real = os.open

    def watched(path: Any, flags: int, *more: Any, **others: Any) -> int:
        opened.append(flags)
        return real(path, flags, *more, **others)

    hand = Hand(Path())
    monkeypatch.setattr(os, "open", watched)
    (told,) = [each for each in hand.told()["drives"] if each["target"] == str(loop_device)]
    assert told["serial"].startswith("loop-")
    assert hand.ways([str(loop_device)])[0]["why_not"] == ""
    assert opened
    assert not any(flags & os.O_EXCL for flags in opened)


def test_a_drive_that_something_uses_is_not_read(loop_device: Path) -> None:
    hand = Hand(Path())
    claim = os.open(loop_device, os.O_RDWR | os.O_EXCL)
    try:
        assert "in use" in hand.ways([str(loop_device)], tries=True)[0]["why_not"]
        with pytest.raises(UnsafeError, match="in use"):
            hand.read_together([str(loop_device)], "random", 10**8, 1)
    finally:
        os.close(claim)
    assert hand.ways([str(loop_device)], tries=True)[0]["why_not"] == ""


def test_what_drives_share_is_judged_from_what_was_kept() -> None:
    found = Bottlenecks(measured([PAIR], {PAIR: 0.5}, scatter=0.01))
    again = measured_from(json.dumps(measured_to_json(found.measured)))
    assert again is not None
    assert Bottlenecks(again).shared == found.shared
