"""The LaTeX of the appendix in two papers, compiled by this machine's TeX: nothing sticks out of a
line, and every reference is resolved."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAPERS = ("columns", "page")
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


def tex(*command: str, cwd: Path) -> None:
    # Lines of a log are not broken, so that messages can be matched whole; no file of the user's
    # is read.
    environment = os.environ | {"max_print_line": "10000", "TEXMFHOME": str(cwd / "none")}
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-3000:]


def faults(log: str) -> list[str]:
    """What a copy editor would send back. The papers set \\hfuzz and \\vfuzz to 0.1 pt."""
    return re.findall(
        r"^(?:Overfull .*|.*undefined.*|.*multiply[- ]defined.*|Missing character.*"
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
        (r"See \ref{nothing}.", "undefined"),
        (r"\citet{nobody}", "undefined"),
    ],
)
def test_a_fault_in_the_paper_is_found(
    appendix: Path,
    tmp_path: Path,
    probe: str,
    found: str,
) -> None:
    """The negative control: what the first test looks for is there when it is put there."""
    (short := tmp_path / "short").mkdir()
    for name in ("values.tex", "references.bib"):
        shutil.copy(appendix / name, short)
    (short / "appendix.tex").write_text(r"\section{Short}\label{dl:appendix}")
    assert any(found in line for line in faults(compiled("page", short, tmp_path / "p", probe)))
