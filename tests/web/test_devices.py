"""The pages of devices: in the words of the command line, of what is listed now, and text only."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from teijo.api.looking import Look, look
from teijo.errors import StuckDevice, TargetError
from teijo.speech import device_words, drive_words, health_words, tongue
from teijo.speech.sections import Facts, Section
from teijo.web import drives
from teijo.web.drives import id_of
from tests.cli.conftest import Teijo, teijo
from tests.web.drives import Machine, found
from tests.web.serving import Served, served

__all__ = ["teijo"]
# So often the list is asked for anew when it changes meanwhile.
LOOKS = 20
HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J\u202e"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Served]:
    folder = tmp_path / "runs"
    folder.mkdir()
    with served(folder) as one:
        yield one


def words(page: str) -> str:
    """Return a page as it is read: without its marks, with single spaces."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def texts(sections: Iterator[Section] | list[Section]) -> list[str]:
    """Return all that sections say, cell by cell."""
    said = []
    for each in filter(lambda one: one.is_told, sections):
        if isinstance(each, Facts):
            said += [each.title, *(text for row in each.shown for text in row)]
        elif each.rows:
            said += [each.title, *each.heads, *(cell for row in each.rows for cell in row)]
        else:
            said += [each.title, each.none]
    return [" ".join(text.split()) for text in said if text.strip()]


def all_texts(seen: Look) -> list[str]:
    assert seen.identity
    assert seen.geometry
    assert seen.health
    assert seen.original
    told = [
        tongue.said(seen.health.verdict.word),
        *health_words.grounds(seen.health.verdict),
        health_words.original_word(seen.original),
        health_words.original_rule(seen.original),
        *texts([device_words.identity_facts(seen.identity, seen.geometry)]),
        *texts(health_words.topics(seen.health)),
    ]
    if seen.seen is not None:
        assert seen.seen.drive
        told += texts([device_words.preflight("may it be destroyed?", seen.seen)])
        told += texts(drive_words.sections(seen.seen.drive))
        told += [each.command for each in device_words.typed(seen.target, seen.seen)]
    return told


def listed_around(ask: Callable[[], None], teijo: Teijo) -> tuple[Any, str]:
    """Return the devices as JSON and as text, the same before and after `ask`: they come and go
    while other tests make loop devices.
    """
    for _ in range(LOOKS):
        before = teijo("devices", "--json")[1], teijo("devices")[1]
        ask()
        if before == (teijo("devices", "--json")[1], teijo("devices")[1]):
            return json.loads(before[0]), before[1]
    raise AssertionError(f"{LOOKS} times a device came or went meanwhile")


def test_the_list_is_that_of_the_command_line(
    site: Served, teijo: Teijo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drives, "KEPT_S", 0)
    seen: dict[str, Any] = {}

    def ask() -> None:
        seen["page"] = words(site.ask("/devices").text)
        seen["told"] = site.ask("/api/v1/devices").json

    listed, table = listed_around(ask, teijo)
    for line in table.splitlines():
        for cell in re.split(r"  +", line.strip()):
            assert cell in seen["page"]
    told = seen["told"]
    ids = {one.pop("id") for kind in ("block", "simulated") for one in told[kind]}
    assert told == listed
    assert len(ids) == len(listed["block"]) + len(listed["simulated"])


@pytest.mark.parametrize("code", tongue.TONGUES)
@pytest.mark.parametrize("kind", ["nvme", "sata", "simulated"])
def test_a_page_says_all_that_the_command_line_says(
    machine: Machine, site: Served, monkeypatch: pytest.MonkeyPatch, kind: str, code: str
) -> None:
    looks: list[Look] = []

    def kept(target: str) -> Look:
        looks.append(look(target))
        return looks[-1]

    monkeypatch.setattr(drives, "look", kept)
    target = {"nvme": machine.nvme, "sata": machine.sata, "simulated": lambda: "sim:mlc-a"}[kind]()
    page = words(site.ask(f"/devices/{id_of(target)}?lang={code}").text)
    with tongue.speaking(code):
        told = all_texts(looks[0])
    assert len(told) > 60
    assert [text for text in told if text not in page] == []


def test_the_verdict_is_worded_and_coloured(machine: Machine, site: Served) -> None:
    page = site.ask(f"/devices/{id_of(machine.nvme(smart={'spare': 3}))}").text
    assert '<section class="health bad" aria-label="Health">' in page
    assert re.search(r'id="verdict">bad<', page)
    assert "critical warning 0x01: spare-low" in page
    assert "SIMULATED" not in page


def test_a_simulated_device_is_marked(site: Served) -> None:
    page = site.ask(f"/devices/{id_of('sim:mlc-a')}").text
    assert '<span class="stamp">SIMULATED</span>' in page
    assert "SIMULATED: no drive was asked" in page
    assert '<section class="health unknown"' in page


def test_the_json_is_that_of_the_command_line(machine: Machine, site: Served, teijo: Teijo) -> None:
    target = machine.nvme(smart={"percentage_used": 12})
    answer = site.ask(f"/api/v1/devices/{id_of(target)}")
    assert answer.json == json.loads(teijo("health", target, "--json")[1])
    assert answer.json["counters"]["percentage_used"] == 12


def test_what_a_drive_says_is_only_text(
    machine: Machine, site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = machine.nvme()
    plain = machine.claims[target]

    def claim() -> object:
        subject = plain()
        identity = replace(subject.found.identity, model=HOSTILE, serial=HOSTILE)
        return replace(subject, found=replace(subject.found, identity=identity))

    machine.claims[target] = claim  # type: ignore[assignment]
    machine.devices[:] = [found(target, model=HOSTILE, serial=HOSTILE, use=HOSTILE + "\udcff")]
    for path in ("/devices", f"/devices/{id_of(target)}"):
        answer = site.ask(path)
        assert answer.status == 200
        assert "<img" not in answer.text
        assert "&lt;img src=x onerror=alert(1)&gt;\\x1b[2J\\u202e" in answer.text
        assert not {"\x1b", "\u202e"} & set(answer.text)
    for path in ("/api/v1/devices", f"/api/v1/devices/{id_of(target)}"):
        answer = site.ask(path)
        assert answer.status == 200
        assert not {"\x1b", "\u202e"} & set(answer.text)
    assert site.ask("/api/v1/devices").json["block"][0]["model"] == HOSTILE


@pytest.mark.parametrize(
    "key", ["0" * 24, "sda", "..%2f..%2fetc%2fpasswd", "%2fdev%2fsda", "sim:x"]
)
def test_what_is_not_listed_is_not_looked_at(machine: Machine, site: Served, key: str) -> None:
    machine.sata()
    for path in (f"/devices/{key}", f"/api/v1/devices/{key}"):
        assert site.ask(path).status == 404
    assert machine.looks == []


def test_a_device_that_was_taken_out_is_not_looked_at(
    machine: Machine, site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drives, "KEPT_S", 0.0)
    target = machine.sata()
    assert site.ask(f"/devices/{id_of(target)}").status == 200
    machine.devices.clear()
    answer = site.ask(f"/devices/{id_of(target)}")
    assert (answer.status, machine.looks) == (404, [target])
    assert "There is no such device on this machine." in answer.text


def test_an_answer_is_kept_for_a_while(
    machine: Machine, site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drives, "KEPT_S", 3600.0)
    address = f"/devices/{id_of(machine.sata())}"
    assert site.ask(address).text == site.ask(address).text
    assert site.ask(f"{address}?lang=ja").text != site.ask(address).text
    assert len(machine.looks) == 1
    monkeypatch.setattr(drives, "KEPT_S", 0.0)


def test_a_device_that_hangs_is_told_as_the_command_line_tells_it(
    machine: Machine, site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = machine.sata()
    asked = []

    def hanging(_: object) -> object:
        asked.append(1)
        raise StuckDevice("What /dev/sda was asked has not come back", remedy="Look at dmesg.")

    monkeypatch.setattr("teijo.api.looking.inspect_target", hanging)
    monkeypatch.setattr(drives, "KEPT_S", 0.0)
    for _ in range(2):
        answer = site.ask(f"/devices/{id_of(target)}")
        assert answer.status == 200
        assert "What /dev/sda was asked has not come back" in answer.text
        assert "Look at dmesg." in answer.text
    assert len(asked) == 1, "it is not asked again so soon"
    told = site.ask(f"/api/v1/devices/{id_of(target)}")
    assert told.status == 500
    assert told.json["error"]["message"].startswith("What /dev/sda was asked")


def test_a_device_that_may_not_be_opened_tells_what_the_list_tells(
    machine: Machine, site: Served
) -> None:
    machine.devices.append(found("/dev/sdb", model="Some SSD", serial="S9", use="ext4 at /home"))
    machine.refused["/dev/sdb"] = TargetError(
        "/dev/sdb cannot be opened.", remedy="Run it as root."
    )
    answer = site.ask(f"/devices/{id_of('/dev/sdb')}")
    page = words(answer.text)
    assert answer.status == 200
    assert "Some SSD /dev/sdb · now: ext4 at /home" in page
    assert "/dev/sdb cannot be opened. Run it as root." in page
    assert "serial S9 capacity 4.194 MB" in page
    assert "Health" not in page
    assert site.ask(f"/api/v1/devices/{id_of('/dev/sdb')}").status == 404


def test_a_device_that_never_comes_back_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    from threading import Event

    until = Event()
    monkeypatch.setattr("teijo.api.looking._looked", lambda _: until.wait())
    seen = look("/dev/sda", silence_ns=1)
    until.set()
    assert isinstance(seen.trouble, StuckDevice)
    assert seen.trouble.message.startswith("What /dev/sda was asked of itself has not come back")


def test_what_is_no_drive_has_a_page_without_health(loop_device: Path) -> None:
    seen = look(str(loop_device))
    assert seen.seen is not None
    assert seen.health is None
    assert isinstance(seen.trouble, TargetError)
    assert "is a loop device, which has no health of its own" in seen.trouble.message
    assert loop_device.read_bytes() == bytes(64 << 20)
