"""The index of a folder of run files: what each of them says in a few words, to be searched.

It is a database in memory, kept as a small SQLite file as a whole. It is never the truth: what is
not exactly as this program makes it is no index, and what it says is text to be shown. It reads no
run file; `api/shelf.py` does, and tells it what they say.
"""

import hashlib
import os
import sqlite3
import stat
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from threading import RLock
from typing import Any, Final

from teijo import creating
from teijo.errors import PlanError
from teijo.outside.text import visible
from teijo.runfile import guard, phrases, program, trust
from teijo.runfile.listed import LEFT_OPEN, RUNNING, Listed
from teijo.runfile.names import OPEN_SUFFIX
from teijo.terms.provenance import GroupName
from teijo.units import MIB

FILE: Final = ".teijo-index.sqlite"
FILE_OF_ALL: Final = ".teijo-index-recursive.sqlite"
"""The name of the index of a folder, and of one with the folders below it."""
ROWS_MOST: Final = 1000
"""Of one answer."""
CHOSEN_MOST: Final = 40
"""Values that one question may choose from; SQLite is asked for no more than 64 of all kinds."""
CHOICES_MOST: Final = 200
TEXT_MOST: Final = 400
"""Characters of one text of a run file that are kept here."""
WORDS_MOST: Final = 4000
_PLACE_BYTES_MOST: Final = 4096
_IMAGE_BYTES_MOST: Final = 256 * MIB
_ID_BYTES: Final = 12
_OFFSET_MOST: Final = 2**31
_APPLICATION_ID: Final = 0x54454958  # "TEIX"
_VERSION: Final = 2
_TICKS_LEAST: Final = 100_000


class Column(StrEnum):
    """What a list can be ordered by; all but the name and the trouble can be chosen by value."""

    NAME = "name"
    DEVICE = "device"
    SERIAL = "serial"
    TARGET = "target"
    METHOD = "method"
    SPEC = "spec"
    STARTED_AT = "started_at"
    ENDING = "ending"
    VERDICT = "verdict"
    LIMITS = "limits"
    PROVENANCE = "provenance"
    CAMPAIGN = "campaign"
    FLEET = "fleet"
    HOST = "host"
    DRIVE = "drive"
    TROUBLE = "trouble"


_GROUPS: Final = {name: Column(name.value) for name in GroupName}
_TEXTS: Final = tuple(one for one in Column if one not in (Column.NAME, *_GROUPS.values()))
_PROGRESS: Final = ("share", "round_number", "written_at")
_ANSWERED: Final = ("place", "open", *_PROGRESS, *_TEXTS, *_GROUPS.values(), "phrase")
_STORED: Final = ("id", *_ANSWERED, "mark", "words")


def _tables() -> str:
    def bound(column: str, most: int) -> str:  # length() of a text ends at its first NUL
        return f"{column} TEXT NOT NULL CHECK (length(CAST({column} AS BLOB)) <= {most})"

    lines = (
        f"id TEXT NOT NULL UNIQUE CHECK (length(id) = {2 * _ID_BYTES})",
        f"place BLOB NOT NULL CHECK (length(place) BETWEEN 1 AND {_PLACE_BYTES_MOST})",
        "open INTEGER NOT NULL CHECK (open IN (0, 1))",
        "share REAL CHECK (share BETWEEN 0 AND 1)",
        "round_number INTEGER CHECK (round_number >= 0)",
        bound("written_at", TEXT_MOST),
        *(bound(column, 4 * TEXT_MOST) for column in _TEXTS),
        *(bound(column, 4 * TEXT_MOST).replace("NOT NULL ", "") for column in _GROUPS.values()),
        bound("phrase", 4 * phrases.JSON_CHARACTERS_MOST),
        bound("mark", TEXT_MOST),
        bound("words", 4 * WORDS_MOST),
    )
    return f"CREATE TABLE shelf ({', '.join(lines)}) STRICT"


_TABLES: Final = (_tables(), "CREATE TABLE made (program TEXT NOT NULL) STRICT")
_PUT: Final = (
    f"INSERT OR REPLACE INTO shelf ({', '.join(_STORED)})"
    f" VALUES ({', '.join('?' for _ in _STORED)})"
)
_CREATED: Final = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"


class Unfit(ValueError):
    """Why an index cannot be used: it is thrown away, and nobody is told."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """Which rows are asked for, in which order, and which part of them.

    `text` is a piece of the file's name, device, serial, target, method, verdict or group, in
    small or capital letters. `only` has a pair for each value that is chosen: a row fits if each
    column that is named has one of the values beside it; of a group "" is that there is none.
    `since` and `until` are the first and the last day it may have begun, YYYY-MM-DD, "" for any.
    """

    text: str = ""
    only: tuple[tuple[Column, str], ...] = ()
    trouble: bool | None = None
    since: str = ""
    until: str = ""
    order: Column = Column.STARTED_AT
    descending: bool = True
    offset: int = 0
    limit: int = 100


@dataclass(frozen=True, kw_only=True)
class Shelved:
    """One run file of an index; `id` names it where no path may be taken from whoever asks."""

    id: str
    listed: Listed


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Some of the rows that fit, how many do, and how many rows there are."""

    rows: tuple[Shelved, ...]
    total: int
    known: int


def id_of(place: str) -> str:
    """Return what a run is called in an address: a digest of its file's path in the folder.

    It keeps it when it is sealed, and its file has another name.
    """
    name = _bytes_of(place.removesuffix(OPEN_SUFFIX))
    return hashlib.blake2b(name, digest_size=_ID_BYTES).hexdigest()


def fits(place: str) -> bool:
    """Return whether a path may stand in an index: within the folder, and not too long."""
    inside = not {"", ".", ".."} & set(place.split("/"))  # of /a the first part is nothing
    return inside and len(os.fsencode(place)) <= _PLACE_BYTES_MOST


@dataclass(frozen=True)
class Index:
    """Rows of run files in memory, for threads that ask and one that writes."""

    db: sqlite3.Connection
    _lock: RLock = field(default_factory=RLock)

    @classmethod
    def empty(cls) -> "Index":
        """Return an index without rows."""
        db = _memory()
        db.execute("PRAGMA auto_vacuum = FULL")
        db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {_VERSION}")
        for table in _TABLES:
            db.execute(table)
        db.execute("INSERT INTO made VALUES (?)", (_program(),))
        guard.harden(db)
        return cls(db)

    @classmethod
    def load(cls, path: Path) -> "Index":
        """Return the index that a file holds, which nobody but the caller and root can write.

        Raises:
            Unfit: it is not there, a link, another's, of another program, or damaged.
        """
        data = _image(path)
        db = _memory()
        try:
            db.deserialize(data)
            _check(db, len(data))
        except (sqlite3.Error, ValueError, OverflowError, MemoryError) as error:
            db.close()
            raise Unfit(str(error)) from error
        return cls(db)

    def save(self, path: Path) -> None:
        """Write the index in the place of whatever has this name, which is not followed.

        Raises:
            OSError: it cannot be written there.
        """
        with self._asking() as db:
            data = db.serialize()
        # It tells what is in run files that only some may read.
        creating.replace_atomically(path, data, mode=0o600)

    def close(self) -> None:
        """Give back its memory."""
        with self._lock:
            self.db.close()

    def put(self, listed: Listed, *, mark: str) -> None:
        """Keep what a file says; its path is that in the folder. `mark` is "" for not to last."""
        place = os.fspath(listed.path)
        assert fits(place), "a path of another folder"
        values = (id_of(place), *_values(listed), mark, _words(listed))
        with self._asking() as db:
            db.execute(_PUT, values)

    def remove(self, place: str) -> None:
        """Forget a file."""
        with self._asking() as db:
            db.execute("DELETE FROM shelf WHERE place = ?", (_bytes_of(place),))

    def marks(self) -> Mapping[str, str]:
        """Return the mark of each file as it was when it was read."""
        with self._asking() as db:
            found = db.execute("SELECT place, mark FROM shelf").fetchall()
        return {_place_of(place): mark for place, mark in found}

    def unended(self) -> tuple[Shelved, ...]:
        """Return the rows of growing files whose run has not ended."""
        return self._rows(f"WHERE open AND ending IN ('{RUNNING}', '{LEFT_OPEN}')", ())

    def row(self, id: str) -> Shelved | None:  # noqa: A002 — as an address has it
        """Return the row of an id, None if there is none."""
        rows = self._rows("WHERE id = ?", (_plain(id),))
        return rows[0] if rows else None

    def find(self, question: Question) -> Answer:
        """Return the rows that are asked for, and how many fit.

        Raises:
            PlanError: more values are chosen than `CHOSEN_MOST`.
        """
        where, values = _condition(question)
        limit = min(max(question.limit, 0), ROWS_MOST)
        offset = min(max(question.offset, 0), _OFFSET_MOST)
        # The rows themselves are not carried through the sorting.
        picked = f"SELECT rowid FROM shelf {where} {_order(question)} LIMIT ? OFFSET ?"
        with self._lock:
            rows = self._rows(
                f"WHERE rowid IN ({picked}) {_order(question)}", (*values, limit, offset)
            )
            with self._asking() as db:
                (total,) = db.execute(f"SELECT COUNT(*) FROM shelf {where}", values).fetchone()
                (known,) = db.execute("SELECT COUNT(*) FROM shelf").fetchone()
        return Answer(rows=rows, total=total, known=known)

    def choices(self, column: Column) -> tuple[tuple[str, int], ...]:
        """Return which values a column has, with the number of files, the most frequent first."""
        assert column is not Column.NAME, "each file has another one"
        counted = (
            f"SELECT {column}, COUNT(*) AS files FROM shelf WHERE {column} <> ''"
            f" GROUP BY {column} ORDER BY files DESC, {column} LIMIT ?"
        )
        with self._asking() as db:
            return tuple(db.execute(counted, (CHOICES_MOST,)).fetchall())

    def _rows(self, rest: str, values: tuple[str | int, ...]) -> tuple[Shelved, ...]:
        with self._asking() as db:
            found = db.execute(f"SELECT {', '.join(_ANSWERED)} FROM shelf {rest}", values)
            return tuple(_shelved(row) for row in found)

    @contextmanager
    def _asking(self) -> Iterator[sqlite3.Connection]:
        """Hold the database; what goes wrong in it is the fault of an index that is no good."""
        with self._lock:
            try:
                guard.allow(self.db, ticks=_TICKS_LEAST)
                yield self.db
            except sqlite3.Error as error:
                raise Unfit(str(error)) from error


def _memory() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)


def _program() -> str:
    """Return which program draws up this index: another one may say otherwise of a file."""
    return f"{program.version()} {program.build()}"


def _image(path: Path) -> bytes:
    """Return the bytes of a file that is the caller's or root's, and no link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | trust.FLAGS)
    except OSError as error:
        raise Unfit(str(error)) from error
    try:
        status = os.fstat(descriptor)
        own = stat.S_ISREG(status.st_mode) and trust.is_own(status)
        if not own or status.st_size > _IMAGE_BYTES_MOST:
            raise Unfit("no file of one's own, or too large")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(_IMAGE_BYTES_MOST)
    except OSError as error:
        raise Unfit(str(error)) from error
    finally:
        os.close(descriptor)


def _check(db: sqlite3.Connection, size_bytes: int) -> None:
    """Make sure that a database that anybody may have made is one that this program made.

    Raises:
        Unfit, sqlite3.Error: it is not.
    """
    guard.harden(db)
    guard.allow(db, ticks=guard.SCHEMA_TICKS)
    marks = [db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id",
                                                                    "user_version")]  # fmt: skip
    made = db.execute(_CREATED).fetchmany(len(_TABLES) + 1)
    if marks != [_APPLICATION_ID, _VERSION] or {sql for _, sql in made} != set(_TABLES):
        raise Unfit("of another program")
    guard.allow_reading(db, size_bytes)
    said = db.execute("SELECT program FROM made").fetchmany(2)
    if said != [(_program(),)] or program.build() == program.UNKNOWN:
        raise Unfit("of another version")
    # Types and lengths are among what it looks at; the limits of a row keep it short.
    if db.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
        raise Unfit("damaged")


def _condition(question: Question) -> tuple[str, tuple[str, ...]]:
    """Return the WHERE of a question and the values in it; no text of anybody's is in the SQL."""
    if len(question.only) > CHOSEN_MOST:
        raise PlanError(
            f"{len(question.only)} values are chosen, and {CHOSEN_MOST} are the most.",
            remedy="Choose fewer, or search for a text that they share.",
        )
    parts, values = [], []
    if question.text:
        parts.append("instr(words, ?) > 0")
        values.append(_folded(question.text[: 2 * WORDS_MOST]))
    for column in dict.fromkeys(column for column, _ in question.only):
        assert column is not Column.NAME, "a name is searched for"
        chosen = [_plain(value) for each, value in question.only if each is column]
        parts.append(f"COALESCE({column}, '') IN ({', '.join('?' for _ in chosen)})")
        values += chosen
    if question.trouble is not None:
        parts.append("trouble <> ''" if question.trouble else "trouble = ''")
    if question.since:
        parts.append("started_at >= ?")
        values.append(_plain(question.since))
    if question.until:  # a date goes before every moment of its day
        parts.append("substr(started_at, 1, 10) BETWEEN '0' AND ?")
        values.append(_plain(question.until))
    return (f"WHERE {' AND '.join(parts)}" if parts else ""), tuple(values)


def _order(question: Question) -> str:
    way = "DESC" if question.descending else "ASC"
    if question.order is Column.NAME:
        return f"ORDER BY place {way}"
    return f"ORDER BY {question.order} COLLATE NOCASE {way}, place"


def _values(listed: Listed) -> tuple[Any, ...]:
    return (
        _bytes_of(os.fspath(listed.path)),
        int(listed.open),
        *(getattr(listed, name) for name in _PROGRESS),
        *(_plain(getattr(listed, column)) for column in _TEXTS),
        *(_plain(listed.group[name]) if name in listed.group else None for name in _GROUPS),
        _phrase_of(listed.verdict),
    )


def _shelved(row: tuple[Any, ...]) -> Shelved:
    place, is_open, share, round_number, written_at, *texts, phrase = row
    path = Path(_place_of(place))
    group = {
        name: text for name, text in zip(_GROUPS, texts[len(_TEXTS) :], strict=True)
        if text is not None
    }  # fmt: skip
    told = dict(zip(_TEXTS, texts, strict=False))
    listed = Listed(
        path=path,
        open=bool(is_open),
        group=group,
        share=share,
        round_number=round_number,
        written_at=written_at,
        **told,
    )
    verdict = phrases.recalled(listed.verdict, phrase or None)
    return Shelved(id=id_of(str(path)), listed=replace(listed, verdict=verdict))


def _phrase_of(verdict: str) -> str:
    """Return how a verdict was made, so that it can still be said in another language."""
    stored = phrases.stored_of(verdict) if _plain(verdict) == verdict else None
    return stored if stored and _plain(stored, len(stored)) == stored else ""


def _words(listed: Listed) -> str:
    """Return all that a search looks through."""
    told = (visible(str(listed.path)), *(getattr(listed, column) for column in _TEXTS))
    words = "\n".join(_plain(text) for text in (*told, *listed.group.values()))
    return _folded(words)[:WORDS_MOST]


def _folded(text: str) -> str:
    """Return a text without what small and capital, wide and narrow letters differ in."""
    return _plain(unicodedata.normalize("NFKC", text).casefold(), len(text) * 20)


def _plain(text: str, most: int = TEXT_MOST) -> str:
    """Return a text as SQLite can hold it, and not too long."""
    return text[:most].encode("utf-8", "backslashreplace").decode()[:most]


def _bytes_of(place: str) -> bytes:
    """Return a path in the folder as bytes that sort as paths do: folder by folder."""
    return os.fsencode(place).replace(b"/", b"\0")


def _place_of(place: bytes) -> str:
    return os.fsdecode(place.replace(b"\0", b"/"))
