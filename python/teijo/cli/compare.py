"""The verb `compare`: two to 24 runs side by side, every difference with its interval."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teijo.cli import console
from teijo.cli.options import Json, Lang, ReportLang, is_there, printers_from, to_stdout
from teijo.errors import UsageError

if TYPE_CHECKING:
    from teijo.api import Run
    from teijo.compare.comparison import Comparison
    from teijo.compare.judged import Judged, Pairing

EXAMPLES = (
    "teijo compare before.teijo after.teijo        what a new firmware, or a year, has changed",
    "teijo compare a.teijo b.teijo c.teijo -o out  each of the others against the first",
    "teijo compare old=1.teijo old=2.teijo new=3.teijo new=4.teijo    runs that repeat each other",
    "teijo compare a.teijo b.teijo --allow oio     let them differ, and say so on every page",
    "teijo compare a.teijo b.teijo --json | jq '.tests[].pairings[].all_cells'",
)


def verb(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Two to 24 run files. NAME=FILE names a side; several of one name repeat "
            "each other.",
        ),
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMATS",
            help="html,pdf,text,csv. [default: html,pdf; with --json none, with -o - text]",
        ),
    ] = None,
    allow: Annotated[
        str,
        typer.Option(
            "--allow",
            metavar="WORDS",
            help="What may differ: spec,oio,range,amount,content,minute,engine or a setting.",
        ),
    ] = "",
    lang: ReportLang = Lang.EN,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="The folder, or - for stdout. [default: where the first FILE is]",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare runs of one test or of campaigns: convergence, curves, and what differs, with 95 %.

    The others are held against the first. Runs that were not made alike are refused (exit 2),
    unless what differs is named.
    """
    printers = printers_from(form if form is not None else "none" if as_json else "html,pdf")
    if not printers and not as_json:
        raise UsageError("No format is named", remedy="Name some: --format html,pdf")
    alone = to_stdout(output, form, printers, as_json=as_json)

    from teijo import api
    from teijo.cli.outcome import print_all, print_to_stdout

    runs = _runs(files)
    words = [word for word in allow.split(",") if word.strip()]
    comparison = api.compare(runs, allow=words)
    if as_json:
        console.put_json(_json(comparison))
    document = api.comparison_document(comparison)
    if alone:
        print_to_stdout(document, alone, lang)
        return
    if output is None and printers == ("text",):
        from teijo.report import text
        from teijo.report.language import Language

        page = text.render(document, language=Language(lang.value)).rstrip("\n")
        # With --json nothing else may be on stdout: a program reads it.
        (console.say_lines if as_json else console.put_lines)(page)
        return
    first = next(iter(runs.values()))[0] if isinstance(runs, dict) else runs[0]
    for path in print_all(document, document.name, printers, output or first.path.parent, lang):
        (console.say if as_json else console.put)(str(path))


def _runs(texts: Sequence[str]) -> "list[Run] | dict[str, list[Run]]":
    """Return the runs, by the names of their sides where names are given."""
    from teijo import api

    pairs = [_named(text) for text in texts]
    if not any(name for name, _ in pairs):
        return [api.open(path) for _, path in pairs]
    sides: dict[str, list[Run]] = {}
    for name, path in pairs:
        sides.setdefault(name or path.stem, []).append(api.open(path))
    return sides


def _named(text: str) -> tuple[str, Path]:
    """Return NAME and FILE of "NAME=FILE"; a file whose own name has a "=" is a file."""
    name, equals, path = text.partition("=")
    if equals and name and "/" not in name and not is_there(Path(text)):
        return name, Path(path)
    return "", Path(text)


def _json(comparison: "Comparison") -> dict[str, Any]:
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


def _pairing_json(pairing: "Pairing") -> dict[str, Any]:
    from teijo.compare.judged import Verdict

    return {
        "first": pairing.first,
        "second": pairing.second,
        "compared": pairing.judged,
        "verdicts": {each.value: pairing.count(each) for each in Verdict},
        "all_cells": None if pairing.overall is None else _judged_json(pairing.overall),
        "figures": [_judged_json(row) for row in pairing.rows],
    }


def _judged_json(row: "Judged") -> dict[str, Any]:
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
