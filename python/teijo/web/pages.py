"""Each page as HTML, in the language that is spoken: what the desk found, put into a template."""

import json
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from teijo import api
from teijo.api import Column, Question
from teijo.api.shelf import Progress
from teijo.outside.text import visible
from teijo.report import html
from teijo.report.chart import growing, palette
from teijo.report.chart.theme import Canvas
from teijo.report.language import Language
from teijo.speech import tongue
from teijo.speech.tongue import reported, said, tr
from teijo.web.live import Sight
from teijo.web.question import CHOSEN, ROWS, chosen, query_of, sorted_by
from teijo.web.serving import Serving
from teijo.web.state_json import state_json

_LANGUAGES: Final = (("en", "English"), ("ja", "日本語"))
_CANVAS: Final = Canvas(inks=palette.SCREEN, interactive=True, width_px=860, height_px=190)
_TITLES: Final = {
    Column.STARTED_AT: "Date",
    Column.DEVICE: "Device",
    Column.METHOD: "Method",
    Column.NAME: "File",
    Column.VERDICT: "Verdict",
    Column.ENDING: "State",
}
_TABLE: Final = (Column.STARTED_AT, Column.DEVICE, Column.METHOD, Column.NAME, Column.VERDICT)
_TEXT_MOST: Final = 200
HERE: Final[ContextVar[str]] = ContextVar("here", default="/")
"""The address of the page that is made, without its language."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the desk found for the list of runs."""

    answer: api.Answer
    choices: Mapping[Column, tuple[tuple[str, int], ...]]
    reading: Progress | None


class Pages:
    """The templates, read once."""

    def __init__(self, serving: Serving) -> None:
        """Read them."""
        self._folder = visible(str(serving.folder), most=_TEXT_MOST)
        self._templates = Environment(
            loader=FileSystemLoader(Path(__file__).with_name("templates")),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
        )

    def index(self, question: Question, found: Found) -> str:
        """Return the list of runs."""
        language = {"lang": tongue.spoken()}
        total, count = found.answer.total, len(found.answer.rows)
        first = question.offset + 1 if count else 0
        pages = max(1, ceil(total / ROWS))
        page = question.offset // ROWS + 1
        sort = query_of(replace(Question(), order=question.order, descending=question.descending))
        return self._made(
            "index.html",
            title=tr("Runs"),
            question=question,
            sort=sort.partition("sort=")[2],
            menus=[self._menu(question, column, found) for column in CHOSEN],
            count=tr(
                "{first} to {last} of {total}", first=first, last=question.offset + count,
                total=total,
            )
            if count
            else "",
            reading=_reading(found.reading),
            nothing=_nothing(found),
            heads=[_head(question, column, language) for column in _TABLE],
            rows=[_row(each, language) for each in found.answer.rows],
            page=page,
            pages=pages,
            before=_page(question, page - 1, language) if page > 1 else "",
            after=_page(question, page + 1, language) if page < pages else "",
        )  # fmt: skip

    def run(self, key: str, sight: Sight, parts: html.Parts) -> str:
        """Return the page of one run."""
        state = state_json(sight.state)
        return self._made(
            "run.html",
            title=state["title"],
            key=key,
            report=sight.report,
            state=state,
            percent=round(state["share"] * 100),
            parts=parts,
            file_href=f"/runs/{quote(key)}/report.html?lang={tongue.spoken()}",
            page_data=html.script_safe(json.dumps(_page_data(), ensure_ascii=False)),
        )

    def error(self, message: str, remedy: str) -> str:
        """Return what is said where there is no page."""
        return self._made(
            "error.html", title=tr("Not possible"), message=visible(message), remedy=visible(remedy)
        )

    def _made(self, name: str, **values: Any) -> str:
        here = HERE.get()
        mark = "&" if "?" in here else "?"
        return self._templates.get_template(name).render(
            tr=tr,
            language=tongue.spoken(),
            languages=_LANGUAGES,
            lang_query=f"?lang={tongue.spoken()}",
            here_in=lambda code: f"{here}{mark}lang={code}",
            folder=self._folder,
            **values,
        )

    def _menu(self, question: Question, column: Column, found: Found) -> dict[str, Any]:
        entries = [
            (value, visible(reported(value), most=60), count)
            for value, count in found.choices.get(column, ())
            if value
        ]
        return {
            "name": column.value,
            "title": tr(_TITLES[column]),
            "entries": entries,
            "chosen": chosen(question, column),
        }


def _row(each: api.Shelved, language: Mapping[str, str]) -> dict[str, Any]:
    listed = each.listed
    going = listed.ending not in ("done", "steady", "not steady", "")
    # Whether somebody writes to the file, nobody can ask without standing in the writer's way.
    ending = tr("running, or left open") if listed.ending == "left open" else said(listed.ending)
    state = tr("unreadable") if listed.trouble else ending if going else ""
    tone = "bad" if listed.trouble or listed.ending == "failed" else ""
    verdict = said(listed.trouble) if listed.trouble else reported(listed.verdict)
    return {
        "href": f"/runs/{quote(each.id)}{query_of(Question(), language)}",
        "date": listed.started_at[:16].replace("T", " "),
        "device": _shown(listed.device or listed.target),
        "serial": _shown(listed.serial),
        "method": _shown(f"{listed.method} {listed.spec}".strip()),
        "name": _shown(str(listed.path.name)),
        "group": _shown(", ".join(f"{name}: {value}" for name, value in listed.group.items())),
        "state": _shown(state),
        "tone": tone,
        "verdict": _shown(verdict),
        "limits": tr("limits {limits}", limits=said(listed.limits)) if listed.limits else "",
        "trouble": bool(listed.trouble),
    }


def _shown(text: str) -> str:
    return visible(text, most=_TEXT_MOST)


def _head(question: Question, column: Column, language: Mapping[str, str]) -> dict[str, str]:
    direction = ""
    if question.order is column:
        direction = "descending" if question.descending else "ascending"
    href = f"/{query_of(sorted_by(question, column), language)}"
    return {"title": tr(_TITLES[column]), "sorted": direction, "href": href}


def _page(question: Question, number: int, language: Mapping[str, str]) -> str:
    return f"/{query_of(replace(question, offset=(number - 1) * ROWS), language)}"


def _reading(progress: Progress | None) -> str:
    if progress is None or not progress.total:
        return ""
    return tr("reading file {done} of {total}", done=progress.done, total=progress.total)


def _nothing(found: Found) -> str:
    if found.answer.known:
        return tr("No run fits. Take something out of the search.")
    if found.reading is not None:
        return tr("The files are being read.")
    return tr("There is no run file in this folder yet: `teijo run … -o NAME.teijo` writes one.")


def _page_data() -> dict[str, Any]:
    canvas = replace(_CANVAS, language=Language(tongue.spoken()))
    time = tr("Time (s)")
    drawings = (
        ("course-iops", growing.rate_chart(canvas, title="IOPS", time=time)),
        (
            "course-latency",
            growing.latency_chart(
                canvas,
                title=tr("Latency (ms)"),
                time=time,
                mean=tr("mean"),
                most=tr("maximum"),
            ),
        ),
    )
    return {
        "charts": [{"id": name, "body": drawing.body} for name, drawing in drawings],
        "levels": ["p50", "p99", "p99.9"],
        "words": {"away": tr("The server does not answer; the page asks again by itself.")},
    }
