// The card of the front page: the answer for the nearest size that the command has computed.
"use strict";

(() => {
  const form = document.getElementById("advice");
  const field = document.getElementById("advice-size");
  const part = (name) => form.querySelector(name);
  const UNITS = { "": 1, k: 1e3, m: 1e6, b: 1e9, g: 1e9, t: 1e12 };

  // A size as people type it, such as 3B, 350M, 7e9 or 1,300,000,000; NaN for anything else.
  function typed(text) {
    const found = /^(\d[\d,_]*\.?\d*|\.\d+)(e\d+)?\s*([kmbgt]?)(?:r?illion)?$/i.exec(text.trim());
    if (!found) return NaN;
    return Number(found[1].replace(/[,_]/g, "") + (found[2] ?? "")) * UNITS[found[3].toLowerCase()];
  }

  function show() {
    const wanted = typed(field.value);
    const away = ([number]) => Math.abs(Math.log(number / wanted));
    const [least, most] = [depthlawAdvice[0], depthlawAdvice.at(-1)];
    const readable = wanted > 0;
    const covered = readable && wanted >= least[0] * 0.96 && wanted <= most[0] * 1.04;
    field.setAttribute("aria-invalid", String(!covered));
    const near = covered
      && depthlawAdvice.reduce((best, row) => (away(row) < away(best) ? row : best));
    part(".headline").textContent = near ? near[2] : readable
      ? `This page holds sizes from ${least[1]} to ${most[1]}.` : "Type a size, such as 3B or 350M.";
    part(".sure").textContent = near ? near[3] : "";
    part(".from").hidden = !near && !readable;
    part(".from span").textContent = near ? near[1] : readable ? field.value.trim() : "";
    part(".from b").textContent = !near ? "For others type"
      : near[0] === wanted ? "Computed by" : "The nearest size computed:";
    for (const button of form.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(Boolean(near) && typed(button.value) === near[0]));
    }
  }

  part(".still").hidden = true;
  field.hidden = part(".examples").hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("input", show);
  form.addEventListener("click", ({ target }) => {
    if (target.tagName !== "BUTTON") return;
    field.value = target.value;
    show();
  });
  show();
})();
