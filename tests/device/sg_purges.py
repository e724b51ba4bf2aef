"""An emulated SATA or SAS drive as the ladder purges it, and as `teijo purge` finds it later."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from teijo.device import kernel, open_changes
from teijo.device.checks import Subject, ask
from teijo.device.preflight import Preflight
from teijo.device.purging import by_hand, ladder, others, waiting
from teijo.device.target import BlockTarget
from teijo.terms.purge import PurgeResult
from tests.drives.sg_in_process import Bench, SasBench, SataBench

TARGET = "/dev/sda"
BENCHES = {"ata": SataBench, "scsi": SasBench}
METHODS = (
    "ata-sanitize-block",
    "ata-sanitize-crypto",
    "ata-sanitize-overwrite",
    "scsi-sanitize-block",
    "scsi-sanitize-crypto",
    "scsi-sanitize-overwrite",
    "scsi-format",
)
ERASES = {
    "CRYPTO SCRAMBLE", "BLOCK ERASE", "OVERWRITE", "SANITIZE", "FORMAT UNIT", "SECURITY ERASE UNIT",
    "SANITIZE FREEZE LOCK", "SANITIZE ANTIFREEZE LOCK", "UNMAP", "WRITE SAME(16)",
}  # fmt: skip
"""What changes more of a drive than a write does."""
Made = Callable[..., Bench]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    """Give a function that makes a drive of the kind that a method is for."""
    made: list[Bench] = []
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    # The made-up tree has no nodes in /dev, no processes and no mounts.
    monkeypatch.setattr(ladder, "confirm", lambda subject: None)
    monkeypatch.setattr(
        others, "examine", lambda subject, *_: Preflight(checks=(ask("claim", subject),))
    )
    here = BlockTarget(text=TARGET, path=Path(TARGET))
    monkeypatch.setattr(by_hand, "parse_target", lambda text, **_: here)
    monkeypatch.setattr(
        by_hand, "consent", lambda subject, destroy, also: Preflight(checks=(), given=(destroy,))
    )

    def build(method: str, folder: Path = tmp_path, **knobs: Any) -> Bench:
        for one in made:
            os.close(one.fd)
        made.clear()
        folder.mkdir(exist_ok=True)
        on = BENCHES[method.split("-", maxsplit=1)[0]](folder, monkeypatch, **knobs)
        made.append(on)
        monkeypatch.setattr(waiting, "rest", lambda ns, look: on.clock.sleep(ns / 1e9))
        sequence = kernel.disk_sequence
        monkeypatch.setattr(
            kernel, "disk_sequence", lambda fd: 1 if fd in on.front.fds else sequence(fd)
        )
        monkeypatch.setattr(by_hand, "claim", lambda *a, **b: on.claimed())
        monkeypatch.setattr(others, "claim", lambda path, **_: other(on, path.name))
        return on

    yield build
    for one in made:
        os.close(one.fd)


refusals: dict[str, str] = {}
"""Why another disk of the same drive cannot be had alone, by its name."""


def other(on: Bench, name: str) -> Subject:
    """Return another disk that the kernel made of the drive."""
    return replace(on.claimed(), target=f"/dev/{name}", refusal=refusals.get(name, ""))


def purge(on: Bench, method: str, *given: str, **more: Any) -> PurgeResult:
    """Purge a drive that was given up."""
    subject = on.subject()
    done = ladder.purge(subject, method, given=given or (subject.found.token,), **more)
    assert done is not None
    return done


def erasing(on: Bench) -> list[str]:
    """Return the names of the commands that erase, or freeze, as the drive saw them."""
    return [seen.name for seen in on.disk.seen if seen.name in ERASES and not leaves(seen.raw)]


def leaves(raw: bytes) -> bool:
    """Return whether a command is SCSI's way to leave a failed sanitize."""
    return raw[0] == 0x48 and raw[1] & 0x1F == 0x1F


def noted() -> list[str]:
    """Return the methods in the journal."""
    return [one.method for one in open_changes.open_changes()]
