"""The files that belong to the page itself: nothing of it comes from elsewhere."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from teijo.report import html
from teijo.report.chart import svg

_STATIC: Final = Path(__file__).with_name("static")
_WEIGHTS: Final = (("Regular", 400), ("SemiBold", 600))


@dataclass
class Asset:
    """One file: read when it is first asked for."""

    media_type: str
    read: Callable[[], bytes]

    @cached_property
    def content(self) -> bytes:
        """What is in it."""
        return self.read()

    @cached_property
    def tag(self) -> str:
        """What changes with its content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


def _style() -> bytes:
    faces = "\n".join(
        f"@font-face {{ font-family: Inter; font-weight: {weight}; font-display: swap; "
        f"src: url(/static/Inter-{name}.woff2) format('woff2'); }}"
        for name, weight in _WEIGHTS
    )
    return f"{faces}\n{html.style()}\n{(_STATIC / 'app.css').read_text('utf-8')}".encode()


def _font(name: str) -> Asset:
    return Asset("font/woff2", (svg.FONTS / "web" / name).read_bytes)


_SCRIPT: Final = "text/javascript; charset=utf-8"
_OWN_SCRIPTS: Final = ("index.js", "run.js", "start.js", "job.js")
ASSETS: Final[Mapping[str, Asset]] = {
    "app.css": Asset("text/css; charset=utf-8", _style),
    "vega.js": Asset(_SCRIPT, lambda: svg.javascript().encode()),
    "report.js": Asset(_SCRIPT, lambda: html.script().encode()),
    **{name: Asset(_SCRIPT, (_STATIC / name).read_bytes) for name in _OWN_SCRIPTS},
    "icon.svg": Asset("image/svg+xml", (_STATIC / "icon.svg").read_bytes),
    **{f"Inter-{name}.woff2": _font(f"Inter-{name}.woff2") for name, _ in _WEIGHTS},
}
