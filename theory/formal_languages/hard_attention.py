"""Masked hard attention: what so many layers recognise, and words that fewer cannot tell apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sympy import floor

from ..atlas.tasks import WordTask, language_task
from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity, stated
from ..nets.attention import AttentionNet
from ..nets.batched import answers
from ..nets.classes import in_class
from ..nets.right import right_on
from .automaton import block_language, words
from .formula_nets import of_formula
from .temporal_logic import Formula, depth, every, in_order, kinds, means, neither, once, previous

wrong_words = quantity(
    "wrong_words",
    r"\#_{wrong}",
    "words on which two descriptions of a language differ",
    "nonnegative integer",
)
letters = quantity("letters", "k", "least number of letters in a word")
attention_layers = quantity(
    "attention_layers",
    "L^*",
    "least number of layers of rightmost unique hard attention that recognises a language",
    "integer",
)
blocks = quantity("blocks", "k", "number of blocks of equal letters in a+ b+ a+ ...")
separated_pairs = quantity(
    "separated_pairs",
    "s",
    "pairs of words that networks of a depth tell apart",
    "nonnegative integer",
)


def after_masked(what: str) -> Source:
    """What is our own is credited to this project, and names what it was made after."""
    return Source("depthlaw", f"after yang2024masked, arXiv:2310.13897v4, {what}")


# --- formulas and their networks ---


def _wrong_words(case: Case, seed: int, side: str) -> Exact:
    rng = case.rng(seed)

    def formula(layers: int) -> Formula:
        if layers == 0:
            return str(rng.choice(["a", "b", "1"]))
        deep, flat = formula(layers - 1), formula(int(rng.integers(0, layers)))
        pair = (deep, flat) if rng.integers(2) else (flat, deep)
        since = ("since", *(neither(x) if rng.integers(2) else x for x in pair))
        return (
            "and" if rng.integers(2) else "or",
            since,
            formula(int(rng.integers(0, layers + 1)) if layers < 2 else layers - 1),
        )

    wrong, listed = 0, [*map(tuple, words(6))]
    for chosen in [formula(case.depth) for _ in range(case.formulas)]:
        right = [means(chosen, "".join(word)) for word in listed]
        net = of_formula(chosen, "ab", side)
        fits = net.depth == depth(chosen) and not in_class(net, f"uhat-{side}")
        said = [answer for _, answer in answers(net, listed)]
        wrong += sum(not fits or one != other for one, other in zip(said, right, strict=True))
    return Exact(wrong)


@claim(
    Eq(wrong_words, 0),
    kind="construction",
    source=after_masked("abstract: hard attention equals LTL, through B-RASP"),
    cases={
        "quick": Case.grid(depth=(0, 1, 2), formulas=6),
        "theory": Case.grid(depth=(1, 2, 3), formulas=8),
    },
    control=Control(
        Case(depth=2, formulas=6),
        "heads that attend to the leftmost maximum",
        measured=lambda case, seed: _wrong_words(case, seed, "left"),
    ),
    cited=(
        "Bears on whether depth in temporal logic may be quoted as the depth that hard "
        "attention needs."
    ),
)
def network(case: Case, seed: int) -> Exact:
    """Hard attention computes temporal logic, layer for depth.

    For every formula of linear temporal logic with the strict past operator since, the network with
    one layer of rightmost unique hard attention per nesting level agrees with the formula on every
    word; no positions are used.

    Run on random formulas over a, $b$ and all words up to length 6: agreement, not a proof for all
    formulas. Of the equivalence, which the abstract states, this is the direction from logic to
    networks; that it goes layer for depth is derived here. Hard attention networks are read as
    Boolean here. Of the source only the abstract and the overview figure were read.
    """
    return _wrong_words(case, seed, "right")


# --- least numbers of layers ---


def least_layers(
    net: AttentionNet, task: WordTask, longest: int, seen: Callable[[str, int], Any] = kinds
) -> Exact:
    """The layers of a net if they are the least for a task, or -1 where that is not shown.

    The net must be of unique hard attention, and right on every word up to the length and, by its
    states, on those of every length; and one layer earlier two words must look alike.

    Args:
        net, task, longest: what is run, on which words.
        seen: what so many layers of the class tell of a word: `kinds` to the right,
            `leftmost_kinds` to the left.
    """
    class_ = "uhat-right" if seen is kinds else "uhat-left"
    correct = right_on(net, task, task.words(longest))
    right = correct and correct.every_length

    def accepts(word: str) -> bool:
        return bool(task.answer(tuple(word)))

    listed = map("".join, task.words(longest))
    shallower = clash(accepts, lambda word: seen(word, net.depth - 1), listed)
    return Exact(net.depth if right and shallower and not in_class(net, class_) else -1)


def clash(
    accepts: Callable[[str], bool], seen_as: Callable[[str], Any], listed: Iterable[str]
) -> tuple[str, str] | None:
    """Two words, one of them in the language, that look alike."""
    seen: dict[Any, str] = {}
    for word in listed:
        other = seen.setdefault(seen_as(word), word)
        if accepts(other) != accepts(word):
            return other, word
    return None


def letters_net(case: Case) -> AttentionNet:
    """At least k letters."""
    return of_formula(in_order("1" * case.letters), "ab", "right")


@claim(
    Eq(attention_layers, letters),
    source=after_masked("overview figure: the hierarchy in depth is strict"),
    cases={"quick": Case.grid(letters=range(1, 6)), "theory": Case.grid(letters=(6, 7, 8))},
    control=Control(
        Case(letters=4), "one layer fewer", statement=Eq(attention_layers, letters - 1)
    ),
    cited=(
        "Decides whether each further layer of hard attention may be said to recognise more "
        "languages."
    ),
    formal=Formal(
        "HardAttention.strict_hierarchy_checked",
        "HardAttention.at_least_value {letters}",
        "Nothing of the first paragraph; that the published hierarchy rests on the until "
        "hierarchy is as recalled.",
    ),
)
def strict_hierarchy(case: Case) -> Exact:
    """$k$ layers recognise a language that $k - 1$ do not.

    For every $k$ the words with at least $k$ letters are recognised by $k$ layers of rightmost hard
    attention under a strict future mask without positions, and by no fewer. On words of one letter
    the networks of $k$ layers tell exactly $k + 1$ lengths apart, 0 to $k - 1$ and more; so no
    number of layers decides whether a length is even.

    A witness of the strictness, $k$ by $k$: the network is run on all words up to length $k + 1$,
    and two words, one letter longer or shorter, look alike to $k - 1$ layers. Words of one letter
    are compared up to length $2 k + 3$; that no longer word is told apart, and no depth decides
    parity, is proved by the kernel. The published proof of the hierarchy, which was not read,
    rests on the until hierarchy, as recalled; that hierarchy is strict by the abstract of
    etessami2000, which names no witness.
    """
    k = case.letters
    apart = {kinds("a" * n, k) for n in range(2 * k + 4)}
    least = least_layers(letters_net(case), language_task("(a|b)" * k + "(a|b)*", "ab"), k + 1)
    return least if len(apart) == k + 1 else Exact(-1)


def alternation(m: int, last: str) -> Formula:
    """An alternation of m letters, `last` being the last, ends at this position (at the first of
    its block, for m > 2).

    One `since` sees two changes of letter: the letter before differs, and this letter occurred
    earlier.
    """
    other = "b" if last == "a" else "a"
    if m == 1:
        return last
    if m == 2:
        return ("and", last, once(other))
    return every(last, previous(other), once(alternation(m - 2, last)))


_REPEATS = ("or", ("and", "a", previous("a")), ("and", "b", previous("b")))
_FIRST = neither(once("1"))
# Layers as stated, a regular expression, and a formula.
LANGUAGES: dict[str, tuple[int, str, Formula]] = {
    "ends in b": (1, "(a|b)*b", previous("b")),
    "begins with a": (2, "a(a|b)*", once(("and", "a", _FIRST))),
    "contains ab": (2, "(a|b)*ab(a|b)*", once(("and", "b", previous("a")))),
    "sorted": (2, "a*b*", neither(once(("and", "a", once("b"))))),
    "alternating": (
        2,
        "(ab)*",
        every(neither(once(_REPEATS)), neither(once(("and", "b", _FIRST))), neither(previous("a"))),
    ),
    "a, b, a in order": (2, "(a|b)*a(a|b)*b(a|b)*a(a|b)*", once(alternation(3, "a"))),
    "a, b, a, b in order": (3, "(a|b)*a(a|b)*b(a|b)*a(a|b)*b(a|b)*", once(alternation(4, "b"))),
}


def language_net(case: Case) -> AttentionNet:
    """The net of the formula listed for a language."""
    return of_formula(LANGUAGES[case.language][2], "ab", "right")


def _listed(longest: int) -> tuple[Case, ...]:
    return tuple(
        Case(language=name, longest=longest, stated=layers)
        for name, (layers, _, _) in LANGUAGES.items()
    )


@claim(
    Eq(attention_layers, stated),
    source=Source("depthlaw", "docs/fewer-layers.md"),
    cases={"quick": _listed(6), "theory": _listed(9)},
    control=Control(Case(language="sorted", longest=6, stated=1), "one layer for sorted words"),
    supports="formal_languages/strict_hierarchy",
)
def listed_layers(case: Case) -> Exact:
    r"""Seven small languages need exactly 1, 2 or 3 layers of rightmost hard attention.

    Rightmost hard attention under a strict future mask, without positions, read at an extra last
    position, needs exactly 1 layer for the last letter, 2 for the first letter, for a factor ab,
    for sorted words a*b*, for alternating words (ab)* and for a, $b$, a in order, and 3 for a, $b$,
    a, $b$ in order.

    Upper bound: a formula run as a network on all words up to the length, so that exactly is by
    words of length $\leq 9$. Lower bound: two words that fewer layers cannot tell apart, valid
    without limit.
    """
    task = language_task(LANGUAGES[case.language][1], "ab")
    return least_layers(language_net(case), task, case.longest)


def blocks_net(case: Case) -> AttentionNet:
    """Exactly k blocks: an alternation of k letters begins with a, and none with b."""
    k = case.blocks
    last, other = ("a", "b") if k % 2 else ("b", "a")
    formula = ("and", once(alternation(k, last)), neither(once(alternation(k, other))))
    return of_formula(formula, "ab", "right")


@claim(
    Eq(attention_layers, floor(blocks / 2) + 1),
    source=Source(
        "depthlaw",
        "after yang2025knee, arXiv:2506.16055: languages; docs/fewer-layers.md",
    ),
    cases={
        "quick": (*Case.grid(blocks=range(1, 6), longest=7), Case(blocks=6, longest=9)),
        "theory": (Case(blocks=7, longest=10),),
    },
    control=Control(
        Case(blocks=4, longest=7), "one layer per block", statement=Eq(attention_layers, blocks)
    ),
    cited=(
        "Decides how many layers of hard attention $k$ blocks take, beside those of counting "
        "attention."
    ),
    formal=Formal(
        "HardAttention.blocks_rightmost_checked",
        "HardAttention.blocks_value {blocks}",
        "The comparison with counting attention and the note on subsequences; the net of the "
        "theorem is not that of the formula.",
    ),
)
def blocks_hard_attention(case: Case) -> Exact:
    r"""Rightmost hard attention needs exactly $\lfloor k/2 \rfloor + 1$ layers for $k$ blocks.

    For every $k$ the words a+ b+ a+ ... with $k$ blocks need exactly $\lfloor k/2 \rfloor + 1$
    layers of rightmost hard attention under a strict future mask: about half the $k$ of the formula
    for counting attention.

    Both ends are proved for every $k$ by the kernel, with nets of their own: no number of heads or
    states lets fewer layers tell a power (ab)^m from the next one. Heads that attend to the
    leftmost maximum take $k$ layers (formal_languages/blocks_leftmost). Subsequences of $k$ letters
    decide the same languages, and none of $k - 1$ letters do, which a test confirms for
    $k \leq 5$.
    """
    task = language_task(block_language(case.blocks), "ab")
    return least_layers(blocks_net(case), task, case.longest)


def _separated_pairs(case: Case, strict: bool) -> Exact:
    """Pairs of a word and the same word with one letter doubled that a depth tells apart."""
    pairs = (
        (word, word[:i] + word[i : i + 1] + word[i:])
        for word in words(case.longest)
        for i in range(len(word))
    )
    return Exact(
        sum(
            kinds(word, case.depth, strict) != kinds(doubled, case.depth, strict)
            for word, doubled in pairs
        )
    )


@claim(
    Eq(separated_pairs, 0),
    source=after_masked("abstract: strict masking increases power"),
    cases={
        "quick": Case.grid(depth=(0, 1, 2, 3), longest=6),
        "theory": Case.grid(depth=(4, 5), longest=7),
    },
    control=Control(
        Case(depth=2, longest=4),
        "a strict mask",
        measured=lambda case: _separated_pairs(case, strict=True),
    ),
    cited=(
        "Decides whether results for strict masks may be quoted for masks that show a token itself."
    ),
    formal=Formal(
        "HardAttention.non_strict_mask",
        "0%N",
        "The theorem holds no number: that equal states of all nets, which it states, are equal "
        "kinds, which the claim counts. The strict mask is read at an extra last position.",
    ),
)
def non_strict_mask(case: Case) -> Exact:
    """A mask that is not strict cannot see repetition.

    When a position may attend to itself, no number of layers of rightmost hard attention tells a
    word from the same word with a letter doubled; so (ab)* is out of reach, which two layers
    recognise under a strict mask.

    The word is read at its last position. Computed on all words up to the length and each doubled
    letter. The abstract says that strict masking increases power; the witness is derived here. Of
    the source only the abstract and the overview figure were read.
    """
    return _separated_pairs(case, strict=False)
