"""A comparison as JSON."""

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from teijo.web.comparisons import asked_of
from teijo.web.programs.describing import Json, asked_json, parameter, rows, table, text
from teijo.web.site import Site

ADDRESS: Final = "/api/v1/compare"


def routes(site: Site) -> list[Route]:
    """Return the address of comparisons for programs."""

    async def compare(request: Request) -> Response:
        found = await site.desk.comparisons.made(asked_of(request.query_params))
        if found.trouble is not None:
            raise found.trouble
        return JSONResponse(found.json)

    return [site.route(ADDRESS, compare)]


def describe() -> Mapping[str, Json]:
    """Return the address of comparisons in the words of OpenAPI."""
    told = rows({"type": "object"}, "As `teijo compare --json` prints it (docs/compare.md).")
    answer = table(
        {
            "schema": text("The name and the version of this answer."),
            "kind": text("What is compared: one test, or campaigns."),
            **dict.fromkeys(("sides", "hosts", "deviations", "tests"), told),
        }
    )
    return {ADDRESS: asked_json("Runs held against each other.", answer, _CHOOSING)}


_CHOOSING: Final = (
    parameter(
        "run",
        rows({"type": "string"}, "The ids of 2 to 24 runs; the first is what others are held to."),
        explode=True,
    ),
    parameter(
        "side",
        rows({"type": "string"}, "The side of each run, in the same order; runs of one repeat."),
        explode=True,
    ),
    parameter("allow", rows({"type": "string"}, "Conditions that may differ."), explode=True),
)
