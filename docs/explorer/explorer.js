// The explorer: controls, plots and tables over the data that the package computed (data.js).
"use strict";

const data = window.depthlaw;
const grids = data.grids;
const CLAIMS = "../claims/";
const byId = (id) => document.getElementById(id);

// What is chosen, by control: a place in a grid, but for depth (layers).
const place = (list, value) => list.indexOf(value);
const state = {
  budget: place(grids.budgets, "3B"), width: place(grids.widths, 3072), heads: 0, depth: 31,
  dimension: place(grids.widths, 4), layers: 3,
  start: place(grids.starts, "1/10"), beta: place(grids.betas, "1"), task: 0, size: 0,
};
const tasks = Object.keys(grids.sizes);
const sizes = () => grids.sizes[tasks[state.task]];
state.size = Math.floor(sizes().length / 2);

// --- numbers in print ------------------------------------------------------------------------

const number = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 1 });
const layers = (value) => `${number(value)} ${value === 1 ? "layer" : "layers"}`;
const power = (base, value) => `${base}^${number(value)}`;
// On an axis a power of ten takes less room than its zeros.
const short = (value) => value < 1e5 ? d3.format(",")(value) : power(10, Math.log10(value));
// A residual from its orders of magnitude below 1.
const residual = (orders) => Math.abs(orders) < 4 ? String(Number((10 ** -orders).toPrecision(2)))
  : power(10, -orders);
const size = (value) => d3.format("~s")(value).replace("G", "B");
const plural = (value, what) => `${value} ${what}${value === 1 ? "" : "s"}`;

// --- controls --------------------------------------------------------------------------------

// Of each control: what there is to choose from, and how one of it reads.
const controls = {
  budget: { list: grids.budgets }, width: { list: grids.widths, says: number },
  dimension: { list: grids.widths, says: number },
  depth: { list: d3.range(129), least: 1, says: layers },
  layers: { list: d3.range(129), least: 1, says: layers }, heads: { list: grids.heads },
  start: { list: grids.starts }, beta: { list: grids.betas },
  size: { list: sizes, says: number }, task: { list: tasks },
};
const listOf = (name) => {
  const { list } = controls[name];
  return typeof list === "function" ? list() : list;
};
const reads = (name, place) => (controls[name].says ?? String)(listOf(name)[place]);
const limits = { layers: grids.layers, collapse: grids.collapse };
const most = (input) => {
  const own = input.dataset.max;
  return own ? limits[own] ?? Number(own) : listOf(input.dataset.control).length - 1;
};

function prepare() {
  for (const select of document.querySelectorAll("select[data-control]")) {
    listOf(select.dataset.control).forEach((_, place) =>
      select.add(new Option(reads(select.dataset.control, place), place)));
  }
  for (const input of document.querySelectorAll("[data-control]")) {
    input.addEventListener("input", () => {
      const name = input.dataset.control;
      state[name] = Number(input.value);
      if (name === "task") state.size = Math.min(state.size, sizes().length - 1);
      remember();
      update(name);
    });
  }
  for (const form of document.querySelectorAll("form")) {
    form.addEventListener("submit", (event) => event.preventDefault());
  }
}

// Every control that shows one part of the state agrees with it.
function show() {
  for (const input of document.querySelectorAll("[data-control]")) {
    const name = input.dataset.control;
    if (input.type === "range") {
      input.min = controls[name].least ?? 0;
      input.max = most(input);
      input.value = state[name];
      const says = reads(name, Number(input.value));
      input.setAttribute("aria-valuetext", says);
      input.parentElement.querySelector("output").textContent = says;
    } else {
      input.value = state[name];
    }
  }
  const size = byId("tasks-size").labels[0];
  size.textContent = { diameter: "Diameter D", hops: "Hops k", length: "Length n" }[
    grids.options[tasks[state.task]]];
}

// --- the settings in the address, so that a view can be sent -----------------------------------

const usual = { ...state };

function remember() {
  const chosen = new URLSearchParams();
  for (const [name, at] of Object.entries(state)) {
    if (at !== usual[name] || (name === "size" && state.task !== usual.task)) {
      chosen.set(name, listOf(name)[at]);
    }
  }
  try {
    history.replaceState(null, "", `#${chosen}`);
  } catch { /* a file that is opened from the disk, in some browsers */ }
}

function recall() {
  if (!location.hash.includes("=")) return;
  const chosen = new URLSearchParams(location.hash.slice(1));
  // The size last: what there is of them depends on the task.
  for (const name of [...Object.keys(controls).filter((n) => n !== "size"), "size"]) {
    const text = chosen.get(name);
    if (text === null) {
      state[name] = name === "size" ? Math.min(usual.size, sizes().length - 1) : usual[name];
    } else {
      const place = listOf(name).map(String).indexOf(text);
      if (place >= (controls[name].least ?? 0)) state[name] = place;
    }
  }
}

// --- what each panel shows -------------------------------------------------------------------

const budget = () => grids.budgets[state.budget];
const width = () => grids.widths[state.width];
// That of nets whose ranks are counted: real ones are wider than any rank is known for.
const dimension = () => grids.widths[state.dimension];
// No more heads than the width has.
const heads = () => Math.max(
  ...grids.heads.slice(0, state.heads + 1).filter((h) => h <= dimension()));
// The net that is recommended for the budget: layers, width, heads.
const shape = () => data.rules.shapes[state.budget];

const log = (values) => ({ type: "log", domain: d3.extent(values) });
const decades = (top) => [0, 1, ...d3.range(1, 9).map((k) => 10 ** k)].filter((y) => y <= top);

// Each: curves, the data of each, axes, the place that is marked, and a sentence.
const panels = {
  rules() {
    const { curves, series, x } = data.rules;
    const [deep, wide, headed] = shape();
    const here = grids.parameters[state.budget];
    return {
      curves, series, shared: x,
      x: { ...log(x), label: "all parameters", ticks: d3.range(7, 13).map((k) => 10 ** k),
        tickFormat: size },
      y: { type: "log", base: 2, domain: [1, 640], label: "layers",
        ticks: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
        tickFormat: String },
      at: { x: here, says: `at ${budget()}` },
      marked: [{ x: here, y: deep }],
      value: layers,
      says: `${budget()}: ${layers(deep)} of width ${number(wide)}, ${plural(headed, "head")}.`,
    };
  },
  thresholds() {
    const { curves, series, equal } = data.thresholds;
    const [deep, wide] = shape();
    const there = { ...series, budget: equal[state.budget],
      recommended: { x: [wide], y: [deep], text: [`recommended for ${budget()}`] } };
    const floor = series.threshold.y[state.width];
    const knee = series.knee.y[state.width];
    const where = state.depth < floor ? "below the threshold"
      : state.depth < knee ? "between threshold and knee" : "at or beyond the knee";
    return {
      curves, series: there,
      x: { type: "log", base: 2, domain: [2, grids.widths.at(-1)], label: "width d",
        ticks: [2, 4, 16, 64, 256, 1024, 4096, 16384], tickFormat: d3.format(",") },
      y: { type: "log", base: 2, domain: [0.5, 140], label: "depth L",
        ticks: [1, 2, 4, 8, 16, 32, 64, 128], tickFormat: String },
      at: { x: width(), says: `at d = ${number(width())}` },
      marked: [{ x: width(), y: state.depth }],
      value: layers,
      says: `Width ${number(width())}, ${layers(state.depth)}: ${where} (threshold `
        + `${number(floor)}, knee ${number(knee)}).`,
    };
  },
  ranks() {
    const depth = Math.min(state.layers, grids.layers);
    const frame = data.ranks.frames[`${dimension()},${heads()}`];
    const top = d3.max(data.ranks.curves, ({ key }) => d3.max(values(frame[key])) ?? 0);
    const less = heads() < grids.heads[state.heads]
      ? ` No more heads than the width: ${heads()}.` : "";
    return {
      curves: data.ranks.curves, series: frame, shared: d3.range(1, grids.layers + 1),
      x: { domain: [0.5, grids.layers + 0.5], label: "depth L", ticks: d3.range(2, 21, 2),
        tickFormat: String },
      y: { type: "symlog", label: "log₃ of the rank", domain: [0, top], ticks: decades(top),
        tickFormat: short },
      at: { x: depth, says: `at L = ${depth}` },
      value: (y) => y > 0 ? power(3, y) : "says nothing",
      silent: "does not apply",
      says: `Width ${number(dimension())}, ${plural(heads(), "head")}, ${layers(depth)}: the `
        + `dimension count allows a rank up to ${power(3, frame.S[depth - 1])}.${less}`,
    };
  },
  collapse() {
    const depth = Math.min(state.layers, grids.collapse);
    const chosen = grids.heads[state.heads];
    const [begin, beta] = [grids.starts[state.start], grids.betas[state.beta]];
    const frame = data.collapse.frames[`${begin},${beta},${chosen}`];
    const there = { ...frame, ...data.collapse.series };
    const top = d3.max(frame.alone);
    const low = Math.min(0, d3.min(frame.skip), d3.min(frame.causal));
    const [alone, skip] = [frame.alone, frame.skip].map((each) => residual(each[depth]));
    return {
      curves: data.collapse.curves, series: there, shared: d3.range(0, grids.collapse + 1),
      x: { domain: [-0.3, grids.collapse + 0.3], label: "layers",
        ticks: d3.range(0, grids.collapse + 1, 2), tickFormat: String },
      y: { type: "symlog", label: "orders of magnitude below 1", domain: [low, top],
        ticks: decades(top), tickFormat: short },
      at: { x: depth, says: `after ${layers(depth)}` },
      value: residual,
      silent: "says nothing here",
      says: `Residual ${begin}, ${plural(chosen, "head")}, beta ${beta}: after ${layers(depth)} `
        + `${alone} by attention alone, ${skip} with skip connections.`,
    };
  },
  tasks() {
    const task = tasks[state.task];
    const chosen = sizes()[state.size];
    const name = { diameter: "diameter D", hops: "hops k", length: "length n" }[
      grids.options[task]];
    return {
      curves: data.tasks.curves[task], series: data.tasks.series[task],
      x: { ...log(sizes()), base: 2, label: name, tickFormat: d3.format(","),
        ticks: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536].filter(
          (x, place, all) => x <= sizes().at(-1) && (sizes().at(-1) < 1100 || place % 2 === 0)) },
      y: { label: "layers", domain: [0, 4 + d3.max(Object.values(data.tasks.series[task]),
        (each) => d3.max(each.y))], tickFormat: String },
      at: { x: chosen, says: `at ${number(chosen)}` },
      level: state.layers,
      value: layers,
      says: `${name[0].toUpperCase()}${name.slice(1)} = ${number(chosen)}. The horizontal line is `
        + `your depth, ${layers(state.layers)}.`,
    };
  },
};

// --- curves as points ------------------------------------------------------------------------

const values = (found) => (Array.isArray(found) ? found : found?.y ?? [])
  .filter((y) => y !== null && y !== undefined);

function points(found, shared, curve) {
  if (!found) return [];
  if (curve.mark === "band") {
    return shared.map((x, at) => ({ x, y: found.high[at], low: found.low[at],
      text: found.text[at] })).filter(({ y }) => y !== null);
  }
  if (curve.mark === "rule") return found.x.map((x) => ({ x }));
  const [xs, ys] = Array.isArray(found) ? [shared, found] : [found.x ?? shared, found.y];
  return ys.map((y, at) => ({ x: xs[at], y, low: found.low?.[at], text: found.text?.[at] }))
    .filter(({ y }) => y !== null);
}

// The value of a curve at the marked place; null where it has none there.
function valueAt(found, x, curve) {
  if (curve.mark === "rule") return found[0] ? { rule: found[0].x } : null;
  const exact = found.find((point) => point.x === x);
  if (exact || curve.mark !== "step") return exact ?? null;
  return found.findLast((point) => point.x <= x) ?? null;
}

function said(point, view, curve) {
  if (!point) return curve.mark === "line" && view.silent ? view.silent : "";
  if ("rule" in point) return number(point.rule);
  if (point.text) return point.text;
  return view.value(point.y);
}

// --- drawing ---------------------------------------------------------------------------------

const colour = (curve) => `var(--c${curve.colour})`;
const SYMBOLS = { dots: "circle", rings: "circle", crosses: "times" };

function marksOf(curve, found, view) {
  const stroke = colour(curve);
  const xy = { x: "x", y: "y" };
  switch (curve.mark) {
    case "rule":
      return [Plot.ruleX(found, { x: "x", stroke, strokeDasharray: curve.dash || null })];
    case "band":
      return [Plot.areaY(found, { x: "x", y1: "low", y2: "y", fill: stroke, fillOpacity: 0.15 })];
    case "dots": case "rings": case "crosses":
      return [Plot.ruleX(found.filter(({ low, y }) => low !== undefined && low !== y),
        { x: "x", y1: "low", y2: "y", stroke, strokeWidth: 2 }),
      Plot.dot(found, { ...xy, symbol: SYMBOLS[curve.mark], r: 4, stroke,
        strokeWidth: curve.mark === "dots" ? 1 : 2, fill: curve.mark === "dots" ? stroke : "none",
        fillOpacity: curve.colour === 5 ? 0.35 : 0.9 })];
    default:
      return [Plot.line(found, { ...xy, stroke, strokeWidth: 2, clip: true,
        strokeDasharray: curve.dash || null, curve: curve.mark === "step" ? "step-after" : "linear",
      })];
  }
}

function picture(view, label, room) {
  const all = view.curves.map((curve) => [curve, points(view.series[curve.key], view.shared, curve)]);
  const tips = all.flatMap(([curve, found]) => curve.mark === "rule" ? [] : found.map((point) => ({
    ...point, title: `${curve.label}\n${said(point, view, curve)}` })));
  const { at, level, marked = [] } = view;
  const narrow = room < 480;
  const svg = Plot.plot({
    width: room, height: Math.round(Math.min(440, Math.max(300, room * 0.55))),
    marginLeft: 52, marginRight: 92, marginBottom: 42, marginTop: 26,
    style: { fontSize: "13px", background: "transparent", color: "var(--ink)" },
    ariaLabel: label,
    x: { grid: true, labelAnchor: "center", labelArrow: "none", nice: false,
      ...view.x, ticks: narrow && view.x.ticks ? view.x.ticks.filter(
        (_, place) => view.x.ticks.length <= 7 || place % 2 === 0) : view.x.ticks },
    y: { grid: true, labelArrow: "none", ...view.y },
    marks: [
      Plot.ruleX([at.x], { stroke: "var(--quiet)", strokeWidth: 1.5 }),
      ...(level === undefined ? [] : [Plot.ruleY([level], { stroke: "var(--quiet)", strokeWidth: 1.5 })]),
      ...all.flatMap(([curve, found]) => marksOf(curve, found, view)),
      Plot.dot(marked, { x: "x", y: "y", symbol: "plus", r: 9, stroke: "var(--ink)",
        strokeWidth: 3 }),
      Plot.tip(tips, Plot.pointer({ x: "x", y: "y", title: "title", fill: "var(--paper)",
        stroke: "var(--line)", maxRadius: 30 })),
    ],
  });
  svg.append(...names(svg, all));
  return svg;
}

// The name of each curve beside its last visible point, pushed apart; of a vertical line on top.
function names(svg, all) {
  const [x, y] = [svg.scale("x"), svg.scale("y")];
  const [low, high] = d3.extent(y.range);
  const within = (value, [least, most]) => value >= least - 0.5 && value <= most + 0.5;
  const ends = [];
  for (const [curve, found] of all) {
    if (!curve.short || !found.length) continue;
    if (curve.mark === "rule") {
      ends.push({ curve, x: x.apply(found[0].x) + 4, y: low + 9 });
      continue;
    }
    const seen = found.map((point) => ({ x: x.apply(point.x), y: y.apply(point.y) }))
      .filter((at) => within(at.x, d3.extent(x.range)) && within(at.y, [low, high]));
    if (seen.length) ends.push({ curve, x: seen.at(-1).x + 6, y: seen.at(-1).y });
  }
  ends.sort((one, other) => one.y - other.y);
  ends.forEach((end, place) => {
    const near = ends.slice(0, place).filter((one) => Math.abs(one.x - end.x) < 80);
    end.y = Math.max(end.y, ...near.map((one) => one.y + 13));
  });
  return ends.map(({ curve, x: across, y: down }) => {
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    for (const [name, value] of Object.entries({ x: across, y: Math.min(down, high + 8), dy: "0.32em",
      class: "name", fill: colour(curve), "text-anchor": "start" })) text.setAttribute(name, value);
    text.textContent = curve.short;
    return text;
  });
}

// --- tables ----------------------------------------------------------------------------------

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null));
  return made;
};

function swatch(curve) {
  const mark = {
    band: `<rect x="1" y="2" width="32" height="10" fill="${colour(curve)}" opacity=".25"/>`,
    rule: `<line x1="17" x2="17" y1="0" y2="14" stroke="${colour(curve)}" stroke-width="2" stroke-dasharray="${curve.dash}"/>`,
    dots: `<circle cx="17" cy="7" r="4" fill="${colour(curve)}"/>`,
    rings: `<circle cx="17" cy="7" r="4" fill="none" stroke="${colour(curve)}" stroke-width="2"/>`,
    crosses: `<path d="M13 3l8 8m0-8l-8 8" stroke="${colour(curve)}" stroke-width="2.5"/>`,
  }[curve.mark] ?? `<line x1="0" x2="34" y1="7" y2="7" stroke="${colour(curve)}" stroke-width="3" stroke-dasharray="${curve.dash}"/>`;
  const cell = element("td");
  cell.innerHTML = `<svg class="swatch" viewBox="0 0 34 14" aria-hidden="true">${mark}</svg>`;
  return cell;
}

const TONES = { PROVED: "good", ARGUED: "good", HOLDS: "good", FAILS: "bad",
  "FAILS (as reported)": "bad", "FAILS (as recalled)": "bad", "READING FAILS": "bad",
  "PREMISE REFUTED": "bad" };

function linked(named) {
  const claim = data.claims[named];
  return element("a", { href: `${CLAIMS}${claim.key}.html` }, claim.title);
}

function behind(named) {
  const claim = data.claims[named];
  const link = linked(named);
  const verdict = element("span", { class: `verdict ${TONES[claim.verdict.replace("*", "")] ?? "open"}` },
    claim.verdict);
  const suite = claim.suite ? `, suite ${claim.suite}` : "";
  const wording = element("span", { class: "wording" }, ` (${claim.wording}${suite})`);
  return element("p", { class: "claim" }, verdict, " ", link, wording);
}

// A claim on something else than the curve: its verdict would be read as one on the curve.
function related(named) {
  return element("p", { class: "related" }, "related: ", linked(named));
}

function legend(view) {
  const head = element("thead", {}, element("tr", {},
    ...["Mark", "Curve", view.at.says, "Verdict and claim behind it"].map((text) =>
      element("th", { scope: "col" }, text))));
  const body = element("tbody");
  for (const curve of view.curves) {
    const found = points(view.series[curve.key], view.shared, curve);
    const value = said(valueAt(found, view.at.x, curve), view, curve);
    body.append(element("tr", found.length ? {} : { class: "silent" }, swatch(curve),
      element("td", {}, curve.label),
      element("td", { class: "value", "data-at": value ? `${view.at.says}: ` : "" }, value),
      element("td", {}, ...(curve.claims.length ? curve.claims.map(behind)
        : [element("p", { class: "wording" }, `no verdict on this curve: ${curve.basis}`)]),
      ...curve.related.map(related))));
  }
  return element("table", { class: "legend" }, element("caption", {},
    "What is drawn, and what stands behind it"), head, body);
}

function numbers(view) {
  const body = element("tbody");
  for (const curve of view.curves) {
    for (const point of points(view.series[curve.key], view.shared, curve)) {
      const y = "y" in point ? said(point, view, curve) : "";
      body.append(element("tr", {}, element("td", {}, curve.label),
        element("td", { class: "value" }, number(point.x)), element("td", { class: "value" }, y)));
    }
  }
  return element("table", {}, element("thead", {}, element("tr", {},
    ...["Curve", view.x.label, view.y.label].map((text) =>
      element("th", { scope: "col" }, text)))), body);
}

// --- panels on the page ----------------------------------------------------------------------

const drawn = {};

function build(name) {
  const place = document.querySelector(`[data-panel="${name}"]`);
  const says = element("p", { class: "says", role: "status", id: `${name}-says` });
  const plot = element("div", { class: "plot", id: `${name}-plot` });
  const table = element("div", { id: `${name}-legend` });
  const rest = element("div", { class: "scroll", tabindex: "0", role: "region",
    "aria-label": `Numbers of the plot: ${name}` });
  const details = element("details", { id: `${name}-numbers` },
    element("summary", {}, "The numbers as a table"), rest);
  place.append(says, plot, table, details);
  drawn[name] = { says, plot, table, rest, details };
  details.addEventListener("toggle", () => render(name));
  new ResizeObserver(() => {
    if (Math.round(plot.clientWidth) !== drawn[name].room) render(name);
  }).observe(plot);
}

function render(name) {
  const parts = drawn[name];
  const view = panels[name]();
  parts.room = Math.round(parts.plot.clientWidth);
  if (!parts.room) return;
  const svg = picture(view, view.says, parts.room);
  // One picture with one name: what is inside has no role of its own.
  svg.setAttribute("role", "img");
  for (const part of svg.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
  parts.plot.replaceChildren(svg);
  if (parts.says.textContent !== view.says) parts.says.textContent = view.says;
  // A link that has the focus is not taken away under it.
  if (!parts.table.contains(document.activeElement)) parts.table.replaceChildren(legend(view));
  if (parts.details.open) parts.rest.replaceChildren(numbers(view));
}

// The commands that answer for a size of one's own.
function commands() {
  byId("rules-command").textContent = `depthlaw depth ${budget()}`;
  const name = tasks[state.task];
  byId("tasks-command").textContent = `depthlaw depth --task ${name} --${grids.options[name]} ${
    sizes()[state.size]}`;
}

// Which panels show what a control chooses.
const shown = {
  budget: ["rules", "thresholds"], width: ["thresholds"], depth: ["thresholds"],
  dimension: ["ranks"], heads: ["ranks", "collapse"], start: ["collapse"], beta: ["collapse"],
  layers: ["ranks", "collapse", "tasks"], task: ["tasks"], size: ["tasks"],
};

function update(control) {
  show();
  commands();
  for (const name of control ? shown[control] : Object.keys(panels)) render(name);
}

function begin() {
  const { tokens, width: wide } = data.collapse.net;
  byId("collapse-note").textContent = `The net has ${tokens} tokens of width ${wide}, weights drawn `
    + "at random with norms of size beta, no feed-forward layers. The bound needs small logits and "
    + "is drawn where it lies below 1. The scale is linear below 1 and logarithmic above. Nets of "
    + "BERT's shape have another residual, relative to the tokens, which no slider changes.";
  byId("about").textContent = `depthlaw ${data.about.version}; verdicts and measured values from `
    + `${number(data.about.records)} records, manifest ${data.about.manifest}. Plots by D3 and `
    + "Observable Plot. Nothing is fetched.";
  prepare();
  recall();
  for (const name of Object.keys(panels)) build(name);
  update();
  window.addEventListener("hashchange", () => { recall(); update(); });
}

begin();
