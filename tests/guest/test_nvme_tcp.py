"""The emulated NVMe drive on a kernel, over NVMe/TCP; nvme-cli is the independent witness."""

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.drives.in_process import NvmeFront
from tests.drives.nvme import NvmeDrive
from tests.drives.nvme_state import Knobs
from tests.drives.nvme_tcp import TURNED
from tests.guest.admin_commands import Answer, Command, answers
from tests.guest.machine import Guest, Started

pytestmark = pytest.mark.vm

PORT = "4420"
FOLDER, LOG = "/run/emulated", "/run/emulated.log"
SUBSYSTEM = "nqn.2026-01.test:{}"
SERIAL = "EMU0001"
HOST = "nqn.2014-08.org.nvmexpress:uuid:7f2c2d7b-6d2b-4fb1-9d63-4a9c8f3f1b01"
TWO = [{"size_bytes": 1 << 20}, {"size_bytes": 2 << 20}]
LOOKS = 200
AWAIT = "for look in $(seq 600); do {} && exit 0; sleep 0.1; done; exit 1"
UNKNOWN_ESTIMATE = 0xFFFFFFFF
MARK = 0x7E000000
"""In dword 15, which no command reads: a command of the test and not of the kernel."""


@dataclass
class Plugged:
    """The drive as the guest has it."""

    guest: Guest
    knobs: dict[str, Any]
    server: Started
    loss_seconds: int = 600
    name: str = ""

    def connect(self) -> None:
        """Have the kernel connect, and wait for the block devices."""
        way = (
            f"-t tcp -a 127.0.0.1 -s {PORT} -n {self.subsystem} -q {HOST} -i 1 --reconnect-delay=1"
            f" --ctrl-loss-tmo={self.loss_seconds}"
        )
        self.name = json.loads(self.nvme(f"connect {way} -o json"))["device"]
        for number in range(1, len(self.knobs["namespaces"]) + 1):
            self.guest.run(AWAIT.format(f"test -b {self.node(number)}")).good()

    @property
    def subsystem(self) -> str:
        return SUBSYSTEM.format(self.knobs.get("serial", SERIAL))

    def node(self, number: int | None = None) -> str:
        return f"/dev/{self.name}" + (f"n{number}" if number else "")

    def nvme(self, words: str) -> str:
        return self.guest.run(f"nvme {words}").good()

    def told(self, what: str, number: int | None = None) -> Any:
        return json.loads(self.nvme(f"{what} {self.node(number)} -o json"))

    def sanitized(self) -> tuple[int, bool, int]:
        """Return the state of the last sanitize, Global Data Erased, progress."""
        found = self.told("sanitize-log")[self.name]
        state = int(found["sstat"]["status"][1])
        return state, bool(found["sstat"]["global_erased"]), found["sprog"]

    def await_sanitized(self) -> tuple[int, bool, int]:
        for _ in range(LOOKS):
            if (found := self.sanitized())[0] != 2:
                return found
            # A look takes less than it did, and the drive as long as its knob says.
            self.guest.run("sleep 1")
        raise AssertionError(f"it goes on: {found}")

    def fill(self, number: int) -> None:
        size = self.knobs["namespaces"][number - 1]["size_bytes"]
        self.guest.run(
            f"head -c {size} /dev/urandom | dd of={self.node(number)} bs=64K oflag=direct"
            " iflag=fullblock"
        ).good()

    def not_zero(self, number: int) -> int:
        """Return how many bytes of a namespace are not zero, past the guest's cache."""
        told = f"dd if={self.node(number)} bs=64K iflag=direct | tr -d '\\0' | wc -c"
        return int(self.guest.run(f"set -o pipefail; {told}").good())

    def cache(self) -> int:
        """Return the current value of the volatile write cache."""
        return int(self.nvme(f"get-feature {self.node()} -f 6").rsplit(":", 1)[1], 16)

    def turn(self, **knobs: Any) -> None:
        """Turn knobs of the running drive, and wait until it says that it has."""
        before = len(self.turned())
        self.guest.put(f"{FOLDER}/{TURNED}", json.dumps(knobs).encode())
        self.server.kill("SIGHUP")
        for _ in range(LOOKS):
            if len(self.turned()) > before:
                return
        raise AssertionError(self.server.look()[0].err)

    def turned(self) -> list[float]:
        """Return the seconds of the drive in which its knobs were turned."""
        return [one["second"] for one in self.log() if "turned" in one]

    def log(self) -> list[dict[str, Any]]:
        """Return the admin commands that the drive answered; turned knobs and silences too."""
        return [json.loads(line) for line in self.guest.get(LOG).decode().splitlines()]


def served(guest: Guest, knobs: dict[str, Any]) -> Started:
    words = ("--port", PORT, "--folder", FOLDER, "--log", LOG, "--knobs", json.dumps(knobs))
    server = guest.start(["python3", "-m", "tests.drives.nvme_tcp", *words])
    for _ in range(5 * LOOKS):
        said, ended = server.look(timeout=0.2)
        assert not ended, said.err
        if "listening" in said.out:
            return server
    raise AssertionError("it does not listen")


@contextmanager
def plugged(guest: Guest, *, loss_seconds: int = 600, **knobs: Any) -> Iterator[Plugged]:
    """Give a new drive, of two namespaces if not told else; the guest is left without it.

    A controller that is gone for `loss_seconds` is given up by the kernel.
    """
    knobs = {"namespaces": TWO} | knobs
    guest.run(f"modprobe nvme-tcp && rm -rf {FOLDER} {LOG}").good()
    drive = Plugged(guest, knobs, served(guest, knobs), loss_seconds)
    try:
        drive.connect()
        yield drive
    finally:
        guest.run(f"nvme disconnect -n {drive.subsystem}")
        drive.server.kill("SIGTERM")
        ended = drive.server.wait()
    assert ended.code == 0, ended.err
    assert not ended.err


def test_nvme_cli_reads_what_the_drive_was_told_to_be(guest: Guest) -> None:
    knobs = {
        "model": "Witnessed", "firmware": "7.1", "fna": 0b101, "sanicap": 0b11, "oacs": 0x1A,
        "oncs": 0x0C, "wctemp": 340, "cctemp": 351, "temperature": 321.0, "duration": 6.0,
        "smart": {"percentage_used": 7, "media_errors": 2**64 + 5, "spare": 91},
        "volatile_cache": False,
    }  # fmt: skip
    with plugged(guest, **knobs) as drive:
        controller = drive.told("id-ctrl")
        texts = {name: controller[name].rstrip() for name in ("sn", "mn", "fr", "subnqn")}
        assert texts == {"sn": "EMU0001", "mn": "Witnessed", "fr": "7.1", "subnqn": drive.subsystem}
        same = ("fna", "sanicap", "oacs", "oncs", "wctemp", "cctemp")
        assert {name: controller[name] for name in same} == {name: knobs[name] for name in same}
        assert (controller["ver"], controller["vwc"] & 1, controller["cntrltype"]) == (
            0x10400,
            0,
            1,
        )
        assert controller["tnvmcap"] == str(3 << 20)
        assert [one["nsid"] for one in drive.told("list-ns")["nsid_list"]] == [1, 2]
        sizes = [drive.told("id-ns", number)["nsze"] for number in (1, 2)]
        assert sizes == [2048, 4096]
        health = drive.told("smart-log")
        assert int(health["host_read_commands"]) > 0
        counted = (
            "temperature", "avail_spare", "percent_used", "media_errors", "power_cycles",
            "power_on_hours", "data_units_written", "temperature_sensor_2",
        )  # fmt: skip
        assert [int(health[name]) for name in counted] == [
            321, 91, 7, 2**64 + 5, 4, 1234, 0, 326,
        ]  # fmt: skip
        log = drive.told("sanitize-log")[drive.name]
        ways = ("time_over_write", "time_block_erase", "time_crypto_erase")
        assert [log[way] & 0xFFFFFFFF for way in ways] == [UNKNOWN_ESTIMATE, 6, 6]
        assert drive.sanitized() == (0, False, 0xFFFF)
        assert guest.run(f"nvme sanitize {drive.node()} -a 3").code != 0


def test_a_sanitize_of_nvme_cli_leaves_zeros_in_both_namespaces(guest: Guest) -> None:
    with plugged(guest, duration=8.0) as drive:
        for number in (1, 2):
            drive.fill(number)
            assert drive.not_zero(number) > TWO[number - 1]["size_bytes"] * 0.99
        drive.nvme(f"sanitize {drive.node()} -a 2")
        state, erased, progress = drive.sanitized()
        assert (state, erased, progress < 0xFFFF) == (2, False, True)
        assert guest.run(f"dd if={drive.node(2)} of=/dev/null bs=4K count=1 iflag=direct").code == 1
        assert drive.await_sanitized() == (1, True, 0xFFFF)
        assert [drive.not_zero(number) for number in (1, 2)] == [0, 0]
        drive.fill(2)
        assert drive.sanitized() == (1, False, 0xFFFF)
        assert drive.not_zero(1) == 0


def test_a_sanitize_that_a_power_cut_interrupts_goes_on_without_being_sent_again(
    guest: Guest,
) -> None:
    with plugged(guest, duration=5.0) as drive:
        drive.fill(2)
        drive.nvme(f"sanitize {drive.node()} -a 2")
        assert drive.sanitized()[0] == 2
        drive.server.kill("SIGKILL")
        assert drive.server.wait().code == -9
        drive.server = served(guest, drive.knobs)
        state = f"/sys/class/nvme/{drive.name}/state"
        guest.run(AWAIT.format(f"nvme smart-log {drive.node()} && grep -qx live {state}")).good()
        assert drive.await_sanitized() == (1, True, 0xFFFF)
        assert drive.not_zero(2) == 0
        assert int(drive.told("smart-log")["unsafe_shutdowns"]) == 2
        assert [one["opcode"] for one in drive.log()].count(0x84) == 1


def test_a_format_takes_one_namespace_and_the_cache_follows_its_feature(guest: Guest) -> None:
    with plugged(guest) as drive:
        for number in (1, 2):
            drive.fill(number)
        before = drive.not_zero(2)
        drive.nvme(f"format {drive.node(1)} -n 1 -s 1 -l 1 --force")
        size = f"/sys/block/{drive.name}n1/queue/logical_block_size"
        guest.run(AWAIT.format(f"grep -qx 4096 {size}")).good()
        assert drive.told("id-ns", 1)["flbas"] & 0xF == 1
        assert (drive.not_zero(1), drive.not_zero(2)) == (0, before)
        assert drive.cache() == 1
        drive.nvme(f"set-feature {drive.node()} -f 6 -v 0")
        assert drive.cache() == 0
        drive.nvme(f"reset {drive.node()}")
        guest.run(AWAIT.format(f"nvme get-feature {drive.node()} -f 6")).good()
        assert drive.cache() == 1  # it was set, not saved


def identify(cns: int, number: int = 0) -> Command:
    return Command(opcode=0x06, number=number, cdw=(cns,), length=4096)


def log_of(page: int, length: int, *, specific: int = 0, offset: int = 0) -> Command:
    words = ((length // 4 - 1) << 16 | page, specific << 16, offset)
    return Command(opcode=0x02, number=0xFFFFFFFF, cdw=words, length=length)


def get(*cdw: int, length: int = 0) -> Command:
    return Command(opcode=0x0A, cdw=cdw, length=length)


def put(*cdw: int) -> Command:
    return Command(opcode=0x09, cdw=cdw)


def attach(how: int) -> Command:
    return Command(opcode=0x15, number=2, cdw=(how,), data=struct.pack("<HH4092x", 1, 1).hex())


SAVE = 1 << 31
LOGS = (
    log_of(1, 4096), log_of(2, 512), log_of(3, 512), log_of(5, 4096), log_of(6, 564),
    log_of(9, 512, specific=1), log_of(9, 512), log_of(0x81, 512), log_of(0xC0, 512),
    log_of(0x77, 512), log_of(2, 32, offset=200), log_of(2, 32, offset=1024),
)  # fmt: skip
COMMANDS = (
    identify(0, 1), identify(0, 2), identify(0, 9), identify(0), identify(1), identify(2),
    identify(3, 1), identify(3, 9), identify(0x10), identify(0x11, 2), identify(0x12, 1),
    identify(0x13), identify(0x55), *LOGS,
    *(get(one) for one in (1, 2, 4, 5, 6, 7, 0x0A, 0x0B, 0x10, 0x11, 0x17, 0x99)),
    get(0x0C, length=256), *(get(6 | select << 8) for select in (1, 2, 3, 4)),
    put(6, 0), get(6), put(SAVE | 6, 0), get(6 | 2 << 8), put(SAVE | 4, 330), put(4, 330), get(4),
    put(2, 3), get(2), put(2, 30), put(0x10, 320 << 16 | 340), get(0x10), put(0x99, 1),
    Command(opcode=0x14, cdw=(1,)), Command(opcode=0x14, cdw=(1,)),
    Command(opcode=0x14, cdw=(0xF,)), log_of(6, 564),
    attach(1), identify(2), identify(0, 2), identify(0x11, 2), attach(1), attach(0), identify(2),
    Command(opcode=0x80, number=1, cdw=(0x201,)), identify(0, 1),
    Command(opcode=0x80, number=1, cdw=(0x600,)), Command(opcode=0x80, number=1, cdw=(5,)),
    Command(opcode=0x80, number=9, cdw=(0x200,)),
    Command(opcode=0x84, cdw=(1,)), Command(opcode=0x84, cdw=(7,)), log_of(0x81, 512),
    Command(opcode=0x84, cdw=(2,)), log_of(0x81, 512), Command(opcode=0x08, cdw=(1,)),
    Command(opcode=0xC1), Command(opcode=0x0D, number=2, cdw=(1,)), identify(0x10), *LOGS,
)  # fmt: skip
OWN_TO_A_WAY = {
    1: [(64 * entry + 10, 64 * entry + 12) for entry in range(64)],
    2: [(32, 48), (64, 80)],
    9: [(48, 64), (96, 112)],
    0xC0: [(16, 32)],
}
"""By log page: the kernel's own numbers of commands, and what it read of the partition tables."""


def comparable(command: Command, answer: Answer) -> Answer:
    """Return an answer without what belongs to the way that it came."""
    data = bytearray.fromhex(answer.data)
    offset = command.cdw[2] if command.opcode == 0x02 else 0
    for start, end in OWN_TO_A_WAY.get(command.cdw[0] & 0xFF, ()) if command.opcode == 2 else ():
        at, until = max(start - offset, 0), min(max(end - offset, 0), len(data))
        data[at:until] = bytes(max(until - at, 0))
    return Answer(answer.status, answer.result, data.hex())


def in_process(
    folder: Path, knobs: dict[str, Any], log: list[dict[str, Any]], sent: list[Command]
) -> list[Answer]:
    """Return what the drive answers here, when it sees all that it saw in the guest."""
    images = [folder / "1.img", folder / "2.img"]
    drive = NvmeDrive(Knobs().changed(knobs), folder / "drive.json", images)
    front, found = NvmeFront(drive, {}), []
    for entry in log:
        words = entry["cdw"]
        if words[5] & MARK == MARK:
            found += answers(front.answer, 0, [sent[words[5] ^ MARK]])
        else:
            head = struct.pack("<BBHI32x", entry["opcode"], 0, 0, entry["nsid"])
            drive.admin(head + struct.pack("<6I", *words), bytes.fromhex(entry["data"]))
    drive.cut()
    return found


def test_the_kernel_and_the_front_in_process_give_the_same_answers(
    guest: Guest, tmp_path: Path
) -> None:
    sent = []
    for index, one in enumerate(COMMANDS):
        cdw = (*one.cdw, *(0,) * (5 - len(one.cdw)), MARK | index)
        sent.append(Command(**asdict(one) | {"cdw": cdw}))
    with plugged(guest, duration=0.0) as drive:
        said = guest.run(
            ["python3", "-m", "tests.guest.admin_commands", drive.node()],
            stdin=json.dumps([asdict(one) for one in sent]).encode(),
        )
        kernel = [Answer(**one) for one in json.loads(said.good())]
        log = drive.log()
    here = in_process(tmp_path, drive.knobs, log, sent)
    assert len(kernel) == len(here) == len(COMMANDS)
    differing = [
        (one, theirs, ours)
        for one, theirs, ours in zip(sent, kernel, here, strict=True)
        if comparable(one, theirs) != comparable(one, ours)
    ]
    assert not differing
    assert {answer.status for answer in kernel} > {0, 0x4002, 0x400B, 0x4001, 0x410D}
