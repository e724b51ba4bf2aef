"""A run file that a browser brings: whole and proven, or not at all."""

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from teijo.runfile.shelf import id_of
from teijo.web import guard
from tests.web.serving import Answer, Served, served


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "runs").mkdir()
    with served(tmp_path / "runs") as found:
        yield found


def bring(site: Served, name: str, data: bytes, **headers: str) -> Answer:
    usual = {
        "Origin": site.address,
        "Content-Type": "application/octet-stream",
        "Content-Length": str(len(data)),
        "X-Teijo-Word": site.word(),
        "X-Teijo-Name": quote(name),
    }
    return site.ask("/upload", method="POST", headers=usual | headers, body=data)


def left(site: Served) -> set[str]:
    return {path.name for path in site.serving.folder.iterdir()} - {".teijo-index.sqlite"}


def test_a_whole_file_is_put_into_the_folder_as_it_is(site: Served, simulated: Path) -> None:
    data = simulated.read_bytes()
    answer = bring(site, "täst 1.teijo", data)
    assert answer.status == 200, answer.text
    assert (site.serving.folder / "täst 1.teijo").read_bytes() == data
    assert left(site) == {"täst 1.teijo"}
    assert answer.json["id"] == id_of("täst 1.teijo")
    site.runs()
    assert site.ask(answer.json["href"]).status == 200
    again = bring(site, "täst 1.teijo", data)
    assert again.status == 400
    assert "already" in again.json["error"]["message"]


def test_a_file_that_is_damaged_or_none_is_not_taken(site: Served, simulated: Path) -> None:
    data = bytearray(simulated.read_bytes())
    data[data.index(b"randrw")] ^= 0x20
    for broken in (b"", b"SQLite format 3\0", bytes(data[: len(data) // 2]), bytes(data),
                   os.urandom(4096)):  # fmt: skip
        answer = bring(site, "one.teijo", broken)
        assert answer.status == 404, answer.text
        assert "not taken" in answer.json["error"]["message"]
        assert str(site.serving.folder) not in answer.text, "no path is told"
    assert left(site) == set()


def test_a_file_whose_numbers_were_changed_is_not_taken(
    site: Served, simulated: Path, tmp_path: Path
) -> None:
    forged = tmp_path / "forged.teijo"
    shutil.copy(simulated, forged)
    with closing(sqlite3.connect(forged)) as db:
        db.execute("UPDATE interval SET ios = ios + 1")
        db.commit()
    answer = bring(site, "forged.teijo", forged.read_bytes())
    assert answer.status == 404
    assert left(site) == set()


@pytest.mark.parametrize(
    "name",
    ["", "x", "x.teijo.open", "../x.teijo", "a/x.teijo", "/etc/x.teijo", ".x.teijo", "..teijo",
     "x\n.teijo", "x\0.teijo", ".teijo", "x" * 300 + ".teijo", "\u202ex.teijo"],
)  # fmt: skip
def test_a_name_leads_nowhere_else(site: Served, simulated: Path, name: str) -> None:
    assert bring(site, name, simulated.read_bytes()).status == 400
    assert left(site) == set()
    assert {path.name for path in site.serving.folder.parent.iterdir()} == {"runs"}


def test_only_a_page_of_the_server_brings_one(site: Served, simulated: Path) -> None:
    data = simulated.read_bytes()
    assert bring(site, "x.teijo", data, **{"X-Teijo-Word": "x"}).status == 403
    assert bring(site, "x.teijo", data, Origin="http://evil.example").status == 403
    assert left(site) == set()


def test_a_gigabyte_is_refused_before_it_is_sent(site: Served) -> None:
    answer = bring(site, "x.teijo", b"", **{"Content-Length": str(1 << 30)})
    assert answer.status == 413
    assert left(site) == set()


def test_more_than_was_said_is_not_kept(
    site: Served, simulated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from teijo.web.pages import upload

    monkeypatch.setattr(upload, "UPLOAD_BYTES_MOST", 1000)
    assert guard.UPLOAD_BYTES_MOST > 1000
    assert "too large" in bring(site, "x.teijo", simulated.read_bytes()).text
    assert left(site) == set()


def test_what_a_killed_server_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    names = ("dead", "held", "new", "full", "open")
    made = {name: runs / f".teijo-upload-{name}" for name in names}
    for place in made.values():
        place.mkdir(mode=0o700, parents=True)
        (place / "upload").write_bytes(b"half of a file")
    (made["full"] / "other").touch()
    made["open"].chmod(0o755)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (elsewhere / "upload").touch()
    for place in (*made.values(), elsewhere):
        if place != made["new"]:
            os.utime(place, (0, 0))
    (runs / ".teijo-upload-link").symlink_to(elsewhere)
    descriptor = os.open(made["held"], os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        with served(runs, read_only=True):
            assert made["dead"].exists()
        with served(runs):
            pass
    finally:
        os.close(descriptor)
    assert not made["dead"].exists()
    assert (elsewhere / "upload").exists()
    for name in names[1:]:
        assert (made[name] / "upload").exists(), name
