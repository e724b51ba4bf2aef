"""Our decoding held against that of nvme-cli, smartctl, hdparm and sg3_utils, on the same bytes.

The programs run unchanged over a library (witness.c) that answers their ioctls from files, so that
bytes are compared which no real or emulated drive would send.
"""

import json
import os
import random
import re
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from teijo.device.drive.ata_identity import AtaIdentity, identity_of
from teijo.device.drive.nvme_identity import controller_of, namespace_of, sanitize_status_of
from teijo.device.drive.scsi_identity import (
    characteristics_of,
    inquiry_of,
    pages_of,
    unmapping_of,
)
from tests.device.loops import need
from tests.device.test_drive_identity import nvme_controller, nvme_namespace

SOURCE = Path(__file__).with_name("witness.c")
SEEDS = range(8)
UNSIGNED = 0xFFFFFFFF
"""nvme-cli 2.3 prints numbers of 32 bits as signed."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the library that answers."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler (gcc)")
    path = tmp_path_factory.mktemp("witness") / "witness.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(path), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    return path


class Witness:
    """Programs asked about a drive that is a folder of answers."""

    def __init__(self, library: Path, folder: Path) -> None:
        self.library, self.folder = library, folder

    def put(self, name: str, data: bytes) -> None:
        (self.folder / name).write_bytes(data)

    def ask(self, *command: str) -> str:
        need(command[0])
        paths = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        told = {"LD_PRELOAD": str(self.library), "TEIJO_WITNESS": str(self.folder)}
        environment = {"LC_ALL": "C", "PATH": paths} | told
        done = subprocess.run(
            [shutil.which(command[0], path=paths) or command[0], *command[1:]],
            env=environment, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        return done.stdout

    def json(self, *command: str) -> dict[str, Any]:
        said = self.ask(*command)
        found: dict[str, Any] = json.loads(said)
        return found


@pytest.fixture
def witness(library: Path, tmp_path: Path) -> Witness:
    return Witness(library, tmp_path)


def bit(value: int, number: int) -> bool:
    return bool(value >> number & 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_controller_is_what_nvme_cli_says(witness: Witness, seed: int) -> None:
    raw, chance = nvme_controller(), random.Random(seed)
    for at, size in ((76, 1), (78, 6), (256, 2), (263, 1), (265, 5), (280, 32), (328, 4), (520, 6)):
        raw[at : at + size] = chance.randbytes(size)
    raw[263] %= 32
    raw[111] = chance.randrange(4)
    raw[2048:3072] = chance.randbytes(1024)
    witness.put("06-0001-0", bytes(raw))
    its = witness.json("nvme", "id-ctrl", "/dev/null", "-o", "json")
    ours = controller_of(bytes(raw))
    assert (ours.serial, ours.model) == (its["sn"].strip(), its["mn"].strip())
    assert ours.firmware == its["fr"].strip()
    assert int(ours.pci_vendor, 16) == its["vid"]
    assert int(ours.pci_subsystem_vendor, 16) == its["ssvid"]
    assert int(ours.ieee_oui, 16) == its["ieee"]
    assert ours.subsystem_nqn == its["subnqn"]
    version = its["ver"] & UNSIGNED
    parts = [version >> 16, version >> 8 & 0xFF, version & 0xFF]
    assert [int(one) for one in ours.spec_version.split(".")] == parts[: 3 if parts[2] else 2]
    assert ours.controller_id == its["cntlid"]
    assert (ours.has_several_ports, ours.has_several_controllers) == (
        bit(its["cmic"], 0), bit(its["cmic"], 1),
    )  # fmt: skip
    assert (ours.most_namespaces & UNSIGNED, ours.warning_kelvin) == (its["nn"], its["wctemp"])
    assert ours.critical_kelvin == its["cctemp"]
    assert str(ours.capacity_bytes) == str(its["tnvmcap"])
    assert str(ours.unallocated_bytes) == str(its["unvmcap"])
    offers = (
        ours.security_commands, ours.format.supported, ours.manages_namespaces, ours.self_test,
    )  # fmt: skip
    assert offers == tuple(bit(its["oacs"], number) for number in (0, 1, 3, 4))
    assert (ours.deallocate, ours.write_zeroes) == (bit(its["oncs"], 2), bit(its["oncs"], 3))
    formats = (
        ours.format.formats_all_namespaces, ours.format.erases_all_namespaces,
        ours.format.crypto_erase, ours.format.refuses_broadcast,
    )  # fmt: skip
    assert formats == tuple(bit(its["fna"], number) for number in range(4))
    sanitizes = (
        ours.sanitize.crypto, ours.sanitize.block, ours.sanitize.overwrite,
        ours.sanitize.no_deallocate_inhibited,
    )  # fmt: skip
    assert sanitizes == tuple(bit(its["sanicap"], number) for number in (0, 1, 2, 29))
    assert ours.volatile_write_cache == bit(its["vwc"], 0)
    assert ours.autonomous_power_states == bit(its["apsta"], 0)
    assert len(ours.power_states) == len(its["psds"]) == its["npss"] + 1
    for mine, other in zip(ours.power_states, its["psds"], strict=True):
        flags = other["flags"] if "flags" in other else flags_of(other)
        unit = 0.1 if bit(flags, 0) else 10
        assert mine.max_mw == pytest.approx(other["max_power"] * unit)
        assert mine.is_operational == (not bit(flags, 1))
        scale = {1: 0.1, 2: 10.0}
        idle = other["idle_power"] * scale.get(other["idle_scale"], 0)
        active = other["active_power"] * scale.get(other["active_scale"], 0)
        assert (mine.idle_mw, mine.active_mw) == (pytest.approx(idle), pytest.approx(active))
        times = (other["entry_lat"] & UNSIGNED, other["exit_lat"] & UNSIGNED)
        assert (mine.entry_us, mine.exit_us) == times


def flags_of(state: dict[str, Any]) -> int:
    """Return the two flags of a power state as nvme-cli before 2.3 and after 2.9 spells them."""
    return int(state["max_power_scale"]) | int(state["non-operational_state"]) << 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_namespace_is_what_nvme_cli_says(witness: Witness, seed: int) -> None:
    raw, chance = nvme_namespace(), random.Random(seed)
    struct.pack_into("<QQQ", raw, 0, *(chance.randrange(1 << 40) for _ in range(3)))
    formats = chance.randrange(1, 17)
    raw[24:26] = bytes((chance.randrange(32), formats - 1))
    raw[26] = chance.randrange(formats)
    raw[28:34] = chance.randbytes(6)
    raw[99:128] = chance.randbytes(29)
    for number in range(formats):
        row = (chance.randrange(64), chance.choice((9, 12)), chance.randrange(4))
        struct.pack_into("<HBB", raw, 128 + 4 * number, *row)
    witness.put("06-0000-1", bytes(raw))
    its = witness.json("nvme", "id-ns", "/dev/null", "-n", "1", "-o", "json")
    ours = namespace_of(bytes(raw), 1, attached=True)
    used = its["lbafs"][its["flbas"] & 0xF]
    block = 1 << used["ds"]
    assert (ours.block_bytes, ours.metadata_bytes) == (block, used["ms"])
    assert ours.size_bytes == its["nsze"] * block
    assert ours.capacity_bytes == its["ncap"] * block
    assert ours.used_bytes == its["nuse"] * block
    assert [(one.metadata_bytes, one.data_bytes, one.performance) for one in ours.formats] == [
        (one["ms"], 1 << one["ds"], one["rp"] & 3) for one in its["lbafs"][:formats]
    ]
    assert [one.number for one in ours.formats if one.in_use] == [its["flbas"] & 0xF]
    assert ours.thin_provisioned == bit(its["nsfeat"], 0)
    assert ours.may_be_shared == bit(its["nmic"], 0)
    assert ours.write_protected == bit(its["nsattr"], 0)
    kind = its["dps"] & 7
    assert ours.protection.startswith("none" if kind == 0 else f"type {kind}" if kind < 4 else "")
    assert len(ours.protection_supported) == (its["dpc"] & 7).bit_count()
    assert ours.deallocated_reads == {1: "zeros", 2: "ones"}.get(its["dlfeat"] & 7, "")
    left = its["fpi"] & 0x7F if bit(its["fpi"], 7) else None
    assert ours.format_left_percent == left
    assert (ours.nguid, ours.eui64) == (its["nguid"].replace("-", ""), its["eui64"])


@pytest.mark.parametrize("status", [0, 1, 2, 3, 4, 0x101, 0x11A])
def test_the_sanitize_log_is_what_nvme_cli_says(witness: Witness, status: int) -> None:
    raw = struct.pack("<HHIIII", 0x1234, status, 2, 600, 30, 2).ljust(512, b"\0")
    witness.put("02-0081-ffffffff", raw)
    (its,) = witness.json("nvme", "sanitize-log", "/dev/null", "-o", "json").values()
    ours = sanitize_status_of(raw)
    assert ours.code == int(its["sstat"]["status"][1])
    assert ours.never_written_since == bool(its["sstat"]["global_erased"])
    assert ours.overwrite_passes == its["sstat"]["no_cmplted_passes"]
    assert ours.progress == (its["sprog"] if ours.runs else None)
    assert (ours.overwrite_s, ours.block_s, ours.crypto_s) == (
        its["time_over_write"], its["time_block_erase"], its["time_crypto_erase"],
    )  # fmt: skip


def ata_bytes(chance: random.Random) -> bytes:
    """Return IDENTIFY DEVICE of a drive whose features are drawn."""
    raw = bytearray(512)

    def put(number: int, value: int) -> None:
        struct.pack_into("<H", raw, 2 * number, value)

    def spell(start: int, end: int, said: str) -> None:
        field = said.encode().ljust(2 * (end - start))
        raw[2 * start : 2 * end] = bytes(field[at ^ 1] for at in range(len(field)))

    spell(10, 20, f"SER{chance.randrange(10**6)}")
    spell(23, 27, f"FW{chance.randrange(100)}")
    spell(27, 47, "Made Up Drive")
    sectors = chance.randrange(1 << 29, 1 << 34)
    for number, value in {
        0: 0x0040, 47: 0x8001, 49: 0x0F00, 53: 7, 60: 0xFFFF, 61: 0x0FFF,
        59: chance.randrange(16) << 12 | 1 << 12, 69: chance.choice((0, 0x4000, 0x4020)),
        75: chance.randrange(32), 76: chance.choice((0x102, 0x106, 0x10E)),
        77: chance.randrange(1, 4) << 1, 80: (1 << chance.randrange(8, 12)) * 2 - 2,
        82: 0x0023, 83: 0x7400, 84: 0x4103, 85: 0x0023, 86: 0x3400, 87: 0x4103,
        89: chance.choice((3, 0xFF, 0x8123)), 90: chance.choice((5, 0x8005)),
        100: sectors & 0xFFFF, 101: sectors >> 16 & 0xFFFF, 102: sectors >> 32,
        106: chance.choice((0x4000, 0x6003)), 108: 0x5000, 109: 0xC500,
        110: chance.randrange(1 << 16), 111: chance.randrange(1 << 16),
        128: chance.randrange(64) | 0x01, 168: chance.randrange(1, 6), 169: chance.randrange(2),
        217: chance.choice((1, 5400, 7200, 15000)), 222: 0x10FF, 255: 0xA5,
    }.items():  # fmt: skip
        put(number, value)
    raw[511] = -sum(raw) & 0xFF
    return bytes(raw)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_ata_drive_is_what_smartctl_says(witness: Witness, seed: int) -> None:
    raw = ata_bytes(random.Random(seed))
    witness.put("ata-ec", raw)
    witness.put("inq-0-00", b"\0\0\6\2\x1f\0\0\0ATA     Made Up Drive   FW1 ")
    its = witness.json("smartctl", "-j", "-i", "-g", "security", "-d", "sat", "/dev/null")
    ours = identity_of(raw)
    assert (ours.serial, ours.firmware) == (its["serial_number"], its["firmware_version"])
    assert (ours.model, ours.size_bytes) == (its["model_name"], its["user_capacity"]["bytes"])
    assert ours.logical_block_bytes == its["logical_block_size"]
    assert ours.physical_block_bytes == its["physical_block_size"]
    wwn = its["wwn"]
    assert int(ours.wwn, 16) == wwn["naa"] << 60 | wwn["oui"] << 36 | wwn["id"]
    assert ours.rotation_rpm == its["rotation_rate"]
    assert ours.form_factor.split()[0] == its["form_factor"]["name"].split()[0].lstrip("<")or (
        ours.form_factor.startswith("less than")
        and its["form_factor"]["name"].startswith("<")
    )  # fmt: skip
    assert its["ata_version"]["string"].startswith(ours.spec_version)
    assert ours.sata_speed_possible == its["interface_speed"]["max"]["string"]
    assert ours.sata_speed_now == its["interface_speed"]["current"]["string"]
    trim = its["trim"]
    assert ours.trim == trim["supported"]
    if ours.trim:
        word = (trim["deterministic"], trim["zeroed"])
        said = {(False, False): "anything", (True, False): "the same each time"}
        assert ours.trimmed_reads == said.get(word, "zeros")
    security = its["ata_security"]
    assert ours.security.enabled == security["enabled"]
    assert ours.security.frozen == security.get("frozen", ours.security.frozen)
    assert ours.security.locked == security.get("locked", ours.security.locked)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_ata_drive_is_what_hdparm_says(seed: int, tmp_path: Path) -> None:
    need("hdparm")
    raw = ata_bytes(random.Random(seed))
    words = " ".join(f"{word:04x}" for (word,) in struct.iter_unpack("<H", raw))
    said = subprocess.run(
        ["/usr/sbin/hdparm", "--Istdin"], input=words, capture_output=True, text=True, check=True
    ).stdout
    ours = identity_of(raw)
    assert ours.is_whole == ("Checksum: correct" in said)
    assert security_words(said) == {
        "supported": ours.security.supported,
        "enabled": ours.security.enabled,
        "locked": ours.security.locked,
        "frozen": ours.security.frozen,
        "expired: security count": ours.security.tries_used_up,
        "supported: enhanced erase": ours.security.enhanced_erase,
    }
    sanitize = {
        "CRYPTO_SCRAMBLE_EXT": ours.sanitize.crypto,
        "BLOCK_ERASE_EXT": ours.sanitize.block,
        "OVERWRITE_EXT": ours.sanitize.overwrite,
    }
    assert {name: name in said for name in sanitize} == sanitize
    times = re.search(r"^\t(.*) for SECURITY ERASE UNIT\.(.*)$", said, re.MULTILINE)
    assert ours.security.erase is not None
    assert times is not None
    assert times[1] == shown(ours)
    # hdparm prints the time of an enhanced erase that the drive does not have.
    enhanced = ours.security.enhanced
    assert enhanced is None or times[2].startswith(f" {enhanced.minutes}min for ENHANCED")


def security_words(said: str) -> dict[str, bool]:
    """Return hdparm's paragraph on security: each line is a word, perhaps with a *not*."""
    found = {}
    for line in said.split("Security:")[1].splitlines()[1:]:
        match = re.fullmatch(r"\t(not)?\t(.*)", line)
        if match and not match[2].startswith("Master"):
            found[match[2]] = match[1] is None
    return found


def shown(ours: AtaIdentity) -> str:
    assert ours.security.erase is not None
    erase = ours.security.erase
    return f"more than {erase.minutes}min" if erase.longer else f"{erase.minutes}min"


def hexadecimal(path: Path, data: bytes) -> str:
    path.write_text(" ".join(f"{each:02x}" for each in data))
    return f"--inhex={path}"


@pytest.mark.parametrize("seed", SEEDS)
def test_scsi_pages_are_what_sg_vpd_says(witness: Witness, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    numbers = sorted({0, 0x80, 0x83, *chance.sample(range(0xB0, 0xB9), 4)})
    page_0 = bytes((0, 0, 0, len(numbers), *numbers))
    said = witness.ask("sg_vpd", hexadecimal(tmp_path / "a", page_0), "--page=sv", "--hex")
    assert pages_of(page_0) == set(numbers)
    told = witness.ask("sg_vpd", hexadecimal(tmp_path / "a", page_0), "--page=sv")
    assert len([line for line in told.splitlines() if line.startswith("  ")]) == len(numbers), said
    rate = chance.choice((0, 1, 5400, 7200, 15000))
    head = struct.pack(
        ">BBHHBBB", 0, 0xB1, 60, rate, 0, chance.randrange(6), chance.randrange(3) << 4
    )
    page = head.ljust(64, b"\0")
    said = witness.ask("sg_vpd", hexadecimal(tmp_path / "b", page), "--page=bdc")
    ours = characteristics_of(page)
    assert ("Non-rotating" in said) == (ours.rotation_rpm == 0)
    if ours.rotation_rpm:
        assert f"{ours.rotation_rpm} rpm" in said
    assert (ours.form_factor.split()[0] if ours.form_factor else "not reported") in said
    assert ("host-aware" in said) == (ours.zoned == "host-aware")
    provisioning = bytes((0, 0xB2, 0, 4, 0, chance.randrange(8) << 5 | chance.randrange(2) << 2,
                          chance.randrange(3), 0))  # fmt: skip
    said = witness.ask("sg_vpd", hexadecimal(tmp_path / "c", provisioning), "--page=lbpv")
    unmap = unmapping_of(b"", provisioning, None)
    assert f"(LBPU): {unmap.unmap:d}" in said
    assert f"(LBPWS): {unmap.write_same_16:d}" in said
    assert f"(LBPWS10): {unmap.write_same_10:d}" in said
    assert f"(LBPRZ): {unmap.reads_zeros:d}" in said
    assert {"": "not known", "resource": "resource provisioned", "thin": "thin provisioned"}[
        unmap.provisioning
    ] in said or not unmap.provisioning


def test_inquiry_is_what_sg_inq_says(witness: Witness, tmp_path: Path) -> None:
    raw = b"\0\0\6\2\x5b\0\0\0MAKER   A Disk of Theirs0042".ljust(96, b"\0")
    said = witness.ask("sg_inq", hexadecimal(tmp_path / "a", raw))
    ours = inquiry_of(raw)
    assert f"Vendor identification: {ours.vendor}" in said
    assert f"Product identification: {ours.product}" in said
    assert f"Product revision level: {ours.revision}" in said
    assert f"[{ours.spec_version}]" in said
