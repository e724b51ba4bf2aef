// The list asks anew when a menu changes, and again by itself while runs go on or files are read.
"use strict";
(() => {
  const AGAIN_MS = 5000;
  const form = document.querySelector("form.search");
  for (const menu of form.querySelectorAll("select")) {
    menu.addEventListener("change", () => form.requestSubmit());
  }
  form.addEventListener("submit", () => {
    // What is not asked is no part of the address.
    for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
  });

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
    for (const place of [".jobs", ".count", "table.runs tbody"]) {
      const [there, here] = [page.querySelector(place), document.querySelector(place)];
      if (there && here && there.innerHTML !== here.innerHTML) {
        const focused = here.contains(document.activeElement)
          ? document.activeElement.getAttribute("href") : null;
        here.replaceChildren(...there.childNodes);
        if (focused) here.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
      }
    }
  };
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
