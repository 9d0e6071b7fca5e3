"""The pages that are generated, and the coverage tables, against the registry; docs/counting.md:
listed models recounted, with a reason for each that differs."""

import re
from pathlib import Path

import pytest

from depthlaw.advisor import atlas
from depthlaw.advisor.counting import weights
from depthlaw.advisor.models import architecture
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.publish.site import atlas_pages, claim_pages, pages
from depthlaw.ledger.publish.site.count_comparison import part, recounts, reported_size
from depthlaw.ledger.publish.site.page_blocks import Recorded
from depthlaw.ledger.records.store import Store
from depthlaw.ledger.running.engines import Inline, execute
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts.suite_verdicts import CaseResult, ClaimResult, results
from depthlaw.theory.claims.definition import Case, registry, topics
from depthlaw.theory.claims.values import Ball
from depthlaw.theory.claims.verdict import Decision, Verdict

DOCS = Path(__file__).parents[2] / "docs"
KEY = re.compile(rf"`({'|'.join(topics())})/(\w+)`")


@pytest.mark.parametrize("topic", topics())
def test_coverage_tables_and_registry_agree(topic):
    text = (DOCS / "coverage" / f"{topic}.md").read_text(encoding="utf-8")
    named = {f"{a}/{b}" for a, b in KEY.findall(text)}
    assert sorted(named - set(registry())) == [], "docs/coverage names claims that do not exist"
    assert f"\ncoverage/{topic}\n" in (DOCS / "coverage.md").read_text(encoding="utf-8")


def test_pages_are_written_from_records_the_same_again_and_nothing_stale_stays(tmp_path):
    same = "hops/construction_printed_spacing"
    claims = {key: registry()[key] for key in (same, "separation_rank/degree")}
    docs, out = tmp_path / "docs", tmp_path / "site"
    docs.mkdir()
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        (tmp_path / name).write_text("[guide](docs/depth.md)\n")
    (docs / "hand-written.md").write_text(
        f"# before\n\n{pages.UNFILLED}<!-- table: separation_rank/degree -->\nafter\n"
    )
    store = Store(tmp_path / "results")
    assert execute(plan(claims, "quick"), store, Inline()) == []
    stale = out / "claims" / "hops" / "gone.md"
    stale.parent.mkdir(parents=True)
    stale.write_text("old")
    recorded = Recorded(claims, store)
    first = {path: path.read_bytes() for path in pages.write(docs, out, recorded)}
    of_claims = f"former {same} hops/index index separation_rank/degree separation_rank/index"
    alone = "bibliography contributing findings glossary hand-written open/index"
    assert {path.relative_to(out).as_posix() for path in first} == {
        *(f"{name}.md" for name in alone.split()),
        *(f"claims/{name}.md" for name in of_claims.split()),
        *(f"tasks/{task}.md" for task in ("index", *atlas.tasks())),
    }
    former = (out / "claims" / "former.md").read_text()
    assert "`depth_width/deeper_updates_are_slower` | UNDECIDED | it timed updates" in former
    assert same not in former, "its verdict is as it was"
    assert (out / "contributing.md").read_text() == "[guide](/depth.md)\n"
    assert not stale.exists()
    assert {path: path.read_bytes() for path in pages.write(docs, out, recorded)} == first
    page = (out / "claims" / "separation_rank" / "degree.md").read_text()
    parts = ("levine2020", "recalled", "PROVED", "rests on", "confirmed", "Negative control")
    assert [part for part in (*parts, "FAILS") if part not in page] == []
    assert "not run" not in page
    assert (out / "hand-written.md").read_text() == (
        "# before\n\n*Nothing is recorded for this yet.*\nafter\n"
    )


def test_words_of_a_source_stand_once_with_its_bounds(capsys):
    page = atlas_pages.pages(lambda key: None, Path())[Path("dihedral-words.md")]
    assert main(["tasks", "list", "dihedral-words"]) == 0
    for text in (page, capsys.readouterr().out):
        assert text.count("“More generally, we show that k-layer DCD SSMs can express") == 1


def test_least_depths_are_those_of_the_statements():
    claim = registry()["hops/depth_corrected"]
    judged = {row["claim"]: None for row in claim_pages.least_depths()}
    assert set(judged) <= set(registry())
    (judged[claim.key],) = results({claim.key: claim}, "quick", Store(Path("none"), read_only=True))
    (row,) = [line for line in claim_pages.least_depth(judged).splitlines() if "not run" in line]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[2:4] == ["\u2013", "$\\lceil \\log_2 k \\rceil + 2$"]
    assert cells[5] == "[not run](/claims/hops/depth_corrected.md)"


def test_depths_of_trainings_are_those_that_were_measured():
    """Not the statement, which fails."""
    claim = registry()["trained_depth/connectivity_least_depth"]
    (one, *_), decision = claim.every_case, Decision(Verdict.FAILS)
    cases = [
        CaseResult(Case(**one.fields() | {"diameter": at}), Ball(low, high), decision)
        for at, low, high in ((11, 2, 2), (23, 3, 4), (3, 1, 1), (23, 3, 3))
    ]
    judged = {row["claim"]: None for row in claim_pages.least_depths()}
    judged[claim.key] = ClaimResult(claim, tuple(cases), None, None)
    (row,) = [x for x in claim_pages.least_depth(judged).splitlines() if "our trainings" in x]
    assert [cell.strip() for cell in row.strip("|").split("|")][2:4] == [
        "1 at $D$ = 3, 2 at $D$ = 11, 3 at $D$ = 23",
        "1 at $D$ = 3, 2 at $D$ = 11, 4 at $D$ = 23",
    ]


def test_keys_and_pages_in_prose_become_links(tmp_path):
    (tmp_path / "depth.md").write_text("")
    claims = {key: registry()[key] for key in ("hops/doubling", "hops/depth_corrected")}
    link = "[`hops/depth_corrected`](/claims/hops/depth_corrected.md)"
    text = "See hops/depth\\_corrected. In docs/depth.md, not `hops/doubling`, hops/x, docs/no.md."
    assert pages._linked(text, claims, tmp_path) == (
        f"See {link}. In [docs/depth.md](/depth.md), not `hops/doubling`, hops/x, docs/no.md."
    )
    command = "$ depthlaw show hops/doubling"
    assert pages._linked(command, claims, tmp_path) == command


def test_pages_with_marks_say_so_below_their_titles():
    """To whoever reads the file; docs/proofs.md is one table, which its text names."""
    for page in DOCS.rglob("*.md"):
        if page.relative_to(DOCS).parts[0].startswith("_"):
            continue  # built
        text = page.read_text(encoding="utf-8")
        # Links to other pages are words without them.
        apart = text.count("latency_limits -->") + text.count("<!-- page: ")
        marked = text.count("<!-- ") - apart
        said = text.split("\n", 2)[2].startswith(pages.UNFILLED)
        assert said == bool(marked) or page.name == "proofs.md", page


def test_links_in_files_lead_to_files():
    """Where no site was built, as on a forge; `*words*<!-- page: ... -->` is a link on the site
    alone."""
    root = DOCS.parent
    for page in (*root.glob("*.md"), *DOCS.rglob("*.md")):
        if page.relative_to(root).parts[1:2] in (("_build",), ("_site",)):
            continue
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            target = link.partition("#")[0]
            if re.match("https?:|mailto:", link) or not target:
                continue
            assert (page.parent / target).exists(), f"{page.relative_to(root)}: {link}"


def test_a_mark_is_filled_by_the_table_of_its_claim(tmp_path):
    key = "separation_rank/exact"
    claim = registry()[key]
    store = Store(tmp_path / "results")
    case = claim.cases("quick")[0]
    (run,) = [run for run in plan({key: claim}, "quick") if run.case == case]
    store.put(run.execute())
    text = pages.filled(f"<!-- table: {key} -->", Recorded({key: claim}, store), tmp_path, "page")
    assert text.startswith("| ")
    assert "<!--" not in text


# --- counts ---------------------------------------------------------------------------------------


def test_every_recount_is_what_transformers_has():
    built = [r for r in recounts() if r.built is not None]
    assert len(built) >= 0.95 * len(recounts())
    assert [r.model.name for r in built if r.built != r.counts.total] == []


def test_at_least_98_percent_have_exactly_the_parameters_of_the_list():
    listed = [r for r in recounts() if r.model.listed]
    assert len(listed) == 128
    assert [r.model.name for r in listed if r.model.listed not in (0, r.as_listed)] == ["OPT-350M"]


def test_a_reason_stands_beside_every_model_that_differs_and_no_other():
    different = {
        r.model.name
        for r in recounts()
        if not r.as_reported or abs(r.counts.total - r.model.listed) > 0.01 * r.model.listed > 0
    }
    assert different == {r.model.name for r in recounts() if r.model.difference}
    shown = part("exceptions")
    assert all(name in shown for name in different)


def test_matrices_of_the_layers_are_those_of_the_column_that_claims_read():
    for r in recounts():
        inside = sum(
            w.stored
            for w in weights(architecture(r.model))
            if len(w.shape) == 2 and w.role in ("attention", "mlp", "expert", "router")
        )
        assert inside == r.model.parameters, r.model.name


@pytest.mark.parametrize(
    ("text", "size", "half"),
    [("124M", 124e6, 0.5e6), ("70B", 70e9, 5e9), ("1.54B", 1.54e9, 0.005e9), ("1.0B", 1e9, 5e7)],
)
def test_a_reported_size_may_be_rounded_in_its_last_digit(text, size, half):
    assert reported_size(text) == pytest.approx((size, half))


def test_ten_configurations_are_exact_here_and_shown_for_every_tool():
    heading, _, *rows, last = part("tools").splitlines()
    assert len(rows) == 10
    assert all(row.split(" | ")[2] == "exact" for row in rows)
    assert "10 of 10" in last
    for tool in ("accelerate", "EleutherAI cookbook", "llm-analysis, by hand"):
        assert tool in heading
        assert f"- {tool}: " in part("versions")


def test_the_page_says_which_comparisons_reach_98_percent():
    rows = [row.split(" | ") for row in part("summary").splitlines()[4:]]
    assert [row[-1] for row in rows] == ["yes |", "yes |", "no |", "no |", "no |"]
    assert rows[0][1:4] == ["172", "172 (100.0 %)", "172 (100.0 %)"]
    assert [row[3] for row in rows[1:]] == [
        "127 (99.2 %)",
        "119 (93.0 %)",
        "124 (70.5 %)",
        "160 (90.9 %)",
    ]


def test_all_complete_models_are_on_the_page():
    assert len(part("models").splitlines()) == 2 + len(recounts())
    assert f"{len(recounts())} are complete" in part("summary")
