"""Comparisons on a page: what they say is what the command line says, and who may ask what."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from teijo import api
from teijo.errors import Interrupted
from teijo.runfile import mark
from teijo.web import comparisons
from tests.cli.conftest import Teijo, teijo
from tests.web.serving import Served, served

__all__ = ["teijo"]
DRIVE = "sim:mlc-a?capacity=64MiB&dies=2"
SETTINGS = {"minute": "50ms", "mixes": "0/100", "block_sizes": "4KiB", "rounds": "5"}
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of runs: three made alike, one otherwise, and one of another method."""
    folder = tmp_path_factory.mktemp("compared")
    for seed, name in enumerate(("before", "after", "again"), 1):
        target = f"{DRIVE}&seed={seed}"
        api.run("pts.iops", target, output=folder / name, settings=SETTINGS, seed=seed)
    deep = SETTINGS | {"queue_depth": "4"}
    api.run("pts.iops", DRIVE, output=folder / "deep", settings=deep, seed=5)
    api.run("workload", "sim:slc-a?capacity=1GiB", output=folder / "other",
            settings={"seconds": "1"}, seed=1)  # fmt: skip
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "folder"))


class Asking:
    """A server and the ids of its runs by the names of their files, without their ending."""

    def __init__(self, site: Served) -> None:
        self.site = site
        self.ids = {name.partition(".teijo")[0]: row["id"] for name, row in site.runs().items()}

    def query(self, *names: str, **more: str) -> str:
        return urlencode([*(("run", self.ids[name]) for name in names), *more.items()])


@contextmanager
def asking(folder: Path) -> Iterator[Asking]:
    with served(folder) as site:
        yield Asking(site)


def test_what_it_says_is_what_the_command_line_says(folder: Path, teijo: Teijo) -> None:
    code, out, _ = teijo("compare", folder / "before.teijo", folder / "after.teijo", "--json")
    assert code == 0
    with asking(folder) as there:
        query = there.query("before", "after")
        answer = there.site.ask(f"/api/v1/compare?{query}")
        assert answer.json == json.loads(out)
        page = there.site.ask(f"/compare?{query}&lang=en")
        file = there.site.ask(f"/compare/report.html?{query}&lang=en")
    runs = [api.open(folder / name) for name in ("before.teijo", "after.teijo")]
    document = api.comparison_document(api.compare(runs))
    for section in document.sections:
        assert section.title in page.text
        assert section.title in file.text
    assert f"{document.name}.html" in file.headers["content-disposition"]
    assert file.text.startswith("<!doctype html>")


def test_the_first_is_held_against_and_the_page_leads_to_another_order(folder: Path) -> None:
    with asking(folder) as there:
        page = there.site.ask(f"/compare?{there.query('before', 'after', 'again')}&lang=en").text
        (lead, _) = re.findall(r'href="(/compare\?[^"]*)" aria-label="Hold', page)
        told = there.site.ask(lead.replace("/compare", "/api/v1/compare").replace("&amp;", "&"))
        first = [side["runs"][0]["id"] for side in told.json["sides"]]
        runs = {name: api.open(folder / f"{name}.teijo").record.run.id for name in there.ids}
        assert first == [runs["after"], runs["before"], runs["again"]]
        (without, *_) = re.findall(r'href="(/compare\?[^"]*)" aria-label="Leave out', page)
        assert there.ids["before"] not in without
        assert there.ids["again"] in without


def test_runs_under_one_name_are_one_side(folder: Path, teijo: Teijo) -> None:
    files = [f"{name}={folder / file}.teijo" for name, file in (
        ("old", "before"), ("new", "after"), ("new", "again"))]  # fmt: skip
    code, out, _ = teijo("compare", *files, "--json")
    assert code == 0
    with asking(folder) as there:
        pairs = [("run", there.ids["before"]), ("side", "old"), ("run", there.ids["after"]),
                 ("side", "new"), ("run", there.ids["again"]), ("side", " new ")]  # fmt: skip
        told = there.site.ask(f"/api/v1/compare?{urlencode(pairs)}").json
        assert told == json.loads(out)
        page = there.site.ask(f"/compare?{urlencode(pairs)}&lang=en").text
        assert page.count('name="side" value="new"') == 2


def test_conditions_that_differ_are_refused_until_they_are_allowed(folder: Path) -> None:
    with asking(folder) as there:
        query = there.query("before", "deep")
        page = there.site.ask(f"/compare?{query}&lang=en")
        assert page.status == 200
        assert "not made alike" in page.text
        words = re.findall(r'name="allow" value="([^"]*)" checked', page.text)
        assert "oio" in words
        assert 'id="part-1"' not in page.text
        refused = there.site.ask(f"/api/v1/compare?{query}&lang=en")
        assert refused.status == 400
        assert "--allow oio" in refused.json["error"]["remedy"]
        allowed = "&".join(f"allow={word}" for word in words)
        page = there.site.ask(f"/compare?{query}&{allowed}&lang=en")
        assert 'id="part-1"' in page.text
        assert "NOT MADE ALIKE: oio" in page.text
        told = there.site.ask(f"/api/v1/compare?{query}&allow={','.join(words)}")
        assert [each["allowed_as"] for each in told.json["deviations"]] == ["oio"]


@pytest.mark.parametrize(
    ("names", "more", "said"),
    [
        ((), "", "at least two sides"),
        (("before",), "", "at least two sides"),
        (("before", "before"), "", "stands twice"),
        (("before",) * 25, "", "more than a comparison can show"),
        (("before", "other"), "", "have a test in common"),
        (("before", "after"), "&allow=nonsense", "names nothing that these runs have"),
    ],
)
def test_what_cannot_be_compared_is_said(
    folder: Path, names: tuple[str, ...], more: str, said: str
) -> None:
    with asking(folder) as there:
        query = there.query(*names) + more
        for place in ("/compare", "/compare/report.html", "/api/v1/compare"):
            answer = there.site.ask(f"{place}?{query}&lang=en")
            assert (answer.status, said in answer.text) == (400, True), place
        assert said not in there.site.ask(f"/compare?{query}&lang=ja").text


def test_an_id_of_nothing_is_said(folder: Path) -> None:
    with asking(folder) as there:
        for strange in ("0" * 24, "../../etc/passwd", "\0", HOSTILE):
            query = f"{there.query('before')}&run={quote(strange)}&lang=en"
            answer = there.site.ask(f"/compare?{query}")
            assert (answer.status, "no such run" in answer.text) == (404, True)
            assert HOSTILE not in answer.text


def test_what_names_say_is_text(folder: Path) -> None:
    shutil.move(folder / "again.teijo", folder / f"{HOSTILE}.teijo")
    with asking(folder) as there:
        pairs = [("run", there.ids["before"]), ("side", HOSTILE), ("run", there.ids[HOSTILE]),
                 ("side", "\x1b[2J'\"")]  # fmt: skip
        for query in (there.query("before", HOSTILE), urlencode(pairs)):
            for place in ("/compare", "/compare/report.html"):
                page = there.site.ask(f"{place}?{query}")
                assert page.status == 200
                assert HOSTILE not in page.text
        long = urlencode([("run", there.ids["before"]), ("side", "x" * 5000),
                          ("run", there.ids["after"]), ("side", "b")])  # fmt: skip
        (side, _) = re.findall(
            r'name="side" value="([^"]*)"', there.site.ask(f"/compare?{long}").text
        )
        assert side == "x" * 60


def test_the_same_is_made_once_and_anew_when_a_file_is_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mark, "SETTLED_NS", 0)
    opened: list[str] = []

    def counted(path: Path) -> api.Run:
        opened.append(path.name)
        return open_run(path)

    open_run = api.open
    monkeypatch.setattr(comparisons.api, "open", counted)
    with asking(folder) as there:
        query = there.query("before", "after")
        for lang in ("en", "ja", "en"):
            assert there.site.ask(f"/compare?{query}&lang={lang}").status == 200
        assert there.site.ask(f"/api/v1/compare?{query}").status == 200
        assert opened == ["before.teijo", "after.teijo"]
        shutil.copy(folder / "again.teijo", folder / "new")
        (folder / "new").rename(folder / "after.teijo")
        told = there.site.ask(f"/api/v1/compare?{query}").json
    again = open_run(folder / "again.teijo").record.run.id
    assert [side["runs"][0]["id"] for side in told["sides"]][1] == again


def test_a_run_that_goes_on_is_compared_as_far_as_it_is(folder: Path, tmp_path: Path) -> None:
    running = api.start(
        "pts.iops", f"{tmp_path / 'a.img'}?size=16MiB", output=folder / "live.teijo",
        settings=SETTINGS | {"minute": "1s", "rounds": "25", "precondition_times": "1"}, seed=1,
    )  # fmt: skip
    while not (folder / "live.teijo.open").exists() or not api.open(folder / "live").record.steps:
        assert not running.wait(0.1), running.result()
    with asking(folder) as there:
        query = there.query("before", "live")
        page = there.site.ask(f"/compare?{query}&lang=en").text
        words = re.findall(r'name="allow" value="([^"]*)" checked', page)
        page = there.site.ask(f"/compare?{query}&allow={','.join(words)}&lang=en").text
    running.stop()
    with suppress(Interrupted):
        running.result()
    assert "not made alike" not in page
    assert "INCOMPLETE" in page
