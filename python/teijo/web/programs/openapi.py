"""All that other programs may ask for, as one OpenAPI 3.1 document."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from teijo.web.guard import COOKIE
from teijo.web.programs import compare, devices, metrics, runs
from teijo.web.programs.describing import FAILED, REFUSED, Json, asked_json, table, text
from teijo.web.site import Site

VERSION: Final = "1"
"""Of what is answered under /api/v1: it changes when an answer loses something or means another."""
ADDRESS: Final = "/api/v1/openapi.json"
_ROOM: Final = (runs, compare, devices, metrics)
"""The modules whose `describe` is told. A test holds the routes of the server against it."""


def routes(site: Site) -> list[Route]:
    """Return the address of the document."""

    async def openapi(_: Request) -> Response:
        return JSONResponse(document())

    return [site.route(ADDRESS, openapi)]


def describe() -> Mapping[str, Json]:
    """Return the document's own address."""
    schema = {"type": "object", "description": "An OpenAPI 3.1 document."}
    return {ADDRESS: asked_json("This document.", schema)}


@cache
def document() -> Json:
    """Return the document; nobody may change it."""
    paths = {path: item for module in _ROOM for path, item in module.describe().items()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Teijo: runs of a folder",
            "version": VERSION,
            "description": "Everything is read, nothing is changed: GET and HEAD alone, without "
            "content. One client has 300 requests at once, and 60 a second after that. Numbers "
            "are in the units that their descriptions name.",
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"cookie": []}, {"token": []}],
        "paths": {**paths, **describe()},
        "components": {
            "schemas": {"Error": _ERROR},
            "responses": {
                **{status: _refused(meaning) for status, meaning in REFUSED.items()},
                **{status: _failed(meaning) for status, meaning in FAILED.items()},
            },
            "securitySchemes": {
                "cookie": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": COOKIE,
                    "description": "What a browser keeps that has opened the printed address.",
                },
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of --token. A server of this machine alone has none.",
                },
            },
        },
    }


_ERROR: Final = table(
    {
        "error": table(
            {
                "message": text("What is wrong, in the language that is asked for."),
                "remedy": text("What can be done about it."),
            }
        )
    },
    "Why there is no answer.",
)


def _refused(meaning: str) -> Json:
    return {"description": meaning, "content": {"text/plain": {"schema": {"type": "string"}}}}


def _failed(meaning: str) -> Json:
    schema = {"$ref": "#/components/schemas/Error"}
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}
