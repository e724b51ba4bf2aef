"""The report of a campaign: the summary of all tests, then each test's pages under its header."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from teijo import units
from teijo.analysis.cross_check import Check
from teijo.conformance.ledger import stamp_of_ledger
from teijo.conformance.versions import Version, version_of
from teijo.document import model
from teijo.document.grid import Fields, listing
from teijo.document.phrase import Verbatim, listed, say
from teijo.methods.checks_page import checks_section, contradiction_remarks
from teijo.methods.found import Found
from teijo.methods.pages import (
    NOT_KNOWN,
    REMARKS_TITLE,
    appendix_sections,
    capacity_name,
    convergence_word,
    document_name,
    purge_method,
    remarks_section,
    stamp_of,
    window_name,
)
from teijo.methods.parts import Part
from teijo.methods.pts.campaign.cross_checks import checks_between
from teijo.methods.pts.campaign.found import CampaignFound
from teijo.methods.pts.campaign.plan import CampaignSettings, missing
from teijo.methods.pts.header import ORGANISATION, platform_rows, top_rows
from teijo.methods.scaled import both_sizes, in_both_sizes, with_rule, without_rule
from teijo.terms.finding import Scalar
from teijo.terms.geometry import Geometry
from teijo.terms.record import Record
from teijo.terms.remark import RemarkKind

TITLE = "All tests"
SOME_TITLE = "Some tests"
SUMMARY_ALL, SUMMARY_SOME = "Summary of all tests", "Summary of some tests"
NO_WINDOW = "–"


def pages(found: CampaignFound) -> model.Document:
    """Return the whole report of a campaign, growing or sealed."""
    settings, record, parts = found.settings, found.record, found.tests
    version = version_of(settings.spec)
    checks = checks_between(parts)
    documents = [part.document() for part in parts]
    checked = checks_section(record, checks)
    # What is among the first pages is not in the appendix again.
    held = [] if checked is None else [checked]
    titles = {each.title for each in held}
    return model.Document(
        name=document_name(record),
        header=_header(record, version, parts, missing(settings)),
        sections=(
            *with_rule((_summary(found), *_select(parts)), record.geometry),
            *held,
            _remarks(record, checks, documents),
            *(
                page
                for part, own in zip(parts, documents, strict=True)
                for page in _own_pages(part, own)
            ),
            *(each for each in appendix_sections(record, settings) if each.title not in titles),
        ),
    )


def _header(
    record: Record, version: Version, parts: Sequence[Part], lacking: Sequence[str]
) -> model.Header:
    title = say("{family} PTS, all tests – Summary", family=version.class_name)
    if lacking:
        title = say("{family} PTS, some tests – Summary", family=version.class_name)
    return model.Header(
        title=title,
        subtitle=SOME_TITLE if lacking else TITLE,
        organisation=ORGANISATION,
        revision=version.revision,
        top=top_rows(record),
        groups=(),
        # The stamp of all tests' ledgers as one.
        stamp=stamp_of(record, stamp_of_ledger([line for p in parts for line in p.found.ledger])),
    )


def _summary(found: CampaignFound) -> model.Section:
    settings, geometry = found.settings, found.record.geometry
    begun = {part.name: part for part in found.tests}
    rows = tuple(_row(part.name, begun.get(part.name), geometry) for part in settings.parts)
    table = model.Table(
        columns=(
            model.Column(name="Test"),
            model.Column(name="Purge"),
            model.Column(name="Steady state"),
            model.Column(name="Rounds"),
            *both_sizes("Time", "min", 1, scaled=geometry.scale > 1),
            *both_sizes("Written", "GB", 2, scaled=geometry.scale > 1),
            model.Column(name="Conformance"),
            model.Column(name="Remarks", digits=0),
        ),
        rows=rows,
        caption="Tests",
    )
    lacking = missing(settings)
    blocks: tuple[model.Block, ...] = (
        _verdict(found),
        *([_lacking(settings, lacking)] if lacking else []),
        _device_facts(found.record),
        table,
        model.Paragraph(
            text="Each test begins with its own purge and stands alone; its pages follow under "
            "its own header. Time is the device's."
        ),
    )
    return model.Section(title=SUMMARY_SOME if lacking else SUMMARY_ALL, blocks=blocks)


def _lacking(settings: CampaignSettings, lacking: Sequence[str]) -> model.Note:
    """Return which tests are missing, and whether the version is known to require them."""
    version = version_of(settings.spec)
    names = {"names": ", ".join(lacking), "version": version.revision}
    if version.required is None:
        text = say(
            "Not in this campaign: {names}. Which tests {version} requires could not be checked.",
            **names,
        )
    else:
        text = say("Not in this campaign: {names}, which {version} requires.", **names)
    return model.Note(
        kind=RemarkKind.DEVIATION.value,
        text=text,
        remedy="Leave --set tests away to run every test.",
    )


def _verdict(found: CampaignFound) -> model.Verdict:
    settings, parts = found.settings, found.tests
    asked, begun = len(settings.parts), len(parts)
    failed = [part.name for part in parts if part.found.converged is False]
    if begun < asked:
        text = say("{begun} of {asked} tests begun", begun=begun, asked=asked)
        return model.Verdict(text=text, good=None)
    # Judged by another version, a test may lack rounds that version would have asked for.
    if RemarkKind.STEPS_MISSING in {
        remark.kind for part in parts for remark in part.record.remarks
    }:
        text = say("STEADY STATE: not told, {spec} asks for more steps", spec=settings.spec)
        return model.Verdict(text=text, good=None)
    if failed:
        text = say(
            "STEADY STATE: not in {count} of {asked} tests ({names})",
            count=len(failed),
            asked=asked,
            names=", ".join(failed),
        )
        return model.Verdict(text=text, good=False)
    if found.converged is None:
        return model.Verdict(text=say("{asked} tests ended", asked=asked), good=None)
    if lacking := missing(settings):
        text = say(
            "STEADY STATE: YES in what was run (tests: {asked}); missing: {names}",
            asked=asked,
            names=", ".join(lacking),
        )
        # Not green where the version is known to require what is missing.
        required = version_of(settings.spec).required is not None
        return model.Verdict(text=text, good=None if required else True)
    text = say("STEADY STATE: YES, in every test that asks for it ({asked} tests)", asked=asked)
    return model.Verdict(text=text, good=True)


def _device_facts(record: Record) -> model.Facts:
    identity = record.identity
    return model.Facts(
        caption="Device and platform",
        rows=(
            ("Device under test", identity.model or NOT_KNOWN),
            ("Serial no", identity.serial or NOT_KNOWN),
            ("Firmware rev", identity.firmware or NOT_KNOWN),
            ("User capacity", capacity_name(record)),
            ("Device interface", identity.interface or NOT_KNOWN),
            ("Write cache", identity.write_cache or NOT_KNOWN),
            *platform_rows(record),
            ("Test software", say("Teijo {version}", version=record.run.version)),
        ),
    )


def _row(name: str, part: Part | None, geometry: Geometry) -> tuple[model.Value, ...]:
    if part is None:
        unknown = [None] * (4 if geometry.scale > 1 else 2)
        return (name, "", "not begun", "", *unknown, "", None)
    answers = part.record.answers
    spent_ns = sum(answer.elapsed_ns for answer in answers)
    written = sum(result.moved_bytes for answer in answers for result in answer.of("write"))
    return (
        name,
        purge_method(part.record),
        convergence_word(part.found),
        _windows(part.found),
        *in_both_sizes(spent_ns / (60 * units.NS_PER_S), geometry),
        *in_both_sizes(written / units.GIGA, geometry),
        stamp_of_ledger(part.found.ledger) or "conforming",
        len(part.record.remarks),
    )


def _windows(found: Found[Any]) -> str:
    """Return the window's rounds, or those of each window where a test has several."""
    if found.window_rounds is not None:
        return window_name(found)
    several = [state.window for state in found.states if state.window is not None]
    return listed([f"{each.first_round}–{each.last_round}" for each in several] or [NO_WINDOW])


def _select(parts: Sequence[Part]) -> tuple[model.Section, ...]:
    """Return the few figures that people ask for first, of each test that has them."""
    rows = [
        (part.name, figure)
        for part in parts
        for figure in part.found.headlines
        if figure.value is not None
    ]
    if not rows:
        return ()
    fields: Fields[tuple[str, Scalar]] = (
        ("Test", "", None, lambda row: Verbatim(row[0])),
        ("Figure", "", None, lambda row: row[1].name),
        ("Value", "", 3, lambda row: row[1].value),
        ("Unit", "", None, lambda row: _unit(row[1].unit)),
    )
    table = listing(rows, fields, caption="Figures of each test")
    return (model.Section(title="Select performance data", blocks=(table,)),)


def _remarks(
    record: Record, checks: Sequence[Check], documents: Sequence[model.Document]
) -> model.Section:
    """Return every remark of the run, and what the tests' own reports add to them, each once."""
    own = remarks_section((*record.remarks, *contradiction_remarks(record, checks)))
    theirs = [
        block
        for document in documents
        for section in document.sections
        if section.title == REMARKS_TITLE
        for block in section.blocks
    ]
    notes = [
        block for block in dict.fromkeys((*own.blocks, *theirs)) if isinstance(block, model.Note)
    ]
    return replace(own, blocks=tuple(notes) or own.blocks)


def _own_pages(part: Part, document: model.Document) -> list[model.Section]:
    """Return one test's pages under its own header, without what the campaign has once."""
    return [
        replace(
            without_rule(section, part.record.geometry),
            title=say("{test}: {title}", test=part.name.upper(), title=section.title),
            header=document.header,
        )
        for section in document.sections
        if not section.appendix and section.title != REMARKS_TITLE
    ]


def _unit(name: str) -> str:
    """Return a unit for a cell: of a single word it is a symbol, the same in every language."""
    return name if " " in name else Verbatim(name)
