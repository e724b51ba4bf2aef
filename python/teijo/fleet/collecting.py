"""Run files of other hosts, brought here: whole, by their digests, and never over another file."""

import hashlib
import os
from pathlib import Path

from teijo import creating
from teijo.errors import HostError
from teijo.fleet.hosts import Host


def collect(host: Host, run: str, folder: Path) -> None:
    """Bring a sealed run file here; one that is here already is left.

    Raises:
        HostError: it does not arrive as it was, or another file has its name.
        HostLost: the host does not answer.
    """
    there = host.ask("digest", run)
    place = folder / run
    if not place.exists():
        _bring(host, run, place, there["sha256"])
    if digest_of(place) != there["sha256"]:
        raise HostError(
            f"{place} is another file than the run file of {host.name}.",
            remedy="Move it away; then: teijo fleet resume",
        )


def remove(host: Host, run: str, folder: Path) -> None:
    """Remove a run file at its host that is here and has the same digest; one that is gone is gone.

    Raises:
        HostError: the two are not the same. HostLost: the host does not answer.
    """
    if not host.ask("remove", run, digest_of(folder / run)):
        raise HostError(
            f"{folder / run} is another file than the run file of {host.name}.",
            remedy="Move it away; then: teijo fleet resume",
        )


def _bring(host: Host, run: str, place: Path, sha256: str) -> None:
    beside = place.with_name(f".{place.name}.part")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        descriptor = creating.create_anew(beside)
        with os.fdopen(descriptor, "wb") as file:
            digest = hashlib.sha256()
            while part := host.ask("part", run, file.tell()):
                file.write(part)
                digest.update(part)
            file.flush()
            os.fsync(file.fileno())
        if digest.hexdigest() != sha256:
            raise HostError(
                f"The run file {run} of {host.name} did not arrive as it was.",
                remedy="Try again: teijo fleet resume",
            )
        os.link(beside, place)
    except OSError as error:
        raise HostError(
            f"{place} cannot be written: {error.strerror}.",
            remedy="See to the folder of the fleet; then: teijo fleet resume",
        ) from error
    finally:
        beside.unlink(missing_ok=True)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
