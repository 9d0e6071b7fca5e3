"""The appendix: everything in it comes from records, the same records give the same bytes in every
format, and nothing is written by halves."""

import csv
import json
import re
from dataclasses import replace
from fractions import Fraction

import pikepdf
import pytest
import sympy

from depthlaw.advisor.base.quantities import UsageError
from depthlaw.empirics.separation_rank.frontier import table as frontier_table
from depthlaw.ledger.cli.arguments import main
from depthlaw.ledger.publish.appendix import appendix_figures, document as module, formats
from depthlaw.ledger.publish.appendix.appendix_figures import plates
from depthlaw.ledger.publish.appendix.document import write_appendix
from depthlaw.ledger.publish.appendix.formats import Document
from depthlaw.ledger.publish.appendix.printed_claims import Statement
from depthlaw.ledger.publish.appendix.typesetting import code, prose
from depthlaw.ledger.publish.questions import QUESTIONS
from depthlaw.ledger.publish.tables import csv_rows
from depthlaw.ledger.records.environment import installing
from depthlaw.ledger.records.store import Store
from depthlaw.ledger.running.engines import Inline, execute
from depthlaw.ledger.running.plan import plan
from depthlaw.ledger.verdicts.claim_set import claim_set
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.reference_ledger import Agreement, shipped
from depthlaw.ledger.verdicts.suite_verdicts import ClaimResult, results, verdict_name
from depthlaw.theory.claims.definition import Case, Claim, Control, Source, Step, registry
from depthlaw.theory.claims.printing import latex, symbols
from depthlaw.theory.claims.symbols import depth as L, width as d
from depthlaw.theory.claims.values import Ball, Exact
from depthlaw.theory.separation_rank.degree import deg
from depthlaw.theory.separation_rank.value_rank import sep

SHAPES = Case.grid(width=(2, 3), depth=(1, 2), heads=1, tokens=4)
FILES = [
    *("CITATION.cff", "SHA256SUMS", "appendix.html", "appendix.md", "appendix.pdf"),
    *("appendix.tex", "checklist.md", "manifest.json", "references.bib", "results.csv"),
    *("results.parquet", "values.tex"),
]


def claim(name, statement, measured, **changes) -> Claim:
    key = name if "/" in name else f"separation_rank/{name}"
    made = Claim(
        key=key,
        title="a_title & 50% | more",
        text="For all x_i, |x| <= 3^(L-1) $5 {a}.",
        statement=statement,
        headline="It stands here.",
        source=Source("levine2020", "Theorem 1 & 2", "arXiv:2006.12467v3"),
        wording="recalled",
        kind="upper",
        holds_for="almost every",
        measured=measured,
        grid={"quick": SHAPES},
        control=Control(SHAPES[0], "nine_times", measured=far),
        note="as recalled",
    )
    return replace(made, **changes)


def far(case, seed):
    return Exact(10**30)


def rank(case, seed):
    return Exact({(2, 1): 3, (2, 2): 18, (3, 1): 4, (3, 2): 49}[case.width, case.depth])


CLAIMS = [
    claim(
        "degree",
        sympy.Eq(deg, 3**L),
        lambda c, seed: Exact(3**c.depth),
        kind="identity",
        proof=lambda statement: [Step("step_one: 3^L", True), Step("step two", True)],
        rests_on="Prose: the induction.",
        source=Source("dong2021", "Lemma 3"),
        wording="printed",
    ),
    claim("known_false", sympy.Le(sep, 2**L), rank, known="FAILS"),
    claim("loose", sympy.Le(sep, 10 ** (20 * L) * d), rank, wording="universal"),
    claim("surprise2", sympy.Le(sep, 17), rank, source=Source("depthlaw", "after ye2025, part 2")),
    claim(
        "depth_choice/open",
        sympy.Eq(sep, 9),
        lambda c, seed: Ball(Fraction(8), Fraction(10)),
        headline="",
    ),
    claim("depth_choice/torch_only", sympy.Eq(sep, 9), rank, needs="empirics"),
    claim(
        "own_topic/if_conjecture",
        sympy.Ge(sep, 9),
        lambda c, seed: Exact(10),
        kind="conditional",
        note="Rests on a conjecture.",
        headline="",
        control=Control(SHAPES[0], "less", measured=lambda c, seed: Exact(1)),
    ),
]
KEYED = {c.key: c for c in CLAIMS}


def records_of(claims, root):
    store = Store(root)
    # As where torch is not installed.
    runs = [run for run in plan({c.key: c for c in claims}, "quick") if not run.claim.needs]
    assert execute(runs, store, Inline()) == []
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return records_of(CLAIMS, tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def out(store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("appendix") / "out"
    write_appendix(folder, KEYED, store, everything=True)
    return folder


@pytest.fixture
def quick(monkeypatch):
    """Without the programs that write the formats and the figures, for what does not look at
    them."""
    monkeypatch.setattr(appendix_figures, "line_plot", lambda *_, **options: b"drawn")
    for name, made in (("pdf", b"pdf"), ("html", "html"), ("latex", "tex")):
        monkeypatch.setattr(Document, name, lambda self, made=made: made)


def section(text, heading):
    return re.split(r"\n# ", re.split(rf"\n# {heading}[^\n]*\n", text)[1])[0]


def test_same_records_same_bytes_in_every_format(store, out, tmp_path):
    written = write_appendix(tmp_path / "new" / "out", KEYED, Store(store.root), everything=True)
    assert [path.relative_to(tmp_path / "new" / "out").as_posix() for path in written] == FILES
    for path in written:
        assert path.read_bytes() == (out / path.name).read_bytes(), path.name
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out"]


def test_formats_say_the_same(out):
    page = (out / "appendix.html").read_text()
    tex = (out / "appendix.tex").read_text()
    assert (out / "appendix.pdf").read_bytes().startswith(b"%PDF-1")
    assert b"pdfaid" in (out / "appendix.pdf").read_bytes()
    for number in range(1, len(CLAIMS) + 1):
        assert f"<strong>Statement {number}</strong>" in page
    assert tex.count(r"\dlstatement{") == len(CLAIMS)
    # Nothing is asked for: neither by the page nor by the style within.
    body = page.partition("<style>")[0] + page.partition("</style>")[2].partition("<script>")[0]
    assert not re.search(r'(?:src|href)="(?!#|data:|https://arxiv\.org|https://doi)', body)
    assert "url(fonts/" not in page
    assert "@@" not in body
    targets = set(re.findall(r'href="#([^"]+)"', body))
    assert targets <= set(re.findall(r'id="([^"]+)"', body))


def test_latex_is_well_formed(out):
    text, values = ((out / name).read_text() for name in ("appendix.tex", "values.tex"))
    for source in (text, values):
        plain = re.sub(r"\\\\|\\[{}%&#$_]", "", re.sub(r"(?<!\\)%.*", "", source))
        assert plain.count("{") == plain.count("}")
        assert plain.count("$") % 2 == 0
    macros = dict(re.findall(r"^\\newcommand\{(\\[A-Za-z]+)\}\{(.*)\}%$", values, re.M))
    assert len(macros) == 4 + 4 * len(CLAIMS)
    assert macros[r"\dlSeparationRankSurpriseTwo"] == "FAILS (as recalled)"
    assert macros[r"\dlSeparationRankSurpriseTwoInScope"] == str(len(SHAPES))
    assert macros[r"\dlSeparationRankDegreeSlack"] == "--"
    labels = re.findall(r"\\label\{(.*?)\}", text) + re.findall(r"\\dlstatement\{(.*?)\}", text)
    # The definitions of \dlstatement and of a table's floats name their arguments.
    assert set(re.findall(r"\\ref\{([^\\]*?)\}", text)) <= set(labels)
    assert len(labels) == len(set(labels))
    groups = re.findall(r"\\cite[tp](?:\[[^]]*\])*\{(.*?)\}", text)
    cited = {key for group in groups for key in group.split(",")}
    listed = set(re.findall(r"^@\w+\{(.*?),", (out / "references.bib").read_text(), re.M))
    assert listed == cited | {"depthlaw"} == {"levine2020", "dong2021", "ye2025", "depthlaw"}


def test_findings_name_counterexamples_and_surprises(out):
    text = (out / "appendix.md").read_text()
    printed, besides = section(text, "Statements"), section(text, "What else fails")
    failing = re.findall(r"Counterexample: .*is \$.*", printed)
    assert len(failing) == 2
    assert "is $18$, stated $\\le$ $17$" in " ".join(failing)
    attention = besides.partition("**Needs attention.**")[2]
    assert "FAILS at" in attention
    assert "UNDECIDED at" in attention
    # What has its counterexample or its premise beside it is not told again.
    assert "tbl-failing" not in besides
    assert "Rests on a conjecture." in printed
    assert "Rests on a conjecture." not in besides
    assert "vacuous" in printed
    assert "4 not recorded" in printed or "nothing is recorded" in text


def test_a_reading_that_fails_is_counted_and_no_row_of_the_table(store):
    known_false, surprise = (KEYED[f"separation_rank/{n}"] for n in ("known_false", "surprise2"))
    reading = replace(known_false, wording="universal")
    claims = {c.key: c for c in (reading, surprise)}
    judged = results(claims, "quick", store)
    found = module._findings(judged, ())
    assert [s.claim.key for s in found["failing"]] == [surprise.key]
    assert found["readings"] == 1
    assert module._findings(judged, claims)["failing"] == []
    said = module._summary({r.claim.key: verdict_name(r) for r in judged}, claims)
    assert said == "2 cited claims: 1 FAILS (as recalled) and 1 READING FAILS."


def test_headlines_by_default_and_exactly_what_is_named(store, quick, tmp_path):
    def printed(name, **asked):
        write_appendix(tmp_path / name, KEYED, store, **asked)
        text = (tmp_path / name / "appendix.md").read_text()
        return re.findall(r"::: \{\.statement #claim-([\w-]+)\}", text), text

    shown, text = printed("headlines")
    assert len(shown) == sum(bool(c.headline) for c in CLAIMS)
    assert "*It stands here.*" in text
    # What is no headline, and is undecided, is among the findings all the same.
    assert "UNDECIDED at" in section(text, "What else fails")
    shown, text = printed("two", keys=["separation_rank/degree", "depth_choice/open"])
    assert shown == ["separation-rank-degree", "depth-choice-open"]
    assert "It stands here" not in text
    assert "depthlaw verify quick --only separation_rank/degree --only depth_choice/open" in text
    assert "The paper uses the 2 claims below" in text
    # Counts of so few say nothing new, and no method that they do not use is explained.
    assert "cited claims:" not in text
    assert "Student" not in text


def test_a_changed_claim_is_judged_anew_and_is_not_of_the_released_set(recorded):
    """The reference ledger holds its records; that its statement is another one must be seen."""
    key = "connectivity/reach"
    assert module._verdicts(recorded, {}, "")[key] == "PROVED"
    held = recorded.claims[key]
    two = replace(held, statement=held.statement.subs(3, 2))
    changed = Recorded(dict(recorded.claims) | {key: two}, recorded.store)
    verdicts = module._verdicts(changed, {}, "")
    assert verdicts[key] == "FAILS"
    records = [next(iter(recorded.store))]
    source = module._source(changed, verdicts, records, "", "depthlaw appendix FOLDER", None, None)
    known = module._source(recorded, verdicts, records, "", "depthlaw appendix FOLDER", None, None)
    assert known.claim_set == claim_set().name
    assert source.claim_set == f"{known.claim_set} with 1 changed claim"
    assert source.claims_hash != known.claims_hash == claim_set().hash
    assert key in source.changed
    assert source.held == len(recorded.store)


def test_record_facts_reach_the_reader(store, out):
    facts = next(iter(store)).facts["environment"]
    text = section((out / "appendix.md").read_text(), "Reproduction").replace("\\", "")
    assert facts["python"] in text
    assert facts["packages"]["sympy"] in text
    manifest = json.loads((out / "manifest.json").read_text())
    assert f"`{manifest['hash']}`" in text
    assert len(manifest["runs"]) == len(store)


@pytest.mark.parametrize(
    ("names", "needs", "said"),
    [("bound2 bound_two", "", "dlSeparationRankBoundTwo"), ("torch", "empirics", "verify quick")],
)
def test_what_cannot_be_written_leaves_nothing(names, needs, said, quick, tmp_path):
    claims = [claim(name, sympy.Le(sep, 99), rank, needs=needs) for name in names.split()]
    store = records_of(claims, tmp_path / "results")
    with pytest.raises(UsageError, match=said) as error:
        write_appendix(tmp_path / "out", {c.key: c for c in claims}, store)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_failure_while_writing_leaves_nothing(store, quick, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "canonical", full)
    with pytest.raises(UsageError, match="No space left on device"):
        write_appendix(tmp_path / "out", KEYED, store)
    assert list(tmp_path.iterdir()) == []


def test_without_the_programs_it_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(formats, "find_spec", lambda name: None if name == "typst" else object())
    assert main(["appendix", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "Typst" in said
    assert "pandoc" not in said
    assert installing("appendix") in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--topic", "hops", "--all"], "exclude each other"),
        (["--topic", "hops/doubling"], "--claims hops/doubling"),
        (["--claims", "hops/dubling"], "hops/doubling"),
        (["--suite", "slow"], "accepted: quick"),
        (["--claims", ","], "--claims"),
        (["--topic", ""], "topics are"),
    ],
)
def test_options_that_cannot_be_meant(options, said, tmp_path, capsys):
    assert main(["appendix", str(tmp_path / "out"), *options]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("typst", ["lr(bar.v.double W bar.v.double)_1", "lr(|E|)_1", "binom(a, b)", '"31,456"']),
        ("latex", ["<", r"\|W\|_1"]),
    ],
)
def test_maths_that_writers_read_otherwise(form, expected):
    text = r"$\|W\|_1 \lt \vert E\vert_1$ and $\tbinom{a}{b}\thinspace 31{,}456$"
    document = Document(text, "t", "s", "f", "2026-01-01", "", {})
    written = document._converted(form)
    for part in expected:
        assert part in written


def test_letters_beyond_latin_are_set_or_marked():
    """Fonts of papers lack most letters: they become maths, or are named by their number."""
    text = prose("α ≤ β in ℝ, √2, 日本 😀, é")
    assert "日" not in text
    assert "[U+65E5]" in text.replace("\\", "")
    document = Document(f"{text} and {code('é ≤ x')}", "t", "s", "f", "2026-01-01", "", {})
    written = document.latex()
    for part in ("\\alpha", "\\leq", "é"):
        assert part in written
    assert not set("αβ≤ℝ√\ufffd") & set(written)
    assert document.pdf().startswith(b"%PDF")


def test_every_row_of_a_long_table_is_printed():
    rows = [f"row{i:03}" for i in range(150)]
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {row} | x |" for row in rows)
    document = Document(table, "t", "s", "f", "2026-01-01", "", {})
    for written in (document.latex(), document.html()):
        assert [row for row in rows if row not in written] == []


def test_it_says_whose_records_these_are_and_what_was_repeated_here(store, quick, tmp_path):
    def said(name, **asked):
        write_appendix(tmp_path / name, KEYED, store, everything=True, **asked)
        return section((tmp_path / name / "appendix.md").read_text(), "Reproduction")

    own = said("own")
    assert "those of a results folder, not of the reference ledger" in own
    assert "repeated" not in own
    none = said("none", repeated=Agreement(0, 0, 0, ()))
    assert "the package authors' records" in none
    assert "None of them was repeated" in none
    differs = ("separation_rank/degree", b"{}", 0, False), {}, {}
    some, every = Agreement(7, 7, 6, (differs,)), Agreement(1234, 1234, 1234, ())
    agree = "of them were repeated on this machine, and"
    assert f"7 {agree} 6 of these agree" in said("some", repeated=some)
    assert f"1,234 {agree} agree" in said("all", repeated=every)


def test_records_of_the_users_own_are_counted_beside_the_shipped_ones(tmp_path, monkeypatch, quick):
    """What was measured here is compared with the reference; it was passed over in silence."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    key = "separation_rank/degree"
    assert main(["verify", "quick", "--only", key, "--engine", "inline", "--quiet"]) == 0
    assert main(["appendix", str(tmp_path / "out"), "--claims", key]) == 0
    text = (tmp_path / "out/appendix.md").read_text()
    assert f".venv/bin/depthlaw verify quick --only {key}" in text
    found = re.search(r"(\d+) of them were repeated on this machine, and agree", text)
    assert found
    assert int(found[1]) > 5


def test_headlines_are_not_those_that_a_referee_would_refute():
    """Refuted by single runs, or failing as a bound that is known from memory."""
    headlines = {key: claim.headline for key, claim in registry().items() if claim.headline}
    assert "evidence/depth_wins" not in headlines
    assert "separation_rank/upper_bound_deep" not in headlines


def test_measuring_again_names_every_suite_that_is_printed(tmp_path, quick):
    keys = (
        "connectivity/layers_for_diameter",
        "rank_collapse/published_scores",
        "exercises/deeper_is_better",
        "trained_rank/floor_attained",
    )
    write_appendix(tmp_path / "out", {k: registry()[k] for k in keys}, shipped(), keys=keys)
    text = (tmp_path / "out/appendix.md").read_text()
    rows = csv.DictReader((tmp_path / "out/results.csv").read_text().splitlines())
    used = {row["suite"] for row in rows}
    commands = re.findall(r"depthlaw verify (\w+)", text.partition("to measure again")[2])
    assert used == {"quick", "full", "exercises", "training"}
    # Suite full includes suite quick.
    assert set(commands) == used - {"quick"}


# --- what a reader of the default appendix gets ---------------------------------------------------


@pytest.fixture(scope="module")
def default(tmp_path_factory):
    """The folder of the appendix that is written by default, without HTML and LaTeX."""
    folder = tmp_path_factory.mktemp("default") / "out"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("html", "latex"):
            patch.setattr(Document, name, lambda self: "")
        write_appendix(folder, registry(), shipped())
    return folder


def test_the_default_appendix_has_at_most_ten_pages(default):
    """Fonts and layout are Typst's own, so the number is the same on every machine."""
    with pikepdf.open(default / "appendix.pdf") as document:
        assert 5 <= len(document.pages) <= 10


def test_findings_stand_first_in_five_lines_with_numbers(default):
    found = section("\n" + (default / "appendix.md").read_text(), "Found")
    lines = re.findall(r"^- (.*)$", found, re.M)
    assert len(lines) == 5
    assert all(re.search(r"\d", line) and "{.verdict}" in line for line in lines)
    assert "<!--" not in found
    rows = re.findall(r"^\| (\[.*)$", found, re.M)
    assert len(rows) == sum(bool(c.headline) for c in registry().values())
    assert all(row.split(" | ")[0].endswith("{.verdict}") for row in rows)


def test_a_finding_is_told_only_with_the_verdicts_that_it_speaks_of(recorded):
    keys = [key for key, claim in recorded.claims.items() if claim.headline]
    judged = {key: recorded.judged(key) for key in keys}
    assert len(module._found(judged, 1)) == 5
    other = judged | {"hops/depth_corrected": judged["hops/construction_printed_depth"]}
    assert len(module._found(other, 1)) == 4


def test_cases_are_in_words_and_undecided_ones_in_one_line(default):
    text = (default / "appendix.md").read_text()
    for field in ("nets 2", "asked row", "first 10", "Open at", "updates 60000"):
        assert field not in text
    within = re.findall(r"14 of 384 cases are undecided: .*?\.", text)
    assert within == ["14 of 384 cases are undecided: $L = 2$, distances 7 to 9, 240,000 updates."]


def stray(row, claims):
    """The numbers of a recipe that no note, text or case of its claims has."""
    known = " ".join(f"{c.note} {c.text} {c.every_case}" for c in claims).replace(",", "")
    said = " ".join((row["nets"], row["data"], row["training"], row["seeds"])).replace(",", "")
    return [n for n in re.findall(r"\d+(?:\.\d+)?", said) if not re.search(rf"\b{n}\b", known)]


def test_recipes_are_those_of_the_claims():
    for row in csv_rows(module.__package__, "recipes.csv"):
        claims = [registry()[key] for key in row["claims"].split()]
        assert stray(row, claims) == [], row["claims"]
        assert stray(row | {"seeds": "7531"}, claims) == ["7531"]


def test_title_and_methods_go_by_the_claims_chosen(quick, tmp_path):
    def printed(name, *keys):
        write_appendix(tmp_path / name, {k: registry()[k] for k in keys}, shipped(), keys=keys)
        text = (tmp_path / name / "appendix.md").read_text()
        return text, section(text, "How claims are judged")

    text, methods = printed("one", "hops/depth_corrected", "rank_collapse/one_layer_cubic")
    assert "on rank collapse and least depth of tasks" in text
    assert "Proofs in Rocq" in methods
    assert [word for word in ("Student", "Exact ranks", "ARGUED", "HOLDS") if word in methods] == []
    # Nothing fails, so no section says that.
    assert "fails or is open" not in text
    text, methods = printed("other", "depth_width/depth_gains_by_updates")
    assert "Student" in methods
    assert "Proofs in Rocq" not in methods


def test_letters_with_several_meanings_are_explained_where_they_stand():
    used = [Statement(ClaimResult(c, (), None, None), 1) for c in registry().values()]
    shared = module._shared(used)
    letters = [latex(symbol) for symbol in shared.values()]
    assert len(letters) == len(set(letters)) > 0
    meanings = {s for u in used for s in symbols(u.claim.statement) if latex(s) == "k"}
    assert len(meanings) > 1
    assert "k" not in letters


def test_a_sentence_of_several_notes_is_printed_once():
    keys = ("trained_depth/wall_within", "trained_depth/wall_beyond")
    claims = [registry()[key] for key in keys]
    statements = [Statement(ClaimResult(c, (), None, None), n) for n, c in enumerate(claims, 1)]
    first, second = module._notes(statements).values()
    assert "AdamW" in first
    assert "AdamW" not in second
    assert "The rest as in Statement 1." in second


# --- figures --------------------------------------------------------------------------------------


def test_only_figures_that_draw_a_claim_asked_for(recorded):
    keys = "trained_depth/wall_within", "trained_depth/wall_beyond", "trained_rank/floor_holds"
    drawn = (*QUESTIONS["rank-collapse"].claims, *keys, "depth_width/losses_by_updates")
    some = Recorded({key: recorded.claims[key] for key in drawn}, recorded.store)
    assert [p.name for p in plates(some)] == ["rank-collapse", "reach", "floors"]
    assert [p.name for p in plates(some, {"trained_rank/floor_holds"})] == ["floors"]
    assert plates(some, {"hops/doubling"}) == []


def test_without_records_there_are_no_figures(recorded, tmp_path):
    assert plates(Recorded(recorded.claims, Store(tmp_path))) == []


@pytest.mark.slow
def test_exact_ranks_are_counted_in_the_caption(recorded):
    (plate,) = plates(recorded, {"separation_rank/exact"})
    shown = {
        (row.case.width, row.case.depth)
        for claim in recorded.claims.values()
        if claim.table is frontier_table
        for suite in claim.grid
        if (result := recorded.of(suite, claim.key))
        for row in result.cases
        if row.records and row.case.width in (2, 4, 10, 16)
    }
    assert f"in {len(shown)} of {len(shown)} entries" in plate.caption
    # By hand: the graded piece of order 6 at width 4 and depth 3 is short of 4.
    assert "31,456 in place of 31,460 at $d_x = 4$, $L = 3$" in plate.caption
    assert "FAILS (as recalled) beyond the threshold, at $d_x = 4$, $L = 34$" in plate.caption
