"""The pages that are generated, and those of papers, against the registry; docs/counting.md:
listed models recounted, with a reason for each that differs."""

import csv
import re
from pathlib import Path

import pytest

from depthlaw.advisor import atlas
from depthlaw.advisor.counting import weights
from depthlaw.advisor.models import architecture
from depthlaw.advisor.rule_scores import table
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.publish.site import atlas_pages, depth_evidence, pages, paper_pages
from depthlaw.ledger.publish.site.count_comparison import part, recounts, reported_size
from depthlaw.ledger.publish.site.page_blocks import Recorded
from depthlaw.ledger.records.store import Store
from depthlaw.ledger.running.engines import Inline, execute
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts.citations import entries, named, sources
from depthlaw.ledger.verdicts.suite_verdicts import ClaimResult
from depthlaw.theory.claims.definition import registry
from depthlaw.theory.claims.verdict import Verdict

DOCS = Path(__file__).parents[2] / "docs"
PAPERS = sorted((DOCS / "papers").glob("*.md"))
LINKED = re.compile(r"\(/claims/(\w+/\w+)\.md\)")


def _linked(docs: Path, judged: list[ClaimResult]) -> dict[str, list[str]]:
    """The claims that the pages of docs/papers link, with those in their tables."""
    linked = {}
    for page in (docs / "papers").glob("*.md"):
        text = pages._to_pages(page.read_text(encoding="utf-8"))
        text = re.sub(r"<!-- verdict: (\S+) -->", r"[not run](/claims/\1.md)", text)
        linked[page.stem] = LINKED.findall(paper_pages.filled(text, docs, judged))
    return linked


def test_every_claim_on_a_paper_is_on_the_pages_of_papers(tmp_path):
    """Each claim with a sentence of a source, and each cited one derived after a source; on the
    index where the paper has no page."""
    on_papers = {
        c.key
        for c in registry().values()
        if {*sources(str(c.source))} - {"depthlaw"}
        and (c.tier == "cited" or c.wording != "derived")
    }
    judged = [ClaimResult(claim, (), None, None) for claim in registry().values()]
    linked = set().union(*_linked(DOCS, judged).values())
    assert sorted(on_papers - linked) == []
    assert sorted(linked - set(registry())) == [], "docs/papers links claims that do not exist"

    (tmp_path / "papers").mkdir()
    for page in PAPERS:
        text = page.read_text(encoding="utf-8")
        (tmp_path / "papers" / page.name).write_text(text.replace("<!-- paper: dong2021 -->", ""))
    moved = _linked(tmp_path, judged)
    assert "rank_collapse/layers_uniform" in moved.pop("index")
    assert "rank_collapse/bert_init_full_curve" in on_papers - set().union(*moved.values())


def test_pages_of_papers_name_papers_and_no_keys():
    """Title and first paragraph say whose paper it is, as people type it."""
    for page in PAPERS:
        text = page.read_text(encoding="utf-8")
        words = re.sub(r"<!--.*?-->|\]\([^)]*\)|https?://\S+", "", text)
        assert {*re.findall(r"\b[a-z]+\d{4}[a-z]*\b", words)} & {*entries()} == set(), page
        if page.stem in entries():
            title, answer = text.split("\n\n", 2)[:2]
            words = named(page.stem).removesuffix(" n.d.").split()
            assert [word for word in words if word not in title + answer] == [], page
    with pytest.raises(ValueError, match="no claim names abbe2024"):
        paper_pages.filled("<!-- paper: abbe2024 -->", DOCS, [])


def test_pages_are_written_from_records_the_same_again_and_nothing_stale_stays(tmp_path):
    same = "hops/construction_printed_spacing"
    claims = {key: registry()[key] for key in (same, "separation_rank/degree")}
    docs, out = tmp_path / "docs", tmp_path / "site"
    docs.mkdir()
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        (tmp_path / name).write_text("[guide](docs/depth.md)\n")
    (docs / "hand-written.md").write_text(
        "# before\n\n<!-- table: separation_rank/degree -->\n\n| old |\n\n<!--/-->\nafter\n"
    )
    store = Store(tmp_path / "results")
    assert execute(plan(claims, "quick"), store, Inline()) == []
    stale = out / "claims" / "hops" / "gone.md"
    stale.parent.mkdir(parents=True)
    stale.write_text("old")
    recorded = Recorded(claims, store)
    first = {path: path.read_bytes() for path in pages.write(docs, out, recorded)}
    of_claims = f"{same} hops/index index separation_rank/degree separation_rank/index"
    alone = "bibliography contributing findings glossary hand-written open/index"
    assert {path.relative_to(out).as_posix() for path in first} == {
        *("edition.txt", *(f"{name}.md" for name in alone.split())),
        *(f"claims/{name}.md" for name in of_claims.split()),
        *(f"tasks/{task}.md" for task in ("index", "classes", *atlas.tasks())),
    }
    former = (out / "data" / "former-claims.csv").read_text()
    assert 'depth_width/deeper_updates_are_slower,UNDECIDED,,"it timed updates' in former
    assert same not in former, "its verdict is as it was"
    assert (out / "contributing.md").read_text() == "[guide](/depth.md)\n"
    assert not stale.exists()
    assert {path: path.read_bytes() for path in pages.write(docs, out, recorded)} == first
    page = (out / "claims" / "separation_rank" / "degree.md").read_text()
    parts = (
        "levine2020",
        "as recalled",
        "**PROVED**: in Rocq",
        "Theorem `Degree.",
        "One of",
        "[All cases](/data/",
    )
    assert [part for part in parts if part not in page] == []
    assert [part for part in ("not run", "quantifier:", "weight:") if part in page] == []
    printed = (out / "claims" / f"{same}.md").read_text()
    assert "**Counterexample**: " in printed
    assert "(/claims/hops/construction_printed_spacing.md)" in (out / "findings.md").read_text()
    assert (out / "hand-written.md").read_text() == (
        "# before\n\n*Nothing is recorded for this yet.*\n\nafter\n"
    )


def test_a_section_without_records_is_left_out(tmp_path):
    key = "separation_rank/degree"
    recorded = Recorded({key: registry()[key]}, Store(tmp_path / "results"))
    text = f"# a\n\n## b\n\nyes\n\n## c\n\n<!-- values: {key} -->\n\n### d\n\n<!-- bounds -->\n"
    shown = pages.filled(text, recorded, tmp_path, "page")
    assert re.findall("^#+ (.)", shown, re.M) == ["a", "b", "d"], "d has a table without records"
    assert pages.NOTHING not in shown


def _contrast(one: str, other: str) -> float:
    """The ratio of two colours by WCAG 2."""

    def light(colour: str) -> float:
        parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_verdicts_are_coloured_and_can_be_read():
    css = (DOCS / "_static" / "site.css").read_text(encoding="utf-8")
    blocks = re.findall(r"\{((?:\s*--[\w-]+: #\w{6};)+)\s*\}", css)
    light, dark, automatic = (dict(re.findall(r"--([\w-]+): (#\w+);", block)) for block in blocks)
    assert dark == automatic
    assert dark.keys() == light.keys()
    # What pages and cards are drawn on.
    for colours, grounds_ in ((light, ("#ffffff", "#f8f9fb")), (dark, ("#131416", "#1a1c1e"))):
        assert [c for c in colours.values() for g in grounds_ if _contrast(c, g) < 4.5] == []
    assert _contrast("#9aa0a6", "#ffffff") < 4.5, "grey that is too light"
    for verdict in Verdict:
        own = verdict.value.lower().replace("_", "-")
        assert f".verdict.{own}" in css or own in ("undecided", "out-of-scope")


def test_words_of_a_source_stand_once_with_its_bounds(capsys):
    page = atlas_pages.pages(lambda key: None, Path())[Path("dihedral-words.md")]
    assert main(["tasks", "list", "dihedral-words"]) == 0
    for text in (page, capsys.readouterr().out):
        assert text.count("“More generally, we show that k-layer DCD SSMs can express") == 1


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


def test_the_picture_of_regrets_has_every_rule_on_every_source_and_its_title_holds():
    panel, scores = depth_evidence.regrets(), table().scores
    each, mean = panel.series
    assert len(panel.x_names) == len(set(panel.x_names)) == len(scores) == 15
    told = [sorted(y for x, y in zip(each.x, each.y, strict=True) if x == at) for at in mean.x]
    assert told == [sorted(score.sources.values()) for score in scores]
    assert list(mean.y) == pytest.approx([sum(row) / len(row) for row in told])
    least = float(re.findall(r"[\d.]+", panel.title)[0])
    assert least <= min(map(max, told)) < least + 0.01


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


def test_all_complete_models_are_in_the_file_of_the_page(tmp_path):
    page = (DOCS / "counting.md").read_text()
    shown = pages.filled(page, Recorded({}, Store(tmp_path / "none")), tmp_path, "counting")
    with (tmp_path / "data" / "models.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["model"] for row in rows] == [r.model.name for r in recounts()]
    assert [row["parameters"] for row in rows] == [f"{r.counts.total:,}" for r in recounts()]
    assert f"(/data/models.csv): {len(recounts())} rows" in shown
    assert f"{len(recounts())} are complete" in part("summary")
