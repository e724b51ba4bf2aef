"""The devices of this machine, and each of them: who it is, whether it may be destroyed, how it is.

It says what `teijo devices`, `teijo device` and `teijo health` say, in the same words.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from teijo.api.looking import Look
from teijo.device import FoundDevice
from teijo.outside.text import visible
from teijo.speech import device_words, drive_words, health_words, tongue
from teijo.speech.sections import Facts, Section, Typed
from teijo.speech.tongue import said, tr
from teijo.web.drives import Listed, id_of, simulated
from teijo.web.site import Site, shown

_CELL_MOST: Final = 1000
"""More characters of one value are not shown, as in a table of the command line."""


def routes(site: Site) -> list[Route]:
    """Return the addresses of the devices."""
    drives = site.desk.drives

    async def devices(_: Request) -> Response:
        return HTMLResponse(_list_page(site, await drives.listed()))

    async def device(request: Request) -> Response:
        found = await drives.look(request.path_params["key"])
        block = (await drives.listed()).block
        line = next((one for one in block if one.target == found.target), None)
        return HTMLResponse(_device_page(site, found, line))

    return [site.route("/devices", devices), site.route("/devices/{key:str}", device)]


def _list_page(site: Site, found: Listed) -> str:
    block = device_words.block_devices(found.block)
    presets = device_words.simulated_devices(found.presets)
    return site.templates.made(
        "devices.html",
        title=tr("Devices"),
        block=_drawn(block, [one.target for one in found.block]),
        simulated=_drawn(presets, [simulated(one) for one in found.presets]),
        together=_drawn(device_words.put_together(found.kinds)),
    )


def _device_page(site: Site, found: Look, line: FoundDevice | None) -> str:
    identity = found.identity
    model = identity.model if identity is not None else line.model if line is not None else ""
    return site.templates.made(
        "device.html",
        title=shown(model or found.target),
        target=_cell(found.target),
        use=_cell(device_words.use_line(line)) if line is not None else "",
        is_simulated=identity is not None and identity.kind == "simulated",
        health=_health(found),
        trouble=_trouble(found),
        first=_sections(_first(found, line)),
        typed=[_typed(each) for each in _commands(found)],
        topics=_sections(_topics(found)),
        drive=_sections(_drive(found)),
        remarks=[_cell(device_words.remark_line(each)) for each in found.remarks],
    )


def _health(found: Look) -> dict[str, Any] | None:
    """Return what is looked for first: the verdict, why it is so, temperature and life."""
    report, original = found.health, found.original
    if report is None:
        return None
    lines = filter(None, (health_words.model_line(report), health_words.partition_line(report)))
    return {
        "tone": report.verdict.word,
        "word": said(report.verdict.word),
        "grounds": [_cell(each) for each in health_words.grounds(report.verdict)],
        "lines": [_cell(each) for each in lines],
        "facts": _drawn(health_words.in_short(report)),
        "original": _cell(health_words.original_word(original)) if original else "",
        "rule": _cell(health_words.original_rule(original)) if original else "",
    }


def _trouble(found: Look) -> dict[str, str] | None:
    """Return why nothing more is known, as the command line says it."""
    if found.trouble is None:
        return None
    message, remedy = found.trouble.message, found.trouble.remedy
    return {"message": _cell(said(message)), "remedy": _cell(said(remedy))}


def _first(found: Look, line: FoundDevice | None) -> Iterable[Section]:
    """Yield what must be ended before anything else, who it is, and whether it may be destroyed."""
    seen = found.seen
    if seen is not None and seen.drive is not None:
        yield drive_words.unfinished(seen.drive)
    if found.identity is not None and found.geometry is not None:
        facts = device_words.identity_facts(found.identity, found.geometry)
        yield Facts(tr("what it is"), facts.rows)
    elif line is not None:
        yield device_words.listed_facts(line)
    if seen is not None:
        yield device_words.warnings([seen])
        yield device_words.preflight("may it be destroyed?", seen)


def _commands(found: Look) -> Sequence[Typed]:
    return device_words.typed(found.target, found.seen) if found.seen is not None else ()


def _topics(found: Look) -> Iterable[Section]:
    return health_words.topics(found.health) if found.health is not None else ()


def _drive(found: Look) -> Iterable[Section]:
    drive = found.seen.drive if found.seen is not None else None
    return drive_words.sections(drive) if drive is not None else ()


def _sections(sections: Iterable[Section]) -> list[dict[str, Any]]:
    return [_drawn(each) for each in sections if each.is_told]


def _drawn(section: Section, targets: Sequence[str] = ()) -> dict[str, Any]:
    """Return a section for the templates; rows with `targets` lead to the page of each."""
    if isinstance(section, Facts):
        facts = [(_cell(name), _cell(value)) for name, value in section.shown]
        return {"title": section.title, "facts": facts, "rows": ()}
    rows = [[_cell(cell) for cell in row] for row in section.rows]
    hrefs = [f"/devices/{quote(id_of(each))}?lang={tongue.spoken()}" for each in targets]
    none = [""] * len(rows)
    return {
        "title": section.title,
        "facts": (),
        "heads": section.heads,
        "rows": list(zip(rows, hrefs or none, section.tones or none, strict=True)),
        "none": section.none,
    }


def _typed(typed: Typed) -> dict[str, str]:
    return {"words": _cell(typed.words), "command": _cell(typed.command)}


def _cell(text: str) -> str:
    return visible(text, most=_CELL_MOST)
