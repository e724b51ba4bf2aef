"""In a real browser: a run grows, is reloaded, outlives the server; nothing is asked elsewhere."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from teijo import api
from teijo.runfile import reader
from teijo.terms.remark import Remark, RemarkKind
from teijo.web.drives import id_of
from tests.runfile.samples import sealed_run
from tests.web.browsing import CHROMIUM, LOOKS, is_wider, serious, until, visited
from tests.web.drives import Machine
from tests.web.serving import served

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
SETTINGS = {"minute": "1s", "mixes": "0/100", "precondition_times": "1"}
SETTINGS |= {"block_sizes": "4KiB,64KiB"}  # long enough to be looked at as it goes on
HOSTILE = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"


def test_a_run_grows_is_reloaded_and_outlives_the_server(browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    running = api.start(
        "pts.iops", f"{tmp_path / 'a.img'}?size=16MiB", output=folder / "live.teijo",
        settings=SETTINGS | {"rounds": "8"}, seed=1,
    )  # fmt: skip
    with visited(browser, viewport={"width": 1280, "height": 900}) as (page, said):
        with served(folder) as site:
            while not site.runs():
                assert not running.wait(0.1)
            page.goto(f"{site.address}/")
            page.get_by_role("link", name="live").click()
            until(page, "Number(document.documentElement.dataset.points) > 2")
            before = int(page.evaluate("document.documentElement.dataset.points"))
            assert page.locator("#course-iops svg").count() == 1
            page.reload()
            until(page, f"Number(document.documentElement.dataset.points) > {before}")
            assert page.locator("#live").is_visible()
            port = site.port
        until(page, "document.querySelector('#live-connection').textContent !== ''")
        said.clear()  # that a connection is lost, the browser itself says
        with served(folder, port=port):
            until(page, "document.querySelector('#live-connection').textContent === ''")
            until(page, "document.body.dataset.ending !== 'running'")
            ending = running.result().record.run.ending
            assert page.evaluate("document.body.dataset.ending") == ending
            until(page, "document.querySelector('#bar .pill').textContent.includes(':')")
            assert not page.locator("#live").is_visible()
            assert page.locator("#part-1 .verdict").count() == 1
            said[:] = [line for line in said if "ERR_CONNECTION_REFUSED" not in line]
            assert said == []


@pytest.mark.parametrize(("code", "scheme", "width"), LOOKS)
def test_every_page_fits_has_no_barrier_and_says_nothing(
    browser: Browser, simulated: Path, machine: Machine, tmp_path: Path, code: str, scheme: str,
    width: int,
) -> None:  # fmt: skip
    drive, model = id_of(machine.sata(failing=True)), id_of("sim:mlc-a")
    devices = ("/devices", f"/devices/{drive}", f"/devices/{model}")
    shutil.copy(simulated, tmp_path / "one.teijo")
    options: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    with served(tmp_path) as site, visited(browser, **options) as (page, said):
        key = site.runs()["one.teijo"]["id"]
        for path in ("/", f"/runs/{key}", "/nothing", *devices):
            mark = "&" if "?" in path else "?"
            page.goto(f"{site.address}{path}{mark}lang={code}")
            page.wait_for_load_state("networkidle") if path == "/" else page.wait_for_timeout(300)
            if path.startswith("/runs"):
                until(page, "document.documentElement.dataset.drawn > 0")
            assert page.evaluate("document.documentElement.lang") == code
            assert not is_wider(page), path
            assert serious(page) == [], path
        said[:] = [line for line in said if "404" not in line]
        assert said == []


def test_a_chart_on_paper_is_no_wider_than_the_paper(
    browser: Browser, simulated: Path, tmp_path: Path
) -> None:
    """Paper is narrower than the window that the chart was drawn for, and nothing draws it anew."""
    paper = 700
    shutil.copy(simulated, tmp_path / "one.teijo")
    with served(tmp_path) as site, visited(browser, viewport={"width": 1600, "height": 900}) as it:
        page, _ = it
        page.goto(f"{site.address}/runs/{site.runs()['one.teijo']['id']}")
        until(page, "document.documentElement.dataset.drawn > 0")
        page.emulate_media(media="print")
        page.evaluate(f"document.body.style.width = '{paper}px'")
        charts = page.locator("section.part .chart svg").all()
        boxes = [chart.bounding_box() for chart in charts]
        assert boxes
        for box in boxes:
            assert box is not None
            assert box["x"] + box["width"] <= paper


def test_text_of_a_run_file_is_only_text(browser: Browser, simulated: Path, tmp_path: Path) -> None:
    record = reader.read(simulated)
    remark = Remark(kind=RemarkKind.NOT_PURGED, text=HOSTILE)
    hostile = replace(
        record,
        identity=replace(record.identity, model=HOSTILE, serial=HOSTILE, firmware=HOSTILE),
        run=replace(record.run, group={"campaign": HOSTILE}),
        remarks=(*record.remarks, remark),
    )
    sealed_run(tmp_path / "<b onclick=alert(1)>.teijo", hostile)
    with served(tmp_path) as site, visited(browser) as (page, said):
        (row,) = site.runs().values()
        for path in ("/", f"/runs/{row['id']}", f"/?q={HOSTILE}", "/<script>alert(1)</script>"):
            page.goto(site.address + path)
            page.wait_for_timeout(500)
            assert page.title() != "broken"
            assert page.locator("img, b").count() == 0
        assert [line for line in said if "404" not in line] == []


def test_the_keyboard_alone_leads_from_the_list_to_the_report(
    browser: Browser, simulated: Path, tmp_path: Path
) -> None:
    shutil.copy(simulated, tmp_path / "one.teijo")
    with served(tmp_path) as site, visited(browser) as (page, said):
        site.runs()
        page.goto(site.address)
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "one.teijo":
                break
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("/runs/"))
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert said == []
