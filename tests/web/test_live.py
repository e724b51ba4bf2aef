"""A run that goes on, as the server tells it: what it says is what the file holds."""

import asyncio
import http.client
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from teijo import api
from teijo.api import Watched
from teijo.web import live
from tests.web.serving import Served, served

SETTINGS = {"minute": "1s", "mixes": "0/100", "block_sizes": "4KiB", "rounds": "5"}


@contextmanager
def streamed(site: Served, key: str) -> Iterator[Iterator[tuple[str, Any]]]:
    """Give the events of a run, (name, content) each, as they come."""
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=120)
    connection.request("GET", f"/runs/{key}/events", headers={"Host": site.host})
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/event-stream")

    def events() -> Iterator[tuple[str, Any]]:
        name = ""
        while line := answer.readline().decode():
            if line.startswith("event: "):
                name = line.removeprefix("event: ").strip()
            elif line.startswith("data: ") and name != "server":  # what its forms know
                yield name, json.loads(line.removeprefix("data: "))

    try:
        yield events()
    finally:
        connection.close()


class Reader:
    """A page that takes in what it is told."""

    def __init__(self) -> None:
        self.course: dict[str, Any] = {"epoch": -1, "joined": 0, "points": [], "levels": []}
        self.state: dict[str, Any] = {}

    def take(self, name: str, told: Any) -> None:
        if name == "state":
            self.state |= told
        if name == "course":
            if (told["epoch"], told["joined"]) != (self.course["epoch"], self.course["joined"]):
                self.course |= {"points": [], "levels": []}
            self.course |= {"epoch": told["epoch"], "joined": told["joined"]}
            self.course["points"][told["first"] :] = told["points"]
            self.course["levels"] += told["levels"]


def rates_in(path: Path) -> dict[float, float]:
    """Return IOPS by second of the run, by SQL: what was done in intervals that began in it, over
    how long they went on; a remnant of less than half an interval counts for nothing.
    """
    counted = """
        WITH part AS (
            SELECT step.started_ns + number * step.interval_ns AS at_ns, SUM(ios) AS ios,
                MIN(step.interval_ns, step.elapsed_ns - number * step.interval_ns) AS lasts_ns,
                step.interval_ns AS whole_ns, number
            FROM interval JOIN step ON step.seq = interval.step GROUP BY step.seq, number)
        SELECT at_ns / 1000000000, SUM(ios) * 1e9 / SUM(lasts_ns)
        FROM part WHERE number = 0 OR 2 * lasts_ns >= whole_ns GROUP BY 1"""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return {float(second): iops for second, iops in db.execute(counted)}


def test_what_is_told_is_what_the_file_holds_to_the_end(tmp_path: Path) -> None:
    folder, image = tmp_path / "runs", tmp_path / "a.img"
    folder.mkdir()
    running = api.start(
        "pts.iops", f"{image}?size=16MiB", output=folder / "live.teijo",
        settings=SETTINGS | {"precondition_times": "1"}, seed=1,
    )  # fmt: skip
    with served(folder) as site:
        while not (rows := site.runs()):
            assert not running.wait(0.1), running.result()
        key = rows.popitem()[1]["id"]
        late, early = Reader(), Reader()
        with streamed(site, key) as events:
            for count, (name, told) in enumerate(events):
                early.take(name, told)
                if count == 9:
                    with streamed(site, key) as others:
                        late.take(*next(others))
        result = running.result()
        assert early.state["ending"] == result.record.run.ending
        whole = site.ask(f"/api/v1/runs/{key}").json
    assert early.course["points"] == whole["course"]["points"], "followed, or read at the end"
    assert late.course["points"]
    assert late.course["points"][:-1] == early.course["points"][: len(late.course["points"]) - 1]
    rates = rates_in(folder / "live.teijo")
    assert len(rates) > 3
    assert {point[0]: point[2] for point in early.course["points"]} == pytest.approx(
        rates, rel=1e-6
    )
    iops = [one["iops"] for one in early.state["cells"]]
    assert iops == [
        pytest.approx(answer.iops) for _, answer in result.record.measured("round")[-1:]
    ]


def test_a_file_that_is_damaged_while_it_is_looked_at_is_told(
    simulated: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "one.teijo"
    copy.write_bytes(simulated.read_bytes())
    with served(tmp_path) as site:
        key = site.runs()["one.teijo"]["id"]
        copy.write_bytes(copy.read_bytes()[: copy.stat().st_size // 2])
        answer = site.ask(f"/api/v1/runs/{key}")
        assert answer.status == 404
        assert "damaged" in answer.json["error"]["message"]


def test_what_nobody_foresaw_is_told_and_keeps_nobody_waiting(
    simulated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(simulated, tmp_path / "one.teijo")

    def fails(_: object) -> None:
        raise ZeroDivisionError

    with served(tmp_path) as site:
        key = site.runs()["one.teijo"]["id"]
        with monkeypatch.context() as broken:
            broken.setattr(Watched, "look", fails)
            answer = site.ask(f"/api/v1/runs/{key}")
            assert "ZeroDivisionError" in answer.json["error"]["message"]
            with streamed(site, key) as events:
                assert next(events)[0] == "trouble"
        assert site.ask(f"/api/v1/runs/{key}").status == 200, "it is asked again"


def test_how_far_a_run_is_never_falls_until_it_goes_on_anew(
    simulated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = api.watch(simulated).look()
    shares = [(0.5, True), (0.4, False), (0.6, False), (0.2, True)]
    looks = iter(
        replace(
            whole,
            state=replace(whole.state, ending="running", share=share),
            new=replace(whole.new, anew=anew),
        )
        for share, anew in shares
    )
    monkeypatch.setattr(Watched, "look", lambda _: next(looks))
    monkeypatch.setattr(live, "LOOKS_EVERY_S", 0.1)

    async def told() -> list[float]:
        watcher = live.Watcher(api.watch(simulated), lookers=1)
        found = [(await watcher.after(number)).state.share for number in range(len(shares))]
        watcher.lookers = 0
        return found

    assert asyncio.run(told()) == [0.5, 0.5, 0.6, 0.2]


def test_the_report_is_the_one_of_the_command_line(simulated: Path, tmp_path: Path) -> None:
    copy = tmp_path / "one.teijo"
    copy.write_bytes(simulated.read_bytes())
    from teijo.report import html
    from teijo.report.language import Language

    with served(tmp_path) as site:
        key = site.runs()["one.teijo"]["id"]
        for code in ("en", "ja"):
            expected = html.parts(api.open(copy).document(), Language(code))
            told = site.ask(f"/runs/{key}/report?lang={code}").json
            assert told["sections"] == expected.sections
            assert told["data"] == json.loads(expected.data)
            page = site.ask(f"/runs/{key}?lang={code}").text
            assert expected.sections in page
            saved = site.ask(f"/runs/{key}/report.html?lang={code}")
            assert saved.text == html.render(api.open(copy).document(), Language(code))
            assert saved.headers["content-disposition"].startswith("attachment")
