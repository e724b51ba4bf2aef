"""The verb `fleet bottleneck`: what the drives of a plan share, by reading them together."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from teijo.cli import console
from teijo.cli.fleet import Address, stoppable
from teijo.cli.options import Json, Progress, ProgressMode
from teijo.errors import UsageError
from teijo.speech.tongue import spoken, tr
from teijo.units import NS_PER_S, format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teijo.analysis.bottleneck import Bottlenecks
    from teijo.fleet.manifest import Manifest
    from teijo.fleet.plan import Plan

VERB: Final = "fleet bottleneck"
EXAMPLES = (
    "teijo fleet bottleneck qualify.toml        before the first write: drives are only read",
    "teijo fleet bottleneck qualified           of a fleet that is there: its report has it",
    "teijo fleet bottleneck qualify.toml --rounds 12 --seconds 5   longer, and surer",
)
_ROUNDS: Final = 6
_ROUNDS_LEAST: Final = 4
_ROUNDS_MOST: Final = 1000
_SECONDS: Final = 2.0
_SECONDS_LEAST: Final = 0.1
_SECONDS_MOST: Final = 25.0
_QUIET_S: Final = 5.0


def verb(
    place: Annotated[
        Path,
        typer.Argument(metavar="PLACE", help="A plan in TOML, or the folder of a fleet."),
    ],
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds",
            metavar="N",
            min=_ROUNDS_LEAST,
            max=_ROUNDS_MOST,
            help="How many rounds.",
        ),
    ] = _ROUNDS,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            metavar="S",
            min=_SECONDS_LEAST,
            max=_SECONDS_MOST,
            help="How long drives are read at a time.",
        ),
    ] = _SECONDS,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", help="Draw the order of this. [default: the plan's]"),
    ] = None,
    address: Address = "",
    as_json: Json = False,
    progress: Progress = None,
) -> None:
    """Tell which drives share a bottleneck: read each alone and all of a group together.

    Nothing is written, so nothing is consented to. What drives may share (adapter, PCIe bridge,
    NUMA node, processors …) is read from sysfs; each such group is measured in rounds of an order
    that is drawn. In the folder of a fleet the answer is kept, and `teijo fleet report` has it.
    """
    from teijo.analysis.bottleneck import Bottlenecks
    from teijo.fleet import acts, bottleneck
    from teijo.fleet.manifest import new_seed

    plan, manifest = _read(place)
    drawn = new_seed(plan) if seed is None else seed
    folder = place if manifest is not None else Path(plan.fleet)
    with acts.hosts_of(plan, folder, address) as hosts, stoppable() as stop:
        orders = acts.drives_now(plan, hosts, drawn if manifest is None else manifest.seed)
        measured = bottleneck.measure(
            plan.fleet, hosts, orders, seed=drawn, stop=stop, rounds=rounds, seconds=seconds,
            told=_Teller(progress, seconds),
        )  # fmt: skip
    found = Bottlenecks(measured)
    _put(found, as_json=as_json)
    if manifest is not None:
        kept = bottleneck.keep(measured, folder)
        console.say(tr("kept: {path}", path=str(kept)))


def _read(place: Path) -> "tuple[Plan, Manifest | None]":
    from teijo.fleet.manifest import check_own, read_manifest
    from teijo.fleet.plan import read_plan

    if not place.is_dir():
        return read_plan(place), None
    check_own(place)
    manifest = read_manifest(place)
    return manifest.plan, manifest


def _put(found: "Bottlenecks", *, as_json: bool) -> None:
    """Print what was found, or that there was nothing to measure."""
    if as_json:
        from teijo.compare.fleet.for_programs import sharing_json

        console.put_json(sharing_json(found))
        return
    if not found.shared:
        _refuse(found)
    from teijo.compare.fleet.sharing import document_of
    from teijo.report import text
    from teijo.report.language import Language

    page = text.render(document_of(found), language=Language(spoken()))
    console.put_lines(page.rstrip("\n"))


def _refuse(found: "Bottlenecks") -> None:
    """Say that no two drives of a host can be read together.

    Raises:
        UsageError: always.
    """
    lacking = [
        f"{drive} on {host}: {seen.why_not}"
        for host, drives in found.measured.hosts.items()
        for drive, seen in drives.items()
        if seen.why_not
    ]
    raise UsageError(
        "No host has two drives that can be read together",
        remedy="Name a plan with drives, or files that are there, of one host.",
    ).naming(lacking)


class _Teller:
    """Tells on stderr how far the reading is, every few seconds."""

    def __init__(self, mode: ProgressMode | None, seconds: float) -> None:
        self._mode = mode
        self._each_s = seconds
        self._began_s = time.monotonic()
        self._said_s = 0.0

    def __call__(self, done: int, of: int, host: str, drives: "Sequence[str]") -> None:
        """Take in that a spell begins."""
        now_s = time.monotonic()
        if self._mode is ProgressMode.NONE or now_s - self._said_s < _QUIET_S:
            return
        self._said_s = now_s
        each_s = (now_s - self._began_s) / done if done else self._each_s
        left = format_duration(round((of - done) * each_s * NS_PER_S))
        if self._mode is ProgressMode.NDJSON:
            console.say_json({"event": "spell", "done": done, "of": of, "host": host,
                              "drives": list(drives)})  # fmt: skip
            return
        told = tr("{done} of {of} readings done, about {left} left", done=done, of=of, left=left)
        console.say(told)
