"""Who may ask, for what, how often: every request goes through here before anything is read."""

import hmac
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from teijo.units import MIB
from teijo.web.forms import FORM_BYTES_MOST
from teijo.web.serving import Serving

COOKIE: Final = "teijo"
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' "
    "data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With "no-referrer" a browser does not say either which page a form is from.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
READING: Final = ("GET", "HEAD")
CHANGING: Final = "POST"
UPLOAD: Final = "/upload"
UPLOAD_BYTES_MOST: Final = 512 * MIB
BURST: Final = 300.0
"""Requests one client may make at once."""
PER_SECOND: Final = 60.0
CLIENTS_KEPT: Final = 1_000
_DIGITS_MOST: Final = 16


@dataclass
class _Bucket:
    """What is left of a client's requests."""

    left: float
    at_s: float


@dataclass
class Rates:
    """How many requests each client has left; the clients seen last are kept."""

    buckets: OrderedDict[str, _Bucket] = field(default_factory=OrderedDict)

    def take(self, client: str, now_s: float) -> bool:
        """Take one request; False where none is left."""
        bucket = self.buckets.pop(client, None) or _Bucket(BURST, now_s)
        bucket.left = min(BURST, bucket.left + (now_s - bucket.at_s) * PER_SECOND)
        bucket.at_s = now_s
        self.buckets[client] = bucket
        while len(self.buckets) > CLIENTS_KEPT:
            self.buckets.popitem(last=False)
        if bucket.left < 1:
            return False
        bucket.left -= 1
        return True


class Guard:
    """Refuses what must not be answered, and gives every answer the headers that keep it apart."""

    def __init__(self, app: ASGIApp, serving: Serving) -> None:
        """Let through whom `serving` lets ask."""
        self.app = app
        self.serving = serving
        self.rates = Rates()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if "cache-control" not in headers:
                    headers["cache-control"] = "no-store"
            await send(message)

        assert scope["type"] == "http", "the server speaks nothing else"
        await (self._refusal(scope) or self.app)(scope, receive, sealed)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is refused, None for one that may be answered."""
        headers = Headers(scope=scope)
        if not self._is_ours(headers.getlist("host")):
            return _said(421, "This server has another name.")
        if not self._is_from_here(headers):
            return _said(403, "Another page asked for this.")
        if scope["method"] not in READING and not self._may_change(scope, headers):
            return _said(405, "Nothing can be changed here.")
        if not self._is_short(scope, headers):
            return _said(413, "This is too much.")
        client = scope["client"][0] if scope.get("client") else ""
        if not self.rates.take(client, time.monotonic()):
            return _said(429, "Too many requests; wait a second.", {"retry-after": "1"})
        return self._unknown(scope, headers) if self.serving.token else None

    def _may_change(self, scope: Scope, headers: Headers) -> bool:
        """Tell whether a request may change something: a page of this server must have sent it."""
        return scope["method"] == CHANGING and not self.serving.read_only and "origin" in headers

    def _is_short(self, scope: Scope, headers: Headers) -> bool:
        """Tell whether a request says how much content it has, and that is little enough."""
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers or not (length.isascii() and length.isdigit()):
            return False
        if scope["method"] in READING:
            most = 0
        else:
            most = UPLOAD_BYTES_MOST if scope["path"] == UPLOAD else FORM_BYTES_MOST
        return len(length) < _DIGITS_MOST and int(length) <= most

    def _is_ours(self, hosts: list[str]) -> bool:
        """Tell whether the browser knows this server by one of its own names."""
        if len(hosts) != 1:
            return False
        name, port = _split(hosts[0])
        left_out = port is None and self.serving.port == self.serving.usual_port
        if port != str(self.serving.port) and not left_out:
            return False
        # Which addresses a machine has changes; an address cannot be made to point elsewhere.
        return name in self.serving.names or (self.serving.is_everywhere and _is_address(name))

    def _is_from_here(self, headers: Headers) -> bool:
        """Tell whether a page of this server asks, or somebody who typed the address."""
        site = headers.get("sec-fetch-site", "none")
        # A link may lead here from anywhere; a form of another page may not.
        navigates = headers.get("sec-fetch-mode") == "navigate" and "origin" not in headers
        if site not in ("none", "same-origin") and not navigates:
            return False
        origin = headers.get("origin")
        if origin is None:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme == self.serving.scheme and parts.netloc == headers.get("host")

    def _unknown(self, scope: Scope, headers: Headers) -> Response | None:
        """Return what somebody is told who does not show the token; it is taken from the address
        once, and then kept by the browser where no script sees it.
        """
        if self._knows(headers):
            return None
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in pairs if name == "token"]
        if len(given) != 1 or not self._is_token(given[0]):
            return _said(401, "This page asks for a token: open the address the server printed.")
        rest = urlencode([pair for pair in pairs if pair[0] != "token"])
        # A path like "//host" would lead elsewhere, and so would one with a backslash.
        path = "/" + quote(scope["path"].lstrip("/"))
        answer = RedirectResponse(path + (f"?{rest}" if rest else ""), status_code=303)
        answer.set_cookie(
            COOKIE,
            self.serving.token,
            path="/",
            secure=self.serving.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return answer

    def _knows(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_token(given.strip()):
            return True
        jar: SimpleCookie = SimpleCookie()
        try:
            jar.load(headers.get("cookie", ""))
        except CookieError:
            return False
        return COOKIE in jar and self._is_token(jar[COOKIE].value)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.serving.token.encode())


def _said(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(text + "\n", status_code=status, headers=headers)


def _split(host: str) -> tuple[str, str | None]:
    """Return the name and the port of a Host header."""
    if host.startswith("["):
        name, _, rest = host[1:].partition("]")
        return name.lower(), rest.removeprefix(":") or None
    name, colon, port = host.partition(":")
    return name.lower(), port if colon else None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
