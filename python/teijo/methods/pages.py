"""Pages that every method's report ends with: remarks, settings, host, device, every step."""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from teijo import units
from teijo.analysis import measures
from teijo.document import model
from teijo.document.phrase import Verbatim, capitalised, joined, listed, say
from teijo.methods.checks_page import checks_section, contradiction_remarks
from teijo.methods.drive_page import drive_section
from teijo.methods.hosts_page import hosts_section
from teijo.methods.knobs import describe
from teijo.methods.platform_page import environment_rows, header_rows, platform_section
from teijo.methods.remark_groups import grouped
from teijo.methods.scaled import with_rule
from teijo.methods.self_checks import self_checks_section
from teijo.methods.settings import Settings
from teijo.terms.finding import Determined
from teijo.terms.record import Record, StepRecord
from teijo.terms.remark import REMEDIES, Remark, RemarkKind
from teijo.terms.result import Gap, Health, StepResult
from teijo.terms.step import Configure, Idle, Measure, Precondition, Purge

NOT_KNOWN = "not known"
REMARKS_TITLE = "Remarks"
NO_ROUNDS = "none"
_STEPS_NAMED = 8

STEP_COLUMNS = (
    model.Column(name="Step", digits=0),
    model.Column(name="Phase"),
    model.Column(name="Round", digits=0),
    model.Column(name="Cell"),
    model.Column(name="Start", unit="s", digits=3),
    model.Column(name="Length", unit="s", digits=3),
    model.Column(name="Gap before", unit="ms", digits=3),
    model.Column(name="IOPS", digits=1),
    model.Column(name="Throughput", unit="MB/s", digits=2),
    model.Column(name="Latency mean", unit="ms", digits=4),
    model.Column(name="Latency max", unit="ms", digits=3),
    model.Column(name="Failed", unit="I/Os", digits=0),
    model.Column(name="Remarks"),
    model.Column(name="Seed"),
)


def assemble(
    record: Record,
    settings: Settings,
    header: model.Header,
    sections: Iterable[model.Section],
    remarks: Iterable[Remark] = (),
) -> model.Document:
    """Return the whole report: the method's own sections, then those that all methods share.

    `remarks` are what the report itself must add to the recorded ones.
    """
    said = (*record.remarks, *remarks, *contradiction_remarks(record))
    first = with_rule(sections, record.geometry)
    return model.Document(
        name=document_name(record),
        header=header,
        sections=(
            *(with_headline(first) if record.run.spec else first),
            remarks_section(said),
            *appendix_sections(record, settings),
        ),
    )


def with_headline(sections: Iterable[model.Section]) -> tuple[model.Section, ...]:
    """Return the sections with the first chart of all beside the verdict of the first.

    A first section that has a chart of its own, or no verdict, stays as it is.
    """
    first, *others = sections
    if any(isinstance(block, model.XYChart | model.Bars3D) for block in first.blocks):
        return (first, *others)
    charts = (b for each in others for b in each.blocks if isinstance(b, model.XYChart))
    chart = next(charts, None)
    verdicts = [at for at, block in enumerate(first.blocks) if isinstance(block, model.Verdict)]
    if chart is None or not verdicts:
        return (first, *others)
    place = verdicts[-1] + 1
    blocks = (*first.blocks[:place], model.Headline(chart=chart), *first.blocks[place:])
    return (replace(first, blocks=blocks), *others)


def appendix_sections(record: Record, settings: Settings) -> tuple[model.Section, ...]:
    """Return what every method's report ends with."""
    sections = (
        self_checks_section(record),
        checks_section(record),
        platform_section(record),
        hosts_section(record),
        conditions_section(record, settings),
        device_section(record),
        drive_section(record),
        steps_section(record),
    )
    return tuple(replace(each, appendix=True) for each in sections if each is not None)


def run_rows(record: Record) -> tuple[tuple[str, str], ...]:
    """Return what is on top of the reports that follow no standard: when, on what, how."""
    return (
        ("Run", date_of(record.run.started_at)),
        ("Target", record.identity.target),
        ("Engine", record.run.engine),
        *header_rows(record),
    )


def device_group(record: Record) -> model.HeaderGroup:
    """Return what their header says of the device."""
    identity = record.identity
    rows = (
        ("Model", identity.model or NOT_KNOWN),
        ("Serial no", identity.serial or NOT_KNOWN),
        *((("Capacity", capacity_name(record)),) if record.geometry.has_capacity else ()),
        ("Write cache", identity.write_cache or NOT_KNOWN),
    )
    return model.HeaderGroup(title="Device", tone="dut", rows=rows)


def threads_by_depth(threads: int, depth: int | str) -> str:
    """Return the outstanding I/Os in words: "2 threads × QD 16"."""
    if threads == 1:
        return say("1 thread × QD {depth}", depth=depth)
    return say("{threads} threads × QD {depth}", threads=threads, depth=depth)


def document_name(record: Record) -> str:
    """Return a file name: method, device and date, as in "pts-iops-mlc-a-20261121"."""
    device = record.identity.model or record.identity.target
    text = f"{record.run.method} {device} {record.run.started_at[:10].replace('-', '')}"
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:100].strip("-")


def date_of(moment: str) -> str:
    """Return an ISO 8601 moment as people read it, "2026-11-20 09:14", empty for none."""
    return moment[:16].replace("T", " ")


def stamp_of(record: Record, conformance: str = "") -> str:
    """Return the words that every page must show; `conformance` is the ledger's."""
    kinds = {remark.kind for remark in record.remarks}
    words = []
    if RemarkKind.RECORD_INCONSISTENT in kinds:
        words.append("RECORD CONTRADICTS ITSELF")
    if RemarkKind.RECORD_UNSEALED in kinds:
        words.append("NOT SEALED")
    if RemarkKind.SIMULATED in kinds:
        words.append("SIMULATED DEVICE")
    if conformance:
        words.append(conformance)
    elif any(map(measures.errors_of, record.answers)):
        words.append("FAILED I/Os")
    if record.run.ending == "running":
        words.append("RUNNING")
    elif record.run.ending in ("interrupted", "failed"):
        words.append("INCOMPLETE")
    return joined(words)


def purge_method(record: Record) -> str:
    """Return how the device was purged, as its answer says, not as it was planned."""
    purges = record.taken(Purge)
    if not purges:
        return "not yet"
    method = purges[-1][1].detail.get("method", NOT_KNOWN)
    return "not possible" if method == "none" else method


def convergence_word(findings: Determined) -> str:
    """Return the header's word for convergence."""
    return {None: "N/A", True: "YES", False: "NO"}[findings.converged]


def window_name(findings: Determined) -> str:
    """Return the window's rounds as text, "1–5", or "none"."""
    if findings.window_rounds is None:
        return NO_ROUNDS
    first, last = findings.window_rounds
    return f"{first}–{last}"


def remarks_section(remarks: Iterable[Remark]) -> model.Section:
    """Return every remark with its remedy; one of many steps stands once, figures from – to."""
    notes: list[model.Block] = []
    for group in grouped((remark, remark.step) for remark in remarks):
        steps = [step for step in group.touched if step is not None]
        note = model.Note(
            kind=group.kind.value,
            text=_with_steps(_as_sentence(group.text), steps),
            remedy=REMEDIES[group.kind],
            step=steps[0] if len(steps) == 1 else None,
        )
        notes.append(note)
    return model.Section(
        title=REMARKS_TITLE, blocks=tuple(notes) or (model.Paragraph(text="None."),)
    )


def conditions_section(record: Record, settings: Settings) -> model.Section:
    """Return the settings as run, and the host they ran on."""
    run = record.run
    rows = [
        ("Method", run.method),
        ("Version of the standard", run.spec or "none"),
        *((Verbatim(each.key), Verbatim(each.value)) for each in describe(settings)),
        ("Run", run.id),
        ("Seed", str(run.seed)),
        ("Engine", run.engine),
        ("Teijo", run.version),
        ("Started", date_of(run.started_at)),
        ("Ended", date_of(run.ended_at) or "not yet"),
        ("Ending", _ending(record)),
        *_places(record),
    ]
    return model.Section(
        title="Settings and environment",
        blocks=(
            model.Facts(caption="Settings", rows=tuple(rows)),
            model.Facts(caption="Environment", rows=environment_rows(record)),
        ),
    )


def _places(record: Record) -> tuple[tuple[str, str], ...]:
    """Return which thread was kept on which processor, as the kernel reported it; else nothing."""
    witnesses = (answer.witness for answer in record.answers if answer.witness is not None)
    # Threads take the processors in one order, so the step with the most has those of all.
    places = max((witness.places for witness in witnesses), key=len, default=())
    if not places:
        return ()
    named = listed(
        say("{n} on processor {cpu} (NUMA node {node})", n=number, cpu=cpu, node=node)
        for number, (cpu, node) in enumerate(places, 1)
    )
    text = say("{threads}; more threads follow in the same order", threads=named)
    return (("Threads kept on processors", text),)


def _ending(record: Record) -> str:
    run = record.run
    return say("{ending}: {error}", ending=run.ending, error=run.error) if run.error else run.ending


def device_section(record: Record) -> model.Section:
    """Return what the device is, its counters over the run, and the write amplification."""
    identity, is_drive = record.identity, record.geometry.has_capacity
    told = [
        ("Model", identity.model),
        ("Serial no", identity.serial),
        ("Firmware", identity.firmware),
        ("Interface", identity.interface),
        *(_size_rows(record) if is_drive else ()),
        ("Write cache", identity.write_cache),
    ]
    # A directory or a database is no drive: that it has no model and no counters says nothing.
    known = [(name, value or NOT_KNOWN) for name, value in told if value or is_drive]
    rows = (("Target", identity.target), *known, *identity.facts.items())
    blocks: list[model.Block] = [model.Facts(caption="Device", rows=rows)]
    counters = _health_blocks(record.answers) if record.answers else []
    blocks += [each for each in counters if is_drive or not isinstance(each, model.Paragraph)]
    return model.Section(title="Device and health", blocks=tuple(blocks))


def steps_section(record: Record) -> model.Section:
    """Return every step of the run as a folded table: all that the other pages are made from."""
    table = model.Table(
        columns=STEP_COLUMNS,
        rows=tuple(_step_row(each) for each in record.steps),
        caption="Every step, in order",
        folded=True,
    )
    return model.Section(title="Every step", blocks=(table,))


def capacity_name(record: Record) -> str:
    """Return the user capacity in the vendors' units; of a scaled device both."""
    geometry = record.geometry
    own = units.format_capacity(geometry.capacity_bytes)
    if geometry.scale <= 1:
        return own
    return say(
        "{own}, {nominal} at full size (1:{scale:.3g})",
        own=own,
        nominal=units.format_capacity(geometry.nominal_capacity_bytes),
        scale=geometry.scale,
    )


def ms(latency_ns: float) -> float:
    """Return a latency in ms, the standard's unit."""
    return latency_ns / units.NS_PER_MS


def _size_rows(record: Record) -> tuple[tuple[str, str], ...]:
    geometry = record.geometry
    return (
        ("User capacity", _capacity(record)),
        ("Logical block", units.format_size(geometry.logical_block_bytes)),
        ("Physical block", units.format_size(geometry.physical_block_bytes)),
    )


def _capacity(record: Record) -> str:
    geometry = record.geometry
    own = f"{units.format_capacity(geometry.capacity_bytes)} ({geometry.capacity_bytes:,} B)"
    if geometry.nominal_capacity_bytes == geometry.capacity_bytes:
        return own
    nominal = units.format_capacity(geometry.nominal_capacity_bytes)
    return say("{own}, standing for {nominal}", own=own, nominal=nominal)


def _as_sentence(text: str) -> str:
    """Return what a remark says with a capital, but for a setting, a device or a key=value."""
    setting = " instead of " in text
    return capitalised(text) if text.partition(" ")[0].isalpha() and not setting else text


def _with_steps(text: str, steps: list[int]) -> str:
    if len(steps) < 2:
        return text
    named = ", ".join(str(step) for step in steps[:_STEPS_NAMED])
    more = len(steps) - _STEPS_NAMED
    if more <= 0:
        return say("{text} (steps {named})", text=text, named=named)
    return say("{text} (steps {named} and {more} more)", text=text, named=named, more=more)


def _health_blocks(answers: list[StepResult]) -> list[model.Block]:
    # A drive's own counters are with a few steps only; see runner/looks.
    looks = [look for each in answers for look in (each.health_before, each.health_after)]
    before, after = _first_seen(looks), _first_seen(reversed(looks))
    if _begin_anew(answers):
        text = (
            "The device's counters began anew during the run: it is another device after each "
            "configuration. Every step of the run file has them before and after it."
        )
        return [model.Paragraph(text=text)]
    changes = measures.counter_change(before, after)
    if not changes:
        return [model.Paragraph(text="The device shows no counters of its own.")]
    amplification = measures.write_amplification(answers)
    counters = model.Table(
        columns=(
            model.Column(name="Counter"),
            model.Column(name="At the start", digits=0),
            model.Column(name="At the end", digits=0),
            model.Column(name="Change", digits=0),
        ),
        rows=tuple((Verbatim(name), a, b, b - a) for name, (a, b) in changes.items()),
        caption="The device's own counters, over the whole run",
    )
    if amplification is None:
        return [counters]
    row = ("Write amplification over the whole run", f"{amplification:.3f}")
    return [counters, model.Facts(rows=(row,))]


def _begin_anew(answers: list[StepResult]) -> bool:
    """Return whether a counter of what the host wrote ever fell: it is not one device's."""
    seen = [
        health[measures.HOST_WRITES]
        for answer in answers
        for health in (answer.health_before, answer.health_after)
        if measures.HOST_WRITES in health
    ]
    return any(later < earlier for earlier, later in pairwise(seen))


def _first_seen(healths: Iterable[Health]) -> Health:
    seen: dict[str, int] = {}
    for health in healths:
        for name, value in health.items():
            seen.setdefault(name, value)
    return seen


def _step_row(record: StepRecord) -> tuple[model.Value, ...]:
    step, answer = record.step, record.answer
    number = step.round_number if isinstance(step, Measure | Idle | Configure) else None
    cell = step.cell if isinstance(step, Measure | Configure) else None
    place: tuple[model.Value, ...] = (record.seq, step.phase, number, cell or "")
    seed = str(record.seed)
    if isinstance(answer, Gap):
        return (*place[:3], say("gap: {reason}", reason=answer.reason), *(None,) * 8, "", seed)
    kinds = listed(dict.fromkeys(remark.kind.value for remark in answer.remarks))
    times = (
        answer.started_ns / units.NS_PER_S,
        answer.elapsed_ns / units.NS_PER_S,
        answer.gap_ns / units.NS_PER_MS,
    )
    if not isinstance(step, Measure | Precondition):
        return (*place, *times, *(None,) * 5, kinds, seed)
    return (
        *place,
        *times,
        answer.iops,
        measures.throughput_mb_s(answer),
        measures.latency_ms_mean(answer),
        measures.latency_ms_max(answer),
        measures.errors_of(answer),
        kinds,
        seed,
    )
