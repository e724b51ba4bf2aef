// Follows a run: what the server tells of it once a second, and its report whenever that is another.
"use strict";
(() => {
  const { run, report } = document.body.dataset;
  const page = JSON.parse(document.getElementById("teijo-page").textContent);
  const query = location.search;
  const find = (name) => document.getElementById(name);
  const number = (value, digits) => value === null ? "–"
    : value.toLocaleString("en-US", { maximumFractionDigits: digits,
      minimumFractionDigits: digits });

  // ---- the course of the whole run ----------------------------------------------------------

  const course = { epoch: -1, joined: 0, points: [], levels: [] };
  const charts = new Map();

  const rows = () => course.points.map(([start, length, iops, least, most, mbs, errors, mean, top]) =>
    ({ start, end: start + length, iops, least, most, mbs, errors, mean, top }));
  const levels = () => course.levels.flatMap(([start, end, ...values]) =>
    values.map((value, at) => ({ start, end, value, name: page.levels[at] })))
    .filter((each) => each.value !== null);

  const take = (fresh) => {
    if (fresh.epoch !== course.epoch || fresh.joined !== course.joined) {
      [course.points, course.levels] = [[], []];
    }
    [course.epoch, course.joined] = [fresh.epoch, fresh.joined];
    course.points.splice(fresh.first, Infinity, ...fresh.points);
    course.levels.push(...fresh.levels);
  };

  // A closed fold has no width to draw in.
  const fold = find("course");
  fold.addEventListener("toggle", () => { if (fold.open) drawCourse(); });

  const drawCourse = async () => {
    document.documentElement.dataset.points = String(course.points.length);
    if (!fold.open) return;
    for (const { id, body } of page.charts) {
      const place = find(id);
      if (!charts.has(id)) {
        const filled = structuredClone(body);
        filled.datasets = { points: rows(), levels: levels() };
        charts.set(id, null);
        charts.set(id, await window.teijoReport.embedded(place, "vega-lite", filled));
      } else if (charts.get(id) !== null) {
        const view = charts.get(id);
        for (const [name, values] of [["points", rows()], ["levels", levels()]]) {
          try { view.data(name, values); } catch { /* this chart does not draw it */ }
        }
        await view.runAsync();
      }
    }
  };

  // ---- the state -----------------------------------------------------------------------------

  const say = (name, text) => {
    const place = find(name);
    if (place.textContent !== text) place.textContent = text;
  };

  // The buttons of a run that stops, or was left, are others.
  const showActs = async (state) => {
    const now = `${state.ending} ${state.stopping}`;
    if (find("acts").dataset.of === now) return;
    find("acts").dataset.of = now;
    const answer = await fetch(`/runs/${run}/acts${query}`);
    if (answer.ok) find("acts").innerHTML = await answer.text();
  };
  const showState = (state) => {
    showActs(state);
    document.body.dataset.ending = state.ending;
    find("live").hidden = state.ending !== "running";
    say("live-title", state.title);
    find("live-progress").value = state.share;
    say("live-share", `${Math.round(state.share * 100)} %`);
    say("live-phase", [state.phase, state.cell].filter(Boolean).join(" · "));
    say("live-iops", number(state.iops, 0));
    say("live-mbs", number(state.mb_s, 1));
    say("live-left", state.left || "–");
    say("live-elapsed", state.elapsed);
    say("live-steady", state.steady || "–");
    say("live-forecast", state.forecast);
    find("live-forecast-row").hidden = !state.forecast;
    find("live-heat").hidden = state.celsius === null;
    say("live-celsius", state.celsius === null ? "" : `${state.celsius} °C`);
    showRemarks(state.remarks);
  };

  let remarks = "[]";
  const showRemarks = (all) => {
    const text = JSON.stringify(all);
    if (text === remarks) return;
    remarks = text;
    find("live-remarks").replaceChildren(...all.map(({ kind, text: said, count }) => {
      const line = document.createElement("li");
      const name = document.createElement("span");
      [name.className, name.textContent] = ["kind", kind];
      line.append(name, ` ${said}`, count > 1 ? ` (${count} ×)` : "");
      return line;
    }));
  };

  // ---- the report ----------------------------------------------------------------------------

  // As the server sent them: this script runs before the charts are drawn into them.
  const sources = new Map([...find("sections").children].map((part) => [part.id, part.outerHTML]));
  let shown = Number(report);
  let fetching = false;

  const showReport = async (wanted) => {
    if (fetching || wanted === shown) return;
    fetching = true;
    try {
      const answer = await fetch(`/runs/${run}/report${query}`);
      if (!answer.ok) return;
      const fresh = await answer.json();
      shown = fresh.report;
      document.title = `${fresh.title} · Teijo`;
      find("bar").innerHTML = fresh.bar;
      find("contents").innerHTML = fresh.contents;
      find("masthead").innerHTML = fresh.header;
      await window.teijoReport.show(fresh.data, replaceSections(fresh.sections));
    } finally {
      fetching = false;
    }
  };

  // Replaces the sections that are others now, and returns the places of the charts in them.
  const replaceSections = (text) => {
    const made = document.createElement("template");
    made.innerHTML = text;
    const here = find("sections");
    const open = new Set([...here.querySelectorAll("details[open]")].map(placeOf));
    const changed = new Set();
    const old = [...here.children];
    const fresh = [...made.content.children];
    fresh.forEach((part, at) => {
      if (sources.get(part.id) === part.outerHTML && old[at]?.id === part.id) return;
      sources.set(part.id, part.outerHTML);
      for (const chart of part.querySelectorAll(".chart")) changed.add(chart.id);
      if (old[at]) old[at].replaceWith(part); else here.append(part);
    });
    old.slice(fresh.length).forEach((part) => part.remove());
    for (const fold of here.querySelectorAll("details")) fold.open ||= open.has(placeOf(fold));
    return changed;
  };
  const placeOf = (fold) => `${fold.closest("section")?.id}/${fold.querySelector("summary").textContent}`;

  // ---- the stream ----------------------------------------------------------------------------

  let stream = null;
  const words = page.words;

  const listen = () => {
    stream = new EventSource(`/runs/${run}/events${query}`);
    stream.addEventListener("open", () => say("live-connection", ""));
    stream.addEventListener("error", () => say("live-connection", words.away));
    stream.addEventListener("course", (event) => { take(JSON.parse(event.data)); drawCourse(); });
    // A server that was started again knows another word: see forms.py.
    stream.addEventListener("server", (event) => {
      for (const field of document.getElementsByName("word")) field.value = JSON.parse(event.data).word;
    });
    stream.addEventListener("state", (event) => showState(JSON.parse(event.data)));
    stream.addEventListener("report", (event) => showReport(JSON.parse(event.data).report));
    stream.addEventListener("trouble", (event) => {
      say("live-connection", JSON.parse(event.data).message);
      stream.close();
      setTimeout(listen, 5000);
    });
    stream.addEventListener("over", () => stream.close());
  };
  // The report's script comes behind this one.
  document.addEventListener("DOMContentLoaded", listen);
})();
