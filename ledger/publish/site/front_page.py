"""Parts of the front page: the answer to a size that a reader types, five rows of the atlas that
are ours, and the picture for shared links.

    python -m depthlaw.ledger.publish.site.front_page docs/_static/social-card.png  # draws it again
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from functools import cache
from html import escape
from math import cos, pi, sin
from pathlib import Path
from typing import Any

from depthlaw.advisor import laws
from depthlaw.advisor.answer import Answer
from depthlaw.advisor.atlas import AtlasBound, AtlasRow, atlas_rows, formula
from depthlaw.advisor.base.quantities import parse_budget, size
from depthlaw.advisor.recommendation import recommend

from ...verdicts.suite_verdicts import ClaimResult, marked
from ..appendix.typesetting import md, pipe_table, prose, verdict

# What people type. Between them are twenty sizes a decade.
BUDGETS = tuple(
    f"{m}{unit}"
    for unit, ms in (
        ("M", "10 15 20 30 40 50 70 100 150 200 300 350 500 700"),
        ("B", "1 1.5 2 3 4 5 7 10 15 20 30 40 50 70 100 150 200 300 400 500 700"),
        ("T", "1"),
    )
    for m in ms.split()
)
FIRST = "3B"  # shown before anything is typed, and where no script runs
_EXAMPLES = ("124M", "1B", "3B", "7B", "70B", "400B")
# Rows of the atlas whose least depth was found here: task and class.
_OURS = (
    ("parity", "softmax-positions"),
    ("s5-words", "deltanet"),
    ("connectivity", "linear-attention-graph-any"),
    ("regression", "linear-attention"),
    ("letters", "uhat-two-way"),
)
Judged = Callable[[str], ClaimResult | None]


@cache
def sizes() -> tuple[str, ...]:
    """The sizes whose answers the page holds, smallest first, as the command takes them.

    >>> sizes()[0], sizes()[-1], "3B" in sizes(), len(sizes()) > 100
    ('10M', '1T', True, True)
    """
    (first, *_, last), each = (parse_budget(text) for text in (BUDGETS[0], BUDGETS[-1])), 20
    steps = range(round(each * (len(str(last)) - len(str(first)))) + 1)
    between = (size(first * 10 ** (step / each)) for step in steps)
    named = {parse_budget(text): text for text in (*between, *_EXAMPLES, *BUDGETS)}
    return tuple(named[number] for number in sorted(named))


@cache
def advised(budget: str) -> Answer:
    """What `depthlaw depth BUDGET` recommends, found once.

    Cost: some 80 ms.
    """
    return recommend(budget)


def headline(answer: Answer) -> str:
    """What the command says first: a shape, or of a size that no losses reach the layers of what is
    built and of the rule, with the shape.

    >>> headline(advised("3B")), headline(advised("7B"))
    ('31 layers of width 2,560', '32 to 44 layers, such as 41 of width 3,584')
    """
    apart, _ = _apart(answer)
    shape = f"{answer.layers} layers of width {answer.width:,}"
    return f"{apart}, such as {shape.replace(' layers', '')}" if apart else shape


def _apart(answer: Answer) -> tuple[str, str]:
    """The layers of what is built and of the rule, and what the command says of both; empty where
    they agree, or losses reach the size."""
    if not (answer.beyond and answer.beyond.apart):
        return "", ""
    low, high = answer.beyond.ends
    apart = f"{low:,} to {high:,} layers"
    for said in answer.warnings:
        if said.startswith(f"{apart}: "):
            why = said.removeprefix(f"{apart}: ")
            return apart, f"{why[:1].upper()}{why[1:]}."
    raise ValueError(f"no warning says why {apart}")


def _sure(answer: Answer) -> str:
    """What the command says of both answers to a size, and under "How sure"."""
    said = (said.text for said in answer.screen if said.slot == "sure")
    return " ".join(filter(None, [_apart(answer)[1], *said]))


def advice() -> str:
    """The script of data behind the card: size, answer and how sure, as the command has them.

    Cost: ten seconds.
    """
    every = [(budget, advised(budget)) for budget in sizes()]
    rows = [(parse_budget(b), b, headline(a), _sure(a)) for b, a in every]
    return f"const depthlawAdvice = {json.dumps(rows, separators=(',', ':'))};\n"


def card() -> str:
    """The answer for `FIRST` as HTML, with a field that a script shows and answers."""
    answer = advised(FIRST)
    examples = "".join(
        f'<button type="button" value="{text}">{text}</button>' for text in _EXAMPLES
    )
    return f"""<form class="advice" id="advice">
<p class="ask"><label for="advice-size">How deep should a net of</label>
<input id="advice-size" value="{FIRST}" size="7" inputmode="text" autocomplete="off" hidden>
<b class="still">{FIRST}</b> parameters be?</p>
<p class="examples" role="group" aria-label="Sizes to try" hidden>{examples}</p>
<div role="status"><p class="headline">{escape(headline(answer))}</p>
<p class="sure">{escape(_sure(answer))}</p></div>
<p class="from"><b>Computed by</b> <code>depthlaw depth <span>{FIRST}</span></code>.</p>
</form>
<script src="_static/figures/advice.data.js" defer></script>
<script src="_static/figures/advice.js" defer></script>"""


def card_in_words() -> str:
    """The answer for `FIRST` in Markdown, where no HTML is shown."""
    answer = advised(FIRST)
    return f"`depthlaw depth {FIRST}`: **{headline(answer)}**. {md(_sure(answer))}"


def rows(judged: Judged) -> str:
    """The rows of `_OURS` as a table, the verdict first; values are those of the atlas.

    Args:
        judged: the verdict on a claim by its key; None where nothing is recorded.
    """
    known = {(row.task.key, row.class_.key): row for row in atlas_rows()}
    cells = (
        (
            _checked(row, judged),
            f"[{prose(row.task.name)}](/tasks/{row.task.key}.md)",
            prose(row.class_.name),
            *(prose(formula(depth, latex=True)) for depth in (row.needed, row.suffices)),
        )
        for row in map(known.__getitem__, _OURS)
    )
    table = pipe_table("verdict | task | class | needed | suffices", cells)
    return f":::{{container}} stacked\n\n{table}\n:::"


def _checked(row: AtlasRow, judged: Judged) -> str:
    """What both ends rest on, once where it is the same, with links to the claims."""

    def of(end: AtlasBound) -> str:
        result = judged(end.claim) if end.claim else None
        word = verdict(marked(result)) if result else ""
        return end.judged(f"[{word}](/claims/{end.claim}.md)" if word else "")

    below, above = (end and of(end) for end in (row.lower, row.upper))
    words = {text.partition("]")[0] for text in (below, above) if text}
    return (above or below or "") if len(words) == 1 else f"{above} (suffices), {below} (needed)"


def part(name: str, judged: Judged) -> str:
    """What a mark `<!-- front: NAME -->` becomes: card or atlas."""
    return {"card": card, "atlas": lambda: rows(judged)}[name]()


# --- the picture for shared links -----------------------------------------------------------------

_PAPER, _INK, _QUIET, _SEEN, _FROM = "#0d1b2a", "#f4f6f8", "#52637a", "#ffb454", "#ffffff"
_VERTICES = 60  # more than two arms of the farthest reach


def social_card() -> bytes:
    """How far one, two and three layers see on a ring, as a PNG of 1200 x 630 pixels."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Circle

    figure = pyplot.figure(figsize=(12, 6.3), dpi=100, facecolor=_PAPER)
    axes: Any = figure.add_axes((0, 0, 1, 1), xlim=(0, 1200), ylim=(0, 630), frame_on=False)
    axes.axis("off")
    axes.text(60, 540, "How deep must a transformer be?", color=_INK, size=40, weight="bold")
    axes.text(60, 492, "Theorems on depth, run, measured and checked", color=_INK, size=22)
    words = ("One layer sees", "two see", "three see")
    for depth, word in enumerate(words, 1):
        far, across = laws.reach(depth), 370 * depth - 140
        for vertex in range(_VERTICES):
            away = min(vertex, _VERTICES - vertex)
            turn = pi / 2 + 2 * pi * vertex / _VERTICES
            place = across + 130 * cos(turn), 285 + 130 * sin(turn)
            colour = _FROM if away == 0 else _SEEN if away <= far else _QUIET
            axes.add_patch(Circle(place, 5 + 3 * (away == 0), color=colour))
        middle = {"ha": "center", "va": "center", "color": _INK}
        axes.text(across, 285, f"{far}", size=52, weight="bold", **middle)
        axes.text(across, 105, f"{word} {far} steps", size=22, **middle)
    axes.text(60, 30, "depthlaw", color=_SEEN, size=24, weight="bold")
    nets = "hand-written weights, attention without softmax"
    axes.text(1140, 30, nets, color=_INK, size=17, ha="right")
    file = io.BytesIO()
    figure.savefig(file, format="png", facecolor=_PAPER, metadata={"Software": None})
    pyplot.close(figure)
    return file.getvalue()


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(social_card())
