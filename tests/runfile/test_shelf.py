"""The index of a folder by itself: what it finds, and what it never takes for one of ours."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from teijo.document.phrase import Phrase, say
from teijo.errors import PlanError
from teijo.runfile import mark, program, shelf
from teijo.runfile.listed import Listed
from teijo.runfile.mark import mark_of
from teijo.runfile.shelf import Column, Index, Question, Unfit, fits, id_of
from teijo.terms.provenance import GroupName

ROWS = (
    Listed(
        path=Path("a.teijo"), open=False, device="Kioxia CM7", serial="S-1", target="/dev/a",
        method="pts.iops", spec="2.0.2-client", started_at="2026-03-01T00:00:00+00:00",
        ending="steady", verdict=say("STEADY STATE: {state}", state="YES"), limits="met",
        provenance="measured", group={GroupName.CAMPAIGN: "spring", GroupName.HOST: "h1"},
    ),
    Listed(
        path=Path("below/b.teijo"), open=False, device="kioxia cm6", serial="100%_S", target="b",
        method="pts.wsat", started_at="2026-01-01T00:00:00+00:00", ending="not steady",
        limits="not met", provenance="measured", group={GroupName.CAMPAIGN: "autumn"},
    ),
    Listed(
        path=Path("測定.teijo"), open=False, device="キオクシア", target="sim:a", method="quick",
        started_at="2026-02-01T00:00:00+00:00", ending="done", provenance="simulated",
    ),
    Listed(path=Path("é' \"; --.teijo.open"), open=True, trouble="it is damaged"),
)  # fmt: skip
NAMES = [str(row.path) for row in ROWS]
HOSTILE = ("\0", "a\0b", "\ud800", "'", '"', "%", "_", "\\", "*", "' OR 1=1 --", "x" * 10_240)


@pytest.fixture
def index() -> Index:
    made = Index.empty()
    for row in ROWS:
        made.put(row, mark=f"of {row.path}")
    return made


def found(index: Index, **asked: object) -> list[str]:
    rows = index.find(Question(**asked)).rows  # type: ignore[arg-type]
    return [str(row.listed.path) for row in rows]


def test_a_row_comes_back_as_it_was_put(index: Index) -> None:
    rows = {row.listed.path: row.listed for row in index.find(Question()).rows}
    assert rows == {row.path: row for row in ROWS}
    verdict = rows[Path("a.teijo")].verdict
    assert isinstance(verdict, Phrase)
    assert verdict.template == "STEADY STATE: {state}"
    assert index.marks() == {name: f"of {name}" for name in NAMES}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("KIOXIA", NAMES[:2]),
        ("ＣＭ７", NAMES[:1]),
        ("キオクシア", NAMES[2:3]),
        ("測定", NAMES[2:3]),
        ("spring", NAMES[:1]),
        ("pts.", NAMES[:2]),
        ("state: yes", NAMES[:1]),
        ("100%_s", NAMES[1:2]),
        ("%", NAMES[1:2]),
        ("_", NAMES[1:2]),
        ("below/", NAMES[1:2]),
        ("' \";", NAMES[3:]),
        ("É", NAMES[3:]),
        ("kioxia%", []),
    ],
)
def test_a_search_is_for_a_piece_of_text_in_any_case_and_no_pattern(
    index: Index, text: str, names: list[str]
) -> None:
    assert sorted(found(index, text=text)) == sorted(names)


def test_how_far_a_run_is_comes_back_as_it_was_put() -> None:
    index = Index.empty()
    going = replace(
        ROWS[0], path=Path("g.teijo.open"), open=True, ending="left open", share=0.25,
        round_number=3, written_at="2026-03-01T00:00:09+00:00",
    )  # fmt: skip
    for row in (going, *ROWS):
        index.put(row, mark="m")
    assert [row.listed for row in index.unended()] == [going]


@pytest.mark.parametrize(
    ("since", "until", "names"),
    [
        ("2026-02-01", "", [NAMES[2], NAMES[0]]),
        ("", "2026-02-01", [NAMES[1], NAMES[2]]),
        ("2026-02-01", "2026-02-01", NAMES[2:3]),
        ("2026-02-02", "2026-02-27", []),
        ("2026", "2026", []),
        ("", "' OR 1=1 --", []),
    ],
)
def test_days_are_asked_for_from_the_first_to_the_last(
    index: Index, since: str, until: str, names: list[str]
) -> None:
    assert found(index, since=since, until=until, descending=False) == names


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_person_sends_is_a_value_and_never_sql(index: Index, text: str) -> None:
    for column in set(Column) - {Column.NAME}:
        index.find(Question(text=text, only=((column, text),)))
    assert index.row(text) is None
    assert len(found(index)) == len(ROWS)
    index.put(replace(ROWS[0], path=Path("c.teijo"), device=text, serial=""), mark="")
    told = index.find(Question(only=((Column.DEVICE, text[:400]),)))
    assert [row.listed.path for row in told.rows] == [Path("c.teijo")]
    if len(text) < 400:
        assert "c.teijo" in found(index, text=text)


def test_values_of_one_column_add_up_and_columns_narrow(index: Index) -> None:
    both = ((Column.CAMPAIGN, "spring"), (Column.CAMPAIGN, "autumn"))
    assert sorted(found(index, only=both)) == NAMES[:2]
    assert found(index, only=(*both, (Column.METHOD, "pts.wsat"))) == NAMES[1:2]
    assert found(index, only=((Column.HOST, "h1"),)) == NAMES[:1]
    assert sorted(found(index, only=((Column.HOST, ""),))) == sorted(NAMES[1:])
    assert found(index, trouble=True) == NAMES[3:]
    assert len(found(index, trouble=False)) == 3
    many = tuple((Column.METHOD, str(each)) for each in range(shelf.CHOSEN_MOST + 1))
    with pytest.raises(PlanError, match="are the most"):
        index.find(Question(only=many))


def value(row: Listed, column: Column) -> tuple[bool, bytes]:
    """Return what a row is ordered by: those without a group come first."""
    if column is Column.NAME:
        return (True, os.fsencode(row.path))
    if column in set(GroupName):
        text = row.group.get(GroupName(column.value))
        return (text is not None, (text or "").encode())
    return (True, str(getattr(row, column)).lower().encode())


@pytest.mark.parametrize("column", Column)
def test_every_column_orders_both_ways_and_equal_rows_by_their_names(column: Column) -> None:
    def by_value(row: Listed) -> tuple[bool, bytes]:
        return value(row, column)

    named = sorted(ROWS, key=lambda row: os.fsencode(row.path))
    for rows in list(permutations(ROWS))[::7]:
        index = Index.empty()
        for row in rows:
            index.put(row, mark="")
        for descending in (False, True):
            told = [str(row.path) for row in sorted(named, key=by_value, reverse=descending)]
            assert found(index, order=column, descending=descending) == told
        index.close()


def test_pages_follow_each_other_and_count_all_that_fit(index: Index) -> None:
    asked = Question(text="pts", order=Column.NAME, descending=False, limit=1)
    pages = [index.find(replace(asked, offset=offset)) for offset in range(3)]
    assert [[str(row.listed.path) for row in page.rows] for page in pages] == [
        NAMES[:1], NAMES[1:2], [],
    ]  # fmt: skip
    assert {(page.total, page.known) for page in pages} == {(2, 4)}
    assert index.find(Question(offset=-5, limit=-5)).rows == ()
    assert len(index.find(Question(offset=-5, limit=10**30)).rows) == 4
    assert index.find(Question(offset=10**30)).rows == ()


def test_the_values_there_are_come_with_their_number(index: Index) -> None:
    assert index.choices(Column.PROVENANCE) == (("measured", 2), ("simulated", 1))
    assert index.choices(Column.FLEET) == ()


def test_a_file_that_is_put_again_replaces_its_row_and_one_that_is_removed_is_gone(
    index: Index,
) -> None:
    index.put(replace(ROWS[2], device="another"), mark="new")
    assert len(found(index)) == 4
    assert index.marks()[NAMES[2]] == "new"
    index.remove(NAMES[2])
    assert len(found(index)) == 3


def test_long_texts_are_cut_and_what_sqlite_cannot_hold_is_written_out(index: Index) -> None:
    name = os.fsdecode(b"bad \xff\n.teijo")
    index.put(replace(ROWS[2], path=Path(name), serial="y" * 10**6, device="\ud800"), mark="")
    (row,) = index.find(Question(text="bad \\u")).rows
    assert (str(row.listed.path), row.listed.device) == (name, "\\ud800")
    assert row.listed.serial == "y" * shelf.TEXT_MOST
    assert row.id == id_of(name)


def test_an_id_is_the_same_everywhere_and_another_for_each_path() -> None:
    assert id_of("a.teijo") == "3aa9635456482dda1252596c"
    assert len({id_of(name) for name in (*NAMES, "a/b.teijo", "a", "b.teijo")}) == 7


@pytest.mark.parametrize("place", ["", ".", "..", "../a", "a/../b", "/a", "a//b", "x" * 4097])
def test_a_path_that_leads_elsewhere_is_none_of_the_folder(index: Index, place: str) -> None:
    assert not fits(place)


def saved(index: Index, path: Path) -> Path:
    index.save(path)
    return path


def forged(path: Path, *orders: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for order in orders:
            db.execute(order)


def test_an_index_is_kept_whole_and_only_its_owner_may_read_it(
    index: Index, tmp_path: Path
) -> None:
    again = Index.load(saved(index, tmp_path / "index"))
    assert again.find(Question()) == index.find(Question())
    assert again.marks() == index.marks()
    assert (tmp_path / "index").stat().st_mode & 0o777 == 0o600
    again.put(replace(ROWS[0], path=Path("new.teijo")), mark="m")
    assert len(found(again)) == 5
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_bytes(b"an index of somebody else\n" * 999),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "a page of zeros": lambda path: path.write_bytes(
        path.read_bytes()[:4096] + bytes(4096) + path.read_bytes()[8192:]
    ),
    "noise": lambda path: path.write_bytes(path.read_bytes()[:1024] + os.urandom(9000)),
    "newer": lambda path: forged(path, f"PRAGMA user_version = {shelf._VERSION + 1}"),
    "of another kind": lambda path: forged(path, "PRAGMA application_id = 7"),
    "of another program": lambda path: forged(path, "UPDATE made SET program = 'teijo 9'"),
    "of two programs": lambda path: forged(path, "INSERT INTO made SELECT * FROM made"),
    "with a trigger": lambda path: forged(
        path, "CREATE TRIGGER t AFTER INSERT ON shelf BEGIN DELETE FROM shelf; END"
    ),
    "with a view": lambda path: forged(path, "CREATE VIEW v AS SELECT 1"),
    "with another table": lambda path: forged(
        path, "DROP TABLE shelf", "CREATE TABLE shelf (id TEXT, place BLOB)"
    ),
    "with a text that is too long": lambda path: forged(
        path,
        "PRAGMA ignore_check_constraints = ON",
        "UPDATE shelf SET device = char(0) || hex(zeroblob(9000))",
    ),
    "in a mode with a log": lambda path: forged(path, "PRAGMA journal_mode = WAL"),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "open to others": lambda path: path.chmod(0o666),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_not_exactly_an_index_of_ours_is_none(
    index: Index, tmp_path: Path, damage: str
) -> None:
    path = saved(index, tmp_path / "index")
    DAMAGES[damage](path)
    with pytest.raises(Unfit):
        Index.load(path)
    if damage != "a folder":
        assert len(found(Index.load(saved(index, path)))) == 4


def test_an_index_of_a_program_that_does_not_know_itself_is_none(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "build", lambda: program.UNKNOWN)
    with pytest.raises(Unfit):
        Index.load(saved(Index.empty(), tmp_path / "index"))


def test_a_link_in_the_place_of_an_index_is_neither_read_nor_written_through(
    index: Index, tmp_path: Path
) -> None:
    mine = saved(index, tmp_path / "mine")
    before = mine.read_bytes()
    link = tmp_path / "index"
    link.symlink_to(mine)
    with pytest.raises(Unfit):
        Index.load(link)
    saved(Index.empty(), link)
    assert not link.is_symlink()
    assert mine.read_bytes() == before


def test_of_ten_thousand_rows_a_page_is_one_walk_through_the_index(index: Index) -> None:
    plans = []
    for order in Column:
        asked: list[str] = []
        index.db.set_trace_callback(asked.append)
        index.find(Question(text="pts", only=((Column.METHOD, "pts.iops"),), order=order))
        index.db.set_trace_callback(None)
        for text in asked:
            plans += [row[3] for row in index.db.execute(f"EXPLAIN QUERY PLAN {text}")]
    told = {plan.partition(" USING INTEGER")[0] for plan in plans}
    assert told == {
        "SCAN shelf", "SCAN shelf USING COVERING INDEX sqlite_autoindex_shelf_1", "SEARCH shelf",
        "LIST SUBQUERY 1", "USE TEMP B-TREE FOR ORDER BY",
    }  # fmt: skip


def test_a_change_of_a_file_or_its_log_or_of_what_a_link_leads_to_is_another_mark(
    tmp_path: Path,
) -> None:
    run, link = tmp_path / "a.teijo.open", tmp_path / "b.teijo"
    run.write_bytes(b"one")
    link.symlink_to(run)
    told = [mark_of(run).text, mark_of(link).text]
    assert told == [mark_of(run).text, mark_of(link).text]
    log = tmp_path / "a.teijo.open-wal"
    log.write_bytes(b"")
    assert mark_of(run).text not in told
    assert mark_of(link).text in told
    run.write_bytes(b"more")
    assert mark_of(link).text not in told
    run.unlink()
    assert mark_of(link).text not in told
    with pytest.raises(FileNotFoundError):
        mark_of(run)


def test_what_was_written_just_now_may_be_written_again_under_the_same_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.teijo"
    path.write_bytes(b"one")
    made = mark_of(path)
    monkeypatch.setattr(mark.time, "time_ns", lambda: made.changed_ns + 1)
    assert not made.is_settled()
    monkeypatch.setattr(mark.time, "time_ns", lambda: made.changed_ns + mark.SETTLED_NS)
    assert made.is_settled()
    monkeypatch.setattr(mark.time, "time_ns", lambda: made.changed_ns - 1)
    assert made.is_settled(), "another machine's clock"
