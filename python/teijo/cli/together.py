"""Within what time the runs of a fleet began that were to begin together, in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from teijo.speech.tongue import said, tr
from teijo.units import NS_PER_MS, NS_PER_S, format_latency

if TYPE_CHECKING:
    from teijo.fleet.conductor import Conductor, Drive

TOGETHER_NS: Final = 10 * NS_PER_MS
"""Runs that are to begin together are asked to begin within so long."""


def late_of(fleet: "Conductor") -> "list[Drive]":
    """Return the drives whose runs were to begin together, and did."""
    return [drive for drive in fleet.drives if drive.late_s is not None]


def apart_s(late: "Sequence[Drive]") -> tuple[float, float]:
    """Return within what time runs began, and by how much their hosts' clocks may make it wrong."""
    moments = [drive.late_s or 0.0 for drive in late]
    return max(moments) - min(moments), 2 * max(drive.clock_error_s for drive in late)


def apart_words(late: "Sequence[Drive]") -> str:
    """Return within what time runs began that were to begin together, beside what is asked."""
    apart, error_s = apart_s(late)
    most_s = TOGETHER_NS / NS_PER_S
    if apart + error_s <= most_s:
        kept = tr("kept")
    else:
        kept = tr("not kept") if apart - error_s > most_s else said("cannot be known")
    values = {
        "n": len(late),
        "apart": format_latency(apart * NS_PER_S),
        "most": format_latency(TOGETHER_NS),
        "kept": kept,
    }
    if not error_s:
        return tr("{n} runs began within {apart}; {most} asked: {kept}", **values)
    error = format_latency(error_s * NS_PER_S)
    return tr(
        "{n} runs began within {apart} (± {error} by their hosts' clocks); {most} asked: {kept}",
        error=error,
        **values,
    )
