"""In a real browser: a run grows, is reloaded, outlives the server; nothing is asked elsewhere."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from teijo import api
from teijo.runfile import reader
from teijo.terms.remark import Remark, RemarkKind
from tests.runfile.samples import sealed_run
from tests.web.serving import served

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
SETTINGS = {"minute": "1s", "mixes": "0/100", "block_sizes": "4KiB", "precondition_times": "1"}
HOSTILE = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@contextmanager
def visited(browser: Browser, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """Give a page, and what its console says and what it asks of others."""
    context = browser.new_context(**options)
    page, said = context.new_page(), list[str]()
    page.on("console", lambda told: said.append(f"{told.type}: {told.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))

    def asked(request: Any) -> None:
        if not re.match(r"(http://127\.0\.0\.1:|data:|blob:)", request.url):
            said.append(f"elsewhere: {request.url}")

    page.on("request", asked)
    yield page, said
    context.close()


def until(page: Page, condition: str) -> None:
    """Wait until an expression holds; the page itself may not be asked to, for it evals nothing."""
    while not page.evaluate(condition):
        page.wait_for_timeout(100)


def is_wider(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def serious(page: Page) -> list[str]:
    """Return what a program that looks for barriers finds serious."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


def test_a_run_grows_is_reloaded_and_outlives_the_server(browser: Browser, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    running = api.start(
        "pts.iops", f"{tmp_path / 'a.img'}?size=16MiB", output=folder / "live.teijo",
        settings=SETTINGS | {"rounds": "25"}, seed=1,
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


# Each two of language, scheme and width meet once.
@pytest.mark.parametrize(
    ("code", "scheme", "width"),
    [("en", "light", 400), ("ja", "dark", 400), ("en", "dark", 1280), ("ja", "light", 1280)],
)
def test_every_page_fits_has_no_barrier_and_says_nothing(
    browser: Browser, simulated: Path, tmp_path: Path, code: str, scheme: str, width: int
) -> None:
    shutil.copy(simulated, tmp_path / "one.teijo")
    options: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    with served(tmp_path) as site, visited(browser, **options) as (page, said):
        key = site.runs()["one.teijo"]["id"]
        for path in ("/", f"/runs/{key}", "/nothing"):
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


def test_text_of_a_run_file_is_only_text(browser: Browser, simulated: Path, tmp_path: Path) -> None:
    record = reader.read(simulated)
    remark = Remark(kind=RemarkKind.NOT_PURGED, text=HOSTILE)
    hostile = replace(
        record,
        identity=replace(record.identity, model=HOSTILE, serial=HOSTILE, firmware=HOSTILE),
        run=replace(record.run, group={}),
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
