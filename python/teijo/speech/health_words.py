"""How a drive is in words: the verdict with its reasons, then what is known by topic
(docs/health.md).
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from teijo.speech.sections import Facts, Rows, Section, Table
from teijo.speech.tongue import said, tr
from teijo.units import ZERO_CELSIUS_KELVIN, format_capacity, format_size

if TYPE_CHECKING:
    from teijo.api.crystaldiskinfo import Original
    from teijo.device.health.ata_data import Attribute
    from teijo.device.health.report import HealthReport
    from teijo.device.health.self_tests import SelfTests
    from teijo.device.health.snapshot import Snapshot
    from teijo.device.health.verdict import Verdict

ORDER = ("bad", "caution", "unknown", "good")
ERRORS_SHOWN = 5
TESTS_SHOWN = 5


def verdict_line(verdict: "Verdict") -> str:
    """Return the verdict in one line: its word, and the reasons that make it so."""
    return f"{said(verdict.word)}: {'; '.join(grounds(verdict))}"


def grounds(verdict: "Verdict") -> list[str]:
    """Return the reasons that make a verdict what it is."""
    if verdict.word == "good":
        return [tr("none of {n} rules speaks against it", n=len(verdict.reasons))]
    if verdict.word == "unknown":
        blind = [said(each) for each in verdict.blind]
        return blind or [tr("it told nothing that can be judged")]
    return [said(one.numbers) for one in verdict.grounds]


def original_line(original: "Original") -> str:
    """Return CrystalDiskInfo's verdict in one line: its word, and what decided."""
    word, rule = original_word(original), original_rule(original)
    return tr("CrystalDiskInfo says: {WORD}: {RULE}", WORD=word, RULE=rule)


def original_word(original: "Original") -> str:
    """Return CrystalDiskInfo's word, with the life it tells in percent."""
    life = original["life_percent"]
    return said(str(original["word"])) + ("" if life is None else f" ({life} %)")


def original_rule(original: "Original") -> str:
    """Return what decided CrystalDiskInfo's verdict."""
    return "; ".join(said(one) for one in str(original["rule"]).split("; "))


def model_line(report: "HealthReport") -> str:
    """Return that no drive was asked; "" where one was."""
    if not report.is_simulated:
        return ""
    return tr("SIMULATED: no drive was asked, these are the counters of a model")


def partition_line(report: "HealthReport") -> str:
    """Return which drive the numbers are of, where the target is a partition; "" of a drive."""
    if not report.whole:
        return ""
    return tr("this is a partition; all of it is of the drive {drive}", drive=report.whole)


def in_short(report: "HealthReport") -> Facts:
    """Return the two numbers that are looked for first: temperature and life."""
    counts = report.counts
    return Facts(
        "",
        (
            ("temperature", _celsius(counts.get("temperature_kelvin"))),
            ("life used", _count(counts, "percentage_used", "%")),
        ),
    )


def sections(report: "HealthReport") -> Iterator[Section]:
    """Yield who it is, and then what is known by topic."""
    yield Facts(tr("what it is"), _who(report))
    yield from topics(report)


def topics(report: "HealthReport") -> Iterator[Section]:
    """Yield what is known by topic; the rules of the verdict, and what was not told, come last."""
    counts, seen = report.counts, report.seen
    yield Facts(tr("temperature"), _temperature(counts))
    yield Facts(tr("life"), _life(counts))
    yield Facts(tr("throttling"), _throttling(counts))
    yield Facts(tr("errors"), _errors(counts))
    if seen is not None:
        yield from _tables(seen)
    yield _reasons(report.verdict)
    if seen is not None:
        rows = [(log.source, said(log.not_told)) for log in seen.logs if log.not_told]
        yield Facts(tr("not told, and why"), rows)


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


def _tables(seen: "Snapshot") -> Iterator[Section]:
    tests: SelfTests | None = None
    if seen.nvme is not None:
        tests = seen.nvme.self_tests
        errors = [
            (f"{one.number:,}", "" if one.opcode is None else f"{one.opcode:02X}h",
             "" if one.lba is None else f"{one.lba:,}", said(one.meaning))
            for one in (seen.nvme.errors or ())[:ERRORS_SHOWN]
        ]  # fmt: skip
        yield Table(
            tr("the last errors of its log"),
            ("NUMBER", "COMMAND", "LBA", "STATUS"),
            errors,
        )
    attributes: tuple[Attribute, ...] = ()
    if seen.ata is not None:
        tests, attributes = seen.ata.self_tests, seen.ata.attributes or ()
    if seen.scsi is not None:
        tests = seen.scsi.self_tests
    if seen.smartctl is not None:
        attributes = seen.smartctl.attributes
        yield Facts("smartctl", [("", said(each)) for each in seen.smartctl.troubles])
    rows = [
        (f"{one.number:02X}", str(one.value), str(one.worst),
         "-" if one.threshold is None else str(one.threshold), f"{one.raw:,}", said(one.name))
        for one in attributes
    ]  # fmt: skip
    yield Table(
        tr("SMART attributes"),
        ("ID", "VALUE", "WORST", "THRESHOLD", "RAW", "USUAL NAME"),
        rows,
    )
    if tests is not None:
        yield _self_tests(tests)


def _self_tests(tests: "SelfTests") -> Table:
    rows = [
        (said(one.kind), said(one.ended), f"{one.hours:,} h",
         "" if one.failing_lba is None else f"{one.failing_lba:,}")
        for one in tests.results[:TESTS_SHOWN]
    ]  # fmt: skip
    title = tr("self-tests")
    if tests.running:
        done = "" if tests.done_percent is None else f" {tests.done_percent} %"
        title = tr("self-tests ({what} runs{done})", what=said(tests.running), done=done)
    return Table(title, ("KIND", "RESULT", "AT", "FAILING LBA"), rows, none=tr("none"))


def _reasons(verdict: "Verdict") -> Table:
    worst_first = sorted(verdict.reasons, key=lambda one: ORDER.index(one.word))
    rows = [(said(one.word), said(one.numbers), said(one.source)) for one in worst_first]
    words = [one.word for one in worst_first]
    title = tr("the verdict's rules")
    return Table(title, ("VERDICT", "WHAT WAS SEEN", "RULE"), rows, tones=words)


def _celsius(kelvin: int | None) -> str:
    return "" if kelvin is None else f"{kelvin - ZERO_CELSIUS_KELVIN} °C"


def _count(counts: Mapping[str, int], name: str, unit: str = "") -> str:
    value = counts.get(name)
    return "" if value is None else f"{value:,} {unit}".strip()


def _bytes(counts: Mapping[str, int], name: str) -> str:
    value = counts.get(name)
    return "" if value is None else format_capacity(value)
