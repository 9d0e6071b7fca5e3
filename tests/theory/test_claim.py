"""Every claim of the registry, held to the same rules."""

import dataclasses
import itertools
import re
from importlib.resources import files
from pathlib import Path

import pytest
import sympy

from depthlaw.ledger.verdicts.claim_set import claim_set, claim_sets
from depthlaw.theory.claims.definition import SUITES, Claim, find, measured_symbol, registry, topics
from depthlaw.theory.claims.evaluation import at
from depthlaw.theory.claims.printing import latex
from depthlaw.theory.claims.symbols import TERMS, plain
from depthlaw.theory.claims.values import Case, Exact
from depthlaw.theory.claims.verdict import Verdict, judge
from depthlaw.theory.claims.withdrawn import withdrawn

CLAIMS = list(registry().values())
IDS = [c.key for c in CLAIMS]
BIBLIOGRAPHY = set(
    re.findall(
        r"^@\w+\{([^,]+),", (files("depthlaw.theory") / "bibliography.bib").read_text(), re.M
    )
)

# Trainings take minutes: the controls of trained claims are recorded in the reference ledger, which
# tests/ledger/test_verdicts.py judges; `verify` runs them.
_LONG = {
    "rank_collapse": """
        bert_init_full_curve published_scores paths_deteriorate longer_paths_flatter
        circle_pair_collapses circle_pair_stays trained_attention_collapses_later
        trained_attention_collapses trained_nets_keep_residual amnesia_is_near
        forgetting_outruns_collapse training_draws_tokens_together""",
    "signal_propagation": """
        mup_logits_flat completep_flat_shallow deepnorm_update_with_biases post_ln_amplification""",
}
LONG = {f"{topic}/{name}" for topic, names in _LONG.items() for name in names.split()}
QUICK = [
    c
    for c in CLAIMS
    if c.topic != "trained_depth" and c.key not in LONG and (not c.needs or c.cases("full"))
]
assert set(IDS) >= LONG
# Seconds; and where the smallest case is one of suite full, dozens of nets are drawn, or trained.
SLOW = {"signal_propagation/epsilon_exponents"} | {
    c.key for c in CLAIMS if c.needs and not c.cases("quick")
}


def first_decidable(claim: Claim) -> Case:
    cases = (c for suite in SUITES for c in claim.grid.get(suite, ()))
    return next(c for c in cases if claim.broken(c) is None)


def test_every_topic_has_claims():
    assert sorted({c.topic for c in CLAIMS}) == topics()


# Decorators that make no claim, by the last part of their name.
OTHER_DECORATORS = {"argument", "cache", "contextmanager", "lru_cache", "no_grad"}


def test_claims_are_listed_by_topic_and_module_whatever_was_imported_first():
    places = [claim.measured.__module__.split(".")[1:] for claim in registry().values()]
    assert places == sorted(places, key=lambda place: (place[1], place))


def test_every_decorated_function_of_a_topic_is_a_claim():
    """Read off the sources, so that a module which the registry passes over is seen."""
    lost = []
    for folder in map(Path, (str(files("depthlaw.theory")), str(files("depthlaw.empirics")))):
        for path in sorted(folder.rglob("*.py")):
            topic = path.relative_to(folder).with_suffix("").parts[0]
            lost += [
                f"{path}: {name}"
                for name in decorated(path.read_text())
                if f"{topic}/{name}" not in registry()
            ]
    assert lost == []


def decorated(source: str) -> list[str]:
    """The functions of a module, as `ruff format` leaves it, whose decorator may make a claim."""
    found, made_by = [], set[str]()
    for decorator, function in re.findall(r"^@(?:\w+\.)*(\w+)|^(?:class |def (\w+))", source, re.M):
        if decorator:
            made_by.add(decorator)
            continue
        found += [function] * bool(function and made_by - OTHER_DECORATORS)
        made_by.clear()
    return found


# What notes say of changes after data.
CHANGED_AFTER_DATA = re.compile(
    r"\b([Ss]plit off|Restated|dropped after|[Ff]irst measured|[Ww]ritten after|after (a|the) "
    r"(first|second|third) (look|trial|run|measurement|recording)|since a (trial|first)|"
    r"were added when they were known|had been (seen|measured))"
)
# Notes that say what was expected, or how the control was chosen, and not that the claim changed.
UNCHANGED = {"rank_collapse/layer_constant"}


@pytest.mark.parametrize("claim", CLAIMS, ids=IDS)
def test_its_words_grid_and_statement_keep_the_rules(claim: Claim):
    assert re.fullmatch(r"[a-z_]+/[a-z0-9_]+", claim.key)
    assert claim.source.key in BIBLIOGRAPHY, f"{claim.source.key} is not in bibliography.bib"
    assert claim.source.place
    assert claim.title
    # A formula reads as one word.
    assert len(re.sub(r"\$[^$]*\$", "formula", claim.title).split()) <= 16
    assert not claim.title.endswith(".")
    assert claim.text.endswith("."), "the statement in words is made of sentences"
    assert set(claim.grid) <= set(SUITES)
    assert claim.control.why
    if claim.wording == "recalled":
        assert "recalled" in claim.note, "a recalled wording must say so in its note"
    if claim.wording == "universal":
        assert '"' in claim.note, "a universal reading quotes the sentence that it hardens"
    if claim.kind == "conditional":
        assert claim.note, "what it is conditional on"
    if claim.holds_for == "these nets":
        assert re.search(r"\b([Tt]hese|our)\b", claim.title), claim.title
        assert "typical" not in claim.title + claim.text

    # What the verdict may say: the ladder of docs/decisions/0007.
    assert bool(claim.proof) == bool(claim.rests_on), (
        "a proof says in one line what of it a reader must check; nothing else does"
    )
    assert len(claim.plain.rests_on) <= 300
    assert "\n" not in claim.rests_on
    assert (claim.evidence == "certificate") == (claim.certified is not None)
    assert claim.evidence != "certificate" or (claim.proof and claim.kind == "two-sided")
    assert claim.evidence == "argument" or claim.proof
    assert claim.key not in claim.premises
    assert set(claim.premises) <= set(IDS)
    assert claim.known != claim.expected, "known is what is known since, where it differs"

    # What was changed after data is marked in every list.
    assert len(claim.plain.post_hoc) <= 400
    assert "\n" not in claim.post_hoc
    if CHANGED_AFTER_DATA.search(claim.note) and claim.key not in UNCHANGED:
        assert claim.post_hoc, "its note says that it was changed after data: a * belongs to it"

    # There are cases, each once, and one in scope.
    cases = [c for suite in SUITES for c in claim.grid.get(suite, ())]
    assert cases
    assert len(set(cases)) == len(cases), "a case stands twice in the grid"
    assert first_decidable(claim) in cases
    measured_symbol(claim.statement, cases[0])

    assert {s.name for s in claim.statement.free_symbols} <= set(TERMS)
    assert plain(claim.statement)
    assert latex(claim.statement)
    # Relations are not evaluated when claims are made: none is true whatever is measured.
    assert isinstance(claim.statement.func(*claim.statement.args), sympy.core.relational.Relational)


def test_suite_theory_is_mathematics():
    """What needs torch is in suite quick, where it takes seconds, or beyond theory."""
    assert [claim.key for claim in CLAIMS if claim.needs and "theory" in claim.grid] == []


def test_every_claim_says_what_it_is_for():
    claims = registry()
    for key, claim in claims.items():
        said = [each for each in (claim.plain.cited, claim.supports) if each]
        assert len(said) == 1, key
        if claim.supports:
            assert claims[claim.supports].tier == "cited", key
            continue
        assert len(said[0]) <= 100, key
        assert said[0][0].isupper(), key
        assert said[0].endswith("."), key
        assert not re.search(r"HOLDS|FAILS|ARGUED|PROVED|UNDECIDED", said[0]), key
    reasons = [claim.cited for claim in claims.values() if claim.cited]
    assert len(reasons) == len(set(reasons)) <= 131
    assert all(claim.cited for claim in claims.values() if claim.headline)


def test_claims_written_with_their_data_in_view_are_marked():
    assert find("trained_depth/wall_seen").post_hoc
    assert find("rank_collapse/cubic_drop").post_hoc


def test_withdrawn_keys_are_not_used_again_and_say_where_their_content_went():
    assert not set(withdrawn()) & set(IDS)
    released = {key for name in claim_sets() for key in claim_set(name).claims}
    assert not released - set(withdrawn()) - set(IDS)
    for where in withdrawn().values():
        assert where
        assert all(key in IDS for key in re.findall(r"\b[a-z_]+/[a-z0-9_]+\b", where))


def test_few_claims_are_for_a_gpu_and_none_of_their_cases_is_as_small_as_another():
    """Cases that nobody runs are weight: beside each case of another suite one of suite gpu is
    larger in some number, apart from that of the nets drawn."""

    def sizes(case: Case) -> dict[str, int]:
        return {k: v for k, v in case.fields().items() if type(v) is int and k != "replicas"}

    for_gpu = [claim for claim in CLAIMS if "gpu" in claim.grid]
    assert 0 < len(for_gpu) <= 16
    for claim in for_gpu:
        smaller = [case for s, cases in claim.grid.items() if s != "gpu" for case in cases]
        for case, other in itertools.product(map(sizes, claim.grid["gpu"]), map(sizes, smaller)):
            assert any(size > other.get(name, 0) for name, size in case.items()), claim.key


@pytest.mark.parametrize(
    "claim",
    [pytest.param(c, id=c.key, marks=[pytest.mark.slow] if c.key in SLOW else []) for c in QUICK],
)
def test_first_case_and_control_are_measured_without_the_prediction_and_only_the_control_fails(
    claim: Claim, monkeypatch: pytest.MonkeyPatch
):
    control, case, value = claim.control, first_decidable(claim), None
    if not claim.measurable and control.measured is None:
        pytest.skip("needs the extra " + claim.needs)

    def forbidden(*_: object) -> None:
        raise AssertionError("measured used the prediction")

    monkeypatch.setattr(Claim, "predict", forbidden)
    monkeypatch.setattr("depthlaw.theory.claims.definition.at", forbidden)
    monkeypatch.setattr("depthlaw.theory.claims.verdict.at", forbidden)
    if claim.predicted is not None and claim.predicted.__qualname__.isidentifier():
        place = f"{claim.predicted.__module__}.{claim.predicted.__qualname__}"
        monkeypatch.setattr(place, forbidden)
    if claim.measurable:
        value = claim.measure(case)
    wrong = value
    if value is None or (control.case, control.seed, control.measured) != (case, 0, None):
        wrong = claim.measure(control.case, control.seed, control=control.measured is not None)
    monkeypatch.undo()
    # A control FAILS by what is wrong in it alone: the true statement passes on its first case.
    if value is not None and claim.awaited != "FAILS":
        assert judge(claim, case, value).verdict is not Verdict.FAILS
    stated = claim.statement if control.statement is None else control.statement
    decision = judge(dataclasses.replace(claim, statement=stated), control.case, wrong, force=True)
    assert decision.verdict is Verdict.FAILS, decision


def test_the_check_of_negative_controls_can_fail():
    """The test above would notice a control that does not fail."""
    decision = judge(find("separation_rank/degree"), Case(depth=2, width=2), Exact(9), force=True)
    assert decision.verdict is Verdict.HOLDS


def test_floors_and_ceilings_of_logarithms_are_exact_at_powers_and_next_to_them() -> None:
    whole, places = sympy.Symbol("whole", positive=True), (2**20 - 1, 2**20, 2**20 + 1)
    for rounded, right in ((sympy.floor, [19, 20, 20]), (sympy.ceiling, [20, 20, 21])):
        expression = 1 + 2 * rounded(sympy.log(whole) / sympy.log(2))
        found = [at(expression, Case(whole=place)) for place in places]
        assert found == [1 + 2 * value for value in right]
