"""Published grids and what follows: regrets by hand, controls that must turn them, no leak from the
source that judges to those that choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import pytest

from depthlaw.advisor import grids, laws, models, rule_scores as evidence, rules
from depthlaw.advisor.grids import STANDARD, NetKind
from depthlaw.advisor.recommendation import recommend
from depthlaw.advisor.words import as_text, rule_evidence

Rows = list[dict[str, str]]
SCORED = [g for g in grids.grids() if g.scored]


def forget() -> None:
    """Empty what was computed from the data."""
    read = [
        grids.grids,
        grids.loss_grids,
        rules.rules,
        rules.family,
        evidence._grids_to_score,
        evidence.score,
    ]
    scored = [evidence.score, evidence._candidates, evidence.table]
    chosen = [*scored, evidence.best_rule, evidence.default_rule]
    for made in read + chosen:
        made.cache_clear()


@pytest.fixture
def change(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[Rows], None]], None]]:
    """Other data for one test."""

    def apply(edit: Callable[[Rows], None]) -> None:
        rows = [dict(row) for row in original()]
        edit(rows)
        monkeypatch.setattr(grids, "rows", lambda: tuple(rows))
        forget()

    original = grids.rows
    yield apply
    monkeypatch.undo()
    forget()


def grid(name: str) -> grids.Grid:
    return next(g for g in grids.grids() if g.name == name)


def regrets(volume: float, layers: int, *volumes: float) -> list[float]:
    """Of a net of this volume and depth by the grids of losses of these that cover its shape."""
    ratio = math.sqrt(volume / layers) / layers
    found = (g.regret_at(ratio) for g in grids.loss_grids() if g.volume in volumes)
    return [regret for regret in found if regret is not None]


# --- the data ------------------------------------------------------------------------------------


def test_every_row_says_where_and_how_it_is_known() -> None:
    for row in grids.rows():
        assert min(row["source"], row["place"]) > "", row
        assert row["wording"] in {"printed", "reported", "recalled", "derived"}, row
        assert 2020 <= int(row["year"]) <= 2026, row
        assert Fraction(row["value"]) > 0, row
        budgets = {"total", "nonembedding", "FLOPs", "time", "dominated", "none"}
        assert row["budget"] in budgets, row


@pytest.mark.parametrize("found", SCORED, ids=lambda g: f"{g.source} {g.name}")
def test_a_scored_grid_compares_depths_at_one_budget(found: grids.Grid) -> None:
    assert len({cell.layers for cell in found.cells}) == len(found.cells) >= 2
    assert found.volume > 0
    assert found.share(found.best) == found.loss_regret(found.best) == 0
    sizes = [cell.size for cell in found.cells if cell.size]
    if found.budget in ("total", "nonembedding") and len(sizes) > 1:
        assert max(sizes) / min(sizes) < 1.32


def test_sizes_of_gemstones_are_those_of_their_shapes() -> None:
    # Grouped queries: 15 d^2 weights in a layer (44/3 at width 384), two norms of d, one more at
    # the end, and two tables of 50304 rows; the totals of the cooled nets are printed.
    for row in grids.rows():
        if row["source"] == "Gemstones":
            layers, d = int(row["layers"]), int(row["width"])
            per_layer = Fraction(44, 3) if d == 384 else 15
            inside = per_layer * layers * d * d + 2 * d * layers + d
            assert int(row["nonembedding"]) == inside
            assert int(row["total"]) == inside + 2 * 50304 * d
            assert float(row["per_layer"]) == pytest.approx(float(per_layer), rel=1e-4)


# --- regret --------------------------------------------------------------------------------------


def test_regret_of_nanochat_on_t5_by_hand() -> None:
    # T5 base has 12 layers of width 768: what d = 64 L asks for.
    found = evidence.score(rules.rule("nanochat"))
    outcome = next(o for o in found.outcomes if o.grid.source == "Narang et al.")
    assert outcome.layers == 12
    assert outcome.depth == pytest.approx(12)
    assert outcome.share == pytest.approx((1.838 - 1.831) / (1.857 - 1.831))
    assert outcome.loss == pytest.approx((1.838 - 1.831) / 1.831)
    assert not outcome.hit
    assert not outcome.beyond


def test_a_depth_between_two_cells_is_charged_between_them_by_hand() -> None:
    # Halfway in ln L between 6 layers (1.857) and 8 (1.847): nothing hangs on the nearer side.
    found = grid("T5 at 223M")
    middle = math.sqrt(6 * 8)
    for cost, ends in (
        (found.share, (1, (1.847 - 1.831) / (1.857 - 1.831))),
        (found.loss_regret, (0.026 / 1.831, 0.016 / 1.831)),
    ):
        assert found.at(middle, cost) == pytest.approx(sum(ends) / 2, rel=1e-3)
        assert found.at(middle * 1.0001, cost) == pytest.approx(found.at(middle, cost), rel=1e-3)
        assert (found.at(2, cost), found.at(6, cost)) == (cost(found.cells[0]),) * 2
        assert found.at(99, cost) == cost(found.cells[-1])


def test_what_speaks_against_a_depth() -> None:
    assert "MobileLLM: 30 layers beat 12" in map(str, evidence.contradicting(1.06e8, 12, 10.667))
    assert not any("MobileLLM" in each for each in evidence.contradicting(1.06e8, 28, 10.667))
    assert evidence.contradicting(1e13, 12) == ()
    assert evidence.contradicting(1.06e8, 12, 10.667, known_by=2019) == ()
    longest = {g.nets for g in grids.loss_grids()}
    for g in SCORED:
        if g.nets in longest and g not in grids.loss_grids():
            continue
        for cell in g.cells:
            said = f"{g.source}: {g.best.layers} layers beat {cell.layers}"
            assert g.share(cell) <= 0.5 or said in map(
                str, evidence.contradicting(g.volume, cell.layers, 1)
            )
    deepest = max((g for g in SCORED if g.source == "MobileLLM"), key=lambda g: g.volume)
    for factor, near in ((3.9, True), (4.1, False)):
        against = evidence.contradicting(factor * deepest.volume, 4, 1)
        assert any("MobileLLM" in each for each in against) == near


def test_losses_are_compared_at_the_mean_size() -> None:
    # 28 x 1024 has 440M parameters without embeddings, 45 x 768 has 398M: as published 28 layers
    # win by 0.7 %, at equal size 45 do.
    name = "337-440M without embeddings"
    raw = next(g for g in grids.grids(0.0) if g.name == name)
    assert raw.best.layers == 28
    assert grid(name).best.layers == 45
    costs = {cell.layers: cell.cost for cell in grid(name).cells}
    sizes = {r["layers"]: int(r["nonembedding"]) for r in grids.rows() if r["grid"] == name}
    assert costs[28] / costs[45] == pytest.approx(
        2.6982 / 2.7178 * (sizes["28"] / sizes["45"]) ** 0.076, rel=1e-12
    )


def _always(pick: Callable[[grids.Grid], grids.Cell], key: str) -> rules.Rule:
    """A rule that knows every grid and picks a cell of it."""
    depths = {round(12 * g.volume): float(pick(g).layers) for g in grids.grids() if g.scored}
    return rules.Rule(
        key, key, "", "optimum", lambda size: depths[round(size)], "", "derived", 2026, None
    )


def test_the_rule_that_picks_the_worst_cells_is_the_worst_and_the_best_the_best(change) -> None:
    def apart(rows: Rows) -> None:  # two grids of one size, between which a rule cannot tell
        for row in rows:
            if row["source"] == "Cramming":
                row["nonembedding"] = str(int(row["nonembedding"]) + 1000)
            elif "11B tokens" in row["grid"] or "33B tokens" in row["grid"]:
                row["budget"] = "none"  # of the same nets as other grids

    change(apart)
    worst = evidence.score(_always(lambda g: max(g.cells, key=lambda c: c.cost), "worst"))
    best = evidence.score(_always(lambda g: g.best, "best"))
    found = evidence.table()
    # All three shapes of Morph have one value.
    assert worst.mean == pytest.approx((len(found.rows) - 1) / len(found.rows))
    # Before and after cooling down two Gemstones of 45 and 28 layers change places.
    assert best.mean < 0.001
    assert best.hits == len(best.outcomes) - 1
    assert all(best.mean < s.mean < worst.mean for s in found.scores)


@pytest.mark.parametrize(
    "edit",
    [
        lambda r: {"measure": "loss"} if r["source"] == "codelion" else {},
        lambda r: {"value": str(3 - int(r["value"]))} if r["measure"] == "rank" else {},
        lambda r: {"value": "2.6"} if (r["grid"][:4], r["layers"]) == ("1.70", "50") else {},
        lambda r: {"budget": "none"} if r["source"] == "MobileLLM" else {},
    ],
    ids=["better flipped", "orders turned round", "one cell changed", "a source dropped"],
)
def test_a_change_in_the_data_changes_the_scores(change, edit: Callable[[dict], dict]) -> None:
    before = [(s.rule.key, s.mean) for s in evidence.table().scores]
    change(lambda rows: [row.update(edit(row)) for row in rows])
    assert [(s.rule.key, s.mean) for s in evidence.table().scores] != before


# --- the recommendation --------------------------------------------------------------------------


def made(key: str, *shares: float) -> evidence.Scores:
    """Scores of a rule by sources named by their place."""
    return evidence.Scores(rules.rule(key), dict(zip("abcdefghijk", shares, strict=False)), {}, ())


def test_the_rule_that_is_followed_stays_until_one_is_told_from_it() -> None:
    """Of six sources all on one side p is 2 / 2^6, below 5 %; of five it is 2 / 2^5, above."""
    for sources, follows in ((5, "mup"), (6, "nanochat")):
        followed, other = made("mup", *[0.9] * sources), made("nanochat", *[0.1] * sources)
        found = evidence.choice([followed, other])
        assert (found.best.key, found.rule.key) == ("nanochat", follows)
        assert found.kept == (follows == "mup") == (rules.rule("mup") in found.alike)
    # Among those not told from the best, and without the one that is followed, the oldest.
    few = [made("marin", 0.1, 0.2), made("levine", 0.8, 0.9), made("nanochat", 0.3, 0.3)]
    found = evidence.choice(few)
    assert (found.best.key, found.rule.key) == ("marin", "levine")
    assert [r.key for r in found.alike] == ["levine", "nanochat", "marin"]
    with pytest.raises(ValueError, match="eligible"):
        evidence.choice([])
    assert evidence.table().choice.rule.key == evidence.best_rule().key == "mup"


def test_other_rules_are_tested_against_the_one_that_is_followed() -> None:
    """Not against that of the least mean: with the exact test over all signs written anew here, by
    what was known in each year, and where the two tests differ."""
    few = [
        made("mup", *[0.5] * 8),
        made("added", *[0.1] * 3, *[0.6] * 5),
        made("marin", *[0.55] * 8),
    ]
    sets = [list(few)]
    for year in range(2020, 2027):
        scored = [s for s in evidence.table(known_by=year).scores if s.rule.eligible]
        sets += [scored] if evidence.table(known_by=year).choice else []
    differ = 0
    for scored in sets:
        found = evidence.choice(scored)
        own = next(s for s in scored if s.rule == found.rule)

        def told(other: evidence.Scores, own: evidence.Scores = own) -> bool:
            apart = [other.sources[name] - share for name, share in own.sources.items()]
            far = abs(sum(apart)) - 1e-9
            signs = product((1, -1), repeat=len(apart))
            sums = [abs(sum(s * x for s, x in zip(turn, apart, strict=True))) for turn in signs]
            return sum(total >= far for total in sums) <= 0.05 * len(sums)

        expected = {s.rule.key for s in scored if s is not own and not told(s)}
        assert {r.key for r in found.untold} == expected
        differ += {*found.untold, found.rule} != {*found.alike}
    assert differ
    text = " ".join(as_text(recommend("1B", known_by=2025)).split())
    assert "2 other published rules, which the data cannot tell" in text


def test_what_the_alternatives_would_have_chosen_is_what_the_decision_says() -> None:
    """Of the rules that the sources do not tell apart: the oldest, the best, the shallowest, the
    deepest and the middle one at 1e9 weights in layers."""
    found = evidence.table()
    alike = found.choice.alike
    depths = {rule.name: rule.depth(1e9) for rule in alike}
    order = sorted(depths, key=depths.__getitem__)
    others = [alike[0].name, found.choice.best.name, order[0], order[-1], order[len(order) // 2]]
    decision = (Path(__file__).parents[2] / "docs/decisions/0040-the-default-rule.md").read_text()
    for name in others:
        assert f"| {name} | {depths[name]:.0f} |" in decision, name
    assert f"{found.by_scores:.3f}" in decision
    least = min(found.scores, key=lambda s: s.mean)
    assert (least.rule.key, least.rule.eligible) == ("built", False)
    own, best = (found.of(rule.key).mean for rule in (found.choice.rule, found.choice.best))
    regrets = f"({least.mean:.3f}; Liu's fit has {best:.3f}, muP's best d / L {own:.3f})"
    assert regrets in " ".join(decision.split())
    assert "names a depth to build" in {*least.rule.fails} & {*rules.rule("gemstones").fails}
    paired = [evidence.gain(found.of(a.key), found.of(b.key)) for a in alike for b in alike]
    assert f"the least p is {min(p.chance for p in paired):.2f}" in decision
    best = found.of(found.choice.best.key)
    told = {s.rule.key: evidence.gain(best, s) for s in found.scores}
    assert {key: f"{g.chance:.3f}" for key, g in told.items() if g.told} == {"kaplan": "0.021"}


@pytest.mark.parametrize("differences", [(1,), (2, -1), (3, 1, 1, -2), (0, 0), (1, 2, 3, 4, 5, 6)])
def test_the_test_is_that_over_all_signs(differences: tuple[int, ...]) -> None:
    shares = [0.5 + x / 20 for x in differences]
    paired = evidence.gain(made("mup", *[0.5] * len(shares)), made("nanochat", *shares))
    turned = [
        abs(sum(sign * x for sign, x in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert paired.chance == sum(x >= abs(sum(differences)) for x in turned) / len(turned)
    assert paired.mean == pytest.approx(sum(differences) / 20 / len(differences))


@pytest.mark.parametrize("source", evidence.table().sources)
def test_the_source_that_judges_has_no_say_in_the_choice(change, source: str) -> None:
    def chosen() -> rules.Rule:
        """By least regret, without the source."""
        rows = evidence.table(pool="published").rows
        return next(r.chosen for r in rows if r.source == source)

    before = chosen().key

    def turn(rows: Rows) -> None:
        for row in rows:
            if row["source"] == source and row["measure"] != "best d/L":
                value = Fraction(row["value"])
                logarithm = row["measure"] == "perplexity"
                row["value"] = str(float(1000 / value if logarithm else 10 - value))

    change(turn)
    assert chosen().key == before
    assert chosen().read_off != source
    # One source turned round tells no rule from the one that is followed.
    assert evidence.best_rule().key == "mup"


def test_a_rule_is_not_chosen_for_the_source_it_was_read_off(change) -> None:
    def two_sources(rows: Rows) -> None:
        for row in rows:
            if row["source"] not in ("nanochat", "Narang et al."):
                row["budget"] = "none"
            elif row["source"] == "Narang et al." and row["layers"] == "12":
                row["value"] = "1.5"

    change(two_sources)
    found = evidence.table(pool="published")
    assert found.best.rule.key == "nanochat"
    row = next(r for r in found.rows if r.source == "nanochat")
    assert row.chosen.read_off != "nanochat"
    assert row.regret == 0


def test_the_sources_tell_rules_apart_only_by_a_paired_difference() -> None:
    found = evidence.table()
    paired = evidence.gain(found.best, found.default)
    assert paired.mean == pytest.approx(found.default.mean - found.best.mean)
    assert (paired.better, paired.worse, paired.sources) == (6, 4, 12)
    assert f"{paired.error:.3f} {paired.chance:.2f}" == "0.056 1.00"
    assert not paired.told
    assert f"{found.best.mean:.3f} of a grid's range" in rule_evidence()
    assert evidence.gain(found.best, found.of("kaplan")).mean > 0
    same = evidence.gain(found.best, found.best)
    assert (same.better, same.worse, same.chance, same.told) == (0, 0, 1.0, False)
    clear = evidence.Gain(0.3, 0.05, 9, 1, 10, 0.02)
    assert clear.told
    assert str(clear).endswith("0.02 over all signs: told apart")
    assert not clear._replace(chance=0.06).told


def test_other_kinds_of_nets_follow_the_optimum_published_for_them() -> None:
    assert evidence.best_rule(NetKind("mup")).key == "mup"
    assert evidence.best_rule(NetKind("completep")).key == "mup"
    assert evidence.best_rule(NetKind(residual="attnres")).key == "attnres"
    assert evidence.best_rule(NetKind(norm="post")) == evidence.best_rule()
    assert "published for this kind" in rule_evidence(NetKind("mup"))


def test_as_of_a_year_only_what_was_known() -> None:
    assert evidence.best_rule(known_by=2019).key == "nanochat"
    assert rule_evidence(known_by=2019).startswith("no rule was published by then")
    assert evidence.table(known_by=2019).scores == evidence.table(known_by=2020).scores == ()
    assert evidence.best_rule(known_by=2020).key == "levine"
    for year in (2021, 2023, 2024, 2025):
        found = evidence.table(known_by=year)
        assert all(o.grid.year <= year for s in found.scores for o in s.outcomes)
        assert all(r.chosen.year <= year or r.chosen in rules.family(year) for r in found.rows)
    assert evidence.interval(1e9, known_by=2024) is None
    assert rule_evidence(known_by=2020).startswith("the oldest rule")
    assert rule_evidence(known_by=2024).startswith("the only eligible rule")
    assert evidence.table(known_by=2023).of("nanochat").rule.key == "nanochat"


# --- price and interval --------------------------------------------------------------------------


def test_price_between_two_cells_by_hand() -> None:
    # 50 x 1536 and 27 x 2048 at 1.7e9 weights in layers, cooled and not.
    start, end = 1536 / 50, 2048 / 27
    found = grids.price(1.7e9 * 12 / 15, start, end)
    size = (
        (15 * 27 * 2048**2 + 2 * 27 * 2048 + 2048) / (15 * 50 * 1536**2 + 2 * 50 * 1536 + 1536)
    ) ** grids.SIZE_EXPONENT
    by_hand = {2.514 / 2.504 * size - 1, 2.5329 / 2.5234 * size - 1}
    near = [g for g in grids.losses_near(1.7e9 / 15)[0] if g.volume > 1e8]
    assert len(near) == 2
    assert found[:2] == pytest.approx((min(by_hand), max(by_hand)))
    assert {round(g.regret_at(end) - g.regret_at(start), 3) for g in near} == {
        round(v, 3) for v in by_hand
    }


@pytest.mark.parametrize(
    ("ratio", "key"),
    [
        (1.0, STANDARD),
        (1000.0, STANDARD),
        (60.0, NetKind("mup")),
        (60.0, NetKind(residual="attnres")),
    ],
)
def test_no_price_outside_what_was_trained(ratio: float, key: NetKind) -> None:
    assert grids.price(1e9, 64, ratio, key) is None


def test_above_the_grids_the_default_takes_the_shallowest_depth_that_is_not_told_apart() -> None:
    usual, default = evidence.best_rule(), evidence.default_rule()
    largest = max(VOLUMES)
    ends = [g for g in grids.loss_grids() if g.volume == largest]
    for factor in (0.1, 1):
        assert default.depth(factor * largest, 1) == usual.depth(factor * largest, 1)
    depths = []
    for factor in (1.5, 2, 4, 10, 100, 1000):
        deep, shallow = (r.depth(factor * largest, 1) for r in (usual, default))
        assert shallow <= deep
        ratios = [math.sqrt(factor * largest / n**3) for n in (deep, shallow)]
        lost = [g.regret_at(ratios[1]) - g.regret_at(ratios[0]) for g in ends]
        assert max(lost) <= evidence.UNTOLD + 1e-9
        # It takes all that is not told apart, but at least the depth at the largest grid.
        assert (
            max(lost) == pytest.approx(evidence.UNTOLD)
            or shallow == usual.depth(largest, 1)
            or any(g.regret_at(ratios[1]) == pytest.approx(0.01) for g in ends)
        )
        depths.append(shallow)
    assert depths == sorted(depths)
    assert evidence.default_rule(NetKind("mup")) == evidence.best_rule(NetKind("mup"))


def test_far_from_every_size_the_nearest_is_asked_and_that_is_said() -> None:
    found = grids.price(1e12, 64, 100)
    assert found.extrapolated
    within = evidence.interval(1e12)
    assert within.extrapolated
    assert "no grid has nets of this size" in within.why
    largest = max(g.volume for g in SCORED if g.budget == "nonembedding" and g.is_loss)
    assert [grids.losses_near(largest * factor)[1] for factor in (1, 1.01)] == [False, True]
    near, _ = grids.losses_near(1.4e8)
    assert {g.name for g in near} >= {"1.9-2.0B"}


VOLUMES = sorted({g.volume for g in grids.loss_grids()})


@pytest.mark.parametrize("volume", VOLUMES, ids=lambda v: f"{12 * v:.2g}")
def test_inside_the_interval_no_grid_of_the_size_loses_one_percent(volume: float) -> None:
    found = evidence.interval(12 * volume)
    assert 1 <= found.low <= found.high
    for layers in range(found.low, found.high + 1):
        assert max(regrets(volume, layers, volume), default=0) <= 0.01 + 1e-9, layers


@pytest.mark.parametrize("volume", VOLUMES[2:], ids=lambda v: f"{12 * v:.2g}")
def test_one_layer_less_than_the_interval_some_grid_loses_one_percent(volume: float) -> None:
    found = evidence.interval(12 * volume)
    assert not found.started
    assert max(regrets(volume, found.low - 1, volume)) > 0.01


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("place", range(len(VOLUMES) - 1))
def test_between_two_sizes_an_end_loses_little_more_than_one_percent_by_either(
    place: int, part: float
) -> None:
    """The ends are interpolated, so that by the grids of one of the two sizes alone an end may lose
    more than 1 %; never more than 1.2 %, nor may any depth inside."""
    below, above = VOLUMES[place], VOLUMES[place + 1]
    volume = below * (above / below) ** part
    found = evidence.interval(12 * volume)
    for layers in range(found.low, found.high + 1):
        assert max(regrets(volume, layers, below, above), default=0) <= 0.012, layers


@pytest.mark.parametrize(
    ("low", "high", "deeper", "models_there"),
    [(1e9, 4e9, 28, 35), (4e9, 15e9, 40, 40), (15e9, 60e9, 9, 14), (60e9, math.inf, 11, 22)],
)
def test_the_decision_says_how_many_models_are_shallower_than_the_rule(
    low: float, high: float, deeper: int, models_there: int
) -> None:
    there = [m for m in models.models() if m.kind == "decoder" and low <= m.parameters < high]
    rule = evidence.best_rule(known_by=2025)  # that of the decision
    depths = (rule.depth(m.parameters, m.parameters / m.layers / m.width**2) for m in there)
    assert sum(depth > m.layers for depth, m in zip(depths, there, strict=True)) == deeper
    assert len(there) == models_there
    decision = next((Path(__file__).parents[2] / "docs/decisions").glob("0016-*.md"))
    assert f"{deeper} of {models_there}" in " ".join(decision.read_text().split())


def test_what_is_built_does_worse_on_none_which_only_two_of_the_sources_could_see() -> None:
    """Above the largest grid of losses two sources have grids; the other rows are equal because
    nothing differs there, which is no support."""
    above = {g.source for g in SCORED if g.volume > max(VOLUMES)}
    rows = evidence.table().rows
    assert above == {"Depth Delusion", "Tay et al."}
    assert {row.source for row in rows if row.built != row.regret} == {"Depth Delusion"}
    assert all(row.built <= row.regret for row in rows)
    assert f"{evidence.table().held_out_built:.3f}" == "0.238"


@pytest.mark.parametrize("without", [None, "CompleteP"])
def test_ends_move_with_the_size_without_a_jump(without: str | None) -> None:
    """1 % more parameters move an end by 1 layer at most, and never back."""
    sizes = [1e6 * 1.01**k for k in range(1400)]
    found = [evidence.interval(size, without=without) for size in sizes]
    for small, large in pairwise(found):
        assert small.low <= large.low <= small.low * 1.05 + 1
        assert small.high <= large.high <= small.high * 1.05 + 1


def test_a_depth_that_no_grid_trained_is_not_called_too_deep() -> None:
    """At 60M parameters nets of 71 and 80 layers lose 2 %; at 307M no net is deeper than 45."""
    small, large = evidence.interval(5e7), evidence.interval(12 * VOLUMES[2])
    assert small.ended
    assert small.too_deep == 42
    places = {8: "shallower than trained", 20: "inside", 41: "deeper than trained", 42: "too deep"}
    assert {n: small.place(n) for n in (8, 20, 41, 42, 80)} == places | {80: "too deep"}
    places = {9: "too shallow", 20: "inside", 46: "deeper than trained"}
    assert {n: large.place(n) for n in (9, 20, 46, 500)} == places | {500: "deeper than trained"}
    completep = evidence.interval(1.5e9, key=NetKind("completep"))
    assert completep.place(completep.high + 1) == "too deep"


def test_the_tightest_of_several_deep_ends_counts(change) -> None:
    before = evidence.interval(1e8)

    def deepest_worse(rows: Rows) -> None:
        for row in rows:
            if row["grid"].startswith("337") and row["layers"] == "45":
                row["value"] = "2.80"

    change(deepest_worse)
    after = evidence.interval(1e8)
    assert after.high < before.high
    assert after.low == before.low


def test_deep_ends_that_are_published_replace_those_of_the_grids() -> None:
    for key, ratio in ((NetKind("mup"), 38.7), (NetKind("completep"), 11.8)):
        found = evidence.interval(1.5e9, key=key)
        assert found.high == math.floor(laws.aspect_depth(1.5e9, ratio))
        assert "CompleteP" in found.sources
    mup, completep = (evidence.interval(1.5e9, key=NetKind(p)) for p in ("mup", "completep"))
    assert mup.high < completep.high


def test_for_another_norm_it_is_said_that_the_grids_are_pre_norm() -> None:
    pre, post = (evidence.interval(1e9, key=NetKind(norm=norm)) for norm in ("pre", "post"))
    assert (post.low, post.high) == (pre.low, pre.high)
    assert "pre-norm" in post.why
    assert "pre-norm" not in pre.why


def test_without_its_only_source_nothing_is_said() -> None:
    assert evidence.interval(1e9, without="Gemstones") is None
    assert all(row.asked == 0 for row in evidence.table().rows if row.source == "Gemstones")


def test_perplexities_are_read_as_losses_and_give_a_range_of_their_own() -> None:
    """By hand: of 134M 12 layers have 18.1; 1 % of ln 18.1 is crossed between 26 layers of 18.6 and
    32 of 19.2, and between 6 of 18.7 and 8 of 18.3."""
    petty = grid("134M")
    bar = 1.01 * math.log(18.1)
    ends = []
    for (inside, low), (outside, high) in (((8, 18.3), (6, 18.7)), ((26, 18.6), (32, 19.2))):
        part = (bar - math.log(low)) / (math.log(high) - math.log(low))
        ends.append(inside * (outside / inside) ** part)
    (least, under), (most, over) = petty.depths_within(0.01)
    # Sizes differ by a hundredth, and losses are compared at one size.
    assert (least, most) == pytest.approx(ends, rel=2e-3)
    assert under
    assert over
    own = {o.source: o for o in grids.other_ranges(petty.volume, 0.01)}
    assert (own["Petty et al."].low, own["Petty et al."].high) == (math.ceil(least), int(most))
    assert not own["Petty et al."].ended
    # Where no grid is so large nothing is said; eight times the weights have twice the depth.
    assert grids.other_ranges(1e9, 0.01) == ()
    far = {o.source: o for o in grids.other_ranges(3.9 * petty.volume, 0.01)}["Petty et al."]
    assert far.high == math.floor(most * math.cbrt(3.9))
    assert grids.other_ranges(petty.volume, 0.01, known_by=2020) == ()


# --- tokens --------------------------------------------------------------------------------------


def test_at_the_tokens_of_a_training_the_losses_are_those_and_between_two_lie_between() -> None:
    cooled = {g.name: g for g in SCORED if g.cooled}
    late = cooled["337-440M without embeddings"]
    low, high = (cooled[f"{late.name}, {t}B tokens"] for t in (11, 33))

    def read(each: float | None) -> grids.Grid:
        return next(g for g in grids.loss_grids(each=each) if g.nets == late.nets)

    for known in (low, high):
        assert [c.cost for c in read(known.each).cells] == pytest.approx(
            [c.cost for c in known.cells]
        )
    middle = read(math.sqrt(low.each * high.each))
    for one, two, three in zip(low.cells, middle.cells, high.cells, strict=True):
        assert two.cost == pytest.approx(math.sqrt(one.cost * three.cost))
    assert read(low.each / 1000).cells == low.cells  # below all: that of the fewest
    assert grids.loss_grids(each=1e9) == grids.loss_grids()


def test_with_fewer_tokens_the_grids_hold_wider_nets_best() -> None:
    """In no size class does the best depth fall as tokens grow; in four of five it rises."""
    rising = 0
    for nets in {g.nets for g in grids.loss_grids()}:
        same = sorted((g for g in SCORED if g.cooled and g.nets == nets), key=lambda g: g.each)
        best = [g.best.layers for g in same]
        assert best == sorted(best)
        rising += best[0] < best[-1]
    assert rising == 4
    few, many = (evidence.interval(2e9, each=each) for each in (6, 1000))
    assert few.low < many.low
    assert evidence.interval(2e9, each=1e6) == evidence.interval(2e9)


def test_the_tokens_that_grids_cover_are_those_of_their_rows() -> None:
    covered = grids.tokens_covered(max(VOLUMES))
    rows = [r for r in grids.rows() if r["source"] == "Gemstones" and int(r["total"]) > 1.9e9]
    each = [int(r["tokens"]) / int(r["total"]) for r in rows]
    assert min(each) < covered.least * 1.05 < min(each) * 1.1
    assert covered.most >= max(each) / 1.05
    assert covered.holds(20)
    assert not covered.holds(0.04)
    assert grids.tokens_covered(1e8, known_by=2024) is None


def test_a_fit_of_less_regret_is_not_followed_while_it_is_not_told_apart(change) -> None:
    """With the rows of the contest it has less regret than the default, not told apart from it."""
    assert evidence.table().choice.best.key == "added"
    added, default = (evidence.score(rules.rule(key)) for key in ("added", "mup"))
    assert evidence.best_rule().key == "mup"
    assert added.mean < default.mean
    assert not evidence.gain(added, default).told
    change(lambda rows: [r.update(budget="none") for r in rows if r["source"] == "parameter-golf"])
    assert evidence.best_rule().key == "mup"
    added, default = (evidence.score(rules.rule(key)) for key in ("added", "mup"))
    assert default.mean < added.mean


# --- what came later -----------------------------------------------------------------------------


def test_foresight_asks_every_rule_of_the_models_of_later_years_alone() -> None:
    """By hand for Levine's fit; and rows of the years before say nothing."""
    found = {f.rule: f for f in evidence.foresight() if f.rule}
    levine = found["Levine's fit"]
    shapes: dict[tuple[int, int], models.Model] = {}
    for m in models.models():
        if m.kind == "decoder":
            shapes.setdefault((m.layers, m.width), m)
    later = [m for m in shapes.values() if m.year > 2020]
    depths = [laws.transition_depth(12 * m.layers * m.width**2) for m in later]
    ratios = [m.layers / depth for m, depth in zip(later, depths, strict=True)]
    assert (levine.shapes, levine.shallower) == (len(later), sum(r < 1 for r in ratios))
    assert levine.factor == pytest.approx(math.prod(ratios) ** (1 / len(later)))
    assert 1 / levine.spread < levine.factor < levine.spread
    defaults = [f for f in evidence.foresight() if not f.rule]
    assert [f.year for f in defaults] == sorted({m.year for m in later})
    assert sum(f.shapes for f in defaults) == len(later)
    # Of a year whose default was Levine's fit, above no grid: the same ratios.
    first = [r for m, r in zip(later, ratios, strict=True) if m.year == 2021]
    assert defaults[0].factor == pytest.approx(math.prod(first) ** (1 / len(first)))
    assert found["muP's best d / L"].regret == pytest.approx(
        sum(found_share(source) for source in ("Depth Delusion", "nanochat", "parameter-golf")) / 3
    )


def found_share(source: str) -> float:
    """Of muP's rule on the grids of a source, all of which are of 2026."""
    return evidence.score(rules.rule("mup")).sources[source]


def test_the_shapes_that_were_built_by_the_fit_are_near_it() -> None:
    by_fit = [u for u in evidence.uses() if u.model in ("GatorTron large", "NeoBERT")]
    assert [round(u.solved) - u.stated for u in by_fit] == [0, 1]
    one_liner = 12 * 70 * math.exp(2 * 5.039) * math.exp(2 * 5.55e-2 * 70)
    assert laws.transition_depth(one_liner) == pytest.approx(70)
