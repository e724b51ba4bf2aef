"""The verb `methods`: what can be measured, by which versions, with which settings."""

from typing import TYPE_CHECKING, Annotated

import typer

from teijo.cli import talk
from teijo.cli.options import Json, Spec

if TYPE_CHECKING:
    from teijo.methods.method import Method
    from teijo.methods.registry import Card

EXAMPLES = (
    "teijo methods                  every method, one a line",
    "teijo methods iops             its versions and settings with their defaults",
    "teijo methods iops --json      the same for a program",
)


def verb(
    method: Annotated[
        str | None, typer.Argument(metavar="METHOD", help="Show this one's settings.")
    ] = None,
    spec: Spec = "",
    as_json: Json = False,
) -> None:
    """List the methods, or one method's versions and settings."""
    from teijo.methods import registry

    if method is None:
        listed = registry.CARDS
        if as_json:
            talk.put_json([summary(one) for one in listed])
            return
        for line in talk.columns(
            ("METHOD", "MEASURES", "VERSIONS"),
            [(one.id, one.summary, ", ".join(one.specs) or "-") for one in listed],
        ):
            talk.put(line)
        return
    show(registry.method_named(method), spec, as_json)


def summary(method: "Method | Card") -> dict[str, object]:
    """Return one method's line as JSON-ready values."""
    return {
        "id": method.id,
        "title": method.title,
        "summary": method.summary,
        "specs": list(method.specs),
        "default_spec": method.default_spec,
    }


def show(method: "Method", spec: str, as_json: bool) -> None:
    """Print one method: what it is, and its settings with the defaults of one version."""
    from teijo.methods.knobs import describe
    from teijo.terms.geometry import Geometry

    drive = Geometry(capacity_bytes=10**12, nominal_capacity_bytes=10**12)
    spec = spec or method.default_spec
    settings = describe(method.settings(spec, {}, drive))
    if as_json:
        listed = [
            {"key": one.key, "aliases": one.aliases, "default": one.value, "meaning": one.meaning}
            for one in settings
        ]
        whole = summary(method) | {"spec": spec, "settings": listed}
        talk.put_json(whole)
        return
    talk.put_lines(f"{method.id}: {method.title}\n\n{method.summary}\n")
    if method.specs:
        versions = ", ".join(f"{one} (default)" if one == method.default_spec else one
                             for one in method.specs)  # fmt: skip
        talk.put_lines(f"Versions: {versions}\n")
        talk.put_lines(f"Settings (--set KEY=VALUE), as {spec} has them on a 1 TB drive:\n")
    else:
        talk.put_lines("Settings (--set KEY=VALUE):\n")
    rows = [(one.key, one.value, one.meaning + also(one.aliases)) for one in settings]
    for line in talk.columns(("KEY", "DEFAULT", "MEANING"), rows):
        talk.put("  " + line)


def also(aliases: tuple[str, ...]) -> str:
    """Return what else a key may be called, in brackets."""
    return f" (also {', '.join(aliases)})" if aliases else ""
