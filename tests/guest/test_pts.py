"""Runs of the PTS in a guest: purge to report on NVMe and SAS, and rests that nothing disturbs."""

import json
from pathlib import Path

import pytest

from teijo import api
from teijo.report import text
from teijo.terms.step import Idle, Measure
from tests.guest import test_nvme_tcp as nvme_tcp
from tests.guest import test_tcmu as tcmu
from tests.guest.machine import Guest, Ran
from tests.guest.runs import FOLDER, Runs, lines_of, purged

pytestmark = pytest.mark.vm

GET_LOG, SANITIZE = 0x02, 0x84
BOTH = [{"size_bytes": 4 << 20}, {"size_bytes": 1 << 20}]
SMALL = (
    "--set", "minute=1s", "mixes=0/100,65/35", "block_sizes=4KiB", "threads=1", "queue_depth=8",
    "rounds=5",
)  # fmt: skip
"""Two cells of a second each in five rounds, after twice the capacity."""
RESTS = (
    "--set", "minute=3s", "round_minutes=1", "max_rounds=5", "burst=20", "idle=40,60", "bursts=2",
    "baseline_minutes=1", "threads=1", "queue_depth=8", "purge=none", "watch=1s",
    "--report", "none",
)  # fmt: skip
"""Two rests of 2 s and two of 3 s, each after a burst of 1 s."""


def check(guest: Guest, ran: Ran, run: api.Run, runs: Runs) -> None:
    """Check what every whole run has: its exit code, and a file that proves itself."""
    assert ran.code == 0, ran
    assert run.record.run.ending in {"steady", "not steady"}
    said = guest.run(["teijo", "verify", f"{FOLDER}/run.teijo", "--json"], timeout=120).good()
    (proof,) = json.loads(said)
    assert (proof["holds"], proof["sealed"], proof["flaws"]) == (True, True, [])


def test_iops_on_an_nvme_drive_from_a_sanitize_to_its_report(guest: Guest, tmp_path: Path) -> None:
    runs = Runs(guest, tmp_path)
    with nvme_tcp.plugged(guest, namespaces=BOTH, duration=2.0, temperature=321.0) as drive:
        drive.fill(2)
        ran, run = runs.done(
            "pts.iops", drive.node(1), "EMU0001-ns1,EMU0001-ns2", *SMALL, "--set", "watch=1s",
            "purge=nvme-sanitize-block", "--report", "html,pdf",
        )  # fmt: skip
        check(guest, ran, run, runs)
        assert runs.names() == {"run.teijo", "run.html", "run.pdf"}
        assert runs.fetch("run.pdf").read_bytes().startswith(b"%PDF")
        assert b"</html>" in runs.fetch("run.html").read_bytes()
        other = drive.not_zero(2)
        sent = [one["opcode"] for one in drive.log()]
    assert other == 0
    assert sent.count(SANITIZE) == 1
    found, lines = purged(run.record), lines_of(run)
    assert (found.method, found.claimed, found.is_proven) == ("nvme-sanitize-block", False, True)
    assert found.stamps_written == found.stamps_gone == found.zeros == 64
    assert "Global Data Erased" in found.certificate
    assert lines["device.purge"].verdict == "met"
    assert "64 of 64 stamps are gone" in lines["device.purge"].evidence
    assert lines["device.cache"].verdict == "met"
    assert "enabled (NVMe Get Features 06h)" in lines["device.cache"].evidence
    readings = run.record.readings
    assert len(readings) > 2
    assert {one.counters["temperature_kelvin"] for one in readings} == {321}
    assert not any(one.error for one in readings)
    written = readings[-1].counters["host_writes_bytes"] - readings[0].counters["host_writes_bytes"]
    assert written > 2 * BOTH[0]["size_bytes"]


@pytest.mark.long
def test_iops_on_a_sas_drive_from_a_sanitize_to_its_report(guest: Guest, tmp_path: Path) -> None:
    runs = Runs(guest, tmp_path)
    knobs = {"serial": "PTS01", "temperature": 43, "duration": 1.0}
    with tcmu.plugged(guest, "sas", size_mib=4, **knobs) as drive:
        drive.fill()
        ran, run = runs.done(
            "pts.iops", drive.node, "PTS01", *SMALL, "--set", "watch=1s",
            "purge=scsi-sanitize-block", "--report", "none",
        )  # fmt: skip
        check(guest, ran, run, runs)
        # Here, for a report takes the guest a minute: the one of the NVMe drive is made in it.
        assert "64 of 64 stamps are gone" in text.render(api.present(run.record), width=200)
        seen = drive.commands()
    found, lines = purged(run.record), lines_of(run)
    assert (found.method, found.claimed, found.is_proven) == ("scsi-sanitize-block", False, True)
    assert found.stamps_written == found.stamps_gone == found.zeros == 64
    assert lines["device.purge"].verdict == "met", lines["device.purge"]
    assert "64 of 64 stamps are gone" in lines["device.purge"].evidence
    assert seen.count("scsi 48h SANITIZE") == 1
    assert lines["device.cache"].verdict == "met"
    assert "enabled (SCSI caching mode page)" in lines["device.cache"].evidence
    readings = run.record.readings
    assert len(readings) > 2
    assert {one.counters["temperature_kelvin"] for one in readings} == {43 + 273}


@pytest.mark.long
def test_the_drive_sees_no_question_inside_a_rest_of_hir(guest: Guest, tmp_path: Path) -> None:
    runs = Runs(guest, tmp_path)
    drives = [{"size_bytes": 4 << 20}]
    with nvme_tcp.plugged(guest, namespaces=drives, silence_seconds=1.9) as drive:
        ran, run = runs.done("pts.hir", drive.node(1), "EMU0001", *RESTS)
        log = drive.log()
    assert ran.code == 0, ran
    steps = run.record.steps
    first = next(place for place, each in enumerate(steps) if isinstance(each.step, Idle))
    assert sum(isinstance(each.step, Idle) for each in steps) == 4
    before = sum(answer.ios for answer in run.record.answers[:first])
    silences = [one for one in log if "silence" in one and one["media_commands"] >= before]
    rests = [one["silence"] for one in silences][:4]
    assert len(rests) == 4
    asked = [one["second"] for one in log if one.get("opcode") == GET_LOG]
    assert [one for one in asked if any(begun < one < ended for begun, ended in rests)] == []
    # It was asked: before the first rest, and between them.
    assert any(one < rests[0][0] for one in asked)
    assert any(rests[0][0] < one < rests[-1][1] for one in asked)
    bursts = {each.seq for each in steps if isinstance(each.step, Measure)}
    assert {one.step for one in run.record.readings[1:-1]} <= bursts
