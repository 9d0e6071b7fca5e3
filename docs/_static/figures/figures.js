// What figures share: elements of HTML and SVG, controls, and the exchange of the still picture.
"use strict";

// A page with several figures loads this file for each.
globalThis.Figure ??= {
  // An element of SVG with attributes and what stands in it, texts or elements.
  svg(name, attributes = {}, ...inside) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  },

  html(name, attributes = {}, ...inside) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  },

  // A labelled control, whose id is that of the figure and its name.
  control(figure, name, label, input) {
    input.id = `${figure.id}-${name}`;
    return Figure.html("label", { for: input.id }, label, input);
  },

  slider(low, high, value) {
    return Figure.html("input", { type: "range", min: low, max: high, step: 1, value });
  },

  // A choice among [value, text].
  choice(options, value) {
    const made = Figure.html("select");
    for (const [each, text] of options) made.append(new Option(text, each, false, each === value));
    return made;
  },

  // An empty drawing of some size with what it shows in words, for screen readers.
  drawing(width, height) {
    return Figure.svg("svg", { class: "figure", viewBox: `0 0 ${width} ${height}`, role: "img" });
  },

  // Put what is drawn here in the place of the still picture.
  replace(figure, ...parts) {
    const live = Figure.html("div", { class: "live" }, ...parts);
    figure.querySelector(".still").replaceWith(live);
  },

  line(points, name) {
    return Figure.svg("polyline", { points: points.map((at) => at.join(",")).join(" "), class: name });
  },

  text(said, x, y, name = "", anchor = "start") {
    return Figure.svg("text", { x, y, class: name, "text-anchor": anchor }, said);
  },
};
