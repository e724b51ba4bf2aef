"""What the examples of articles share: where runs and reports go, and a sentence held to a run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from teijo import api
from teijo.report import html

SEED = 1
Rests = Literal["prediction", "fit", "measured"]


@dataclass(frozen=True, kw_only=True)
class Result:
    """One sentence of an article, what was found, and whether that is within it."""

    article: str
    said: str
    found: str
    met: bool
    rests: Rests = "prediction"
    """A parameter of the device was fitted to this very sentence, or the device is a real one."""
    why: str = ""
    """Of what is not met, and is known not to be: the reason. It is told, and is no failure."""


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Where runs and reports go."""

    folder: Path

    def run(self, name: str, method: str, target: str, **settings: str) -> api.Run:
        """Return a run, measured unless its file is there already, and write its report."""
        path = self.folder / f"{name}.teijo"
        if not path.exists():
            api.run(method, f"sim:{target}", output=path, settings=settings, seed=SEED)
        run = api.open(path)
        path.with_suffix(".html").write_text(html.render(run.document()), "utf-8")
        return run


Article = Callable[[Desk], list[Result]]
