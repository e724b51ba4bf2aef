"""Host facts: always all of them, never a guess, never a failure."""

import subprocess
from pathlib import Path

import pytest

from teijo.runner import environment
from teijo.runner.environment import UNKNOWN, describe_host
from tests.device.test_heads import fill

WANTED = {
    "teijo",
    "teijo build",
    "command",
    "python",
    "fio",
    "host",
    "os",
    "kernel",
    "machine",
    "cpu",
    "cpu count",
    "cpu governor",
    "cpu frequency",
    "turbo",
    "idle states",
    "mitigations",
    "NUMA nodes",
    "memory",
    "memory available",
    "clocksource",
    "virtualisation",
    "system",
}


def test_every_fact_is_there_and_none_is_empty() -> None:
    facts = describe_host()
    assert facts.keys() == WANTED
    assert all(facts.values())


def test_the_kernel_is_what_uname_says() -> None:
    said = subprocess.run(["uname", "-sr"], capture_output=True, text=True, check=True)
    assert describe_host()["kernel"] == said.stdout.strip()


def test_what_cannot_be_read_is_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environment, "_CPU", tmp_path)
    monkeypatch.setattr(environment, "_CLOCK", tmp_path / "none")
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    facts = describe_host()
    assert facts["cpu governor"] == UNKNOWN
    assert facts["clocksource"] == UNKNOWN
    assert facts["fio"] == "not installed"


def test_processors_are_told_as_their_drivers_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    driver = fill(tmp_path / "cpu0/cpufreq", cpuinfo_min_freq="800000", cpuinfo_max_freq="4700000")
    fill(driver, scaling_cur_freq="2100000")
    fill(tmp_path / "cpu1/cpufreq", scaling_cur_freq="3400000")
    fill(tmp_path / "intel_pstate", no_turbo="1")
    fill(tmp_path / "cpuidle", current_driver="intel_idle")
    fill(tmp_path / "cpu0/cpuidle/state0", name="POLL", disable="0")
    fill(tmp_path / "cpu0/cpuidle/state1", name="C6", disable="1")
    fill(tmp_path / "vulnerabilities", a="Mitigation: x", b="Vulnerable", c="Not affected", d="?")
    fill(tmp_path / "node/node0", cpulist="0-3")
    fill(tmp_path / "node/node1", cpulist="4-7")
    monkeypatch.setattr(environment, "_CPU", tmp_path)
    monkeypatch.setattr(environment, "_NODES", tmp_path / "node")
    facts = describe_host()
    assert facts["cpu frequency"] == "2,100 to 3,400 MHz now, 800 to 4,700 MHz possible"
    assert facts["turbo"] == "off"
    assert facts["idle states"] == "intel_idle: POLL"
    assert facts["mitigations"] == "mitigation: 1, vulnerable: 1, not affected: 1, unknown: 1"
    assert facts["NUMA nodes"] == "0: 0-3; 1: 4-7"


def test_without_a_driver_of_frequencies_proc_tells_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    proc = tmp_path / "cpuinfo"
    proc.write_text("cpu MHz\t\t: 2595.124\nflags : fpu\ncpu MHz : 1e999\n")
    monkeypatch.setattr(environment, "_CPU", tmp_path)
    monkeypatch.setattr(environment, "_CPUINFO", proc)
    facts = describe_host()
    assert facts["cpu frequency"] == "2,595 to 2,595 MHz now, possible unknown"
    assert (facts["turbo"], facts["idle states"], facts["mitigations"]) == (UNKNOWN,) * 3


def test_a_program_that_hangs_or_is_broken_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*arguments: object, **options: object) -> None:
        raise subprocess.TimeoutExpired("x", 10)

    monkeypatch.setattr(environment.subprocess, "run", hang)
    assert environment._first_line("something that hangs") == UNKNOWN
