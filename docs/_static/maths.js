// Sets every formula of a page; one that KaTeX cannot set stays as its LaTeX.
document.addEventListener("DOMContentLoaded", () => {
  for (const place of document.querySelectorAll("span.math, div.math .display")) {
    const displayMode = place.classList.contains("display");
    katex.render(place.textContent, place, { displayMode, throwOnError: false });
  }
});
