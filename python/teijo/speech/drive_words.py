"""Who a drive is in words, by topic, as it says itself (docs/device.md)."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from teijo.speech.sections import Facts, Rows, Section, Table
from teijo.speech.tongue import said, tr
from teijo.units import ZERO_CELSIUS_KELVIN, format_size

if TYPE_CHECKING:
    from teijo.device.drive.ata_identity import AtaSecurity, EraseTime
    from teijo.device.drive.nvme_drive import NvmeDrive
    from teijo.device.drive.nvme_identity import NvmeController, NvmeNamespace, SanitizeStatus
    from teijo.device.drive.scsi_drive import AtaDrive, ScsiDrive
    from teijo.device.drive.seen import Seen


def unfinished(seen: "Seen") -> Table:
    """Return what must be ended before anything else, and what to type for it."""
    return Table(
        tr("first of all: this is not finished"),
        ("WHAT", "DONE", "TO LOOK OR TO END IT"),
        [(said(one.text), percent(one.percent), one.remedy) for one in seen.unfinished],
    )


def percent(value: float | None) -> str:
    """Return how far something is; empty where nobody tells."""
    return "" if value is None else f"{value:.1f} %"


def sections(seen: "Seen") -> Iterator[Section]:
    """Yield all that a drive says of itself, by topic; what it does not tell, with the reason."""
    told = seen.portrait
    if told.nvme is not None and told.nvme.controller is not None:
        yield Facts(tr("controller"), controller(told.nvme, told.nvme.controller))
        yield from namespaces(told.nvme)
        yield Facts(tr("features"), nvme_features(told.nvme, told.nvme.controller))
        yield power_states(told.nvme.controller)
    if told.ata is not None and told.ata.identity is not None:
        yield Facts(tr("ATA drive"), ata_drive(told.ata))
    elif told.scsi is not None and told.scsi.inquiry is not None:
        yield Facts(tr("SCSI drive"), scsi_drive(told.scsi))
    yield Facts(tr("where it hangs"), place(seen))
    yield Facts(tr("not told"), tuple(told.not_told.items()))


def controller(drive: "NvmeDrive", one: "NvmeController") -> Rows:
    """Return who the controller of an NVMe drive is."""
    ids = ", ".join(str(each) for each in drive.controllers or (one.controller_id,))
    return (
        ("specification", f"NVMe {one.spec_version}".strip()),
        ("subsystem", one.subsystem_nqn),
        ("controller", f"{one.controller_id} {one.controller_type}".strip()),
        ("controllers", ids),
        ("PCI vendor", f"{one.pci_vendor}, {tr('subsystem')} {one.pci_subsystem_vendor}"),
        ("several ports", yes(one.has_several_ports)),
        ("capacity", size(one.capacity_bytes)),
        ("not allocated", size(one.unallocated_bytes)),
        ("warns at", celsius(one.warning_kelvin)),
        ("critical at", celsius(one.critical_kelvin)),
    )


def namespaces(drive: "NvmeDrive") -> Iterator[Section]:
    """Yield the namespaces of a drive as a table, and the LBA formats of the one that is open."""
    rows = [
        (
            f"{one.number}{' *' if one.number == drive.this else ''}",
            yes(one.attached),
            size(one.size_bytes),
            size(one.used_bytes),
            block(one.block_bytes, one.metadata_bytes),
            said(one.protection) if one.protection == "none" else one.protection,
            said(one.deallocated_reads) or tr("unknown"),
        )
        for one in drive.namespaces
    ]
    yield Table(
        tr("namespaces (* this one)"),
        ("NUMBER", "ATTACHED", "SIZE", "USED", "BLOCK", "PROTECTION", "READS AFTER TRIM"),
        rows,
    )
    mine = next((one for one in drive.namespaces if one.number == drive.this), None)
    if mine is not None:
        yield Facts(tr("formats of this namespace"), formats(mine))


def formats(one: "NvmeNamespace") -> Rows:
    """Return the LBA formats of a namespace."""
    marks = {True: tr("in use"), False: ""}
    return tuple(
        (
            str(each.number),
            " ".join(
                word
                for word in (
                    block(each.data_bytes, each.metadata_bytes),
                    tr("(relative performance {n})", n=each.performance),
                    marks[each.in_use],
                )
                if word
            ),
        )
        for each in one.formats
    )


def nvme_features(drive: "NvmeDrive", one: "NvmeController") -> Rows:
    """Return what an NVMe drive can do to itself, and in which state that is."""
    kinds = (
        (one.sanitize.block, "block erase"),
        (one.sanitize.crypto, "crypto erase"),
        (one.sanitize.overwrite, "overwrite"),
        (one.sanitize.verification, "media verification"),
    )
    fna = (
        (one.format.formats_all_namespaces, "a format is of all namespaces"),
        (one.format.erases_all_namespaces, "a secure erase is of all namespaces"),
        (one.format.crypto_erase, "crypto erase"),
        (one.format.refuses_broadcast, "not of all namespaces at once"),
    )
    log = drive.sanitize
    status = f"{said(log.state)} {percent(log.percent)}".strip() if log else ""
    if log and log.never_written_since:
        status = f"{status}, {tr('nothing was written since')}"
    return (
        ("TRIM", yes(one.deallocate)),
        ("write zeroes", yes(one.write_zeroes)),
        ("sanitize", either(kinds)),
        ("last sanitize", status),
        ("sanitize takes", sanitize_times(log)),
        ("no-deallocate", tr("refused") if one.sanitize.no_deallocate_inhibited else ""),
        ("Format NVM", either(((one.format.supported, "user data erase"), *fna))),
        ("security", yes(one.security_commands)),
        ("locking", said(drive.locking or "")),
        ("namespace management", yes(one.manages_namespaces)),
        ("write cache", tr("volatile") if one.volatile_write_cache else tr("none")),
        ("power state", "" if drive.power_state is None else str(drive.power_state)),
        ("by itself", transitions(drive)),
    )


def sanitize_times(log: "SanitizeStatus | None") -> str:
    """Return how long the drive expects each kind of sanitize to take."""
    if log is None:
        return ""
    times = (("block erase", log.block_s), ("crypto erase", log.crypto_s),
             ("overwrite", log.overwrite_s))  # fmt: skip
    return ", ".join(f"{said(name)} {seconds} s" for name, seconds in times if seconds is not None)


def transitions(drive: "NvmeDrive") -> str:
    """Return how the drive changes its power state by itself (APST)."""
    if drive.moves_by_itself is None:
        return ""
    rows = ", ".join(
        f"{one.state}→{one.goes_to} ({one.after_ms} ms)" for one in drive.transitions or ()
    )
    return f"{tr('on') if drive.moves_by_itself else tr('off')} {rows}".strip()


def power_states(one: "NvmeController") -> Table:
    """Return the table of power states; empty where there is but one that says nothing."""
    rows = [
        (
            str(each.number),
            f"{each.max_mw / 1000:.2f} W" if each.max_mw else tr("unknown"),
            yes(each.is_operational),
            f"{each.entry_us} µs",
            f"{each.exit_us} µs",
        )
        for each in one.power_states
    ]
    return Table(
        tr("power states"),
        ("STATE", "AT MOST", "SERVES I/O", "ENTRY", "EXIT"),
        rows if len(rows) > 1 else (),
    )


def ata_drive(drive: "AtaDrive") -> Rows:
    """Return what an ATA drive says of itself."""
    one = drive.identity
    assert one is not None
    from teijo.device.drive.ata_identity import WAYS_OUT_OF_FROZEN

    log = drive.sanitize
    states = (
        ()
        if log is None
        else (
            (log.running, f"{tr('under way')} {percent(log.percent)}"),
            (log.failed, tr("failed")),
            (log.completed, tr("completed")),
            (log.frozen, tr("frozen")),
        )
    )
    kinds = (
        (one.sanitize.block, "block erase"),
        (one.sanitize.crypto, "crypto erase"),
        (one.sanitize.overwrite, "overwrite"),
    )
    return (
        ("specification", one.spec_version),
        ("rotation", rotation(one.rotation_rpm)),
        ("form factor", one.form_factor),
        ("SATA speed", speeds(one.sata_speed_now, one.sata_speed_possible)),
        ("queue depth", "" if one.queue_depth is None else str(one.queue_depth)),
        ("TRIM", yes(one.trim)),
        ("reads after TRIM", said(one.trimmed_reads)),
        ("sanitize", either(kinds)),
        ("last sanitize", either(states) if any(on for on, _ in states) else ""),
        ("security", security(one.security)),
        ("out of frozen", said(WAYS_OUT_OF_FROZEN) if one.security.frozen else ""),
        ("erase takes", erase_time(one.security.erase)),
        ("enhanced erase takes", erase_time(one.security.enhanced)),
        ("power mode", said(drive.power_mode or "")),
        ("zones", said(one.zoned)),
        ("checksum", "" if one.is_whole else tr("wrong: what it says may be damaged")),
    )


def security(one: "AtaSecurity") -> str:
    """Return the state of ATA security in words."""
    if not one.supported:
        return tr("none")
    words = (
        (True, "supported"),
        (one.enabled, "a password is set"),
        (not one.enabled, "no password"),
        (one.locked, "locked"),
        (one.frozen, "frozen"),
        (one.tries_used_up, "tries used up"),
        (one.enhanced_erase, "enhanced erase"),
    )
    return either(words)


def erase_time(one: "EraseTime | None") -> str:
    """Return how long an erase takes, as the drive says."""
    if one is None:
        return ""
    return tr("more than {n} min", n=one.minutes) if one.longer else f"{one.minutes} min"


def scsi_drive(drive: "ScsiDrive") -> Rows:
    """Return what a SCSI drive says of itself."""
    one, traits, unmapping = drive.inquiry, drive.characteristics, drive.unmapping
    assert one is not None
    operations = drive.operations
    purges = (
        ()
        if operations is None
        else (
            (operations.sanitize_block, "sanitize block erase"),
            (operations.sanitize_crypto, "sanitize crypto erase"),
            (operations.sanitize_overwrite, "sanitize overwrite"),
            (operations.format_unit, "format unit"),
        )
    )
    return (
        ("specification", one.spec_version),
        ("rotation", rotation(traits.rotation_rpm) if traits else ""),
        ("form factor", traits.form_factor if traits else ""),
        ("protection", drive.capacity.protection if drive.capacity else ""),
        ("TRIM", yes(unmapping.unmap) if unmapping else ""),
        ("reads after TRIM", tr("zeros") if unmapping and unmapping.reads_zeros else ""),
        ("provisioning", unmapping.provisioning if unmapping else ""),
        ("purges", either(purges) if operations else ""),
    )


def place(seen: "Seen") -> Rows:
    """Return where a drive hangs, each link on the way, and whether RAID stands before it."""
    at = seen.place
    links = [
        (
            f"PCIe {link.address}",
            " ".join(
                word
                for word in (
                    str(link.now),
                    tr("(both ends can {possible})", possible=link.possible)
                    if link.possible
                    else "",
                    tr("DEGRADED") if link.is_degraded else "",
                    " ".join(f"{kind} {count}" for kind, count in link.errors.items() if count),
                )
                if word
            ),
        )
        for link in at.links
    ]
    paths = [
        (one.name, " ".join(word for word in (one.transport, one.address, one.state) if word))
        for one in at.controllers
    ]
    port = at.port
    bridge = at.bridge
    return (
        ("adapter", at.adapter),
        *paths,
        *links,
        ("bridge", f"USB {bridge.vendor_id}:{bridge.product_id} {bridge.maker} {bridge.product}, "
         f"{bridge.driver}, {bridge.speed_mbit} Mb/s" if bridge else ""),
        (f"{port.kind} port" if port else "", speeds(port.speed_now, port.speed_possible)
         if port else ""),
        ("RAID", f"{said(at.raid.hidden)}: {said(at.raid.told_by)}"),
        ("zones", said(seen.zoned or "unknown")),
    )  # fmt: skip


def speeds(now: str, most: str) -> str:
    """Return a speed as it is and as it could be."""
    if not now:
        return tr("at most {a}", a=most) if most else ""
    return f"{now} ({tr('at most {a}', a=most)})" if most else now


def rotation(rpm: int | None) -> str:
    """Return how fast a drive rotates."""
    return "" if rpm is None else f"{rpm} rpm" if rpm else tr("none")


def yes(value: bool) -> str:
    """Return yes or no."""
    return tr("yes") if value else tr("no")


def size(size_bytes: int) -> str:
    """Return a size; empty where it is not told."""
    return format_size(size_bytes) if size_bytes else ""


def block(data_bytes: int, metadata_bytes: int) -> str:
    """Return a block with its metadata."""
    return f"{data_bytes} B" + (f" + {metadata_bytes} B" if metadata_bytes else "")


def celsius(kelvin: int) -> str:
    """Return a limit of temperature; empty where it is not told."""
    return f"{kelvin - ZERO_CELSIUS_KELVIN} °C" if kelvin else ""


def either(words: "Iterable[tuple[bool | None, str]]") -> str:
    """Return the words that hold, or "none"."""
    return ", ".join(said(word) for holds, word in words if holds) or tr("none")
