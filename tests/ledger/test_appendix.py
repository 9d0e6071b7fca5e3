"""The appendix: everything in it comes from records, the same records give the same bytes, and
nothing is written by halves."""
import hashlib
import html
import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy
from markdown_it import MarkdownIt

from depthlaw.ledger.publish import appendix as module
from depthlaw.ledger.publish.appendix import AppendixError, write_appendix
from depthlaw.ledger.run.engines import Inline, execute
from depthlaw.ledger.run.plan import plan
from depthlaw.ledger.run.records import Store, manifest
from depthlaw.ledger.verdicts.report import results
from depthlaw.theory.claim import Case, Claim, Control, Source, Step
from depthlaw.theory.separation_rank.degree import deg
from depthlaw.theory.separation_rank.value_rank import sep
from depthlaw.theory.symbols import depth as L
from depthlaw.theory.symbols import width as d
from depthlaw.theory.values import Ball, Exact

SHAPES = Case.grid(width=(2, 3), depth=(1, 2), heads=1, tokens=4)
FILES = ["SHA256SUMS", "appendix.md", "appendix.tex", "figures/separation-rank.pdf",
         "figures/separation-rank.png", "manifest.json", "references.bib", "values.tex"]


def claim(name, statement, measured, **changes) -> Claim:
    key = name if "/" in name else f"separation_rank/{name}"
    made = Claim(key=key, title="a_title & 50% | more", text="For all x_i, |x| <= 3^(L-1) $5 {a}.",
                 statement=statement,
                 source=Source("levine2020", "Theorem 1 & 2", "arXiv:2006.12467v3"),
                 wording="recalled", kind="upper", holds_for="almost every", measured=measured,
                 grid={"quick": SHAPES}, control=Control(SHAPES[0], "nine_times", measured=far),
                 note="as recalled")
    return replace(made, **changes)


def far(case, seed):
    return Exact(10**30)


def rank(case, seed):
    return Exact({(2, 1): 3, (2, 2): 18, (3, 1): 4, (3, 2): 49}[case.width, case.depth])


CLAIMS = [
    claim(
        "degree", sympy.Eq(deg, 3**L), lambda c, seed: Exact(3**c.depth), kind="identity",
        proof=lambda statement: [Step("step_one: 3^L", True), Step("step two", True)],
        rests_on="Prose: the induction.", source=Source("dong2021", "Lemma 3"), wording="printed"),
    claim("dimension_count", sympy.Le(sep, 3 ** (d * L)), rank,
          assumes={"d < 9": lambda c: c.width < 9}),
    claim("known_false", sympy.Le(sep, 2**L), rank, known="FAILS"),
    claim("loose", sympy.Le(sympy.log(sep) / sympy.log(3), sympy.Abs(10**L * d)), rank),
    claim("surprise2", sympy.Le(sep, 17), rank),
    claim("depth_choice/open", sympy.Eq(sep, 9), lambda c, seed: Ball(Fraction(8), Fraction(10))),
    claim("depth_choice/torch_only", sympy.Eq(sep, 9), rank, needs="empirics"),
    claim("depth_choice/if_conjecture", sympy.Ge(sep, 9), lambda c, seed: Exact(10),
          kind="conditional", note="Rests on a conjecture.",
          control=Control(SHAPES[0], "less", measured=lambda c, seed: Exact(1)))]


def judged(claims, root):
    claims = {c.key: c for c in claims}
    store = Store(root)
    # As where torch is not installed.
    runs = [run for run in plan(claims, "quick") if not run.claim.needs]
    assert execute(runs, store, Inline()) == []
    listed = manifest(store.get(run.id) for run in runs)
    return results(claims, "quick", store), "quick", listed, store


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    return judged(CLAIMS, tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def out(inputs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("appendix") / "out"
    write_appendix(folder, *inputs)
    return folder


def section(text, heading):
    return re.split(r"\n#+ ", text.partition(f"# {heading}\n")[2])[0]


def test_writes_the_files_it_names(inputs, tmp_path):
    written = write_appendix(tmp_path / "new" / "out", *inputs)
    assert [p.relative_to(tmp_path / "new" / "out").as_posix() for p in written] == FILES
    assert all(p.stat().st_size for p in written)
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["out"]


def test_hashes_hold(out):
    listed = dict(line.split("  ")[::-1]
                  for line in (out / "SHA256SUMS").read_text().splitlines()[1:])
    assert listed == {name: hashlib.sha256((out / name).read_bytes()).hexdigest()
                      for name in FILES[1:]}


def test_same_records_same_bytes(inputs, out, tmp_path):
    found, suite, listed, store = inputs
    claims = {r.claim.key: r.claim for r in found}
    again = Store(store.root)
    for path in write_appendix(tmp_path / "out", results(claims, suite, again), suite, listed,
                               again):
        assert path.read_bytes() == (out
                                     / path.relative_to(tmp_path / "out")).read_bytes(), path.name
    assert write_appendix(tmp_path / "out", *inputs)


def test_manifest_is_the_manifest(inputs, out):
    assert json.loads((out / "manifest.json").read_text()) == inputs[2]
    for name in ("appendix.md", "appendix.tex", "values.tex"):
        assert inputs[2]["hash"][:8] in (out / name).read_text()
    assert inputs[2]["hash"] in (out / "appendix.md").read_text()


def test_findings_tell_what_fails_first(out):
    text = (out / "appendix.md").read_text()
    fails = section(text, "Fails as its source has it")
    assert fails.index("surprise2") < fails.index("known_false")
    assert "unexpected" in fails.partition("known_false")[0]
    assert "known to fail as recalled" in fails
    assert (r"`depth=2 heads=1 tokens=4 width=2`: measured $\operatorname{sep}$: $18$; "
            r"stated $\operatorname{sep} \leq {}$ $17$") in fails
    assert "`separation_rank/loose`" in section(text, "Vacuous")
    assert "depth_choice/torch_only" in section(text, "Not run")
    assert "torch_only" not in section(text, "Undecided")
    assert "depth_choice/open" in section(text, "Undecided")
    assert "Rests on a conjecture." in section(text, "Conditional")
    assert "surprise2" in section(text, "Needs attention")
    assert "None." in section(text, "Premise refuted")
    assert text.index("## Findings") < text.index(
        "### Fails") < text.index("### Vacuous") < text.index("### Conditional")


def test_counterexample_names_its_record(inputs, out):
    failed = next(r for r in inputs[0] if r.claim.key.endswith("surprise2"))
    (record,) = failed.counterexample.records
    for name in ("appendix.md", "appendix.tex"):
        assert record.id[:8] in (out / name).read_text()


def test_markdown_survives_a_renderer(inputs, out):
    text = (out / "appendix.md").read_text()
    page = MarkdownIt("commonmark").enable("table").render(text)
    tables = re.findall(r"<table>.*?</table>", page, re.S)
    assert len(tables) == 2 + 1 + len(CLAIMS)
    assert sum(table.count("<tr>")
               for table in tables) == len(re.findall(r"^\|", text, re.M)) - len(tables)
    # A renderer pads short rows and cuts long ones, so the pipes are counted in the source.
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block
    maths = set(re.findall(r"(?<!\\)\$[^$\n]+(?<!\\)\$", text))
    assert len(maths) > len(CLAIMS)
    assert maths <= set(re.findall(r"\$[^$\n]+\$", html.unescape(page)))
    for anchor in re.findall(r"\]\(#(.*?)\)", text):
        assert text.count(f'<a id="{anchor}"></a>') == 1
    for result in inputs[0]:
        assert html.escape(result.claim.title) in page


def test_latex_is_well_formed(out):
    text, values = ((out / name).read_text() for name in ("appendix.tex", "values.tex"))
    for source in (text, values):
        body = re.sub(r"(?<!\\)%.*", "", source)
        assert all(c == "\n" or c.isprintable() for c in source)
        assert body.isascii()
        plain = re.sub(r"\\[{}%&#$_]", "", body)
        assert plain.count("{") == plain.count("}")
        assert plain.count("$") % 2 == 0
    open_ = []
    for kind, name in re.findall(r"(?<!%)\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            open_.append(name)
        else:
            assert open_.pop() == name
    assert open_ == []
    assert set(re.findall(r"\\ref\{(.*?)\}", text)) <= set(re.findall(r"\\label\{(.*?)\}", text))
    assert len(re.findall(r"\\label\{(.*?)\}",
                          text)) == len(set(re.findall(r"\\label\{(.*?)\}", text))) >= 6


def test_bibliography_holds_what_is_cited_and_nothing_else(out):
    cited = set(re.findall(r"\\cite\{(.*?)\}", (out / "appendix.tex").read_text()))
    assert set(re.findall(r"^@\w+\{(.*?),", (out / "references.bib").read_text(),
                          re.M)) == cited == {"levine2020", "dong2021", "depthlaw"}


def test_values_has_one_set_of_macros_for_each_claim(inputs, out):
    macros = dict(re.findall(r"^\\newcommand\{(\\[A-Za-z]+)\}\{(.*)\}$",
                             (out / "values.tex").read_text(), re.M))
    assert (len(macros) == (out / "values.tex").read_text().count(r"\newcommand") == 6 + 4
            * len(CLAIMS))
    assert macros[r"\dlSeparationRankDegree"] == "ARGUED"
    assert macros[r"\dlSeparationRankSurpriseTwo"] == "FAILS"
    assert (macros[r"\dlSeparationRankSurpriseTwoDecided"]
            == macros[r"\dlSeparationRankSurpriseTwoInScope"] == str(len(SHAPES)))
    assert macros[r"\dlSeparationRankDegreeSlack"] == "--"
    assert macros[r"\dlDepthChoiceOpenDecided"] == "0"
    assert macros[r"\dlRuns"] == str(len(inputs[2]["runs"]))


def test_changed_records_change_the_appendix(out, tmp_path):
    changed = [replace(c, measured=lambda c, seed: Exact(rank(c, seed).value - 1))
               if c.key.endswith("dimension_count") else c for c in CLAIMS]
    write_appendix(tmp_path / "out", *judged(changed, tmp_path / "results"))
    for name in ("appendix.md", "appendix.tex", "values.tex", "manifest.json",
                 "figures/separation-rank.pdf"):
        assert (tmp_path / "out" / name).read_bytes() != (out / name).read_bytes(), name


def test_macros_that_collide_are_refused(tmp_path):
    both = [claim("bound2", sympy.Le(sep, 99), rank), claim("bound_two", sympy.Le(sep, 99), rank)]
    with pytest.raises(AppendixError, match="dlSeparationRankBoundTwo"):
        write_appendix(tmp_path / "out", *judged(both, tmp_path / "results"))
    assert not (tmp_path / "out").exists()


def test_without_a_figure(tmp_path):
    write_appendix(tmp_path / "out", *judged(CLAIMS[:1], tmp_path / "results"))
    assert not (tmp_path / "out" / "figures").exists()
    assert "includegraphics" not in (tmp_path / "out" / "appendix.tex").read_text()


def test_missing_measurements_are_said(inputs, tmp_path):
    _, suite, _, store = inputs
    claims = {c.key: c for c in CLAIMS}
    extra = claim("not_yet", sympy.Le(sep, 99), rank)
    known = [record for run in plan(claims, suite) if (record := store.get(run.id))]
    write_appendix(tmp_path / "out", results(claims | {extra.key: extra}, suite, store), suite,
                   manifest(known), store)
    for name in ("appendix.md", "appendix.tex"):
        # Those of the claim that needs torch count too: one number, whatever the reason.
        assert f"{2 * len(SHAPES)} cases have no record yet" in (
            tmp_path / "out" / name).read_text()


def test_nothing_recorded_says_what_to_run(tmp_path):
    claims = {c.key: c for c in CLAIMS}
    store = Store(tmp_path / "results")
    with pytest.raises(AppendixError, match="run `depthlaw verify quick` first") as error:
        write_appendix(tmp_path / "out", results(claims, "quick", store), "quick", manifest([]),
                       store)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("spoil",
                         [lambda m: m | {"hash": "0" * 64}, lambda m: m | {"runs": m["runs"][1:]},
                          lambda m: m | {"runs": [*m["runs"], ["f" * 64, "0" * 64]]},
                          lambda m: m | {"runs": [[run, "0" * 64] for run, _ in m["runs"]]}])
def test_manifest_of_other_records_is_refused(inputs, tmp_path, spoil):
    found, suite, listed, store = inputs
    with pytest.raises(AppendixError, match="verify quick"):
        write_appendix(tmp_path / "out", found, suite, spoil(listed), store)
    assert not (tmp_path / "out").exists()


def test_verdicts_on_unlisted_records_are_refused(inputs, tmp_path):
    found, suite, listed, store = inputs
    fewer = manifest(store.get(run) for run, _ in listed["runs"][1:])
    with pytest.raises(AppendixError, match="does not list"):
        write_appendix(tmp_path / "out", found, suite, fewer, store)


def test_unknown_source_is_one_line(tmp_path):
    lost = claim("lost", sympy.Le(sep, 99), rank, source=Source("nobody1999", "p. 1"))
    with pytest.raises(AppendixError, match="nobody1999"):
        write_appendix(tmp_path / "out", *judged([lost], tmp_path / "results"))


def test_foreign_and_edited_files_are_kept(inputs, tmp_path):
    write_appendix(tmp_path / "out", *inputs)
    (tmp_path / "out" / "paper.tex").write_text("mine")
    with pytest.raises(AppendixError, match=r"paper\.tex, which depthlaw did not write"):
        write_appendix(tmp_path / "out", *inputs)
    (tmp_path / "out" / "paper.tex").unlink()
    (tmp_path / "out" / "appendix.md").write_text("mine")
    with pytest.raises(AppendixError, match="edited"):
        write_appendix(tmp_path / "out", *inputs)
    assert (tmp_path / "out" / "appendix.md").read_text() == "mine"


def test_failure_while_writing_leaves_nothing(inputs, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "canonical", full)
    with pytest.raises((AppendixError, OSError), match="No space left on device"):
        write_appendix(tmp_path / "out", *inputs)
    assert list(tmp_path.iterdir()) == []


def test_record_facts_reach_the_reader(inputs, out):
    environment = next(record.facts["environment"] for result in inputs[0]
                       for record in result.records)
    for name in ("appendix.md", "appendix.tex"):
        text = (out / name).read_text()
        assert environment["python"] in text
        assert environment["packages"]["sympy"] in text
        assert "cpu" in text
    assert "depthlaw verify quick" in (out / "appendix.md").read_text()
