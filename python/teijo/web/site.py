"""What all answers share: the desk, the templates, and the language of whoever asks."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from teijo.outside.text import visible
from teijo.speech import tongue
from teijo.speech.tongue import tr
from teijo.web.desk import Desk
from teijo.web.forms import Forms
from teijo.web.serving import Serving

Handler = Callable[[Request], Awaitable[Response]]
_LANGUAGES: Final = (("en", "English"), ("ja", "日本語"))
START: Final = "/start"
_BAR: Final = (("/", "Runs"), (START, "Start a run"), ("/devices", "Devices"))
"""What every page leads to."""
_TEXT_MOST: Final = 200
_HERE: Final[ContextVar[str]] = ContextVar("here", default="/")
"""The address of the page that is made, without its language."""


class Templates:
    """The templates of the pages, read once."""

    def __init__(self, serving: Serving, word: str) -> None:
        """Read them; `word` is what their forms know."""
        self._word = word
        self._folder = shown(str(serving.folder))
        self._changes = not serving.read_only
        self._environment = Environment(
            loader=FileSystemLoader(Path(__file__).with_name("templates")),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
        )

    def made(self, name: str, **values: Any) -> str:
        """Return a page in the language that is spoken."""
        here = _HERE.get()
        mark = "&" if "?" in here else "?"
        return self._environment.get_template(name).render(
            tr=tr,
            language=tongue.spoken(),
            languages=_LANGUAGES,
            bar=[(path, tr(title)) for path, title in _BAR if self._changes or path != START],
            changes=self._changes,
            word=self._word,
            path=here.partition("?")[0],
            lang_query=f"?lang={tongue.spoken()}",
            here_in=lambda code: f"{here}{mark}lang={code}",
            folder=self._folder,
            **values,
        )


@dataclass(frozen=True)
class Site:
    """A folder that is served, and how its pages are made."""

    desk: Desk
    templates: Templates
    forms: Forms

    def route(self, path: str, handler: Handler, method: str = "GET") -> Route:
        """Return an address whose answer is in the language of the request."""

        async def answer(request: Request) -> Response:
            with speaking_to(request):
                return await handler(request)

        return Route(path, answer, methods=[method])


@contextmanager
def speaking_to(request: Request) -> Iterator[None]:
    """Speak the language of whoever asks, as long as the block goes on."""
    _HERE.set(_here(request))
    with tongue.speaking(language_of(request)):
        yield


def shown(text: str) -> str:
    """Return text from outside as a page may have it: one line, and not without end."""
    return visible(text, most=_TEXT_MOST)


def attached(name: str, text: str) -> Response:
    """Return a page that the browser keeps as a file."""
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return HTMLResponse(text, headers={"content-disposition": disposition})


def language_of(request: Request) -> str:
    """Return the language that the address names, or else the browser."""
    asked = request.query_params.get("lang", "")
    if asked in tongue.TONGUES:
        return asked
    for part in request.headers.get("accept-language", "").split(",")[:20]:
        code = part.partition(";")[0].strip().partition("-")[0].lower()
        if code in tongue.TONGUES:
            return code
    return tongue.spoken()


def _here(request: Request) -> str:
    """Return the address of a request without its language."""
    pairs = [pair for pair in request.query_params.multi_items() if pair[0] != "lang"]
    path = quote(request.url.path)
    return f"{path}?{urlencode(pairs)}" if pairs else path
