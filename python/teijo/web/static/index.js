// The list asks anew when a menu changes, and again by itself while runs go on or files are read.
// What is chosen to be compared is kept as long as the tab is open, whatever the list shows.
"use strict";
(() => {
  const AGAIN_MS = 5000;
  const PLACES = [".jobs", ".count", "table.runs tbody"];
  const KEPT_AS = "teijo.chosen";
  const form = document.querySelector("form.search");
  for (const menu of form.querySelectorAll("select, input[type=date]")) {
    menu.addEventListener("change", () => form.requestSubmit());
  }
  form.addEventListener("submit", () => {
    // What is not asked is no part of the address.
    for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
  });

  // ---- what is chosen ------------------------------------------------------------------------

  const choose = document.getElementById("choose");
  const [go, none] = ["choose-go", "choose-none"].map((name) => document.getElementById(name));
  const most = Number(choose.dataset.most);
  const boxes = () => document.querySelectorAll("table.runs input[name=run]");

  // The first one that was chosen is what the others are held against.
  const chosen = () => {
    try {
      return JSON.parse(sessionStorage.getItem(KEPT_AS) ?? "[]").filter((id) => typeof id === "string");
    } catch {
      return []; // what is there is nothing of this page's
    }
  };
  const keep = (ids) => {
    sessionStorage.setItem(KEPT_AS, JSON.stringify(ids));
    showChosen();
  };
  const showChosen = () => {
    const ids = chosen();
    for (const box of boxes()) {
      box.checked = ids.includes(box.value);
      box.disabled = !box.checked && ids.length >= most;
    }
    go.disabled = ids.length < 2;
    const { one, several } = choose.dataset;
    go.textContent = ids.length < 2 ? one : several.replace("{count}", ids.length);
    none.hidden = !ids.length;
  };

  document.addEventListener("change", ({ target }) => {
    if (!target.matches("table.runs input[name=run]")) return;
    const others = chosen().filter((id) => id !== target.value);
    keep(target.checked ? [...others, target.value] : others);
  });
  none.addEventListener("click", () => keep([]));
  choose.addEventListener("formdata", ({ formData }) => {
    formData.delete("run");
    for (const id of chosen()) formData.append("run", id);
  });
  addEventListener("pageshow", showChosen);

  // ---- what the list has by now --------------------------------------------------------------

  const nameOf = (field) => field.getAttribute("href") ?? field.value;
  const fresh = async () => {
    if (document.hidden) return;
    let text;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (!answer.ok) return;
      text = await answer.text();
    } catch {
      return; // the server is away; it is asked again
    }
    const page = new DOMParser().parseFromString(text, "text/html");
    // A server that was started again knows another word: see forms.py.
    const upload = document.getElementById("upload");
    if (upload) upload.dataset.word = page.getElementById("upload")?.dataset.word ?? "";
    if (Boolean(page.querySelector("table.runs")) !== Boolean(document.querySelector("table.runs"))) {
      location.reload();
      return;
    }
    for (const place of PLACES) {
      const [there, here] = [page.querySelector(place), document.querySelector(place)];
      if (there && here && sources.get(place) !== there.innerHTML) {
        sources.set(place, there.innerHTML);
        const focused = here.contains(document.activeElement) ? nameOf(document.activeElement) : null;
        here.replaceChildren(...there.childNodes);
        if (focused) {
          [...here.querySelectorAll("a, input")].find((each) => nameOf(each) === focused)?.focus();
        }
      }
    }
    showChosen();
  };
  // As the server sent them; showing what is chosen disables boxes.
  const sources = new Map(PLACES
    .map((place) => [place, document.querySelector(place)?.innerHTML]));
  showChosen();
  setInterval(fresh, AGAIN_MS);

  // ---- a run file that is brought ------------------------------------------------------------

  const place = document.getElementById("upload");
  if (!place) return;
  const told = document.getElementById("upload-said");
  const bring = async (file) => {
    told.textContent = told.dataset.sending;
    let answer;
    try {
      const headers = { "content-type": "application/octet-stream", "x-teijo-word": place.dataset.word,
        "x-teijo-name": encodeURIComponent(file.name) };
      answer = await fetch(`/upload${location.search}`, { method: "POST", body: file, headers });
    } catch {
      told.textContent = told.dataset.away;
      return;
    }
    const type = answer.headers.get("content-type") ?? "";
    const said = type.includes("json") ? await answer.json() : { error: { message: await answer.text(), remedy: "" } };
    if (answer.ok) location.assign(said.href);
    else told.textContent = `${said.error.message} ${said.error.remedy}`;
  };
  place.hidden = false;
  document.getElementById("upload-file").addEventListener("change", (event) => {
    if (event.target.files.length) bring(event.target.files[0]);
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) bring(event.dataTransfer.files[0]);
  });
})();
