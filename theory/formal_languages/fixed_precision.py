"""Which regular languages attention that only asks "was there ever?" recognises at some depth.

At fixed precision, under a strict future mask and without positions, soft attention is as strong as
linear temporal logic whose only operator is the past one, `once` here; so is unique hard attention
that attends to the leftmost maximum. Of regular languages both have exactly those whose minimal
automaton has no cycle but self-loops (it is partially ordered), which are those whose transition
monoid is R-trivial: no two of its elements generate the same right ideal.
"""

from __future__ import annotations

from functools import cache, reduce

from sympy import floor

from ..atlas.tasks import language_task
from ..claims.definition import Case, Control, Exact, Formal, Source, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity, stated
from ..nets.attention import AttentionNet
from ..nets.classes import in_class
from ..nets.right import right_on
from .automaton import Automaton, block_language, cycle, images, minimal
from .formula_nets import of_formula
from .hard_attention import blocks, least_layers
from .regular_depth import around_a_cycle, deceived
from .star_free import modular
from .temporal_logic import Formula, in_order, leftmost_kinds, neither, once

r_class = quantity(
    "r_class",
    r"|\mathcal{R}|",
    "most elements of the transition monoid that generate one right ideal; 1 iff R-trivial",
)
leftmost_layers = quantity(
    "leftmost_layers",
    r"L^*_{left}",
    "least number of layers of leftmost unique hard attention that recognises a language",
    "integer",
)
PRECISION = "arXiv:2505.23623v2"


def stair(k: int) -> str:
    """The words over a, b, c that contain k letters a in a row once every c is deleted."""
    return "(a|b|c)*" + "c*".join("a" * k) + "(a|b|c)*"


def nested(height: int) -> str:
    """Brackets of one type, a opens and b closes, nested at most so deep.

    >>> nested(2)
    '(a(ab)*b)*'
    """
    return f"(a{nested(height - 1)}b)*" if height > 1 else "(ab)*"


# --- the decision, by two routes ---


def largest_r_class(automaton: Automaton) -> int:
    """The size of the largest R-class of the transition monoid: two maps share one iff each follows
    from the other by more letters, so it is a strong component of the right Cayley graph.

    >>> largest_r_class(minimal("a*b*")), largest_r_class(minimal("(ab)*"))
    (1, 2)
    """
    import networkx as nx

    cayley = nx.DiGraph(
        (element, tuple(move[state] for state in element))
        for element in images(automaton, tuple(range(automaton.states)))
        for move in automaton.moves
    )
    return max(map(len, nx.strongly_connected_components(cayley)))


# --- what shows it: a formula of `once`, or words that no depth tells apart ---


def past_formula(automaton: Automaton) -> Formula:
    """A formula of `once` alone for a partially ordered automaton; not of least depth.

    The run reached a state where some letter before led there, and is still in it where no letter
    since has led away; either is one `once` more.

    Raises:
        ValueError: for an automaton with a cycle.
    """
    if cycle(automaton):
        raise ValueError("only a partially ordered automaton has a formula of `once` alone")
    never = neither("1")
    letters = [*zip(automaton.alphabet, automaton.moves, strict=True)]

    @cache
    def reached(state: int) -> Formula:
        led = [
            once(("and", letter, here(before)))
            for letter, move in letters
            for before, after in enumerate(move)
            if after == state != before
        ]
        return either([*led, "1"] if state == 0 else led)

    def here(state: int) -> Formula:
        away = either([letter for letter, move in letters if move[state] != state])
        return ("and", reached(state), neither(once(("and", away, reached(state)))))

    def either(formulas: list[Formula]) -> Formula:
        return reduce(lambda x, y: ("or", x, y), formulas) if formulas else never

    return either([here(state) for state in sorted(automaton.accepting)])


# --- claims ---

# An expression, its alphabet, and the size of the largest R-class as stated.
LANGUAGES: dict[str, tuple[str, str, int]] = {
    "sorted": ("a*b*", "ab", 1),
    "begins with a": ("a(a|b)*", "ab", 1),
    "contains ab": ("(a|b)*ab(a|b)*", "ab", 1),
    "a, b, a in order": ("(a|b)*a(a|b)*b(a|b)*a(a|b)*", "ab", 1),
    "ends in b": ("(a|b)*b", "ab", 2),
    "contains aa": ("(a|b)*aa(a|b)*", "ab", 2),
    "last but one is a": ("(a|b)*a(a|b)", "ab", 4),
    "contains ab, letter c": ("(a|b|c)*ab(a|b|c)*", "abc", 2),
    **{f"{k} blocks": (block_language(k), "ab", 1) for k in range(1, 7)},
    **{f"stair {k}": (stair(k), "abc", k) for k in range(1, 6)},
    **{f"nested {D}": (nested(D), "ab", D + 1) for D in range(1, 6)},
    **{f"a counted modulo {m}": (modular(m), "ab", m) for m in (2, 3)},
}


def _listed(*larger: str) -> dict[str, tuple[Case, ...]]:
    cases = {name: Case(language=name, stated=size) for name, (*_, size) in LANGUAGES.items()}
    return {
        "quick": tuple(case for name, case in cases.items() if name not in larger),
        "theory": tuple(cases[name] for name in larger),
    }


def _shown(expression: str, alphabet: str) -> bool:
    """Whether the verdict of the automaton is borne out without it: a net of leftmost heads is
    right about words of every length, or depths 0 to 6 are deceived."""
    automaton = minimal(expression, alphabet)
    if pumped := around_a_cycle(automaton):
        return all(deceived(automaton, pumped, True, layers) for layers in range(7))
    net = of_formula(past_formula(automaton), alphabet, "left")
    right = right_on(net, language_task(expression, alphabet))
    return bool(right) and right.every_length and not in_class(net, "uhat-left")


def _decided(expression: str, alphabet: str = "ab") -> Exact:
    automaton = minimal(expression, alphabet)
    size = largest_r_class(automaton)
    agree = (size == 1) == (cycle(automaton) is None)
    return Exact(size if agree and _shown(expression, alphabet) else -1)


@claim(
    Eq(r_class, stated),
    source=Source(
        "depthlaw", f"after li2025precision, {PRECISION}, abstract: one temporal operator, the past"
    ),
    cases=_listed("6 blocks", "stair 5", "nested 5"),
    control=Control(
        Case(language="begins with a", stated=1),
        "the language read from its other end, as under a mask that hides the past",
        measured=lambda case: _decided("(a|b)*a"),
    ),
    supports="formal_languages/strict_hierarchy",
)
def some_depth(case: Case) -> Exact:
    r"""Leftmost heads at some depth do $k$ blocks, at none nested brackets.

    The largest R-class of the transition monoid of the minimal automaton has 1 element for $k$
    blocks a+ b+ a+ ..., sorted words, the first letter, a factor ab over two letters and a, $b$, a
    in order: some depth of leftmost hard attention, and by a published theorem of soft attention at
    fixed precision, does them under a strict future mask without positions, read at an extra last
    position. It has $k$ elements for $k$ letters a in a row up to letters c, $D + 1$ for brackets
    nested to depth $D$, $m$ for letters counted modulo $m$, and more than 1 for the last letter,
    the last but one, the factors aa and, over three letters, ab: for each of these that is not
    R-trivial no depth does. Measured for $k \leq 6$ blocks, $k, D \leq 5$, and $m = 2, 3$.

    So languages that exactly $k$ layers of rightmost hard attention recognise
    (least_depth/stair_layers, least_depth/dyck_layers) are out of reach at every depth when the
    precision of soft attention is fixed, though they are star-free. R-triviality is decided in the
    monoid and on the automaton, whose only cycles must be self-loops. Beside that a net of leftmost
    heads is right on words of every length, or two words, of which one belongs, look alike to
    leftmost hard attention of depths 0 to 6; the words are given for every depth, by an induction,
    as the net is by a formula that nests `once` alone. For leftmost hard
    attention the decision thus rests on nothing published. That soft attention of fixed precision
    has exactly the languages of `once` is the source's theorem, of which the abstract was read; it
    holds for its idealization of rounding. That these are the R-trivial ones is in it as reported.
    Where attention itself is not rounded, depth counts again (formal_languages/crasp_blocks).
    """
    expression, alphabet, _ = LANGUAGES[case.language]
    return _decided(expression, alphabet)


def leftmost_net(case: Case) -> AttentionNet:
    """Exactly k blocks, with heads of `once` alone."""
    k = case.blocks
    first, second = (in_order(("ab" * k)[i : k + i]) for i in (0, 1))
    return of_formula(("and", first, neither(second)), "ab", "left")


@claim(
    Eq(leftmost_layers, blocks),
    source=Source(
        "depthlaw", "after yang2025knee, arXiv:2506.16055: languages; jerad2025, abstract: heads"
    ),
    cases={
        "quick": (*Case.grid(blocks=range(1, 5), longest=7), Case(blocks=5, longest=9)),
        "theory": (Case(blocks=6, longest=11),),
    },
    control=Control(
        Case(blocks=5, longest=9),
        "as many layers as rightmost heads need",
        statement=Eq(leftmost_layers, floor(blocks / 2) + 1),
    ),
    supports="formal_languages/blocks_hard_attention",
    formal=Formal(
        "HardAttention.blocks_leftmost_checked",
        "HardAttention.blocks_leftmost_value {blocks}",
        "Nothing of the first paragraph.",
    ),
)
def blocks_leftmost(case: Case) -> Exact:
    r"""Leftmost heads need a layer for every block.

    For every $k$ the words a+ b+ a+ ... with $k$ blocks need exactly $k$ layers of leftmost unique
    hard attention under a strict future mask without positions, and nesting depth exactly $k$ in
    the logic of `once`; rightmost heads need $\lfloor k/2 \rfloor + 1$ layers.

    A word has $k$ blocks, a first, iff an alternation of $k$ letters that begins with a is a
    subsequence of it and none that begins with $b$: $k$ times `once`. The formula is compared with
    the automaton on words of every length and run with leftmost heads on all words up to the
    length; that $k - 1$ layers fail is shown by two words that look alike to them, and for every
    $k$ by the kernel. How many layers fixed-precision soft attention needs follows from neither
    side alone: the theorem that has its languages was not read layer by layer.
    """
    task = language_task(block_language(case.blocks), "ab")
    return least_layers(leftmost_net(case), task, case.longest, leftmost_kinds)
