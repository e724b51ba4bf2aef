"""What the record shows of the host: whether it was the limit in any cell, as the header judges it.

The ceilings were taken before the first step and lie in the run's environment.
"""

from typing import Final

from teijo.analysis.headroom import HEADROOM_LEAST, Summary, sentence, summary_of
from teijo.conformance.requirement import Case, Found
from teijo.conformance.verdicts import met_if, untold
from teijo.document.phrase import Verbatim, listed, say, sentences
from teijo.terms.platform import FACT

FACTS: Final = ("link to the device", "cpu governor", "virtualisation")
"""What of a host's facts stands beside its ceilings; the page of the platform has them all."""
_FACT_LONGEST: Final = 120


def host_asked(case: Case) -> str:
    """Return what is asked of a host."""
    del case
    return say("recommended: a host with room of ×{times:.0f} or more in every cell",
               times=HEADROOM_LEAST)  # fmt: skip


def host(case: Case) -> Found:
    """Judge whether the host was shown not to be the limit, by the ceilings of this run.

    Met only where every cell is known and the threads of its steps were seen.
    """
    found = None if case.is_simulated else summary_of(case.record)
    if found is None or not found.cells:
        return untold(_missing(case))
    evidence = _evidence(case, found)
    if found.may_be:
        return met_if(False, evidence)
    if found.unknown or not found.is_witnessed:
        return untold(evidence)
    return met_if(True, evidence)


def _missing(case: Case) -> str:
    """Return why there are no ceilings to judge by."""
    record = case.record
    if case.is_simulated:
        return "a model of a device has no host that could be its limit"
    if record.environment.get(FACT):
        return "what was recorded of the host's ceilings cannot be read"
    if record.run.engine.startswith("fio"):
        return "no ceiling of the host was recorded: none is taken where fio makes the I/O"
    return "no ceiling of the host was recorded"


def _evidence(case: Case, found: Summary) -> str:
    """Return the header's sentences on the host, and the facts that explain it best."""
    environment = case.record.environment
    facts = [
        say("{name}: {value}", name=name, value=Verbatim(environment[name][:_FACT_LONGEST]))
        for name in FACTS
        if environment.get(name)
    ]
    told = sentence(found)
    if not facts:
        return told
    return sentences([told, say("Recorded beside it: {facts}.", facts=listed(facts))])
