// How far L layers see on a ring: by hand 3^L steps; trained nets, one by one, in the chart.
"use strict";

(() => {
  const figure = document.getElementById("ring");
  const { vertices, reach, nets } = FIGURES.ring;
  const FARTHEST = 13;
  const layers = Figure.slider(1, reach.length - 1, 2);
  const kind = Figure.choice([["softmax", "softmax"], ["linearised", "linearised"]], "softmax");
  const seed = Figure.choice([["all", "all"]], "all");
  const ring = Figure.drawing(320, 300);
  const chart = Figure.drawing(320, 300);
  const said = Figure.html("p", { class: "said", "aria-live": "polite" });

  const plural = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const percent = (share) => `${Math.round(100 * share)} %`;
  const middle = ([, low, high]) => (low + high) / 2;

  function drawRing(L) {
    const seen = Math.min(reach[L], vertices / 2);
    const count = Math.min(2 * reach[L] + 1, vertices);
    const parts = [];
    for (let vertex = 0; vertex < vertices; vertex++) {
      const distance = Math.min(vertex, vertices - vertex);
      const angle = (2 * Math.PI * vertex) / vertices;
      const at = (radius) => [160 + radius * Math.sin(angle), 150 - radius * Math.cos(angle)];
      const [x, y] = at(118);
      const title = Figure.svg("title", {}, `distance ${distance}: ${distance <= seen ? "seen" : "not seen"}`);
      parts.push(vertex === 0
        ? Figure.svg("rect", { x: x - 8, y: y - 8, width: 16, height: 16, class: "source" }, title)
        : Figure.svg("circle", { cx: x, cy: y, r: distance <= seen ? 7 : 3.5, class: distance <= seen ? "seen" : "unseen" }, title));
      if (vertex <= vertices / 2 && [1, 3, 9, 20].includes(distance)) {
        const [a, b] = at(138);
        parts.push(Figure.text(distance, a, b + 4, "quiet", "middle"));
      }
    }
    const farther = reach[L] > vertices / 2;
    parts.push(Figure.text(`sees ${reach[L]}`, 160, 146, "large", "middle"));
    parts.push(Figure.text(`${plural(L, "layer")} by hand`, 160, 164, "", "middle"));
    parts.push(Figure.text(farther ? "the whole ring" : `${count} of ${vertices} vertices`, 160, 180, "quiet", "middle"));
    ring.replaceChildren(...parts);
    ring.setAttribute("aria-label", `Ring of ${vertices} vertices, of which ${plural(L, "layer")} written by hand see ${count}.`);
    return count;
  }

  function drawChart(L, shown, chosen) {
    const at = (distance, share) => [52 + ((distance - 1) * 254) / (FARTHEST - 1), 255 - ((share - 0.4) * 210) / 0.6];
    const parts = [Figure.text("share of right answers", 8, 14)];
    parts.push(Figure.line([[44, 34], [44, 255], [312, 255]], "rule"));
    for (const share of [0.5, 0.75, 1]) {
      const y = at(1, share)[1];
      parts.push(Figure.line([[44, y], [312, y]], "rule"), Figure.text(percent(share), 40, y + 4, "", "end"));
    }
    parts.push(Figure.text("a coin", 310, at(1, 0.5)[1] + 14, "quiet", "end"));
    for (let d = 1; d <= FARTHEST; d += 2) parts.push(Figure.text(d, at(d, 0)[0], 270, "", "middle"));
    parts.push(Figure.text("distance in the cycle", 180, 288, "", "middle"));
    const last = Math.min(reach[L], FARTHEST);
    const beyond = last < FARTHEST ? [at(last, 0.5), at(FARTHEST, 0.5)] : [];
    parts.push(Figure.line([at(1, 1), at(last, 1), ...beyond], "hand"));
    parts.push(Figure.text("by hand", 54, at(1, 1)[1] - 6));
    for (const net of shown) {
      const one = net === chosen;
      const name = `${net.net} ${chosen ? (one ? "chosen" : "thin") : ""}`;
      parts.push(Figure.line(net.shares.map((point) => at(point[0], middle(point))), name));
      for (const [d, low, high] of one ? net.shares : []) {
        const [x] = at(d, low);
        parts.push(Figure.svg("line", { x1: x, x2: x, y1: at(d, low)[1], y2: at(d, high)[1], class: `ends ${net.net}` }));
      }
    }
    if (!shown.length) parts.push(Figure.text("no net of four layers was trained for this", 175, 140, "quiet", "middle"));
    chart.replaceChildren(...parts);
    chart.setAttribute("aria-label", `Share of right answers by distance, ${plural(shown.length, "trained net")}.`);
  }

  function draw() {
    const L = Number(layers.value);
    const shown = nets.filter((net) => net.layers === L && net.net === kind.value);
    const wanted = seed.value;
    seed.replaceChildren(new Option("all", "all"), ...shown.map((net) => new Option(net.seed, net.seed)));
    seed.value = shown.some((net) => String(net.seed) === wanted) ? wanted : "all";
    const chosen = shown.find((net) => String(net.seed) === seed.value);
    layers.setAttribute("aria-valuetext", plural(L, "layer"));
    const count = drawRing(L);
    drawChart(L, shown, chosen);
    const hand = `Written by hand, ${plural(L, "layer")} see${L === 1 ? "s" : ""} ${reach[L]} steps: ${count} of ${vertices} vertices.`;
    said.textContent = `${hand} ${trained(L, shown, chosen)}`;
  }

  // What the trained nets do on both sides of 3^L, where they were asked.
  function trained(L, shown, chosen) {
    if (!shown.length) return "";
    const asked = shown[0].shares.map((point) => point[0]);
    const places = [reach[L], reach[L] + 1].filter((d) => asked.includes(d));
    const at = (net, d) => middle(net.shares.find((point) => point[0] === d));
    const from = places.length ? places : [asked[0], asked[asked.length - 1]];
    const told = from.map((d) => {
      const shares = (chosen ? [chosen] : shown).map((net) => at(net, d)).sort((a, b) => a - b);
      const [low, high] = [percent(shares[0]), percent(shares[shares.length - 1])];
      return `on ${low === high ? low : `${low} to ${high}`} at distance ${d}`;
    });
    const who = chosen ? `The trained ${kind.value} net of seed ${chosen.seed} is` : shown.length === 1
      ? `The one trained ${kind.value} net is` : `The ${shown.length} trained ${kind.value} nets are`;
    return `${who} right ${told.join(" and ")} (${shown[0].updates.toLocaleString("en")} updates).`;
  }

  const controls = Figure.html("div", { class: "controls" },
    Figure.control(figure, "layers", "Layers", layers),
    Figure.control(figure, "kind", "Trained nets", kind),
    Figure.control(figure, "seed", "Seed", seed));
  Figure.replace(figure, controls, Figure.html("div", { class: "side-by-side" }, ring, chart), said);
  for (const control of [layers, kind, seed]) control.addEventListener("input", draw);
  draw();
})();
