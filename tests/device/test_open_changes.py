"""The journal of changes that must be undone: on the disk before the drive is told, gone after."""

import json
import os
from pathlib import Path

import pytest

from teijo.device import open_changes as journal
from teijo.device.open_changes import OpenChange, close, note, open_changes, state_folder
from teijo.errors import HostError


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "teijo" / "open-changes"


def change(kind: journal.Kind = "cache", serial: str = "S1", before: str = "on") -> OpenChange:
    return OpenChange(kind=kind, serial=serial, wwid="eui.1", target="/dev/sda", before=before)


def test_without_a_folder_nothing_is_open() -> None:
    assert open_changes() == ()


def test_a_change_is_there_until_it_is_closed(state: Path) -> None:
    noted = note(change())
    assert noted.pid == os.getpid()
    assert len(noted.boot_id) == 36
    assert open_changes("S1") == (noted,)
    assert open_changes("S2") == ()
    close(noted)
    assert open_changes() == ()
    assert list(state.iterdir()) == []


def test_each_kind_and_each_drive_has_its_own() -> None:
    for kind in ("cache", "password", "purge"):
        note(change(kind))
    note(change(serial="S2"))
    assert len(open_changes()) == 4
    close(change("password"))
    assert sorted(one.kind for one in open_changes("S1")) == ["cache", "purge"]


def test_the_state_to_go_back_to_is_the_oldest() -> None:
    note(change(before="on"))
    assert note(change(before="off")).before == "on"
    assert open_changes()[0].before == "on"


def test_only_its_user_reads_a_password(state: Path) -> None:
    note(change("password"))
    (path,) = state.iterdir()
    assert path.stat().st_mode & 0o077 == 0
    assert state.stat().st_mode & 0o077 == 0


def test_it_is_on_the_disk_before_note_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (order.append("fsync"), fsync(fd))[1])

    def renamed(self: Path, target: Path) -> Path:
        order.append("rename")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", renamed)
    note(change())
    # The file before its name, and the name before anybody tells the drive.
    assert order == ["fsync", "rename", "fsync"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"kind": "cache"}', "\xff", '{"kind":' * 50_000, "x" * 70_000],
)
def test_what_is_no_change_of_ours_is_named(state: Path, text: str) -> None:
    note(change())
    (path,) = state.iterdir()
    path.write_text(text)
    with pytest.raises(HostError, match="is no open change") as refused:
        open_changes()
    assert str(path) in refused.value.message


@pytest.mark.parametrize(("field", "value"), [("kind", "mount"), ("pid", "1"), ("before", 1)])
def test_fields_of_other_types_are_refused(state: Path, field: str, value: object) -> None:
    note(change())
    (path,) = state.iterdir()
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(HostError):
        open_changes()


def test_a_folder_that_others_may_write_to_is_not_believed(state: Path) -> None:
    note(change())
    state.chmod(0o777)
    with pytest.raises(HostError, match="others may write"):
        open_changes()
    with pytest.raises(HostError):
        note(change())


def test_what_cannot_be_noted_is_not_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(HostError, match="nothing was changed"):
        note(change())


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/teijo/open-changes"),
        ({"XDG_STATE_HOME": "x", "HOME": "/h"}, "/h/.local/state/teijo/open-changes"),
        ({"HOME": "/h"}, "/h/.local/state/teijo/open-changes"),
    ],
)
def test_where_it_is(environment: dict[str, str], folder: str) -> None:
    assert state_folder(environment) == Path(folder)
