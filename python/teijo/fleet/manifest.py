"""What a fleet is, written once before it begins: its plan, its drives, their hosts and run files.

It is no state: how far a fleet is, its run files tell. And it is no consent: who goes on with a
fleet names the consent again.
"""

import json
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ValidationError

from teijo import creating
from teijo.errors import HostError, PlanError, UnsafeError
from teijo.fleet.order import Order
from teijo.fleet.plan import Plan
from teijo.outside.file import Unreadable, read_text
from teijo.outside.text import shell_path
from teijo.runfile import trust

NAME: Final = "fleet.json"
RUNS: Final = "runs"
"""The folder of a fleet's run files, those of other hosts too once they are collected."""
_BYTES_MOST: Final = 64 << 20
_ANEW: Final = "Begin the fleet anew: teijo fleet run PLAN"


class HostSeen(BaseModel, frozen=True, extra="forbid"):
    """A host as it was when the fleet began: where its run files are, and what it runs."""

    folder: str
    name: str = ""
    teijo: str = ""
    build: str = ""
    python: str = ""
    kernel: str = ""
    cpus: int = 0


class Manifest(BaseModel, frozen=True, extra="forbid"):
    """A fleet. `digest` is that of `plan`; `seed` is what the seeds of its runs follow from."""

    version: Literal[1] = 1
    digest: str
    plan: Plan
    seed: int
    hosts: Mapping[str, HostSeen]
    orders: tuple[Order, ...]


def new_seed(plan: Plan) -> int:
    """Return the plan's seed, or one that is drawn."""
    return secrets.randbits(32) if plan.seed is None else plan.seed


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Keep what a fleet is in its folder.

    Raises:
        PlanError: there is a fleet in it already.
        HostError: the folder cannot be written.
    """
    text = json.dumps(manifest.model_dump(mode="json"), indent=1, ensure_ascii=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        creating.create_whole(folder / NAME, text.encode())
    except FileExistsError as error:
        raise PlanError(
            f"There is a fleet in {folder} already.",
            remedy=f"Go on with it: `teijo fleet resume {folder}`; or name another folder with -o.",
        ) from error
    except OSError as error:
        raise HostError(
            f"{folder} cannot hold the fleet: {error.strerror}.",
            remedy="Name a folder that can be written with -o.",
        ) from error


def check_own(folder: Path) -> None:
    """Make sure that nobody else can have written what a fleet is, before it is acted on.

    Raises:
        UnsafeError: somebody can, or it is no plain file. PlanError: there is none.
    """
    path = folder / NAME
    try:
        status = path.lstat()
    except OSError as error:
        raise PlanError(
            f"{path} cannot be read: {error.strerror}.", remedy="Name the folder of a fleet."
        ) from error
    if not (stat.S_ISREG(status.st_mode) and trust.is_own(status)):
        raise UnsafeError(
            f"{path} can have been written by somebody else; nothing was begun.",
            remedy=f"If you trust what it says, make it yours alone: chmod go-w {shell_path(path)}",
        )


def read_manifest(folder: Path) -> Manifest:
    """Return what a fleet is.

    Raises:
        PlanError: there is none in the folder, or its file contradicts itself.
    """
    path = folder / NAME
    try:
        manifest = Manifest.model_validate_json(read_text(path, most_bytes=_BYTES_MOST))
    except Unreadable as error:
        raise PlanError(f"{path} {error}", remedy="Name the folder of a fleet.") from error
    except (ValidationError, RecursionError) as error:
        raise PlanError(f"{path} is none of a fleet.", remedy=_ANEW) from error
    hosts = {order.host for order in manifest.orders}
    runs = [order.run for order in manifest.orders]
    sound = (
        manifest.digest == manifest.plan.digest
        and hosts <= set(manifest.hosts)
        and len(set(runs)) == len(runs)
    )
    if not sound:
        raise PlanError(f"{path} contradicts itself.", remedy=_ANEW)
    return manifest
