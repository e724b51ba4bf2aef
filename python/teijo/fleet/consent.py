"""The consent to a fleet: every serial that may be destroyed, and the digest of the one plan."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ValidationError

from teijo.errors import PlanError, UnsafeError
from teijo.fleet.plan import Plan
from teijo.outside.file import TOML_MOST, Unreadable, read_text, toml_of

_HEAD: Final = """\
# Consent to lose all data on these drives, for this plan alone. Take away what must not be lost.
"""


class Consent(BaseModel, frozen=True, extra="forbid"):
    """What a person agreed to: the plan by its digest, and the drives by their serials."""

    plan: str
    destroy: tuple[str, ...] = ()


def consent_text(plan: Plan, serials: Sequence[str]) -> str:
    """Return the consent to all drives of a plan, as a file for a person to look through."""
    lines = [_HEAD + f"plan = {json.dumps(plan.digest)}", "destroy = ["]
    lines += [f"    {json.dumps(serial)}," for serial in serials]
    return "\n".join([*lines, "]", ""])


def read_consent(path: Path) -> Consent:
    """Return the consent in a file.

    Raises:
        PlanError: it cannot be read, or is none.
    """
    try:
        return Consent.model_validate(toml_of(read_text(path, most_bytes=TOML_MOST)))
    except Unreadable as error:
        raise PlanError(f"The consent {path} {error}", remedy="Name a TOML file.") from error
    except ValidationError as error:
        raise PlanError(
            f"{path} is no consent: it has plan and destroy, and nothing else.",
            remedy="`teijo fleet consent PLAN` writes one.",
        ) from error


def objections(plan: Plan, serials: Sequence[str], consent: Consent | None) -> list[str]:
    """Return what is missing of the consent to these drives, a line each; nothing of none."""
    if not serials:
        return []
    if consent is None:
        return [f"There is no consent to destroy {serial}" for serial in serials]
    if consent.plan != plan.digest:
        return ["The consent belongs to another plan: its digest is not this one's"]
    given = set(consent.destroy)
    return [f"There is no consent to destroy {each}" for each in serials if each not in given]


def refuse(problems: Sequence[str]) -> None:
    """Refuse to begin where consent is missing.

    Raises:
        UnsafeError: it is; nothing was written.
    """
    if problems:
        raise UnsafeError(
            "The fleet may not begin.",
            remedy="`teijo fleet consent PLAN` prints the consent to all its drives: look it "
            "through, keep it in a file, and name that by --consent.",
        ).naming(problems)
