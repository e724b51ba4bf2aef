"""The verb `purge`: what a drive can be purged by, doing it, how far it is, ending what is left."""

import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from teijo.cli import console
from teijo.cli.drive import show_unfinished
from teijo.cli.options import Destroy, Json, Target
from teijo.errors import UsageError
from teijo.outside.text import shell_path
from teijo.report.width import wrapped
from teijo.speech.tongue import said, tr
from teijo.units import NS_PER_S, format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teijo.api import PurgeState
    from teijo.device.drive.ata_identity import AtaSanitizeStatus
    from teijo.device.drive.nvme_identity import SanitizeStatus
    from teijo.device.purging.offer import Offer
    from teijo.device.watched import Progress

EXAMPLES = (
    "teijo purge /dev/disk/by-id/nvme-…                  what it has, and what each would lose",
    "teijo purge /dev/nvme1n1 --method auto --destroy S  purge it",
    "teijo purge /dev/nvme1n1 --status                   how far it is",
    "teijo purge /dev/nvme1n1 --finish                   end what a kill or a failure left",
)
STEP_PERCENT = 5
LEGEND = (
    "NOW: nothing keeps it from being done. PTS: the standard counts it as a purge.",
    "STOPS: it can be stopped. RESUMES: after a power cut it ends by itself.",
    "PASSWORD: a kill or a power cut may leave one; --finish takes it off.",
)


def verb(
    target: Target,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="Purge by this method; auto takes the surest that loses no more than TARGET.",
        ),
    ] = None,
    destroy: Destroy = None,
    status: Annotated[
        bool, typer.Option("--status", help="Show how far a purge is, and what is left open.")
    ] = False,
    finish: Annotated[
        bool, typer.Option("--finish", help="End what a kill, a power cut or a failure left.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Put a drive back in the state "never written", or show the ways to do so.

    Without --method nothing is written. docs/purge.md says what each method does, and its risks.
    """
    from teijo import api

    if sum((method is not None, status, finish)) > 1:
        raise UsageError(
            "--method, --status and --finish are three ways to use it", remedy="Keep one of them."
        )
    if destroy is not None and method is None:
        raise UsageError(
            "--destroy gives up a device, and no --method says what for",
            remedy="Add --method, or leave --destroy away.",
        )
    if finish:
        ended = api.finish_purge(target)
        if as_json:
            console.put_json({"ended": list(ended)})
        for line in () if as_json else ended or ("nothing of it is left open",):
            console.put(said(line))
    elif method is not None:
        result = api.purge(target, method, destroy=destroy, progress=_progress())
        if as_json:
            console.put_json(asdict(result))
        else:
            console.put(result.text)
    else:
        state = api.purge_state(target)
        if as_json:
            console.put_json(_state_json(state))
        else:
            _show(target, state, with_offers=not status)


def _progress() -> "Progress":
    """Return what says on stderr how far it is, at each step of some percent."""
    last = [-STEP_PERCENT, 0]

    def progress(done: int, total: int) -> None:
        if not total:
            return  # stamps are written, or the drive does not say how far it is
        percent = 100 * done // total
        if total != last[1] or percent >= last[0] + STEP_PERCENT:
            last[:] = [percent, total]
            console.say(tr("purge: {percent} %", percent=percent))

    return progress


def _show(target: str, state: "PurgeState", *, with_offers: bool) -> None:
    show_unfinished(state.seen)
    log = _last_sanitize(state)
    if log is not None and log.state == "not told":
        log = None  # a SATA drive does not keep whether there ever was one
    if log is not None:
        console.put(tr("its last sanitize: {state}", state=said(log.state)))
    for change in state.changes:
        line = tr("left open: {kind}, {method}", kind=change.kind, method=change.method)
        if change.secret:
            line += tr("; the password is {password}", password=change.secret)
        console.put(f"{line} ({change.began})")
    if not with_offers:
        if log is None and not state.seen.unfinished and not state.changes:
            console.put(said("nothing of it is left open"))
        return
    if not state.offers:
        console.put(said("it has no way to be purged"))
        return
    _offers(state.offers)
    possible = [one for one in state.offers if not one.refusal]
    if possible:
        from teijo.device import serial
        from teijo.device.purging.ladder import AUTOMATIC

        # What cannot be stopped is shown, and never put into a person's mouth.
        usual = [one for name in AUTOMATIC for one in possible if one.method == name]
        first = (usual or possible)[0]
        console.put("")
        console.put(tr("To purge it, and lose everything that is named:"))
        console.put(
            f"  teijo purge {shell_path(target)} --method {first.method} "
            f"{serial.typed(first.victims)}"
        )


def _last_sanitize(state: "PurgeState") -> "SanitizeStatus | AtaSanitizeStatus | None":
    nvme, ata = state.seen.portrait.nvme, state.seen.portrait.ata
    return nvme.sanitize if nvme else ata.sanitize if ata else None


def _offers(offers: "Sequence[Offer]") -> None:
    """Print the ways as a table that 80 columns hold, and what is alike of several of them once."""
    heads = ("METHOD", "TIME", "NOW", "PTS", "STOPS", "RESUMES", "PASSWORD")
    for line in console.columns(heads, [_row(one) for one in offers]):
        console.put("  " + line)
    for word in LEGEND:
        _put_wrapped(said(word), "  ")
    _grouped(tr("lost"), [(one.method, (", ".join(one.victims),)) for one in offers])
    refused = [one for one in offers if one.refusal]
    _grouped(
        tr("why not"), [(one.method, (said(one.refusal), said(one.remedy))) for one in refused]
    )


def _row(offer: "Offer") -> tuple[str, ...]:
    time = "" if offer.seconds is None else format_duration(offer.seconds * NS_PER_S)
    answers = (
        not offer.refusal, offer.valid_for_pts, offer.abortable, offer.survives_power_cut,
        offer.leaves_password,
    )  # fmt: skip
    return (offer.method, time, *(tr("yes") if each else tr("no") for each in answers))


def _grouped(title: str, texts: "Sequence[tuple[str, tuple[str, ...]]]") -> None:
    """Print the same lines of several methods once, below all their names."""
    if not texts:
        return
    console.put("")
    console.put(title)
    for text in dict.fromkeys(text for _, text in texts):
        _put_wrapped(", ".join(name for name, each in texts if each == text), "  ")
        for line in filter(None, text):
            _put_wrapped(line, "    ")


def _put_wrapped(text: str, indent: str) -> None:
    room = console.width(sys.stdout)
    for line in [indent + text] if room is None else wrapped(text, room, indent=indent):
        console.put(line)


def _state_json(state: "PurgeState") -> dict[str, object]:
    from teijo.api.device_json import unfinished_json

    log = _last_sanitize(state)
    return {
        "unfinished": unfinished_json(state.seen),
        "sanitize": asdict(log) if log else None,
        # With the password, which is one for all drives: without it nobody opens the drive.
        "open_changes": [asdict(replace(one, stamps="")) for one in state.changes],
        "offers": [asdict(one) for one in state.offers],
    }
