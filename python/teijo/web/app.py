"""All addresses of the page, and what is said where there is none; guard.py stands before them."""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from teijo.errors import RunFileError, TargetError, TeijoError, UnsafeError, UsageError
from teijo.outside.text import visible
from teijo.speech import tongue
from teijo.speech.tongue import tr
from teijo.web.assets import ASSETS
from teijo.web.desk import Desk
from teijo.web.forms import Forms
from teijo.web.guard import UPLOAD, Guard
from teijo.web.pages import acts, compare, devices, run, runs, start, upload
from teijo.web.programs import compare as compare_json
from teijo.web.programs import devices as devices_json
from teijo.web.programs import metrics, openapi
from teijo.web.programs import runs as runs_json
from teijo.web.serving import Serving
from teijo.web.site import Site, Templates, speaking_to

ASSET_AGE_S: Final = 3600
_STATUS: Final = ((RunFileError, 404), (TargetError, 404), (UsageError, 400), (UnsafeError, 403))


def application(serving: Serving) -> Guard:
    """Return what answers every request for a folder of run files."""
    desk = Desk(serving)
    forms = Forms()
    site = Site(desk, Templates(serving, forms.word), forms)
    errors = _Errors(site)
    app = Starlette(
        routes=[
            *runs.routes(site),
            *run.routes(site),
            *start.routes(site),
            *acts.routes(site),
            *upload.routes(site),
            *compare.routes(site),
            *devices.routes(site),
            *runs_json.routes(site),
            *compare_json.routes(site),
            *devices_json.routes(site),
            *metrics.routes(site),
            *openapi.routes(site),
            Route("/static/{name:str}", _asset),
        ],
        exception_handlers={
            TeijoError: errors.spoken(errors.refused),
            HTTPException: errors.spoken(errors.missing),
            Exception: errors.spoken(errors.failed),
        },
        lifespan=desk.open,
    )
    return Guard(app, serving)


async def _asset(request: Request) -> Response:
    """Return one of the files that belong to the page itself."""
    found = ASSETS.get(request.path_params["name"])
    if found is None:
        raise HTTPException(404)
    body, kind, tag = found.content, found.media_type, found.tag
    headers = {"etag": tag, "cache-control": f"private, max-age={ASSET_AGE_S}"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=kind, headers=headers)


class _Errors:
    """What is said instead of an answer."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def spoken(
        self, handler: Callable[[Request, Exception], Response]
    ) -> Callable[[Request, Exception], Awaitable[Response]]:
        """Return a handler of errors that answers in the language of the request."""

        async def answer(request: Request, error: Exception) -> Response:
            with speaking_to(request):
                return handler(request, error)

        return answer

    def refused(self, request: Request, error: Exception) -> Response:
        """Return what Teijo says of an error it knows."""
        assert isinstance(error, TeijoError)
        status = next((each for kind, each in _STATUS if isinstance(error, kind)), 500)
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
        path = request.url.path
        if path.startswith("/api/") or path.endswith("/events") or path == UPLOAD:
            body = {"error": {"message": message, "remedy": remedy}}
            return JSONResponse(body, status_code=status)
        return HTMLResponse(self._page(message, remedy), status_code=status)

    def _page(self, message: str, remedy: str) -> str:
        return self.site.templates.made(
            "error.html", title=tr("Not possible"), message=visible(message), remedy=visible(remedy)
        )
