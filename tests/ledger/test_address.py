"""Where depthlaw is published stands in one place, and everything that names it reads it there; as
long as nobody has published it nothing does."""

import re
import shutil
import subprocess
import tomllib
from email.message import Message
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

import depthlaw.ledger.address as module
from depthlaw.ledger.address import Address, address
from depthlaw.ledger.publish.appendix import provenance
from depthlaw.ledger.publish.site import heads
from depthlaw.ledger.verdicts.citations import bibtex_for
from depthlaw.theory.claims.definition import registry

ROOT = Path(__file__).parents[2]
SITE, REPOSITORY = "https://somebody.example/depthlaw/", "https://forge.example/somebody/depthlaw"
PUBLISHED = {"Homepage": SITE, "Repository": REPOSITORY}
BODY = "<h1>T</h1><table><p>no</p></table><p>A sentence of a page.</p><p>Another & more.</p>"
FACTS = {"claim_set": "claims-v7", "claims_hash": "c", "manifest": "0" * 64, "records": 3}
FACTS |= {"version": "1.2.3", "origin": "x", "command": "depthlaw appendix o", "date": "2031-05-06"}


@pytest.fixture(params=[{}, PUBLISHED], ids=["nowhere", "published"])
def urls(request, monkeypatch) -> dict[str, str]:
    told = Message()
    for name, url in request.param.items():
        told["Project-URL"] = f"{name}, {url}"
    monkeypatch.setattr(module, "metadata", lambda name: told)
    return request.param


def test_the_address_is_what_the_package_says(urls):
    assert address() == Address(urls.get("Homepage", ""), urls.get("Repository", ""))
    assert address().first == urls.get("Homepage", "")
    assert Address("", REPOSITORY).first == REPOSITORY


def test_citations_have_it_or_no_field_for_it(urls):
    source = provenance.Provenance(**FACTS, address=address())
    entry = bibtex_for(["depthlaw"])["depthlaw"]
    assert re.search(r"^  version = \{\d[\d.]+\},$", entry, re.M)
    for bib in (entry, provenance.citation_bibtex(source)):
        assert re.findall(r"^  url = \{(.*)\},$", bib, re.M) == ([SITE] if urls else [])
        assert bib.count("{") == bib.count("}")
    assert "url" not in bibtex_for(["levine2020"])["levine2020"] or "somebody" not in entry
    (software,) = yaml.safe_load(provenance.citation_cff(source))["references"]
    named = {field: software[field] for field in ("url", "repository-code") if field in software}
    assert named == ({"url": SITE, "repository-code": REPOSITORY} if urls else {})


def test_the_appendix_says_what_to_clone(urls):
    source = provenance.Provenance(**FACTS, address=address())
    said = "depthlaw 1.2.3" + (f" (<{REPOSITORY}>)" if urls else "")
    assert source.software == said
    text = provenance.checklist([], [], source).decode()
    assert f"In a clone of {said} at the tag `claims-v7`:" in text
    form = ROOT / "ledger/publish/appendix/templates/appendix.md"
    assert "in a clone of << source.software >> << source.at >>" in form.read_text()


def test_every_page_has_a_description_and_the_card_where_there_is_one(urls, tmp_path):
    context = {
        "title": "A &lt; <em>b</em>",
        "pathto": lambda name, kind: f"../{name}",
        "pageurl": f"{SITE}a.html" if urls else None,
    }

    def metas() -> dict[str, str]:
        found = heads.head(context, BODY, tmp_path)
        pairs = re.findall(r'<meta (?:name|property)="([\w:]+)" content="([^"]*)">\n', found)
        assert len(pairs) == found.count("<meta")
        return dict(pairs)

    said = "A sentence of a page. Another &amp; more."
    bare = {
        "description": said,
        "og:description": said,
        "og:title": "A &lt; b",
        "og:type": "website",
    }
    bare |= {"og:url": f"{SITE}a.html"} if urls else {}
    assert metas() == bare
    (tmp_path / heads.CARD).write_bytes(b"")
    picture = f"{SITE if urls else '../'}_static/{heads.CARD}"
    assert metas() == bare | {"og:image": picture, "twitter:card": "summary_large_image"}
    context["meta"] = {"description": "What it is."}
    assert metas()["description"] == metas()["og:description"] == "What it is."
    long = heads.description(f"<p>{'One sentence of many letters. ' * 3}{'word ' * 50}</p>")
    assert long == ("One sentence of many letters. " * 3).strip()


def test_a_site_with_an_address_lists_its_pages(urls, tmp_path):
    for name in ("claims/b.html", "a.html", "a.js"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    heads.write_sitemap(tmp_path)
    written = [path.read_text() for path in tmp_path.glob("sitemap.xml")]
    pages = [f"{SITE}a.html", f"{SITE}claims/b.html"]
    assert [re.findall("<loc>(.*?)</loc>", text) for text in written] == ([pages] if urls else [])


def test_the_foot_of_pages_names_version_claim_set_and_tag(tmp_path):
    claims = registry()
    said = heads.edition(claims, tmp_path)
    assert re.fullmatch(r"depthlaw [\d.]+, claim set claims-v\d+( with \d+ changed claims?)?", said)
    less = dict(list(claims.items())[1:])
    assert "changed claim" in heads.edition(less, tmp_path), "one is gone"
    git = ["git", "-c", "user.name=x", "-c", "user.email=x", "-C", str(tmp_path)]
    for command in ("init -q", "commit -q --allow-empty -m x", "tag v1.2"):
        subprocess.run([*git, *command.split()], check=True)
    assert heads.edition(claims, tmp_path) == f"{said}, tag v1.2"


def test_the_script_writes_it_once_and_again_another(tmp_path):
    (tmp_path / ".ci").mkdir()
    script = shutil.copy(ROOT / ".ci/address", tmp_path / ".ci")
    project, citation = (
        Path(shutil.copy(ROOT / name, tmp_path)) for name in ("pyproject.toml", "CITATION.cff")
    )
    page = tmp_path / "docs/how-to/cite.md"
    page.parent.mkdir(parents=True)
    page.write_text((ROOT / "docs/how-to/cite.md").read_text())
    before = tomllib.loads(project.read_text()), yaml.safe_load(citation.read_text())

    def written(*arguments: str) -> tuple[str, ...]:
        subprocess.run([script, *arguments], check=True)
        return project.read_text(), citation.read_text(), page.read_text()

    first = written(SITE.rstrip("/"), f"{REPOSITORY}/")
    assert written(SITE, REPOSITORY) == first
    assert first[2].count(f"  version = {{{version('depthlaw')}}},\n  url = {{{SITE}}},\n}}") == 1
    table, cff = tomllib.loads(first[0]), yaml.safe_load(first[1])
    assert table["project"].pop("urls") == PUBLISHED
    assert (cff.pop("url"), cff.pop("repository-code")) == (SITE, REPOSITORY)
    for after, was in zip((table, cff), before, strict=True):
        (was.get("project") or was).pop("urls", None)
        assert after == {key: was[key] for key in was if key not in ("url", "repository-code")}
    other = written("https://other.example/", REPOSITORY)
    assert [text.replace("https://other.example/", SITE) for text in other] == list(first)
    for wrong in (("", ""), (SITE,), ("ftp://a", REPOSITORY), (SITE, 'https://x"y')):
        done = subprocess.run([script, *wrong], capture_output=True, text=True)
        assert done.returncode == 2
        assert "is no address" in done.stderr
    assert (project.read_text(), citation.read_text(), page.read_text()) == other
