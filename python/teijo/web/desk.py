"""What the pages are about: the folder's index, the runs that are looked at, their reports."""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Final

from starlette.applications import Starlette

from teijo import api
from teijo.api import Column, Question
from teijo.api.shelf import Progress
from teijo.errors import RunFileError, TeijoError
from teijo.report import html
from teijo.report.language import Language
from teijo.runfile.names import SEALED_SUFFIX, Names
from teijo.runfile.shelf import id_of
from teijo.speech import tongue
from teijo.web import uploading
from teijo.web.comparisons import Comparisons
from teijo.web.drives import Drives
from teijo.web.folds import folded
from teijo.web.jobs import Jobs
from teijo.web.live import Sight, Watchers
from teijo.web.question import CHOSEN
from teijo.web.serving import Serving

REFRESH_EVERY_S: Final = 2.0
REPORTS_KEPT: Final = 6


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the desk found for the list of runs."""

    answer: api.Answer
    choices: Mapping[Column, tuple[tuple[str, int], ...]]
    reading: Progress | None


@dataclass(frozen=True)
class _Made:
    """A report as it was made for all who ask."""

    parts: html.Parts
    number: int

    @cached_property
    def body(self) -> bytes:
        """It as JSON, its data among it."""
        said = {**vars(self.parts), "report": self.number}
        data = said.pop("data")
        return f'{json.dumps(said, ensure_ascii=False)[:-1]}, "data": {data}}}'.encode()


class Desk:
    """The folder that is served, for all who ask at once."""

    def __init__(self, serving: Serving) -> None:
        """Take what is known of the folder; it is read in the background once `open` is entered."""
        self.serving = serving
        self.folder = serving.folder
        self._read_only = serving.read_only
        self.jobs = Jobs(serving.folder.absolute())
        self._begun = serving.begun
        self.shelf = api.Shelf(serving.folder, recursive=serving.recursive)
        self.watchers = Watchers(self._watched)
        self.comparisons = Comparisons(self.path_of)
        self.drives = Drives()
        self.reading: Progress | None = None
        self._reports: OrderedDict[tuple[str, int, str], _Made] = OrderedDict()
        self._lock = Lock()

    @asynccontextmanager
    async def open(self, _: Starlette) -> AsyncIterator[None]:
        """Keep the index up to date as long as the server goes on."""
        if not self._read_only:
            await asyncio.to_thread(uploading.remove_left, self.folder)
        tasks = [asyncio.create_task(each) for each in (self._refresh(), self.jobs.go_on())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            self.shelf.close()

    def find(self, question: Question) -> Found:
        """Return the runs that are asked for, and what could be asked for."""
        choices = {column: self.shelf.choices(column) for column in CHOSEN}
        answer = self.shelf.find(question)
        return Found(answer=answer, choices=choices, reading=self.reading)

    def path_of(self, key: str) -> Path:
        """Return the file of a run.

        Raises:
            RunFileError: there is none of this id, or no longer.
        """
        path = self.shelf.path_of(key) or self._begun_as(key)
        if path is None:
            raise RunFileError(
                "There is no such run in this folder.",
                remedy="Go to the list of runs; its file may have another name now.",
            )
        return path

    def has(self, key: str) -> bool:
        """Return whether there is a run of this id by now."""
        return (self.shelf.path_of(key) or self._begun_as(key)) is not None

    def _begun_as(self, key: str) -> Path | None:
        """Return the file of a run that was begun from here, which the index may not know yet."""
        begun = [self.folder / self._begun] if self._begun and key == id_of(self._begun) else []
        begun += [job.path for job in self.jobs.all if job.key == key]
        names = [Names.of(path) for path in begun]
        places = (place for each in names for place in (each.open, each.sealed))
        return next((place for place in places if place.is_file()), None)

    def report(self, key: str, sight: Sight) -> html.Parts:
        """Return the report at a sight, which is made once for each language."""
        return self._report(key, sight).parts

    def report_body(self, key: str, sight: Sight) -> bytes:
        """Return that as JSON, with its number."""
        return self._report(key, sight).body

    def _report(self, key: str, sight: Sight) -> _Made:
        place = (key, sight.report, tongue.spoken())
        # One at a time: all who look at a run ask for its next report at the same moment.
        with self._lock:
            found = self._reports.pop(place, None) or self._made(key, sight)
            self._reports[place] = found
            while len(self._reports) > REPORTS_KEPT:
                self._reports.popitem(last=False)
        return found

    def _made(self, key: str, sight: Sight) -> _Made:
        began_s = time.thread_time()
        grows = sight.reported.run.ending == "running"
        # What a file says of itself, as a signature, is there when it is sealed.
        run = api.Run(self.path_of(key), sight.reported)
        document = api.present(sight.reported) if grows else run.document()
        parts = html.parts(document, Language(tongue.spoken()))
        parts = replace(parts, sections=folded(parts.sections))
        self.watchers.note_report(key, time.thread_time() - began_s)
        return _Made(parts, sight.report)

    def report_file(self, key: str) -> tuple[str, str]:
        """Return the name and the text of a report as one file."""
        document = api.open(self.path_of(key)).document()
        return f"{document.name}.html", html.render(document, Language(tongue.spoken()))

    def _watched(self, key: str) -> api.Watched:
        path = self.path_of(key)
        return api.watch(path.with_name(path.name.removesuffix(".open")) if _grows(path) else path)

    async def _refresh(self) -> None:
        """Read what is new in the folder, again and again."""
        while True:
            with suppress(TeijoError, OSError):
                await asyncio.to_thread(self._refresh_once)
            self.reading = None
            self.watchers.forget()
            await asyncio.sleep(REFRESH_EVERY_S)

    def _refresh_once(self) -> None:
        for progress in self.shelf.refresh():
            self.reading = progress if progress.total else None


def _grows(path: Path) -> bool:
    return path.name.endswith(f"{SEALED_SUFFIX}.open")
