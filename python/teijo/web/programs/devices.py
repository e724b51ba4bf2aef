"""The devices, and how each drive is, as JSON: as `teijo devices` and `teijo health` give it."""

import json
from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from teijo.api.device_json import devices_json, health_json
from teijo.outside.text import visible_json
from teijo.web.drives import Listed, id_of, simulated
from teijo.web.programs.describing import Json, asked_json, opened, parameter, rows, table, text
from teijo.web.site import Site

ADDRESS: Final = "/api/v1/devices"


def routes(site: Site) -> list[Route]:
    """Return the addresses of the devices for programs."""
    drives = site.desk.drives

    async def devices(_: Request) -> Response:
        return _json(_listed(await drives.listed()))

    async def device(request: Request) -> Response:
        found = await drives.look(request.path_params["key"])
        if found.health is None or found.original is None:
            assert found.trouble is not None
            raise found.trouble.with_traceback(None)
        return _json(health_json(found.health, found.original))

    return [site.route(ADDRESS, devices), site.route(f"{ADDRESS}/{{key:str}}", device)]


def describe() -> Mapping[str, Json]:
    """Return the addresses of the devices in the words of OpenAPI."""
    one = rows({"type": "object"}, "As `teijo devices --json` prints it, with the `id` of each.")
    listed = table(dict.fromkeys(("block", "simulated", "simulated_kinds"), one))
    health = opened("As `teijo health --json` prints it (docs/health.md).")
    key = parameter("key", text("The id of a device in the list."), place="path")
    return {
        ADDRESS: asked_json("The devices of the machine, and simulated ones.", listed),
        f"{ADDRESS}/{{key}}": asked_json("How a drive is, by its own word.", health, (key,)),
    }


def _listed(found: Listed) -> dict[str, object]:
    """Return the list with the id of each device beside what it is."""
    told = devices_json(found.block, found.presets, found.kinds)
    block = [one | {"id": id_of(str(one["target"]))} for one in told["block"]]
    presets = zip(told["simulated"], found.presets, strict=True)
    named = [one | {"id": id_of(simulated(preset))} for one, preset in presets]
    return {**told, "block": block, "simulated": named}


def _json(value: object) -> Response:
    # What a drive says may hold what is no text in UTF-8.
    text = visible_json(json.dumps(value, ensure_ascii=False))
    return Response(text, media_type="application/json")
