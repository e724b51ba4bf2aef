"""The page of a run that goes on, held against its file: what it says is what SQL finds there."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from teijo import api
from teijo.runfile import reader
from teijo.terms.reading import Reading
from tests.runfile.samples import SECOND, sealed_run
from tests.web.browsing import CHROMIUM, until, visited
from tests.web.serving import Served, served

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
SETTINGS = {
    "minute": "0.3s", "mixes": "100/0,0/100", "block_sizes": "4KiB,64KiB",
    "precondition_times": "1", "rounds": "6",
}  # fmt: skip
MOMENTS = 10
PAGE = """() => ({
    cells: [...document.querySelectorAll('#rounds-table tbody tr')].flatMap((row) =>
        [...row.querySelectorAll('td')].filter((cell) => /[0-9]/.test(cell.textContent))
            .map((cell) => [Number(cell.dataset.round), row.cells[0].textContent,
                Number(cell.textContent.replaceAll(',', ''))])),
    share: document.querySelector('#live-progress').value,
    remarks: [...document.querySelectorAll('#live-remarks .kind')].map((each) => each.textContent),
    ending: document.body.dataset.ending,
})"""


@dataclass(frozen=True)
class InFile:
    """What SQL alone finds in a run file."""

    cells: dict[tuple[int, str], float]
    remarks: list[str]


def in_file(path: Path) -> InFile:
    rates = """
        SELECT round, cell, SUM(result.count) * 1e9 / step.elapsed_ns
        FROM step JOIN result ON result.step = step.seq
        WHERE step.status = 'done' AND round IS NOT NULL AND cell IS NOT NULL
        GROUP BY step.seq"""
    path = path if path.exists() else path.with_name(f"{path.name}.open")
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        cells = {(number, cell): iops for number, cell, iops in db.execute(rates)}
        kinds = [kind for (kind,) in db.execute("SELECT kind FROM remark ORDER BY place")]
    return InFile(cells, kinds)


def shown(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(PAGE)
    found["cells"] = {(number, cell): iops for number, cell, iops in found["cells"]}
    return found


def opened(page: Page, site: Served) -> None:
    (row,) = site.runs().values()
    page.goto(f"{site.address}/runs/{row['id']}")


def test_ten_moments_of_a_run_say_what_its_file_holds(browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    path = folder / "live.teijo"
    running = api.start(
        "pts.iops", f"{tmp_path / 'a.img'}?size=16MiB", output=path, settings=SETTINGS, seed=1
    )
    with served(folder) as site, visited(browser) as (page, said):
        while not site.runs():
            assert not running.wait(0.1)
        opened(page, site)
        share, count = 0.0, -1
        for _ in range(MOMENTS):
            until(page, f"document.querySelectorAll('#rounds-table tbody td').length > {count}"
                        " || document.body.dataset.ending !== 'running'")  # fmt: skip
            before = in_file(path)
            told = shown(page)
            after = in_file(path)
            for place, iops in told["cells"].items():
                assert iops == pytest.approx(after.cells[place], abs=0.5), place
            assert set(told["remarks"]) <= set(after.remarks)
            assert told["share"] >= share
            share, count = told["share"], page.locator("#rounds-table tbody td").count()
            page.wait_for_timeout(200)
            until(page, f"({PAGE})().cells.length >= {len(before.cells)}")
        until(page, "document.body.dataset.ending !== 'running'")
        last, whole = shown(page), in_file(path)
        assert last["cells"].keys() == whole.cells.keys()
        assert last["ending"] == running.result().record.run.ending
        assert set(last["remarks"]) == set(whole.remarks)
        assert said == []


@pytest.mark.long
def test_a_run_that_is_resumed_goes_on_without_a_reload_in_two_browsers(
    browser: Browser, tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    path, target = folder / "live.teijo", f"{tmp_path / 'a.img'}?size=16MiB"
    settings = SETTINGS | {"minute": "1s", "rounds": "25"}
    running = api.start("pts.iops", target, output=path, settings=settings, seed=1)
    with served(folder) as site, visited(browser) as (one, said), visited(browser) as (other, _):
        while not site.runs():
            assert not running.wait(0.1)
        for page in (one, other):
            opened(page, site)
            until(page, "document.body.dataset.ending === 'running'")
        for again in (True, False):
            until(one, f"({PAGE})().cells.length > {2 if again else 6}")
            running.stop()
            for page in (one, other):
                until(page, "document.body.dataset.ending === 'interrupted'")
                assert not page.locator("#live").is_visible()
            if again:
                running.wait()
                running = api.start_resume(path)
                for page in (one, other):
                    until(page, "document.body.dataset.ending === 'running'")
                    assert page.locator("#live").is_visible()
        for page in (one, other):
            until(page, f"({PAGE})().cells.length === {len(in_file(path).cells)}")
        assert shown(one) == shown(other)
        assert said == []


def test_what_the_drive_told_is_drawn_and_a_run_without_it_has_no_empty_chart(
    browser: Browser, simulated: Path, tmp_path: Path
) -> None:
    told_by_it = {"temperature_kelvin": 310, "warning_limit_kelvin": 343, "media_errors": 2}
    readings = tuple(
        Reading(step=1, at_ns=at * SECOND, cost_ns=1, counters=told_by_it) for at in (0, 1, 2)
    )
    sealed_run(tmp_path / "told.teijo", replace(reader.read(simulated), readings=readings))
    shutil.copy(simulated, tmp_path / "silent.teijo")
    with served(tmp_path) as site, visited(browser) as (page, said):
        rows = site.runs()
        for name, told in (("told.teijo", True), ("silent.teijo", False)):
            page.goto(f"{site.address}/runs/{rows[name]['id']}")
            until(page, "document.documentElement.dataset.points > 0")
            page.evaluate("document.querySelector('#course').open = true")
            until(page, "document.querySelector('#course-mbs svg') !== null")
            if told:
                until(page, "document.querySelector('#course-heat svg') !== null")
            page.evaluate("document.querySelector('#counters').open = true")
            assert page.locator("#heat-drawing").is_visible() == told
            assert page.locator("#drive-counters").is_visible() == told
            assert page.locator("#live-celsius").text_content() == ("37 °C" if told else "")
            assert page.locator("#host-counters").is_visible()
        assert said == []
