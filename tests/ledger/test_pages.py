"""The generated pages, and the coverage tables, against the registry."""
import re
from pathlib import Path

import pytest

from depthlaw.ledger.publish.pages import glossary, write
from depthlaw.ledger.run.driver import execute
from depthlaw.ledger.run.engines import Inline
from depthlaw.ledger.run.records import Store
from depthlaw.ledger.run.suite import plan
from depthlaw.theory.claim import registry
from depthlaw.theory.glossary import GLOSSARY

DOCS = Path(__file__).parents[2] / "docs"
KEY = re.compile(r"`(" + "|".join(STEMS) + r")/(\w+)`")


@pytest.mark.parametrize("stem", STEMS)
def test_coverage_tables_and_registry_agree(stem):
    keys = {key for key in registry() if key.startswith(f"{stem}/")}
    text = (DOCS / "coverage" / f"{stem}.md").read_text(encoding="utf-8")
    named = {f"{a}/{b}" for a, b in KEY.findall(text)}
    assert keys <= named, f"not in docs/coverage/{stem}.md: {sorted(keys - named)}"
    assert named <= set(registry()), f"no such claim: {sorted(named - set(registry()))}"
    assert f"coverage/{stem}.md" in (DOCS / "coverage.md").read_text(encoding="utf-8")


def test_there_is_a_page_for_every_claim_and_no_other():
    pages = {str(p.relative_to(DOCS / "claims"))[:-3]
             for p in (DOCS / "claims").rglob("*.md")} - {"README"}
    assert pages == set(registry())


@pytest.mark.parametrize("key",
                         ["separation_rank/upper_bound_deep", "hops/depth_corrected",
                          "counting/twelve"])
def test_committed_pages_state_what_the_claim_states(key, tmp_path):
    from depthlaw.ledger.publish.typesetting import md_math
    from depthlaw.theory.symbols import latex

    assert md_math(latex(registry()[key].statement)) in (DOCS / "claims" / f"{key}.md").read_text(encoding="utf-8")


def test_committed_glossary_is_up_to_date():
    assert (DOCS / "glossary.md").read_text(encoding="utf-8") == glossary(list(registry().values()))


def test_every_glossary_entry_is_used_or_a_case_field():
    claims = registry().values()
    used = {s.name for c in claims for s in c.statement.free_symbols} | {n for c in claims
                                                                         for s in c.grid
                                                                         for k in c.grid[s]
                                                                         for n in k.fields()}
    bound = {s.name for c in claims for s in c.statement.atoms() if getattr(s, "is_Symbol", False)}
    assert set(GLOSSARY) - used - bound == set()


def test_writing_is_deterministic_and_removes_stale_pages(tmp_path, monkeypatch):
    claims = {key: c for key, c in registry().items()
              if key in ("hops/doubling", "separation_rank/degree")}
    monkeypatch.setattr("depthlaw.ledger.publish.pages.registry", lambda: claims)
    store = Store(tmp_path / "results")
    assert execute(plan(claims, "quick"), store, Inline()) == []
    stale = tmp_path / "docs" / "claims" / "hops" / "gone.md"
    stale.parent.mkdir(parents=True)
    stale.write_text("old")
    first = {p: p.read_bytes() for p in write(tmp_path / "docs", store, "quick")}
    assert not stale.exists()
    assert {p: p.read_bytes() for p in write(tmp_path / "docs", store, "quick")} == first
    page = (tmp_path / "docs" / "claims" / "separation_rank" / "degree.md").read_text()
    for part in ("levine2020", "recalled", "ARGUED", "rests on", "confirmed", "negative control",
                 "FAILS"):
        assert part in page
    assert "not run" not in page
