"""A drive's write cache by its own word, whatever the kernel believes, and as a run holds it (B8).

nvme-cli, sdparm and hdparm are the independent witnesses.
"""

import json
from pathlib import Path

import pytest

from teijo.terms.remark import RemarkKind
from tests.guest import test_nvme_tcp as nvme_tcp
from tests.guest import test_tcmu as tcmu
from tests.guest.machine import Guest, Started
from tests.guest.runs import Runs, lines_of
from tests.guest.test_qemu_drives import TEIJO_SECONDS, await_steps

pytestmark = pytest.mark.vm

GET_LOG = 0x02
JOURNAL = "find / -xdev -path '*/teijo/open-changes/*' -type f"
OFF = (
    "--progress", "ndjson", "--report", "none", "--set", "cache=disabled", "minute=1s",
    "mixes=0/100", "block_sizes=4KiB", "threads=1", "queue_depth=8", "rounds=5", "purge=none",
)  # fmt: skip
"""Five steps of a second after the preconditioning, with the write cache off."""


def told(guest: Guest, device: str) -> tuple[str, str]:
    """Return the state, and what the kernel believes where that is something else."""
    said = guest.run(["teijo", "device", device, "--json"], timeout=120).good()
    identity = json.loads(said)["identity"]
    return identity["write_cache"], identity["facts"].get("write cache by the kernel", "")


def test_a_sas_drive_has_its_own_word_whatever_is_written_to_the_kernels_flag(guest: Guest) -> None:
    with tcmu.plugged(guest, "sas") as drive:
        flag = "/sys/block/$(basename {})/queue/write_cache"
        drive.run(f"echo 'write through' >{flag}")
        assert told(guest, drive.node) == ("enabled", "write through")
        drive.run(f"echo 'write back' >{flag}; sdparm --clear=WCE {{}}")
        assert told(guest, drive.node) == ("disabled", "write back")


def test_a_sata_drive_has_its_own_word_after_hdparm(guest: Guest) -> None:
    with tcmu.plugged(guest, "sata") as drive:
        drive.run("hdparm -W0 {}")
        assert told(guest, drive.node)[0] == "disabled"


def test_an_nvme_drive_has_its_own_word_after_nvme_cli(guest: Guest) -> None:
    with nvme_tcp.plugged(guest) as drive:
        drive.nvme(f"set-feature {drive.node()} -f 6 -v 0")
        assert told(guest, drive.node(1))[0] == "disabled"


def begun(runs: Runs, device: str, serial: str, *words: str) -> Started:
    """Start a run with the cache off, and return once it measures."""
    started = runs.start("pts.iops", device, serial, *OFF, *words)
    await_steps(started, 1)
    return started


def killed(started: Started) -> None:
    started.kill("SIGKILL")
    assert started.wait().code == -9


def noted(guest: Guest) -> list[str]:
    """Return the files of the journal of changes that are to be undone."""
    return guest.run(JOURNAL).out.split()


def logs_between_marks(drive: nvme_tcp.Plugged) -> tuple[int, int]:
    """Return how many log commands the drive saw in all, and between two turns of its knobs."""
    log = drive.log()
    first, last = (place for place, one in enumerate(log) if "turned" in one)
    logs = [place for place, one in enumerate(log) if one.get("opcode") == GET_LOG]
    return len(logs), sum(first < one < last for one in logs)


def test_an_nvme_drive_is_without_its_cache_in_a_run_and_has_it_back_after_the_next_one(
    guest: Guest, tmp_path: Path
) -> None:
    runs = Runs(guest, tmp_path)
    with nvme_tcp.plugged(guest, namespaces=[{"size_bytes": 1 << 20}]) as drive:
        node, serial = drive.node(1), nvme_tcp.SERIAL
        killed(begun(runs, node, serial))
        assert (drive.cache(), len(noted(guest))) == (0, 1)
        started = begun(runs, node, serial, "watch=off")
        drive.turn(temperature=311.0)
        during = drive.cache()
        await_steps(started, 6)
        drive.turn(temperature=312.0)
        ran, run = runs.ended(started)
        assert (ran.code, during, drive.cache(), noted(guest)) == (0, 0, 1, []), ran
        logs, logs_measured = logs_between_marks(drive)
    assert run.record.identity.write_cache == "disabled"
    said = [str(one.text) for one in run.record.remarks if one.kind is RemarkKind.CACHE_DISAGREES]
    assert [text.split(":")[0] for text in said] == [
        "the drive's write cache is disabled (NVMe Get Features 06h), and the kernel has it as "
        "write back"
    ]
    line = lines_of(run)["device.cache"]
    assert (line.verdict, "disabled (NVMe Get Features 06h)" in line.evidence) == ("deviated", True)
    # It is not watched, so it is asked before the run and after it alone.
    assert run.record.readings == ()
    assert (logs > 0, logs_measured) == (True, 0)


def test_what_a_killed_run_left_of_a_sas_drives_cache_is_set_back_by_finish(
    guest: Guest, tmp_path: Path
) -> None:
    runs = Runs(guest, tmp_path)
    with tcmu.plugged(guest, "sas", size_mib=1, serial="HELD") as drive:
        wce = "sdparm --get=WCE {} | grep -o 'WCE  *[01]'"
        assert drive.run(wce).split()[1] == "1"
        killed(begun(runs, drive.node, "HELD"))
        assert drive.run(wce).split()[1] == "0"
        # Nobody told the kernel, which looks again at a rescan alone.
        assert drive.run("cat /sys/block/$(basename {})/queue/write_cache") == "write back\n"
        ended = guest.run(["teijo", "purge", drive.node, "--finish"], TEIJO_SECONDS).good()
        assert ended == "the write cache is enabled again\n"
        assert drive.run(wce).split()[1] == "1"
        assert noted(guest) == []
