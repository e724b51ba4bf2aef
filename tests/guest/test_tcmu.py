"""The emulated SATA and SAS drives as disks of a kernel, asked by programs that others wrote."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.drives import sg_calls
from tests.drives.disk import Knobs
from tests.drives.sg_in_process import SasBench, SataBench
from tests.drives.tcmu import TURNED
from tests.guest.machine import Guest, GuestError, Started

pytestmark = pytest.mark.vm

SIZE_MIB = 64
FOLDER = "/run/drive"
ASKED_SECONDS = 120
LOOKS = 200


@dataclass
class Drive:
    """A disk of the guest, and the process that is its drive."""

    guest: Guest
    kind: str
    knobs: dict[str, Any]
    size_mib: int = SIZE_MIB
    node: str = ""
    process: Started | None = None

    def start(self) -> None:
        """Give it power."""
        self.process = self.guest.start([
            "python3", "-m", "tests.drives.tcmu", "--kind", self.kind, "--folder", FOLDER,
            "--size-mib", str(self.size_mib), "--ready", f"{FOLDER}/ready",
            "--knobs", json.dumps(self.knobs),
        ])  # fmt: skip
        try:
            self.node = self.guest.run(["cat", f"{FOLDER}/ready"]).good().strip()
        except GuestError as error:
            raise AssertionError(self.process.look()) from error

    def cut(self) -> None:
        """Cut its power."""
        assert self.process
        self.process.kill("SIGKILL")
        assert self.process.wait().code == -9

    def run(self, command: str) -> str:
        """Run a line of the shell in which `{}` is the disk; return all that it said."""
        ran = self.guest.run(command.replace("{}", self.node) + " 2>&1", ASKED_SECONDS)
        return ran.good()

    def fill(self) -> None:
        """Write 4 KiB without a zero."""
        self.run("tr '\\0' x </dev/zero | head -c 4096 >/run/filled")
        self.run("dd if=/run/filled of={} bs=4k count=1 oflag=direct status=none")
        assert self.filled() == 4096

    def filled(self) -> int:
        """Count the bytes that are not zero in the first 4 KiB."""
        kept = self.run("dd if={} bs=4k count=1 iflag=direct status=none | tr -d '\\0' | wc -c")
        return int(kept)

    def await_ready(self) -> None:
        """Ask until the drive takes commands for its medium again."""
        self.run("until sg_turs {}; do :; done")

    def turn(self, **knobs: Any) -> None:
        """Turn knobs of the running drive, and wait until it says that it has."""
        assert self.process
        told = f"turned {' '.join(knobs)}"
        before = self.commands().count(told)
        self.guest.put(f"{FOLDER}/{TURNED}", json.dumps(knobs).encode())
        self.process.kill("SIGHUP")
        for _ in range(LOOKS):
            if self.commands().count(told) > before:
                return
        raise AssertionError(self.process.look()[0].err)

    def commands(self) -> list[str]:
        """Return the codes and names of the commands that reached the drive, and turned knobs."""
        lines = self.guest.get(f"{FOLDER}/commands").decode().splitlines()
        return [line.split(" ", 1)[1].rsplit(" ", 1)[0] for line in lines]


@contextmanager
def plugged(guest: Guest, kind: str, *, size_mib: int = SIZE_MIB, **knobs: Any) -> Iterator[Drive]:
    """Give the guest a drive, and take it away after."""
    guest.run(f"mkdir {FOLDER} && mkfifo {FOLDER}/ready").good()
    drive = Drive(guest, kind, knobs, size_mib)
    drive.start()
    try:
        yield drive
    finally:
        assert drive.process
        drive.process.kill("SIGTERM")
        ended = drive.process.wait()
        guest.run(["rm", "-r", FOLDER]).good()
        assert ended.code == 0, ended.err
        assert guest.run(["test", "-e", drive.node]).code == 1


@pytest.mark.parametrize(("kind", "bench"), [("sata", SataBench), ("sas", SasBench)])
def test_both_fronts_give_the_same_bytes(
    guest: Guest, kind: str, bench: type[SataBench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = bench(tmp_path, monkeypatch, Knobs(serial="SAME"), size=SIZE_MIB << 20)
    ours = sg_calls.answers(kind, front.front.ioctl, front.fd)
    with plugged(guest, kind, serial="SAME") as drive:
        told = drive.run(f"python3 -m tests.drives.sg_calls {kind} {{}}")
    theirs = json.loads(told)
    assert len(ours) == len(theirs) > 40
    assert {answer["status"] for answer in ours} == {0, 2}
    for our, their in zip(ours, theirs, strict=True):
        assert our == their


def test_hdparm_and_smartctl_see_and_erase_the_sata_drive(guest: Guest) -> None:
    with plugged(guest, "sata", serial="HDPARM", duration=1.0, temperature=41) as drive:
        said = drive.run("hdparm -I {}")
        assert "Serial Number:      HDPARM" in said
        assert "not\tenabled" in said
        assert "not\tlocked" in said
        assert "not\tfrozen" in said
        assert "*\tSANITIZE feature set" in said
        told = json.loads(drive.run("smartctl -j -x {}"))
        assert told["serial_number"] == "HDPARM"
        assert told["smart_status"]["passed"] is True
        assert told["temperature"]["current"] == 41
        assert told["ata_security"]["enabled"] is False
        drive.fill()
        drive.run("hdparm --user-master u --security-set-pass teijo {}")
        assert "not\tenabled" not in drive.run("hdparm -I {}")
        drive.cut()
        drive.start()
        assert "not\tlocked" not in drive.run("hdparm -I {}")
        drive.run("hdparm --user-master u --security-unlock teijo {}")
        drive.run("hdparm --user-master u --security-erase teijo {}")
        assert drive.filled() == 0
        assert "not\tenabled" in drive.run("hdparm -I {}")
        drive.fill()
        drive.run("hdparm --yes-i-know-what-i-am-doing --sanitize-block-erase {}")
        drive.run("until hdparm --sanitize-status {} | grep -q 'Sanitize Idle'; do :; done")
        assert drive.filled() == 0
        seen = drive.commands()
    names = ("SECURITY SET PASSWORD", "SECURITY ERASE UNIT", "BLOCK ERASE")
    for code, name in zip(("F1h", "F4h", "B4h"), names, strict=True):
        assert f"ata {code} {name}" in seen


def test_sg3_utils_and_smartctl_see_and_erase_the_sas_drive(guest: Guest) -> None:
    with plugged(guest, "sas", serial="SG3", duration=1.0, temperature=43) as drive:
        told = json.loads(drive.run("smartctl -j -x {}"))
        assert told["serial_number"] == "SG3"
        assert told["temperature"]["current"] == 43
        assert told["smart_status"]["passed"] is True
        assert "Caching" in drive.run("sg_modes {}")
        assert "SANITIZE" in drive.run("sg_opcodes {}").upper()
        drive.fill()
        drive.run("sg_sanitize --block --quick --wait {}")
        assert drive.filled() == 0
        drive.fill()
        drive.run("sg_format --format --quick --wait {}")
        assert drive.filled() == 0
        seen = drive.commands()
    assert "scsi 48h SANITIZE" in seen
    assert "scsi 04h FORMAT UNIT" in seen


def test_a_sanitize_goes_on_after_a_power_cut(guest: Guest) -> None:
    with plugged(guest, "sas", duration=8.0) as drive:
        drive.fill()
        drive.run("sg_sanitize --block --quick --early {}")
        assert "sanitize in progress" in drive.run("sg_requests {}").lower()
        drive.cut()
        drive.start()
        assert "sanitize in progress" in drive.run("sg_requests {}; sg_requests {}").lower()
        drive.await_ready()
        assert drive.filled() == 0
