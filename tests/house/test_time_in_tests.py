"""No test depends on how much happens in a measured time, or holds one measured time to another.

A plan that ends by time on a real device does as much as the machine allows. Bytes, counts, virtual
time or an observer that ends the lap say the same of every machine; what is about time itself
belongs to the benchmark. The tables name what is bound by time all the same, and why it may be.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.house.tree import ROOT, of_kind, place, text

# The rooms whose tests drive real devices. The others talk to canned answers or in virtual time.
ROOMS = (
    "tests/cli/", "tests/compare/", "tests/crash/", "tests/cross/", "tests/device/",
    "tests/engine/", "tests/faults/", "tests/outside/", "tests/report/", "tests/runfile/",
    "tests/runner/", "tests/world/",
)  # fmt: skip
# An hour is a bound that no test waits for: a count, an error or a signal ends it.
BY_TIME = re.compile(
    r'for_time\(\s*(?!(?:1000 \* )?LONG_NS)|"(?:seconds|minute|slice)": "(?!1h)'
    r'|"(?:[^"\n]* )?(?:seconds|minute|slice)=(?!1h)\d[^"\n]*"'
)
VIRTUAL = re.compile(r"sim:|open_simulated|small\(\)|\bSIM\b|\bof\(|PlanError")
CLOCKS = re.compile(r"\btime\.(?:sleep|monotonic|monotonic_ns|perf_counter|perf_counter_ns|time)\b")

REFUSED = "it is refused before any I/O"
ANY_COUNT = "what it counts are steps and rounds; any number of I/Os in them will do"
FORECAST = "a forecast is made, nothing is run"
ENDED = "a signal ends it, not its time"
BOUND_BY_TIME = {
    "tests/cli/test_calibrate.py": {
        "test_it_is_held_against_what_the_drive_gave_in_a_run": ANY_COUNT,
    },
    "tests/cli/test_mistakes.py": {
        "READS": REFUSED,
        "WRITES": REFUSED,
    },
    "tests/cli/test_options.py": {
        "test_the_text_of_a_plan_becomes_a_setting": "nothing is run",
    },
    "tests/cli/test_preview.py": {
        "test_a_run_beyond_its_limit_is_refused_with_exit_code_3": REFUSED,
        "test_a_run_within_its_limit_runs_and_says_the_limit_in_its_file": (
            "the limit in the file is asked for, not the I/Os"
        ),
        "test_a_told_rating_is_compared_with_what_is_written": FORECAST,
    },
    "tests/device/test_purge_consent.py": {"run": ANY_COUNT},
    "tests/runner/test_preview.py": {
        "*": FORECAST,
    },
    "tests/cli/test_run.py": {
        "WRITES": "its targets are simulated",
        "test_an_interrupted_run_ends_with_7_and_the_command_that_goes_on": ENDED,
    },
    "tests/cli/test_quick.py": {
        "SHORT": "what stands in the table and on the disk is looked at; any figures will do",
        "test_a_killed_look_leaves_no_file_and_goes_on_from_its_run_file": ANY_COUNT,
    },
    "tests/cli/test_list.py": {"SETTINGS": "its targets are simulated"},
    "tests/cli/test_limits.py": {
        "SHORT": "its targets are simulated",
    },
    "tests/cli/test_outside_text.py": {
        "*": "its texts are looked at, not its figures",
    },
    "tests/crash/test_planted.py": {"run": "the names beside it are looked at, not its I/Os"},
    "tests/crash/runs.py": {
        "SHORT": ANY_COUNT,
    },
    "tests/cross/subjects.py": {"*": ANY_COUNT},
    "tests/crash/test_kill.py": {
        "run_wsat": ANY_COUNT,
        "test_killed_in_a_long_step_at_most_a_second_of_it_is_lost": ENDED,
    },
    "tests/crash/test_stuck_device.py": {
        "*": "the device falls silent in it, and any number of I/Os will do",
    },
    "tests/runfile/test_proof_alarms.py": {"MOMENT": "its targets are simulated"},
    "tests/runfile/test_space_of_a_day.py": {"day": "canned answers; nothing is run"},
    "tests/runner/test_drive_log_on_emulated.py": {
        "test_the_drive_saw_no_log_command_in_any_rest_of_hir": "its device is of paper",
    },
    "tests/runner/test_drive_log_on_sata_and_sas.py": {
        "test_no_question_to_a_sas_drive_reaches_into_a_rest_of_hir": "its device is of paper",
    },
    "tests/runner/test_health_watch.py": {
        "test_no_question_reaches_into_a_rest_of_hir": "its device is of paper",
    },
    "tests/runner/test_pinning.py": {"SETTINGS": "its target is simulated"},
    "tests/crash/test_standstill.py": {
        "PROGRAM": "the standstill is what is looked for",
    },
    "tests/crash/test_configurations.py": {
        "with_hook": ANY_COUNT,
    },
    "tests/runner/test_hold.py": {"SETTINGS": "its targets are simulated"},
    "tests/cli/test_drive.py": {
        "test_a_run_does_not_begin_on_an_unfinished_drive": REFUSED,
        "test_a_narrow_link_is_a_remark_of_the_run": "a remark is looked at, not its I/Os",
    },
    "tests/device/test_fitness.py": {
        "SHORT": "warnings are looked at; any number of I/Os will do",
        "test_a_warning_that_appears_in_a_run_is_remarked_once_at_its_step_and_the_run_goes_on": (
            ANY_COUNT
        ),
    },
    "tests/device/test_composite_runs.py": {
        "SHORT": ANY_COUNT,
        "test_consent_for_one_member_writes_to_none": REFUSED,
    },
    "tests/engine/plans.py": {
        "for_time": "the word itself",
    },
    "tests/engine/test_engines.py": {
        "test_reads_for_a_time_are_counted_once_each_and_change_nothing": (
            "that a time ends a lap is shown once; any number of reads will do"
        ),
        "test_an_open_loop_issues_as_many_as_were_due": (
            "arrivals are due by the clock; those left undone are counted too"
        ),
        "test_a_target_that_shrank_is_a_named_error_and_still_there": REFUSED,
    },
    "tests/device/test_shared.py": {
        "SHORT": "the host that dies and those that go on are looked at, not their I/Os",
    },
    "tests/engine/test_hosts_session.py": {"*": "its workers make their laps up"},
    "tests/engine/test_hosts_shares.py": {"*": "plans are divided, nothing is run"},
    "tests/engine/test_hosts_worker.py": {"*": "its worker makes its laps up"},
    "tests/engine/test_hosts_wire.py": {"*": "plans are written and read, nothing is run"},
    "tests/engine/test_layout.py": {
        "test_a_plan_beyond_the_members_is_refused": REFUSED,
    },
    "tests/engine/test_native.py": {
        "test_laps_that_go_on_follow_each_other_without_a_gap": (
            "where laps meet is exact; any number of I/Os will do"
        ),
        "test_closing_ends_an_open_ended_stimulus": ANY_COUNT,
        "test_a_closed_session_says_so": REFUSED,
    },
    "tests/engine/test_simulated.py": {
        "conversation": "in virtual time",
    },
    "tests/runner/test_budget.py": {
        "*": "a session of canned answers",
    },
    "tests/runner/test_drive_commands.py": {
        "*": "simulated, or refused",
    },
    "tests/test_api.py": {
        "WORKLOAD": "its targets are simulated",
        "test_a_continuous_stimulus_on_a_real_file_has_no_gap": ANY_COUNT,
    },
}
READS_A_CLOCK = {
    "tests/conftest.py": "a library's thread is waited for until it has closed its files",
    "tests/drives/nvme_state.py": "the clock of a drive that a guest talks to",
    "tests/drives/tcmu.py": "the clock of a drive that a guest talks to",
    "tests/sql/test_databases.py": "a killed run's keeper is waited for until it has cleaned up",
    "tests/sql/test_driver.py": "a server is waited for until it listens",
    "tests/runner/test_interrupt.py": "a thread gives way until it is broken off",
    "tests/device/test_asking.py": "a process is polled until it has ended",
    "tests/fleet/test_clock.py": "two clocks are compared",
    "tests/fleet/test_conductor.py": "a host tells its clock",
    "tests/runner/test_hold.py": "a moment is named that a run begins at",
    "tests/fleet/test_fleet.py": "processes are polled until they have begun",
    "tests/fleet/test_hand.py": "a run is polled until it is in a state",
    "tests/fleet/going.py": "runs are polled until they are there",
    "tests/fleet/wires.py": "a frame is under way for its time",
    "tests/fleet/test_hosts_cut_off.py": "a wire is cut for its time; nodes are polled",
    "tests/cli/test_quick.py": "a process is polled until it has cleaned up",
    "tests/cli/test_run.py": "two signals must not become one",
    "tests/crash/test_stall.py": "a device that is still held is unmounted again",
    "tests/crash/test_standstill.py": "a stopped program stands still for as long",
    "tests/device/test_hook.py": "a process is polled until it has ended",
    "tests/device/test_file_for_a_run.py": "a process is polled until it has cleaned up",
    "tests/device/test_marker.py": "a process is polled until it has died",
    "tests/faults/warm.py": "a long loop tells how long it took",
    "tests/world/drive.py": "the clock is the world's own",
    "tests/world/driver.py": "a person who waits is told how long it takes",
    "tests/world/life.py": "a life that hangs is ended",
    "tests/engine/known_worker.py": "a worker tells its clock, and waits to be stopped",
    "tests/engine/test_fio.py": "a process is polled until it has ended",
    "tests/engine/test_simulated.py": "a thousand virtual seconds take less than as many real ones",
}


def units(source: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each definition at the top of a file."""
    lines = source.splitlines()
    for node in ast.parse(source).body:
        body = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                yield node.name, body
            case ast.Assign(targets=[ast.Name() as target]):
                yield target.id, body
            case _:
                continue


def bound_by_time(source: str) -> list[str]:
    """Return the definitions that hold a plan which ends by time on a real device."""
    return [
        name for name, body in units(source) if BY_TIME.search(body) and not VIRTUAL.search(body)
    ]


def test_plans_that_end_by_time_on_real_devices_stand_in_the_table() -> None:
    found = {
        (place(path), name)
        for path in of_kind(".py")
        if place(path).startswith(ROOMS) or place(path) == "tests/test_api.py"
        for name in bound_by_time(text(path))
    }
    unknown = {
        f"{path}::{name}"
        for path, name in found
        if not {name, "*"} & set(BOUND_BY_TIME.get(path, ()))
    }
    assert not unknown, f"bound these by bytes, a count or an observer: {sorted(unknown)}"


def test_clocks_that_tests_read_or_wait_for_stand_in_the_table() -> None:
    unknown = {
        f"{place(path)}:{number}"
        for path in of_kind(".py")
        if place(path).startswith("tests/") and "/house/" not in place(path)
        for number, line in enumerate(text(path).splitlines(), 1)
        if CLOCKS.search(line) and place(path) not in READS_A_CLOCK
    }
    assert not unknown, f"wait for an event, not for a time: {sorted(unknown)}"


def test_the_tables_name_what_is_there() -> None:
    for path, rows in BOUND_BY_TIME.items():
        assert set(rows) - {"*"} <= {name for name, _ in units(text(ROOT / path))}, path
    assert all((ROOT / path).exists() for path in READS_A_CLOCK)


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("def test_x(): run(for_time(SECOND_NS, stream(SIZE)))", True),
        ("def test_x(): run(for_time(LONG_NS, stream(SIZE)), until)", False),
        ("def test_x(): small().run(for_time(SECOND_NS, stream(SIZE)))", False),
        ('SET = {"rw": "read", "seconds": "2"}', True),
        ('SET = {"rw": "read", "seconds": "1h"}', False),
        ('SET = {"rw": "read", "bytes": "2MiB"}', False),
        ('def test_x(): teijo("run", "workload", file, "seconds=2")', True),
        ('def test_x(): run(file, "rw=read seconds=2")', True),
        ("def test_x(): ask(program, seconds=2)", False),
        ('def test_x(): api.run("iops", "sim:mlc-a", settings={"minute": "2s"})', False),
    ],
)
def test_a_plan_that_ends_by_time_is_seen(source: str, seen: bool) -> None:
    assert bool(bound_by_time(source)) is seen
