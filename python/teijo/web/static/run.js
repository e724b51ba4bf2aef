// Follows a run: what the server tells of it once a second, and its report whenever that is another.
"use strict";
(() => {
  const { run, report } = document.body.dataset;
  const page = JSON.parse(document.getElementById("teijo-page").textContent);
  const words = page.words;
  const query = location.search;
  const find = (name) => document.getElementById(name);
  const number = (value, digits) => value === null ? "–"
    : value.toLocaleString("en-US", { maximumFractionDigits: digits,
      minimumFractionDigits: digits });

  // ---- charts, which are drawn while their fold is open ----------------------------------------

  const course = { epoch: -1, joined: 0, points: [], levels: [] };
  const heat = { epoch: -1, joined: 0, points: [], limits: [] };
  let variables = [];
  const charts = new Map();

  const points = () => course.points.map(([start, length, iops, least, most, mbs, errors, mean, top]) =>
    ({ start, end: start + length, iops, least, most, mbs, errors, mean, top }));
  const hasLatency = (point) => point[7] > 0;
  const levels = () => {
    const known = course.levels.flatMap(([start, end, ...values]) =>
      values.map((value, at) => ({ start, end, value, name: page.levels[at] })))
      .filter((each) => each.value !== null);
    if (known.length) return known;
    // An axis of nothing has no ends, of which Vega warns: a rule without length, which is not seen.
    const [start, , , , , , , value] = course.points.find(hasLatency);
    return [{ start, end: start, value, name: page.levels[0] }];
  };
  const heats = () => heat.points.flatMap(([at, celsius, begins]) =>
    begins ? [{ at, celsius: null }, { at, celsius }] : [{ at, celsius }]);
  const inWindow = () => variables.filter((each) => each.window).flatMap(({ name, window }) =>
    window.rounds.map((round, at) =>
      ({ round, name, share: window.share[at], line: window.line[at] })));
  const rows = { points, levels, heat: heats, limits: () => heat.limits, window: inWindow };
  const sets = (body) => {
    const named = [body, ...body.layer].map((part) => part.data && part.data.name).filter(Boolean);
    return [...new Set(named)];
  };

  // Points after a place, which a reader may have had in part; all of them in another epoch.
  const take = (kept, fresh) => {
    if (fresh.epoch !== kept.epoch || fresh.joined !== kept.joined) kept.points = [];
    [kept.epoch, kept.joined] = [fresh.epoch, fresh.joined];
    kept.points.splice(fresh.first, Infinity, ...fresh.points);
  };

  // Where the run over time is shown, its charts come before those of the report.
  const FIRST_MS = 3000;
  let first = () => {};
  if (find("course").open) {
    window.teijoFirst = new Promise((go) => {
      first = go;
      setTimeout(go, FIRST_MS); // there may be nothing to draw yet
    });
  }

  // A closed fold has no width to draw in. What comes while a chart is drawn is drawn after it.
  const busy = new Set();
  const again = new Set();
  const drawFold = async (fold) => {
    if (!find(fold).open || find(fold).hidden) return;
    if (busy.has(fold)) { again.add(fold); return; }
    busy.add(fold);
    try {
      do {
        again.delete(fold);
        for (const chart of [...page.charts, page.window]) if (chart.fold === fold) await draw(chart);
      } while (again.has(fold));
    } finally {
      busy.delete(fold);
      if (fold === "course" && course.points.length) first();
    }
  };
  const NAME_PX = 170;
  const draw = async ({ id, body }) => {
    const place = find(id);
    if (place.parentElement.hidden) return;
    const names = sets(body);
    if (names.includes("points") && !course.points.some(hasLatency)) return; // nothing was done yet
    const view = charts.get(id);
    if (view) {
      for (const name of names) view.data(name, rows[name]());
      await view.runAsync();
      return;
    }
    const filled = structuredClone(body);
    filled.datasets = Object.fromEntries(names.map((name) => [name, rows[name]()]));
    // As many names side by side as there is room for.
    filled.config.legend.columns = Math.max(1, Math.floor(place.clientWidth / NAME_PX));
    charts.set(id, await window.teijoReport.embedded(place, "vega-lite", filled));
  };
  for (const fold of ["course", "window"]) {
    find(fold).addEventListener("toggle", () => drawFold(fold));
  }

  const takeCourse = (fresh) => {
    take(course, fresh);
    course.levels.splice(fresh.levels_first, Infinity, ...fresh.levels);
    document.documentElement.dataset.points = String(course.points.length);
    drawFold("course");
  };

  // ---- what was measured: the window, the rounds, the counters ---------------------------------

  const cellOf = (text, kind = "td", numeric = false) => {
    const cell = document.createElement(kind);
    cell.textContent = text;
    if (numeric) cell.className = "number";
    return cell;
  };
  const rowOf = (...cells) => {
    const row = document.createElement("tr");
    row.append(...cells);
    return row;
  };

  const takeWindow = (all) => {
    variables = all;
    find("window").hidden = all.length === 0;
    find("window-drawing").hidden = !all.some((each) => each.window);
    find("window-table").tBodies[0].replaceChildren(...all.map(variableRow));
    drawFold("window");
  };
  const variableRow = ({ name, unit, rounds, window }) => {
    if (!window) {
      const text = words.so_far.replace("#", rounds);
      return rowOf(cellOf(name), cellOf(text), ...["–", "–", "–"].map((each) => cellOf(each, "td", true)),
        cellOf("–"));
    }
    const [first, last] = [window.rounds[0], window.rounds.at(-1)];
    const judged = (text, ok) => {
      const cell = cellOf(`${text}: ${ok ? words.within : words.beyond}`, "td", true);
      cell.dataset.ok = ok;
      return cell;
    };
    const steady = cellOf(window.steady ? words.yes : words.no);
    steady.dataset.ok = window.steady;
    return rowOf(cellOf(name), cellOf(`${first}–${last}`),
      cellOf(`${number(window.average, unit === "ms" ? 4 : 1)} ${unit}`, "td", true),
      judged(window.range, window.range_ok), judged(window.slope, window.slope_ok), steady);
  };

  const ROUNDS_SHOWN = 30;
  const answers = { begun: "", all: [] };
  const figures = { iops: [2, 0], mbs: [3, 1], ms: [4, 4] };
  let figure = "iops";
  let now = { round: null, cell: "" };

  const takeRounds = (fresh) => {
    const begun = String(fresh.begun);
    if (begun !== answers.begun) [answers.begun, answers.all] = [begun, []];
    answers.all.splice(fresh.first, Infinity, ...fresh.answers);
    showRounds();
  };
  const showRounds = () => {
    const fold = find("rounds");
    fold.hidden = answers.all.length === 0;
    if (fold.hidden) return;
    const [place, digits] = figures[figure];
    const cells = new Map();
    const numbers = new Set();
    for (const answer of answers.all) {
      if (!cells.has(answer[1])) cells.set(answer[1], new Map());
      cells.get(answer[1]).set(answer[0], answer[place]);
      numbers.add(answer[0]);
    }
    if (now.cell && now.round !== null) {
      if (!cells.has(now.cell)) cells.set(now.cell, new Map());
      numbers.add(now.round);
    }
    const shown = [...numbers].sort((one, other) => one - other).slice(-ROUNDS_SHOWN);
    const table = find("rounds-table");
    const head = [cellOf("", "td"), ...shown.map((each) => cellOf(`${words.round} ${each}`, "th", true))];
    table.tHead.rows[0].replaceChildren(...head);
    table.tBodies[0].replaceChildren(...[...cells].map(([name, values]) =>
      rowOf(cellOf(name, "th"), ...shown.map((round) => {
        const value = values.get(round);
        const cell = cellOf(value === undefined ? "" : number(value, digits), "td", true);
        cell.dataset.round = round;
        if (name === now.cell && round === now.round) {
          cell.classList.add("marked");
          cell.setAttribute("aria-current", "true");
          if (value === undefined) cell.textContent = "…";
        }
        return cell;
      }))));
  };
  // Unless somebody reads in the table, it follows the cell that is measured.
  const showCurrent = () => {
    const room = find("rounds-table").parentElement;
    const cell = room.querySelector("[aria-current]");
    if (!cell || room.matches(":hover, :focus, :focus-within")) return;
    room.scrollTop = cell.offsetTop - room.clientHeight / 2;
    room.scrollLeft = cell.offsetLeft - room.clientWidth / 2;
  };
  for (const button of find("rounds").querySelectorAll("button")) {
    button.addEventListener("click", () => {
      figure = button.dataset.figure;
      for (const each of find("rounds").querySelectorAll("button")) {
        each.setAttribute("aria-pressed", String(each === button));
      }
      showRounds();
    });
  }

  const takeDrive = (fresh) => {
    take(heat, fresh);
    heat.limits = fresh.limits;
    const last = heat.points.at(-1);
    find("heat-drawing").hidden = find("live-heat").hidden = !last;
    find("live-celsius").textContent = last ? `${last[1]} °C` : "";
    const more = fresh.amplification
      ? [{ key: "amplification", name: words.write_amplification, first: "", now: fresh.amplification,
        difference: "" }] : [];
    showCounters("drive", [...fresh.drive, ...more]);
    showCounters("host", fresh.host);
    find("counters").hidden = fresh.drive.length + fresh.host.length === 0;
    drawFold("course");
  };
  const showCounters = (who, all) => {
    const place = find(`${who}-counters`);
    place.hidden = all.length === 0;
    place.querySelector("tbody").replaceChildren(...all.map((each) => {
      const row = rowOf(cellOf(each.name, "th"), ...[each.first, each.now, each.difference]
        .map((text) => cellOf(text, "td", true)));
      row.dataset.counter = each.key;
      return row;
    }));
  };

  // ---- the state -----------------------------------------------------------------------------

  const say = (name, text) => {
    const place = find(name);
    if (place.textContent !== text) place.textContent = text;
  };

  // The buttons of a run that stops, or was left, are others.
  const showActs = async () => {
    const now = `${state.ending} ${state.stopping}`;
    if (find("acts").dataset.of === now) return;
    find("acts").dataset.of = now;
    const answer = await fetch(`/runs/${run}/acts${query}`);
    if (answer.ok) find("acts").innerHTML = await answer.text();
  };

  const state = {};
  const takeState = (changed) => {
    const was = state.ending;
    Object.assign(state, changed);
    if (was && was !== "running" && state.ending === "running") {
      for (const fold of ["window", "rounds", "course", "counters"]) find(fold).open = true;
    }
    const [round, cell] = state.ending === "running" ? [state.round, state.cell] : [null, ""];
    if (round !== now.round || cell !== now.cell) {
      now = { round, cell };
      showRounds();
      showCurrent();
    }
    showState();
  };
  const showState = () => {
    showActs();
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
  const grows = document.body.dataset.ending === "running";
  const sources = new Map((grows ? [...find("sections").children] : [])
    .map((part) => [part.id, part.outerHTML]));
  let shown = Number(report);
  let wanted = shown;
  let fetching = false;

  const showReport = async (told) => {
    wanted = told;
    while (!fetching && wanted !== shown && await showNext(wanted));
  };
  const showNext = async (next) => {
    fetching = true;
    try {
      const answer = await fetch(`/runs/${run}/report${query}`);
      if (!answer.ok) return false;
      const fresh = await answer.json();
      shown = fresh.report;
      document.title = `${fresh.title} · Teijo`;
      find("bar").innerHTML = fresh.bar;
      find("contents").innerHTML = fresh.contents;
      find("masthead").innerHTML = fresh.header;
      await window.teijoReport.show(fresh.data, replaceSections(fresh.sections));
      return shown !== next || wanted !== next;
    } finally {
      fetching = false;
    }
  };

  // A long table that is folded came as text.
  document.addEventListener("toggle", ({ target }) => {
    for (const text of target.open ? target.querySelectorAll("script.folded") : []) {
      const made = document.createElement("template");
      made.innerHTML = text.textContent;
      text.replaceWith(made.content);
    }
  }, true);

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

  const AGAIN_MS = 5000;
  let stream = null;
  let over = false;

  const listen = () => {
    stream = new EventSource(`/runs/${run}/events${query}`);
    stream.addEventListener("open", () => say("live-connection", ""));
    stream.addEventListener("error", () => {
      say("live-connection", words.away);
      if (stream.readyState === EventSource.CLOSED) listenLater();
    });
    // A server that was started again knows another word: see forms.py.
    const takeServer = ({ word }) => {
      for (const field of document.getElementsByName("word")) field.value = word;
    };
    const takers = { server: takeServer, course: takeCourse, rounds: takeRounds, drive: takeDrive, window: takeWindow,
      state: takeState, report: ({ report: told }) => showReport(told) };
    for (const [name, taker] of Object.entries(takers)) {
      stream.addEventListener(name, (event) => taker(JSON.parse(event.data)));
    }
    stream.addEventListener("trouble", (event) => {
      say("live-connection", JSON.parse(event.data).message);
      listenLater();
    });
    stream.addEventListener("over", () => {
      over = true;
      stream.close();
    });
  };
  const listenLater = () => {
    stream.close();
    setTimeout(() => { if (!document.hidden) listen(); }, AGAIN_MS);
  };
  // A browser has few connections to one server: a page that nobody sees holds none of them.
  document.addEventListener("visibilitychange", () => {
    if (over) return;
    stream?.close();
    if (!document.hidden) listen();
  });
  // The report's script comes behind this one.
  document.addEventListener("DOMContentLoaded", () => { if (!document.hidden) listen(); });
})();
