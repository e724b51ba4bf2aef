"""Runs whose drive grows hot or warns in the middle (B9); the drive's own log says when it did."""

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from teijo.analysis.throttling import spans
from teijo.terms.reading import Reading
from teijo.terms.remark import RemarkKind
from teijo.units import NS_PER_S
from tests.guest import test_nvme_tcp as nvme_tcp
from tests.guest import test_tcmu as tcmu
from tests.guest.machine import Guest
from tests.guest.runs import Runs
from tests.guest.test_qemu_drives import TEIJO_SECONDS, await_steps

pytestmark = pytest.mark.vm

GET_LOG, SMART, OCP = 0x02, 0x02, 0xC0
COOL, HOT, LIGHT = 310.0, 345.0, 340
"""Kelvins: where it throttles lightly, and what lies on either side."""
SHORT = (
    "--progress", "ndjson", "--report", "none", "--set", "minute=1s", "block_sizes=4KiB",
    "threads=1", "queue_depth=8", "rounds=5", "purge=none", "watch=1s",
)  # fmt: skip


def asked(log: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return when the watch asked the drive: OCP's log is read by nobody else, and SMART after."""
    logs = [(one["second"], one["cdw"][0] & 0xFF) for one in log if one.get("opcode") == GET_LOG]
    return [
        second for (_, before), (second, page) in pairwise(logs) if (before, page) == (OCP, SMART)
    ]


def zero_of(readings: Sequence[Reading], seconds: Sequence[float]) -> tuple[float, float]:
    """Return between which seconds of the drive's clock the run's began, by all that both tell."""
    assert len(readings) == len(seconds)
    pairs = list(zip(readings, seconds, strict=True))
    first = max(second - one.ended_ns / NS_PER_S for one, second in pairs)
    last = min(second - one.at_ns / NS_PER_S for one, second in pairs)
    assert first <= last
    return first, last


def test_a_hot_nvme_drive_throttles_the_steps_that_the_heat_touched_and_no_other(
    guest: Guest, tmp_path: Path
) -> None:
    runs = Runs(guest, tmp_path)
    with nvme_tcp.plugged(guest, namespaces=[{"size_bytes": 1 << 20}], temperature=COOL) as drive:
        drive.nvme(f"set-feature {drive.node()} -f 0x10 -v {LIGHT << 16}")
        words = (*SHORT, "mixes=100/0,65/35,0/100")
        started = runs.start("pts.iops", drive.node(1), nvme_tcp.SERIAL, *words)
        await_steps(started, 4)
        drive.turn(temperature=HOT)
        await_steps(started, 7)
        drive.turn(temperature=COOL)
        ran, run = runs.ended(started)
        log, (heated, cooled) = drive.log(), drive.turned()
    assert ran.code == 0, ran
    steps = spans(run.record)
    # The watch asked when the record says that it did: both clocks hang together.
    readings, seconds = run.record.readings, asked(log)
    first, last = zero_of(readings, seconds)
    kelvins = [COOL if not heated < second < cooled else HOT for second in seconds]
    assert [one.counters["temperature_kelvin"] for one in readings] == kelvins
    hot = [place for place, kelvin in enumerate(kelvins) if kelvin == HOT]
    # Heat that begins is counted at once, and heat that lasts each second; its last piece of a
    # second is seen only by who asks in it.
    begins, ends = (
        round((one - zero) * NS_PER_S) for one, zero in ((heated, first), (cooled, last))
    )
    touched = {one.seq for one in steps if begins < one.ended_ns <= ends}
    touched |= {one.seq for one in steps for place in hot
                if one.started_ns < readings[place].at_ns <= one.ended_ns}  # fmt: skip
    cool_ns, cool_again_ns = readings[hot[0] - 1].at_ns, readings[hot[-1] + 1].ended_ns
    may = {one.seq for one in steps
           if one.ended_ns >= cool_ns and one.started_ns <= cool_again_ns}  # fmt: skip
    found = {one.step for one in run.record.remarks if one.kind is RemarkKind.THROTTLED}
    assert touched <= found <= may, (touched, found, may)
    # The heat came and went within the run.
    assert len(touched) >= 2
    assert steps[0].seq < min(may) < max(may) < steps[-1].seq


def test_a_sata_drive_that_expects_to_fail_stops_the_run_and_gets_its_cache_back(
    guest: Guest, tmp_path: Path
) -> None:
    runs = Runs(guest, tmp_path)
    with tcmu.plugged(guest, "sata", size_mib=1, serial="WARNS") as drive:
        cache = "hdparm -W {} | grep write-caching"
        started = runs.start(
            "pts.iops", drive.node, "WARNS", *SHORT, "mixes=0/100", "cache=disabled", "stop=warning"
        )
        await_steps(started, 1)
        assert "0 (off)" in drive.run(cache)
        drive.turn(failing=True)
        ran = started.wait(TEIJO_SECONDS)
        assert "1 (on)" in drive.run(cache)
    (told,) = [json.loads(line) for line in ran.err.splitlines() if '"event": "error"' in line]
    assert (ran.code, told["code"], runs.names()) == (12, 12, {"run.teijo.open"}), ran
    assert "critical warning: new bits 0x4" in told["message"]
    assert "teijo resume" in told["remedy"]
