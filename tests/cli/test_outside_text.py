"""Text from outside, in every place of a run and of a device, by every verb and in every format."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pypdf
import pytest
from rich.console import Console

from teijo import api
from teijo.cli.console import as_json as written
from teijo.cli.live import live
from teijo.cli.progress import Plain, as_json
from teijo.document.model import (
    Column,
    Document,
    Facts,
    Note,
    Paragraph,
    Section,
    Table,
    Verdict,
)
from teijo.errors import TeijoError
from teijo.report import csv as sheets
from teijo.report import html, pdf, text
from teijo.report.language import Language
from teijo.runfile import export
from teijo.runner.events import Ended, Remarked
from teijo.runner.run_state import Follower
from teijo.terms.record import Record
from teijo.terms.remark import Remark, RemarkKind
from tests.cli import hostile
from tests.cli.conftest import Teijo
from tests.cli.events import Hands, short_run
from tests.report.samples import header
from tests.runfile.samples import sealed_run


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Return what is recorded of a small study with words of its own in it."""
    path = tmp_path_factory.mktemp("outside") / "a.teijo"
    settings = {
        "factors": "chunk=16KiB,64KiB",
        "device": "sim:raid0(2×hdd-7200)?chunk={chunk}",
        "workloads": "mine: rw=randrw bs=4KiB",
        "seconds": "50ms",
        "repeats": "2",
    }
    found = api.run("configuration", "sim:hdd-7200", output=path, settings=settings, seed=1).record
    kept = found.remarks[0] if found.remarks else Remark(kind=RemarkKind.SIMULATED, text="x")
    return replace(found, remarks=(kept,), environment={"kernel": "Linux", "cpu": "two"})


ONLY_SHOWN = ("identity", "environment", "remarks")
"""Parts of a record that no method reads to decide anything."""


class Elements(HTMLParser):
    """The elements of a page in their order, with the names of their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attributes)))
        self.links += [value or "" for name, value in attributes if name in ("href", "src")]


def check_text(said: str) -> None:
    assert hostile.obeyed(said) == ""


def check_csv(said: str) -> None:
    check_text(said)
    for row in csv.reader(io.StringIO(said)):
        for cell in row:
            if cell.startswith(hostile.FORMULAS) and len(cell) > 1:
                float(cell)


def check_html(said: str, *, like: str) -> None:
    check_text(said)
    seen, meant = Elements(said), Elements(like)
    assert set(seen.found) <= set(meant.found)
    assert set(seen.links) <= set(meant.links)


def documents(content: Record) -> Iterator[Document]:
    """Yield the report of a record, if its method still makes one of it."""
    try:
        yield api.present(content)
    except TeijoError as error:
        check_text(text_of(error))


def text_of(error: TeijoError) -> str:
    from teijo.outside.text import visible

    return visible(str(error).replace("\n", " "))


def page(document: Document, language: Language = Language.ENGLISH) -> str:
    return html.page(document, library="", language=language)


def free_texts(record: Record) -> list[hostile.Place]:
    """Return the places whose text is anybody's; of those of one name in steps the first."""
    places: dict[tuple[object, object], hostile.Place] = {}
    for place in hostile.texts_of(record):
        if place[-1] == "kind":  # a word of a closed set, which the schema checks
            continue
        name = place[-2:] if place[0] == "steps" else place
        places.setdefault((place[0], name), place)
    return list(places.values())


def test_every_text_of_a_run_is_harmless_in_every_format(record: Record) -> None:
    places = free_texts(record)
    names = {place[-1] for place in places}
    assert {"model", "serial", "firmware", "text", "cell", "error", ("key", "cpu")} <= names
    like = page(api.present(record))
    pages = 0
    meaning = [place for place in places if place[0] not in ONLY_SHOWN]
    alone = (hostile.put_in(record, place, hostile.SPEAKABLE) for place in meaning)
    for content in (everything(record), *alone):
        for document in documents(content):
            pages += 1
            check_text(text.render(document, language=Language.JAPANESE))
            check_html(page(document), like=like)
            for body in sheets.render(document).values():
                check_csv(body)
        check_csv(export.to_csv(content, "steps"))
        told = export.to_json(content, None)
        check_text(told)
        json.loads(told)
    assert pages > len(meaning) / 2, "most texts change no meaning"


def everything(record: Record) -> Record:
    """Return the record with an attack in every place that is only shown."""
    for place in free_texts(record):
        if place[0] in ONLY_SHOWN and place[-1] != "target":
            record = hostile.put_in(record, place, hostile.SPEAKABLE)
    return replace(record, run=replace(record.run, version=hostile.ATTACKS[2]))


def test_every_verb_that_reads_a_run_file_shows_it_harmless(
    teijo: Teijo, record: Record, tmp_path: Path
) -> None:
    path = sealed_run(tmp_path / "a.teijo", everything(record))
    other = sealed_run(tmp_path / "b.teijo", everything(record))
    assert hostile.obeyed(api.open(path).record.identity.model), "the file holds the attack itself"
    for line in (
        ("report", path, "--format", "text"),
        ("report", path, "--format", "text", "--lang", "ja"),
        ("export", path),
        ("export", path, "--to", "csv", "--table", "steps"),
        ("compare", path, other, "--format", "text"),
        ("compare", path, other, "--json"),
        ("fleet", "report", path, other, "--format", "text"),
        ("fleet", "report", path, other, "--format", "text", "--lang", "ja"),
        ("fleet", "report", path, other, "--json"),
        ("compare", f"{hostile.ATTACKS[2]}={path}".replace("/", "|", 0), other, "--json"),
    ):
        code, out, err = teijo(*line)
        check_text(out + err)
        assert code in (0, 2)
    code, out, err = teijo("report", path, "--format", "html,csv,text", "-o", tmp_path / "out")
    assert code == 0, err
    like = page(api.present(record)) + html.page(api.present(record), library="")
    check_text((tmp_path / "out/a.txt").read_text("utf-8"))
    for sheet in (tmp_path / "out/a-tables").iterdir():
        check_csv(sheet.read_text("utf-8"))
    assert set(Elements((tmp_path / "out/a.html").read_text("utf-8")).found) <= set(
        Elements(like).found
    )
    assert {each.parent for each in tmp_path.rglob("*")} <= {
        tmp_path, tmp_path / "out", tmp_path / "out/a-tables",
    }  # fmt: skip


def test_a_pdf_sets_every_text_as_it_is_and_runs_none(tmp_path: Path) -> None:
    blocks = (
        Facts(rows=((hostile.ALL, hostile.ALL),), caption=hostile.ALL),
        Paragraph(text=hostile.ALL),
        Verdict(text=hostile.ALL, good=True),
        Note(kind=hostile.ALL, text=hostile.ALL, remedy=hostile.ALL),
        Table(columns=(Column(name=hostile.ALL),), rows=((hostile.ALL,),), caption=hostile.ALL),
    )
    above = header(hostile.ALL, model=hostile.ALL, stamp=hostile.ALL)
    section = Section(title=hostile.ALL, blocks=blocks)
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf.render(Document(name="a", header=above, sections=(section,))))
    said = "".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
    bare = "".join(said.split()).replace("\u200b", "")
    assert bare.count('#read("/etc/passwd")#image("x.png")@x$x$*b*_i_`c`') >= 8
    assert "root:" not in bare


def attacked_run() -> list[Any]:
    """Return the events of a run in whose every text is an attack."""
    events: list[Any] = []
    for event in [*short_run(), Remarked(remark=Remark(kind=RemarkKind.SIMULATED, text="x"))]:
        for place in hostile.texts_of(event):
            if place[-1] not in ("kind", "ending", "phase", "direction"):
                event = hostile.put_in(event, place, hostile.ALL)
        events.append(event)
    return events


def test_progress_lines_and_json_lines_are_harmless(teijo: Teijo) -> None:
    from teijo.cli import console

    lines: list[str] = []
    plain = Plain(Follower(Hands()), lambda line: lines.append(console.visible(line)))
    for event in attacked_run():
        plain(event)
        told = written(as_json(event))
        check_text(told)
        assert "\n" not in told
        json.loads(told)
    assert any("forged" in line for line in lines)
    check_text("\n".join(lines))


def test_the_live_screen_obeys_no_text_and_no_markup() -> None:
    file = io.StringIO()
    console = Console(file=file, width=4000, force_terminal=False, color_system=None)
    follower = Follower(Hands())
    with live(follower, console) as observer:
        for event in attacked_run():
            if not isinstance(event, Ended):
                observer(event)
        from teijo.cli.live import screen

        console.print(screen(follower.state))
    told = file.getvalue()
    check_text(told)
    assert "[red]x[/red][link=file:///etc/passwd]y[/link]" in told


def test_devices_and_device_show_a_drive_that_lies_about_its_name(
    teijo: Teijo, monkeypatch: pytest.MonkeyPatch
) -> None:
    import teijo.device as room
    from teijo.device import Inspection, discover
    from teijo.device.preflight import Preflight
    from teijo.terms.geometry import Geometry, Identity

    texts = dict.fromkeys(("target", "kernel_name", "model", "serial", "use"), hostile.ALL)
    row = discover.FoundDevice(capacity_bytes=10**9, **texts)
    monkeypatch.setattr(room, "list_devices", lambda: (row,))
    who = Identity(kind="block", facts={hostile.ALL: hostile.ALL}, firmware=hostile.ALL,
                   interface=hostile.ALL, wwid=hostile.ALL,
                   **dict.fromkeys(("target", "model", "serial"), hostile.ALL))  # fmt: skip
    seen = Inspection(
        identity=who,
        geometry=Geometry(capacity_bytes=10**9, nominal_capacity_bytes=10**9),
        preflight=Preflight(checks=()),
        destroy=hostile.ALL,
    )
    monkeypatch.setattr(room, "inspect_target", lambda text: seen)
    monkeypatch.setattr(
        room,
        "parse_target",
        lambda text, **_: room.target.BlockTarget(text=text, path=Path("/dev/x")),
    )
    for line in (("devices",), ("devices", "--json"), ("device", "x"), ("device", "x", "--json")):
        code, out, err = teijo(*line)
        assert code == 0, err
        check_text(out + err)
        assert "forged" in out
        if "--json" in line:
            json.loads(out)


@pytest.mark.parametrize("attack", hostile.ATTACKS)
def test_a_hostile_argument_of_any_verb_is_told_in_words_that_obey_nothing(
    teijo: Teijo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attack: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = attack.replace("/", "|").replace("\x00", "").encode("utf-8", "replace").decode()
    for line in (
        (attack,), ("devices", attack), ("device", attack), ("methods", attack),
        ("methods", "iops", "--spec", attack), ("run", attack, "sim:hdd-7200"),
        ("run", "workload", f"sim:{attack}"), ("run", "workload", "sim:hdd-7200", f"rw={attack}"),
        ("run", "workload", "sim:hdd-7200", attack),
        ("run", "workload", "sim:hdd-7200", "--set", attack),
        ("run", "iops", "sim:hdd-7200", "--spec", attack),
        ("run", "iops", "sim:hdd-7200", "--" + attack),
        ("run", "workload", "sim:hdd-7200", "--plan", folder), ("preview", "iops", attack),
        ("preview", "iops", "sim:hdd-7200", "--rates", attack),
        ("preview", "iops", "stripe:a," + attack),
        ("preview", "iops", "sim:hdd-7200", "--endurance", attack), ("resume", folder),
        ("report", folder), ("report", "x", "--format", attack), ("compare", folder, "b"),
        ("compare", "a", "b", "--allow", attack), ("export", folder),
        ("fleet", "report", folder), ("fleet", "report", "x", "--limit", attack),
        ("fleet", "report", "x", "--fleet", attack), ("fleet", attack),
        ("export", "x", "--to", attack),
        ("steady", "1", attack), ("steady", "--csv", folder, "--column", attack),
        ("calibrate", "--seconds", attack),
    ):  # fmt: skip
        code, out, err = teijo(*line)
        check_text(out + err)
        assert code != 0, line
        if attack != "image":
            assert code != 1, (line, err)
    assert list(tmp_path.iterdir()) == []
