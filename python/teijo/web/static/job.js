// Waits for a run to begin, and leads to its page then.
"use strict";
(() => {
  const AGAIN_MS = 500;
  const { job, state } = document.body.dataset;
  const find = (name) => document.getElementById(name);
  let last = state;

  const ask = async () => {
    try {
      const answer = await fetch(`/jobs/${job}/state${location.search}`);
      if (answer.ok) {
        const now = await answer.json();
        if (now.href) { location.replace(now.href); return; }
        find("job-state").textContent = now.state;
        find("job-told").textContent = now.told;
        find("job-told").hidden = !now.told;
        last = now.told ? "over" : last;
      }
    } catch { /* the server is away; it is asked again */ }
    if (last !== "over") setTimeout(ask, AGAIN_MS);
  };
  setTimeout(ask, AGAIN_MS);
})();
