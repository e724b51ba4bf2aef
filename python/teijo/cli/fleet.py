"""The verb `fleet`: one method over many drives and hosts."""

import shlex
import signal
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from math import ceil
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from teijo.cli import console
from teijo.cli.options import Json, Overwrite, Progress, ProgressMode
from teijo.cli.together import apart_s, apart_words, late_of
from teijo.errors import UsageError
from teijo.speech.tongue import said, tr
from teijo.units import NS_PER_S, format_capacity, format_duration

if TYPE_CHECKING:
    from teijo.fleet.acts import Overview
    from teijo.fleet.conductor import Conductor, Drive
    from teijo.fleet.consent import Consent
    from teijo.terms.bottleneck import Seen

EXAMPLES = (
    "teijo fleet check qualify.toml                  which drives, how long, what is wrong",
    "teijo fleet consent qualify.toml > yes.toml     every serial, for a person to look through",
    "teijo fleet run qualify.toml --consent yes.toml -o qualified",
    "teijo fleet status qualified                    how far each drive is",
    "teijo fleet resume qualified --consent yes.toml after a kill, or a host that went away",
    "teijo fleet run lab.toml --address 192.0.2.7:6379",
)
_QUIET_S: Final = 5.0
"""How long the progress is silent while nothing happens."""
_HELD: Final = {"not met": 9, "not known": 11}
_TOLD: Final = {
    "starting": "{drive} on {host} begins",
    "held": "{drive} on {host} is ready",
    "running": "{drive} on {host} goes on",
    "done": "{drive} on {host}: {ending}",
    "failed": "{drive} on {host} failed: {told}",
    "refused": "{drive} on {host} was refused: {told}",
    "left": "{drive} on {host} was left, and can be resumed",
}


class Action(StrEnum):
    """What is done with a fleet."""

    CHECK = "check"
    CONSENT = "consent"
    RUN = "run"
    STATUS = "status"
    RESUME = "resume"


WhichAction = Annotated[
    Action,
    typer.Argument(metavar="ACTION", help="One of: check, consent, run, status, resume."),
]
Place = Annotated[
    Path,
    typer.Argument(
        metavar="PLACE",
        help="A plan in TOML for check, consent and run; a fleet's folder for status and resume.",
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FOLDER",
        help="For run: the fleet's folder. [default: its name]",
    ),
]
ConsentFile = Annotated[
    Path | None,
    typer.Option(
        "--consent",
        metavar="FILE",
        help="Consent to lose all data on the drives that this file lists, by this plan alone.",
    ),
]
Address = Annotated[
    str,
    typer.Option(
        "--address",
        metavar="ADDRESS",
        help="The Ray cluster of the hosts, HOST:PORT, or local: one on this machine.",
    ),
]
Reach = Annotated[
    list[str] | None,
    typer.Option(
        "--reach",
        metavar="NAME=COMMAND",
        help="What leads to the teijo of a host that shares a target (rack2='ssh rack2 teijo'); "
        "may stand many times.",
    ),
]
Remove = Annotated[
    bool,
    typer.Option(
        "--remove-at-source",
        help="Remove a run file at its host once it is here, whole by its digest.",
    ),
]


def verb(
    action: WhichAction,
    place: Place,
    output: Folder = None,
    consent: ConsentFile = None,
    address: Address = "",
    remove: Remove = False,
    overwrite: Overwrite = False,
    reach: Reach = None,
    as_json: Json = False,
    progress: Progress = None,
) -> None:
    """Measure many drives by one method, each in a run of its own, by a PLAN.

    A plan (docs/fleet.md) names hosts, drives by rule, method and settings. Nothing is written to
    a drive whose serial the consent does not list, and nothing at all where one of them is missing.
    """
    from teijo.fleet.consent import read_consent

    given = None if consent is None else read_consent(consent)
    if action in (Action.STATUS, Action.RESUME):
        _go_on(
            action,
            place,
            given,
            address,
            progress,
            remove=remove,
            overwrite=overwrite,
            reach=reach_from(reach),
            as_json=as_json,
        )
    else:
        _by_plan(
            action,
            place,
            output,
            given,
            address,
            progress,
            remove=remove,
            overwrite=overwrite,
            reach=reach_from(reach),
            as_json=as_json,
        )


def reach_from(given: Sequence[str] | None) -> dict[str, str]:
    """Return the command that leads to each host.

    Raises:
        PlanError: a text names no host, or one stands twice.
    """
    if not given:
        return {}
    from teijo.api.sharing import sharing_from

    sharing_from(given)
    return {name: command for name, _, command in (text.partition("=") for text in given)}


def _go_on(
    action: Action,
    place: Path,
    consent: "Consent | None",
    address: str,
    progress: ProgressMode | None,
    *,
    remove: bool,
    overwrite: bool,
    reach: dict[str, str],
    as_json: bool,
) -> None:
    """Tell how far a fleet is, or go on with it."""
    from teijo.fleet import acts
    from teijo.fleet.manifest import read_manifest

    manifest = read_manifest(place)
    with acts.hosts_of(manifest.plan, place, address, is_begun=True) as hosts:
        if action is Action.STATUS:
            _put_status(acts.looked_at(manifest, hosts, place), as_json=as_json)
            return
        with stoppable() as stop:
            ended = acts.resume(
                manifest, hosts, place, consent=consent, observer=Teller(progress), stop=stop,
                removes=remove, overwrites=overwrite, reach=reach,
            )  # fmt: skip
    leave(ended, as_json=as_json)


def _by_plan(
    action: Action,
    place: Path,
    folder: Path | None,
    consent: "Consent | None",
    address: str,
    progress: ProgressMode | None,
    *,
    remove: bool,
    overwrite: bool,
    reach: dict[str, str],
    as_json: bool,
) -> None:
    """Look a plan over, print the consent to it, or carry it out."""
    from teijo.fleet import acts
    from teijo.fleet.consent import consent_text
    from teijo.fleet.plan import read_plan

    plan = read_plan(place)
    folder = folder or Path(plan.fleet)
    with acts.hosts_of(plan, folder, address) as hosts:
        seen = acts.look_over(plan, hosts)
        if action is Action.CONSENT:
            _refuse(seen)
            for line in consent_text(plan, seen.serials).splitlines():
                console.put(line)
            return
        if action is Action.CHECK:
            from teijo.fleet.bottleneck import seen_on

            answering = {name: hosts[name] for name in seen.told}
            shares = seen_on(answering, seen.orders, tries=False)
            _put_overview(seen, shares, consent, as_json=as_json)
            return
        with stoppable() as stop:
            ended = acts.begin(
                seen, hosts, folder, consent=consent, observer=Teller(progress), stop=stop,
                removes=remove, overwrites=overwrite, reach=reach,
            )  # fmt: skip
    leave(ended, as_json=as_json)


def _refuse(seen: "Overview") -> None:
    """Refuse a consent to a plan of which something is wrong.

    Raises:
        UsageError: something is.
    """
    if seen.problems:
        raise UsageError(
            "Nobody can consent to this plan yet.", remedy="Mend what is named first."
        ).naming(seen.problems)


def _put_overview(
    seen: "Overview",
    shares: "Mapping[str, Mapping[str, Seen]]",
    consent: "Consent | None",
    *,
    as_json: bool,
) -> None:
    """Print the drives of a plan, what each takes, what they share, and all that is wrong.

    Raises:
        UsageError: something is. UnsafeError: consent is missing, where one was given.
    """
    from teijo.fleet.consent import objections, refuse

    rows = [(order, seen.examined[order.number]) for order in seen.orders]
    if as_json:
        from teijo.compare.fleet.for_programs import hosts_json

        drives = [order.model_dump(mode="json") | {"takes": dict(takes)} for order, takes in rows]
        console.put_json({"digest": seen.plan.digest, "drives": drives, **hosts_json(shares),
                          "problems": list(seen.problems)})  # fmt: skip
    else:
        head = ("HOST", "DRIVE", "TARGET", "MODEL", "TIME", "WRITTEN", "SPARE")
        table = [
            (
                order.host,
                order.name,
                order.target,
                order.model or "-",
                _time(takes),
                _written(takes),
                tr("yes") if order.is_spare else "-",
            )
            for order, takes in rows
        ]
        for line in console.columns(head, table):
            console.put(line)
        from teijo.cli.sharing import put_groups

        put_groups(shares)
    if seen.problems:
        raise UsageError(
            "The fleet cannot begin; nothing was written.",
            remedy="Mend what is named, in the plan or on the hosts.",
        ).naming(seen.problems)
    if consent is not None:
        refuse(objections(seen.plan, seen.serials, consent))


def _time(takes: Any) -> str:
    if takes["problem"]:
        return "-"
    least, expected, most = (round(each * NS_PER_S) for each in takes["seconds"])
    return f"{format_duration(expected)} ({format_duration(least)} … {format_duration(most)})"


def _written(takes: Any) -> str:
    if takes["problem"] or takes["written_bytes"][1] is None:
        return "-"
    return format_capacity(takes["written_bytes"][1])


def _put_status(fleet: "Conductor", *, as_json: bool) -> None:
    if as_json:
        console.put_json(_as_json(fleet))
        return
    head = ("HOST", "DRIVE", "STATE", "DONE", "ENDING", "FILE")
    rows = [
        (
            drive.order.host,
            drive.order.name,
            said(drive.standing),
            f"{drive.share:.0%}",
            said(drive.ending) if drive.ending and not drive.is_active else "-",
            drive.order.run,
        )
        for drive in fleet.drives
    ]
    for line in console.columns(head, rows):
        console.put(line)
    late = late_of(fleet)
    if len(late) > 1:
        console.say(apart_words(late))
    for name, why in fleet.lost.items():
        console.say(tr("{host} does not answer: {why}", host=name, why=why))


def _as_json(fleet: "Conductor") -> dict[str, Any]:
    late = late_of(fleet)
    return {
        "fleet": fleet.plan.fleet,
        "drives": [
            {
                "host": drive.order.host,
                "drive": drive.order.name,
                "target": drive.order.target,
                "state": drive.standing,
                "share": drive.share,
                "ending": drive.ending,
                "limits": drive.limits,
                "late_s": drive.late_s,
                "told": drive.told,
                "run": drive.order.run,
                "command": shlex.join(("teijo", *drive.order.words(drive.order.run))),
            }
            for drive in fleet.drives
        ],
        "apart_s": apart_s(late)[0] if len(late) > 1 else None,
        "apart_error_s": apart_s(late)[1] if len(late) > 1 else None,
        "lost": dict(fleet.lost),
    }


def leave(fleet: "Conductor", *, as_json: bool) -> None:
    """Print the run files, one path a line; leave by what limits say.

    Raises:
        Exit: a limit is not met, or cannot be known.
    """
    late = late_of(fleet)
    if len(late) > 1:
        console.say(apart_words(late))
    if as_json:
        console.put_json(_as_json(fleet))
    else:
        for drive in fleet.drives:
            if drive.is_here:
                console.put(str(fleet.folder / drive.order.run))
    codes = [_HELD[drive.limits] for drive in fleet.drives if drive.limits in _HELD]
    if codes:
        raise typer.Exit(min(codes))


@contextmanager
def stoppable() -> Iterator[Event]:
    """Take the signals that end a program as a wish to stop the runs and leave them resumable."""
    stop = Event()

    def heard(_number: int, _frame: object) -> None:
        stop.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    taken = [each for each in numbers if signal.getsignal(each) is not signal.SIG_IGN]
    before = {number: signal.signal(number, heard) for number in taken}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Teller:
    """Tells on stderr what happens, and every few seconds how far all of it is."""

    def __init__(self, mode: ProgressMode | None) -> None:
        self._mode = mode
        self._began_s = time.monotonic()
        self._said_s = self._began_s

    def __call__(self, fleet: "Conductor", drive: "Drive | None", word: str) -> None:
        """Take in one change of a fleet."""
        if self._mode is ProgressMode.NONE:
            return
        if self._mode is ProgressMode.NDJSON:
            if word != "looked":
                console.say_json(_event(fleet, drive, word))
            return
        if drive is not None and word in _TOLD:
            self._say(
                tr(_TOLD[word], drive=drive.order.name, host=drive.order.host,
                   ending=said(drive.ending), told=said(drive.told))
            )  # fmt: skip
        elif word == "stopping":
            self._say(tr("stopping: the runs can be resumed"))
        elif word.startswith("lost "):
            host = word.removeprefix("lost ")
            self._say(tr("{host} does not answer: {why}", host=host, why=fleet.lost[host]))
        elif word == "looked" and time.monotonic() - self._said_s >= _QUIET_S:
            self._say(self._so_far(fleet))

    def _say(self, text: str) -> None:
        self._said_s = time.monotonic()
        console.say(
            f"[{format_duration(round((self._said_s - self._began_s) * NS_PER_S)):>9}] {text}"
        )

    def _so_far(self, fleet: "Conductor") -> str:
        drives = fleet.drives
        counted = Counter(drive.standing for drive in drives)
        needed = [drive for drive in drives if not drive.order.is_spare or drive.was_begun]
        share = sum(1.0 if drive.is_over else drive.share for drive in needed) / len(needed)
        text = tr(
            "{done} of {all} drives done, {running} running, {failed} failed; {share} of all",
            done=counted["done"],
            all=len(needed),
            running=counted["running"] + counted["starting"],
            failed=counted["failed"] + counted["refused"],
            share=f"{share:.0%}",
        )
        left_s = _left_s(needed, fleet.plan.at_once)
        if left_s is None:
            return text
        left = format_duration(round(left_s * NS_PER_S))
        return tr("{so_far}, about {left} left", so_far=text, left=left)


def _left_s(drives: "Sequence[Drive]", at_once: int) -> float | None:
    """Return how long a fleet may take yet: its slowest host; None while nobody can say.

    A drive that waits takes as long as those that have begun; each host has its own queue.
    """
    now_s = time.monotonic()
    taken = [
        (now_s - drive.began_s) / drive.share
        for drive in drives
        if drive.standing == "running" and drive.share > 0.0
    ] + [drive.took_s for drive in drives if drive.took_s]
    if not taken:
        return None
    usual_s = sum(taken) / len(taken)
    hosts: dict[str, float] = {}
    for host in {drive.order.host for drive in drives}:
        own = [drive for drive in drives if drive.order.host == host]
        running = [
            (now_s - drive.began_s) * (1.0 - drive.share) / drive.share
            if drive.share > 0.0
            else usual_s
            for drive in own
            if drive.is_active
        ]
        waiting = sum(drive.standing == "waiting" for drive in own)
        hosts[host] = max(running, default=0.0) + usual_s * ceil(waiting / (at_once or len(own)))
    return max(hosts.values())


def _event(fleet: "Conductor", drive: "Drive | None", word: str) -> dict[str, Any]:
    event: dict[str, Any] = {"event": word, "fleet": fleet.plan.fleet}
    if drive is not None:
        event |= {"host": drive.order.host, "drive": drive.order.name, "run": drive.order.run,
                  "ending": drive.ending, "told": drive.told}  # fmt: skip
    return event
