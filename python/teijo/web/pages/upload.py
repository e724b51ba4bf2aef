"""Take a run file that a browser brings."""

import asyncio
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from teijo.errors import UsageError
from teijo.runfile.shelf import id_of
from teijo.speech import tongue
from teijo.web.forms import WORD_HEADER
from teijo.web.guard import UPLOAD, UPLOAD_BYTES_MOST
from teijo.web.site import Site
from teijo.web.uploading import Upload

_NAME_HEADER = "x-teijo-name"


def routes(site: Site) -> list[Route]:
    """Return the address that takes a file."""
    taking = asyncio.Lock()

    async def upload(request: Request) -> Response:
        site.forms.check(request.headers.get(WORD_HEADER, ""))
        name = unquote(request.headers.get(_NAME_HEADER, ""))
        if taking.locked():
            raise UsageError("Another file is being taken.", remedy="Send it again in a moment.")
        async with taking:
            sent = Upload(site.desk.folder, name)
            place = await sent.take(request.stream(), UPLOAD_BYTES_MOST)
        key = id_of(place.name)
        return JSONResponse({"href": f"/runs/{quote(key)}?lang={tongue.spoken()}", "id": key})

    return [site.route(UPLOAD, upload, "POST")]
