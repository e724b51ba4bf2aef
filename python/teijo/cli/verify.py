"""The verb `verify`: whether run files prove themselves, and whose signature they bear."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teijo.cli import talk
from teijo.cli.options import Json

if TYPE_CHECKING:
    from teijo.api import Verified

EXAMPLES = (
    "teijo verify run.teijo                        every check, one line each",
    "teijo verify *.teijo --signers allowed        and each must be signed by one of these",
    "teijo verify run.teijo --json | jq .flaws     what contradicts what, step by step",
)
FLAWS_MOST = 8
"""Of one check on a screen; --json has all."""


def verb(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Run files, sealed or growing.")
    ],
    signers: Annotated[
        Path | None,
        typer.Option(
            "--signers",
            metavar="FILE",
            help="Whose signature it must bear: ssh-keygen's ALLOWED SIGNERS.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that each FILE proves itself: its content, its numbers, its course, its signature.

    Exit code 8 where a file contradicts itself, was never sealed although its run ended, or has
    not the signature that was asked for; 2 where it is damaged, or no run file at all.
    """
    from teijo import api
    from teijo.errors import InvalidMeasurement
    from teijo.outside.text import shell_path

    found = [api.verify(file, signers=signers) for file in files]
    if as_json:
        talk.put_json([_data(one) for one in found])
    else:
        for one in found:
            for line in _lines(one):
                talk.put(line)
    bad = [one for one in found if not one.holds]
    if bad:
        names = ", ".join(shell_path(one.path) for one in bad)
        raise InvalidMeasurement(
            f"Not as it should be: {names}.",
            remedy="Do not use these numbers; ask whoever made the file for what was recorded.",
        )


def _lines(one: "Verified") -> list[str]:
    from teijo.api import Check, told_signature
    from teijo.runfile.proof.flaw import MEANINGS

    run = one.record.run
    state = "sealed" if one.sealed else f"not sealed, {run.ending}"
    count = len(one.record.steps)
    steps = "1 step" if count == 1 else f"{count:,} steps"
    head = f"{one.path}: {run.method}, {steps}, version {one.version}, {state}"
    rows = [("content", "WRONG" if one.unsealed else "ok", one.unsealed or _content(one))]
    for check in Check:
        flaws = one.of(check)
        rows.append((check.value, "WRONG" if flaws else "ok", MEANINGS[check]))
        for flaw in flaws[:FLAWS_MOST]:
            where = "" if flaw.step is None else f"step {flaw.step}: "
            rows.append(("", "", f"{where}{flaw.text}"))
        if len(flaws) > FLAWS_MOST:
            rows.append(("", "", f"and {len(flaws) - FLAWS_MOST:,} more (--json has all)"))
    word = "ok" if one.signature_holds else "WRONG"
    rows.append(("signature", word, told_signature(one.signature).removeprefix("WRONG: ")))
    verdict = "Nothing in it contradicts anything else." if one.holds else "DO NOT TRUST IT."
    return [head, *(f"  {line}" for line in talk.columns(("check", "", ""), tuple(rows))), verdict]


def _content(one: "Verified") -> str:
    if one.version < 4 and not one.sealed:
        return "of an older version without checksums: a changed number would not be noticed"
    digest = " and the digest" if one.sealed else ""
    return f"tables, pages, each row's checksum{digest} are what was written"


def _data(one: "Verified") -> dict[str, Any]:
    return {
        "file": str(one.path),
        "holds": one.holds,
        "version": one.version,
        "sealed": one.sealed,
        "unsealed": one.unsealed,
        "flaws": [
            {"check": flaw.check.value, "step": flaw.step, "text": flaw.text} for flaw in one.flaws
        ],
        "signature": {
            "signed": one.signature.signed,
            "signer": one.signature.signer,
            "key": one.signature.key,
            "why": one.signature.why,
        },
    }
