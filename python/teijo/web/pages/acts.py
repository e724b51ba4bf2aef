"""What can be done with a run from its page: stop it, carry it on."""

import asyncio
from dataclasses import dataclass
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from teijo import api
from teijo.errors import UnsafeError
from teijo.runfile.names import OPEN_SUFFIX
from teijo.runner.run_state import RunState
from teijo.speech.tongue import said
from teijo.terms.record import Record
from teijo.web import starting
from teijo.web.jobs import Job
from teijo.web.pages.start import job_address, led_to
from teijo.web.site import Site
from teijo.web.starting import Kind, Offer


def routes(site: Site) -> list[Route]:
    """Return the addresses that stop and resume runs."""
    page = _Acts(site)
    return [
        site.route("/runs/{key:str}/acts", page.acts),
        site.route("/runs/{key:str}/stop", page.stop, "POST"),
        site.route("/runs/{key:str}/resume", page.resume, "POST"),
    ]


@dataclass(frozen=True, kw_only=True)
class _Resuming:
    """What has to be typed to carry a run on, or why the page may not."""

    offer: Offer | None = None
    refused: UnsafeError | None = None


class _Acts:
    """The answers."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.desk = site.desk

    async def acts(self, request: Request) -> Response:
        """Return the buttons of a run as it is now, for a page that has older ones."""
        key = request.path_params["key"]
        async with self.desk.watchers.looking(key) as watcher:
            sight = await watcher.after(0)
        made = await asyncio.to_thread(acts_of, self.site, key, sight.state, sight.reported)
        return HTMLResponse(made)

    async def stop(self, request: Request) -> Response:
        """Ask a run to stop, whichever process it is of; asked twice, it stops at once."""
        key = request.path_params["key"]
        await self.site.forms.read(request)
        await asyncio.to_thread(lambda: api.watch(self.desk.path_of(key)).stop())
        return led_to(f"/runs/{quote(key)}{_language(request)}")

    async def resume(self, request: Request) -> Response:
        """Carry on a run that was left, as a process of its own; lead to it."""
        key = request.path_params["key"]
        form = await self.site.forms.read(request)
        serving = self.desk.serving

        def resumed() -> Job:
            path = self.desk.path_of(key).absolute()
            record = api.watch(path).look().record
            order = starting.resumed(record, path, form.get("typed", "").strip(), serving)
            return self.desk.jobs.add(order, resumes=path)

        return led_to(job_address(await asyncio.to_thread(resumed)))


def acts_of(site: Site, key: str, state: RunState, record: Record) -> str:
    """Return the buttons of a run as HTML, nothing where there are none."""
    if site.desk.serving.read_only:
        return ""
    goes_on = state.ending == "running"
    left = not goes_on and site.desk.path_of(key).name.endswith(OPEN_SUFFIX)
    resuming = _resuming(site, record) if left else _Resuming()
    job = site.desk.jobs.last_on(key)
    told = "" if job is None or not job.resumes or job.is_active else job.told
    return site.templates.made(
        "acts.html",
        key=key,
        ending=said(state.ending),
        stops=goes_on,
        stopping=bool(state.stopping),
        resumes=resuming.offer is not None,
        consent="" if resuming.offer is None else resuming.offer.consent,
        is_device=resuming.offer is not None and resuming.offer.kind is Kind.DEVICE,
        refused="" if resuming.refused is None else said(resuming.refused.message),
        remedy="" if resuming.refused is None else said(resuming.refused.remedy),
        told="\n".join(said(line) for line in told.splitlines()),
    )


def _resuming(site: Site, record: Record) -> _Resuming:
    try:
        return _Resuming(offer=starting.offer_to_resume(record, site.desk.serving))
    except UnsafeError as refused:
        return _Resuming(refused=refused)


def _language(request: Request) -> str:
    return f"?{request.url.query}" if request.url.query else ""
