"""The verb `verify`: whether run files prove themselves, and whose signature they bear."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from teijo.cli import console
from teijo.cli.options import Json
from teijo.speech.tongue import reported, said, tr
from teijo.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teijo.api import Verified
    from teijo.runfile.proof.flaw import Flaw
    from teijo.runner.events import Event

EXAMPLES = (
    "teijo verify run.teijo                        every check, one line each",
    "teijo verify *.teijo --signers allowed        and each must be signed by one of these",
    "teijo verify run.teijo --replay               a simulated run is carried out again",
    "teijo verify run.teijo --json | jq .flaws     what contradicts what, step by step",
)
EXIT_NOT_KNOWN = 11
QUIET_NS = 5 * NS_PER_S
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
    replay: Annotated[
        bool,
        typer.Option(
            "--replay",
            help="Carry a simulated run out again, from its settings and its seed, and compare "
            "step by step. It takes as long as the run itself.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check that each FILE proves itself: its content, its numbers, its course, its signature.

    Exit code 8 where a file contradicts itself, was never sealed although its run ended, or has
    not the signature that was asked for; 11 where another version of Teijo made it and this one
    would have decided otherwise, or where a replay is asked of a real device; 2 where it is
    damaged, or no run file at all.
    """
    from teijo import api
    from teijo.cli.signals import heard
    from teijo.errors import InvalidMeasurement
    from teijo.outside.text import shell_path
    from teijo.runner.interrupt import Interrupt

    found = [
        api.verify(
            file,
            signers=signers,
            replay=replay,
            observer=_Telling(file),
            interrupt=Interrupt(heard),
        )
        for file in files
    ]
    if as_json:
        console.put_json([_data(one) for one in found])
    else:
        for one in found:
            for line in _lines(one):
                console.put(line)
    bad = [one for one in found if not one.holds]
    if bad:
        names = ", ".join(shell_path(one.path) for one in bad)
        raise InvalidMeasurement(
            f"Not as it should be: {names}.",
            remedy="Do not use these numbers; ask whoever made the file for what was recorded.",
        )
    if any(one.unknown for one in found):
        raise typer.Exit(EXIT_NOT_KNOWN)


class _Telling:
    """Says on a terminal how far a replay has come, every few seconds."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._said_ns = time.monotonic_ns()

    def __call__(self, event: "Event") -> None:
        from teijo.runner.events import StepStarted

        now_ns = time.monotonic_ns()
        if isinstance(event, StepStarted) and now_ns - self._said_ns >= QUIET_NS:
            self._said_ns = now_ns
            if console.width(sys.stderr) is not None:
                line = tr("{file}: step {seq} again …", file=self._file, seq=event.seq)
                console.say(line)


def _lines(one: "Verified") -> list[str]:
    from teijo.api import Check, signature_words
    from teijo.runfile.proof.flaw import MEANINGS

    run = one.record.run
    unsealed = tr("not sealed, {ending}", ending=said(run.ending))
    count = len(one.record.steps)
    head = tr(
        "{path}: {method}, 1 step, version {version}, {state}"
        if count == 1
        else "{path}: {method}, {steps} steps, version {version}, {state}",
        path=one.path,
        method=run.method,
        steps=f"{count:,}",
        version=one.version,
        state=tr("sealed") if one.sealed else unsealed,
    )
    rows = [("content", "WRONG" if one.unsealed else "ok", one.unsealed or _content(one))]
    for check in Check:
        if check is Check.REPLAY and not one.replay_asked:
            continue
        flaws, unknown = one.of(check), one.unknown_of(check)
        word = "WRONG" if flaws else "not known" if unknown else "ok"
        rows.append((check.value, word, MEANINGS[check]))
        rows += [("", "", text) for text in _flaw_lines((*flaws, *unknown))]
    word = "ok" if one.signature_holds else "WRONG"
    rows.append(("signature", word, signature_words(one.signature).removeprefix("WRONG: ")))
    translated = tuple((said(check), said(word), said(text)) for check, word, text in rows)
    lines = console.columns(("check", "", ""), translated)
    return [head, *(f"  {line}" for line in lines), _verdict(one)]


def _flaw_lines(flaws: "Sequence[Flaw]") -> list[str]:
    lines = [_flaw_line(flaw) for flaw in flaws[:FLAWS_MOST]]
    more = len(flaws) - FLAWS_MOST
    if more > 0:
        lines.append(tr("and {count} more (--json has all)", count=f"{more:,}"))
    return lines


def _flaw_line(flaw: "Flaw") -> str:
    text = reported(flaw.text)
    return text if flaw.step is None else tr("step {seq}: {text}", seq=flaw.step, text=text)


def _verdict(one: "Verified") -> str:
    from teijo.runfile.program import made_here, named

    if not one.holds:
        return tr("DO NOT TRUST IT.")
    if not one.unknown:
        return tr("Nothing in it contradicts anything else.")
    if made_here(one.record):
        return tr("Nothing in it contradicts anything else; not all that was asked can be known.")
    return tr(
        "Nothing in it contradicts anything else. What stands as not known, this Teijo decides "
        "otherwise than {teijo}, which made it.",
        teijo=named(one.record),
    )


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
        "flaws": [_flaw(flaw) for flaw in one.flaws],
        "unknown": [_flaw(flaw) for flaw in one.unknown],
        "signature": {
            "signed": one.signature.signed,
            "signer": one.signature.signer,
            "key": one.signature.key,
            "why": one.signature.why,
        },
    }


def _flaw(flaw: "Flaw") -> dict[str, Any]:
    return {"check": flaw.check.value, "step": flaw.step, "text": flaw.text}
