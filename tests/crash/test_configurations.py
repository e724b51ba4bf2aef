"""kill -9 in the middle of a configuration study, on simulated devices and with a hook."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import teijo.api
from teijo.errors import HostError, Interrupted, UnsafeError
from teijo.runner.events import Event, Progress, StepDone, unobserved
from teijo.terms.result import Gap, StepResult
from teijo.terms.step import Configure, Measure
from tests.crash.runs import in_a_child, kill_me, killed_after

FACTORS = """
[factors]
chunk = ["16KiB", "64KiB"]
"""
SIMULATED = f"""
device = "sim:raid5(3×hdd-7200)?chunk={{chunk}}"
workloads = ["4k-write", "seq-read"]
seconds = "100ms"
repeats = 2
{FACTORS}
"""
TARGET = "sim:raid5(3×hdd-7200)"
STEPS = 18
"""Two blocks of two configurations and the control's copy, each three steps."""


def study(path: Path, target: str, plan: str, observer: Callable[[Event], None]) -> teijo.api.Run:
    return teijo.api.run(
        "configuration",
        target,
        output=path,
        settings={"plan": plan},
        seed=5,
        overwrite=True,
        observer=observer,
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> teijo.api.Run:
    """The study, uninterrupted."""
    return study(tmp_path_factory.mktemp("whole") / "run", TARGET, SIMULATED, unobserved)


def test_the_study_has_as_many_steps_as_it_is_killed_in(whole: teijo.api.Run) -> None:
    assert len(whole.record.steps) == STEPS


@pytest.mark.parametrize("seq", [1, 2, 3, 4, 8, 9, 10, 17, 18])
def test_killed_and_resumed_on_simulated_devices_it_is_the_whole_study(
    tmp_path: Path, whole: teijo.api.Run, seq: int
) -> None:
    path = tmp_path / "run.teijo"
    died = in_a_child(lambda: study(path, TARGET, SIMULATED, killed_after(seq)))
    assert died == -9
    resumed = teijo.api.resume(path)
    assert resumed.record.steps == whole.record.steps
    assert resumed.findings == whole.findings


def killed_within(seq: int) -> Callable[[Event], None]:
    """Return an observer that dies while this step is measured."""

    def observe(event: Event) -> None:
        if isinstance(event, Progress) and event.seq == seq:
            kill_me()

    return observe


def killed_in_the_hook(log: Path, times: int) -> str:
    """Return a hook's command that kills the study itself at its so manieth run."""
    return f"echo $TEIJO_SET_CHUNK >> {log}; [ $(wc -l < {log}) != {times} ] || kill -9 $PPID"


def with_hook(command: str) -> str:
    return f"""
hook = ["sh", "-c", '''{command}''']
workloads = ["4k-read", "seq-read"]
seconds = "250ms"
repeats = 2
{FACTORS}
"""


def digest(plan: str) -> str:
    hook = teijo.api.hook("configuration", settings={"plan": plan})
    assert hook is not None
    return hook.digest


def measured(run: teijo.api.Run) -> Counter[str]:
    return Counter(
        f"{each.step.round_number} {each.step.cell}"
        for each in run.record.steps
        if isinstance(each.step, Measure) and isinstance(each.answer, StepResult)
    )


@pytest.mark.parametrize(
    "killed",
    [pytest.param(killed_after(3), marks=pytest.mark.long), killed_after(5), killed_within(6)],
)
def test_on_a_file_a_finished_configuration_is_not_measured_again_and_the_hook_runs_for_the_rest(
    tmp_path: Path, killed: Callable[[Event], None]
) -> None:
    path, log, target = tmp_path / "run.teijo", tmp_path / "log", f"{tmp_path}/disk?size=4MiB"
    plan = with_hook(f"echo $TEIJO_SET_CHUNK >> {log}")
    assert in_a_child(lambda: study(path, target, plan, killed)) == -9
    before = measured(teijo.api.open(path))
    finished = [name for name, count in visits(before).items() if count == 2]
    resumed = teijo.api.resume(path, overwrite=True, hook=digest(plan))
    after = measured(resumed)
    assert finished
    assert all(after[cell] == 1 for cell in after if cell.rpartition(": ")[0] in finished)
    assert resumed.findings.rounds == 2
    assert resumed.record.run.ending == "done"
    configured = [each for each in resumed.record.steps if isinstance(each.step, Configure)]
    taken = [each for each in configured if not isinstance(each.answer, Gap)]
    assert len(log.read_text().split()) == len(taken)
    assert 6 <= len(taken) <= 7


def visits(counts: Counter[str]) -> Counter[str]:
    return Counter(cell.rpartition(": ")[0] for cell in counts.elements())


def test_killed_while_its_hook_works_it_goes_on_with_that_configuration(tmp_path: Path) -> None:
    path, log, target = tmp_path / "run.teijo", tmp_path / "log", f"{tmp_path}/disk?size=4MiB"
    plan = with_hook(killed_in_the_hook(log, 3))
    assert in_a_child(lambda: study(path, target, plan, unobserved)) == -9
    resumed = teijo.api.resume(path, overwrite=True, hook=digest(plan))
    assert resumed.findings.rounds == 2
    assert set(measured(resumed).values()) == {1}
    hooks = log.read_text().split()
    assert len(hooks) == 7
    assert hooks[2] == hooks[3]


def test_a_hook_changed_in_mid_run_does_not_run_and_the_run_goes_on_by_its_new_digest(
    tmp_path: Path,
) -> None:
    path, log, target = tmp_path / "run.teijo", tmp_path / "log", f"{tmp_path}/disk?size=4MiB"
    script = tmp_path / "apply"
    script.write_text(f"echo first >> {log}\n")
    plan = with_hook("").replace("""["sh", "-c", '''''']""", f'["sh", "{script}"]')

    def change(event: Event) -> None:
        if isinstance(event, StepDone) and event.seq == 2:
            script.write_text(f"echo second >> {log}\n")

    with pytest.raises(HostError, match=f"{script} changed. It was not run."):
        study(path, target, plan, change)
    assert log.read_text().split() == ["first"]
    new = digest(plan)
    script.write_text(f"echo third >> {log}\n")
    with pytest.raises(UnsafeError, match="It was not run"):
        teijo.api.resume(path, overwrite=True, hook=new)
    assert log.read_text().split() == ["first"]
    resumed = teijo.api.resume(path, overwrite=True, hook=digest(plan))
    assert resumed.findings.rounds == 2
    assert set(log.read_text().split()) == {"first", "third"}


def test_an_interrupted_study_says_with_which_digest_it_goes_on(tmp_path: Path) -> None:
    plan = with_hook("kill -INT $PPID")
    with pytest.raises(Interrupted) as caught:
        study(tmp_path / "run.teijo", f"{tmp_path}/disk?size=4MiB", plan, unobserved)
    told = f"Continue with: teijo resume {tmp_path}/run.teijo.open --hook {digest(plan)}"
    assert caught.value.remedy == told
