"""The list of runs: search, menus and order are in its address."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from teijo import api
from teijo.api import Column, Question
from teijo.api.shelf import Progress
from teijo.compare.sides import RUNS_MOST
from teijo.outside.text import visible
from teijo.runfile.listed import LEFT_OPEN, Listed
from teijo.speech import tongue
from teijo.speech.tongue import reported, said, tr
from teijo.web.desk import Found
from teijo.web.pages.start import job_seen
from teijo.web.question import CHOSEN, GROUPS, ROWS, chosen, query_of, question_of, sorted_by
from teijo.web.site import Site, shown

_TITLES: Final = {
    Column.STARTED_AT: "Date",
    Column.DEVICE: "Device",
    Column.METHOD: "Method",
    Column.NAME: "File",
    Column.VERDICT: "Verdict",
    Column.ENDING: "State",
    Column.CAMPAIGN: "Campaign",
    Column.FLEET: "Fleet",
    Column.HOST: "Host",
    Column.DRIVE: "Drive",
}
_TABLE: Final = (Column.STARTED_AT, Column.DEVICE, Column.METHOD, Column.NAME, Column.VERDICT)


def routes(site: Site) -> list[Route]:
    """Return the addresses of the list."""

    async def index(request: Request) -> Response:
        question = question_of(request.query_params)
        found = await asyncio.to_thread(site.desk.find, question)
        return HTMLResponse(_page(site, question, found))

    return [site.route("/", index)]


def _page(site: Site, question: Question, found: Found) -> str:
    language = {"lang": tongue.spoken()}
    total, count = found.answer.total, len(found.answer.rows)
    first = question.offset + 1 if count else 0
    pages = max(1, ceil(total / ROWS))
    page = question.offset // ROWS + 1
    sort = query_of(replace(Question(), order=question.order, descending=question.descending))
    return site.templates.made(
        "index.html",
        title=tr("Runs"),
        question=question,
        sort=sort.partition("sort=")[2],
        menus=[each for column in CHOSEN if (each := _menu(question, column, found))["shown"]],
        runs_most=RUNS_MOST,
        choose_words={"one": tr("Compare"), "several": tr("Compare {count} runs", count="{count}")},
        count=tr(
            "{first} to {last} of {total}", first=first, last=question.offset + count,
            total=total,
        )
        if count
        else "",
        reading=_reading(found.reading),
        nothing=_nothing(found),
        jobs=[job_seen(site.desk, job) for job in site.desk.jobs.shown],
        heads=[_head(question, column, language) for column in _TABLE],
        rows=[_row(each, language) for each in found.answer.rows],
        page=page,
        pages=pages,
        before=_turned(question, page - 1, language) if page > 1 else "",
        after=_turned(question, page + 1, language) if page < pages else "",
    )  # fmt: skip


def _menu(question: Question, column: Column, found: Found) -> dict[str, Any]:
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
        "shown": bool(entries) or column not in GROUPS,
    }


def _row(each: api.Shelved, language: Mapping[str, str]) -> dict[str, Any]:
    listed = each.listed
    going = listed.ending not in ("done", "steady", "not steady", "")
    state = tr("unreadable") if listed.trouble else said(listed.ending) if going else ""
    tone = "bad" if listed.trouble or listed.ending == "failed" else ""
    verdict = said(listed.trouble) if listed.trouble else reported(listed.verdict)
    return {
        "href": f"/runs/{quote(each.id)}{query_of(Question(), language)}",
        "date": listed.started_at[:16].replace("T", " "),
        "device": shown(listed.device or listed.target),
        "serial": shown(listed.serial),
        "method": shown(f"{listed.method} {listed.spec}".strip()),
        "name": shown(str(listed.path.name)),
        "group": shown(", ".join(f"{name}: {value}" for name, value in listed.group.items())),
        "id": each.id,
        "state": shown(state),
        "progress": _progress(listed),
        "written": _written(listed),
        "tone": tone,
        "verdict": shown(verdict),
        "limits": tr("limits {limits}", limits=said(listed.limits)) if listed.limits else "",
        "trouble": bool(listed.trouble),
    }


def _progress(listed: Listed) -> dict[str, Any] | None:
    """Return how far a run is that goes on, or may: None for others."""
    if listed.share is None:
        return None
    percent = tr("{percent} %", percent=round(listed.share * 100))
    at = listed.round_number
    words = percent if at is None else tr("{percent}, round {round}", percent=percent, round=at)
    return {"share": listed.share, "words": words}


def _written(listed: Listed) -> str:
    if listed.ending != LEFT_OPEN or not listed.written_at:
        return ""
    return tr("last written {date}", date=listed.written_at[:16].replace("T", " "))


def _head(question: Question, column: Column, language: Mapping[str, str]) -> dict[str, str]:
    direction = ""
    if question.order is column:
        direction = "descending" if question.descending else "ascending"
    href = f"/{query_of(sorted_by(question, column), language)}"
    return {"title": tr(_TITLES[column]), "sorted": direction, "href": href}


def _turned(question: Question, number: int, language: Mapping[str, str]) -> str:
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
