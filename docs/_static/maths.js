// Sets every formula of a page; one that KaTeX cannot set stays as its LaTeX. Then what the theme
// leaves out for screen readers and keyboards: levels of headings, focus for what scrolls.
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll("span.math, div.math .display")) {
    const displayMode = place.classList.contains("display");
    katex.render(place.textContent, place, { displayMode, throwOnError: false });
  }
  // What a notebook shows of a claim has its formulas between dollars.
  const delimiters = [{ left: "$$", right: "$$", display: true },
                      { left: "$", right: "$", display: false }];
  for (const place of document.querySelectorAll(".output.text_html")) {
    renderMathInElement(place, { delimiters, throwOnError: false });
  }
  for (const place of document.querySelectorAll("[role=heading]:not([aria-level])")) {
    place.setAttribute("aria-level", "2");
  }
  for (const place of document.querySelectorAll("article pre, .table-wrapper, div.math")) {
    if (place.scrollWidth > place.clientWidth) {
      place.classList.add("scrolls");
      place.tabIndex = 0;
      place.setAttribute("role", "region");
      place.setAttribute("aria-label", "scrolls sideways");
    }
  }
});
