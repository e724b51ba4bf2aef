"""A comparison as programs read it: the same from the command line and from the page."""

from typing import Any

from teijo.compare.comparison import Comparison
from teijo.compare.judged import Judged, Pairing, Verdict


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison for programs: rates and times in the unit that stands beside each figure.

    What is not known is null.
    """
    return {
        "schema": "teijo.comparison/2",
        "kind": str(comparison.kind),
        "sides": [
            {
                "name": side.name,
                "runs": [
                    {
                        "id": record.run.id,
                        "method": record.run.method,
                        "spec": record.run.spec,
                        "model": record.identity.model,
                        "serial": record.identity.serial,
                        "firmware": record.identity.firmware,
                        "started_at": record.run.started_at,
                    }
                    for record in side.records
                ],
            }
            for side in comparison.sides
        ],
        "hosts": [
            {
                "run": each.label,
                **{name: value or None for name, value in each.facts},
                "may_be_the_limit": None if each.found is None else each.may_limit,
                "told": str(each.told) or None,
            }
            for each in comparison.hosts
        ],
        "deviations": [
            {
                "test": each.test,
                "condition": each.condition,
                "allowed_as": each.aspect,
                "values": dict(each.values),
            }
            for each in comparison.deviations
        ],
        "tests": [
            {
                "name": one.match.name,
                "method": one.match.method.id,
                "pairings": [_pairing_json(pairing) for pairing in one.pairings],
            }
            for one in comparison.tests
        ],
    }


def _pairing_json(pairing: Pairing) -> dict[str, Any]:
    return {
        "first": pairing.first,
        "second": pairing.second,
        "compared": pairing.judged,
        "verdicts": {each.value: pairing.count(each) for each in Verdict},
        "all_cells": None if pairing.overall is None else _judged_json(pairing.overall),
        "figures": [_judged_json(row) for row in pairing.rows],
    }


def _judged_json(row: Judged) -> dict[str, Any]:
    found, needed = row.difference, row.needed
    return {
        "place": str(row.place),
        "figure": row.figure.name,
        "unit": row.figure.unit,
        "first": row.first,
        "second": row.second,
        "ratio": None if found is None else found.ratio,
        "ratio_low": None if found is None else found.low,
        "ratio_high": None if found is None else found.high,
        "p_value": None if found is None else found.p_value,
        "p_value_together": row.together,
        "verdict": None if row.verdict is None else row.verdict.value,
        "not_decidable_because": None if row.why is None else row.why.value,
        "runs_more_needed": None if needed is None else needed.more,
        "level_share_known": None if needed is None else needed.level_share,
        "runs_for_5_percent": None if row.planned is None else row.planned.runs,
    }
