"""What the tests in a real browser share."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
TRIES = 1_500
_OTHERS = (("en", "light", 400), ("en", "dark", 1280), ("ja", "light", 1280))
LOOKS = [
    pytest.param("ja", "dark", 400),
    *(pytest.param(*each, marks=pytest.mark.long) for each in _OTHERS),
]
"""Language, scheme and width: each two of them meet once. All other tests are in English, light."""


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
    for _ in range(TRIES):
        try:
            if page.evaluate(condition):
                return
        except Error:
            pass  # it leaves for another page at this moment
        page.wait_for_timeout(100)
    raise AssertionError(f"{page.url} never came to: {condition}")


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
