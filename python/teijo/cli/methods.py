"""The verb `methods`: what can be measured, by which versions, with which settings."""

from typing import TYPE_CHECKING, Annotated

import typer

from teijo.cli import console
from teijo.cli.options import Json, Spec
from teijo.speech import tongue

if TYPE_CHECKING:
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
            console.put_json([summary(one) for one in listed])
            return
        for line in console.columns(
            ("METHOD", "MEASURES", "VERSIONS"),
            [(one.id, tongue.said(one.summary), ", ".join(one.specs) or "-") for one in listed],
        ):
            console.put(line)
        return
    show(registry.card_named(method), spec, as_json)


def summary(card: "Card") -> dict[str, object]:
    """Return one method's line as JSON-ready values."""
    return {
        "id": card.id,
        "title": card.title,
        "summary": card.summary,
        "specs": list(card.specs),
        "default_spec": card.default_spec,
    }


def show(card: "Card", spec: str, as_json: bool) -> None:
    """Print one method: what it is, and its settings with the defaults of one version."""
    from teijo.methods.knobs import describe
    from teijo.methods.registry import loaded
    from teijo.terms.geometry import Geometry
    from teijo.units import TERA

    drive = Geometry(capacity_bytes=TERA, nominal_capacity_bytes=TERA)
    spec = spec or card.default_spec
    settings = describe(loaded(card).settings(spec, {}, drive))
    if as_json:
        listed = [
            {"key": one.key, "aliases": one.aliases, "default": one.value, "meaning": one.meaning}
            for one in settings
        ]
        whole = summary(card) | {"spec": spec, "settings": listed}
        console.put_json(whole)
        return
    title = tongue.reported(card.title)
    console.put_lines(f"{card.id}: {title}\n\n{tongue.said(card.summary)}\n")
    if card.specs:
        versions = ", ".join(
            tongue.tr("{spec} (default)", spec=one) if one == card.default_spec else one
            for one in card.specs
        )
        console.put_lines(tongue.tr("Versions: {versions}", versions=versions) + "\n")
        of_a_spec = "Settings (--set KEY=VALUE), as {spec} has them on a 1 TB drive:"
        console.put_lines(tongue.tr(of_a_spec, spec=spec) + "\n")
    else:
        console.put_lines(tongue.tr("Settings (--set KEY=VALUE):") + "\n")
    rows = [
        (one.key, one.value, tongue.reported(one.meaning) + also(one.aliases)) for one in settings
    ]
    for line in console.columns(("KEY", "DEFAULT", "MEANING"), rows):
        console.put("  " + line)


def also(aliases: tuple[str, ...]) -> str:
    """Return what else a key may be called, in brackets."""
    return tongue.tr(" (also {names})", names=", ".join(aliases)) if aliases else ""
