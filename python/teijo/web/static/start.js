// Shows the fields that the chosen target has, and what the run would take, whenever something changes.
"use strict";
(() => {
  const SOON_MS = 300;
  const form = document.getElementById("start");
  const find = (name) => document.getElementById(name);
  const kind = () => find("target").selectedOptions[0]?.dataset.kind ?? "";

  const showFields = () => {
    for (const field of form.querySelectorAll("[data-for]")) {
      const fits = kind() !== "" && field.dataset.for.split(" ").some((each) => kind() === each);
      field.hidden = field.dataset.for === "new file" ? kind() !== "new file" : !fits;
    }
    const texts = find("consent-texts").dataset;
    const words = kind() === "device" ? texts.wordsDevice : texts.wordsFile;
    const name = document.createElement("b");
    [name.id, name.textContent] = ["consent", find("target").selectedOptions[0]?.dataset.consent];
    find("consent-words").replaceChildren(`${words} `, name);
  };

  let asked = 0;
  const look = async () => {
    const mine = ++asked;
    const fields = new URLSearchParams(new FormData(form));
    for (const name of ["word", "typed"]) fields.delete(name);
    fields.set("lang", document.documentElement.lang);
    try {
      const answer = await fetch(`/start?${fields}`);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (mine !== asked || !answer.ok) return;
      find("preview").replaceChildren(...page.getElementById("preview").childNodes);
      form.elements.word.value = page.querySelector("[name=word]").value;
      const [there, here] = ["details", "details"].map((name, at) =>
        (at ? form : page).querySelector(name));
      if (document.activeElement?.closest("details") !== here || document.activeElement === find("method")) {
        there.open = here.open;
        here.replaceWith(there);
      }
    } catch { /* the server is away: the form says so when it is sent */ }
  };

  let soon = 0;
  const changed = () => {
    showFields();
    clearTimeout(soon);
    soon = setTimeout(look, SOON_MS);
  };
  form.addEventListener("input", changed);
  showFields();
  find("look").hidden = true;
})();
