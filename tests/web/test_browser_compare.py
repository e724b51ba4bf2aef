"""In a real browser: runs are chosen in the list, whatever it shows, and compared on a page."""

import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page

from teijo import api
from tests.web.browsing import CHROMIUM, LOOKS, is_wider, serious, until, visited
from tests.web.serving import Served, served

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
SETTINGS = {"minute": "50ms", "mixes": "0/100", "block_sizes": "4KiB", "rounds": "5"}
DRIVE = "sim:mlc-a?capacity=64MiB&dies=2"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of runs: three made alike, and one otherwise."""
    folder = tmp_path_factory.mktemp("chosen")
    for seed, name in enumerate(("a", "b", "c"), 1):
        target = f"{DRIVE}&seed={seed}"
        api.run("pts.iops", target, output=folder / name, settings=SETTINGS, seed=seed)
    deep = SETTINGS | {"queue_depth": "4"}
    api.run("pts.iops", DRIVE, output=folder / "deep", settings=deep, seed=5)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "folder"))


def ids(site: Served) -> dict[str, str]:
    return {name.partition(".")[0]: row["id"] for name, row in site.runs().items()}


def box(page: Page, name: str) -> Any:
    return page.get_by_role("checkbox", name=f"Choose {name}.teijo", exact=True)


def compared(page: Page) -> list[str]:
    return re.findall(r"run=([0-9a-f]+)", page.url)


def test_the_keyboard_alone_leads_from_the_list_to_a_comparison(
    browser: Browser, folder: Path
) -> None:
    with served(folder) as site, visited(browser) as (page, said):
        known = ids(site)
        page.goto(f"{site.address}/?sort=name")

        def tabbed(reached: str) -> None:
            for _ in range(60):
                page.keyboard.press("Tab")
                if page.evaluate(f"document.activeElement.matches({reached!r})"):
                    return
            pytest.fail(f"{reached} is not reached")

        assert page.get_by_role("button", name="Compare").is_disabled()
        for name in ("a", "b"):
            tabbed(f"input[value='{known[name]}']")
            page.keyboard.press("Space")
        until(page, "!document.querySelector('#choose-go').disabled")
        assert page.locator("#choose-go").text_content() == "Compare 2 runs"
        page.keyboard.press("Home")
        page.evaluate("document.activeElement.blur()")
        for _ in range(60):
            page.keyboard.press("Shift+Tab")
            if page.evaluate("document.activeElement.id") == "choose-go":
                break
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("/compare"))
        until(page, "document.documentElement.dataset.drawn > 0")
        assert compared(page) == [known["a"], known["b"]]
        assert page.locator(".sides li").count() == 2
        assert said == []


def test_what_is_chosen_outlives_searching_turning_and_the_lists_refresh(
    browser: Browser, folder: Path
) -> None:
    with served(folder) as site, visited(browser) as (page, said):
        known = ids(site)
        page.goto(f"{site.address}/")
        box(page, "c").check()
        box(page, "a").focus()
        shutil.copy(folder / "b.teijo", folder / "new.teijo")  # so that the list is another
        until(page, "document.querySelector('table.runs').textContent.includes('new.teijo')")
        assert box(page, "c").is_checked()
        assert page.evaluate("document.activeElement.value") == known["a"]
        page.goto(f"{site.address}/?q=a.teijo")
        assert box(page, "c").count() == 0
        box(page, "a").check()
        page.locator("#choose-go").click()
        page.wait_for_url(re.compile("/compare"))
        assert compared(page) == [known["c"], known["a"]], "in the order of choosing"
        page.go_back()
        page.get_by_role("button", name="Choose none").click()
        page.goto(f"{site.address}/")
        assert page.locator("input[name=run]:checked").count() == 0
        assert said == []


def test_no_more_are_chosen_than_can_be_compared(browser: Browser, folder: Path) -> None:
    for number in range(21):
        shutil.copy(folder / "a.teijo", folder / f"more{number}.teijo")
    with served(folder) as site, visited(browser) as (page, _):
        site.runs()
        page.goto(f"{site.address}/")
        boxes = page.locator("input[name=run]")
        assert boxes.count() == 25
        for place in range(24):
            boxes.nth(place).check()
        assert boxes.nth(24).is_disabled()
        boxes.nth(0).uncheck()
        assert boxes.nth(24).is_enabled()


def test_without_scripts_it_is_a_form(browser: Browser, folder: Path) -> None:
    with served(folder) as site, visited(browser, java_script_enabled=False) as (page, _):
        known = ids(site)
        page.goto(f"{site.address}/?sort=name")
        box(page, "a").check()
        box(page, "b").check()
        page.locator("#choose-go").click()
        page.wait_for_url(re.compile("/compare"))
        assert compared(page) == [known["a"], known["b"]]
        assert page.locator("#part-1").count() == 1


def test_what_was_not_made_alike_is_compared_after_one_press(
    browser: Browser, folder: Path
) -> None:
    with served(folder) as site, visited(browser) as (page, said):
        known = ids(site)
        query = urlencode([("run", known["a"]), ("run", known["deep"]), ("lang", "en")])
        page.goto(f"{site.address}/compare?{query}")
        page.get_by_role("button", name="Compare them all the same").click()
        until(page, "document.documentElement.dataset.drawn > 0")
        assert "NOT MADE ALIKE" in (page.locator("main").text_content() or "")
        page.get_by_role("link", name="Hold the others against deep.teijo").click()
        page.wait_for_url(re.compile(f"run={known['deep']}&run={known['a']}"))
        until(page, "document.documentElement.dataset.drawn > 0")
        assert said == []


@pytest.mark.parametrize(("code", "scheme", "width"), LOOKS)
def test_a_comparison_fits_has_no_barrier_and_says_nothing(
    browser: Browser, folder: Path, code: str, scheme: str, width: int
) -> None:
    options: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    with served(folder) as site, visited(browser, **options) as (page, said):
        known = ids(site)
        for names in (("a", "b", "c"), ("a", "deep")):
            query = urlencode([*(("run", known[name]) for name in names), ("lang", code)])
            page.goto(f"{site.address}/compare?{query}")
            if "deep" not in names:
                until(page, "document.documentElement.dataset.drawn > 0")
            assert page.evaluate("document.documentElement.lang") == code
            assert not is_wider(page), names
            assert serious(page) == [], names
        assert said == []
