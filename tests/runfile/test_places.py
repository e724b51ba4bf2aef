"""Where the run files of a folder are: by name, in order, and no further than is asked."""

from pathlib import Path

import pytest

from teijo.errors import HostError, RunFileError
from teijo.runfile.places import places


def test_run_files_are_found_in_order_and_below_where_that_is_asked(tmp_path: Path) -> None:
    below, elsewhere = tmp_path / "a" / "deep", tmp_path / "elsewhere"
    below.mkdir(parents=True)
    elsewhere.mkdir()
    for path in (
        tmp_path / "b.teijo", tmp_path / "a.teijo.open", tmp_path / "notes.txt", below / "c.teijo",
        elsewhere / "d.teijo",
    ):  # fmt: skip
        path.write_bytes(b"")
    (tmp_path / "folder.teijo").mkdir()
    (tmp_path / "link").symlink_to(elsewhere)
    assert places(tmp_path) == ["a.teijo.open", "b.teijo"]
    assert places(tmp_path, recursive=True) == [
        "a/deep/c.teijo", "a.teijo.open", "b.teijo", "elsewhere/d.teijo",
    ]  # fmt: skip


def test_what_is_no_folder_or_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunFileError, match="no folder"):
        places(tmp_path / "nowhere")

    def fails(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("teijo.runfile.places.os.scandir", fails)
    with pytest.raises(HostError, match="Permission denied"):
        places(tmp_path)
