"""In a real browser: a run is started, watched, stopped, resumed, and its report read."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from teijo.runfile import reader
from tests.web.browsing import CHROMIUM, LOOKS, is_wider, serious, until, visited
from tests.web.serving import served

ENDLESS = "capacity=64GiB"
"""A run of this takes minutes wherever it runs; it is stopped before."""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


def fill(page: Page, **fields: str) -> None:
    for name, value in fields.items():
        field = page.locator(f"#start [name={name}]")
        if field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def ending(page: Page) -> str:
    return str(page.evaluate("document.body.dataset.ending"))


def test_a_run_is_started_and_its_page_becomes_its_report(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path) as site, visited(browser) as (page, said):
        page.goto(site.address)
        page.get_by_role("link", name="Start a run").click()
        fill(page, target="sim:mlc-a", method="pts.iops", text="capacity=8GiB")
        page.get_by_text("Version and settings").click()
        fill(page, settings="minute=2s rounds=5 mixes=0/100 block_sizes=4KiB")
        until(page, "document.querySelector('.ahead') !== null")
        until(page, "document.querySelector('.command')?.textContent.includes('rounds=5')")
        page.get_by_role("button", name="Start", exact=True).click()
        page.wait_for_url(re.compile("/runs/"))
        until(page, "['done', 'steady', 'not steady'].includes(document.body.dataset.ending)")
        until(page, "document.querySelector('#acts form') === null")
        until(page, "document.querySelector('#part-1 .verdict') !== null")
        assert said == []
        (path,) = tmp_path.glob("*.teijo")
        assert ending(page) == reader.read(path).run.ending


@pytest.mark.long
def test_a_run_is_watched_stopped_and_resumed(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path) as site, visited(browser) as (page, said):
        page.goto(f"{site.address}/start")
        fill(page, target="sim:slc-a", method="pts.iops", text=ENDLESS)
        page.get_by_role("button", name="Start", exact=True).click()
        page.wait_for_url(re.compile("/runs/"))
        for _ in range(2):
            until(page, "document.body?.dataset.ending === 'running'")
            page.get_by_role("button", name="Stop the run").click()
            until(page, "document.body?.dataset.ending === 'interrupted'")
            until(page, "document.querySelector('#acts form.resume') !== null")
            page.get_by_role("button", name="Resume the run").click()
            page.wait_for_url(re.compile("/jobs/"))
            page.wait_for_url(re.compile("/runs/"))
        page.get_by_role("button", name="Stop the run").click()
        until(page, "document.querySelector('#acts form.resume') !== null")
        assert said == []
        (path,) = tmp_path.glob("*.teijo.open")
        kinds = [remark.kind.value for remark in reader.read(path).remarks]
        assert kinds.count("resumed") == 2


def test_what_would_be_lost_is_typed_by_hand(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    kept = tmp_path / "files" / "kept.img"
    kept.write_bytes(b"\1" * (16 << 20))
    with served(tmp_path, files=[tmp_path / "files"]) as site, visited(browser) as (page, said):
        page.goto(f"{site.address}/start")
        typed = page.locator("#start [name=typed]")
        assert not typed.is_visible()
        page.select_option("#target", label="kept.img")
        assert typed.is_visible()
        assert page.locator("#consent").text_content() == "kept.img"
        assert typed.input_value() == "", "nobody types it for them"
        fill(page, method="workload", typed="kept")
        page.get_by_role("button", name="Start", exact=True).click()
        until(page, "document.querySelector('.problem') !== null")
        assert "not what this target" in page.locator(".problem").inner_text()
        assert kept.read_bytes() == b"\1" * (16 << 20)
        assert [line for line in said if "400" not in line] == []


@pytest.mark.long
def test_a_page_that_is_older_than_its_server_may_still_stop_a_run(
    browser: Browser, tmp_path: Path
) -> None:
    with visited(browser) as (page, _):
        with served(tmp_path) as site:
            port = site.port
            page.goto(f"{site.address}/start")
            fill(page, target="sim:slc-a", method="pts.iops", text=ENDLESS)
            page.get_by_role("button", name="Start", exact=True).click()
            page.wait_for_url(re.compile("/runs/"))
            word = page.locator("[name=word]").first.input_value()
        with served(tmp_path, port=port):
            until(page, f"document.querySelector('[name=word]').value !== {word!r}")
            page.get_by_role("button", name="Stop the run").click()
            until(page, "document.body?.dataset.ending === 'interrupted'")


def test_a_run_file_is_brought_from_the_list(
    browser: Browser, simulated: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.teijo"
    broken.write_bytes(simulated.read_bytes()[:20_000])
    (tmp_path / "runs").mkdir()
    with served(tmp_path / "runs") as site, visited(browser) as (page, said):
        page.goto(site.address)
        page.set_input_files("#upload-file", broken)
        until(page, "document.querySelector('#upload-said').textContent.includes('not taken')")
        page.set_input_files("#upload-file", simulated)
        page.wait_for_url(re.compile("/runs/"))
        assert [line for line in said if "404" not in line] == []
    assert [path.name for path in (tmp_path / "runs").glob("*.teijo")] == [simulated.name]


@pytest.mark.parametrize(("code", "scheme", "width"), LOOKS)
def test_the_window_fits_has_no_barrier_and_says_nothing(
    browser: Browser, simulated: Path, tmp_path: Path, code: str, scheme: str, width: int
) -> None:
    shutil.copy(simulated, tmp_path / "one.teijo")
    options: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    with served(tmp_path, files=[tmp_path]) as site, visited(browser, **options) as (page, said):
        job = site.send("/start", target="sim:slc-a", method="workload", text="seed=x")
        looks = (
            "/start",
            "/start?target=sim:mlc-a&method=pts.iops&settings=rounds=5",
            "/start?target=sim:mlc-a&settings=x",
            job.headers["location"].partition("?")[0],
        )
        for path in looks:
            page.goto(f"{site.address}{path}{'&' if '?' in path else '?'}lang={code}")
            page.wait_for_load_state("networkidle")
            assert page.evaluate("document.documentElement.lang") == code
            assert not is_wider(page), path
            assert serious(page) == [], path
        assert said == []
