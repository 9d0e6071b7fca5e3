"""Depth hierarchies on formal languages: masked hard attention and star-free languages, counting attention and C-RASP.

Rightmost unique hard attention under a strict future mask computes the past operator `since` of linear temporal logic, layer for depth
(temporal_logic). Soft attention with rounding computes counts, again layer for depth (counting_logic). Both are executed on all short
words; what a depth cannot do is shown by two words that it cannot tell apart.
"""
from __future__ import annotations

from collections.abc import Iterator

from ..claim import Case, Claim, Control, Source
from . import measured as measured_by


def hard_attention_layers(blocks: int) -> int:
    """Layers of rightmost hard attention for the words a+ b+ a+ ... with k blocks: floor(k / 2) + 1. One layer sees two changes of letter.

    >>> [hard_attention_layers(k) for k in range(1, 8)]
    [1, 2, 2, 3, 3, 4, 4]

    Raises:
        ValueError: unless there is at least one block.

    Cost: O(1). References: derived here; the languages are those of yang2025knee.
    """
    return _blocks(blocks) // 2 + 1


def counting_layers(blocks: int, prediction: bool = False) -> int:
    """Depth of C-RASP for the words with k blocks: k; and k - 2 (from k = 3 on) to say at each prefix of such a word whether it is one.

    >>> counting_layers(4), counting_layers(4, prediction=True)
    (4, 2)

    Raises:
        ValueError: unless there is at least one block, or three for the prediction task.

    Cost: O(1). References: yang2025knee, arXiv:2506.16055.
    """
    if prediction and _blocks(blocks) < 3:
        raise ValueError(f"the prediction task is stated from three blocks on, got {blocks}")
    return _blocks(blocks) - 2 * prediction


def _blocks(blocks: int) -> int:
    if isinstance(blocks, bool) or not isinstance(blocks, int) or blocks < 1:
        raise ValueError(f"the number of blocks must be a positive integer, got {blocks!r}; try 3 for a+b+a+")
    return blocks


# --- claims -------------------------------------------------------------------------------------------------------------------

_KNEE = "arXiv:2506.16055"
# Of the source on hard attention only the abstract and the overview figure of version 4 were read.
_READ = "Of the source only the abstract and the overview figure were read."


def _after_masked(what: str) -> Source:
    """What is our own is credited to this project, and names what it was made after."""
    return Source("depthlaw", f"after yang2024masked, arXiv:2310.13897v4, {what}")


def claims() -> Iterator[Claim]:
    """The claims of this module."""
    yield _network_claim()
    yield from _depth_claims()
    yield _listed_claim()
    yield _blocks_claim()
    yield _stutter_claim()
    yield from _star_free_claims()
    yield _level_claim()
    yield from _counting_claims()
    yield from _counting_limits()


def _network_claim() -> Claim:
    from sympy import Eq, Integer

    from ..glossary import symbol
    from .temporal_logic import leftmost

    return Claim(
        key="formal_languages/network", title="hard attention computes temporal logic, layer for depth",
        text="For every formula of linear temporal logic with the strict past operator since, the network with one layer of rightmost "
              "unique hard attention per nesting level agrees with the formula on every word; no positions are used.",
        statement=Eq(symbol("wrong_words"), Integer(0)),
        source=_after_masked("abstract: hard attention equals LTL, through B-RASP"), wording="derived", kind="construction",
        holds_for="all", measured=measured_by.wrong_words,
        grid={"quick": Case.grid(depth=(0, 1, 2), formulas=6), "theory": Case.grid(depth=(1, 2, 3), formulas=8)},
        control=Control(Case(depth=2, formulas=6), "heads that attend to the leftmost maximum",
                       measured=lambda case, seed: measured_by.wrong_words(case, seed, leftmost)),
        note="Run on random formulas over a, b and all words up to length 6: agreement, not a proof for all formulas. Of the equivalence, "
             "which the abstract states, this is the direction from logic to networks; that it goes layer for depth is ours. Hard "
             "attention networks are read as Boolean here. " + _READ)


def _depth_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    k, t = symbol("letters"), symbol("depth")
    layers, distinct = symbol("attention_layers"), symbol("unary_kinds")
    source = _after_masked("overview figure: the hierarchy in depth is strict")
    yield Claim(
        key="formal_languages/strict_hierarchy", title="k layers recognise a language that k - 1 do not",
        text="For every k the words with at least k letters are recognised by k layers of rightmost hard attention under a strict future "
              "mask without positions, and by no fewer.",
        statement=Eq(layers, k), source=source, wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: measured_by.length_layers(case.letters),
        grid={"quick": Case.grid(letters=range(1, 6)), "theory": Case.grid(letters=(6, 7, 8))},
        control=Control(Case(letters=4), "one layer fewer", statement=Eq(layers, k - 1)),
        note="A witness of the strictness, k by k: the network is run on all words up to length k + 1, and two words, one letter longer or "
             "shorter, look alike to k - 1 layers. The published proof, which was not read, rests on the until hierarchy, as recalled.")
    yield Claim(
        key="formal_languages/unary_limit", title="depth t counts to t and no further",
        text="On words of one letter the networks of t layers of rightmost hard attention tell exactly t + 1 lengths apart, 0 to t - 1 "
              "and more; so no number of layers decides whether a length is even.",
        statement=Eq(distinct, t + 1), source=source, wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: measured_by.unary_kinds(case.depth), grid={"quick": Case.grid(depth=range(9))},
        control=Control(Case(depth=3), "a mask that is not strict",
                       measured=lambda case, seed: measured_by.unary_kinds(case.depth, strict=False)),
        note="Computed for the lengths up to 2 t + 3; that no longer word is told apart, and no depth decides parity, is an induction in "
             "docs/coverage/formal_languages.md.")


def _listed_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    stated = {"ends in b": 1, "begins with a": 2, "contains ab": 2, "sorted": 2, "alternating": 2, "a, b, a in order": 2,
              "a, b, a, b in order": 3}
    return Claim(
        key="formal_languages/listed_layers", title="least number of layers of small languages",
        text="Rightmost hard attention under a strict future mask, without positions, read at an extra last position, needs exactly 1 layer for "
              "the last letter, 2 for the first letter, for "
              "a factor ab, for sorted words a*b*, for alternating words (ab)* and for a, b, a in order, and 3 for a, b, a, b in order.",
        statement=Eq(symbol("attention_layers"), symbol("stated")),
        source=Source("depthlaw", "docs/coverage/formal_languages.md"), wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: measured_by.listed_layers(case.language, case.longest),
        grid={"quick": tuple(Case(language=name, longest=6, stated=layers) for name, layers in stated.items()),
              "theory": tuple(Case(language=name, longest=9, stated=layers) for name, layers in stated.items())},
        control=Control(Case(language="sorted", longest=6, stated=1), "one layer for sorted words"),
        note="Upper bound: a formula run as a network on all words up to the length, so that exactly is by words of length <= 9. Lower "
             "bound: two words that fewer layers cannot tell apart, valid without limit.")


def _blocks_claim() -> Claim:
    from sympy import Eq, floor

    from ..glossary import symbol

    k, layers = symbol("blocks"), symbol("attention_layers")
    return Claim(
        key="formal_languages/blocks_hard_attention", title="layers of hard attention for k blocks",
        text="For every k the words a+ b+ a+ ... with k blocks need exactly floor(k / 2) + 1 layers of rightmost hard attention under a "
              "strict future mask: half as many as counting attention.",
        statement=Eq(layers, floor(k / 2) + 1),
        source=Source("depthlaw", f"after yang2025knee, {_KNEE}: languages; docs/coverage/formal_languages.md"), wording="derived", kind="identity",
        holds_for="all", measured=lambda case, seed: measured_by.block_layers(case.blocks, case.longest),
        grid={"quick": (*Case.grid(blocks=range(1, 6), longest=7), Case(blocks=6, longest=9)), "theory": (Case(blocks=7, longest=10),)},
        control=Control(Case(blocks=4, longest=7), "one layer per block", statement=Eq(layers, k)),
        note="The formula is right for every k (docs/coverage/formal_languages.md has the argument); that fewer layers fail is shown for "
             "the k tried. Heads that attend to the leftmost maximum are not covered.")


def _stutter_claim() -> Claim:
    from sympy import Eq, Integer

    from ..glossary import symbol

    return Claim(
        key="formal_languages/non_strict_mask", title="a mask that is not strict cannot see repetition",
        text="When a position may attend to itself, no number of layers of rightmost hard attention tells a word from the same word with "
              "a letter doubled; so (ab)* is out of reach, which two layers recognise under a strict mask.",
        statement=Eq(symbol("separated_pairs"), Integer(0)),
        source=_after_masked("abstract: strict masking increases power"), wording="derived", kind="identity",
        holds_for="all", measured=lambda case, seed: measured_by.stutter_pairs(case.depth, case.longest, strict=False),
        grid={"quick": Case.grid(depth=(0, 1, 2, 3), longest=6), "theory": Case.grid(depth=(4, 5), longest=7)},
        control=Control(Case(depth=2, longest=4), "a strict mask", measured=lambda case, seed: measured_by.stutter_pairs(2, 4, strict=True)),
        note="The word is read at its last position. Computed on all words up to the length and each doubled letter. The abstract says "
             "that strict masking increases power; the witness is ours. " + _READ)


def _star_free_claims() -> Iterator[Claim]:
    from sympy import Eq, Integer

    from ..glossary import symbol

    period, m = symbol("monoid_period"), symbol("modulus")
    source = _after_masked("abstract: hard attention recognises exactly the star-free languages")
    yield Claim(
        key="formal_languages/modular_counting", title="counting letters modulo m gives a monoid of period m",
        text="The words whose number of a is divisible by m have a syntactic monoid of period m; so they are star-free, and within reach "
              "of masked hard attention without positions, only for m = 1.",
        statement=Eq(period, m), source=source, wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: measured_by.expression_period(measured_by.modular(case.modulus)),
        grid={"quick": Case.grid(modulus=range(1, 8))}, control=Control(Case(modulus=3), "period 2", statement=Eq(period, Integer(2))),
        note="The period is found twice: in the monoid, and by a search for a word that permutes states of the minimal automaton. From the "
             "period to what attention can do lead two published theorems, which are not tested: Schuetzenberger's, and the source's.")
    aperiodic = (*measured_by.STAR_FREE, "(ab|ba)*", "(aab)*", "(a(ab)*b)*", "a+b+a+b+")
    yield Claim(
        key="formal_languages/aperiodic", title="languages with a star that are star-free",
        text="The listed regular languages, among them (ab)*, a*b*, (aab)*, (ab|ba)* and brackets nested to depth 2, have a "
              "syntactic monoid of period 1: they are star-free.",
        statement=Eq(period, Integer(1)), source=source, wording="derived", kind="identity", holds_for="all",
        measured=lambda case, seed: measured_by.expression_period(case.expression),
        grid={"quick": tuple(Case(expression=e) for e in aperiodic)},
        control=Control(Case(expression="(aba|b)*"), "ab exchanges two states of its automaton, though nothing is counted in sight"))
    wrong = symbol("wrong_words")
    yield Claim(
        key="formal_languages/star_free_expressions", title="expressions without star for starred languages",
        text="(ab)*, a*b*, a*, (a|b)*b, a+b+a+ and (a|b)*aa(a|b)* are denoted by expressions with complement, union, intersection and "
              "product but without star.",
        statement=Eq(wrong, Integer(0)), source=source, wording="derived", kind="construction", holds_for="exists",
        measured=lambda case, seed: measured_by.star_free_difference(case.expression, case.star_free),
        grid={"quick": tuple(Case(expression=e, star_free=e) for e in measured_by.STAR_FREE)},
        control=Control(Case(expression="(ab)*", star_free="a*b*"), "the expression of another language"),
        note="Compared as minimal automata, so on all words; the words up to length 9 are counted as well.")


def _level_claim() -> Claim:
    from sympy import Eq

    from ..glossary import symbol

    k, level = symbol("blocks"), symbol("subsequence_level")
    return Claim(
        key="formal_languages/blocks_piecewise_testable", title="k blocks are piecewise testable of level k",
        text="For every k, whether a word has exactly k blocks beginning with a is determined by its subsequences of length up to k, and not by "
              "those up to k - 1.",
        statement=Eq(level, k), source=Source("depthlaw", "docs/coverage/formal_languages.md"), wording="derived", kind="identity",
        holds_for="all", measured=lambda case, seed: measured_by.subsequence_level(case.blocks, case.longest),
        grid={"quick": Case.grid(blocks=(1, 2, 3, 4), longest=7), "theory": (Case(blocks=5, longest=9),)},
        control=Control(Case(blocks=3, longest=7), "a level more", statement=Eq(level, k + 1)),
        note="The alternation of k letters that begins with a occurs, the one that begins with b does not. Computed on all words up "
             "to the length, k <= 5 tried.")


def _counting_claims() -> Iterator[Claim]:
    from sympy import Eq

    from ..glossary import symbol

    k, depth = symbol("blocks"), symbol("count_depth")
    yield Claim(
        key="formal_languages/crasp_blocks", title="C-RASP recognises k blocks at depth k",
        text="For every k the words a+ b+ a+ ... with k blocks are defined by a formula of TL[count-left], that is C-RASP, of depth k.",
        statement=Eq(depth, k), source=Source("yang2025knee", "depth hierarchy, definability", _KNEE), wording="reported",
        kind="construction", holds_for="all", measured=lambda case, seed: measured_by.counting_depth(case.blocks, case.longest),
        grid={"quick": Case.grid(blocks=range(1, 6), longest=8), "theory": Case.grid(blocks=(6, 7, 8), longest=11)},
        control=Control(Case(blocks=3, longest=8), "a layer less", statement=Eq(depth, k - 1)),
        note="A formula of ours, run on all words up to the length. That depth k - 1 does not suffice is not shown here beyond k = 2: "
             "every two words of bounded length are told apart at depth 2 by large enough constants.")
    yield Claim(
        key="formal_languages/crasp_prediction", title="depth k - 2 is enough for the prediction task",
        text="For every k >= 3, on a word of k blocks a formula of depth k - 2 says at each position whether the prefix has k blocks.",
        statement=Eq(depth, k - 2), source=Source("depthlaw", f"after yang2025knee, {_KNEE} (as reported), the prediction task"), wording="derived",
        kind="construction",
        holds_for="all", measured=lambda case, seed: measured_by.prediction_depth(case.blocks, case.longest),
        grid={"quick": Case.grid(blocks=range(3, 7), longest=9), "theory": Case.grid(blocks=(7, 8), longest=12)},
        assumes={"at least three blocks": lambda case: case.blocks >= 3},
        control=Control(Case(blocks=4, longest=9), "the same formula on all words, not only those of k blocks",
                       measured=lambda case, seed: measured_by.prediction_depth(case.blocks, case.longest, anywhere=True)),
        note="Reported also: k - 3 is not; not shown here. "
             "Inputs are words of the language, the reading under which k - 2 is right: the first letter and the letter read save a layer "
             "each. On arbitrary words prefix membership is as deep as membership.")


def _counting_limits() -> Iterator[Claim]:
    from sympy import Eq, Min

    from ..glossary import symbol

    k = symbol("blocks")
    yield Claim(
        key="formal_languages/crasp_depth_one", title="depth 1 counts letters and nothing else",
        text="C-RASP of depth 1 sees the numbers of a and b and the last letter of a word only; so it defines the words with k blocks "
              "for k = 1 and for no other k.",
        statement=Eq(symbol("depth_one_fails"), Min(1, k - 1)), wording="derived",
        source=Source("depthlaw", f"after yang2025knee, {_KNEE}, the depth hierarchy"), kind="identity", holds_for="all",
        measured=lambda case, seed: measured_by.equal_counts(case.blocks, case.longest),
        grid={"quick": Case.grid(blocks=range(1, 7), longest=8)},
        control=Control(Case(blocks=1, longest=8), "fails for one block too", statement=Eq(symbol("depth_one_fails"), Min(1, k))),
        note="Two words, one in the language and one not, with equal counts and last letter: a certificate for every depth-1 formula.")
    yield Claim(
        key="formal_languages/crasp_accuracy", title="the published nets are perfect on L_4 from depth 2 on",
        text="The least depth at which the published accuracy on L_4 is 100 % is k - 2 = 2, the depth of the prediction task.",
        statement=Eq(symbol("perfect_depth"), k - 2), source=Source("yang2025knee", "Figure 2", f"{_KNEE}v2"), wording="printed",
        kind="empirical fit", holds_for="exists", measured=lambda case, seed: measured_by.perfect_depth(),
        grid={"quick": (Case(blocks=4),)},
        control=Control(Case(blocks=4), "the depth of recognition", statement=Eq(symbol("perfect_depth"), k)),
        note="Two published numbers, 21.7 % at depth 1 and 100 % from depth 2 on, of one language; for which lengths was not verified. Not "
             "trained here. That the prediction task needs depth k - 2 is reported (formal_languages/crasp_prediction).")
