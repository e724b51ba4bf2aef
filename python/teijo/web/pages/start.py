"""The window that starts a run, and the page of one that waits or begins."""

import asyncio
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from teijo.api.acting import Foretold
from teijo.errors import RunFileError, TeijoError
from teijo.methods.registry import Card
from teijo.runner.extent import Extent, Preview
from teijo.speech import tongue
from teijo.speech.tongue import said, tr
from teijo.units import format_capacity, format_duration
from teijo.web import starting
from teijo.web.desk import Desk
from teijo.web.jobs import Job
from teijo.web.site import START, Site, shown
from teijo.web.starting import Asked, Kind, Offer

_GROUPS: Final = (
    (Kind.SIMULATED, "Simulated"),
    (Kind.NEW_FILE, "A new file in"),
    (Kind.FILE, "Files"),
    (Kind.DEVICE, "Devices: all data is lost"),
)
_FIRST_SIZE: Final = "1GiB"
_STATES: Final = {
    "waiting": "waits",
    "starting": "begins",
    "running": "goes on",
    "ended": "has ended",
    "not started": "did not begin",
    "taken back": "taken back",
}
SEE_OTHER: Final = 303


def routes(site: Site) -> list[Route]:
    """Return the addresses that start runs."""
    page = _StartPage(site)
    return [
        site.route(START, page.form),
        site.route(START, page.start, "POST"),
        site.route("/jobs/{number:int}", page.job),
        site.route("/jobs/{number:int}/state", page.job_state),
        site.route("/jobs/{number:int}/take-back", page.take_back, "POST"),
    ]


@dataclass(frozen=True)
class _Foreseen:
    """What is ahead of a run, or why there would be none."""

    told: Foretold | None = None
    error: TeijoError | None = None


class _StartPage:
    """The answers."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.desk = site.desk
        self.serving = site.desk.serving

    async def form(self, request: Request) -> Response:
        """Return the window that starts a run, with what it would take if it says enough."""
        if self.serving.read_only:
            raise RunFileError(
                "Nothing is started from this page (--read-only).",
                remedy="Start the run on the command line.",
            )
        asked = starting.asked_of(dict(request.query_params))
        return HTMLResponse(await asyncio.to_thread(self._form, asked, None))

    async def start(self, request: Request) -> Response:
        """Begin a run, or put it into the queue; lead to it."""
        asked = starting.asked_of(await self.site.forms.read(request))
        try:
            order = await asyncio.to_thread(starting.order_of, asked, self.serving)
            job = await asyncio.to_thread(self.desk.jobs.add, order)
        except TeijoError as error:
            page = await asyncio.to_thread(self._form, asked, error)
            return HTMLResponse(page, status_code=400)
        return led_to(job_address(job))

    async def job(self, request: Request) -> Response:
        """Return the page of a run that waits, begins, or did not begin."""
        job = self._job_of(request)
        if href := _href_of(self.desk, job):
            return led_to(href)
        return HTMLResponse(
            self.site.templates.made(
                "job.html", title=shown(job.order.target), job=job_seen(self.desk, job)
            )
        )

    async def job_state(self, request: Request) -> Response:
        """Return how a run is that was asked for, for the page that waits for it."""
        job = self._job_of(request)
        seen = job_seen(self.desk, job)
        return JSONResponse({"state": seen["words"], "told": seen["told"], "href": seen["href"]})

    async def take_back(self, request: Request) -> Response:
        """Take a run out of the queue."""
        await self.site.forms.read(request)
        self.desk.jobs.take_back(self._job_of(request).number)
        return led_to("/")

    def _job_of(self, request: Request) -> Job:
        job = self.desk.jobs.of(request.path_params["number"])
        if job is None:
            raise RunFileError(
                "Nothing of this number was asked for, or it is long over.",
                remedy="Go to the list of runs.",
            )
        return job

    def _form(self, asked: Asked, error: TeijoError | None) -> str:
        offers = starting.offers(self.serving)
        cards = starting.methods()
        card = next((one for one in cards if one.id == asked.method), cards[0])
        chosen = next((one for one in offers if one.key == asked.target), None)
        seen = self._foreseen(asked) if asked.target else _Foreseen()
        error = error or seen.error
        return self.site.templates.made(
            "start.html",
            title=tr("Start a run"),
            asked=asked,
            size=asked.size or _FIRST_SIZE,
            groups=_groups(offers),
            cards=[{"id": one.id, "words": _card_words(one)} for one in cards],
            card=card,
            chosen=chosen,
            kind="" if chosen is None else chosen.kind.value,
            named=starting.NAMED,
            preview=None if seen.told is None else _preview(seen.told.extent),
            command=self._command(asked),
            error="" if error is None else said(error.message),
            remedy="" if error is None else said(error.remedy),
        )

    def _foreseen(self, asked: Asked) -> _Foreseen:
        try:
            return _Foreseen(told=starting.foreseen(asked, self.serving))
        except TeijoError as error:
            return _Foreseen(error=error)

    def _command(self, asked: Asked) -> str:
        """Return the command line as far as the form is complete."""
        try:
            order = starting.order_of(asked, self.serving)
        except TeijoError:
            return ""
        return starting.command_line(order.words)


def job_seen(desk: Desk, job: Job) -> dict[str, Any]:
    """Return what a page says of a job."""
    before = desk.jobs.before(job) if job.state == "waiting" else 0
    words = tr(_STATES[job.state])
    if before:
        words = tr("waits; {n} before it on the same target", n=before)
    return {
        "number": job.number,
        "method": job.order.method,
        "target": shown(job.order.target),
        "state": job.state,
        "words": words,
        "told": "\n".join(said(line) for line in job.told.splitlines()),
        "command": job.command,
        "href": _href_of(desk, job),
    }


def _href_of(desk: Desk, job: Job) -> str:
    """Return the address of the run once there is something to see, "" before."""
    begun = job.state in ("running", "ended")
    if not begun or not desk.has(job.key):
        return ""
    return f"/runs/{quote(job.key)}?lang={tongue.spoken()}"


def led_to(address: str) -> Response:
    """Lead a browser on after it has sent a form."""
    return RedirectResponse(address, status_code=SEE_OTHER)


def job_address(job: Job) -> str:
    """Return the address of the page of a job."""
    return f"/jobs/{job.number}?lang={tongue.spoken()}"


def _card_words(card: Card) -> str:
    return f"{card.id}: {said(card.summary)}"


def _groups(offers: tuple[Offer, ...]) -> list[dict[str, Any]]:
    found = []
    for kind, title in _GROUPS:
        entries = [
            {"key": one.key, "label": shown(said(one.label)), "consent": one.consent}
            for one in offers
            if one.kind is kind
        ]
        found.append({"kind": kind.value, "title": tr(title), "entries": entries})
    return found


def _preview(seen: Preview) -> dict[str, Any]:
    ends = (seen.least, seen.expected, seen.most)
    rated = seen.endurance
    rows = [
        (tr("duration"), [format_duration(end.duration_ns) for end in ends]),
        (tr("written"), [_written(end) for end in ends]),
        (tr("drive writes"), [_times(seen.drive_writes(end)) for end in ends]),
    ]
    if rated is not None:
        worn = [
            None if end.written_bytes is None else rated.share(end.written_bytes) for end in ends
        ]
        rows.append((tr("of rated endurance"), [_percent(each) for each in worn]))
    return {"rows": rows, "assumed": said(seen.assumed)}


def _written(end: Extent) -> str:
    return tr("not known") if end.written_bytes is None else format_capacity(end.written_bytes)


def _times(count: float | None) -> str:
    return tr("not known") if count is None else f"{count:.2f}"


def _percent(share: float | None) -> str:
    return tr("not known") if share is None else f"{share * 100:.2g} %"
