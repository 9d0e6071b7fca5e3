"""Loops beside plain nets, hybrids, and what a depth asks for, in numbers and as PyTorch."""

from __future__ import annotations

import math
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from depthlaw.advisor import atlas, initialisation_advice, words
from depthlaw.advisor.answer import as_json
from depthlaw.advisor.base.quantities import UsageError
from depthlaw.advisor.grids import NetKind
from depthlaw.advisor.initialisation_advice import snippet
from depthlaw.advisor.loops import implied_exponent
from depthlaw.advisor.recommendation import recommend
from depthlaw.ledger.cli.arguments import main

# --- what a loop is worth -------------------------------------------------------------------------


@pytest.mark.parametrize("loops", [2, 4, 8, 16])
def test_a_loop_lies_between_worthless_and_a_layer(loops: int) -> None:
    worth = recommend("1B", loops=loops).loops
    assert worth is not None
    sizes = [value.parameters for value in worth.values]
    assert all(worth.recurrent < size < worth.cost for size in sizes)
    assert worth.cost == loops * worth.recurrent
    doubled = recommend("1B", loops=loops, layers=8 * loops).loops
    assert doubled is not None
    # The law, by logarithms: phi of a doubling, of what a doubling costs.
    for value in doubled.values:
        gained = math.log2(value.parameters / doubled.recurrent) / math.log2(loops)
        assert gained == pytest.approx(value.exponent)
    assert {value.extrapolated for value in worth.values} == {loops > 8}


def test_the_law_meets_its_own_example_and_says_of_no_other_net_what_is_not_published() -> None:
    worth = recommend("1B", loops=4).loops
    assert worth is not None
    own, *others = worth.published
    assert own.parameters == pytest.approx(own.equal, rel=0.015)
    assert own.exponent == pytest.approx(0.46, abs=0.015)
    assert any(p.parameters is None and p.exponent is None for p in others)
    assert {p.name for p in others if p.extrapolated} == {"Huginn-3.5B", "looped-fineweb-10m"}
    assert all(p.source and p.wording for p in others)
    # Sizes of other counts than the parts name no exponent.
    whole = {p.name: p.exponent for p in others if p.with_embeddings}
    assert whole == {"Ouro-1.4B": None, "Ouro-2.6B": None}


def test_another_loop_beside_an_equal_net_is_counted_from_its_shapes() -> None:
    """Parcae: totals with embeddings of tokens and of values are the sizes that are printed."""
    worth = recommend("1B", loops=4).loops
    assert worth is not None
    (parcae,) = worth.others
    rows = (row for row in initialisation_advice.rows("loops") if row["name"] == parcae.name)
    (row,) = rows
    own, plain, vocabulary = (18, 1280), (24, 1536), 32768
    for (layers, width), size, printed in (
        (own, float(row["once"]) + float(row["recurrent"]), 770e6),
        (plain, float(row["equal"]), 1.3e9),
    ):
        assert size == 12 * layers * width**2
        assert size + vocabulary * width * (1 + layers // 2) == pytest.approx(printed, rel=0.03)
    # Truncated gradients are worth less by the law, and this net more: by a third of its size.
    assert parcae.exponent == pytest.approx(0.637, abs=0.001)
    assert parcae.parameters == pytest.approx(0.73 * plain[0] * 12 * plain[1] ** 2, rel=0.01)
    said = words.as_text(recommend("1B", loops=4)).replace("\n         ", " ")
    assert "By benchmarks, Parcae-770M fits R^0.64 instead" in said


def test_the_exponent_implied_is_that_of_the_law_for_its_own_size() -> None:
    row = {"loops": "4", "once": "1e8", "recurrent": "2e8", "counts": "as the parts"}
    row["equal"] = str(1e8 + 4**0.3 * 2e8)
    assert implied_exponent(row) == pytest.approx(0.3)
    assert implied_exponent(row | {"counts": "with embeddings"}) is None
    assert implied_exponent(row | {"equal": ""}) is None


def test_a_looped_answer_names_one_source_and_exact_depths() -> None:
    answer = recommend("1B", loops=4)
    assert {"loops", "loop-worth", "loop-source"} <= set(answer.warning_codes)
    assert "One source gives that worth" in words.as_text(answer).replace("\n         ", " ")
    assert answer.loops is not None
    for task, depth, _ in answer.loops.exact:
        assert depth in {row.summary for row in atlas.atlas_rows(task)}
    before = recommend("1B", loops=4, known_by=2025)
    assert before.loops is not None
    assert not before.loops.values
    assert "loop-worth" not in before.warning_codes
    assert recommend("1B").loops is None
    # What labs built is as large as the net with every pass counted, and so is the floor.
    said = {each.code: each.text for each in answer.screen}
    assert "2.45B, every pass counted" in said["built"]
    assert "layers passed." in said["layers"]
    assert "this size" in {each.code: each.text for each in recommend("1B").screen}["built"]


# --- hybrids --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["350M", "1.3B", "7B"])
def test_attention_layers_of_a_hybrid_keep_the_ratios_of_the_grid(size: str) -> None:
    answer = recommend(size, mixer="gated-deltanet")
    h, layers = answer.hybrid, answer.layers
    assert h is not None
    assert layers is not None
    assert 7 * h.least >= layers > 7 * (h.least - 1)
    assert 4 * h.most <= layers < 4 * (h.most + 1)
    assert len(h.places) == h.most
    assert {b - a for a, b in zip(h.places, h.places[1:], strict=False)} == {4}
    assert h.extrapolated == (size == "7B")
    assert not h.atlas_class or h.atlas_class in atlas.classes()
    codes = {reason.code for reason in h.reasons}
    assert codes >= {"recall", "alternation", "scratchpad", "place", "counts"}
    # Floating or whole numbers decide what diagonal layers compute, and no others are known.
    other = recommend(size, mixer="mamba2").hybrid
    assert other is not None
    assert {reason.code for reason in other.reasons} ^ codes == {"arithmetic", "scratchpad"}
    assert answer.shape == recommend(size).shape
    # What is known is known of other nets, and the first screen says so.
    unlike = {(said.slot, said.code) for said in answer.screen} - {
        (said.slot, said.code) for said in recommend(size).screen
    }
    assert unlike == {("answer", "hybrid"), ("sure", "attention"), ("note", "attention")}
    assert "if all are attention" in words.recipe(answer, 200).splitlines()[0]


def test_layers_that_attend_are_of_those_that_are_stored_and_costs_of_a_net_of_attention() -> None:
    answer = recommend("1B", mixer="mamba2", loops=4, gpu="H100")
    assert (answer.hybrid.layers, answer.layers) == (8, 32)
    said = " ".join(words.as_text(answer).split())
    assert "Of 8 stored layers 2 attend, the rest are Mamba-2." in said
    assert "One in 4 means stored layers 4 and 8." in said
    rows = said.partition(" Training ")[2].partition(" Note ")[0].split(" Memory ")
    assert [row.endswith("This is of a net with attention in every layer.") for row in rows] == [
        True,
        True,
    ]
    plain = " ".join(words.as_text(recommend("1B", gpu="H100")).split())
    assert "attention in every layer" not in plain


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"mixer": "mamba9", "budget": "1B"}, "unknown --mixer 'mamba9'; accepted are gated-delta"),
        ({"mixer": "mamba", "budget": "1B"}, "linear-attention; try --mixer mamba2$"),
        ({"mixer": "hgrn2", "task": "hops", "hops": 5}, "try depthlaw depth 3B --mixer hgrn2"),
        ({"mixer": "hgrn2", "budget": "1B", "layers": 3}, "3 own layers cannot have one"),
        ({"mixer": "hgrn2", "budget": "1B", "encoder_decoder": True}, "this is an encoder-decoder"),
        ({"mixer": "hgrn2", "budget": "1B", "known_by": 2024}, "no grid compared hybrids by 2024"),
    ],
)
def test_what_no_hybrid_can_be_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        recommend(**asked)


# --- what a depth asks for ------------------------------------------------------------------------


class Init(SimpleNamespace):
    """torch.nn.init, which remembers what it was asked for."""

    def normal_(self, weight: list[str], std: float) -> None:
        weight.append(f"normal {std:.4g}")

    def xavier_normal_(self, weight: list[str], gain: float = 1) -> None:
        weight.append(f"xavier {gain:.4g}")


LLAMA = ("q", "k", "v", "o", "gate", "up", "down")


def run_snippet(
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    layers: int = 0,
    names: tuple[str, ...] = LLAMA,
    stacks: tuple[str, ...] = ("model",),
) -> dict[str, Any]:
    """What the lines define, and what the weights of each name were filled with, in any layer."""
    torch = ModuleType("torch")
    torch.nn = SimpleNamespace(init=Init())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    weights: dict[str, list[str]] = {
        f"{stack}.layers.{layer}.block.{name}_proj.weight": []
        for stack in stacks
        for layer in range(layers)
        for name in names
    }
    defined: dict[str, Any] = {"net": SimpleNamespace(named_parameters=weights.items)}
    try:
        exec(text, defined)
    except AssertionError:
        assert not any(weights.values())
        raise
    filled = {name: [w for key, w in weights.items() if f".{name}_" in key] for name in names}
    assert all(w == ws[0] for ws in filled.values() for w in ws)
    return defined | {"filled": {name: ws[0] for name, ws in filled.items() if ws}}


def test_the_lines_for_pytorch_set_what_the_advice_says(monkeypatch: pytest.MonkeyPatch) -> None:
    scaled = run_snippet(snippet(32, loops=4), monkeypatch, 8)["filled"]
    assert scaled["o"] == scaled["down"] == ["normal 0.00125"]
    assert scaled["q"] == scaled["up"] == []
    post = run_snippet(snippet(24, NetKind(norm="post")), monkeypatch, 24)
    assert post["filled"]["v"] == post["filled"]["down"] == [f"xavier {192**-0.25:.4g}"]
    assert post["filled"]["q"] == post["filled"]["gate"] == ["xavier 1"]
    assert post["after_branch"](lambda x: x / 2, 1.0, 0.5) == pytest.approx((48**0.25 + 0.5) / 2)
    lns = run_snippet(snippet(16, NetKind(norm="lns")), monkeypatch)
    assert lns["into_branch"](abs, -3.0, 9) == 1
    complete = run_snippet(snippet(24, NetKind("completep")), monkeypatch)
    assert complete["after_branch"](1.0, 3.0) == 2.5
    assert snippet(24, NetKind(residual="attnres")) == ""


FUSED = ("qkv", "o", "gate_up", "down")


@pytest.mark.parametrize(
    ("text", "layers", "names", "stacks", "wrong"),
    [
        (snippet(12), 12, ("c_attn", "c", "c_fc"), ("model",), "0 matrices are called .o_proj"),
        (snippet(12), 11, LLAMA, ("model",), "11 matrices are called .o_proj.weight, 12 layers"),
        (snippet(32, loops=4), 32, LLAMA, ("model",), "32 matrices .* 8 layers"),
        (snippet(12), 12, FUSED, ("model",), ""),
        (snippet(24, NetKind(norm="post")), 24, FUSED, ("model",), "0 matrices are called .v_proj"),
        (snippet(24, NetKind(norm="post")), 24, LLAMA[:4] + LLAMA[5:], ("model",), ""),
        (snippet(12, experts=True), 24, LLAMA, ("model",), ""),
        (snippet(12, experts=True), 11, LLAMA, ("model",), "11 matrices"),
        (snippet(12, encoder_layers=12), 12, LLAMA, ("encoder", "decoder"), ""),
        (
            snippet(12, NetKind(norm="post"), encoder_layers=12),
            12,
            ("c", *LLAMA[1:]),
            ("encoder", "decoder"),
            "0 matrices of the encoder are called .q_proj",
        ),
    ],
)
def test_the_lines_for_pytorch_stop_where_names_or_layers_are_others(
    text: str,
    layers: int,
    names: tuple[str, ...],
    stacks: tuple[str, ...],
    wrong: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is set then: run_snippet sees to that."""
    if wrong:
        with pytest.raises(AssertionError, match=wrong):
            run_snippet(text, monkeypatch, layers, names, stacks)
    else:
        assert any(run_snippet(text, monkeypatch, layers, names, stacks)["filled"].values())


def test_two_stacks_have_scales_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    text = snippet(6, NetKind(norm="post"), encoder_layers=12)
    for stack, (layers, beta) in {
        "encoder": (12, 0.87 * (12**4 * 6) ** (-1 / 16)),
        "decoder": (6, (12 * 6) ** (-1 / 4)),
    }.items():
        # As if the other stack had no weights to fill.
        alone = "\n".join(
            line
            for line in text.splitlines()
            if not line.startswith(f'    "{"decoder" if stack == "encoder" else "encoder"}"')
        )
        filled = run_snippet(alone, monkeypatch, layers, stacks=(stack,))["filled"]
        assert filled["v"] == filled["down"] == [f"xavier {beta:.4g}"]
        assert filled["q"] == filled["gate"] == ["xavier 1"]


def test_the_recipe_stands_behind_its_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["depth", "300M", "--norm", "post", "--layers", "24", "--recipe"]) == 0
    printed = capsys.readouterr().out
    text = " ".join(printed.split())
    assert "Plain post-norm failed beyond 6 to 12 layers" in text.partition("What 24 layers")[0]
    for each in recommend("300M", norm="post", layers=24).recipe:
        assert f"{each.what}: " in text
        assert not each.claim or f"claim {each.claim}" in text
    assert "ALPHA, BETA = 2.63215, 0.268642" in printed
    assert main(["depth", "--task", "hops", "--hops", "5", "--recipe"]) == 2
    assert "there is no net; try depthlaw depth 3B --recipe" in capsys.readouterr().err


def test_the_scale_of_loops_is_a_number_of_the_answer() -> None:
    data = as_json(recommend("1B", loops=4))
    scales = {piece["what"]: piece["value"] for piece in data["recipe"]}
    own = data["shape"]["architecture"]["unique_layers"]
    assert scales["branch scale"] == pytest.approx(1 / (4 * math.sqrt(2 * own)))
    assert scales["initialisation"] == pytest.approx(0.02 * scales["branch scale"])
