// Sets every formula of a page; one that KaTeX cannot set stays as its LaTeX.
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
});
