"""A folder that is searched: it says what a listing says, and reads only what has changed."""

import os
import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from teijo import api
from teijo.api import Watched, run_files
from teijo.api import shelf as shelf_module
from teijo.api.shelf import LEADS_OUT, Progress, Shelf
from teijo.errors import HostError, RunFileError
from teijo.runfile import mark, reader, writers
from teijo.runfile.listed import Listed
from teijo.runfile.places import ENDINGS
from teijo.runfile.recorder import Recorder
from teijo.runfile.shelf import FILE, FILE_OF_ALL, Column, Index, Question, id_of
from teijo.terms.remark import Remark, RemarkKind
from tests.crash.runs import in_a_child, killed_after

SETTINGS = {"seconds": "10ms", "rest": "1ms", "passes": "2"}
SIM = "sim:mlc-a"
WAITED_S = 300


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take each file for one that nobody writes to just now, or did a moment ago."""
    monkeypatch.setattr(mark, "SETTLED_NS", 0)
    monkeypatch.setattr(writers, "FRESH_NS", 0)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sealed run and one that was killed."""
    root = tmp_path_factory.mktemp("runs")
    limits = ["iops[RND 4KiB Q32T1 read] >= 1000M"]
    asked = {"settings": SETTINGS, "seed": 1, "limits": limits, "group": {"Campaign": "spring"}}
    api.run("quick", SIM, output=root / "sealed", **asked)  # type: ignore[arg-type]
    assert in_a_child(
        lambda: api.run(
            "quick", SIM, output=root / "left", settings=SETTINGS, seed=1, observer=killed_after(4)
        )
    ) == -9  # fmt: skip
    return root


@pytest.fixture
def folder(runs: Path, tmp_path: Path) -> Path:
    """The two runs, copies of one under strange names, and what is no run file or a damaged one."""
    root = tmp_path / "folder"
    shutil.copytree(runs, root)
    sealed = root / "sealed.teijo"
    for name in ("測定 結果.teijo", "'; DROP TABLE shelf; --.teijo", "below/deep.teijo"):
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copy(sealed, root / name)
    (root / "cut.teijo").write_bytes(sealed.read_bytes()[:9000])
    (root / "text.teijo").write_text("not a run file\n")
    (root / os.fsdecode(b"evil\xff\x1b[2J\n.teijo")).write_text("\x1b[2J")
    (root / "gone.teijo").symlink_to("nowhere")
    (root / "same.teijo").symlink_to("sealed.teijo")
    os.mkfifo(root / "pipe.teijo")
    (root / "folder.teijo").mkdir()
    (root / "notes.txt").write_text("nothing of ours")
    return root


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the run files that are read from now on."""
    names: list[str] = []
    look = run_files.look

    def counted(path: Path, watched: Watched | None = None) -> run_files.Look:
        names.append(path.name)
        return look(path, watched)

    monkeypatch.setattr(run_files, "look", counted)
    return names


def refreshed(folder: Path, *, recursive: bool = False, cache: Path | None = None) -> Shelf:
    shelf = Shelf(folder, recursive=recursive, cache=cache)
    list(shelf.refresh())
    return shelf


def listed(shelf: Shelf) -> list[Listed]:
    rows = shelf.find(Question(order=Column.NAME, descending=False, limit=1000)).rows
    return [row.listed for row in rows]


def names(shelf: Shelf) -> list[str]:
    return [row.path.name for row in listed(shelf)]


@pytest.mark.parametrize("recursive", [False, True])
def test_a_shelf_says_what_a_listing_says(folder: Path, recursive: bool) -> None:
    shelf = refreshed(folder, recursive=recursive)
    expected = list(api.listing(folder, recursive=recursive))
    by_path = {row.path: row for row in listed(shelf)}
    assert by_path == {row.path: row for row in expected}
    assert len(by_path) == (11 if recursive else 10)
    again = Shelf(folder, recursive=recursive)
    assert listed(again) == listed(shelf)
    assert (folder / (FILE_OF_ALL if recursive else FILE)).is_file()
    assert not (folder / (FILE if recursive else FILE_OF_ALL)).exists()


def test_a_listing_says_what_is_in_the_folders_below_in_order_and_follows_no_link(
    folder: Path,
) -> None:
    (folder / "round.d").symlink_to(".")
    told = [row.path for row in api.listing(folder, recursive=True)]
    patterns = (path for path in folder.rglob("*") if path.name.endswith(ENDINGS))
    assert told == sorted(path for path in patterns if not path.is_dir())


def test_only_what_has_changed_is_read_again(folder: Path, read: list[str], runs: Path) -> None:
    shelf = refreshed(folder)
    assert len(read) == 10

    def seen() -> list[str]:
        """Return what a refresh reads, without what the listing beside it does."""
        read.clear()
        list(shelf.refresh())
        return sorted(read)

    assert seen() == []
    shutil.copy(runs / "sealed.teijo", folder / "new.teijo")
    assert seen() == ["new.teijo"]
    (folder / "text.teijo").write_text("another text\n")
    assert seen() == ["text.teijo"]
    (folder / "new.teijo").rename(folder / "renamed.teijo")
    assert seen() == ["renamed.teijo"]
    (folder / "renamed.teijo").unlink()
    (folder / "cut.teijo").unlink()
    assert seen() == []
    assert len(names(shelf)) == 9
    with (folder / "left.teijo.open-wal").open("ab") as log:
        log.write(b"more")
    assert seen() == ["left.teijo.open"]
    status = (folder / "text.teijo").stat()
    (folder / "text.teijo").write_text("ANOTHER TEXT\n")
    os.utime(folder / "text.teijo", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert seen() == ["text.teijo"], "as long as before, and dated back"
    assert listed(refreshed(folder)) == listed(shelf)
    assert seen() == []


def test_a_run_that_is_sealed_is_one_row_under_its_new_name(folder: Path, read: list[str]) -> None:
    shelf = refreshed(folder)
    assert "left.teijo.open" in names(shelf)
    api.resume(folder / "left.teijo.open")
    read.clear()
    list(shelf.refresh())
    assert read == ["left.teijo"]
    assert [name for name in names(shelf) if name.startswith("left")] == ["left.teijo"]


def test_a_disk_that_failed_is_asked_again(
    folder: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def fails(path: Path, _: object) -> None:
            raise HostError(f"{path} cannot be read.")

        patch.setattr(run_files, "_read", fails)
        shelf = refreshed(folder)
    assert all(row.trouble for row in listed(shelf))
    read.clear()
    list(shelf.refresh())
    assert len(read) == 10
    assert not all(row.trouble for row in listed(shelf))


def test_a_run_that_is_written_is_told_from_one_that_was_left(runs: Path, tmp_path: Path) -> None:
    left = shutil.copytree(runs, tmp_path / "runs") / "left"
    recorder = Recorder.reopen(left)
    shelf = refreshed(left.parent)
    going = Question(only=((Column.ENDING, "running"),))
    (row,) = shelf.find(going).rows
    state = api.watch(left).state()
    told = row.listed.share, row.listed.round_number
    assert told == (round(state.share, 3), state.round_number)
    assert row.listed.written_at[:10] == row.listed.started_at[:10]
    recorder.close()
    list(shelf.refresh())
    assert shelf.find(going).total == 0
    (row,) = shelf.find(Question(only=((Column.ENDING, "left open"),))).rows
    assert row.listed.share == told[0]
    (alone,) = (each for each in api.listing(left.parent) if each.open)
    assert row.listed == alone


def test_that_nobody_writes_any_more_is_told_without_a_look(
    runs: Path, tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "FRESH_NS", 2**62)
    shelf = refreshed(Path(shutil.copytree(runs, tmp_path / "runs")))
    assert dict(shelf.choices(Column.ENDING)).keys() == {"running", "done"}
    monkeypatch.setattr(writers, "FRESH_NS", 0)
    read.clear()
    list(shelf.refresh())
    assert dict(shelf.choices(Column.ENDING)).keys() == {"left open", "done"}
    assert read == []


def test_of_a_run_that_is_followed_only_what_is_new_is_read(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = shutil.copytree(runs, tmp_path / "runs") / "left"
    recorder = Recorder.reopen(left)
    shelf = refreshed(left.parent)
    beginnings: list[Path] = []
    proved_in = reader.proved_in

    def counted(view: reader.View) -> reader.Proved:
        beginnings.append(tmp_path)
        return proved_in(view)

    monkeypatch.setattr(reader, "proved_in", counted)
    recorder.remark(Remark(kind=RemarkKind.NOT_PURGED, text="of late"))
    list(shelf.refresh())
    assert beginnings == []
    recorder.end("interrupted")
    list(shelf.refresh())
    assert dict(shelf.choices(Column.ENDING)).keys() == {"interrupted", "done"}
    assert len(beginnings) > 0
    recorder.close()


def test_it_answers_while_it_is_refreshed_and_tells_how_far_it_has_come(folder: Path) -> None:
    shelf = Shelf(folder)
    assert shelf.find().known == 0
    told = [(progress, shelf.find().known) for progress in shelf.refresh()]
    assert told == [(Progress(done=done, total=10), done) for done in range(11)]


def test_a_refresh_that_is_left_keeps_what_it_has_read(folder: Path, read: list[str]) -> None:
    going = Shelf(folder).refresh()
    for _ in range(4):
        next(going)
    going.close()  # type: ignore[attr-defined]
    read.clear()
    assert len(names(refreshed(folder))) == 10
    assert len(read) == 7


def test_one_thread_refreshes_and_the_others_ask(folder: Path) -> None:
    shelf = Shelf(folder)
    going = shelf.refresh()
    next(going)
    assert list(shelf.refresh()) == [], "another is at it"
    ended = threading.Event()
    wrong: list[object] = []

    def ask() -> None:
        while not ended.is_set():
            answer = shelf.find(Question(text="mlc"))
            if not answer.total == len(answer.rows) <= answer.known:
                wrong.append(answer)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        list(going)
    finally:
        ended.set()
        for thread in threads:
            thread.join(WAITED_S)
    assert wrong == []
    assert shelf.find().known == 10


def test_two_processes_on_one_folder_harm_each_other_in_nothing(
    folder: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf_module, "_SAVED_EVERY", 1)
    shelf = Shelf(folder)
    going = shelf.refresh()
    for _ in range(3):
        next(going)

    def other() -> None:
        assert len(names(refreshed(folder))) == 10

    assert in_a_child(other) == 0
    list(going)
    shutil.copy(folder / "sealed.teijo", folder / "new.teijo")
    assert in_a_child(lambda: list(Shelf(folder).refresh())) == 0
    read.clear()
    list(shelf.refresh())
    assert read == [], "what the other has read is taken from its index"
    assert "new.teijo" in names(shelf)
    assert {path.name for path in folder.iterdir() if path.name.startswith(".")} == {FILE}


@pytest.mark.parametrize("content", [b"", b"noise" * 4096, b"SQLite format 3\0" + bytes(8192)])
def test_an_index_that_is_no_good_is_made_anew(
    folder: Path, read: list[str], content: bytes
) -> None:
    (folder / FILE).write_bytes(content)
    assert len(names(refreshed(folder))) == 10
    assert len(read) == 10
    assert len(names(Shelf(folder))) == 10


def test_an_index_that_breaks_while_it_is_used_is_made_anew(folder: Path) -> None:
    shelf = refreshed(folder)
    shelf._index.db.execute("DROP TABLE shelf")
    assert shelf.find().known == 0
    list(shelf.refresh())
    assert shelf.find().known == 10
    shelf._index.db.execute("DROP TABLE shelf")
    assert shelf.path_of("0" * 24) is None
    list(shelf.refresh())
    assert shelf.choices(Column.METHOD) == ()
    list(shelf.refresh())
    assert shelf.choices(Column.METHOD) == (("quick", 5),)


def test_a_link_in_its_place_is_replaced_and_what_it_leads_to_is_as_it_was(
    folder: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious.sqlite"
    with closing(sqlite3.connect(precious)) as db:
        db.execute("CREATE TABLE mine (a)")
    before = precious.read_bytes()
    (folder / FILE).symlink_to(precious)
    assert len(names(refreshed(folder))) == 10
    assert precious.read_bytes() == before
    assert not (folder / FILE).is_symlink()
    assert len(names(Shelf(folder))) == 10


@pytest.fixture
def unwritable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder in which nothing can be made; root may write everywhere but there."""
    replace_atomically = shelf_module.creating.replace_atomically

    def refuses(path: Path, data: bytes, *, mode: int = 0o644) -> None:
        if path.parent == folder:
            raise PermissionError(13, "Permission denied")
        replace_atomically(path, data, mode=mode)

    monkeypatch.setattr(shelf_module.creating, "replace_atomically", refuses)
    return folder


def test_a_folder_that_cannot_be_written_is_searched_all_the_same(
    unwritable: Path, read: list[str], tmp_path: Path
) -> None:
    assert len(names(refreshed(unwritable))) == 10
    assert not (unwritable / FILE).exists()
    cache = tmp_path / "cache"
    refreshed(unwritable, cache=cache)
    read.clear()
    assert len(names(refreshed(unwritable, cache=cache))) == 10
    assert read == []
    assert [path.name.endswith(FILE) for path in cache.iterdir()] == [True]


def test_a_cache_that_is_a_link_is_not_written_to(unwritable: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").symlink_to("elsewhere")
    assert len(names(refreshed(unwritable, cache=tmp_path / "cache"))) == 10
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_id_leads_to_its_file_and_lasts(folder: Path) -> None:
    shelf = refreshed(folder, recursive=True)
    rows = shelf.find().rows
    leads = {row.listed.path.name: shelf.path_of(row.id) for row in rows}
    assert leads["deep.teijo"] == folder / "below" / "deep.teijo"
    assert leads["same.teijo"] == folder / "same.teijo"
    assert (leads["gone.teijo"], leads["pipe.teijo"]) == (None, None)
    assert {row.id for row in refreshed(folder, recursive=True).find().rows} == {
        row.id for row in rows
    }
    (folder / "below" / "deep.teijo").unlink()
    assert shelf.path_of(id_of("below/deep.teijo")) is None
    for asked in ("", "../sealed.teijo", "sealed.teijo", "/etc/passwd", "\0", "\ud800", "x" * 9999):
        assert shelf.path_of(asked) is None


def test_a_run_keeps_its_id_when_it_is_sealed(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs, tmp_path / "runs")
    shelf = Shelf(tmp_path / "runs")
    list(shelf.refresh())
    left = tmp_path / "runs" / "left.teijo.open"
    sealed = left.with_name("left.teijo")
    (row,) = [row for row in shelf.find().rows if row.listed.path == left]
    assert shelf.path_of(row.id) == left
    shutil.copy(runs / "sealed.teijo", sealed)
    for gone in left.parent.glob("left.teijo.open*"):
        gone.unlink()
    assert shelf.path_of(row.id) == sealed, "before it is read anew"
    list(shelf.refresh())
    assert shelf.path_of(row.id) == sealed
    assert [each.listed.path for each in shelf.find().rows if each.id == row.id] == [sealed]


def test_where_a_seal_was_cut_short_the_sealed_file_alone_is_listed(
    runs: Path, tmp_path: Path, read: list[str]
) -> None:
    shutil.copytree(runs, tmp_path / "runs")
    shutil.copy(runs / "sealed.teijo", tmp_path / "runs" / "left.teijo")
    shelf = Shelf(tmp_path / "runs")
    list(shelf.refresh())
    assert sorted(row.listed.path.name for row in shelf.find().rows) == [
        "left.teijo",
        "sealed.teijo",
    ]
    read.clear()
    list(shelf.refresh())
    assert read == []


def test_no_link_leads_out_of_the_folder(folder: Path, tmp_path: Path, read: list[str]) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.copy(folder / "sealed.teijo", outside / "secret.teijo")
    (folder / "out.teijo").symlink_to(outside / "secret.teijo")
    shelf = refreshed(folder, recursive=True)
    (row,) = shelf.find(Question(text="out.teijo")).rows
    assert (row.listed.trouble, row.listed.device) == (LEADS_OUT, "")
    assert "out.teijo" not in read
    assert shelf.path_of(row.id) is None
    assert shelf.path_of(id_of("below/deep.teijo")) is not None
    shutil.rmtree(folder / "below")
    (folder / "below").symlink_to(outside)
    shutil.copy(outside / "secret.teijo", outside / "deep.teijo")
    assert shelf.path_of(id_of("below/deep.teijo")) is None


@pytest.mark.parametrize("place", ["../precious.teijo", "/precious.teijo", "below/../sealed.teijo"])
def test_a_path_that_an_index_was_given_by_a_stranger_leads_nowhere(
    folder: Path, tmp_path: Path, place: str
) -> None:
    shutil.copy(folder / "sealed.teijo", tmp_path / "precious.teijo")
    stored = (str(tmp_path) + place if place.startswith("/") else place).encode()
    index = Index.empty()
    index.put(replace(next(api.listing(folder)), path=Path("a.teijo")), mark="")
    values = (stored.replace(b"/", b"\0"), id_of(stored.decode()))
    index.db.execute("UPDATE shelf SET place = ?, id = ?", values)
    index.save(folder / FILE)
    shelf = Shelf(folder)
    (row,) = shelf.find().rows
    assert shelf.path_of(row.id) is None
    list(shelf.refresh())
    assert shelf.find().known == 10


def test_ten_thousand_rows_are_searched_without_a_look_at_any_run_file(
    folder: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = [row for row in api.listing(folder) if row.path.name == "sealed.teijo"]
    index = Index.empty()
    index.db.execute("BEGIN")
    for number in range(10_000):
        own = replace(one, path=Path(f"{number:05}.teijo"), serial=f"S{number * 7919 % 10_000:05}")
        index.put(own, mark="x")
    index.db.execute("COMMIT")
    index.save(folder / FILE)
    read.clear()
    monkeypatch.setattr(run_files, "places", lambda *_, **__: pytest.fail("looked at the folder"))
    asked = Question(text="s09", only=((Column.METHOD, "quick"),), order=Column.SERIAL, limit=50)
    answer = Shelf(folder).find(asked)
    assert (answer.total, answer.known, len(answer.rows)) == (1000, 10_000, 50)
    assert [row.listed.serial for row in answer.rows] == [f"S{n:05}" for n in range(9999, 9949, -1)]
    assert read == []


def test_no_folder_is_told_as_a_listing_tells_it(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "nowhere")
    assert shelf.find().known == 0
    with pytest.raises(RunFileError, match="is no folder"):
        list(shelf.refresh())
    (tmp_path / "nowhere").mkdir()
    assert list(shelf.refresh()) == [Progress(done=0, total=0)]
    shelf.close()
