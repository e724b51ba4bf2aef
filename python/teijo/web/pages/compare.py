"""The page of a comparison: which runs, what they are to each other, and its report."""

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from teijo.compare.conditions import Deviation, NotAlike
from teijo.compare.sides import SIDES_LEAST
from teijo.errors import UsageError
from teijo.report import html
from teijo.report.language import Language
from teijo.speech import tongue
from teijo.speech.tongue import said, tr
from teijo.web.comparisons import Asked, Compared, asked_of
from teijo.web.site import Site, attached, shown


def routes(site: Site) -> list[Route]:
    """Return the addresses of a comparison."""
    comparisons = site.desk.comparisons

    async def page(request: Request) -> Response:
        asked = asked_of(request.query_params)
        found = await comparisons.made(asked, shown=True)
        is_mistake = found.trouble is not None and not isinstance(found.trouble, NotAlike)
        return HTMLResponse(_page(site, asked, found), status_code=400 if is_mistake else 200)

    async def file(request: Request) -> Response:
        found = await comparisons.made(asked_of(request.query_params))
        text = await asyncio.to_thread(html.render, found.whole, Language(tongue.spoken()))
        return attached(f"{found.whole.name}.html", text)

    return [site.route("/compare", page), site.route("/compare/report.html", file)]


def _page(site: Site, asked: Asked, found: Compared) -> str:
    parts = found.parts.get(tongue.spoken())
    refused = found.trouble if isinstance(found.trouble, NotAlike) else None
    return site.templates.made(
        "compare.html",
        title=tr("Comparison"),
        parts=parts,
        lines=_lines(asked, found),
        words=refused.asked if refused else asked.allow,
        refused=[_refused(each) for each in refused.refused] if refused else [],
        message=_message(found.trouble),
        remedy=_remedy(found.trouble),
        file_href=_href(asked, "/compare/report.html"),
    )


def _lines(asked: Asked, found: Compared) -> list[dict[str, Any]]:
    lang = urlencode({"lang": tongue.spoken()})
    lines = []
    for place, (key, side, run) in enumerate(zip(asked.keys, asked.sides, found.runs, strict=True)):
        about = (run.device, run.serial, run.started_at[:16].replace("T", " "))
        lines.append(
            {
                "key": key,
                "href": f"/runs/{quote(key)}?{lang}",
                "file": shown(run.file),
                "about": shown(" · ".join(each for each in about if each)),
                "side": side,
                "lead": _href(asked.led_by(place)) if place else "",
                "without": _href(asked.without(place)) if len(asked.keys) > SIDES_LEAST else "",
            }
        )
    return lines


def _href(asked: Asked, path: str = "/compare") -> str:
    return f"{path}?{urlencode([*asked.pairs, ('lang', tongue.spoken())])}"


def _refused(each: Deviation) -> Sequence[str]:
    values = ", ".join(f"{label}: {value}" for label, value in each.values)
    return [shown(text) for text in (each.aspect, each.test, each.condition)] + [shown(values)]


def _message(trouble: UsageError | None) -> str:
    match trouble:
        case None:
            return ""
        case NotAlike():
            return tr("These runs were not made alike, so their numbers do not compare.")
        case _:
            return shown(said(trouble.message))


def _remedy(trouble: UsageError | None) -> str:
    match trouble:
        case None:
            return ""
        case NotAlike():
            return tr("Run one again as the other was, or let them differ: every page says so.")
        case _:
            return shown(said(trouble.remedy))
