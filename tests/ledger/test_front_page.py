"""The front page, the README and the figure of a reader's own model, against what the commands say
and the records hold."""

from __future__ import annotations

import json
import re
import struct
from itertools import pairwise
from pathlib import Path

import pytest

from depthlaw.advisor.atlas import atlas_rows
from depthlaw.advisor.recommendation import recommend
from depthlaw.advisor.words import as_text
from depthlaw.empirics.depth_width import by_updates
from depthlaw.empirics.depth_width.fixed_budgets import times_smaller_in_all
from depthlaw.ledger.publish.site import front_page, model_figure
from depthlaw.ledger.publish.site.inline import MarkSource, unfilled
from depthlaw.ledger.verdicts.record_source import Recorded
from depthlaw.ledger.verdicts.suite_verdicts import marked
from depthlaw.theory.atlas.tasks import hops
from depthlaw.theory.claims.definition import Case
from depthlaw.theory.hops.construction import printed_net

ROOT = Path(__file__).parents[2]
FRONT, README = (ROOT / name for name in ("docs/index.md", "README.md"))


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_card_says_what_the_command_prints() -> None:
    """For 3B and for another size; of each other size the data hold another answer."""
    rows = {row[1]: row[2:] for row in json.loads(front_page.advice().split(" = ")[1][:-2])}
    for budget in ("3B", "7B"):
        headline, sure = rows[budget]
        printed = flat(as_text(recommend(budget)))
        layers, _, shape = headline.partition(", such as ")
        # What the command says between the layers and the shape, the card says below both.
        why = "" if not shape else printed.partition(f"Answer {layers}: ")[2].partition(". ")[0]
        assert bool(shape) == bool(why) == (budget == "7B")
        assert f"{(shape or layers).replace(' of', ' layers of', bool(shape))}." in printed
        assert f"How sure {sure[len(why) + 2 if why else 0 :]} Changes" in printed
        assert sure.lower().startswith(why.lower())
    assert f"Answer {rows['3B'][0]}." in flat(as_text(recommend("3B")))
    card = front_page.card()
    assert all(part in card for part in rows["3B"])
    assert rows["7B"][0] not in card
    assert {"10M", "1T", *front_page.BUDGETS} < rows.keys()
    numbers = [row[0] for row in json.loads(front_page.advice().split(" = ")[1][:-2])]
    assert numbers == sorted(set(numbers))
    assert max(after / before for before, after in pairwise(numbers)) < 1.15


def test_rows_of_the_atlas_are_ours_with_their_verdicts(recorded: Recorded) -> None:
    table = front_page.part("atlas", recorded.judged)
    known = {(row.task.key, row.class_.key): row for row in atlas_rows()}
    for key in front_page._OURS:
        row = known[key]
        assert any(end and end.ours for end in (row.lower, row.upper))
        (line,) = [line for line in table.splitlines() if f"(/tasks/{row.task.key}.md)" in line]
        ends = [end for end in (row.lower, row.upper) if end and end.claim]
        results = {end.claim: recorded.judged(end.claim) for end in ends}
        assert f"](/claims/{ends[-1].claim}.md)" in line
        assert all(result and f"[{marked(result)}]" in line for result in results.values())
    assert "PROVED" not in front_page.part("atlas", lambda key: None), "the control: no records"


# --- findings -------------------------------------------------------------------------------------

_FINDING = re.compile(r"^- \*\*(.+?)\*\* (.+?) `(\w+/\w+)`$", re.MULTILINE | re.DOTALL)


def wrong_verdicts(text: str, recorded: Recorded) -> list[str]:
    """The claims of a list of findings whose verdict is not the recorded one."""
    found = [(word.replace("\\", ""), key) for word, _, key in _FINDING.findall(text)]
    assert len(found) == 5
    judged = {key: recorded.judged(key) for _, key in found}
    return [key for word, key in found if (r := judged[key]) is None or marked(r) != word]


def test_five_findings_have_their_verdicts_and_numbers(recorded: Recorded) -> None:
    text = README.read_text("utf-8")
    assert wrong_verdicts(text, recorded) == []
    wrong = text.replace("**PROVED** Two softmax", "**HOLDS** Two softmax")
    assert wrong_verdicts(wrong, recorded) == ["least_depth/parity_uniform"], "the control"
    for _, finding, key in _FINDING.findall(text):
        assert len(finding.split()) <= 25, key
    said = {key: flat(finding) for _, finding, key in _FINDING.findall(text)}
    gains = "depth_width/depth_gains_by_updates"
    ledger = MarkSource({gains: recorded.judged(gains)}, 1)
    assert f"in {ledger.spoken(f'<!-- agree: {gains} -->')} comparisons" in said[gains]
    ratio = times_smaller_in_all(by_updates.SIZE, 1, by_updates.DEPTHS[-1])
    assert f"up to {ratio} times smaller in all" in said[gains]


def test_the_printed_net_stops_after_one_hop_of_two() -> None:
    case, word = Case(hops=2, alphabet=2), "ababa"
    said, right = printed_net(case).answer(word), hops(2, 2).answer(word)
    assert (said, right) == ("b", "a")
    assert hops(1, 2).answer(word) == said, "half of the two hops"
    for page, asked in ((FRONT, "with $k=2$"), (README, "k = 2,")):
        assert f"`{word}`" in page.read_text("utf-8")
        assert asked in flat(page.read_text("utf-8"))
        assert f"says {said}; {right} is right" in flat(page.read_text("utf-8"))


# --- words ----------------------------------------------------------------------------------------


def rendered(text: str) -> list[str]:
    """The words of a page as a reader sees them: without marks, addresses and tags."""
    text = re.sub(r"```\{toctree\}.*?```|<button.*?</button>|&#8203;", "", text, flags=re.DOTALL)
    text = re.sub(r"<[^>]*>|^:::.*$|^[-|: ]+$|\]\([^)]*\)", " ", text, flags=re.MULTILINE)
    return [word for word in re.sub(r"[\[\]*#|`]", " ", text).split() if re.search(r"\w", word)]


def front(recorded: Recorded) -> str:
    """The front page with its marks filled."""
    text = unfilled(FRONT.read_text("utf-8")).split("<!-- navigation -->")[0]
    keys = re.findall(r"<!--\s+(?:verdict|agree):\s+(\S+)\s+-->", text)
    text = MarkSource({key: recorded.judged(key) for key in keys}, 1).spoken(text)
    return re.sub(
        r"<!-- front: (\w+) -->", lambda mark: front_page.part(mark[1], recorded.judged), text
    )


def test_words_of_the_front_pages(recorded: Recorded) -> None:
    text = front(recorded)
    assert len(rendered(text)) <= 450
    assert len(README.read_text("utf-8").split()) <= 600
    cards = re.findall(
        r"^- (?:&#8203;)?(?:<!--|\[[A-Z]+\\?\*?\]).*?(?=^- |^</div>)", text, re.M | re.DOTALL
    )
    assert len(cards) == 6
    assert [card for card in cards if len(rendered(card)) > 30] == []


def test_the_picture_for_shared_links_has_its_size() -> None:
    head = (ROOT / "docs/_static/social-card.png").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", head[16:]) == (1200, 630)


# --- a reader's own model -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layers", "width", "place"),
    [
        (40, 2560, "inside"),
        (32, 4096, "inside"),
        (12, 4096, "too shallow"),
        (120, 768, "deeper than trained"),
    ],
)
def test_the_figure_says_of_a_shape_what_the_advisor_says(
    recorded: Recorded, layers: int, width: int, place: str
) -> None:
    """The nearest size of the data against the answer to the very shape, whose loss is printed to
    a tenth of a per cent."""
    data = model_figure.model_data(recorded)
    wanted = model_figure.parameters(layers, width)
    near = min(data["sizes"], key=lambda one: max(one["size"] / wanted, wanted / one["size"]))
    said = data["pairs"][near["says"][data["depths"].index(layers)]]
    own = recommend(layers=layers, width=width)
    assert own.interval
    assert said[0] == own.interval.place(layers) == place
    percent = re.search(r"loss (within 0.1 %|[-+]?\d.*? %)", own.verdicts[0])
    assert (said[1] == model_figure.NOT_KNOWN) == (percent is None)
    if percent:
        ends = [[float(x) for x in re.findall(r"[-+]?\d+\.\d", t)] for t in (said[1], percent[1])]
        assert all(abs(a - b) < 0.35 for a, b in zip(*map(sorted, ends), strict=False))


def test_the_figure_names_every_listed_decoder(recorded: Recorded) -> None:
    data = model_figure.model_data(recorded)
    named = [name for _, _, names in data["models"] for name in names]
    assert sorted(named) == sorted(m.name for m in model_figure.listed())
    assert len(named) > 100
    titles = re.findall("<title>(.*?)</title>", model_figure.model_still(data))
    assert [title.partition(": ")[0] for title in titles] == [
        ", ".join(names) for _, _, names in data["models"]
    ]
