"""Which test interrupts which method of purging between every two of its commands.

A method of the ladder that is missing here fails `tests/device/test_purge_cuts.py` by its name.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "device"
_NVME = "test_purge_cuts.py::test_nothing_goes_wrong_wherever_a_purge_is_cut"
_ATA = "test_ata_security.py::test_whatever_ends_at_any_of_all_commands_is_finished"
_BACKGROUND = (
    "test_waiting.py::"
    "test_a_kill_and_a_cut_before_and_after_any_command_lead_to_no_second_one_and_are_told"
)
ENUMERATED = {
    "nvme-sanitize-block": _NVME,
    "nvme-sanitize-crypto": _NVME,
    "nvme-sanitize-overwrite": _NVME,
    "nvme-format": _NVME,
    "nvme-format-crypto": _NVME,
    "discard": _NVME,
    "ata-security-erase": _ATA,
    "ata-security-erase-enhanced": _ATA,
    "ata-sanitize-block": _BACKGROUND,
    "ata-sanitize-crypto": _BACKGROUND,
    "ata-sanitize-overwrite": _BACKGROUND,
    "scsi-sanitize-block": _BACKGROUND,
    "scsi-sanitize-crypto": _BACKGROUND,
    "scsi-sanitize-overwrite": _BACKGROUND,
    "scsi-format": _BACKGROUND,
}
"""By the method's name: the file in tests/device and the test."""


def is_there(test: str) -> bool:
    """Return whether a test of this name is in its file."""
    file, _, name = test.partition("::")
    return bool(re.search(rf"^def {name}\b", (FOLDER / file).read_text(), re.MULTILINE))
