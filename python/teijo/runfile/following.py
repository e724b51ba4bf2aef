"""Follows a growing run file: the first look reads all of it, every later one what is new."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from teijo.errors import TeijoError
from teijo.runfile import codec, content, reader, schema
from teijo.runfile.content import Room, Tally
from teijo.runfile.names import SEALED_SUFFIX, Names
from teijo.runfile.proof.flaw import Check
from teijo.runfile.proof.proving import OF_STEPS_APART, marked
from teijo.runfile.proof.tables import SAID_TWICE, said_twice
from teijo.runfile.reader import Opened, Proved, RunningStep, View
from teijo.terms.reading import Reading
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import Remark
from teijo.terms.result import Intervals, StepResult
from teijo.terms.step import step_from_json

Place = tuple[str, str]
"""The stream and operation of a time series."""
_Row = dict[str, Any]
_Series = dict[Place, NDArray[np.int64]]
_LEAST: Final = 256
"""Intervals that a time series has room for at first."""


@dataclass(frozen=True, kw_only=True)
class News:
    """What a look at a run found that an earlier one had not.

    With `anew` the file was read from its beginning (it was looked at for the first time, sealed,
    replaced, its run ended or went on, or it had changed where it does not grow): all that it
    holds is new, and what was known before is to be forgotten.

    `steps` are those that have an answer now, in order, each with all of its time series.
    `intervals` are those of the running step alone, by (stream, operation); a place without new
    ones is absent. `remarks` are new ones of the run, in order; one with the number of an earlier
    step stands in that step's answer too, which is not among `steps` for it.
    """

    anew: bool
    steps: tuple[StepRecord, ...] = ()
    intervals: Mapping[Place, Intervals] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    readings: tuple[Reading, ...] = ()


_NOTHING: Final = News(anew=False)


@dataclass(frozen=True, kw_only=True)
class Grown:
    """A run as far as its file had come at one look.

    `record` is what `reader.read` would return, the very object of the look before where only
    intervals are new; `running` what `reader.read_running` would, its arrays read-only and shared
    with later looks. `new` is what the look before did not have. `beginning` counts how often
    the file was read from its beginning.
    """

    path: Path
    record: Record
    running: RunningStep | None
    new: News
    beginning: int

    def since(self, before: "Grown | None") -> News:
        """Return what is new since an earlier look of the same follower, None for none."""
        if before is None or before.beginning != self.beginning:
            before = None
        return News(
            anew=before is None,
            steps=self.record.steps[len(before.record.steps) if before else 0 :],
            intervals=_further(before.running if before else None, self.running),
            remarks=_added(before.record.remarks if before else (), self.record.remarks),
            readings=self.record.readings[len(before.record.readings) if before else 0 :],
        )


class FileFollower:
    """Follows one run by its file, growing and in the end sealed.

    A later look opens the file as hardened as the first, holds it open no longer than it takes, and
    reads: the row of the run, steps behind the last that had an answer with their results and time
    series, intervals of the running step behind the last one seen, remarks and readings behind the
    last. Each of these rows is held against its checksum, and all that was read so far against
    the tally, which the recorder changes with every row. Whatever does not fit (a file of another
    run, a row too few or too many, a checksum) is answered by reading all of it anew.

    What a later look does not notice: that a row which was read before is changed on the disk, with
    the tally left as it is. That is noticed when all is read anew, as it is once the run has
    ended, was interrupted, goes on or is sealed. A sealed file is read again when its size or its
    times have changed. A file of a version without checksums, or with rows that belong to
    nothing, is read as a whole each time. Not for several threads at once.
    """

    def __init__(self, names: Names) -> None:
        """Follow the run of these names; nothing is read yet."""
        self._names = names
        self._grown: Grown | None = None
        self._kept: _Kept | None = None
        self._file: tuple[int, ...] = ()
        self._still: tuple[int, ...] = ()
        self._beginning = 0

    def look(self) -> Grown:
        """Return the run as far as its file has come.

        Raises:
            RunFileError: there is no file, it is no run file, a newer one, or damaged.
            HostError: the disk refuses to give it.
        """
        before, self._grown = self._grown, None
        path = reader.locate(self._names.open)
        try:
            grown = self._look_at(path, before)
        except TeijoError:
            self._kept = None
            # It may be sealed, and its open file removed, between two questions.
            if (other := reader.locate(self._names.open)) == path:
                raise
            grown = self._begin(other)
        self._grown = replace(grown, new=grown.since(before))
        return self._grown

    def _look_at(self, path: Path, before: Grown | None) -> Grown:
        if before is None or before.path != path:
            return self._begin(path)
        file, signature = _identity(path)
        if self._still and self._still == signature:
            return before
        if self._kept is not None and self._file == file:
            try:
                with reader.opened(path) as opened:
                    return self._kept.grow(opened, before)
            except TeijoError:
                pass  # a whole reading says what it is, or that it is right
        return self._begin(path)

    def _begin(self, path: Path) -> Grown:
        self._kept = None
        self._file, signature = _identity(path)
        self._still = signature if path.name.endswith(SEALED_SUFFIX) else ()
        with reader.reading(path) as view:
            proved = reader.proved_in(view)
            loose = any(flaw.check is Check.TABLES for flaw in proved.flaws)
            if view.version < schema.CHECKED_SINCE or loose or self._still:
                running = reader.running_in(view)
            else:
                self._kept = _Kept(view, proved)
                running = self._kept.running_step
        self._beginning += 1
        return Grown(
            path=path,
            record=marked(proved.record, proved.flaws),
            running=running,
            new=_NOTHING,
            beginning=self._beginning,
        )


class _Unfit(ValueError):
    """Why what is new cannot be added to what was read: then all is read anew."""


class _Growing:
    """A time series that grows: what was read is copied only when its room is doubled."""

    def __init__(self, numbers: NDArray[np.int64], tally: Tally) -> None:
        self.size = 0
        self.tally = Tally()
        self._columns = np.empty((numbers.shape[1], _LEAST), np.int64)
        self.add(numbers, tally)

    def add(self, numbers: NDArray[np.int64], tally: Tally) -> None:
        """Take in lines as the file has them, behind those that are there."""
        end = self.size + len(numbers)
        if end > self._columns.shape[1]:
            wider = np.empty((len(self._columns), max(end, 2 * self._columns.shape[1])), np.int64)
            wider[:, : self.size] = self._columns[:, : self.size]
            self._columns = wider
        self._columns[:, self.size : end] = numbers.T
        self.size, self.tally = end, self.tally + tally

    @property
    def last(self) -> int:
        """The number of the last interval."""
        return int(self._columns[0, self.size - 1]) if self.size else -1

    def intervals(self, length_ns: int) -> Intervals:
        """Return the series so far as read-only views."""
        so_far = self._columns[:, : self.size]
        so_far.flags.writeable = False
        return codec.series_of(so_far.T, length_ns)


@dataclass
class _Running:
    """The running step by its row of `step`, and its series in the order of the file."""

    row: _Row
    series: dict[Place, _Growing] = field(default_factory=dict)

    @property
    def tally(self) -> Tally:
        """That of its row and its intervals, which its answer replaces."""
        return sum((each.tally for each in self.series.values()), Tally(1, self.row["checksum"]))

    @property
    def shown(self) -> RunningStep:
        """The step as a reader shows it."""
        row, series = self.row, self.series.items()
        return RunningStep(
            seq=row["seq"],
            step=step_from_json(row["step"]),
            seed=row["seed"],
            intervals={place: each.intervals(row["interval_ns"]) for place, each in series},
        )

    def read_further(self, file: Opened, room: Room) -> None:
        """Read the intervals behind those that are there."""
        last = {place: each.last for place, each in self.series.items()}
        found: dict[Place, _Growing] = {}
        for place, numbers, tally in content.series_of_step(
            file.db, file.version, self.row["seq"], room, last
        ):
            if (known := self.series.get(place)) is None:
                found[place] = _Growing(numbers, tally)
            else:
                known.add(numbers, tally)
                found[place] = known
        self.series = found


class _Kept:
    """What a whole reading, and the looks since, leave for the next look.

    It changes as it reads: after an error it must not be used any more.
    """

    def __init__(self, view: View, proved: Proved) -> None:
        record = proved.record
        said = (*view.doubts, *view.remarks)
        self._version, self._sealed = view.version, view.sealed
        self._untimed = record.run.provenance == "imported"
        self._run = _rows(view, "run", Room(view.db))
        self._steps = record.steps
        self._remarks = record.remarks[: len(record.remarks) - len(said)]
        self._said: tuple[Remark, ...] = said
        self._readings = record.readings
        self._record, self._flaws, self._clean = record, proved.flaws, 0
        self._note_clean()
        self._note_last(view)
        self._running = _running_in(view)
        self._settled = view.tally - self._running_tally

    @property
    def running_step(self) -> RunningStep | None:
        """The running step, its arrays shared with those of later looks."""
        return None if self._running is None else self._running.shown

    @property
    def _running_tally(self) -> Tally:
        return Tally() if self._running is None else self._running.tally

    def grow(self, file: Opened, before: Grown) -> Grown:
        """Read what is new, and return the run as it is now.

        Raises:
            ValueError: something does not fit.
        """
        room = Room(file.db)
        if file.version != self._version or _rows(file, "run", room) != self._run:
            raise _Unfit("the run is another, has ended or goes on")
        begun = _rows(file, "step", room, ("seq", self._steps[-1].seq if self._steps else 0))
        ended = [row for row in begun if row["status"] != "running"]
        results = _rows(file, "result", room, ("rowid", self._last["result"]))
        series = {row["seq"]: self._series_of(row, file, room) for row in ended}
        self._go_on(begun[len(ended) :], file, room)
        remarks = _rows(file, "remark", room, ("place", self._last["remark"]))
        readings = _rows(file, "health", room, ("place", self._last.get("health", 0)))
        for row in (*ended, *results, *remarks, *readings):
            self._settled += Tally(1, row["checksum"])
        content.check_tally(file.db, self._settled + self._running_tally)
        self._check_places(begun, results, series, remarks)
        self._note_last(file)
        steps = reader.step_records(
            ended,
            ([row[name] for name in schema.columns("result", self._version)] for row in results),
            (warnings := tuple(map(reader.remark_of, remarks))),
            series,
            untimed=self._untimed,
        )
        if warnings:
            self._warn(warnings)
        if steps:
            self._steps = (*self._steps, *steps)
        self._remarks = (*self._remarks, *warnings)
        self._readings = (*self._readings, *map(codec.reading_of, readings))
        return replace(
            before,
            record=self._record_now(file, before, is_new=bool(steps or remarks or readings)),
            running=self.running_step,
        )

    def _series_of(self, row: _Row, file: Opened, room: Room) -> _Series:
        """Return the time series of a step that has an answer now: it has written them anew."""
        found: _Series = {}
        for place, numbers, tally in content.series_of_step(
            file.db, file.version, row["seq"], room, {}
        ):
            found[place] = numbers
            self._settled += tally
        return found

    def _go_on(self, running: Sequence[_Row], file: Opened, room: Room) -> None:
        """Read on in the running step, of which there is one at most."""
        if len(running) > 1 or any(row["status"] != "running" for row in running):
            raise _Unfit("a step was never finished, and others follow")
        if not running:
            self._running = None
            return
        if self._running is None or self._running.row != running[0]:
            self._running = _Running(running[0])
        self._running.read_further(file, room)

    def _check_places(
        self,
        begun: Sequence[_Row],
        results: Sequence[_Row],
        series: Mapping[int, _Series],
        remarks: Sequence[_Row],
    ) -> None:
        """Make sure that new rows have no flaw of the tables: those are looked for in all rows."""
        for row in begun:
            if [row[name] for name in SAID_TWICE] != said_twice(step_from_json(row["step"])):
                raise _Unfit("the columns of a step are not what it says")
        done = {row["seq"] for row in begun if row["status"] == "done"}
        operation = schema.columns("result", self._version)[3]
        timed = {
            (row["step"], row["stream"], row[operation])
            for row in results
            if row["intervals"] is not None
        }
        warned = {row["step"] for row in remarks} - {row["seq"] for row in begun} - {None}
        if not (
            all(row["step"] in done for row in results)
            and all((seq, *place) in timed for seq in done for place in series[seq])
            and (not warned or warned <= {each.seq for each in self._steps})
        ):
            raise _Unfit("rows belong to nothing that a step did")

    def _warn(self, warnings: Iterable[Remark]) -> None:
        """Give new warnings to the steps that were there."""
        steps, places = list(self._steps), {each.seq: at for at, each in enumerate(self._steps)}
        for warning in warnings:
            place = places.get(warning.step or 0)
            if place is None or not isinstance(answer := steps[place].answer, StepResult):
                continue
            answer = replace(answer, remarks=(*answer.remarks, warning))
            steps[place] = replace(steps[place], answer=answer)
            self._clean = min(self._clean, place)
        self._steps = tuple(steps)

    def _record_now(self, file: Opened, before: Grown, *, is_new: bool) -> Record:
        remarks, doubts = file.said(sealed=self._sealed)
        if not is_new and self._said == (*doubts, *remarks):
            return before.record
        self._said = (*doubts, *remarks)
        whole = (*self._remarks, *self._said)
        record = replace(self._record, steps=self._steps, remarks=whole, readings=self._readings)
        self._record = record
        self._flaws = reader.flaws_to_mark(record, clean=self._clean)
        self._note_clean()
        return marked(record, self._flaws)

    def _note_clean(self) -> None:
        if not any(flaw.check in OF_STEPS_APART for flaw in self._flaws):
            self._clean = len(self._steps)

    def _note_last(self, file: Opened | View) -> None:
        """Note the last row of each table that only grows."""
        numbers: dict[str, Literal["rowid", "place"]] = {"result": "rowid", "remark": "place"}
        if file.version >= schema.HEALTH_SINCE:
            numbers["health"] = "place"
        self._last = {
            table: file.db.execute(f"SELECT max({number}) FROM {table} NOT INDEXED").fetchone()[0]
            or 0
            for table, number in numbers.items()
        }


def _running_in(view: View) -> _Running | None:
    """Return the running step of a file that was read: the last one, where there is any."""
    room, running = Room(view.db), reader.running_row(view.db)
    if running is None:
        return None
    (row,) = _rows(view, "step", room, ("seq", running["seq"] - 1))
    series = {
        (stream, operation): _Growing(numbers, content.tally_of((seq, stream, operation), numbers))
        for (seq, stream, operation), numbers in view.series.items()
        if seq == row["seq"]
    }
    return _Running(row, series)


def _rows(
    file: Opened | View,
    table: str,
    room: Room,
    behind: tuple[Literal["rowid", "seq", "place"], int] | None = None,
) -> list[_Row]:
    """Return the rows of a table behind a number, or all, by the names of their columns."""
    if table not in schema.keyed(file.version):
        return []
    names = (*schema.columns(table, file.version), "checksum")
    return [
        dict(zip(names, (*row, check), strict=True))
        for row, _, check in content.checked_rows(file.db, table, file.version, room, behind=behind)
    ]


def _identity(path: Path) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return which file a path leads to, and what changes when it is written; () for none."""
    try:
        status = path.stat()
    except OSError:
        return (), ()  # whoever reads it says why
    file = (status.st_dev, status.st_ino)
    return file, (*file, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _further(before: RunningStep | None, now: RunningStep | None) -> dict[Place, Intervals]:
    """Return the intervals of the running step that an earlier look at it had not."""
    if now is None:
        return {}
    had = before.intervals if before is not None and before.seq == now.seq else {}
    found = {}
    for place, series in now.intervals.items():
        first = len(had[place].index) if place in had else 0
        if first < len(series.index):
            columns = {
                each.name: getattr(series, each.name)[first:]
                for each in fields(Intervals)
                if each.name != "length_ns"
            }
            found[place] = Intervals(length_ns=series.length_ns, **columns)
    return found


def _added(before: Sequence[Remark], now: Sequence[Remark]) -> tuple[Remark, ...]:
    """Return the remarks that were not there before, in their order."""
    left, found = Counter(before), []
    for remark in now:
        if left[remark]:
            left[remark] -= 1
        else:
            found.append(remark)
    return tuple(found)
