"""`teijo device` through a kernel: against nvme-cli and smartctl, heads, zones (B1, B11, B12)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.guest.machine import Guest, Hardware

pytestmark = pytest.mark.vm

SINGLE, HEAD, ZONED = "SINGLE", "MULTI", "ZONED"


def hardware(folder: Path) -> Hardware:
    """Three NVMe drives behind root ports (single, multipath head, zoned) and a SATA disk."""
    words: list[str] = []
    for name in ("one", "two", "three", "four"):
        path = folder / f"{name}.img"
        with path.open("wb") as file:
            file.truncate(64 << 20)
        words += ["-drive", f"file={path},if=none,id={name},format=raw"]
    for slot in (1, 2, 3):
        words += ["-device", f"pcie-root-port,id=port{slot},slot={slot}"]
    for device in (
        f"nvme,serial={SINGLE},drive=one,bus=port1",
        "nvme-subsys,id=sub0,nqn=sub0",
        f"nvme,serial={HEAD},subsys=sub0,bus=port2,id=multi",
        "nvme-ns,drive=two,bus=multi,nsid=1",
        f"nvme,serial={ZONED},bus=port3,id=zones",
        "nvme-ns,drive=three,bus=zones,zoned=on,zoned.zone_size=4M",
        "ide-hd,drive=four,bus=ide.0,serial=QIDE,rotation_rate=7200",
    ):
        words += ["-device", device]
    return Hardware(devices=tuple(words))


def told(guest: Guest, device: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        guest.run(["teijo", "device", device, "--json"], timeout=120).good()
    )
    return found


def bits(value: int, numbers: tuple[int, ...]) -> list[bool]:
    return [bool(value >> number & 1) for number in numbers]


def check_nvme(guest: Guest, device: str, seen: dict[str, Any]) -> None:
    """Hold what we say of an NVMe drive against nvme-cli, field by field."""
    nvme = seen["drive"]["nvme"]
    ours, format_, sanitize = (
        nvme["controller"],
        *map(nvme["controller"].get, ("format", "sanitize")),
    )
    its = json.loads(guest.run(["nvme", "id-ctrl", device, "-o", "json"]).good())
    assert [ours["serial"], ours["model"], ours["firmware"], ours["subsystem_nqn"]] == [
        its["sn"].strip(), its["mn"].strip(), its["fr"].strip(), its["subnqn"],
    ]  # fmt: skip
    assert [ours["controller_id"], ours["most_namespaces"], ours["warning_kelvin"]] == [
        its["cntlid"], its["nn"], its["wctemp"],
    ]  # fmt: skip
    assert [
        format_["formats_all_namespaces"], format_["erases_all_namespaces"],
        format_["crypto_erase"], format_["refuses_broadcast"],
    ] == bits(its["fna"], (0, 1, 2, 3))  # fmt: skip
    assert [sanitize["crypto"], sanitize["block"], sanitize["overwrite"]] == bits(
        its["sanicap"], (0, 1, 2)
    )
    assert [ours["security_commands"], format_["supported"], ours["manages_namespaces"]] == bits(
        its["oacs"], (0, 1, 3)
    )
    assert len(ours["power_states"]) == its["npss"] + 1
    listing = ["nvme", "list-ns", device, *(["-a"] if ours["manages_namespaces"] else [])]
    listed = json.loads(guest.run([*listing, "-o", "json"]).good())
    assert nvme["allocated"] == [one["nsid"] for one in listed["nsid_list"]]
    for one in nvme["namespaces"]:
        words = ["nvme", "id-ns", device, "-n", str(one["number"]), "-o", "json"]
        its = json.loads(guest.run(words).good())
        used = its["lbafs"][its["flbas"] & 0xF]
        assert [one["size_bytes"], one["capacity_bytes"], one["used_bytes"]] == [
            its[name] << used["ds"] for name in ("nsze", "ncap", "nuse")
        ]
        assert [one["block_bytes"], one["metadata_bytes"]] == [1 << used["ds"], used["ms"]]


def test_a_drive_is_told_as_the_witnesses_tell_it(
    new_guest: Callable[[Hardware], Guest], tmp_path: Path
) -> None:
    guest = new_guest(hardware(tmp_path))
    for module in ("ahci", "nvme"):
        guest.run(["modprobe", module]).good()
    guest.run(["udevadm", "settle"])
    drives = {}
    for device in ("/dev/nvme0n1", "/dev/nvme1n1", "/dev/nvme2n1"):
        seen = told(guest, device)
        drives[seen["drive"]["nvme"]["controller"]["serial"]] = (device, seen)
        check_nvme(guest, device, seen)
    assert set(drives) == {SINGLE, HEAD, ZONED}

    # B11: the head has what the single controller has, with an address of its own.
    _, single = drives[SINGLE]
    at, head = drives[HEAD]
    assert "nvme-subsys" in guest.run(["readlink", "-f", f"/sys/block/{Path(at).name}"]).good()
    for one in (single, head):
        facts, (path,) = one["identity"]["facts"], one["drive"]["place"]["controllers"]
        assert one["identity"]["interface"] == "NVMe pcie"
        assert facts["address"] == path["address"]
        assert path["address"] in facts["HBA"]
        assert one["drive"]["place"]["links"][0]["address"] == path["address"]
    assert single["identity"]["facts"]["link"] == head["identity"]["facts"]["link"]
    assert single["identity"]["facts"]["address"] != head["identity"]["facts"]["address"]

    # B12: a zoned namespace is not written.
    at, zoned = drives[ZONED]
    assert zoned["drive"]["zoned"] == "host-managed"
    assert [one["command_set"] for one in zoned["drive"]["nvme"]["namespaces"]] == ["zoned"]
    refused_unwritten(guest, at, zoned)

    disk = told(guest, "/dev/sda")["drive"]["ata"]["identity"]
    its = json.loads(guest.run(["smartctl", "-j", "-x", "/dev/sda"]).out)
    assert [disk["model"], disk["serial"], disk["firmware"], disk["size_bytes"]] == [
        its["model_name"], its["serial_number"], its["firmware_version"],
        its["user_capacity"]["bytes"],
    ]  # fmt: skip
    assert disk["rotation_rpm"] == its["rotation_rate"]
    assert disk["trim"] == its["trim"]["supported"]


def refused_unwritten(guest: Guest, device: str, seen: dict[str, Any]) -> None:
    """Let a run that names the serial be refused; the kernel counts that nothing was written."""
    serial, name = seen["identity"]["serial"], Path(device).name
    words = ["teijo", "run", "workload", device, "--destroy", serial, "rw=randwrite", "bytes=1MiB"]
    ran = guest.run([*words, "-o", "/tmp/zoned.teijo"], timeout=120)
    assert ran.code == 3
    assert "zones: " in ran.err
    assert "until somebody writes zones" in ran.err
    written = guest.run(["cat", f"/sys/block/{name}/stat"]).good().split()[4]
    assert written == "0"


def test_a_zoned_null_block_device_is_not_written(guest: Guest) -> None:
    guest.run(["modprobe", "null_blk", "nr_devices=1", "zoned=1", "gb=1", "zone_size=64"]).good()
    try:
        seen = told(guest, "/dev/nullb0")
        assert seen["drive"]["zoned"] == "host-managed"
        refused_unwritten(guest, "/dev/nullb0", seen)
    finally:
        guest.run(["rmmod", "null_blk"]).good()
