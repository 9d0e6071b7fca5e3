"""Nested brackets and letters in a row: exactly how many layers of hard attention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

from sympy import Min, ceiling, floor, symbols

from ..atlas.tasks import word_task
from ..claims.definition import Case, Control, Exact, Formal, Source, Step, claim
from ..claims.relations import Eq
from ..claims.symbols import quantity
from ..formal_languages.automaton import block_language, minimal, words
from ..formal_languages.formula_nets import of_formula
from ..formal_languages.hard_attention import attention_layers, blocks, least_layers, letters
from ..formal_languages.temporal_logic import (
    END,
    Formula,
    depth,
    every,
    in_order,
    kinds,
    kinds_both_ways,
    means,
    neither,
    once,
    previous,
)
from ..nets.attention import AttentionNet
from ..nets.builder import Body, Stream
from ..nets.classes import in_class
from ..nets.right import right_on

nesting = quantity("nesting", "D", "how deep brackets may be nested")
types = quantity("bracket_types", "k", "number of types of brackets")
in_a_row = quantity("in_a_row", "k", "letters a in a row, c's left out, that a word must contain")
layers_both_ways = quantity(
    "layers_both_ways",
    r"L^*_{both}",
    "least number of layers of unique hard attention that recognises a language if each head sees "
    "what is before its position, after it, or all",
    "integer",
)

OPENING, CLOSING = "([{", ")]}"


def well_nested(word: str, deepest: int) -> bool:
    """Whether brackets match and are nested at most so deep, by a stack.

    >>> well_nested("([])", 2), well_nested("([)]", 2), well_nested("(())", 1)
    (True, False, False)
    """
    stack: list[str] = []
    for letter in word:
        if letter in OPENING:
            stack.append(letter)
        elif not stack or OPENING.index(stack.pop()) != CLOSING.index(letter):
            return False
        if len(stack) > deepest:
            return False
    return not stack


def brackets_net(case: Case) -> AttentionNet:
    """A stack in as many cells as brackets may be nested, one head a layer.

    Cell t is what the last event of level t left: the type of a bracket that was pushed, or nothing
    after a pop. Events of level 1 are the letters. Where a push finds the cell full, what lay in it
    is pushed at the next level; where a pop finds it empty, the next level is popped. So the cells,
    the empty ones left out, are the stack with its top first. The last layer asks whether anything
    ever went wrong, as where what is still to be pushed or popped finds no cell.
    """
    k, deepest = case.bracket_types, case.nesting
    types, levels = range(k), range(1, deepest + 2)
    events = {t: [f"{what} {x} {t}" for what in ("push", "pop") for x in types] for t in levels}
    cells = [f"cell {x} {t}" for t in levels[:-1] for x in types]
    everywhere = {"1": 1}
    names = [event for t in levels for event in events[t]]
    stream = Stream(["1", *names, *cells, "wrong", "failed"], {})

    def head(asked: Mapping[str, int], copied: Sequence[tuple[Mapping[str, int], str]]) -> Body:
        return stream.head("hard-right", "strict", [everywhere], [asked], copied)

    layers: list[Body] = []
    for t in levels[:-1]:
        pushes, pops = events[t][:k], events[t][k:]
        cell, opening = cells[(t - 1) * k : t * k], dict.fromkeys(pushes, 1)
        empty = dict.fromkeys(cell, -1)
        units = [(opening | {cell[x]: 1}, -1, events[t + 1][x]) for x in types]
        units += [({pops[x]: 1} | empty, 0, events[t + 1][k + x]) for x in types]
        units += [({pops[x]: 1, cell[y]: 1}, -1, "wrong") for x, y in permutations(types, 2)]
        copied = [({push: 1}, to) for push, to in zip(pushes, cell, strict=True)]
        layers.append(
            {"heads": [head(dict.fromkeys(events[t], 1), copied)], "mlp": stream.mlp(units)}
        )
    wrong = dict.fromkeys(["wrong", *events[deepest + 1]], 1)
    letters = OPENING[:k] + CLOSING[:k]
    return stream.net(
        letters,
        {letter: everywhere | {event: 1} for letter, event in zip(letters, events[1], strict=True)}
        | {END: everywhere},
        end=END,
        layers=[*layers, {"heads": [head(wrong, [(wrong, "failed")])]}],
        read=stream.matrix([everywhere | dict.fromkeys(["failed", *cells], -1)])[0],
    )


def alike(deepest: int, layers: int) -> bool:
    """Whether so many layers cannot tell brackets nested as deep as allowed from one too many."""
    closing = CLOSING[0] * deepest
    allowed, too_many = OPENING[0] * deepest + closing, OPENING[0] * (deepest + 1) + closing
    assert well_nested(allowed, deepest)
    assert not well_nested(too_many, deepest)
    return bool(kinds(allowed, layers) == kinds(too_many, layers))


def layers_that_do(case: Case) -> int:
    """Layers of the net; 0 where it is wrong on a word of any length."""
    net = brackets_net(case)
    task = word_task("dyck", {"k": case.bracket_types, "D": case.nesting})
    right = right_on(net, task, task.words(case.longest))
    one_head = all(len(layer.heads) == 1 for layer in net.layers)
    shown = right and right.every_length and one_head and not in_class(net, "uhat-right")
    return net.depth if shown else 0


@claim(
    Eq(attention_layers, nesting + 1),
    source=Source("depthlaw", "after yao2021, arXiv:2105.11115, abstract: D + 1 layers recognise"),
    cases={
        "quick": (
            *Case.grid(bracket_types=1, nesting=(1, 2, 3, 4), longest=9),
            *Case.grid(bracket_types=2, nesting=(1, 2, 3), longest=5),
            Case(bracket_types=3, nesting=2, longest=4),
        ),
        "theory": (
            *Case.grid(bracket_types=1, nesting=(5, 8), longest=12),
            Case(bracket_types=2, nesting=4, longest=7),
            Case(bracket_types=3, nesting=4, longest=5),
        ),
        "full": (
            Case(bracket_types=1, nesting=6, longest=12),
            *Case.grid(bracket_types=2, nesting=(2, 3), longest=7),
            Case(bracket_types=3, nesting=3, longest=5),
        ),
    },
    control=Control(
        Case(bracket_types=2, nesting=3, longest=5),
        "heights first and matching after, which costs two types of brackets one more layer",
        statement=Eq(attention_layers, nesting + 2),
    ),
    cited="Decides whether nested brackets may be said to cost hard attention one layer per level.",
    formal=Formal(
        "HardAttention.dyck_layers_checked",
        "HardAttention.dyck_value {nesting}",
        "Nothing of the first paragraph. A head yields the whole state that it attends to, so the "
        "0 of `attend` where no score is positive is a matter of the layer's map.",
    ),
)
def dyck_layers(case: Case) -> Exact:
    r"""Rightmost hard attention: brackets nested to depth $D$ take exactly $D+1$ layers.

    For every $D$ and every number $k$ of types of brackets, the well-nested words of depth at most
    $D$, Dyck-$(k, D)$, are recognised by $D + 1$ layers of rightmost unique hard attention under
    one strict future mask without positions, read at an extra last position, one head a layer; and
    by no fewer, with any number of heads.

    The network keeps a stack in $D$ cells, one a layer, with gaps in it, and the last layer asks
    whether anything ever went wrong. It is run on all words up to the length, and its states close
    up, so that nothing depends on the length. Fewer layers fail: $D$ give $D$ opening and $D$
    closing brackets of one type the state that they give $D + 1$ opening and $D$ closing ones
    (docs/fewer-layers.md has the induction). The abstract of the source has $D + 1$ layers
    for another network of hard attention, as reported with masks in both directions and positions
    $i/n$; that it needs so many it does not say, and it is not claimed here: positions may save
    layers. Soft attention generates the language with two layers (same abstract), which is not
    checked here. At fixed precision no depth of soft attention under one mask without positions
    recognises brackets of one type, by the theorem quoted in formal_languages/some_depth.
    """
    enough = layers_that_do(case)
    return Exact(enough if alike(case.nesting, enough - 1) else -1)


def same_start_steps(longer: Any, layers: Any) -> Iterator[Step]:
    """After so many layers the last position sees `longer` equal letters as it sees one fewer."""
    j, t, more = symbols("j t more", integer=True, positive=True)
    # The j-th of equal letters sees the kinds of those before, of which there are min(j - 1, t)
    # after t - 1 layers; so after t layers its kind is a matter of min(j, t + 1).
    for name, there in (("j > t", {j: t + more}), ("j <= t", {t: j + more - 1})):
        before, after = Min(j - 1, t).subs(there), Min(j, t + 1).subs(there)
        yield Step(f"{name}: one layer adds one kind, min(j - 1, t) + 1", before + 1 == after)
    yield Step(
        "as many kinds among n equal letters as among n - 1 at the last layer",
        Min(longer, layers) == Min(longer - 1, layers),
    )


@dyck_layers.argument(
    "Argument. Prose: kinds of equal letters are numbered in order, so their number fixes what a "
    "later position sees, and closing brackets see the same in both words; each cell hands on to "
    "the next level what a stack would, so by induction cells are a stack."
)
def _(statement: Any) -> Iterator[Step]:
    """For every depth of nesting and number of types."""
    layers = statement.rhs
    yield Step("the network has a layer for every cell and one more", layers == nesting + 1)
    # In words of every length. A cell asks of types only whether two are equal, and three of them
    # come in all patterns.
    one, two = (layers_that_do(Case(bracket_types=3, nesting=D, longest=0)) for D in (1, 2))
    yield Step("one cell is a stack of height 1", one == 2)
    yield Step("a cell before a stack is a stack, one higher", two == 3)
    yield from same_start_steps(nesting + 1, layers - 1)


def pair_both_ways(deepest: int, copies: int) -> tuple[str, str]:
    """Brackets nested as deep as allowed, and with one that stays open, for looking both ways.

    Of each height there are two words that end as high as they begin, one that ends one higher and
    one that ends one lower. Those of the next height are made of so many copies of the former, with
    brackets and the latter between.

    >>> pair_both_ways(1, 1)
    ('()', '()(()')
    """
    flat, other, up, down = "", "", "(", ")"
    for _ in range(deepest):
        one, two = flat * copies, other * copies
        flat, other, up, down = (
            two + "(" + two + down + two,
            one + up + one + ")" + one,
            two + "(" + two,
            one + ")" + one,
        )
    return flat * copies, flat * copies + up + flat * copies


def alike_both_ways(deepest: int, copies: int, layers: int) -> bool:
    """Whether so many layers that look both ways cannot tell the pair apart."""
    allowed, left_open = pair_both_ways(deepest, copies)
    assert well_nested(allowed, deepest)
    assert not well_nested(left_open, deepest)
    return bool(kinds_both_ways(allowed, layers) == kinds_both_ways(left_open, layers))


@claim(
    Eq(layers_both_ways, nesting + 1),
    source=Source("depthlaw", "after brzozowski1978 and thomas1987, as recalled: dot-depth"),
    cases={
        "quick": (
            *Case.grid(bracket_types=1, nesting=(1, 2), copies=2, longest=9),
            Case(bracket_types=1, nesting=3, copies=2, longest=7),
            Case(bracket_types=2, nesting=2, copies=3, longest=5),
        ),
        "theory": (Case(bracket_types=2, nesting=3, copies=3, longest=5),),
    },
    control=Control(
        Case(bracket_types=1, nesting=2, copies=1, longest=7),
        "words of one copy, which two layers tell apart",
    ),
    cited=(
        "Decides whether heads that look ahead too may be said to save a layer for nested brackets."
    ),
    formal=Formal(
        "BothWays.dyck_both_ways_checked",
        "BothWays.dyck_both_ways_value {nesting}",
        "The words that are computed: the theorem has longer ones. A head yields the whole state "
        "that it attends to, so the 0 of `attend` where no score is positive is a matter of the "
        "layer's map.",
    ),
)
def dyck_both_ways(case: Case) -> Exact:
    r"""Nested brackets take exactly $D+1$ layers even where heads look both ways.

    For every $D$ and every number $k$ of types of brackets, the well-nested words of depth at most
    $D$, Dyck-$(k, D)$, are recognised by $D + 1$ layers of unique hard attention without positions,
    read at an extra last position, where each head of each layer may see what is before its
    position, the position, what is after it, or any of these together, and attends to the leftmost
    or the rightmost of the greatest scores; and by no fewer, with any number of heads. So looking
    both ways saves no layer: one head a layer that looks back does it with as many.

    The network is that of least_depth/dyck_layers, whose heads are some of those of this class; the
    class is words. Fewer layers fail: $D$ give two words the same kind at the end, one of them with
    a bracket that stays open. They are computed here for $D \leq 3$, and $D + 1$ layers tell them
    apart; that there are such words for every $D$ is proved by a kernel, with a game of so many
    alternations as layers and one more (docs/fewer-layers.md has the argument). That the
    hierarchy of these games is infinite is classical (dot-depth); that it counts these layers is
    derived here. Positions are not meant: the network of yao2021, which also looks both ways, has
    positions $i/n$ besides.
    """
    enough = layers_that_do(case)
    same = [alike_both_ways(case.nesting, case.copies, layers) for layers in (enough - 1, enough)]
    return Exact(enough if same == [True, False] else -1)


def climbed(k: int) -> Formula:
    """Here ends a row of k letters a, the c's left out: nesting depth k - 1."""
    return ("and", "a", ("since", "c", climbed(k - 1))) if k > 1 else "a"


def stair_net(case: Case) -> AttentionNet:
    """k letters a in a row, the c's left out."""
    return of_formula(once(climbed(case.in_a_row)), "abc", "right")


@claim(
    Eq(attention_layers, in_a_row),
    source=Source(
        "depthlaw",
        "after yang2024masked, arXiv:2310.13897: the hierarchy; the language as recalled",
    ),
    cases={
        "quick": Case.grid(in_a_row=range(1, 6), longest=6),
        "theory": (Case(in_a_row=6, longest=7),),
        "full": Case.grid(in_a_row=(6, 7, 8), longest=9),
    },
    control=Control(
        Case(in_a_row=4, longest=6), "one layer fewer", statement=Eq(attention_layers, in_a_row - 1)
    ),
    supports="least_depth/dyck_layers",
    formal=Formal(
        "HardAttention.stair_layers_checked",
        "HardAttention.stair_value {in_a_row}",
        "Nothing of the first paragraph; it holds over every finite alphabet with two letters a "
        "and c. The theorem on fixed precision is published.",
    ),
)
def stair_layers(case: Case) -> Exact:
    r"""Rightmost hard attention: $k$ letters in a row take exactly $k$ layers.

    For every $k$ the words over a, $b$, $c$ that contain $k$ letters a in a row once every $c$ is
    deleted are recognised by exactly $k$ layers of rightmost unique hard attention under a strict
    future mask without positions.

    The formula of depth $k$ is compared with the minimal automaton on words of every length, and
    run as a network on all words up to the length. Fewer layers give $k - 1$ and $k$ letters a the
    same state. The language is Etessami and Wilke's witness for the until hierarchy, as recalled.
    At fixed precision no depth of soft attention recognises it for $k \geq 2$, by the theorem
    quoted in formal_languages/some_depth.
    """
    return least_layers(stair_net(case), word_task("stair", {"k": case.in_a_row}), case.longest)


@stair_layers.argument(
    "Argument. Prose: kinds of equal letters are numbered in order, so their number fixes what the "
    "last position sees; the formula says that a row of k ends where a follows one of k - 1, c's "
    "left out, and adds one since for each letter and one to look for its end."
)
def _(statement: Any) -> Iterator[Step]:
    """For every number of letters."""
    yield Step(
        "a row of one letter needs no layer, and each letter one more",
        [depth(climbed(k)) for k in (1, 2, 3)] == [0, 1, 2],
    )
    yield Step("with the search for its end, a layer per letter", statement.rhs == in_a_row)
    yield from same_start_steps(in_a_row, statement.rhs - 1)


def from_both_sides(k: int) -> Formula:
    """There are k letters a: at one of them, so many before it and so many after."""
    before: Formula = "a"
    after: Formula = "a"
    for _ in range(k // 2):
        before = ("and", "a", once(before))
    for _ in range((k - 1) // 2):
        after = ("and", "a", ("until", "1", after))
    return once(("and", before, after))


def looking_back(case: Case) -> AttentionNet:
    """At least k letters a, by heads that look back."""
    return of_formula(in_order("a" * case.letters), "ab", "right")


@claim(
    Eq(layers_both_ways, floor(letters / 2) + 1),
    source=Source("depthlaw", "after yang2024masked, arXiv:2310.13897v4, overview figure"),
    cases={"quick": Case.grid(letters=range(1, 7)), "theory": Case.grid(letters=(7, 8, 9))},
    control=Control(
        Case(letters=5),
        "heads that look back only, which take a layer for each letter",
        measured=lambda case: least_layers(
            looking_back(case), word_task("letters", {"k": case.letters}), case.letters + 1
        ),
    ),
    cited="Decides whether attention that looks both ways needs a layer for each letter counted.",
    formal=Formal(
        "BothWaysCounts.letters_both_ways_checked",
        "BothWaysCounts.letters_both_ways_value {letters}",
        "Nothing of the first paragraph but that heads which look back take $k$ layers, which is "
        "`HardAttention.strict_hierarchy`. The alphabet is any finite one, and any of its letters, "
        "one at least, are counted.",
    ),
)
def letters_both_ways(case: Case) -> Exact:
    r"""Looking both ways, $k$ letters take $\lfloor k/2 \rfloor + 1$ layers, not $k$.

    For every $k \geq 1$ the words over a, $b$ with at least $k$ letters a are recognised by
    $\lfloor k/2 \rfloor + 1$ layers of unique hard attention without positions, read at an extra
    last position, where each head of each layer may see what is before its position, the position,
    what is after it, or any of these together, and attends to the leftmost or the rightmost of the
    greatest scores; and by no fewer, with any number of heads. Two heads a layer do it. Heads that
    look back take $k$. On words of letters a alone $L$ layers tell exactly $2 L$ lengths apart, 0
    to $2 L - 2$ and more; so no number of layers decides whether a length is even.

    In layer $t$ a letter learns whether $t$ were before it, and whether $t$ come after; the last
    layer looks for one with enough on both sides. The class is words, since no head of a net sees
    what comes after its position alone: this network is a formula of past and future, compared on
    all words up to length $k + 1$, and $k - 1$ and $k$ letters look alike one layer earlier. Words
    of letters a are compared up to length $2 L + 3$. That no longer word is told apart is proved by
    the kernel, and so is the network at all lengths.
    """
    k, formula = case.letters, from_both_sides(case.letters)
    layers = depth(formula)
    right = all(means(formula, word) == (word.count("a") >= k) for word in words(k + 1))
    alike_before = kinds_both_ways("a" * (k - 1), layers - 1) == kinds_both_ways(
        "a" * k, layers - 1
    )
    apart = {kinds_both_ways("a" * n, layers) for n in range(2 * layers + 4)}
    return Exact(layers if right and alike_before and len(apart) == 2 * layers else -1)


def blocks_from_both_sides(k: int) -> Formula:
    """There are k > 1 blocks of a's and b's, a first: at one letter, enough before and after it.

    The first letter of a block learns of two blocks more before it in each layer, by a letter like
    itself that knows; likewise the last letter of those after it, and every letter of those after
    it by a letter unlike itself.
    """
    layers = -(-k // 4)
    # So many changes of letter are asked for before some letter, and the rest after it.
    before = k - 2 * layers

    def somewhere(own: str, other: str) -> Formula:
        early: Formula = own
        late: Formula = other
        first, last = ("and", own, previous(other)), ("and", other, ("until", ("not", "1"), own))
        for step in range((before + 1) // 2):
            early = first if before % 2 and step == 0 else ("and", first, once(early))
        for _ in range(layers - 1):
            late = ("and", last, ("until", "1", late))
        return once(every(own, early, ("until", "1", late)))

    own, other = "ba" if before % 2 else "ab"
    return ("and", somewhere(own, other), neither(somewhere(other, own)))


@claim(
    Eq(layers_both_ways, ceiling(blocks / 4) + 1),
    source=Source(
        "depthlaw", "after yang2025knee, arXiv:2506.16055: languages; docs/fewer-layers.md"
    ),
    cases={
        "quick": Case.grid(blocks=range(2, 7), longest=8),
        "theory": Case.grid(blocks=(7, 8, 9), longest=11),
    },
    control=Control(
        Case(blocks=6, longest=7),
        "as many layers as heads take that look back",
        statement=Eq(layers_both_ways, floor(blocks / 2) + 1),
    ),
    cited="Decides whether heads that look ahead as well as back may be said to save layers.",
    formal=Formal(
        "BothWaysBlocks.blocks_both_ways_checked",
        "BothWaysBlocks.blocks_both_ways_value {blocks}",
        "Nothing of the first paragraph but what heads take that look back, which is "
        "`HardAttention.blocks_rightmost`.",
    ),
)
def blocks_both_ways(case: Case) -> Exact:
    r"""Looking both ways, $k$ blocks take exactly $\lceil k/4 \rceil + 1$ layers.

    For every $k \geq 2$ the words of exactly $k$ blocks of equal letters, a first, then $b$, then
    a, and so on, are recognised by $\lceil k/4 \rceil + 1$ layers of unique hard attention without
    positions, read at an extra last position, where each head of each layer may see what is before
    its position, the position, what is after it, or any of these together, and attends to the
    leftmost or the rightmost of the greatest scores; and by no fewer, with any number of heads.
    Five heads a layer do it, by the kernel. Rightmost heads that look back take
    $\lfloor k/2 \rfloor + 1$.

    The class is words, since no head of a net sees what comes after its position alone: the network
    is a formula of past and future, compared on all words up to the length, and one layer fewer
    gives $k$ and $k + 2$ blocks of two letters each the same kind at the end. At all lengths a
    network of five heads a layer is proved by the kernel. One block takes one layer.
    """
    k, automaton = case.blocks, minimal(block_language(case.blocks))
    formula = blocks_from_both_sides(k)
    layers = depth(formula)
    right = all(means(formula, word) == automaton.accepts(word) for word in words(case.longest))
    short, long = (("aabb" * n)[: 2 * n] for n in (k, k + 2))
    assert automaton.accepts(short) > automaton.accepts(long)
    same = [kinds_both_ways(short, t) == kinds_both_ways(long, t) for t in (layers - 1, layers)]
    return Exact(layers if right and same == [True, False] else -1)
