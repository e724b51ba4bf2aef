"""A comparison as JSON."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from teijo.web.comparisons import asked_of
from teijo.web.site import Site


def routes(site: Site) -> list[Route]:
    """Return the address of comparisons for programs."""

    async def compare(request: Request) -> Response:
        found = await site.desk.comparisons.made(asked_of(request.query_params))
        if found.trouble is not None:
            raise found.trouble
        return JSONResponse(found.json)

    return [site.route("/api/v1/compare", compare)]
