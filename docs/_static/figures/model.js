// "My model among all listed ones": the reader's layers and width are moved through the picture,
// and what the advisor said of the nearest size and depth is shown.
"use strict";

(() => {
  const { start, models, depths, pairs, sizes, widths, layers: deep, x: across, y: up } = FIGURES.model;
  const figure = document.getElementById("model");
  const svg = figure.querySelector(".still svg");
  const part = (name) => svg.querySelector(name);
  const number = (value) => value.toLocaleString("en-US");
  const first = models.find(([, , names]) => names.includes(start));
  const field = (value, least, most, step) => Figure.html("input",
    { type: "number", min: least, max: most, step, value });
  const layersField = field(first[0], 1, depths.at(-1), 1);
  const widthField = field(first[1], 64, 32768, 64);
  const names = models.flatMap(([, , all]) => all);
  const listed = Figure.choice([["", "choose"], ...names.map((name) => [name, name])], "");
  const said = Figure.html("p", { class: "said", "aria-live": "polite" });
  const named = Figure.html("p", { class: "named", "aria-hidden": "true" });
  const away = "translate(-99 -99)";

  // --- between the picture and the fields: both axes are logarithmic ---------------------------

  const place = (value, [low, high], [from, to]) =>
    from + (Math.log(value / low) / Math.log(high / low)) * (to - from);
  const value = (place, [low, high], [from, to]) =>
    low * (high / low) ** ((place - from) / (to - from));
  const at = (layers, width) => [place(width, widths, across), place(layers, deep, up)];
  const move = (layers, width) => `translate(${at(layers, width).join(" ")})`;
  const apart = (one, other) => Math.abs(Math.log(one / other));
  const nearest = (list, wanted, of = (one) => one) => list.reduce((best, one) =>
    (apart(of(one), wanted) < apart(of(best), wanted) ? one : best));

  // Layers and width at a point of the screen.
  function under({ clientX, clientY }) {
    const point = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [value(point.y, deep, up), value(point.x, widths, across)];
  }

  // --- what is said ----------------------------------------------------------------------------

  // A number of parameters in three digits, as the data have it.
  function reads(count) {
    const [unit, letter] = [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"]]
      .find(([least]) => count >= least * 0.9995);
    return `${Number((count / unit).toPrecision(3))}${letter}`;
  }

  function tell(layers, width) {
    const size = 12 * layers * width ** 2; // what is equal along the dashed line
    const known = nearest(sizes, size, (one) => one.size);
    part(".best").setAttribute("transform", away);
    if (apart(known.size, size) > 0.2) {
      said.textContent = `The smallest size here is ${sizes[0].reads} parameters in layers, the `
        + `largest ${sizes.at(-1).reads}.`;
      return;
    }
    part(".best").setAttribute("transform", move(known.layers, known.width));
    const depth = nearest(depths, layers);
    const [where, loss] = pairs[known.says[depths.indexOf(depth)]];
    const tone = where === "inside" ? "good" : !where || /trained/.test(where) ? "open" : "bad";
    const word = { "": "no band", inside: "inside the band" }[where] ?? where;
    const band = !where ? ", since no losses that we use are near"
      : `${where === "inside" ? " of" : "; the band is"} ${known.range}`;
    const cost = /\d/.test(loss) ? `estimated loss ${loss} at equal size` : loss;
    // A loss below that of the recommended depth, at both ends of its interval.
    const better = loss.startsWith("-") && !/ to [+\d]/.test(loss) ? ", so by this estimate yours is no worse" : "";
    const off = reads(size) === known.reads ? "" : ` (yours has ${reads(size)})`;
    said.replaceChildren(`${depth} ${depth === 1 ? "layer" : "layers"} of width ${number(width)}: `,
      Figure.html("strong", { class: tone }, word),
      `${band}. We would build ${known.layers} layers of width ${number(known.width)}. `
      + `Yours against them: ${cost}${better}. Computed for ${known.reads} parameters in layers`
      + `${off}${known.beyond ? ", outside the sizes compared" : ""}.`);
  }

  function show() {
    const [layers, width] = [layersField.valueAsNumber, widthField.valueAsNumber];
    if (!(layers >= 1 && layers <= depths.at(-1) && width >= 1)) {
      said.textContent = `Type 1 to ${depths.at(-1)} layers, and a width.`;
      return;
    }
    part(".mine").setAttribute("transform", move(layers, width));
    const ends = deep.map((depth) => at(depth, Math.sqrt(layers * width ** 2 / depth)).join(","));
    part(".equal").setAttribute("points", ends.join(" "));
    tell(layers, width);
  }

  function take(layers, width, name = "") {
    layersField.value = Math.min(depths.at(-1), Math.max(1, Math.round(layers)));
    widthField.value = Math.max(64, Math.round(width));
    listed.value = name;
    show();
  }

  // --- by hand, by keyboard --------------------------------------------------------------------

  const dots = [...svg.querySelectorAll(".shape")];
  const ofDot = (dot) => models[dots.indexOf(dot)];
  svg.setAttribute("role", "group");
  dots.forEach((dot, i) => {
    dot.setAttribute("role", "img");
    dot.setAttribute("aria-label", dot.textContent);
    dot.tabIndex = i ? -1 : 0;
  });
  for (const input of [layersField, widthField]) {
    input.addEventListener("input", () => { listed.value = ""; show(); });
  }
  listed.addEventListener("change", () => {
    const found = models.find(([, , all]) => all.includes(listed.value));
    if (found) take(found[0], found[1], listed.value);
  });
  // Arrows walk from model to model, narrow to wide; Enter takes one as the reader's.
  svg.addEventListener("keydown", (event) => {
    const here = dots.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (here < 0 || !(step || event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    if (!step) { take(...models[here].slice(0, 2)); return; }
    const next = dots[(here + step + dots.length) % dots.length];
    [dots[here].tabIndex, next.tabIndex] = [-1, 0];
    next.focus();
  });
  for (const kind of ["pointerover", "focusin"]) {
    svg.addEventListener(kind, ({ target }) => {
      named.textContent = dots.includes(target) ? target.textContent : "";
    });
  }
  let held = false;
  svg.addEventListener("pointerdown", (event) => {
    held = true;
    svg.setPointerCapture(event.pointerId);
    const [layers, width] = ofDot(event.target) ?? under(event);
    take(layers, width);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [layers, width] = under(event);
    take(layers, Math.round(width / 64) * 64);
  });
  for (const ending of ["pointerup", "pointercancel"]) {
    svg.addEventListener(ending, () => { held = false; });
  }
  Figure.replace(figure, Figure.html("div", { class: "controls" },
    Figure.control(figure, "layers", "Layers", layersField),
    Figure.control(figure, "width", "Width", widthField),
    Figure.control(figure, "listed", "or a listed one", listed)), said, svg, named);
  show();
})();
