"""A limit of memory is a control group of ours: made, entered, left, and cleaned after a kill."""

import os
from pathlib import Path

import pytest

from teijo.device.memory_limit import LEAST_BYTES, PREFIX, MemoryLimit
from teijo.errors import HostError

PID = 4242
LIMIT = 512 << 20
KERNEL_FILES = ("memory.max", "cgroup.procs", "memory.events")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Make a tree as a kernel has it: this process in /user.slice/session."""
    root, proc = tmp_path / "cgroup", tmp_path / "proc"
    session = root / "user.slice" / "session"
    session.mkdir(parents=True)
    (proc / "self").mkdir(parents=True)
    (proc / str(PID)).mkdir()
    (proc / "self" / "cgroup").write_text("12:cpuset:/old\n0::/user.slice/session\n")
    (root / "cgroup.controllers").write_text("cpu io memory pids\n")
    (root / "cgroup.subtree_control").write_text("memory\n")
    (root / "user.slice" / "cgroup.subtree_control").write_text("cpu memory\n")
    (session / "cgroup.procs").write_text("")
    make, remove = Path.mkdir, Path.rmdir

    def mkdir(path: Path, *more: object) -> None:
        make(path)
        for name in KERNEL_FILES:
            (path / name).write_text("")

    def rmdir(path: Path) -> None:
        for name in KERNEL_FILES:
            (path / name).unlink(missing_ok=True)
        remove(path)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", rmdir)
    return root, proc


def limit(tree: tuple[Path, Path]) -> MemoryLimit:
    return MemoryLimit(*tree, pid=PID)


def test_the_process_moves_into_a_group_beside_its_own_and_back(tree: tuple[Path, Path]) -> None:
    root, _ = tree
    one = limit(tree)
    group = root / "user.slice" / f"{PREFIX}{PID}"
    facts = one.hold(LIMIT)
    assert facts == {
        "memory_max_bytes": str(LIMIT),
        "memory_group": f"user.slice/{PREFIX}{PID}",
    }
    assert (group / "memory.max").read_text() == str(LIMIT)
    assert (group / "cgroup.procs").read_text() == str(PID)
    (group / "memory.events").write_text("low 0\nhigh 0\nmax 17\noom 0\n")
    assert one.hits() == 17
    one.hold(LIMIT * 2)
    assert (group / "memory.max").read_text().startswith(str(LIMIT * 2))
    one.leave()
    one.leave()
    assert not group.exists()
    assert (root / "user.slice" / "session" / "cgroup.procs").read_text() == str(PID)
    assert one.hold(None) == {}
    assert one.hits() == 0


def test_the_group_of_a_process_that_was_killed_is_removed_and_that_of_one_that_lives_stays(
    tree: tuple[Path, Path],
) -> None:
    root, proc = tree
    dead, alive, other = (root / "user.slice" / f"{PREFIX}{name}" for name in ("1", "2", "x"))
    for group in (dead, alive, other):
        group.mkdir()
    (proc / "2").mkdir()
    one = limit(tree)
    one.hold(LIMIT)
    assert not dead.exists()
    assert alive.exists()
    assert other.exists()
    one.leave()


@pytest.mark.parametrize("kills", [0, 1, 12])
def test_who_outlives_a_killed_process_removes_its_group_and_learns_of_a_kill_for_memory(
    tree: tuple[Path, Path], kills: int
) -> None:
    group = tree[0] / "user.slice" / f"{PREFIX}{PID}"
    assert not limit(tree).outlived()
    group.mkdir()
    (group / "memory.events").write_text(f"max 40\noom {kills}\noom_kill {kills}\n")
    assert limit(tree).outlived() is bool(kills)
    assert not group.exists()


def test_where_there_are_no_groups_nothing_is_outlived(tmp_path: Path) -> None:
    assert not MemoryLimit(tmp_path, tmp_path, PID).outlived()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda root, proc: (root / "cgroup.controllers").unlink(), "holds no control groups v2"),
        (
            lambda root, proc: (root / "cgroup.controllers").write_text("cpu io\n"),
            "names no memory controller",
        ),
        (
            lambda root, proc: [
                path.write_text("cpu") for path in root.rglob("cgroup.subtree_control")
            ],
            "gives the memory controller on",
        ),
        (
            lambda root, proc: (proc / "self" / "cgroup").write_text("4:memory:/x\n"),
            "in no control group v2",
        ),
        (
            lambda root, proc: (proc / "self" / "cgroup").write_text("0::/../../etc\n"),
            "in no control group v2",
        ),
    ],
)
def test_where_it_cannot_be_the_reason_is_told(
    tree: tuple[Path, Path], spoil: object, reason: str
) -> None:
    spoil(*tree)  # type: ignore[operator]
    with pytest.raises(HostError, match=reason):
        limit(tree).hold(LIMIT)
    assert not list(tree[0].rglob(f"{PREFIX}*"))


def test_less_than_the_program_needs_is_refused(tree: tuple[Path, Path]) -> None:
    with pytest.raises(HostError, match="64 MiB is less than this program needs, 128 MiB"):
        limit(tree).hold(LEAST_BYTES // 2)


def test_a_limit_is_checked_without_a_group_being_made(tree: tuple[Path, Path]) -> None:
    limit(tree).check(None)
    limit(tree).check(LIMIT)
    with pytest.raises(HostError, match="less than this program needs"):
        limit(tree).check(LEAST_BYTES - 1)
    assert not list(tree[0].rglob(f"{PREFIX}*"))
    (tree[0] / "cgroup.controllers").unlink()
    with pytest.raises(HostError, match="holds no control groups v2"):
        limit(tree).check(LIMIT)


def test_the_real_host_holds_a_limit_or_tells_why_not() -> None:
    one = MemoryLimit()
    try:
        facts = one.hold(1 << 30)
    except HostError as error:
        told = error
    else:
        told = None
    if told is not None:
        # Whether a host has what it takes is not ours to choose; that it says what is missing is.
        assert "cannot be limited here" in str(told)
        return
    try:
        group = Path("/sys/fs/cgroup") / facts["memory_group"]
        assert (group / "memory.max").read_text().strip() == str(1 << 30)
        assert str(os.getpid()) in (group / "cgroup.procs").read_text().split()
    finally:
        one.leave()
    assert not group.exists()
