// "My model among all listed ones": the reader's layers and width are moved through the picture,
// and what the advisor said of the nearest size and depth is shown (model.data.js).
"use strict";

(() => {
  const { depths, pairs, sizes, frame } = depthlawModel;
  const figure = document.getElementById("model");
  const part = (name) => figure.querySelector(name);
  const [form, svg, says] = [part("form"), part("svg"), part(".says")];
  const { layers: layersField, width: widthField, listed } = form.elements;
  const dots = [...figure.querySelectorAll(".model")];
  const number = (value) => value.toLocaleString("en-US");

  // --- between the picture and the fields: both axes are logarithmic ---------------------------

  const share = (value, [low, high]) => Math.log(value / low) / Math.log(high / low);
  const at = (part, [low, high]) => low * (high / low) ** part;
  const along = (part, [from, to]) => from + part * (to - from);
  const x = (width) => along(share(width, frame.widths), frame.x);
  const y = (layers) => along(share(layers, frame.layers), frame.y);
  const nearest = (list, value, of = (one) => one) => list.reduce((best, one) =>
    (Math.abs(Math.log(of(one) / value)) < Math.abs(Math.log(of(best) / value)) ? one : best));

  // Layers and width at a point of the screen.
  function under({ clientX, clientY }) {
    const point = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    const back = (value, [from, to]) => (value - from) / (to - from);
    return [at(back(point.y, frame.y), frame.layers), at(back(point.x, frame.x), frame.widths)];
  }

  // --- what is said ----------------------------------------------------------------------------

  function strong(text, tone) {
    const made = document.createElement("strong");
    made.className = tone;
    made.textContent = text;
    return made;
  }

  function tell(layers, width) {
    const size = 12 * layers * width ** 2; // what is equal along the dashed line
    const known = nearest(sizes, size, (one) => one.size);
    if (Math.abs(Math.log(known.size / size)) > 0.2) {
      part(".best").setAttribute("transform", "translate(-99 -99)");
      says.replaceChildren(`The smallest size here is ${sizes[0].reads} parameters in layers, the `
        + `largest ${sizes.at(-1).reads}.`);
      return;
    }
    const depth = nearest(depths, layers);
    const [place, loss] = pairs[known.says[depths.indexOf(depth)]];
    const net = `${depth} ${depth === 1 ? "layer" : "layers"} of width ${number(width)}: `;
    const inside = place === "inside";
    const tone = inside ? "good" : /trained/.test(place) ? "open" : "bad";
    const where = !place ? [strong("no band", "open"), ", since no losses that we use are near. "]
      : [strong(inside ? "inside the band" : place, tone),
        `${inside ? " of" : "; the band is"} ${known.range}. `];
    const cost = /\d/.test(loss) ? `loss ${loss} at equal size.` : `${loss}.`;
    says.replaceChildren(net, ...where, `Against the ${known.layers} layers of width `
      + `${number(known.width)} that we would build: ${cost} Computed for ${known.reads} parameters `
      + `in layers${known.beyond ? ", outside the sizes compared" : ""}.`);
    part(".best").setAttribute("transform", `translate(${x(known.width)} ${y(known.layers)})`);
  }

  function show() {
    const [layers, width] = [layersField.valueAsNumber, widthField.valueAsNumber];
    if (!(layers >= 1 && layers <= 160 && width >= 1)) {
      says.textContent = "Type 1 to 160 layers, and a width.";
      return;
    }
    const mine = part(".mine");
    mine.setAttribute("transform", `translate(${x(width)} ${y(layers)})`);
    const size = layers * width ** 2;
    const ends = frame.layers.map((depth) => `${x(Math.sqrt(size / depth))} ${y(depth)}`);
    part("path.equal").setAttribute("d", `M${ends.join("L")}`);
    tell(layers, width);
  }

  function choose(layers, width) {
    layersField.value = Math.min(160, Math.max(1, Math.round(layers)));
    widthField.value = Math.max(64, Math.round(width / 64) * 64);
    show();
  }

  // --- by hand, by keyboard --------------------------------------------------------------------

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const field of [layersField, widthField]) {
    field.addEventListener("input", () => { listed.value = ""; show(); });
  }
  const own = ({ dataset }) => [Number(dataset.layers), Number(dataset.width)];
  const pick = (dot) => { [layersField.value, widthField.value] = own(dot); show(); };
  listed.addEventListener("change", () => {
    const named = (dot) => dot.getAttribute("aria-label").split(": ")[0].split(", ");
    const dot = dots.find((one) => named(one).includes(listed.value));
    if (dot) pick(dot);
  });
  // Arrows walk from model to model, narrow to wide; Enter takes one as the reader's.
  svg.addEventListener("keydown", (event) => {
    const place = dots.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (place < 0 || !(step || event.key === "Enter" || event.key === " ")) return;
    event.preventDefault();
    if (!step) { pick(dots[place]); return; }
    const next = dots[(place + step + dots.length) % dots.length];
    dots[place].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  const name = ({ target }) => {
    part(".named").textContent = target.classList.contains("model")
      ? target.getAttribute("aria-label") : "";
  };
  for (const kind of ["pointerover", "focusin"]) svg.addEventListener(kind, name);
  let held = false;
  svg.addEventListener("pointerdown", (event) => {
    held = true;
    svg.setPointerCapture(event.pointerId);
    listed.value = "";
    if (dots.includes(event.target)) pick(event.target); else choose(...under(event));
  });
  svg.addEventListener("pointermove", (event) => { if (held) choose(...under(event)); });
  for (const ending of ["pointerup", "pointercancel"]) {
    svg.addEventListener(ending, () => { held = false; });
  }
  show();
})();
