"""Settings that the PTS methods share: their knobs, defaults by version, checks, deviations."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from teijo import units
from teijo.analysis.steady_state import WINDOW_ROUNDS
from teijo.conformance.pieces import pieces_of
from teijo.conformance.versions import MINUTE_NS, LoadRule, Version
from teijo.document.phrase import Verbatim, say
from teijo.errors import PlanError
from teijo.methods import forms
from teijo.methods.drive_settings import DriveSettings
from teijo.methods.forms import optional
from teijo.methods.knobs import Knob, knobs_of, meaning
from teijo.methods.load import DataPattern, QueueDepth, RangePercent, Threads
from teijo.methods.settings import Settings
from teijo.terms.geometry import Geometry
from teijo.terms.purge import NONE
from teijo.terms.remark import Remark, RemarkKind
from teijo.terms.workload import ActiveRange, Content

MINUTE_LEAST_MS = 1
SEGMENT_BYTES = 8 * units.MIB
"""A segment of the client's 16 GiB in 2048 pieces."""

Mixes = Annotated[
    tuple[int, ...],
    Knob(forms.MIXES, "mixes=100/0,65/35,0/100", ("mix",)),
    meaning("R/W mixes of a round, the outer loop"),
]
BlockSizes = Annotated[
    tuple[int, ...],
    Knob(forms.BLOCK_SIZES, "block_sizes=8KiB,4KiB", ("bs", "block_size")),
    meaning("block sizes of a round, the inner loop"),
]
PreconditionBlock = Annotated[
    int,
    Knob(forms.BLOCK_SIZE, "precondition_block=128KiB"),
    meaning("block size of the preconditioning"),
]
RoundsMost = Annotated[
    int,
    Knob(forms.whole(WINDOW_ROUNDS, 10_000), "rounds=25", ("max_rounds",), judges=True),
    meaning("rounds at most, if steady state does not come before"),
]
PreconditionTimes = Annotated[
    int,
    Knob(forms.whole(0, 100), "precondition_times=2", ("wipc",)),
    meaning("user capacities written before the rounds; 0 for no preconditioning"),
]
HistogramMinutes = Annotated[
    int | None,
    Knob(optional(forms.whole(1, 10_000)), "histogram=20", ("histogram_minutes",), adds=True),
    meaning("minutes of the run for the response-time histogram at the end, or none"),
]


class PtsSettings(DriveSettings, frozen=True):
    """What every method of the PTS has; its load and data pattern are fields of each, or fixed."""

    minute_ns: Annotated[int, Knob(forms.DURATION, "minute=1s")] = meaning(
        "how long the standard's minute lasts"
    )
    active_range_percent: RangePercent
    amount_bytes: Annotated[
        int | None, Knob(optional(forms.SIZE), "amount=8GiB", ("ar_amount",))
    ] = meaning("active range amount of the full-size device: only so much of the range is touched")
    segments: Annotated[int, Knob(forms.whole(1, 1 << 20), "segments=2048", ("ar_segments",))] = (
        meaning("equal pieces of the full-size device that the amount is spread over")
    )

    if TYPE_CHECKING:

        @property
        def threads(self) -> int:
            """Thread count."""

        @property
        def queue_depth(self) -> int:
            """Queue depth per thread."""

        @property
        def content(self) -> Content:
            """The data pattern."""


class LoadSettings(PtsSettings, frozen=True):
    """Those of a test whose load and data pattern may be set."""

    threads: Threads
    queue_depth: QueueDepth
    content: DataPattern


def time_name(minute_ns: int) -> str:
    """Return the name of an axis or column in the standard's minutes, with what one is here."""
    if minute_ns == MINUTE_NS:
        return "Time"
    return say("Time (of {minute})", minute=units.format_duration(minute_ns))


def minute_ns_of(geometry: Geometry) -> int:
    """Return the standard's minute on this device: 60 s by its scale, in whole ms."""
    return max(MINUTE_LEAST_MS, round(MINUTE_NS / units.NS_PER_MS / geometry.scale)) * (
        units.NS_PER_MS
    )


def shared_defaults(version: Version, geometry: Geometry, load: LoadRule) -> dict[str, object]:
    """Return the shared fields as the version has them on this device, with a test's load."""
    rule = version.active_range
    pieces = pieces_of(rule.amount_bytes, rule.segments, geometry)
    return {
        "spec": version.id,
        "minute_ns": minute_ns_of(geometry),
        "active_range_percent": rule.share_percent,
        "amount_bytes": pieces.amount_bytes,
        "segments": pieces.segments,
        "threads": load.threads,
        "queue_depth": load.queue_depth,
        # The standard's required data pattern; any other is optional and must be disclosed.
        "content": Content.RANDOM,
    }


def with_pieces(asked: Mapping[str, Any], version: Version, geometry: Geometry) -> dict[str, Any]:
    """Return the overrides with amount and segments brought to this device together."""
    if not asked.keys() & {"amount_bytes", "segments"}:
        return dict(asked)
    # Together: a scaled device has fewer segments, not smaller ones, so that one needs the other.
    rule = version.active_range
    amount = asked.get("amount_bytes", rule.amount_bytes)
    segments = asked.get("segments", rule.segments if amount is not None else 1)
    if amount is None and segments != 1:
        raise PlanError(
            f"segments={segments} without an amount: a whole range is one piece",
            remedy="Set the amount too, as in --set amount=16GiB segments=2048.",
        )
    pieces = pieces_of(amount, segments, geometry)
    return {**asked, "amount_bytes": pieces.amount_bytes, "segments": pieces.segments}


def range_of(settings: PtsSettings) -> ActiveRange:
    """Return the active range of the test."""
    return ActiveRange(
        share_percent=settings.active_range_percent,
        amount_bytes=settings.amount_bytes,
        segments=settings.segments,
    )


def share_of(settings: PtsSettings) -> ActiveRange:
    """Return the active range of the preconditioning: the share, without amount or segments."""
    return ActiveRange(share_percent=settings.active_range_percent)


def check_range(settings: PtsSettings, geometry: Geometry, largest_block_bytes: int) -> None:
    """Make sure that the active range lies on the device and holds the largest block.

    Raises:
        PlanError: it does not.
    """
    span = range_of(settings).span_on(geometry)
    amount = settings.amount_bytes
    share = f"{settings.active_range_percent} % of {units.format_size(geometry.capacity_bytes)}"
    if amount is not None and amount > span:
        raise PlanError(
            f"An active range amount of {units.format_size(amount)} does not fit in {share}",
            remedy=f"Set a smaller one, as in --set amount={_amount_within(span, geometry)}, or "
            "amount=none for the whole range.",
        )
    piece = (span if amount is None else amount) // settings.segments
    whole = share if amount is None else units.format_size(amount)
    if largest_block_bytes > piece:
        raise PlanError(
            f"A block of {units.format_block_size(largest_block_bytes)} does not fit in a piece "
            f"of {units.format_size(piece)} (active range {whole}, segments={settings.segments})",
            remedy="Set smaller blocks, fewer segments, or take a larger device.",
        )


def _amount_within(span_bytes: int, geometry: Geometry) -> str:
    """Return an amount that fits, as it is written with its segments, full-size."""
    room = round(span_bytes * geometry.scale)
    # Full-size, as the setting is asked for: `with_pieces` brings it back to this device.
    amount = 1 << (room.bit_length() - 1)
    segments = max(1, amount // SEGMENT_BYTES)
    return f"{forms.SIZE.show(amount)} --set segments={segments}"


def shared_deviations(
    settings: Settings,
    standard: Settings,
    version: Version,
    geometry: Geometry,
    load: LoadRule,
) -> list[Remark]:
    """Return one remark per setting that differs from the version's with a test's load.

    What a version leaves to the operator is no deviation: another active range or amount of the
    client's matrix, and threads and queue depth where none are recommended.
    """
    remarks = []
    for field, knob in knobs_of(type(settings)).items():
        value, ruled = getattr(settings, field), getattr(standard, field)
        if value == ruled or _is_allowed(field, value, version, geometry, load):
            continue
        show = knob.form.show
        shown = {"setting": Verbatim(f"{knob.key} {show(value)}"), "value": show(ruled)}
        recommended = field in ("threads", "queue_depth")
        text = (
            say("{setting} instead of the recommended {value}", **shown)
            if recommended
            else say("{setting} instead of {value}", **shown)
        )
        remarks.append(Remark(kind=RemarkKind.DEVIATION, text=text))
    return remarks


def _is_allowed(
    field: str, value: object, version: Version, geometry: Geometry, load: LoadRule
) -> bool:
    rule = version.active_range
    match field:
        case "active_range_percent":
            return value in rule.allowed_percents
        # Settings hold the amount on the device at hand, the rule that of the full-size one.
        case "amount_bytes":
            return value in {
                pieces_of(amount, rule.segments, geometry).amount_bytes
                for amount in rule.allowed_amounts_bytes
            }
        # The load is the operator's choice, but for versions that recommend one.
        case "threads" | "queue_depth":
            return not load.recommended
        # Which command purges is the drive's to offer; the ledger judges what it was.
        case "purge":
            return value != NONE
        # What the cache was is judged by what the drive says of it.
        case "cache":
            return True
        # No version says anything of watching the drive meanwhile.
        case "watch_ns" | "stop":
            return True
        case _:
            return False
