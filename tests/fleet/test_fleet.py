"""A whole fleet by its command line: begun, stopped, killed, resumed; refused before any write."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from teijo import api
from teijo.api.own_process import PROGRAM
from teijo.cli.together import apart_words
from teijo.fleet.conductor import Drive
from teijo.fleet.drives import meant_by
from teijo.runner.hold import ASKED
from tests.fleet.conftest import Said
from tests.fleet.plans import DRIVE, QUICK, plan, told


def written(folder: Path, rules: str, head: str = "") -> Path:
    path = folder / "plan.toml"
    path.write_text(f'fleet = "lab"\n{QUICK}{head}{rules}')
    return path


SIMS = f'[[targets]]\nsim = "{DRIVE}"\ncount = 3\n'


def test_a_fleet_of_simulated_drives_is_the_same_drives_alone(
    tmp_path: Path, teijo: Callable[..., Said]
) -> None:
    path, folder = written(tmp_path, SIMS), tmp_path / "lab"
    code, out, _ = teijo("fleet", "check", path, "--json")
    assert code == 0
    assert [drive["takes"]["problem"] for drive in json.loads(out)["drives"]] == [""] * 3
    code, out, err = teijo("fleet", "run", path, "-o", folder)
    assert code == 0, err
    runs = [Path(line) for line in out.splitlines()]
    assert [run.parent for run in runs] == [folder / "runs"] * 3
    code, out, _ = teijo("fleet", "status", folder, "--json")
    for drive, run in zip(json.loads(out)["drives"], runs, strict=True):
        assert drive["state"] == "done"
        record = api.open(run).record
        alone = api.run(
            "workload", drive["target"], output=tmp_path / f"{drive['drive']}.teijo",
            seed=record.run.seed, settings={"seconds": "2", "rw": "randread"},
        ).record  # fmt: skip
        assert [step.answer for step in record.steps] == [step.answer for step in alone.steps]
    code, out, _ = teijo("fleet", "resume", folder)
    assert (code, len(out.splitlines())) == (0, 3)
    code, _, err = teijo("fleet", "run", path, "-o", folder)
    assert (code, "There is a fleet in" in err) == (2, True)


def test_a_fleet_that_is_killed_or_stopped_goes_on_and_measures_nothing_twice(
    tmp_path: Path, teijo: Callable[..., Said]
) -> None:
    long = f'[[targets]]\nsim = "{DRIVE}"\ncount = 2\nsettings = {{ seconds = 1500 }}\n'
    path, folder = written(tmp_path, long, "at_once = 1\n"), tmp_path / "lab"
    words = [sys.executable, *PROGRAM, "fleet", "run", str(path), "-o", str(folder)]
    conductor = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    first = folder / "runs/lab-0001-slc-a-1.teijo"
    grows = first.with_name(first.name + ".open")
    while not grows.exists():
        assert conductor.poll() is None
        time.sleep(0.02)
    conductor.kill()
    conductor.wait()
    began = grows.stat().st_ino
    code, out, _ = teijo("fleet", "status", folder, "--json")
    states = [drive["state"] for drive in json.loads(out)["drives"]]
    assert states in (["running", "waiting"], ["done", "waiting"])
    # The run of the one that was killed goes on, and is waited for, not begun anew.
    again = subprocess.Popen(
        [*words[:-4], "resume", str(folder)], stderr=subprocess.PIPE, text=True
    )
    second = folder / "runs/lab-0002-slc-a-2.teijo.open"
    while not second.exists():
        assert again.poll() is None
        assert first.exists() or grows.stat().st_ino == began
        time.sleep(0.02)
    assert first.exists()
    again.send_signal(signal.SIGINT)
    _, err = again.communicate()
    assert again.returncode == 7, err
    assert "fleet resume" in err
    assert second.exists()
    sealed = first.stat().st_mtime_ns
    code, out, err = teijo("fleet", "resume", folder)
    assert code == 0, err
    assert len(out.splitlines()) == 2
    assert first.stat().st_mtime_ns == sealed
    # A run that has just been sealed may still be about to remove its open file.
    for run in (folder / "runs").glob("*.teijo"):
        assert api.open(run).record.run.ending == "done"


def test_all_that_is_wrong_is_named_before_anything_is_written(
    tmp_path: Path, loop_device: Path, teijo: Callable[..., Said]
) -> None:
    (own,) = [each for each in serials() if each[0] == str(loop_device)]
    rules = (
        f'[[targets]]\nserials = ["{own[1]}", "NOWHERE"]\n'
        f'[[targets]]\nsim = "no-such-drive"\n[[targets]]\nmodel = "Loop*"\ncount = 999\n'
    )
    path, folder = written(tmp_path, rules, 'spec = "9"\n'), tmp_path / "lab"
    before = loop_device.read_bytes()
    code, _, err = teijo("fleet", "run", path, "-o", folder)
    assert code == 2
    for word in ("No host has a drive NOWHERE", "no-such-drive", "the plan counts 999",
                 f"no consent to destroy {own[1]}"):  # fmt: skip
        assert word in err, (word, err)
    assert not folder.exists()
    assert loop_device.read_bytes() == before


def serials() -> list[tuple[str, str]]:
    from teijo.fleet.hand import Hand

    return [(each["target"], each["serial"]) for each in Hand(Path()).told()["drives"]]


def test_a_drive_is_written_only_with_the_consent_to_it_in_this_plan(
    tmp_path: Path, loop_device: Path, teijo: Callable[..., Said]
) -> None:
    (serial,) = [each for target, each in serials() if target == str(loop_device)]
    rule = f'[[targets]]\nserials = ["{serial}"]\nsettings = {{ rw = "randwrite" }}\n'
    path, folder, yes = written(tmp_path, rule), tmp_path / "lab", tmp_path / "yes.toml"
    before = loop_device.read_bytes()
    code, _, err = teijo("fleet", "run", path, "-o", folder)
    assert (code, f"no consent to destroy {serial}" in err) == (3, True)
    code, text, _ = teijo("fleet", "consent", path)
    assert code == 0
    assert loop_device.read_bytes() == before
    yes.write_text(text.replace(f'"{serial}"', '"another"'))
    code, _, err = teijo("fleet", "run", path, "-o", folder, "--consent", yes)
    assert code == 3, err
    yes.write_text(text)
    other = written(tmp_path, rule + "count = 1\n")
    code, _, err = teijo("fleet", "run", other, "-o", folder, "--consent", yes)
    assert (code, "another plan" in err) == (3, True)
    assert loop_device.read_bytes() == before
    assert not folder.exists()
    path = written(tmp_path, rule)
    code, out, err = teijo("fleet", "run", path, "-o", folder, "--consent", yes)
    assert code == 0, err
    assert loop_device.read_bytes() != before
    assert api.open(out.strip()).record.identity.serial == serial
    assert teijo("fleet", "resume", folder)[0] == 3  # a fleet's folder is no consent


def test_runs_that_begin_together_record_the_moment_and_how_late_they_were(
    tmp_path: Path, teijo: Callable[..., Said]
) -> None:
    path, folder = written(tmp_path, SIMS, "together = true\n"), tmp_path / "lab"
    code, out, err = teijo("fleet", "run", path, "-o", folder, "--json")
    assert code == 0, err
    assert "3 runs began within" in err
    told = json.loads(out)
    late = [drive["late_s"] for drive in told["drives"]]
    assert all(each >= 0.0 for each in late)
    assert told["apart_s"] == max(late) - min(late)
    _, _, err = teijo("fleet", "status", folder)
    verdict = "kept" if told["apart_s"] <= 0.01 else "not kept"
    assert f"; 10 ms asked: {verdict}" in err
    asked = {api.open(run).record.environment[ASKED] for run in (folder / "runs").iterdir()}
    assert len(asked) == 1
    both = written(tmp_path, SIMS, "together = true\nat_once = 1\n")
    assert teijo("fleet", "check", both)[0] == 2


def test_several_targets_on_one_line_are_measured_each_by_itself(
    tmp_path: Path, loop_device: Path, teijo: Callable[..., Said]
) -> None:
    folder = tmp_path / "lab"
    words = ("run", "workload", "sim:slc-a?capacity=1GiB", "sim:slc-b?capacity=2GiB", loop_device)
    more = ("rw=randread", "seconds=1", "-o", folder, "--seed", "3")
    code, _, err = teijo(*words, *more)
    assert (code, "There is no consent" in err) == (3, True)
    assert not folder.exists()
    (serial,) = [each for target, each in serials() if target == str(loop_device)]
    code, out, err = teijo(*words, *more, "--destroy", serial)
    assert code == 0, err
    drives = [api.open(line).record.run.group["drive"] for line in out.splitlines()]
    assert drives == ["slc-a", "slc-b", serial]
    code, _, err = teijo(*words, *more, "--hold")
    assert (code, "--hold is of one target" in err) == (2, True)
    code, _, err = teijo("run", "workload", "sim:slc-a", "rw")
    assert (code, "'rw' is not a setting" in err) == (2, True)


def test_no_plan_overwrites_a_file_that_is_there(
    tmp_path: Path, scratch: Path, teijo: Callable[..., Said]
) -> None:
    precious = scratch / "precious.img"
    precious.write_bytes(b"kept" * (1 << 18))
    before = precious.read_bytes()
    rule = f'[[targets]]\nfile = "{precious}"\nsettings = {{ rw = "randwrite", bytes = "1MiB" }}\n'
    head = 'fleet = "lab"\nmethod = "workload"\n'
    path, folder = tmp_path / "plan.toml", tmp_path / "lab"
    path.write_text(head + "overwrite = true\n" + rule)
    assert teijo("fleet", "run", path, "-o", folder)[0] == 2
    path.write_text(head + rule)
    code, _, err = teijo("fleet", "run", path, "-o", folder)
    assert (code, "precious.img" in err) == (5, True)
    assert precious.read_bytes() == before
    code, _, err = teijo("fleet", "resume", folder, "--overwrite")
    assert code == 0, err
    assert precious.read_bytes() != before


def test_several_hosts_need_a_cluster(tmp_path: Path, teijo: Callable[..., Said]) -> None:
    path = written(tmp_path, SIMS, '[[host]]\nname = "a"\n[[host]]\nname = "b"\n')
    code, _, err = teijo("fleet", "run", path)
    assert (code, "--address" in err) == (2, True)


def test_a_limit_that_a_drive_does_not_hold_is_the_exit_code(
    tmp_path: Path, teijo: Callable[..., Said]
) -> None:
    path = written(tmp_path, SIMS, 'limits = ["iops >= 1000000000"]\n')
    assert teijo("fleet", "run", path, "-o", tmp_path / "lab", "--progress", "none")[0] == 9


def test_progress_can_be_read_by_a_program(tmp_path: Path, teijo: Callable[..., Said]) -> None:
    path = written(tmp_path, SIMS)
    code, _, err = teijo("fleet", "run", path, "-o", tmp_path / "lab", "--progress", "ndjson")
    events = [json.loads(line) for line in err.splitlines()]
    assert code == 0
    assert [each["event"] for each in events].count("done") == 3


@pytest.mark.parametrize(
    ("late_s", "error_s", "said"),
    [
        ((0.0, 0.0031), 0.0, "2 runs began within 3.1 ms; 10 ms asked: kept"),
        ((0.001, 0.0121), 0.0, "2 runs began within 11.1 ms; 10 ms asked: not kept"),
        ((0.0, 0.009), 0.001, "9 ms (± 2 ms by their hosts' clocks); 10 ms asked: cannot be known"),
        ((0.0, 0.0079), 0.001, "7.9 ms (± 2 ms by their hosts' clocks); 10 ms asked: kept"),
        ((0.0, 0.013), 0.001, "13 ms (± 2 ms by their hosts' clocks); 10 ms asked: not kept"),
    ],
)
def test_within_what_time_runs_began_is_held_against_what_is_asked(
    late_s: tuple[float, ...], error_s: float, said: str
) -> None:
    (order, other) = meant_by(plan(SIMS), {"local": told()}, 7).orders[:2]
    drives = [
        Drive(one, late_s=late, clock_error_s=error_s)
        for one, late in zip((order, other), late_s, strict=True)
    ]
    assert apart_words(drives).endswith(said)
