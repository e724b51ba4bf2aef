"""The one door: run, resume, preview, open, analyse, compare, export, verify; it composes."""

from teijo.api.acting import hook, preview, resume, run
from teijo.api.comparing import compare, comparison_document
from teijo.api.quick_look import quick
from teijo.api.reading import Run, analyse, export, open, parts, present, rescore  # noqa: A004
from teijo.api.run_files import Listed, listing
from teijo.api.signed import told as told_signature
from teijo.api.verifying import Verified, seal, verify
from teijo.engine import ceilings as calibrate
from teijo.methods.pts.determination import determination_document as steady_document
from teijo.methods.pts.determination import determination_of as steady
from teijo.methods.registry import method_named as method
from teijo.runfile.proof.flaw import Check

__all__ = [
    "Check",
    "Listed",
    "Run",
    "Verified",
    "analyse",
    "calibrate",
    "compare",
    "comparison_document",
    "export",
    "hook",
    "listing",
    "method",
    "open",
    "parts",
    "present",
    "preview",
    "quick",
    "rescore",
    "resume",
    "run",
    "seal",
    "steady",
    "steady_document",
    "told_signature",
    "verify",
]
