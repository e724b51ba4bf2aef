"""The verb `purge`: what a drive can be purged by, doing it, how far it is, ending what is left."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from teijo.cli import console
from teijo.cli.drive import show_unfinished, unfinished_json
from teijo.cli.options import Destroy, Json, Target
from teijo.cli.tongue import said, tr
from teijo.errors import UsageError
from teijo.outside.text import shell_path
from teijo.units import NS_PER_S, format_duration

if TYPE_CHECKING:
    from teijo.api import PurgeState
    from teijo.device.purging.offer import Offer
    from teijo.device.watched import Progress

EXAMPLES = (
    "teijo purge /dev/disk/by-id/nvme-…                  what it has, and what each would lose",
    "teijo purge /dev/nvme1n1 --method auto --destroy S  purge it",
    "teijo purge /dev/nvme1n1 --status                   how far it is",
    "teijo purge /dev/nvme1n1 --finish                   end what a kill or a failure left",
)
STEP_PERCENT = 5


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
        percent = 100 * done // total if total else 0
        if total != last[1] or percent >= last[0] + STEP_PERCENT:
            last[:] = [percent, total]
            console.say(tr("purge: {percent} %", percent=percent))

    return progress


def _show(target: str, state: "PurgeState", *, with_offers: bool) -> None:
    show_unfinished(state.seen)
    log = state.seen.portrait.nvme.sanitize if state.seen.portrait.nvme else None
    if log is not None:
        console.put(tr("its last sanitize: {state}", state=said(log.state)))
    for change in state.changes:
        line = tr("left open: {kind}, {method}", kind=change.kind, method=change.method)
        console.put(f"{line} ({change.began})")
    if not with_offers:
        if log is None and not state.seen.unfinished and not state.changes:
            console.put(said("nothing of it is left open"))
        return
    if not state.offers:
        console.put(said("it has no way to be purged"))
        return
    heads = (
        "METHOD", "LOST", "TIME", "PTS", "CAN BE STOPPED", "ENDS AFTER A POWER CUT",
        "LEAVES A PASSWORD", "WHY NOT",
    )  # fmt: skip
    for line in console.columns(heads, [_row(one) for one in state.offers]):
        console.put("  " + line)
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


def _row(offer: "Offer") -> tuple[str, ...]:
    time = "" if offer.seconds is None else format_duration(offer.seconds * NS_PER_S)
    answers = (
        offer.valid_for_pts, offer.abortable, offer.survives_power_cut, offer.leaves_password
    )  # fmt: skip
    told = (tr("yes") if each else tr("no") for each in answers)
    return (offer.method, ", ".join(offer.victims), time, *told, said(offer.refusal))


def _state_json(state: "PurgeState") -> dict[str, object]:
    nvme = state.seen.portrait.nvme
    return {
        "unfinished": unfinished_json(state.seen),
        "sanitize": asdict(nvme.sanitize) if nvme and nvme.sanitize else None,
        "open_changes": [
            # Without the password.
            {name: value for name, value in asdict(one).items() if name != "secret"}
            for one in state.changes
        ],
        "offers": [asdict(one) for one in state.offers],
    }
