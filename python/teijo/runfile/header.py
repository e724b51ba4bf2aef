"""What a run file holds before its first step: what was asked, of what, on which host."""

from collections.abc import Iterable

from teijo.runfile.codec import to_json
from teijo.runfile.ledger import Ledger
from teijo.runfile.phrases import stored_of
from teijo.terms.record import Record
from teijo.terms.remark import Remark


def insert_header(ledger: Ledger, header: Record) -> None:
    """Add what `header` says; its steps are not looked at."""
    run, identity, geometry = header.run, header.identity, header.geometry
    ledger.insert(
        "run",
        (
            run.id,
            run.method,
            run.spec,
            to_json(dict(run.settings)),
            run.seed,
            run.engine,
            run.version,
            run.started_at,
            run.ended_at,
            run.ending,
            run.error,
            "",
            run.provenance,
            to_json(dict(run.group)),
        ),
    )
    for fact in sorted(header.environment.items()):
        ledger.insert("environment", fact)
    ledger.insert(
        "device",
        (
            identity.kind,
            identity.target,
            identity.model,
            identity.serial,
            identity.firmware,
            identity.interface,
            identity.wwid,
            identity.write_cache,
            to_json(dict(identity.facts)),
            # A target without blocks has zeros here, and the table takes no size of 0.
            geometry.capacity_bytes or None,
            geometry.nominal_capacity_bytes or None,
            geometry.logical_block_bytes or None,
            geometry.physical_block_bytes or None,
        ),
    )
    insert_remarks(ledger, header.remarks)


def insert_remarks(ledger: Ledger, remarks: Iterable[Remark]) -> None:
    """Add warnings, in this order."""
    ledger.append(
        "remark",
        (
            (remark.kind.value, str(remark.text), remark.step, stored_of(remark.text))
            for remark in remarks
        ),
    )
