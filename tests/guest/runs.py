"""Runs of Teijo in the guest: the file comes to the host, and is read as a person would read it."""

from dataclasses import dataclass
from pathlib import Path

from teijo import api
from teijo.terms.conformance import LedgerLine
from teijo.terms.purge import PurgeResult, result_in
from teijo.terms.record import Record
from teijo.terms.step import Purge
from tests.guest.machine import Guest, Ran, Started

FOLDER = "/run/runs"
SECONDS = 300


@dataclass(frozen=True)
class Runs:
    """Where a test's runs go in the guest, and on the host after."""

    guest: Guest
    folder: Path

    def start(self, method: str, device: str, destroy: str, *words: str) -> Started:
        """Begin a run that writes run.teijo; `words` are its settings and more options."""
        self.guest.run(f"rm -rf {FOLDER}; mkdir {FOLDER}").good()
        return self.guest.start([
            "teijo", "run", method, device, "--destroy", destroy, "-o", f"{FOLDER}/run.teijo",
            *words,
        ])  # fmt: skip

    def fetch(self, name: str) -> Path:
        """Bring a file here."""
        path = self.folder / name
        path.write_bytes(self.guest.get(f"{FOLDER}/{name}"))
        return path

    def names(self) -> set[str]:
        """Return what lies in the folder."""
        return set(self.guest.run(["ls", FOLDER]).good().split())

    def done(self, method: str, device: str, destroy: str, *words: str) -> tuple[Ran, api.Run]:
        """Carry a run out to its end and open its file, which is sealed."""
        return self.ended(self.start(method, device, destroy, *words))

    def ended(self, started: Started) -> tuple[Ran, api.Run]:
        """Wait for the end of a run and open its file, which is sealed."""
        ran = started.wait(SECONDS)
        assert "run.teijo" in self.names(), ran
        return ran, api.open(self.fetch("run.teijo"))


def purged(record: Record) -> PurgeResult:
    """Return how the device was purged, once."""
    ((_, answer),) = record.taken(Purge)
    found = result_in(answer.detail)
    assert found is not None
    return found


def lines_of(run: api.Run) -> dict[str, LedgerLine]:
    """Return the conformance ledger by requirement."""
    return {line.requirement: line for line in run.findings.ledger}
