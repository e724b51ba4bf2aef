// Draws the charts from the page's own data, and hands out its tables as CSV, its plots as pictures.
// Fetches nothing; a page whose report grows gives it each next one by `teijoReport`.
"use strict";
(() => {
  let data = { charts: [], tables: {}, words: {} };

  const views = new Map();

  // No eval and no style of Vega's own: a page may forbid both.
  const embedded = async (place, mode, body) => {
    const options = { mode, renderer: "svg", actions: false, ast: true,
      defaultStyle: false, tooltip: { disableDefaultStyle: true } };
    return (await window.vegaEmbed(place, body, options)).view;
  };

  // A legend laid out for a wide page says its own number of columns, which goes before the theme's.
  const narrowed = (part, columns) => {
    if (part === null || typeof part !== "object") return;
    if (part.legend && part.legend.columns) part.legend.columns = columns;
    Object.values(part).forEach((each) => narrowed(each, columns));
  };

  const draw = async (chart) => {
    const place = document.getElementById(chart.id);
    views.get(chart.id)?.finalize();
    const legend = chart.body.config && chart.body.config.legend;
    if (legend && place.clientWidth < 560) {
      legend.columns = Math.max(1, Math.floor(place.clientWidth / 120));
      narrowed(chart.body, legend.columns);
    }
    try {
      views.set(chart.id, await embedded(place, chart.grammar, chart.body));
    } catch (error) {
      place.textContent = data.words.undrawn + " (" + error.message + ")";
    }
  };

  const rest = () => new Promise((go) => { setTimeout(go, 0); });

  const drawAll = async (places = null) => {
    // Vega measures texts before it places them, so the font must be there first.
    await Promise.all([document.fonts.load("11px Inter"), document.fonts.load("600 11px Inter"),
      window.teijoFirst]); // what a page around the report draws before it
    for (const chart of data.charts) {
      if (places !== null && !places.has(chart.id)) continue;
      await draw(chart);
      await rest(); // what is drawn answers to pointing before the next one is
    }
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

  const download = (name, blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // A plot as a drawing that needs nothing of this page: its colours, its ground and its fonts.
  const drawing = async (view) => {
    const style = getComputedStyle(document.documentElement);
    const colour = (whole, name) => style.getPropertyValue(name).trim() || whole;
    const plain = (await view.toSVG()).replace(/var\((--[\w-]+)\)/g, colour);
    const faces = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
      .filter((rule) => rule instanceof CSSFontFaceRule).map((rule) => rule.cssText);
    const ground = getComputedStyle(document.body).backgroundColor;
    const fonts = `<style>${faces.join("").replaceAll("<", "\\3c ")}</style>`;
    return plain.replace(/(<svg[^>]*>)/,
      `$1${fonts}<rect width="100%" height="100%" fill="${ground}"/>`);
  };

  const asPng = async (text) => {
    const picture = new Image();
    picture.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    await picture.decode();
    const canvas = document.createElement("canvas");
    const times = 2; // sharp on paper and on fine screens
    [canvas.width, canvas.height] = [picture.naturalWidth * times, picture.naturalHeight * times];
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return new Promise((give) => { canvas.toBlob(give, "image/png"); });
  };

  const save = async (button) => {
    const { chart, act } = button.dataset;
    const view = views.get(chart);
    if (!view) return;
    const name = data.charts.find((each) => each.id === chart).name;
    const text = await drawing(view);
    const blob = act === "png" ? await asPng(text)
      : new Blob([text], { type: "image/svg+xml;charset=utf-8" });
    download(`${name}.${act}`, blob);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-act]");
    if (!button) return;
    if (button.dataset.chart) { save(button); return; }
    const table = data.tables[button.dataset.table];
    if (button.dataset.act === "copy") copy(button, table.csv);
    else download(table.name, new Blob([table.csv], { type: "text/csv;charset=utf-8" }));
  });

  const seen = new IntersectionObserver((entries) => {
    const links = new Map([...document.querySelectorAll(".contents a")]
      .map((link) => [link.getAttribute("href").slice(1), link]));
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.classList.remove("here");
      links.get(entry.target.id)?.classList.add("here");
    }
  }, { rootMargin: "-80px 0px -65% 0px" });

  // Takes the data of the report that the page has now, and draws the charts in `places`.
  const show = async (fresh, places) => {
    data = fresh;
    seen.disconnect();
    for (const part of document.querySelectorAll("section.part")) seen.observe(part);
    await drawAll(places);
  };
  window.teijoReport = { show, embedded };

  const given = document.getElementById("teijo-data");
  if (given) show(JSON.parse(given.textContent));
})();
