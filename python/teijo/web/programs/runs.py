"""The list and each run as JSON."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from teijo.web.question import question_of
from teijo.web.site import Site
from teijo.web.state_json import course_json, run_json, state_json


def routes(site: Site) -> list[Route]:
    """Return the addresses of the runs for programs."""
    desk = site.desk

    async def runs(request: Request) -> Response:
        question = question_of(request.query_params)
        found = await asyncio.to_thread(desk.find, question)
        rows = [run_json(row, desk.folder) for row in found.answer.rows]
        reading = found.reading is not None
        return JSONResponse({"total": found.answer.total, "reading": reading, "runs": rows})

    async def run(request: Request) -> Response:
        async with desk.watchers.looking(request.path_params["key"]) as watcher:
            sight = await watcher.after(0)
            return JSONResponse({"state": state_json(sight.state), "course": course_json(sight)})

    return [site.route("/api/v1/runs", runs), site.route("/api/v1/runs/{key:str}", run)]
