"""In a real browser, without a network, the page draws every chart and complains of nothing."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from teijo.document.model import Document
from teijo.report import html
from tests.report.samples import iops_document, workload_document, wsat_document

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


def visited(text: str, folder: Path, size: str = "1280,900") -> tuple[str, list[str]]:
    """Return the page's DOM after its scripts ran, and what the browser's console said."""
    page = folder / "report.html"
    page.write_text(text, "utf-8")
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
        "--proxy-server=127.0.0.1:9", f"--window-size={size}",
        f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=20000", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=180, check=True,
        env={**os.environ, "HOME": str(folder)},
    )  # fmt: skip
    return done.stdout, re.findall(r".*CONSOLE.*", done.stderr)


@pytest.mark.parametrize(
    "document",
    [iops_document(25), wsat_document(), workload_document()],
    ids=lambda document: document.name,
)
def test_every_chart_is_drawn_offline_without_a_word_on_the_console(
    document: Document, tmp_path: Path
) -> None:
    text = html.render(document)
    dom, console = visited(text, tmp_path)
    count = len(json.loads(re.findall(r'id="teijo-data">(.*?)</script>', text)[0])["charts"])
    assert console == []
    assert f'data-drawn="{count}"' in dom
    assert dom.count('<svg xmlns="http://www.w3.org/2000/svg"') == count


def test_a_chart_that_fails_says_so_and_the_console_would_be_seen(tmp_path: Path) -> None:
    broken = html.render(iops_document()).replace("drawAll();", 'console.error("heard");')
    dom, console = visited(broken, tmp_path)
    assert len(console) == 1
    assert "heard" in console[0]
    assert "data-drawn" not in dom


def test_pointing_at_a_line_tells_its_series_and_value(tmp_path: Path) -> None:
    pointing = """
      const wait = setInterval(() => {
        if (!document.documentElement.dataset.drawn) return;
        clearInterval(wait);
        const plot = document.querySelector("#chart-3 svg .mark-symbol path");
        const box = plot.getBoundingClientRect();
        const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
        const target = document.elementFromPoint(at.clientX, at.clientY);
        for (const kind of ["pointerover", "pointermove", "mousemove"]) {
          target.dispatchEvent(new PointerEvent(kind, { bubbles: true, view: window, ...at }));
        }
      }, 50);
    """
    text = html.render(iops_document()).replace("drawAll();", "drawAll();" + pointing)
    dom, console = visited(text, tmp_path, size="1280,4000")
    assert console == []
    told = re.findall(r'<div id="vg-tooltip-element".*?</div>', dom)[0]
    assert "RND 4 KiB, R/W 0/100" in told
    assert ">Round" in told
