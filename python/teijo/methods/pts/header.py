"""The header of every PTS page: four groups in 1.0's layout, four column pairs in 2.0's.

It prints what was recorded (the purge that took place, the cache state read back), beside what
the version asks for; it never prints a wish as a fact.
"""

from dataclasses import dataclass
from typing import Any

from teijo import units
from teijo.conformance.device_checks import cache_state
from teijo.conformance.ledger import stamp_of_ledger
from teijo.conformance.versions import Version
from teijo.document.model import Header, HeaderGroup
from teijo.document.phrase import Verbatim, say
from teijo.methods import pages
from teijo.methods.platform_page import header_rows
from teijo.methods.pts.found import PtsFound
from teijo.methods.pts.settings import PtsSettings
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.run_note import RunNote, noted

Rows = tuple[tuple[str, str], ...]
ORGANISATION = "SNIA SSS PTS"


@dataclass(frozen=True, kw_only=True)
class Loop:
    """What a test adds to the header: its title, and how its loop is prepared and driven.

    `stimulus` are further rows of the test's parameters (mixes, block sizes); `rounds` are
    those of the window where that is not one of the whole run; `preparation_load` is (threads,
    queue depth) where it is not the test's own.
    """

    title: str
    subtitle: str
    stimulus: Rows
    workload_independent: str = "none"
    workload_dependent: str = "none"
    rounds: str = ""
    preparation_load: tuple[int, int] | None = None


def pts_header(found: PtsFound[Any], version: Version, loop: Loop) -> Header:
    """Return the header in the version's own layout, stamped by the ledger."""
    record = found.record
    match version.layout:
        case "1.0":
            groups = _groups_1_0(found, loop)
        case "2.0":
            groups = _groups_2_0(found, version, loop)
    return Header(
        title=say(
            "{family} {title}{required} – Report Page",
            family=version.class_name,
            title=loop.title,
            required=_required(version, record.run.method),
        ),
        subtitle=loop.subtitle,
        organisation=ORGANISATION,
        revision=version.revision,
        top=(
            *top_rows(record, *_report_date(record, version)),
            *_people(record),
        ),
        groups=groups,
        stamp=pages.stamp_of(record, stamp_of_ledger(found.ledger)),
    )


def top_rows(record: Record, *dates: tuple[str, str]) -> Rows:
    """Return when a test was carried out, other `dates` after that, on what and for whom."""
    return (
        ("Test run date", pages.date_of(record.run.started_at)),
        ("Test run end", pages.date_of(record.run.ended_at) or "running"),
        *dates,
        ("Vendor", noted_or_read(record, RunNote.VENDOR, "vendor")),
        ("SSD model no", record.identity.model or pages.NOT_KNOWN),
        ("Test sponsor", noted_or_read(record, RunNote.SPONSOR)),
    )


def platform_rows(record: Record) -> Rows:
    """Return what the device was in."""
    return tuple(
        (name, record.environment.get(name.lower(), pages.NOT_KNOWN))
        for name in ("System", "CPU", "Memory", "OS")
    )


def cache_remarks(record: Record, version: Version) -> tuple[Remark, ...]:
    """Return what must be said of the write cache: not what the version asks, or not known.

    Where the whole device is a model, its buffer is a parameter like any other.
    """
    kinds = {remark.kind for remark in record.remarks}
    if RemarkKind.SIMULATED in kinds:
        return ()
    state = cache_state(record.identity.write_cache)
    if state == version.write_cache:
        return ()
    if state is not None:
        text = say("write cache {state} instead of {asked}", state=state, asked=version.write_cache)
        return (Remark(kind=RemarkKind.DEVIATION, text=text),)
    # The device has said so already when the run began (block and file targets remark it).
    if RemarkKind.CACHE_UNKNOWN in kinds:
        return ()
    text = say(
        "the device's write cache state is not known; {revision} asks for it {asked}",
        revision=version.revision,
        asked=version.write_cache,
    )
    return (Remark(kind=RemarkKind.CACHE_UNKNOWN, text=text),)


def _required(version: Version, method: str) -> str:
    # Which tests 1.1 and 2.0.2 require could not be read, so their titles do not say it.
    if version.required is None:
        return ""
    return " (REQUIRED)" if method in version.required else " (OPTIONAL)"


def _groups_1_0(found: PtsFound[Any], loop: Loop) -> tuple[HeaderGroup, ...]:
    record, settings = found.record, found.settings
    identity = record.identity
    device = (
        ("Serial no", identity.serial or pages.NOT_KNOWN),
        ("Firmware rev", identity.firmware or pages.NOT_KNOWN),
        ("Capacity", pages.capacity_name(record)),
        ("NAND type", noted_or_read(record, RunNote.NAND, "NAND type")),
        ("Device I/F", identity.interface or pages.NOT_KNOWN),
        ("Test platform", record.environment.get("system", pages.NOT_KNOWN)),
        *header_rows(record),
    )
    preparation = (
        ("Purge", pages.purge_method(record)),
        ("Workload independent", loop.workload_independent),
        ("Workload dependent", loop.workload_dependent),
        ("Write cache", identity.write_cache or pages.NOT_KNOWN),
    )
    test = (
        ("Data pattern", _pattern(settings)),
        ("OIO/thread (QD)", str(settings.queue_depth)),
        ("Thread count (TC)", str(settings.threads)),
        *loop.stimulus,
    )
    steady = (
        ("Convergence", pages.convergence_word(found)),
        ("Rounds", _rounds(found, loop)),
        ("PC AR", f"{settings.active_range_percent} %"),
        ("AR amount", _amount(settings)),
        ("AR segments", _segments(settings)),
    )
    return (
        HeaderGroup(title="Device under test (DUT)", tone="dut", rows=device),
        HeaderGroup(title="DUT preparation", tone="preparation", rows=preparation),
        HeaderGroup(title="Test loop parameters", tone="test", rows=test),
        HeaderGroup(title="Steady state", tone="steady", rows=steady),
    )


def _groups_2_0(found: PtsFound[Any], version: Version, loop: Loop) -> tuple[HeaderGroup, ...]:
    record, settings, identity = found.record, found.settings, found.record.identity
    load, cache = (settings.threads, settings.queue_depth), identity.write_cache or pages.NOT_KNOWN
    platform = (
        *platform_rows(record),
        ("Test SW", f"Teijo {record.run.version}, {record.run.engine}"),
        ("HBA", noted_or_read(record, RunNote.HBA, "HBA")),
        ("PCIe", noted_or_read(record, RunNote.PCIE, "PCIe", "link")),
        *header_rows(record),
    )
    device = (
        ("Mfgr", noted_or_read(record, RunNote.VENDOR, "vendor")),
        ("Model", identity.model or pages.NOT_KNOWN),
        ("S/N", identity.serial or pages.NOT_KNOWN),
        ("Firmware", identity.firmware or pages.NOT_KNOWN),
        ("Capacity", pages.capacity_name(record)),
        ("Interface", identity.interface or pages.NOT_KNOWN),
        ("NAND type", noted_or_read(record, RunNote.NAND, "NAND type")),
        ("Purge method", pages.purge_method(record)),
        # What the drive says while it is measured, beside what the version asks for.
        ("Write cache", say("{state} (asked: {asked})", state=cache, asked=version.write_cache)),
    )
    setup = (
        ("Data pattern", _pattern(settings)),
        ("AR", f"{settings.active_range_percent} %"),
        ("AR segments", _segments(settings)),
        ("Pre-condition 1", loop.workload_independent),
        ("TOIO, TC/QD", _outstanding(*(loop.preparation_load or load))),
        ("Pre-condition 2", loop.workload_dependent),
        ("SS rounds", _rounds(found, loop)),
    )
    test = (
        ("Data pattern", _pattern(settings)),
        ("AR & amount", _range_and_amount(settings)),
        *loop.stimulus,
        ("TOIO, TC/QD", _outstanding(*load)),
        ("Steady state", _steady(found, loop)),
    )
    return (
        HeaderGroup(title="Test platform", tone="plain", rows=platform),
        HeaderGroup(title="Device under test", tone="dut", rows=device),
        HeaderGroup(title="Setup parameters", tone="preparation", rows=setup),
        HeaderGroup(title="Test parameters", tone="test", rows=test),
    )


def noted_or_read(record: Record, note: RunNote, *facts: str) -> str:
    """Return what a person noted, marked as such, else what the device says, else "not known"."""
    if text := noted(record.environment, note):
        return say("{text} (as noted)", text=Verbatim(text))
    said = (record.identity.facts.get(fact, "") for fact in facts)
    return next((text for text in said if text), pages.NOT_KNOWN)


def _report_date(record: Record, version: Version) -> Rows:
    """Return the date of the report where the version has one: it is the person's to say."""
    text = noted(record.environment, RunNote.REPORT_DATE)
    if version.layout != "1.0" and not text:
        return ()
    return (("Report run date", noted_or_read(record, RunNote.REPORT_DATE)),)


def _people(record: Record) -> Rows:
    """Return who carried the test out and who checked it, where that was noted."""
    names = ((RunNote.OPERATOR, "Test operator"), (RunNote.AUDITOR, "Auditor"))
    known = (each for each in names if noted(record.environment, each[0]))
    return tuple((name, noted_or_read(record, note)) for note, name in known)


def _pattern(settings: PtsSettings) -> str:
    # The standard's RND of a data pattern is of the content, not of the access.
    return "RND" if settings.content == "random" else str(settings.content)


def _amount(settings: PtsSettings) -> str:
    if settings.amount_bytes is None:
        # The enterprise page of 1.0 has it so: AR amount 100 %, AR segments N/A.
        return f"{settings.active_range_percent} %"
    return units.format_size(settings.amount_bytes)


def _range_and_amount(settings: PtsSettings) -> str:
    share = f"{settings.active_range_percent} %"
    return share if settings.amount_bytes is None else f"{share}, {_amount(settings)}"


def _rounds(found: PtsFound[Any], loop: Loop) -> str:
    return loop.rounds or pages.window_name(found)


def _steady(found: PtsFound[Any], loop: Loop) -> str:
    verdict, rounds = pages.convergence_word(found), _rounds(found, loop)
    if rounds == pages.NO_ROUNDS:
        return verdict
    return say("{verdict}, rounds {rounds}", verdict=verdict, rounds=rounds)


def _segments(settings: PtsSettings) -> str:
    return "N/A" if settings.amount_bytes is None else str(settings.segments)


def _outstanding(threads: int, queue_depth: int) -> str:
    return f"{threads * queue_depth}, TC {threads} / QD {queue_depth}"
