"""Teijo measures storage so that its numbers can be trusted. The door is `teijo.api`.

`teijo.run`, `teijo.open` and the other verbs are that door's, loaded when they are first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teijo.api import (
        Run,
        analyse,
        export,
        open,  # noqa: A004
        preview,
        resume,
        run,
        start,
        watch,
    )

__all__ = ["Run", "analyse", "export", "open", "preview", "resume", "run", "start", "watch"]


def __getattr__(name: str) -> object:
    """Load a verb with all it needs; `import teijo` alone stays quick (PEP 562)."""
    if name in __all__:
        from teijo import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
