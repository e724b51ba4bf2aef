"""The mark on a file: whose it is, how it was left, and what somebody else did to it since."""

import fcntl
import json
import mmap
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from teijo.device import file, keeper, layout, marker, open_target
from teijo.device.device import Device
from teijo.device.kernel import Roots
from teijo.device.marker import Holder, Mark
from teijo.errors import HostError, TeijoError, UnsafeError
from teijo.units import MIB, NS_PER_S
from tests.crash.runs import in_a_child, kill_me

SIZE = 4 * MIB
RUN = Holder(run="11111111", run_file="/no/such/run.teijo.open")
OTHER = Holder(run="22222222")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "disk.img"


@pytest.fixture
def without_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that has none, as the keeper in a process of its own cannot be told."""

    def unsupported(*_: object) -> bytes:
        raise OSError(95, "Operation not supported")

    for name in ("setxattr", "getxattr", "removexattr"):
        monkeypatch.setattr(os, name, unsupported)
    monkeypatch.setattr(keeper, "start", lambda *_: None)


def opened(path: Path, holder: Holder = marker.NOBODY, **options: bool) -> Device:
    return open_target(f"{path}?size={SIZE}&direct=no", write=True, holder=holder, **options)


def killed(path: Path, holder: Holder = RUN) -> None:
    """Leave a file as a run does that is killed after it wrote something.

    What keeps the file in a process of its own hears of the kill a moment later.
    """

    def act() -> None:
        opened(path, holder)
        with path.open("r+b") as target:
            target.write(b"of the run")
        kill_me()

    assert in_a_child(act) == -9
    wait_for_the_keeper(path)


def own_data(path: Path) -> bytes:
    with path.open("r+b") as target:
        target.write(b"precious")
    return path.read_bytes()


def refused(path: Path, holder: Holder = marker.NOBODY) -> UnsafeError:
    """Return why a file is refused; it stays as it was."""
    before = path.read_bytes()
    with pytest.raises(UnsafeError) as caught:
        opened(path, holder)
    assert caught.value.exit_code == 3
    assert path.read_bytes() == before
    return caught.value


def test_a_killed_runs_file_is_taken_up_by_that_run_alone(path: Path) -> None:
    killed(path)
    assert "was left by a run that was killed" in str(refused(path))
    assert "killed" in str(refused(path, OTHER))
    opened(path, RUN).close()
    opened(path, OTHER).close()  # left in order now


def test_what_has_just_written_down_a_kill_is_waited_for_until_it_lets_go(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(path)
    keeper = os.open(path, os.O_RDWR)
    fcntl.flock(keeper, fcntl.LOCK_EX)
    held = [keeper]
    real = marker.read_mark

    def read_mark(fd: int, target: Path) -> Mark | None:
        mark = real(fd, target)
        while held:
            os.close(held.pop())
        return mark

    monkeypatch.setattr(file, "LOCK_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(marker, "read_mark", read_mark)
    opened(path, RUN).close()


def test_data_written_after_the_kill_are_kept_from_every_run_until_they_are_given_up(
    path: Path,
) -> None:
    killed(path)
    mine = own_data(path)
    for holder in (marker.NOBODY, OTHER, RUN):
        assert "somebody wrote to it since" in str(refused(path, holder))
    assert path.read_bytes() == mine
    opened(path, RUN, overwrite=True).close()


def wait_for_the_keeper(path: Path) -> None:
    deadline = time.monotonic() + 60
    while mark_of(path).state == "in use":
        assert time.monotonic() < deadline
        time.sleep(0.01)


def mark_of(path: Path) -> Mark:
    fd = os.open(path, os.O_RDONLY)
    try:
        mark = marker.read_mark(fd, path)
    finally:
        os.close(fd)
    assert mark is not None
    return mark


def test_the_way_out_names_the_run_that_can_go_on(path: Path, tmp_path: Path) -> None:
    run_file = tmp_path / "a run.teijo.open"
    run_file.touch()
    killed(path, Holder(run="33", run_file=str(run_file)))
    remedy = refused(path).remedy
    assert f"teijo resume '{run_file}'" in remedy
    assert "--overwrite" in remedy
    assert "remove" in remedy
    run_file.unlink()
    assert "resume" not in refused(path).remedy


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a\nb", ""])
def test_a_run_file_whose_name_could_steer_a_terminal_is_not_named(
    path: Path, tmp_path: Path, name: str
) -> None:
    run_file = tmp_path / (name or "x")
    run_file.touch()
    killed(path, Holder(run="33", run_file=str(run_file) if name else ""))
    assert refused(path).remedy == "Remove it, or add --overwrite to lose what it holds."


def test_where_the_keeper_was_killed_too_not_even_that_run_goes_on_unasked(path: Path) -> None:
    def act() -> None:
        started: list[subprocess.Popen[bytes]] = []
        start = keeper.start

        def remembered(
            fd: int, beside: Path, removed: Path | None
        ) -> subprocess.Popen[bytes] | None:
            process = start(fd, beside, removed)
            assert process is not None
            started.append(process)
            return process

        keeper.start = remembered
        opened(path, RUN)
        started[0].kill()
        started[0].wait()
        kill_me()

    assert in_a_child(act) == -signal.SIGKILL
    assert mark_of(path).state == "in use"
    assert "cannot be told" in str(refused(path, RUN))
    opened(path, RUN, overwrite=True).close()


def test_a_file_that_is_measured_names_the_process(path: Path) -> None:
    device = opened(path, RUN)
    try:
        assert f"process {os.getpid()}" in str(refused(path, OTHER))
    finally:
        device.close()


def test_the_keeper_is_gone_when_the_file_is_given_back(path: Path) -> None:
    device = opened(path, RUN)
    device.close()
    mark = mark_of(path)
    assert (mark.state, mark.run, mark.size_bytes) == ("in order", RUN.run, SIZE)
    assert mark.written_ns == path.stat().st_mtime_ns
    assert not [one for one in Path("/proc").glob("[0-9]*/fd/*") if points_to(one, path)]


def points_to(entry: Path, path: Path) -> bool:
    try:
        return os.path.realpath(entry) == str(path)
    except OSError:
        return False


@pytest.mark.parametrize(
    "point",
    [(file, "_mark"), (file, "reserve"), (file, "lay_out"), (layout, "_write"), (os, "fsync")],
    ids=lambda point: point[1],
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_while_a_file_is_made_the_next_run_loses_nothing_and_says_the_way_out(
    path: Path, point: tuple[object, str], when: str
) -> None:
    room, name = point
    real: Callable[..., object] = getattr(room, name)

    def dying(*arguments: object) -> None:
        if when == "after":
            real(*arguments)
        kill_me()

    def act() -> None:
        setattr(room, name, dying)
        opened(path, RUN)

    assert in_a_child(act) == -9
    message = str(refused(path, OTHER))
    assert "teijo did not make it" in message or "a run that was killed" in message
    assert "--overwrite" in message
    path.unlink()
    opened(path, OTHER).close()


def test_a_copy_with_its_attributes_is_no_file_of_ours(path: Path, tmp_path: Path) -> None:
    opened(path).close()
    shutil.copy2(path, tmp_path / "copy")
    assert "teijo did not make it" in str(refused(tmp_path / "copy"))


@pytest.mark.parametrize("change", ["write", "set back", "truncate", "map"])
def test_a_change_since_it_was_left_in_order_is_noticed(path: Path, change: str) -> None:
    opened(path).close()
    before = path.stat()
    time.sleep(marker.CHANGE_SLACK_NS / NS_PER_S + 0.1 if change in {"set back", "truncate"} else 0)
    with path.open("r+b") as target:
        if change == "map":
            with mmap.mmap(target.fileno(), 4096) as view:
                view[:4] = b"mine"
                view.flush()
        else:
            target.write(b"mine")
        if change == "truncate":
            target.truncate(SIZE - 4096)
    if change in {"set back", "truncate"}:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert "somebody wrote to it since" in str(refused(path))


def test_a_write_in_the_same_tick_as_the_end_of_a_run_is_noticed(path: Path) -> None:
    for _ in range(20):
        opened(path, overwrite=True).close()
        own_data(path)
        refused(path)


def a_mark(status: os.stat_result) -> Mark:
    return Mark(
        inode=status.st_ino,
        state="in order",
        run="11",
        run_file="",
        boot=marker.boot_id(),
        pid=1,
        pid_started="never",
        size_bytes=status.st_size,
        written_ns=status.st_mtime_ns,
        changed_ns=status.st_ctime_ns,
    )


@pytest.mark.parametrize(
    ("change", "run", "words"),
    [
        ({}, "", None),
        ({}, "22", None),
        ({"inode": 1}, "11", "did not make it"),
        ({"size_bytes": 7}, "11", "wrote to it since"),
        ({"written_ns": 1}, "11", "wrote to it since"),
        ({"changed_ns": 1}, "11", "wrote to it since"),
        ({"state": "killed"}, "11", None),
        ({"state": "killed"}, "22", "was killed"),
        ({"state": "killed"}, "", "was killed"),
        ({"state": "killed", "run": ""}, "", "was killed"),
        ({"state": "killed", "written_ns": 1}, "11", "wrote to it since"),
        ({"state": "in use"}, "11", "cannot be told"),
        ({"state": "in use"}, "22", "cannot be told"),
    ],
)
def test_who_may_take_a_file(
    path: Path, change: dict[str, object], run: str, words: str | None
) -> None:
    path.write_bytes(b"x")
    status = path.stat()
    mark = replace(a_mark(status), **change)  # type: ignore[arg-type]
    found = marker.refusal(mark, status, path, run)
    assert (found is None) == (words is None)
    assert words is None or words in str(found)


def test_another_process_of_the_same_number_is_not_the_one_that_marked_it(path: Path) -> None:
    path.touch()
    mark = replace(a_mark(path.stat()), pid=os.getpid(), pid_started=marker.started(os.getpid()))
    assert marker.is_alive(mark)
    assert not marker.is_alive(replace(mark, pid_started="1"))
    assert not marker.is_alive(replace(mark, boot="of another day"))
    assert not marker.is_alive(replace(mark, pid=2**22 + 1))


def test_a_dead_process_nobody_waited_for_is_dead(tmp_path: Path) -> None:
    folder = tmp_path / "7"
    folder.mkdir()
    rest = " ".join(str(number) for number in range(4, 30))
    for state, alive in (("S", True), ("Z", False), ("X", False)):
        (folder / "stat").write_text(f"7 (a) b) {state} {rest}")
        assert bool(marker.started(7, Roots(proc=tmp_path))) is alive
        assert marker.started(7, Roots(proc=tmp_path)) in {"", "22"}


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"null", b"[" * 3000, b'{"inode": "1"}', b"\xff\xfe", b'{"inode": true}'],
)
def test_a_mark_that_cannot_be_understood_is_none(path: Path, text: bytes) -> None:
    opened(path).close()
    os.setxattr(path, keeper.ATTRIBUTE, text)
    assert "teijo did not make it" in str(refused(path))


def test_a_mark_of_the_first_kind_is_none(path: Path) -> None:
    opened(path).close()
    old = {"inode": path.stat().st_ino, "written_ns": 0}
    os.setxattr(path, keeper.ATTRIBUTE, json.dumps(old).encode())
    refused(path)


@pytest.mark.usefixtures("without_attributes")
@pytest.mark.parametrize("plant", ["link", "pipe", "folder", "others may write", "huge"])
def test_what_somebody_planted_beside_is_neither_believed_nor_followed(
    path: Path, tmp_path: Path, plant: str
) -> None:
    path.write_bytes(bytes(SIZE))
    text = json.dumps(asdict(a_mark(path.stat()))).encode()
    beside, elsewhere = marker.beside(path), tmp_path / "elsewhere"
    elsewhere.write_bytes(text)
    match plant:
        case "link":
            beside.symlink_to(elsewhere)
        case "pipe":
            os.mkfifo(beside)
        case "folder":
            beside.mkdir()
        case "others may write":
            beside.write_bytes(text)
            beside.chmod(0o666)
        case "huge":
            beside.write_bytes(text + b" " * keeper.MOST_BYTES)
    assert "teijo did not make it" in str(refused(path))
    try:
        opened(path, overwrite=True).close()
    except HostError:
        assert plant == "folder"
    assert elsewhere.read_bytes() == text


@pytest.mark.usefixtures("without_attributes")
def test_a_mark_beside_is_believed_where_it_is_ours(path: Path) -> None:
    path.write_bytes(bytes(SIZE))
    marker.beside(path).write_bytes(json.dumps(asdict(a_mark(path.stat()))).encode())
    marker.beside(path).chmod(0o600)
    opened(path).close()
    assert marker.beside(path).stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file to somebody else")
@pytest.mark.usefixtures("without_attributes")
def test_a_mark_beside_of_another_person_is_not_believed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(bytes(SIZE))
    beside = marker.beside(path)
    beside.write_bytes(json.dumps(asdict(a_mark(path.stat()))).encode())
    beside.chmod(0o600)
    os.chown(beside, 12345, 12345)
    refused(path)


def test_a_file_that_was_given_up_and_then_not_taken_is_still_somebody_elses(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"x" * SIZE)

    def full(*_: object) -> None:
        raise HostError("full")

    with monkeypatch.context() as patch:
        patch.setattr(file, "reserve", full)
        with pytest.raises(TeijoError):
            opened(path, overwrite=True)
    assert path.read_bytes() == b"x" * SIZE
    assert "teijo did not make it" in str(refused(path))
