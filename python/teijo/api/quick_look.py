"""A quick look at a device, at a file, or at one that is made for it and removed at the end."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from teijo.api.acting import run
from teijo.api.reading import Run
from teijo.device import survey
from teijo.device.sessions import Engine
from teijo.errors import TargetError, UnsafeError
from teijo.outside.text import unspeakable
from teijo.runner.events import Observer, unobserved
from teijo.runner.interrupt import Interrupt
from teijo.units import format_size, parse_size

SIZE = "1GiB"
"""How large a file is that is made, where nothing else is asked; as CrystalDiskMark's."""


def quick(
    target: str,
    *,
    output: Path | str,
    size: str = "",
    read_only: bool = False,
    settings: Mapping[str, str] | None = None,
    seed: int | None = None,
    destroy: str | None = None,
    overwrite: bool = False,
    engine: Engine = "native",
    accept_warnings: Sequence[str] = (),
    limits: Sequence[str] = (),
    observer: Observer = unobserved,
    interrupt: Interrupt | None = None,
) -> Run:
    """Measure a target by the method `quick`, and return the run from its sealed file.

    In a folder, and where no file is, a file of `size` is made, measured, and removed at the end,
    also after an interruption or a kill; a resume makes it anew. Of what exists, `size` is how
    much is touched; to write it takes consent as in `run`, and with `read_only` none.

    Raises:
        TeijoError: as `run`.
    """
    place, made = quick_target(target, size)
    seen = survey(place, settings)
    asked = dict(seen.settings)
    if made:
        asked.setdefault("prepare", "no")  # it was laid out right before
        asked.setdefault("amount", str(seen.geometry.capacity_bytes))
    elif size:
        asked.setdefault("amount", size)
    if read_only:
        asked["writes"] = "no"
    try:
        return run(
            "quick",
            # The survey goes on to the run: a target is looked at, and a simulated one made, once.
            replace(seen, settings=asked),
            output=output,
            seed=seed,
            destroy=destroy,
            overwrite=overwrite,
            engine=engine,
            accept_warnings=accept_warnings,
            limits=limits,
            observer=observer,
            interrupt=interrupt,
        )
    except UnsafeError as refusal:
        if read_only or made:
            raise
        raise UnsafeError(
            refusal.message,
            remedy=f"{refusal.remedy} Or measure reads alone, which need no consent: --read-only.",
        ) from refusal


def quick_target(text: str, size: str = "") -> tuple[str, bool]:
    """Return the target to run on, and whether its file is made for the run.

    Raises:
        TargetError: it is a folder that is not there, or the size is none.
    """
    if size:
        _check_size(size)
    place, _, query = text.partition("?")
    # A colon before any slash names a kind of target: stripe:A,B, dir:, sqlite:.
    if text.startswith("sim:") or ":" in place.partition("/")[0] or not place or unspeakable(text):
        return text, False
    try:
        path = Path(place).expanduser()
        is_folder, is_there = path.is_dir(), path.exists()
    except (OSError, RuntimeError, ValueError):
        return text, False  # the target's own reader says what is wrong with it
    if not is_folder and place.endswith("/"):
        raise TargetError(f"There is no folder {place}", remedy="Make it, or check the path.")
    if is_there and not is_folder:
        return text, False
    if is_folder:
        path = path / f"teijo-quick-{secrets.token_hex(4)}.dat"
    words = [word for word in query.split("&") if word]
    keys = {word.partition("=")[0] for word in words}
    if size and "size" in keys:
        raise TargetError("The size is given twice", remedy="Leave --size or ?size= away.")
    words += [] if "size" in keys else [f"size={size or SIZE}"]
    words += [] if "keep" in keys else ["keep=no"]
    return f"{path}?{'&'.join(words)}", True


def _check_size(size: str) -> None:
    try:
        size_bytes = parse_size(size)
    except ValueError as error:
        raise TargetError(f"--size: {error}", remedy="Write it like --size 4GiB.") from error
    if not size_bytes:
        raise TargetError(f"--size: {format_size(0)} is no size", remedy="Write it like 4GiB.")
