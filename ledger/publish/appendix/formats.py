"""One text in pandoc's Markdown as PDF (by Typst), as one HTML file, and as LaTeX to be \\input.

The same text gives the same bytes: nothing looks at the clock, at fonts of the machine, or at the
network.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from depthlaw.advisor.base.quantities import UsageError

from ...records.environment import installing
from ...text import clean
from .typesetting import own_text

# Extensions of pandoc's own Markdown that would read plain words as markup.
_READER = "markdown-auto_identifiers-example_lists-tex_math_single_backslash-raw_html-raw_tex"
_LIBRARIES = {
    "pypandoc": "pandoc",
    "typst": "Typst",
    "pyarrow": "Parquet",
    "jinja2": "Jinja",
    "matplotlib": "matplotlib",
}
# What a PDF promises: to be read and rendered the same in decades.
PDF_STANDARD: Final = "a-2b"


def check_programs(what: str = "the appendix") -> None:
    """Complain where what writes the formats of `what` is not installed.

    Raises:
        UsageError: in one line.
    """
    missing = [name for library, name in _LIBRARIES.items() if find_spec(library) is None]
    if missing:
        by = f"{what} is written by {', '.join(missing)}, not installed here"
        raise UsageError(f"{by}; {installing('appendix')}")


@dataclass(frozen=True)
class Document:
    """A text and what belongs to it.

    Attributes:
        text: in pandoc's Markdown; figures are named `figures/NAME.svg`.
        title, subtitle, footer: plain text.
        date: a day, as 2026-11-22: that of what it reports on, not of its writing.
        references: BibTeX entries of everything that it cites.
        figures: SVG by name.
        lettered: the same with text that is set in the font of the PDF.
        author: whose work it is.
    """

    text: str
    title: str
    subtitle: str
    footer: str
    date: str
    references: str
    figures: Mapping[str, bytes]
    lettered: Mapping[str, bytes] = field(default_factory=dict)
    author: str = "depthlaw"

    def pdf(self) -> bytes:
        """As PDF/A-2b, A4. Cost: seconds.

        Raises:
            UsageError: in one line, where the fonts that come with Typst lack a character.
        """
        import typst

        # Names of signs that pandoc writes and Typst has given up.
        written = re.sub(r"\b(dot|times)\.circle\b", r"\1.o", self._converted("typst"))
        with TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "figures").mkdir()
            for figure, drawn in {**self.figures, **self.lettered}.items():
                (folder / "figures" / figure).write_bytes(drawn)
            (folder / "appendix.typ").write_text(written, encoding="utf-8")
            file = str(folder / "appendix.typ")
            try:
                return bytes(
                    typst.compile(
                        file, root=name, ignore_system_fonts=True, pdf_standards=[PDF_STANDARD]
                    )
                )
            except typst.TypstError as error:
                raise UsageError(_refused("PDF", error)) from None

    def html(self) -> str:
        """As one file that loads no other: it holds style, script, fonts and figures."""
        options = "--katex --toc --toc-depth=2 --section-divs --shift-heading-level-by=1"
        page = self._converted("html5", *options.split())
        for figure, drawn in self.figures.items():
            page = page.replace(f'"figures/{figure}"', f'"{_data("image/svg+xml", drawn)}"')
        for mark, text in (
            ("@@KATEX-STYLE@@", _katex_style()),
            ("@@STYLE@@", own_text("appendix.css")),
            ("@@KATEX-SCRIPT@@", _vendored("katex.min.js").decode()),
        ):
            page = page.replace(mark, text)
        return page

    def latex(self) -> str:
        """As LaTeX to be \\input in one column or two, citing by natbib."""
        return self._converted("latex", "--natbib", "--shift-heading-level-by=1")

    def _converted(self, form: str, *options: str) -> str:
        import pypandoc

        year, month, day = (str(int(part)) for part in self.date.split("-"))
        facts = {name: getattr(self, name) for name in ("title", "subtitle", "footer", "author")}
        facts |= {"year": year, "month": month, "day": day, "lang": "en", "link-citations": "true"}
        name = {"html5": "appendix.html", "typst": "appendix.typ", "latex": "appendix.tex"}[form]
        with TemporaryDirectory() as place:
            folder = Path(place)
            for file in (name, "filter.lua"):
                (folder / file).write_text(own_text(file), encoding="utf-8")
            (folder / "references.bib").write_text(self.references, encoding="utf-8")
            # Typst reads text between quotes as text, not as markup.
            plain = {
                f"plain-{key}": re.sub(r'(["\\])', r"\\\1", facts[key])
                for key in ("title", "subtitle", "author")
            }
            arguments = [
                f"--template={folder / name}",
                f"--lua-filter={folder / 'filter.lua'}",
                f"--bibliography={folder / 'references.bib'}",
                *([] if form == "latex" else ["--citeproc"]),
                "--wrap=none",
                *(f"--metadata={key}:{text}" for key, text in facts.items()),
                *(f"--variable={key}:{text}" for key, text in plain.items()),
                *options,
            ]
            try:
                return pypandoc.convert_text(self.text, form, format=_READER, extra_args=arguments)
            except RuntimeError as error:
                raise UsageError(_refused(form, error)) from None


def _refused(form: str, error: Exception) -> str:
    """A program's output, in one line, with the code points of letters that a terminal may lack."""
    message = "".join(
        c if c.isascii() else f"{c} [U+{ord(c):04X}]" for c in " ".join(clean(str(error)).split())
    )
    return (
        f"the appendix cannot be written as {form} ({message}); write titles, texts and notes of "
        "claims of your own in letters of Latin or Greek, and check their formulas"
    )


def _vendored(name: str) -> bytes:
    return (files(__package__) / "vendor" / "katex" / name).read_bytes()


@cache
def _katex_style() -> str:
    """KaTeX's style sheet with its fonts in it."""
    return re.sub(
        r"url\((fonts/[^)]+)\)",
        lambda match: f"url({_data('font/woff2', _vendored(match[1]))})",
        _vendored("katex.min.css").decode(),
    )


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
