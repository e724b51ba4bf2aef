"""What the record shows of the settings: which differ from the version, and whose choice it is."""

from collections.abc import Sequence

from teijo.conformance.requirement import Case, Found
from teijo.conformance.verdicts import met_if
from teijo.document.phrase import joined, say
from teijo.terms.remark import RemarkKind

_EVERYWHERE = frozenset({"active_range", "amount", "segments", "content", "rounds"})
_LOAD = frozenset({"threads", "queue_depth"})
_LONGER = frozenset({"max_minutes", "capacity_times"})
CHOICES = {
    "pts.iops": _EVERYWHERE | _LOAD,
    "pts.tp": _EVERYWHERE | _LOAD,
    "pts.lat": _EVERYWHERE,
    "pts.wsat": _EVERYWHERE | _LOAD | _LONGER,
    "pts.hir": _EVERYWHERE | _LOAD,
    "pts.xsr": _EVERYWHERE | _LOAD,
    "pts.dirth": _EVERYWHERE,
    "pts.cbw": _EVERYWHERE,
}
"""Settings that the standard lets the operator change, for a test that is disclosed as optional.

The threads and depths of DIRTH and of the composite workload are the version's sweep itself.
"""


def settings(case: Case) -> Found:
    """Judge whether the settings are the version's, but for the operator's choices."""
    return _differing(case, [text for text in _deviations(case) if not _is_choice(case, text)])


def choices(case: Case) -> Found:
    """Judge whether the operator's choices are as the standard has or recommends them."""
    return _differing(case, [text for text in _deviations(case) if _is_choice(case, text)])


def _differing(case: Case, texts: Sequence[str]) -> Found:
    if texts:
        return met_if(False, joined(texts))
    compared = len(case.record.run.settings) - 1  # one of them is the version itself
    return met_if(True, say("{count} settings compared, none differs", count=compared))


def _deviations(case: Case) -> list[str]:
    return [each.text for each in case.record.remarks if each.kind is RemarkKind.DEVIATION]


def _is_choice(case: Case, text: str) -> bool:
    """Return whether "KEY VALUE instead of …" is about a choice in this test."""
    return text.partition(" ")[0] in CHOICES[case.record.run.method]
