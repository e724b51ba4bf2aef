"""ATA Security Erase through a kernel, with hdparm as the witness: done, cut off, and refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.guest.machine import Guest, Ran
from tests.guest.test_tcmu import FOLDER, Drive, plugged

pytestmark = pytest.mark.vm

SERIAL = "ERASED01"
METHOD = "ata-security-erase"
SECONDS = 240
SET, UNLOCK, PREPARE, ERASE, DISABLE = (
    "ata F1h SECURITY SET PASSWORD", "ata F2h SECURITY UNLOCK", "ata F3h SECURITY ERASE PREPARE",
    "ata F4h SECURITY ERASE UNIT", "ata F6h SECURITY DISABLE PASSWORD",
)  # fmt: skip


@contextmanager
def drive_of(guest: Guest, **knobs: Any) -> Iterator[Drive]:
    with plugged(guest, "sata", serial=SERIAL, **knobs) as drive:
        yield drive


def words(drive: Drive, line: str) -> str:
    """Return a command line of Teijo, with a journal that goes away with the drive."""
    return f"XDG_STATE_HOME={FOLDER}/state teijo {line.replace('{}', drive.node)}"


def teijo(drive: Drive, line: str) -> Ran:
    return drive.guest.run(words(drive, line), SECONDS)


def security(drive: Drive) -> tuple[bool, bool, bool]:
    """Return whether it is enabled, locked and frozen, as hdparm says."""
    said = drive.run("hdparm -I {}")
    assert "Security:" in said
    enabled, locked, frozen = (
        f"not\t{state}" not in said for state in ("enabled", "locked", "frozen")
    )
    return enabled, locked, frozen


def sent(drive: Drive) -> list[str]:
    """Return the commands of security that the drive has noted."""
    return [line for line in drive.commands() if " SECURITY " in line]


@pytest.mark.long
def test_a_drive_is_erased_and_hdparm_sees_no_password(guest: Guest) -> None:
    with drive_of(guest, duration=1.0) as drive:
        drive.fill()
        assert security(drive) == (False, False, False)
        told = teijo(drive, f"purge {{}} --method {METHOD} --destroy {SERIAL}").good()
        assert "64 of 64 stamps are gone" in told
        assert sent(drive) == [SET, PREPARE, ERASE]
        assert security(drive) == (False, False, False)
        assert drive.filled() == 0


def test_what_a_kill_and_a_power_cut_leave_is_told_and_finished_by_one_try(guest: Guest) -> None:
    with drive_of(guest, duration=600.0) as drive:
        drive.fill()
        purge = guest.start(words(drive, f"purge {{}} --method {METHOD} --destroy {SERIAL}"))
        begun = f"until grep -q '{ERASE}' {FOLDER}/commands; do sleep 0.2; done"
        assert guest.run(begun, SECONDS).code == 0, purge.look()
        purge.kill("SIGKILL")
        drive.cut()
        drive.start()
        assert purge.wait(SECONDS).code == -9
        assert security(drive) == (True, True, False)
        refused = teijo(drive, "run quick {}")
        assert refused.code == 5, refused
        assert "Teijo's own password 'teijo' may be set" in refused.err
        assert "locked" in refused.err
        assert "--finish" in refused.err
        tries = sent(drive).count(UNLOCK)
        assert teijo(drive, "purge {} --finish").good() == "the password is off\n"
        assert sent(drive)[-2:] == [UNLOCK, DISABLE]
        assert sent(drive).count(UNLOCK) - tries == 1
        assert security(drive) == (False, False, False)
        assert drive.filled() > 4000  # a stamp has its zeros


def test_a_frozen_drive_is_told_no_password_and_a_person_how_to_get_out(guest: Guest) -> None:
    with drive_of(guest, frozen=True) as drive:
        drive.fill()
        assert security(drive) == (False, False, True)
        refused = teijo(drive, f"purge {{}} --method {METHOD} --destroy {SERIAL}")
        assert refused.code == 3, refused
        assert "it is frozen" in refused.err
        assert "suspend this machine to RAM" in refused.err
        assert SET not in sent(drive)
        assert drive.filled() == 4096
