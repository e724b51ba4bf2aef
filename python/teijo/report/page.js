// Draws the charts from the page's own data, and hands out its tables as CSV. Fetches nothing.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("teijo-data").textContent);

  const draw = async (chart) => {
    const place = document.getElementById(chart.id);
    const options = { mode: chart.grammar, renderer: "svg", actions: false, ast: false };
    try {
      await window.vegaEmbed(place, chart.body, options);
    } catch (error) {
      place.textContent = data.words.undrawn + " (" + error.message + ")";
    }
  };

  const drawAll = async () => {
    // Vega measures texts before it places them, so the font must be there first.
    await Promise.all([document.fonts.load("11px Inter"), document.fonts.load("600 11px Inter")]);
    for (const chart of data.charts) await draw(chart);
    document.documentElement.dataset.drawn = String(data.charts.length);
  };

  const copy = async (button, text) => {
    const say = (word) => {
      const name = button.textContent;
      button.textContent = word;
      setTimeout(() => { button.textContent = name; }, 1200);
    };
    try {
      await navigator.clipboard.writeText(text);
      say(data.words.copied);
    } catch {
      say(data.words.refused);
    }
  };

  const download = (name, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-table]");
    if (!button) return;
    const table = data.tables[button.dataset.table];
    if (button.dataset.act === "copy") copy(button, table.csv);
    else download(table.name, table.csv);
  });

  const links = new Map([...document.querySelectorAll(".contents a")]
    .map((link) => [link.getAttribute("href").slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.classList.remove("here");
      links.get(entry.target.id)?.classList.add("here");
    }
  }, { rootMargin: "-80px 0px -65% 0px" });
  for (const part of document.querySelectorAll("section.part")) seen.observe(part);

  drawAll();
})();
