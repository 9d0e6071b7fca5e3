"""Words that records fill in running text, against what the records hold."""

import re
from importlib.resources import files
from pathlib import Path

import pytest
import torch

import depthlaw
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.empirics.depth_width import by_updates, language_models
from depthlaw.empirics.depth_width.fixed_budgets import times_smaller_in_all
from depthlaw.empirics.nets.net import Net
from depthlaw.empirics.tasks.long_cycles import LongCycles
from depthlaw.empirics.trained_rank import floors, ranks_in_training
from depthlaw.ledger.publish.questions import QUESTIONS
from depthlaw.ledger.publish.site.inline import MarkSource, unfilled
from depthlaw.theory.claims.definition import find
from depthlaw.theory.claims.verdict import Verdict

DOCS = Path(__file__).parents[2] / "docs"
DEGREE, REACH = "separation_rank/degree", "connectivity/layers_for_diameter"


def _joined(name: str) -> str:
    return " ".join(unfilled((DOCS / name).read_text()).split())


@pytest.fixture(scope="module")
def ledger(tmp_path_factory) -> MarkSource:
    judged = depthlaw.verify(
        only=[DEGREE, "counting/textbook_numbers"], results=tmp_path_factory.mktemp("records")
    )
    return MarkSource({**judged, REACH: None}, 1234)


@pytest.mark.parametrize(
    ("mark", "word"),
    [
        (f"verdict: {DEGREE}", f"[PROVED](/claims/{DEGREE}.md)"),
        (f"of: {DEGREE}", "8"),
        # Four layers: 3 * 3 * 3 * 3.
        (f"is: {DEGREE} depth=4,width=2", "81"),
        ("number: records", "1,234"),
        ("number: claims", "3"),
        ("number: topics", "3"),
        ("number: cited claims", "3"),
        ("number: cited verdicts", "PROVED 1, READING FAILS 1, not run 1"),
        ("agree: counting/textbook_numbers", "16 of 30"),
        # The least L with 3^L >= 64 is 4; 3^9 = 19683.
        ("law: advisor.laws.layers_for_diameter 64", "4"),
        ("law: advisor.laws.reach 9", "19,683"),
        # One layer at width 2: three products.
        ("law: theory.separation_rank.dimension_count.dimension_count 2 1", "3"),
    ],
)
def test_a_mark_becomes_the_word_that_is_recorded(ledger, mark, word):
    assert ledger.spoken(f"so <!-- {mark} --> it is") == f"so {word} it is"


@pytest.mark.parametrize(
    "mark",
    [
        *(f"verdict: {REACH}", "of: no/claim", "number: MAYBE", "near: counting/textbook_numbers"),
        *(f"is: {DEGREE} depth=99", f"is: {DEGREE} residual=no", f"fails: {DEGREE} depth"),
        *(f"against: {DEGREE}", f"shapes: {DEGREE}", f"sizes: {DEGREE}"),
    ],
)
def test_a_sentence_without_its_number_is_not_published(ledger, mark):
    said = "recorded|cases of|is not counted|no sides|no means|not PROVED|no trained"
    with pytest.raises(ValueError, match=said):
        ledger.spoken(f"<!-- {mark} -->")


def test_a_depth_is_the_one_that_the_command_recommends(ledger):
    assert ledger.spoken("<!-- depth: 3B -->") == str(depthlaw.recommend("3B").layers)
    assert ledger.spoken("<!-- shape: 7B -->") == "32 to 44 layers, such as 41 of width 3,584"
    with pytest.raises(ValueError, match="use `shape`"):
        ledger.spoken("<!-- depth: 7B -->")
    with pytest.raises(UsageError, match="budget"):
        ledger.spoken("<!-- depth: 3 bananas -->")


def test_other_comments_stay(ledger):
    assert ledger.spoken("<!-- table: x --> <!-- a: b -->") == "<!-- table: x --> <!-- a: b -->"


def test_benchmarks_and_claims_that_pages_name_are_there():
    filled = MarkSource({}, 0).spoken((DOCS / "performance.md").read_text())
    assert "<!-- bench" not in filled
    kinds = "verdict|of|is|near|fails|agree|against|shapes|sizes"
    mark = re.compile(rf"<!--\s+(?:{kinds}):\s+([\w/]+)")
    named = {key for page in DOCS.glob("*.md") for key in mark.findall(page.read_text())}
    assert len(named) > 40
    assert named <= set(depthlaw.claims())


def test_shares_shapes_and_sizes_are_those_of_statements(recorded):
    """Which test_statements holds against the records."""
    deeper, exact = "exercises/deeper_is_better", "separation_rank/exact"
    wall = "trained_depth/wall_within"
    ledger = MarkSource({key: recorded.judged(key) for key in (deeper, exact, wall)}, 1)
    said = ledger.spoken(f"<!-- agree: {deeper} -->, <!-- against: {deeper} -->")
    assert said == "none of four, all four"
    shapes = {(row.case.width, row.case.depth) for row in ledger.judged[exact].cases}
    assert ledger.spoken(f"<!-- shapes: {exact} -->") == str(len(shapes))
    assert "updates" in ledger.spoken(f"<!-- sizes: {wall} -->")


def test_what_words_say_of_depth_is_what_is_recorded(recorded):
    """Of five groups of published nets the deepest loses to the next in three; our steps of depth
    gain nowhere beyond the noise."""
    groups = {}
    for row in recorded.judged("evidence/depth_wins").in_scope:
        groups.setdefault(row.case.group, []).append((row.case.deeper, row.decision.verdict))
    deepest = [max(rows)[1] for rows in groups.values()]
    assert (deepest.count(Verdict.FAILS), len(deepest)) == (3, 5)
    assert "in three of five groups the deepest net is not the best" in _joined(
        "questions/does-depth-help-in-training.md"
    )
    ours = recorded.judged("depth_width/depth_gains_by_updates")
    assert all(row.decision.verdict is Verdict.FAILS for row in ours.decided)
    assert "2 of 24 comparisons, within noise" in _joined("../README.md")


def _figures() -> tuple[str, str]:
    """Titles of the site's figures, and what the appendix says of its own."""
    captions = files("depthlaw.ledger.publish").joinpath("appendix/figures.toml").read_text()
    titles = " ".join(question.title for question in QUESTIONS.values())
    return titles, " ".join(captions.replace("\\\n", "").split())


def test_sentences_of_the_front_pages_agree_with_the_records_that_fill_them(recorded):
    within, seeds = "trained_depth/wall_within", range(10, 18)
    ledger = MarkSource({within: recorded.judged(within)}, 1)
    front, page = _joined("index.md"), _joined("what-training-finds.md")
    cases = ledger.judged[within].cases
    in_row = [row for row in cases if (row.case.depth, row.case.asked) == (2, "row")]
    # By attention, distance and seed.
    shares = {(c.net, c.distance, c.first): row.measured for row in in_row for c in [row.case]}
    assert len(shares) == len(in_row)
    rows = recorded.judged("trained_rank/part_of_rank_shows").in_scope
    whole = [row.case.attention for row in rows if row.decision.verdict is Verdict.FAILS]
    assert 2 * whole.count("softmax") > len(whole), "most of them of softmax nets"
    nets = sum(at == 9 for _, at, _ in shares)
    assert f"None of our {nets} two-layer nets sees 10 to 13 steps" in front
    decided = recorded.judged("trained_depth/wall_beyond").decided
    assert all(row.decision.verdict is Verdict.HOLDS for row in decided)

    def middles(net, at):
        balls = (shares[net, at, seed] for seed in seeds)
        return [float(ball.low + ball.high) / 2 for ball in balls]

    assert "Linearised nets are right on 92 to 96 % of the questions at 9." in page
    assert [round(100 * end(middles("linearised", 9))) for end in (min, max)] == [92, 96]
    assert (
        "Three softmax nets are right on 99 %, two on 78 and 68 %, and three are right up to 7 "
        "and at chance from 8 on." in page
    )
    middle = sorted(middles("softmax", 9))
    assert middle[2] <= 0.6
    assert [round(100 * share) for share in middle[3:]] == [68, 78, 99, 99, 99]
    short = [seed for seed, share in enumerate(middles("softmax", 8)) if share < 0.55]
    assert len(short) == 3
    assert all(middles("softmax", 7)[seed] > 0.99 for seed in short)
    assert "only four of sixteen nets clearly reach 95 % on a row at every distance up to 9" in page
    lows: dict[tuple[str, int], float] = {}
    for (net, _, seed), share in shares.items():
        lows[net, seed] = min(lows.get((net, seed), 1.0), float(share.low))
    assert [len(lows), sum(low >= 0.95 for low in lows.values())] == [nets, 4] == [16, 4]
    assert "right on 80 % (softmax) and 68 % (linearised) on a row at 9" in page
    assert {
        (row.case.net, round(50 * float(row.measured.low + row.measured.high)))
        for row in recorded.judged("trained_depth/wall_seen").decided
        if "mlp" in row.case and (row.case.asked, row.case.distance) == ("row", 9)
    } == {("softmax", 80), ("linearised", 68)}
    assert "miss distance 3 after 60,000 updates are those that missed it after 4,000" in page
    slow = {
        row.case.updates: [at for at, reach in enumerate(row.measured.values) if reach < 2.8]
        for row in recorded.judged("trained_depth/wall_by_updates").cases
        if (row.case.net, row.case.depth) == ("softmax", 1)
    }
    assert len(slow[4_000]) == 2
    assert slow[4_000] == slow[60_000]


def test_the_finding_on_depth_says_by_how_much_the_deeper_net_is_smaller():
    """The ratio is that of the matrices of the nets that are trained, at the depths that differ
    most, and stands where the finding is named: on the front page, above the page's section, in the
    titles of figures and in the claims."""
    case, deepest = by_updates._net(18_000), by_updates.DEPTHS[-1]

    def weights(depth: int) -> int:
        net = Net(language_models.made(case, depth, [1.0], [0]).shape)
        return sum(p.numel() for p in net.parameters() if p.shape[1] > 1)

    ratio = times_smaller_in_all(by_updates.SIZE, 1, deepest)
    assert ratio == round(weights(1) / weights(deepest), 1)
    assert times_smaller_in_all(by_updates.SIZE, 1, 3) < ratio, "the control: fewer layers"
    law = "empirics.depth_width.fixed_budgets.times_smaller_in_all"
    mark = f"<!-- law: {law} {by_updates.SIZE} 1 {deepest} -->"
    assert MarkSource({}, 0).spoken(mark) == str(ratio)
    title = f"equal weights in the layers, the deeper net up to {mark} times smaller in all"
    assert f"at {title}." in _joined("index.md")
    assert f"## Does depth pay at {title}?" in _joined("what-training-finds.md")
    plain = f"the deeper net up to {ratio} times smaller in all"
    assert all(
        f"equal weights in the layers, {plain}" in text.replace("about $12 L d^2 = 82{,}000$, ", "")
        for text in _figures()
    )
    longer = find("depth_width/depth_gains_more_when_trained_longer")
    assert f"up to {ratio} times smaller in all" in longer.title
    gains = "depth_gains_by_updates depth_gains_more_when_trained_longer"
    for name in f"{gains} depth_gains_at_equal_operations shape_costs_three_per_cent".split():
        assert plain in find(f"depth_width/{name}").text


def test_twelve_layers_fall_back_at_a_rate_of_fewer_updates(recorded):
    """The numbers of that sentence, and that nothing is called sure of depth."""
    page = _joined("what-training-finds.md")
    (fall,) = (
        row.measured.mean
        for row in recorded.judged("depth_width/depth_gains_more_when_trained_longer").cases
        if (row.case.earlier, row.case.steps, row.case.other) == (4_000, 18_000, 12)
    )
    assert round(100 * fall) == -3
    gains = [
        row.measured.mean for row in recorded.judged("depth_width/depth_gains_by_updates").cases
    ]
    assert sum(gain > 0 for gain in gains) < len(gains) / 4
    assert max(gains) < 0.01
    assert language_models.TRIED_WHOLE < 18_000
    assert "twelve layers fall back, by three per cent of the loss" in page
    for text in (page, find("depth_width/depth_gains_more_when_trained_longer").note):
        assert "at a rate chosen at 4,500 updates" in text.replace(", at", " at")
        assert "surely" not in text
    rates = {
        (row.case.steps, row.case.depth): row.measured.value
        for row in recorded.judged("depth_width/chosen_rate").cases
        if row.case.parameters == by_updates.SIZE and row.case.vocabulary == 2000
    }
    assert "the chosen rate halves for two and three layers; for twelve it stays" in page
    assert [rates[18_000, depth] - rates[4_000, depth] for depth in (2, 3, 12)] == [-1, -1, 0]


def test_the_wall_is_said_beside_the_distances_of_its_training():
    """On every page that names the wall of trained nets, in its figures and claims."""
    task = LongCycles(2, 20)
    batch = task.batch(torch.Generator().manual_seed(0), 1, 1)
    row = batch.group[0, 0, 0]
    farthest = int(row.max())
    assert [int((row == at).sum()) for at in (1, 9, 10, 11)] == [2, 2, 1, 0]
    beside = f"where nothing lies farther than {farthest}"
    for name in ("index.md", "base-3.md"):
        assert f"cycles of 20, {beside}" in _joined(name)
    assert "two lie at each distance from 1 to 9, one at 10, none beyond" in _joined(
        "what-training-finds.md"
    )
    titles, captions = _figures()
    assert "after long training on cycles of 20" in titles
    assert captions.count(f"cycles of 20, {beside}") == 2
    for name in ("wall_beyond", "wall_not_passed", "larger_nets_see_no_farther"):
        claim = find(f"trained_depth/{name}")
        assert claim.title.startswith("Trained on cycles of 20")
        assert f"In training nothing lies farther than {farthest}." in claim.text
    for name in ("index.md", "what-training-finds.md"):
        assert "Ye et al. (2025)" in _joined(name)
    assert 'version 2, which no longer says "exactly"' in _joined("what-training-finds.md")


def test_floors_of_one_teacher_are_said_to_be():
    """As long as all students have the same teacher, pages and claims say so."""
    teachers = {
        floors.teacher_of(case)
        for name in ("floor_holds", "floor_attained", "width_forecast")
        for case in find(f"trained_rank/{name}").cases("training")
    }
    assert len(teachers) == 1, "several teachers: the sentences say one"
    learnt = find("trained_rank/students_respect_floor").cases("training")
    assert len({ranks_in_training.teacher_of(case) for case in learnt}) == 1
    assert "For the one teacher that we tried" in _joined("base-3.md")
    assert "*typically* refers to seeds of students" in _joined("what-training-finds.md")
    titles, captions = _figures()
    assert "rank floor against the student's width, for one teacher" in titles
    assert captions.lower().count("for one teacher") == 2
    for name in (
        "floor_attained", "width_forecast", "two_layers_beat_every_shallow",
        "best_of_many_stays_above_floor", "more_starts_find_no_more", "students_respect_floor",
    ):  # fmt: skip
        assert "one teacher" in find(f"trained_rank/{name}").text
