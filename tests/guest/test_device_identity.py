"""`teijo device` through a kernel: against nvme-cli and smartctl, heads, zones (B1, B11, B12)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.guest import test_nvme_tcp as nvme_tcp
from tests.guest import test_tcmu as tcmu
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


def told(guest: Guest, device: str, *, fresh: bool = False) -> dict[str, Any]:
    said = guest.run(["teijo", "device", device, "--json"], timeout=120, fresh=fresh).good()
    found: dict[str, Any] = json.loads(said)
    return found


def smartctl(guest: Guest, device: str) -> dict[str, Any]:
    """Return what smartctl says; its exit code tells of the drive's health as well."""
    found: dict[str, Any] = json.loads(guest.run(["smartctl", "-j", "-x", device]).out)
    return found


def differing(fields: dict[str, tuple[Any, Any]]) -> dict[str, tuple[Any, Any]]:
    """Return the fields of which we and a witness say something else."""
    return {name: (ours, its) for name, (ours, its) in fields.items() if ours != its}


def of_both(ours: dict[str, Any], its: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what smartctl tells of every disk, by both."""
    return {
        "size": (ours["size_bytes"], its["user_capacity"]["bytes"]),
        "logical block": (ours["logical_block_bytes"], its["logical_block_size"]),
        "physical block": (ours["physical_block_bytes"], its["physical_block_size"]),
        "rotation": (ours["rotation_rpm"], its["rotation_rate"]),
        "form factor": (ours["form_factor"], its["form_factor"]["name"].replace("inches", "inch")),
        "serial": (ours["serial"], its["serial_number"]),
    }


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


@pytest.mark.long
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


def test_an_nvme_drive_of_two_namespaces_is_told_as_nvme_cli_and_smartctl_tell_it(
    guest: Guest,
) -> None:
    knobs = {"fna": 0b101, "sanicap": 0b11, "oacs": 0x1A, "wctemp": 340, "firmware": "7.1"}
    with nvme_tcp.plugged(guest, **knobs) as drive:
        for number in (1, 2):
            seen = told(guest, drive.node(number))
            check_nvme(guest, drive.node(number), seen)
            ours, its = seen["drive"]["nvme"], smartctl(guest, drive.node(number))
            controller, listed = ours["controller"], ours["namespaces"][number - 1]
            (theirs,) = its["nvme_namespaces"]
            assert differing({
                "model": (controller["model"], its["model_name"]),
                "serial": (controller["serial"], its["serial_number"]),
                "firmware": (controller["firmware"], its["firmware_version"]),
                "controller": (controller["controller_id"], its["nvme_controller_id"]),
                "namespaces": (controller["most_namespaces"], its["nvme_number_of_namespaces"]),
                "number": (listed["number"], theirs["id"]),
                "size": (listed["size_bytes"], theirs["size"]["bytes"]),
                "capacity": (listed["capacity_bytes"], theirs["capacity"]["bytes"]),
                "used": (listed["used_bytes"], theirs["utilization"]["bytes"]),
                "block": (listed["block_bytes"], theirs["formatted_lba_size"]),
            }) == {}  # fmt: skip
        assert [one["number"] for one in ours["namespaces"]] == [1, 2]


def test_a_sata_drive_is_told_as_smartctl_tells_it(guest: Guest) -> None:
    with tcmu.plugged(guest, "sata", rotation=7200, speed=3, speed_now=2) as drive:
        ours = told(guest, drive.node)["drive"]["ata"]["identity"]
        its = smartctl(guest, drive.node)
    security, speed = its["ata_security"], its["interface_speed"]
    wwn = its["wwn"]
    assert differing(of_both(ours, its) | {
        "model": (ours["model"], its["model_name"]),
        "firmware": (ours["firmware"], its["firmware_version"]),
        "wwn": (int(ours["wwn"].removeprefix("naa."), 16),
                wwn["naa"] << 60 | wwn["oui"] << 36 | wwn["id"]),
        "speed": (ours["sata_speed_possible"], speed["max"]["string"]),
        "speed now": (ours["sata_speed_now"], speed["current"]["string"]),
        "TRIM": (ours["trim"], its["trim"]["supported"]),
        "zeros after TRIM": (ours["trimmed_reads"] == "zeros", its["trim"].get("zeroed")),
        "security": (ours["security"]["enabled"], security["enabled"]),
        "frozen": (ours["security"]["frozen"], security["frozen"]),
        "cache": (ours["volatile_write_cache"], its["write_cache"]["enabled"]),
    }) == {}  # fmt: skip


def test_a_sas_drive_is_told_as_smartctl_tells_it(guest: Guest) -> None:
    with tcmu.plugged(guest, "sas", rotation=15000) as drive:
        scsi = told(guest, drive.node)["drive"]["scsi"]
        its = smartctl(guest, drive.node)
    ours = scsi["capacity"] | scsi["characteristics"] | {"serial": scsi["serial"]}
    inquiry, provisioning = scsi["inquiry"], its["scsi_lb_provisioning"]
    assert differing(of_both(ours, its) | {
        "vendor": (inquiry["vendor"], its["scsi_vendor"]),
        "product": (inquiry["product"], its["scsi_product"]),
        "revision": (inquiry["revision"], its["scsi_revision"]),
        "version": (inquiry["spec_version"], its["scsi_version"]),
        "provisioned": (ours["provisioned"], provisioning["management_enabled"]["value"]),
        "zeros": (ours["reads_zeros"], provisioning["read_zeros"]["value"]),
    }) == {}  # fmt: skip


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
        seen = told(guest, "/dev/nullb0", fresh=True)
        assert seen["drive"]["zoned"] == "host-managed"
        refused_unwritten(guest, "/dev/nullb0", seen)
    finally:
        guest.run(["rmmod", "null_blk"]).good()
