"""appendix.pdf is for archives: PDF/A-2b.

veraPDF, the reference validator, is in no registry that pip or apt reads. Checked are what Typst
enforces when it writes the standard, what the file says of itself, and pikepdf's validator. That
one approves only what it knows; what it does not know is listed here, and anything else fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pikepdf
import pytest
from pikepdf import pdfa

# Findings that are no faults: the XMP extension schemas with which a file must declare properties
# beyond the predefined ones (ISO 19005-2, 6.6.2.3), a predefined schema that the validator leaves
# out, and what it says it cannot check.
_UNKNOWN = re.compile(
    "|".join(
        (
            r"XMP namespace (pdfaExtension|pdfaSchema|pdfaProperty|xmpTPg)=.* is not permitted",
            r"XMP property (pdfaExtension:schemas|xmpTPg:NPages) is not permitted",
            r"structured XMP property xmpMM:History is not checked",
            r"CFF FDArray FontMatrix is not supported",
            r"/CIDSet on a CIDFontType2 subset is not checked",
        )
    )
)
# A link or a bookmark that names its target by reference, which ISO 32000 allows; the targets are
# checked below.
_BY_REFERENCE = re.compile(r"\((LinkAnnot|OutlineItem)\) /Dest: '\d+ 0 R' is not valid under any")


@pytest.fixture(scope="module")
def document(appendix: Path) -> Iterator[pikepdf.Pdf]:
    with pikepdf.open(appendix / "appendix.pdf") as opened:
        yield opened


def findings(file: Path) -> list[str]:
    report = pdfa.validate_written(file, "2b")
    return [
        str(each)
        for each in report.findings
        if not _UNKNOWN.search(str(each)) and not _BY_REFERENCE.search(str(each))
    ]


def test_the_validator_finds_no_fault(appendix: Path) -> None:
    assert findings(appendix / "appendix.pdf") == []


def test_the_file_says_what_it_is(document: pikepdf.Pdf) -> None:
    with document.open_metadata() as said:
        assert (said["pdfaid:part"], said["pdfaid:conformance"]) == ("2", "B")
        assert said["dc:title"]
    (intent,) = document.Root.OutputIntents
    assert intent.S == "/GTS_PDFA1"
    # An ICC profile says what colours mean.
    assert bytes(intent.DestOutputProfile.read_bytes())[36:40] == b"acsp"
    assert document.Root.Lang == "en"
    assert document.Root.MarkInfo.Marked


def test_nothing_is_locked_runs_or_lies_elsewhere(document: pikepdf.Pdf) -> None:
    assert not document.is_encrypted
    assert document.check_pdf_syntax() == []
    programs = ("/FontFile", "/FontFile2", "/FontFile3")
    for each in document.objects:
        if not isinstance(each, pikepdf.Dictionary):
            continue
        assert each.get("/S") not in ("/JavaScript", "/Launch", "/SubmitForm", "/ImportData")
        assert "/EmbeddedFile" not in each
        if each.get("/Type") == "/FontDescriptor":
            assert any(program in each for program in programs), each.FontName


def test_links_lead_to_pages(document: pikepdf.Pdf) -> None:
    pages = {page.obj.objgen for page in document.pages}
    found = 0
    for page in document.pages:
        for annotation in page.obj.get("/Annots", []):
            if isinstance(target := annotation.get("/Dest"), pikepdf.Array):
                assert target[0].objgen in pages
                found += 1
    assert found > 0


def test_a_fault_in_the_file_is_found(appendix: Path, tmp_path: Path) -> None:
    """The negative control: without the meaning of its colours it is no PDF/A."""
    with pikepdf.open(appendix / "appendix.pdf") as opened:
        del opened.Root.OutputIntents
        opened.save(tmp_path / "colours.pdf")
    with pikepdf.open(appendix / "appendix.pdf") as opened:
        opened.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="1")
        opened.save(tmp_path / "runs.pdf")
    assert findings(tmp_path / "colours.pdf")
    assert findings(tmp_path / "runs.pdf")
