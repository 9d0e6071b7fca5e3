"""The LaTeX of the appendix in two papers, compiled by this machine's TeX: nothing sticks out of a
line, and every reference is resolved."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from depthlaw.ledger.publish.appendix.typesetting import macro
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.reference_ledger import shipped
from depthlaw.ledger.verdicts.suite_verdicts import marked
from depthlaw.theory.claims.definition import registry

HERE = Path(__file__).parent
PAPERS = ("columns", "page", "plain")
# References settle after the third run; more are needed where a float moves over a page.
_RUNS = 6


def compiled(paper: str, appendix: Path, folder: Path, probe: str = "") -> str:
    """The log of the last run of pdfLaTeX on a paper with this appendix."""
    folder.mkdir(exist_ok=True)
    shutil.copytree(appendix, folder / "appendix", dirs_exist_ok=True)
    text = (HERE / f"{paper}.tex").read_text(encoding="utf-8")
    (folder / f"{paper}.tex").write_text(text.replace("% PROBE", probe), encoding="utf-8")
    for run in range(_RUNS):
        tex("pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{paper}.tex", cwd=folder)
        if run == 0:
            tex("bibtex", paper, cwd=folder)
        log = (folder / f"{paper}.log").read_text(encoding="utf-8", errors="replace")
        if run > 1 and "Rerun to get" not in log:
            break
    return log


def tex(*command: str, cwd: Path) -> str:
    # Lines of a log are not broken, so that messages can be matched whole; no file of the user's
    # is read.
    environment = os.environ | {"max_print_line": "10000", "TEXMFHOME": str(cwd / "none")}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, errors="replace"
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def faults(log: str) -> list[str]:
    """What a copy editor would send back. The papers set \\hfuzz and \\vfuzz to 0.1 pt."""
    return re.findall(
        r"^(?:Overfull .*|.*Float too large.*|.*undefined.*"
        r"|.*multiply[- ]defined.*|Missing character.*"
        r"|LaTeX Warning: .*(?:Rerun|not found).*|! .*)$",
        log,
        re.M,
    )


@pytest.fixture(scope="module", params=PAPERS)
def paper(
    request: pytest.FixtureRequest, appendix: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, str]:
    """Its name, its folder, its log."""
    folder = tmp_path_factory.mktemp(request.param)
    return request.param, folder, compiled(request.param, appendix, folder)


def test_nothing_sticks_out_and_every_reference_is_resolved(paper: tuple[str, Path, str]) -> None:
    _, _, log = paper
    assert faults(log) == []


def test_figures_and_citations_are_in_the_paper(paper: tuple[str, Path, str]) -> None:
    name, folder, log = paper
    drawn = {path.name for path in (folder / "appendix" / "figures").glob("*.pdf")}
    assert len(drawn) == 4
    assert all(f"figures/{figure}" in log for figure in drawn)
    said = (folder / f"{name}.blg").read_text(encoding="utf-8")
    assert "I didn't find" not in said
    assert "error message" not in said
    assert (folder / f"{name}.bbl").read_text().count(r"\bibitem") >= 8


@pytest.mark.parametrize(
    ("probe", "found"),
    [
        (r"\noindent\hbox to 20in{}", "Overfull"),
        (r"\begin{figure}[p]\rule{1in}{12in}\end{figure}", "too large"),
        (r"See \ref{nothing}.", "undefined"),
        (r"\citet{nobody}", "undefined"),
    ],
)
def test_a_fault_in_the_paper_is_found(
    appendix: Path, tmp_path: Path, probe: str, found: str
) -> None:
    """The negative control: what the first test looks for is there when it is put there."""
    (short := tmp_path / "short").mkdir()
    for name in ("values.tex", "references.bib"):
        shutil.copy(appendix / name, short)
    (short / "appendix.tex").write_text(r"\section{Short}\label{dl:appendix}")
    assert any(found in line for line in faults(compiled("page", short, tmp_path / "p", probe)))


def test_a_package_that_is_missing_is_named(appendix: Path, tmp_path: Path) -> None:
    shutil.copytree(appendix, tmp_path / "appendix")
    paper = (HERE / "plain.tex").read_text(encoding="utf-8")
    (tmp_path / "plain.tex").write_text(paper.replace("array,booktabs,", ""), encoding="utf-8")
    with pytest.raises(AssertionError) as error:
        tex("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "plain.tex", cwd=tmp_path)
    said = r"! depthlaw: load these packages before \\input: array booktabs."
    assert said.replace(r"\\", "\\") in str(error.value)


def test_every_row_of_every_table_is_on_a_page(paper: tuple[str, Path, str]) -> None:
    """The numbers of the statements stand in the overview, each once, in their order."""
    name, folder, _ = paper
    text = (folder / "appendix" / "appendix.tex").read_text(encoding="utf-8")
    rows = re.findall(r"^\\dlrow\{\\dlverdict\{.*?\} & (\d+) ", text, re.M)
    read = tex("pdftotext", "-layout", f"{name}.pdf", "-", cwd=folder)
    found = re.findall(r"^\s*(?:[A-Z]{4,}[*∗]?|not run)\s{2,}(\d+)\s\S", read, re.M)
    # Other lines may begin with a number too.
    assert [number for number in dict.fromkeys(found) if number in rows] == rows
    assert len(rows) > 10


def test_the_plain_paper_has_the_lines_of_the_guide(paper: tuple[str, Path, str]) -> None:
    guide = (HERE.parents[1] / "docs" / "how-to" / "cite.md").read_text(encoding="utf-8")
    lines = re.search(r"```latex\n(.*?)```", guide, re.S)[1].replace("out/", "appendix/")
    written = (HERE / "plain.tex").read_text(encoding="utf-8")
    for line in lines.splitlines():
        if (line := line.partition("%")[0].strip()) != "...":
            assert line in written


def test_macros_print_what_the_records_say(appendix: Path, tmp_path: Path) -> None:
    """Each macro of values.tex, read back from a compiled page."""
    values = (appendix / "values.tex").read_text(encoding="utf-8")
    names = re.findall(r"^\\newcommand\{\\(\w+)\}", values, re.M)
    # By number: names have ligatures.
    lines = "\n\n".join(rf"\noindent no {at} is: \{name}" for at, name in enumerate(names))
    shutil.copy(appendix / "values.tex", tmp_path)
    (tmp_path / "macros.tex").write_text(
        r"\documentclass{article}\usepackage[T1]{fontenc}\input{values}\begin{document}"
        rf"\small {lines}\end{{document}}"
    )
    tex("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "macros.tex", cwd=tmp_path)
    page = tex("pdftotext", "-layout", "macros.pdf", "-", cwd=tmp_path).replace("\f", "\n")
    found = re.findall(r"^ *no (\d+) is: (.*)$", page, re.M)
    read = {names[int(at)]: text for at, text in found}
    assert read.keys() == set(names)
    store, claims = shipped(), registry()
    assert store is not None
    judged = Recorded(claims, store)
    known = {macro(key)[1:]: key for key in claims}
    verdicts = {name: known[name] for name in names if name in known}
    assert len(verdicts) > 10
    for name, key in verdicts.items():
        result = judged.judged(key)
        assert result is not None
        assert read[name].strip() == marked(result).replace("_", " ")
    assert [name for name in verdicts if read[name].strip().endswith("*")]
