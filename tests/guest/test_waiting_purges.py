"""Sanitize and format through a kernel, hdparm and sg3_utils as witnesses, QEMU as the liar."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.guest.machine import Guest, Hardware, Ran
from tests.guest.test_qemu_drives import drive
from tests.guest.test_tcmu import FOLDER, Drive, plugged

pytestmark = [pytest.mark.vm, pytest.mark.long]

SERIAL = "WAITED01"
SECONDS = 240
STATE = f"XDG_STATE_HOME={FOLDER}/state"
SANITIZES = {
    "ata-sanitize-block": "ata B4h BLOCK ERASE",
    "ata-sanitize-overwrite": "ata B4h OVERWRITE",
    "ata-sanitize-crypto": "ata B4h CRYPTO SCRAMBLE",
}


def purge(on: Drive, method: str) -> str:
    said = on.guest.run(
        f"{STATE} teijo purge {on.node} --method {method} --destroy {SERIAL}", SECONDS
    )
    return said.good()


def left(on: Drive) -> int:
    """Count the bytes of the whole medium that are not zero, where the drive keeps it."""
    return int(on.run(f"tr -d '\\0' <{FOLDER}/drive.img | wc -c"))


def test_hdparm_sees_each_sanitize_of_a_sata_drive_end_and_the_drive_is_empty(guest: Guest) -> None:
    with plugged(guest, "sata", serial=SERIAL, duration=1.0) as on:
        for method, command in SANITIZES.items():
            on.fill()
            told = purge(on, method)
            assert "64 of 64 stamps are gone" in told
            assert "completed without error" in told
            assert "completed without error" in on.run("hdparm --sanitize-status {}").lower()
            assert [line for line in on.commands() if line == command] == [command]
            if "crypto" not in method:
                assert (left(on), on.filled()) == (0, 0)
        assert "FREEZE" not in " ".join(on.commands())


def test_sg3_utils_sees_each_sanitize_and_a_format_of_a_sas_drive_end_and_it_is_empty(
    guest: Guest,
) -> None:
    with plugged(guest, "sas", serial=SERIAL, duration=1.0) as on:
        methods = ("scsi-sanitize-crypto", "scsi-sanitize-overwrite", "scsi-sanitize-block")
        for method in (*methods, "scsi-format"):
            on.fill()
            assert "64 of 64 stamps are gone" in purge(on, method)
            assert "sense key: no sense" in on.run("sg_requests {}").lower()
            if "crypto" not in method:
                assert (left(on), on.filled()) == (0, 0)
        seen = on.commands()
        assert (seen.count("scsi 48h SANITIZE"), seen.count("scsi 04h FORMAT UNIT")) == (3, 1)


def test_qemu_answers_format_unit_and_erases_nothing_which_the_stamps_find(
    new_guest: Callable[[Hardware], Guest], tmp_path: Path
) -> None:
    """B7."""
    adapter = ("-device", "virtio-scsi-pci,id=scsi0")
    disk = ("-device", f"scsi-hd,drive=file-{SERIAL},bus=scsi0.0,serial={SERIAL}")
    guest = new_guest(Hardware(devices=(*adapter, *drive(tmp_path, SERIAL), *disk)))
    guest.run("modprobe -a virtio_scsi sd_mod").good()
    # The disk is there a little after the module.
    look = f"grep -l {SERIAL} /sys/block/sd*/device/vpd_pg80"
    told = guest.run(f"until {look} 2>/dev/null; do sleep 0.2; done", SECONDS).good()
    found = f"/dev/{told.split('/')[3]}"
    words = f"teijo purge {found} --method scsi-format --destroy {SERIAL}"
    said: Ran = guest.run(words, SECONDS, fresh=True)
    assert "returned without error, and 64 of 64 stamps are still there" in said.err, said
    assert said.code == 5
