"""The one door: run, resume, preview, open, analyse, compare, export, verify; it composes.

Each verb is loaded with what it needs when it is first used (PEP 562): the imports here are for
mypy, and `_PLACES` is the list of names.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from teijo.api.acting import foretell, hook, preview, resume, run
    from teijo.api.calibrating import Calibrated, Calibration, calibrate_for, plan_calibration
    from teijo.api.comparing import compare, comparison_document
    from teijo.api.fleet_reporting import fleet_document, fleet_report
    from teijo.api.quick_look import quick
    from teijo.api.reading import (
        Run,
        analyse,
        export,
        open,  # noqa: A004
        parts,
        present,
        rescore,
    )
    from teijo.api.run_files import listing
    from teijo.api.shelf import Shelf
    from teijo.api.signed import signature_words
    from teijo.api.starting import start, start_resume
    from teijo.api.verifying import Verified, seal, verify
    from teijo.api.watching import Watched, watch
    from teijo.device.health.report import HealthReport
    from teijo.device.health.report import health_report as health
    from teijo.device.purging.by_hand import PurgeState, purge, purge_state
    from teijo.device.purging.by_hand import finish as finish_purge
    from teijo.engine import ceilings as calibrate
    from teijo.lake.door import lake
    from teijo.methods.pts.determination import determination_document as steady_document
    from teijo.methods.pts.determination import determination_of as steady
    from teijo.methods.registry import method_named as method
    from teijo.runfile.listed import Listed
    from teijo.runfile.proof.flaw import Check
    from teijo.runfile.shelf import Answer, Column, Question, Shelved

_PLACES: Final = {
    "api.acting": ("foretell", "hook", "preview", "resume", "run"),
    "api.calibrating": ("Calibrated", "Calibration", "calibrate_for", "plan_calibration"),
    "api.comparing": ("compare", "comparison_document"),
    "api.fleet_reporting": ("fleet_document", "fleet_report"),
    "api.quick_look": ("quick",),
    "api.reading": ("Run", "analyse", "export", "open", "parts", "present", "rescore"),
    "api.run_files": ("listing",),
    "api.shelf": ("Shelf",),
    "api.signed": ("signature_words",),
    "api.starting": ("start", "start_resume"),
    "api.verifying": ("Verified", "seal", "verify"),
    "api.watching": ("Watched", "watch"),
    "device.health.report": ("HealthReport", "health"),
    "device.purging.by_hand": ("PurgeState", "finish_purge", "purge", "purge_state"),
    "engine": ("calibrate",),
    "lake.door": ("lake",),
    "methods.pts.determination": ("steady", "steady_document"),
    "methods.registry": ("method",),
    "runfile.listed": ("Listed",),
    "runfile.proof.flaw": ("Check",),
    "runfile.shelf": ("Answer", "Column", "Question", "Shelved"),
}
_THERE: Final = {
    "calibrate": "ceilings",
    "finish_purge": "finish",
    "health": "health_report",
    "steady": "determination_of",
    "steady_document": "determination_document",
    "method": "method_named",
}
"""Names that are others where they come from."""
__all__ = sorted(name for names in _PLACES.values() for name in names)


def __getattr__(name: str) -> object:
    place = next((place for place, names in _PLACES.items() if name in names), None)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"teijo.{place}"), _THERE.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
