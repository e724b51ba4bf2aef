"""The addresses of the page, each a question of one kind; guard.py stands before all of them."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from teijo.errors import RunFileError, TeijoError
from teijo.speech import tongue
from teijo.web.assets import ASSETS
from teijo.web.desk import Desk
from teijo.web.guard import Guard
from teijo.web.live import Sight, Watcher
from teijo.web.pages import HERE, Pages
from teijo.web.question import question_of
from teijo.web.serving import Serving
from teijo.web.state_json import Json, course_json, run_json, state_json

Handler = Callable[[Request], Awaitable[Response]]
HEARTBEAT_S: Final = 15.0
"""A stream says something so often, so that a browser notices a connection that is dead."""
ASSET_AGE_S: Final = 3600


def application(serving: Serving) -> Guard:
    """Return what answers every request for a folder of run files."""
    desk = Desk(serving)
    site = _Site(desk, Pages(serving))
    routes = [
        Route("/", site.spoken(site.index)),
        Route("/runs/{key:str}", site.spoken(site.run)),
        Route("/runs/{key:str}/report", site.spoken(site.report)),
        Route("/runs/{key:str}/report.html", site.spoken(site.report_file)),
        Route("/runs/{key:str}/events", site.spoken(site.events)),
        Route("/api/v1/runs", site.spoken(site.runs_json)),
        Route("/api/v1/runs/{key:str}", site.spoken(site.run_json)),
        Route("/static/{name:str}", site.asset),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            TeijoError: site.spoken_error(site.refused),
            HTTPException: site.spoken_error(site.missing),
            Exception: site.spoken_error(site.failed),
        },
        lifespan=desk.open,
    )
    return Guard(app, serving)


class _Site:
    """The answers."""

    def __init__(self, desk: Desk, pages: Pages) -> None:
        self.desk = desk
        self.pages = pages

    def spoken(self, handler: Handler) -> Handler:
        """Return a handler that answers in the language of the request."""

        async def answer(request: Request) -> Response:
            HERE.set(_here(request))
            with tongue.speaking(_language(request)):
                return await handler(request)

        return answer

    def spoken_error(
        self, handler: Callable[[Request, Exception], Response]
    ) -> Callable[[Request, Exception], Awaitable[Response]]:
        """Return a handler of errors that answers in the language of the request."""

        async def answer(request: Request, error: Exception) -> Response:
            HERE.set(_here(request))
            with tongue.speaking(_language(request)):
                return handler(request, error)

        return answer

    async def index(self, request: Request) -> Response:
        """Return the list of runs."""
        question = question_of(request.query_params)
        found = await asyncio.to_thread(self.desk.find, question)
        return HTMLResponse(self.pages.index(question, found))

    async def runs_json(self, request: Request) -> Response:
        """Return the list of runs for a program."""
        question = question_of(request.query_params)
        found = await asyncio.to_thread(self.desk.find, question)
        rows = [run_json(row, self.desk.folder) for row in found.answer.rows]
        reading = found.reading is not None
        return JSONResponse({"total": found.answer.total, "reading": reading, "runs": rows})

    async def run(self, request: Request) -> Response:
        """Return the page of one run, its report in it, whether it goes on or not."""
        key = request.path_params["key"]
        async with self.desk.watchers.looking(key) as watcher:
            sight = await watcher.after(0)
            parts = await asyncio.to_thread(self.desk.report, key, sight)
            return HTMLResponse(self.pages.run(key, sight, parts))

    async def run_json(self, request: Request) -> Response:
        """Return the state and the course of one run for a program."""
        key = request.path_params["key"]
        async with self.desk.watchers.looking(key) as watcher:
            sight = await watcher.after(0)
            return JSONResponse({"state": state_json(sight.state), "course": course_json(sight)})

    async def report(self, request: Request) -> Response:
        """Return the parts of a report, for a page that shows an older one of the same run."""
        key = request.path_params["key"]
        async with self.desk.watchers.looking(key) as watcher:
            sight = await watcher.after(0)
            parts = await asyncio.to_thread(self.desk.report, key, sight)
            body = {**vars(parts), "data": json.loads(parts.data), "report": sight.report}
            return JSONResponse(body)

    async def report_file(self, request: Request) -> Response:
        """Return the report as one file that needs no server."""
        name, text = await asyncio.to_thread(self.desk.report_file, request.path_params["key"])
        disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
        return HTMLResponse(text, headers={"content-disposition": disposition})

    async def events(self, request: Request) -> Response:
        """Return what happens to a run, as it happens: server-sent events."""
        key = request.path_params["key"]
        language = _language(request)
        await asyncio.to_thread(self.desk.path_of, key)

        async def stream() -> AsyncIterator[str]:
            with tongue.speaking(language):
                yield "retry: 1000\n\n"
                async with self.desk.watchers.looking(key) as watcher:
                    async for each in _told(watcher):
                        yield each

        headers = {"x-accel-buffering": "no"}
        return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)

    async def asset(self, request: Request) -> Response:
        """Return one of the files that belong to the page itself."""
        found = ASSETS.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        body, kind, tag = found.content, found.media_type, found.tag
        headers = {"etag": tag, "cache-control": f"private, max-age={ASSET_AGE_S}"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type=kind, headers=headers)

    def refused(self, request: Request, error: Exception) -> Response:
        """Return what Teijo says of an error it knows."""
        assert isinstance(error, TeijoError)
        status = 404 if isinstance(error, RunFileError) else 500
        return self._error(request, status, error.message, error.remedy)

    def missing(self, request: Request, error: Exception) -> Response:
        """Return what is said of an address that there is not."""
        status = error.status_code if isinstance(error, HTTPException) else 404
        return self._error(request, status, "There is no such page.", "Go to the list of runs.")

    def failed(self, request: Request, error: Exception) -> Response:
        """Return what is said of an error nobody has put into words; its text stays here."""
        what = f"Teijo itself failed: {type(error).__name__}."
        return self._error(request, 500, what, "Please report this.")

    def _error(self, request: Request, status: int, message: str, remedy: str) -> Response:
        message, remedy = tongue.said(message), tongue.said(remedy)
        if request.url.path.startswith("/api/") or request.url.path.endswith("/events"):
            body = {"error": {"message": message, "remedy": remedy}}
            return JSONResponse(body, status_code=status)
        return HTMLResponse(self.pages.error(message, remedy), status_code=status)


async def _told(watcher: Watcher) -> AsyncIterator[str]:
    """Yield the events of one reader, from the first sight to the end of the run."""
    have: Sight | None = None
    while True:
        try:
            number = 0 if have is None else have.number
            sight = await asyncio.wait_for(watcher.after(number), HEARTBEAT_S)
        except TimeoutError:
            yield ": still here\n\n"
            continue
        except TeijoError as error:
            trouble = {"message": tongue.said(error.message), "remedy": tongue.said(error.remedy)}
            yield _event("trouble", trouble)
            return
        yield _event("course", _course_since(sight, have))
        if have is None or sight.report != have.report:
            yield _event("report", {"report": sight.report})
        yield _event("state", state_json(sight.state))
        have = sight
        if watcher.is_over:
            yield _event("over", {"ending": sight.state.ending})
            return


def _course_since(sight: Sight, have: Sight | None) -> Json:
    """Return the course from the last point on that a reader has, which may have grown."""
    if have is None or (have.epoch, have.joined) != (sight.epoch, sight.joined):
        return course_json(sight)
    first = max(0, len(have.points) - 1)
    return course_json(sight, first=first, levels_from=len(have.levels))


def _event(name: str, body: Json) -> str:
    return f"event: {name}\ndata: {json.dumps(body, ensure_ascii=False)}\n\n"


def _here(request: Request) -> str:
    """Return the address of a request without its language."""
    pairs = [pair for pair in request.query_params.multi_items() if pair[0] != "lang"]
    path = quote(request.url.path)
    return f"{path}?{urlencode(pairs)}" if pairs else path


def _language(request: Request) -> str:
    """Return the language that the address names, or else the browser."""
    asked = request.query_params.get("lang", "")
    if asked in tongue.TONGUES:
        return asked
    for part in request.headers.get("accept-language", "").split(",")[:20]:
        code = part.partition(";")[0].strip().partition("-")[0].lower()
        if code in tongue.TONGUES:
            return code
    return tongue.spoken()
