"""The page of one run: what it does now, its course, and its report, which it is in the end."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote
from weakref import WeakKeyDictionary

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from teijo.errors import TeijoError
from teijo.report import html
from teijo.report.chart import growing, palette
from teijo.report.chart.theme import Canvas, Specification
from teijo.report.language import Language
from teijo.speech import tongue
from teijo.speech.tongue import tr
from teijo.web.live import Sight, Watcher
from teijo.web.pages.acts import acts_of
from teijo.web.site import Site, attached, language_of
from teijo.web.state_json import state_json
from teijo.web.telling import Telling, event

HEARTBEAT_S: Final = 15.0
"""A stream says something so often, so that a browser notices a connection that is dead."""
_CANVAS: Final = Canvas(inks=palette.SCREEN, interactive=True, width_px=860, height_px=190)


def routes(site: Site) -> list[Route]:
    """Return the addresses of a run."""
    page = _RunPage(site)
    return [
        site.route("/runs/{key:str}", page.run),
        site.route("/runs/{key:str}/report", page.report),
        site.route("/runs/{key:str}/report.html", page.report_file),
        site.route("/runs/{key:str}/events", page.events),
    ]


class _RunPage:
    """The answers."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.desk = site.desk
        self.templates = site.templates
        self._tellings: WeakKeyDictionary[Watcher, Telling] = WeakKeyDictionary()

    async def run(self, request: Request) -> Response:
        """Return the page of one run, its report in it, whether it goes on or not."""
        key = request.path_params["key"]
        async with self.desk.watchers.looking(key) as watcher:
            sight = await watcher.after(0)
            parts = await asyncio.to_thread(self.desk.report, key, sight)
            acts = await asyncio.to_thread(acts_of, self.site, key, sight.state, sight.reported)
            return HTMLResponse(self._page(key, sight, parts, acts))

    async def report(self, request: Request) -> Response:
        """Return the parts of a report, for a page that shows an older one of the same run."""
        key = request.path_params["key"]
        async with self.desk.watchers.looking(key) as watcher:
            sight = await watcher.after(0)
            body = await asyncio.to_thread(self.desk.report_body, key, sight)
            return Response(body, media_type="application/json")

    async def report_file(self, request: Request) -> Response:
        """Return the report as one file that needs no server."""
        name, text = await asyncio.to_thread(self.desk.report_file, request.path_params["key"])
        return attached(name, text)

    async def events(self, request: Request) -> Response:
        """Return what happens to a run, as it happens: server-sent events."""
        key = request.path_params["key"]
        language = language_of(request)
        await asyncio.to_thread(self.desk.path_of, key)

        async def stream() -> AsyncIterator[bytes]:
            with tongue.speaking(language):
                yield b"retry: 1000\n\n"
                yield event("server", {"word": self.site.forms.word}).encode()
                async with self.desk.watchers.looking(key) as watcher:
                    telling = self._tellings.setdefault(watcher, Telling())
                    async for each in _told(watcher, telling):
                        yield each

        headers = {"x-accel-buffering": "no"}
        return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)

    def _page(self, key: str, sight: Sight, parts: html.Parts, acts: str) -> str:
        state = state_json(sight.state)
        return self.templates.made(
            "run.html",
            title=state["title"],
            key=key,
            report=sight.report,
            state=state,
            percent=round(state["share"] * 100),
            parts=parts,
            acts=acts,
            file_href=f"/runs/{quote(key)}/report.html?lang={tongue.spoken()}",
            page_data=html.script_safe(json.dumps(_page_data(), ensure_ascii=False)),
        )


async def _told(watcher: Watcher, telling: Telling) -> AsyncIterator[bytes]:
    """Yield the events of one reader, from the first sight to the end of the run."""
    have: Sight | None = None
    while True:
        try:
            number = 0 if have is None else have.number
            sight = await asyncio.wait_for(watcher.after(number), HEARTBEAT_S)
        except TimeoutError:
            yield b": still here\n\n"
            continue
        except TeijoError as error:
            trouble = {"message": tongue.said(error.message), "remedy": tongue.said(error.remedy)}
            yield event("trouble", trouble).encode()
            return
        if text := telling.news(sight, have):
            yield text
        have = sight
        if watcher.is_over:
            yield event("over", {"ending": sight.state.ending}).encode()
            return


def _page_data() -> dict[str, Any]:
    canvas = replace(_CANVAS, language=Language(tongue.spoken()))
    time = tr("Time (s)")
    course = (
        ("course-iops", growing.rate_chart(canvas, title="IOPS", time=time)),
        ("course-mbs", growing.throughput_chart(canvas, title="MB/s", time=time)),
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
        ("course-heat", growing.heat_chart(canvas, title=tr("Temperature (°C)"), time=time)),
    )
    percent = growing.window_chart(canvas, title=tr("% of the average"), rounds=tr("Round"))
    return {
        "charts": [_drawing("course", *each) for each in course],
        "window": _drawing("window", "window-chart", percent),
        "levels": ["p50", "p99", "p99.9"],
        "words": {
            "away": tr("The server does not answer; the page asks again by itself."),
            "round": tr("Round"),
            "yes": tr("yes"),
            "no": tr("no"),
            "within": tr("within"),
            "beyond": tr("beyond"),
            "so_far": tr("{count} rounds so far", count="#"),
            "write_amplification": tr("write amplification"),
        },
    }


def _drawing(fold: str, name: str, drawing: Specification) -> dict[str, Any]:
    return {"fold": fold, "id": name, "body": drawing.body}
