"""What a device says of itself once it was configured: as detail of a record, and back."""

import json
from collections.abc import Mapping
from dataclasses import fields, replace

from teijo.terms.geometry import Geometry, Identity

_SIZES = tuple(each.name for each in fields(Geometry))
_NAMES = (
    "kind", "target", "model", "serial", "firmware", "interface", "wwid", "write_cache"
)  # fmt: skip


def detail_of(identity: Identity, geometry: Geometry) -> dict[str, str]:
    """Return a device as detail of an answer: sizes in bytes, `facts` as JSON, no empty name."""
    names = {name: str(getattr(identity, name)) for name in _NAMES}
    facts = json.dumps(dict(identity.facts), sort_keys=True, ensure_ascii=False)
    return {
        **{name: text for name, text in names.items() if text},
        **{name: str(getattr(geometry, name)) for name in _SIZES},
        "facts": facts,
    }


def identity_in(detail: Mapping[str, str], before: Identity) -> Identity:
    """Return the names that a detail holds, of a device that was called `before` until then."""
    if "target" not in detail:
        return before
    names = {name: detail.get(name, "") for name in _NAMES if name != "kind"}
    return replace(before, **names)  # type: ignore[arg-type]


def geometry_in(detail: Mapping[str, str]) -> Geometry | None:
    """Return the sizes that a detail holds, None where they are not known (a device on paper)."""
    if not all(name in detail for name in _SIZES):
        return None
    return Geometry(**{name: int(detail[name]) for name in _SIZES})


def facts_in(detail: Mapping[str, str]) -> dict[str, str]:
    """Return the device's further facts by name; empty where they are not known."""
    found = json.loads(detail.get("facts", "{}"))
    return {str(name): str(value) for name, value in found.items()}
