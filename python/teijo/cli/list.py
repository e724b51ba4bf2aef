"""The verb `list`: every run file of a folder, one a line."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from teijo.cli import console
from teijo.cli.options import Folder, Json, Recursive
from teijo.speech import tongue

if TYPE_CHECKING:
    from teijo.api import Listed

EXAMPLES = (
    "teijo list                     every run file here",
    "teijo list results --recursive with those in the folders below",
    "teijo list results --json      the same for a program",
)


def verb(
    folder: Folder = Path(),
    recursive: Recursive = False,
    as_json: Json = False,
) -> None:
    """List every run file in DIR, open ones too: device, method, verdict, date.

    A file that is damaged, or none of Teijo's, is listed as that, and stops nothing.
    """
    from teijo import api

    found = list(api.listing(folder, recursive=recursive))
    if as_json:
        console.put_json([asdict(each) | {"path": str(each.path)} for each in found])
        return
    if not found:
        none = "{folder}: there is no run file here (NAME.teijo or NAME.teijo.open)"
        console.say(tongue.tr(none, folder=folder))
        return
    head = ("DATE", "DEVICE", "METHOD", "FILE", "VERDICT")
    for line in console.columns(head, [_row(each, folder) for each in found]):
        console.put(line)


def _row(each: "Listed", folder: Path) -> tuple[str, ...]:
    name = str(each.path.relative_to(folder))
    if each.trouble:
        trouble = tongue.said(each.trouble)
        return ("-", "-", "-", name, tongue.tr("UNREADABLE: {trouble}", trouble=trouble))
    verdict = tongue.reported(each.verdict)
    if each.ending not in ("done", "steady", "not steady"):
        state = each.ending.upper() if tongue.is_english() else tongue.said(each.ending)
        both = tongue.tr("{state}: {verdict}", state=state, verdict=verdict)
        verdict = both if verdict else state
    if each.limits:
        limits = tongue.said(each.limits)
        verdict = tongue.tr("{verdict}; limits {limits}", verdict=verdict, limits=limits)
    method = f"{each.method} {each.spec}".strip()
    date = each.started_at[:16].replace("T", " ")
    return (date, each.device, method, name, verdict)
