"""In a real browser, without a network, the page draws every chart and complains of nothing."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from teijo.document.model import Document
from teijo.report import html
from tests.report.samples import iops_document, workload_document, wsat_document

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
DRAWS = "show(JSON.parse(given.textContent));"
"""The line of the page's script that draws all of it."""
VIRTUAL_MS = 20_000_000
"""Timers run ahead of what other threads of the browser draw: this is a million looks for it."""


def visited(text: str, folder: Path, size: str = "1280,900") -> tuple[str, list[str]]:
    """Return the page's DOM after its scripts ran, and what the browser's console said."""
    page = folder / "report.html"
    page.write_text(text, "utf-8")
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
        "--proxy-server=127.0.0.1:9", f"--window-size={size}",
        f"--user-data-dir={folder / 'profile'}",
        f"--virtual-time-budget={VIRTUAL_MS}", "--dump-dom", page.as_uri(),
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
    broken = html.render(iops_document()).replace(DRAWS, 'console.error("heard");')
    dom, console = visited(broken, tmp_path)
    assert len(console) == 1
    assert "heard" in console[0]
    assert "data-drawn" not in dom


def test_pointing_at_a_line_tells_its_series_and_value(tmp_path: Path) -> None:
    pointing = """
      const wait = setInterval(() => {
        if (!document.documentElement.dataset.drawn) return;
        clearInterval(wait);
        const plot = document.querySelector("#NAME svg .mark-symbol.role-mark path");
        const box = plot.getBoundingClientRect();
        const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
        const target = document.elementFromPoint(at.clientX, at.clientY);
        for (const kind of ["pointerover", "pointermove", "mousemove"]) {
          target.dispatchEvent(new PointerEvent(kind, { bubbles: true, view: window, ...at }));
        }
      }, 50);
    """
    page = html.render(iops_document())
    charts = json.loads(re.findall(r'id="teijo-data">(.*?)</script>', page)[0])["charts"]
    window = next(each for each in charts if each["name"].endswith("rnd-4-kib-r-w-0-100"))
    script = pointing.replace("NAME", window["id"])
    text = page.replace(DRAWS, DRAWS + script)
    dom, console = visited(text, tmp_path, size="1280,4000")
    assert console == []
    told = re.findall(r'<div id="vg-tooltip-element".*?</div>', dom)[0]
    assert "RND 4 KiB, R/W 0/100" in told
    assert ">Round" in told


SAVING = """
  const made = [];
  URL.createObjectURL = (blob) => { made.push(blob); return "#"; };
  const named = [];
  HTMLAnchorElement.prototype.click = function () { named.push(this.download); };
  const wait = setInterval(async () => {
    if (!document.documentElement.dataset.drawn) return;
    clearInterval(wait);
    for (const act of ["svg", "png"]) {
      document.querySelector(`button[data-chart="chart-3"][data-act="${act}"]`).click();
      while (made.length < (act === "svg" ? 1 : 2)) await new Promise((go) => setTimeout(go, 20));
    }
    const [drawing, picture] = made;
    const text = await drawing.text();
    const bytes = new Uint8Array(await picture.arrayBuffer());
    const size = new DataView(bytes.buffer).getUint32(16);
    const well = new DOMParser().parseFromString(text, "image/svg+xml");
    const shown = new Image();
    shown.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    await shown.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [shown.naturalWidth, shown.naturalHeight];
    canvas.getContext("2d").drawImage(shown, 0, 0);
    const inks = new Set(new Uint32Array(
      canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer));
    document.body.dataset.saved = JSON.stringify({
      named, types: made.map((each) => each.type), first: [...bytes.slice(0, 4)], size,
      width: shown.naturalWidth, inks: inks.size,
      error: well.querySelector("parsererror") !== null,
      variables: text.includes("var(--"), fonts: text.includes("@font-face"),
      outside: (text.match(/(?:href|src|url)\\s*[=(]\\s*["']?https?:/g) || []).length,
    });
  }, 50);
"""


@pytest.mark.parametrize("kind", ["lines", "bars in depth"])
def test_a_plot_is_saved_as_svg_and_png_that_need_nothing_of_the_page(
    kind: str, tmp_path: Path
) -> None:
    page = html.render(iops_document())
    charts = json.loads(re.findall(r'id="teijo-data">(.*?)</script>', page)[0])["charts"]
    grammar = {"lines": "vega-lite", "bars in depth": "vega"}[kind]
    chart = next(each for each in charts if each["grammar"] == grammar)
    script = SAVING.replace("chart-3", chart["id"])
    dom, console = visited(page.replace(DRAWS, DRAWS + script), tmp_path)
    assert console == []
    saved = json.loads(unescape(re.findall(r'data-saved="([^"]*)"', dom)[0]))
    assert saved["named"] == [f"{chart['name']}.svg", f"{chart['name']}.png"]
    assert saved["types"] == ["image/svg+xml;charset=utf-8", "image/png"]
    assert bytes(saved["first"]) == b"\x89PNG"
    assert saved["size"] == 2 * saved["width"] > 500
    assert saved["inks"] > 10, "something is drawn, in more than one colour"
    assert (saved["error"], saved["variables"], saved["outside"]) == (False, False, 0)
    assert saved["fonts"]


def test_on_a_page_of_400_px_each_plot_fits_with_its_whole_legend(tmp_path: Path) -> None:
    looking = """
      const wait = setInterval(() => {
        if (!document.documentElement.dataset.drawn) return;
        clearInterval(wait);
        const marks = document.querySelectorAll(".chart svg, .chart svg .role-legend-label text");
        const right = Math.max(...[...marks].map((each) => each.getBoundingClientRect().right));
        const wide = document.documentElement.scrollWidth;
        parent.postMessage(`${marks.length} ${Math.ceil(right)} ${wide}`, "*");
      }, 20);
    """
    inner = tmp_path / "inner.html"
    document = iops_document()
    title = "Client Demand Intensity / Response Time Histogram – Report Page (OPTIONAL)"
    text = html.render(replace(document, header=replace(document.header, title=title)))
    inner.write_text(f"{text}<script>{looking}</script>", "utf-8")
    dom, console = visited(
        f'<iframe src="{inner.as_uri()}" style="width:400px;height:3000px;border:0"></iframe><p>'
        "<script>onmessage = (told) => document.querySelector('p').textContent = told.data;"
        "</script>",
        tmp_path,
    )
    assert console == []
    found = re.search(r"<p>(\d+) (\d+) (\d+)", dom)
    assert found is not None, dom[-400:]
    marks, right, wide = map(int, found.groups())
    assert marks > 8
    assert right <= 400
    assert wide <= 400
