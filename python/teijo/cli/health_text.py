"""How a drive is, in the answer of `teijo health`: text by topic, and JSON (docs/health.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from teijo.cli import console
from teijo.cli.drive import Rows, section
from teijo.speech.tongue import reasoned, said, tr
from teijo.units import ZERO_CELSIUS_KELVIN, format_capacity, format_size

if TYPE_CHECKING:
    from teijo.device.health.ata_data import Attribute
    from teijo.device.health.report import HealthReport
    from teijo.device.health.self_tests import SelfTests
    from teijo.device.health.snapshot import Snapshot
    from teijo.device.health.verdict import Verdict
    from teijo.personas.crystaldiskinfo import Disk

VERSION = 1
"""Of the JSON: higher when a field changes what it means or goes away."""
ORDER = ("bad", "caution", "unknown", "good")
ERRORS_SHOWN = 5
TESTS_SHOWN = 5
Original = Mapping[str, object]


def verdict_line(verdict: "Verdict") -> str:
    """Return the verdict in one line: its word, and the reasons that make it so."""
    word = said(verdict.word)
    if verdict.word == "good":
        return tr("{word}: none of {n} rules speaks against it", word=word, n=len(verdict.reasons))
    if verdict.word == "unknown":
        why = [said(each) for each in verdict.blind] or [tr("it told nothing that can be judged")]
        return f"{word}: {'; '.join(why)}"
    return f"{word}: {'; '.join(said(one.numbers) for one in verdict.grounds)}"


def show(report: "HealthReport", original: "Original") -> None:
    """Print the verdict, then what is known by topic; what was not told, with the reason."""
    if report.is_simulated:
        console.put(tr("SIMULATED: no drive was asked, these are the counters of a model"))
    console.put(verdict_line(report.verdict))
    rule = "; ".join(said(one) for one in str(original["rule"]).split("; "))
    life = original["life_percent"]
    word = said(str(original["word"])) + ("" if life is None else f" ({life} %)")
    console.put(tr("CrystalDiskInfo says: {WORD}: {RULE}", WORD=word, RULE=rule))
    if report.whole:
        console.put(
            tr("this is a partition; all of it is of the drive {drive}", drive=report.whole)
        )
    counts = report.counts
    section(tr("what it is"), _who(report))
    section(tr("temperature"), _temperature(counts))
    section(tr("life"), _life(counts))
    section(tr("throttling"), _throttling(counts))
    section(tr("errors"), _errors(counts))
    seen = report.seen
    if seen is not None:
        _tables(seen)
    _reasons(report.verdict)
    if seen is not None:
        rows = [(log.source, said(log.not_told)) for log in seen.logs if log.not_told]
        section(tr("not told, and why"), rows)


def _who(report: "HealthReport") -> Rows:
    identity, size = report.identity, report.geometry.capacity_bytes
    facts = identity.facts
    return (
        ("target", identity.target),
        ("model", identity.model),
        ("serial", identity.serial),
        ("firmware", identity.firmware),
        ("capacity", f"{format_capacity(size)} ({format_size(size)})"),
        ("interface", identity.interface),
        ("link", facts.get("link", "")),
    )


def _temperature(counts: Mapping[str, int]) -> Rows:
    sensors = [counts.get(f"sensor_{n}_kelvin") for n in range(1, 9)]
    shown = [_celsius(each) for each in sensors if each is not None]
    return (
        ("now", _celsius(counts.get("temperature_kelvin"))),
        ("sensors", ", ".join(shown)),
        ("highest so far", _celsius(counts.get("highest_kelvin"))),
        ("warns at", _celsius(counts.get("warning_limit_kelvin"))),
        ("critical at", _celsius(counts.get("critical_limit_kelvin"))),
        ("above the warning", _count(counts, "warning_temperature_minutes", "min")),
        ("above the critical", _count(counts, "critical_temperature_minutes", "min")),
    )


def _life(counts: Mapping[str, int]) -> Rows:
    spare, limit = counts.get("available_spare_percent"), counts.get("spare_threshold_percent")
    threshold = "" if limit is None else tr("(threshold {n} %)", n=limit)
    return (
        ("used", _count(counts, "percentage_used", "%")),
        ("spare", "" if spare is None else f"{spare} % {threshold}".strip()),
        ("written by the host", _bytes(counts, "host_writes_bytes")),
        ("written to the NAND", _bytes(counts, "media_writes_bytes")
         or _bytes(counts, "nand_writes_bytes")),
        ("read by the host", _bytes(counts, "host_reads_bytes")),
        ("expected to take", _bytes(counts, "endurance_estimate_bytes")
         if counts.get("endurance_estimate_bytes") else ""),
        ("powered on", _count(counts, "power_on_hours", "h")),
        ("power cycles", _count(counts, "power_cycles")),
        ("unsafe shutdowns", _count(counts, "unsafe_shutdowns")),
        ("start-stop cycles", _count(counts, "start_stop_cycles")),
        ("capacitor", _count(counts, "capacitor_health_percent", "%")),
    )  # fmt: skip


def _throttling(counts: Mapping[str, int]) -> Rows:
    def state(number: int) -> str:
        times = counts.get(f"thermal_{number}_transitions")
        seconds = counts.get(f"thermal_{number}_seconds")
        if times is None or seconds is None:
            return ""
        return tr("entered {times} times, {seconds} s in it", times=f"{times:,}",
                  seconds=f"{seconds:,}")  # fmt: skip

    status = counts.get("throttle_status")
    words = {None: "", 0: tr("it does not throttle now")}
    return (
        ("light (state 1)", state(1)),
        ("heavy (state 2)", state(2)),
        ("events", _count(counts, "throttle_events")),
        ("now", words.get(status, tr("it throttles now, level {n}", n=status))),
    )


def _errors(counts: Mapping[str, int]) -> Rows:
    return (
        ("media errors", _count(counts, "media_errors")),
        ("error log entries", _count(counts, "error_log_entries")),
        ("uncorrectable reads", _count(counts, "uncorrectable_reads")),
        ("bad user blocks", _count(counts, "bad_user_blocks")),
        ("bad system blocks", _count(counts, "bad_system_blocks")),
        ("other errors", _count(counts, "non_medium_errors")),
        ("interface CRC errors", _count(counts, "interface_crc_errors")),
        ("PCIe errors, corrected", _count(counts, "pcie_correctable_errors")),
        ("link retrains", _count(counts, "link_retrains")),
    )


def _tables(seen: "Snapshot") -> None:
    tests: SelfTests | None = None
    if seen.nvme is not None:
        tests = seen.nvme.self_tests
        errors = [
            (f"{one.number:,}", "" if one.opcode is None else f"{one.opcode:02X}h",
             "" if one.lba is None else f"{one.lba:,}", said(one.meaning))
            for one in (seen.nvme.errors or ())[:ERRORS_SHOWN]
        ]  # fmt: skip
        _table(tr("the last errors of its log"), ("NUMBER", "COMMAND", "LBA", "STATUS"), errors)
    attributes: tuple[Attribute, ...] = ()
    if seen.ata is not None:
        tests, attributes = seen.ata.self_tests, seen.ata.attributes or ()
    if seen.scsi is not None:
        tests = seen.scsi.self_tests
    if seen.smartctl is not None:
        attributes = seen.smartctl.attributes
        section("smartctl", [("", said(each)) for each in seen.smartctl.troubles])
    rows = [
        (f"{one.number:02X}", str(one.value), str(one.worst),
         "-" if one.threshold is None else str(one.threshold), f"{one.raw:,}", said(one.name))
        for one in attributes
    ]  # fmt: skip
    head = ("ID", "VALUE", "WORST", "THRESHOLD", "RAW", "USUAL NAME")
    _table(tr("SMART attributes"), head, rows)
    _self_tests(tests)


def _self_tests(tests: "SelfTests | None") -> None:
    if tests is None:
        return
    rows = [
        (said(one.kind), said(one.ended), f"{one.hours:,} h",
         "" if one.failing_lba is None else f"{one.failing_lba:,}")
        for one in tests.results[:TESTS_SHOWN]
    ]  # fmt: skip
    title = tr("self-tests")
    if tests.running:
        done = "" if tests.done_percent is None else f" {tests.done_percent} %"
        title = tr("self-tests ({what} runs{done})", what=said(tests.running), done=done)
    if not rows:
        console.put("")
        console.put(f"{title}: {tr('none')}")
        return
    _table(title, ("KIND", "RESULT", "AT", "FAILING LBA"), rows)


def _reasons(verdict: "Verdict") -> None:
    worst_first = sorted(verdict.reasons, key=lambda one: ORDER.index(one.word))
    rows = [(said(one.word), said(one.numbers), said(one.source)) for one in worst_first]
    _table(tr("the verdict's rules"), ("VERDICT", "WHAT WAS SEEN", "RULE"), rows)


def _table(title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    if not rows:
        return
    console.put("")
    console.put(title)
    for line in console.columns(head, rows):
        console.put("  " + line)


def _celsius(kelvin: int | None) -> str:
    return "" if kelvin is None else f"{kelvin - ZERO_CELSIUS_KELVIN} °C"


def _count(counts: Mapping[str, int], name: str, unit: str = "") -> str:
    value = counts.get(name)
    return "" if value is None else f"{value:,} {unit}".strip()


def _bytes(counts: Mapping[str, int], name: str) -> str:
    value = counts.get(name)
    return "" if value is None else format_capacity(value)


def original_disk(target: str, report: "HealthReport") -> "Disk":
    """Return the bytes that CrystalDiskInfo asks a drive for; it is not claimed for that.

    Raises:
        teijo.errors.TeijoError: the drive went away, or does not answer any more.
    """
    from teijo.device.health import report as reports
    from teijo.personas.crystaldiskinfo import Disk, disk_of

    # A drive that does not answer is not asked again.
    if report.seen is not None and report.seen.stuck is None:
        with reports.drive_of(target) as subject:
            return disk_of(subject)
    identity = report.identity
    return Disk(
        kind="other",
        model=identity.model or identity.target,
        firmware=identity.firmware,
        serial=identity.serial,
        size_bytes=report.geometry.nominal_capacity_bytes,
        address="0/X/X",
    )


def original_verdict(disk: "Disk") -> "Original":
    """Return CrystalDiskInfo's own verdict on the drive's own bytes, and what of them decided."""
    from teijo.personas.crystaldiskinfo import verdict_of

    verdict = verdict_of(disk)
    return {"word": verdict.word, "life_percent": verdict.life_percent, "rule": verdict.rule}


def write_original(disk: "Disk", path: Path) -> None:
    """Write CrystalDiskInfo's text of a drive to a file, or to stdout (-).

    Raises:
        teijo.errors.TeijoError: the file cannot be had.
    """
    from datetime import datetime

    from teijo.creating import replace_atomically
    from teijo.errors import HostError, UsageError
    from teijo.personas.crystaldiskinfo import system_of_host, text_of

    for one in disk.blind:
        console.say(tr("not read: {what}", what=reasoned(one)))
    data = text_of([disk], system=system_of_host(), date=datetime.now()).encode()
    if path == Path("-"):
        console.put_bytes(data)
        return
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no file", remedy="Name a file: --cdi report.txt")
        replace_atomically(path, data)
    except OSError as error:
        raise HostError(
            f"Cannot write {path}: {error.strerror}", remedy="Choose another place for --cdi."
        ) from error


def verdict_json(verdict: "Verdict") -> dict[str, object]:
    """Return a verdict for JSON."""
    return {
        "word": verdict.word,
        "reasons": [asdict(one) for one in verdict.reasons],
        "blind": list(verdict.blind),
    }


def as_json(report: "HealthReport", original: "Original") -> dict[str, object]:
    """Return a report for JSON; docs/health.md says each field."""
    seen = report.seen
    logs = {} if seen is None else {
        log.name: {
            "source": log.source,
            "told": _plain(log.told),
            "not_told": log.not_told or None,
        }
        for log in seen.logs
    }  # fmt: skip
    return {
        "version": VERSION,
        "verdict": verdict_json(report.verdict),
        "crystaldiskinfo": dict(original),
        "simulated": report.is_simulated,
        "partition_of": report.whole or None,
        "kind": None if seen is None else seen.kind,
        "identity": asdict(report.identity) | {"facts": dict(report.identity.facts)},
        "capacity_bytes": report.geometry.capacity_bytes,
        "counters": dict(report.counts),
        "logs": logs,
    }


def _plain(value: Any) -> object:
    """Return what JSON has of a log's answer."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(inner) for name, inner in vars(value).items()}
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
