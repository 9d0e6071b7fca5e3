// The printed k-hop step beside the repaired one, layer by layer, on a word of a and b: every place
// and letter is of the table that the exact nets wrote.
"use strict";

(() => {
  const figure = document.getElementById("khop");
  const { word: first, hops, right, nets } = FIGURES.khop;
  const most = right.a.length - 1;
  const STEP = 39, ROW = 46, TOP = 62;
  const word = Figure.html("input", {
    type: "text", value: first, size: 8, maxlength: 6, autocapitalize: "none", autocomplete: "off",
    spellcheck: "false",
  });
  const k = Figure.choice(Array.from({ length: most }, (_, i) => [String(i + 1), i + 1]), String(hops));
  const layer = Figure.slider(0, 3, 3);
  const drawings = Object.keys(nets).map((net) => [net, Figure.drawing(320, TOP)]);
  const said = Figure.html("p", { class: "said", "aria-live": "polite" });
  const left = (place) => (place ? 34 + (place - 1) * STEP : 8);
  const letter = (text, place) => (place ? text[place - 1] : "nothing");
  const layersOf = (net, text) => nets[net][k.value][text].length - 1;
  const isRight = (net, text) =>
    (nets[net][k.value][text].at(-1)[2] || "nothing") === letter(text, right[text][k.value]);

  // What each letter says after a layer, and where the last one looked for it.
  function boxes(net, text, at) {
    const table = nets[net][k.value];
    const [looked, aim] = table[text][at];
    const mark = at === layersOf(net, text) ? (isRight(net, text) ? "right" : "wrong") : "";
    const y = TOP + at * ROW;
    const parts = [Figure.text(at ? `layer ${at}` : "at first", 258, y + 9, "quiet")];
    if (aim) parts.push(Figure.text(`aims at ${aim}`, 258, y + 22, "quiet"));
    [...text].forEach((_, i) => {
      const [x, own] = [left(i + 1), i + 1 === text.length ? mark : ""];
      const says = table[text.slice(0, i + 1)][at][2] || "–";
      parts.push(Figure.svg("rect", { x: x - 14, y, width: 28, height: 22, rx: 3, class: `token ${own}` }),
        Figure.text(says, x, y + 16, `letter ${own}`, "middle"));
    });
    if (at) {
      const [from, to] = [left(text.length), left(looked)];
      const [start, end] = [y - 2, y - ROW + 25];
      const head = from === to ? `M${to - 5} ${end + 6} L${to} ${end} L${to + 5} ${end + 6}`
        : `M${to - 1} ${end + 9} L${to} ${end} L${to + 9} ${end + 3}`;
      parts.push(Figure.svg("path", { d: `M${from} ${start} L${to} ${end} ${head}`, class: `arrow ${mark}` }));
    }
    return parts;
  }

  function drawNet(net, drawing, text, wanted) {
    const at = Math.min(wanted, layersOf(net, text));
    const [looked, , says] = nets[net][k.value][text][at];
    const parts = [Figure.text(`${net} step`, 8, 18, "large"), Figure.text("^", 8, 50, "quiet", "middle")];
    [...text].forEach((each, i) => parts.push(
      Figure.text(each, left(i + 1), 50, "letter", "middle"),
      Figure.text(i + 1, left(i + 1) + 9, 50, "quiet"),
    ));
    for (let row = 0; row <= at; row++) parts.push(...boxes(net, text, row));
    const looks = looked ? `looks at place ${looked}` : "looks at the start";
    let told = at ? `in layer ${at} the last letter ${looks} and says ${says || "nothing"}`
      : `at first the last letter says ${says || "nothing"}`;
    if (at === layersOf(net, text)) {
      const mark = isRight(net, text) ? "right" : "wrong";
      const answer = `answers ${says || "nothing"}: ${mark} ${mark === "right" ? "✓" : "✗"}`;
      parts.push(Figure.text(answer, 8, TOP + (at + 1) * ROW, `large ${mark}`));
      told += `, which is ${mark}`;
    }
    drawing.replaceChildren(...parts);
    drawing.setAttribute("aria-label", `The ${net} step: ${told}.`);
    return `The ${net} step: ${told}.`;
  }

  function draw() {
    const text = word.value.trim().toLowerCase();
    const known = text in right;
    word.setAttribute("aria-invalid", String(!known));
    if (!known) {
      said.textContent = "Type one to six letters, each a or b.";
      return;
    }
    layer.max = Math.max(...Object.keys(nets).map((net) => layersOf(net, text)));
    for (const [, drawing] of drawings) {
      drawing.setAttribute("viewBox", `0 0 320 ${TOP + (Number(layer.max) + 1) * ROW + 8}`);
    }
    layer.setAttribute("aria-valuetext", Number(layer.value) ? `layer ${layer.value}` : "at first");
    const places = right[text].slice(0, Number(k.value) + 1);
    const passed = places.includes(0) ? places.slice(0, places.indexOf(0) + 1) : places;
    const way = passed.map((place) => (place ? `${letter(text, place)} at ${place}` : "nothing"));
    const told = drawings.map(([net, drawing]) => drawNet(net, drawing, text, Number(layer.value)));
    said.textContent = `Right: ${way.join(", then ")}. ${told.join(" ")}`;
  }

  // Another question is shown to its end.
  function ask() {
    layer.max = 9;
    layer.value = 9;
    draw();
  }

  const controls = Figure.html("div", { class: "controls" },
    Figure.control(figure, "word", "Word of a and b", word),
    Figure.control(figure, "hops", "Hops k", k),
    Figure.control(figure, "layer", "Layer", layer));
  const pair = Figure.html("div", { class: "side-by-side" }, ...drawings.map(([, drawing]) => drawing));
  Figure.replace(figure, controls, pair, said);
  word.addEventListener("input", ask);
  k.addEventListener("input", ask);
  layer.addEventListener("input", draw);
  ask();
})();
