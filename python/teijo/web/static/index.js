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
    for (const place of [".count", "table.runs tbody"]) {
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
})();
