"""A fleet's report as programs read it: every drive, every figure, every verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

from teijo.analysis.bottleneck import LOSS_LEAST, Bottlenecks, Shared
from teijo.analysis.difference import CONFIDENCE
from teijo.compare.fleet.drive import Drive, Key
from teijo.compare.fleet.factors import Factor
from teijo.compare.fleet.findings import Fleet, Named, Spread, value_of
from teijo.compare.limit import Judged
from teijo.terms.bottleneck import Seen, measured_to_json
from teijo.terms.topology import Sharers, groups_of, unknown_of


def fleet_json(fleet: Fleet) -> dict[str, Any]:
    """Return a fleet for programs; what is not known is null. Figures are named as limits name
    them: test, place, figure, unit.
    """
    chosen, level = fleet.chosen, fleet.outliers.level
    return {
        "schema": "teijo.fleet/1",
        "fleet": str(chosen.fleet) or None,
        "method": str(chosen.method),
        "drives": [
            {**_drive_json(each), "all_figures_percent": percent}
            for each, percent in zip(fleet.drives, fleet.level_percents, strict=True)
        ],
        "figures": [_spread_json(each, fleet.drives) for each in fleet.spreads],
        "differ": {
            "judged": fleet.is_judged,
            "error_rate": 0.05,
            "scatter": None if level is None else level.scale,
            "least_seen_in_95_of_100": None if level is None else level.least,
            "drives": [_named_json(each) for each in fleet.named],
        },
        "in_common": [_factor_json(each, fleet) for each in fleet.factors],
        "limits": [
            {
                "limit": each.text,
                "met": each.met,
                "not_met": [_limited_json(*pair) for pair in each.missed],
                "not_known": [_limited_json(*pair) for pair in each.unknown],
            }
            for each in fleet.limits
        ],
        "unfinished": [_drive_json(each) for each in chosen.unfinished],
        "sharing": [sharing_json(each) for each in fleet.sharing],
        "left_out": [
            {"file": str(each.file), "drive": str(each.drive) or None, "why": str(each.why)}
            for each in chosen.left_out
        ],
        "deviations": [
            {
                "test": each.test or None,
                "condition": each.condition,
                "allowed_as": each.aspect,
                "values": dict(each.values),
            }
            for each in chosen.deviations
        ],
    }


def sharing_json(found: Bottlenecks) -> dict[str, Any]:
    """Return what drives share for programs: every rate, ratio and verdict, and the spells."""
    measured = found.measured
    return {
        "fleet": measured.fleet,
        "comparisons": found.comparisons,
        "error_rate": 1 - CONFIDENCE,
        "least_loss": LOSS_LEAST,
        "groups": [_group_json(each) for each in measured.groups],
        "verdicts": [_shared_json(each) for each in found.shared],
        "measured": measured_to_json(measured),
    }


def hosts_json(hosts: Mapping[str, Mapping[str, Seen]]) -> dict[str, Any]:
    """Return what the drives of hosts share, as the hosts tell it, and what they do not tell."""
    ways = {host: {name: each.way for name, each in own.items()} for host, own in hosts.items()}
    return {
        "shared": [_group_json(one) for host, own in ways.items() for one in groups_of(host, own)],
        "not_told": [
            {"host": host, "kind": kind, "drives": list(drives)}
            for host, own in ways.items()
            for kind, drives in unknown_of(own).items()
        ],
    }


def _group_json(group: Sharers) -> dict[str, Any]:
    return {
        "host": group.host,
        "drives": list(group.drives),
        "parts": [each.model_dump(mode="json") for each in group.parts],
    }


def _shared_json(shared: Shared) -> dict[str, Any]:
    return {
        "host": shared.group.host,
        "load": shared.load,
        "alone_bytes_per_second": shared.alone_bytes,
        "together_bytes_per_second": shared.together_bytes,
        "link_bytes_per_second": shared.bound,
        "processors_busy": shared.busy,
        "processors_busy_alone": shared.busy_alone,
        "drives": [
            {
                "drive": each.drive,
                "without": list(each.without),
                "alone_iops": each.alone_iops,
                "together_iops": each.together_iops,
                "ratio": each.ratio,
                "low": each.low,
                "high": each.high,
                "verdict": each.verdict.value,
                "why": each.why or None,
            }
            for each in shared.comparisons
        ],
    }


def _drive_json(drive: Drive) -> dict[str, Any]:
    return {
        "name": str(drive.name),
        "serial": str(drive.serial) or None,
        "file": str(drive.file),
        "run": drive.run_id,
        "host": str(drive.host) or None,
        "slot": str(drive.slot) or None,
        "firmware": str(drive.firmware) or None,
        "hottest_celsius": drive.temperature_c,
        "started_at": drive.started_at,
        "ending": drive.ending,
        "steady": drive.converged,
        "rounds": drive.rounds,
        "steps": drive.steps,
        "remarks": [
            {"kind": each.kind.value, "text": str(each.text), "step": each.step}
            for each in drive.remarks
        ],
    }


def _key_json(key: Key) -> dict[str, Any]:
    return {
        "test": str(key.test),
        "place": str(key.place),
        "figure": str(key.figure.name),
        "unit": key.figure.unit,
    }


def _spread_json(spread: Spread, drives: Sequence[Drive]) -> dict[str, Any]:
    found = spread.distribution
    return {
        **_key_json(spread.key),
        "drives": found.count,
        "least": found.least,
        "quartiles": list(found.quartiles),
        "most": found.most,
        "slowest_drive": str(spread.worst.name),
        "values": [value_of(each, spread.key) for each in drives],
    }


def _named_json(named: Named) -> dict[str, Any]:
    return {
        "drive": str(named.drive.name),
        "figure": None if named.key is None else _key_json(named.key),
        "percent": named.percent,
        "slower": named.slower,
        "score": named.outlier.score,
        "p_value": named.outlier.p_value,
        "p_value_together": named.outlier.together,
    }


def _factor_json(factor: Factor, fleet: Fleet) -> dict[str, Any]:
    key = None if factor.figure is None else fleet.factor_keys[factor.figure]
    return {
        "name": factor.name,
        "verdict": factor.verdict.value,
        "why": str(factor.why) or None,
        "drives": factor.drives,
        "groups": [
            {"name": str(each.name), "drives": each.drives, "percent": each.percent}
            for each in factor.groups
        ],
        "p_value": factor.p_value,
        "figure": None if key is None else _key_json(key),
        "p_value_figure": factor.p_figure,
        "arrangements": factor.arrangements,
        "all_arrangements": factor.exact,
        "least_seen": factor.least,
        "correlation": factor.correlation,
        "percent_per_degree": factor.percent_per_unit,
    }


def _limited_json(drive: Drive, judged: Judged) -> dict[str, Any]:
    return {
        "drive": str(drive.name),
        "value": judged.value,
        "low": judged.low,
        "high": judged.high,
        "unit": judged.unit,
        "why": str(judged.why) or None,
    }
