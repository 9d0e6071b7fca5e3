"""A net from a file on all words of a length, by the batch, next to the plain loop over words.

Run with `pytest benchmarks/test_words.py --benchmark-only`. The nets are those of
docs/examples/nets. The loop is `net.answer`, one word after another in exact arithmetic, here on
words spread evenly over all of the length; both sides must say the same of them. Of the rounds the
fastest counts, on both sides. Words per second and their ratio are printed and stored, nothing
depends on them.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from depthlaw.theory.nets.batched import answers
from depthlaw.theory.nets.json_format import net_of, read_body

NETS = Path(__file__).parents[1] / "docs/examples/nets"
LENGTHS = {"parity": 10, "parity-3-heads": 10, "s3-diagonal": 5, "d4-deltanet": 5}
# Words of the loop in each round.
LOOP = 50
ROUNDS = 5


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.benchmark(group="words of a net")
def test_words_against_a_loop(benchmark, say, seconds, name: str) -> None:
    net = net_of(read_body(NETS / f"{name}.json"))
    words = list(itertools.product(net.alphabet, repeat=LENGTHS[name]))
    spread = words[:: len(words) // LOOP]
    said = dict(answers(net, words))
    assert [said[word] for word in spread] == [net.answer(word) for word in spread]
    loops: list[float] = []
    batches: list[float] = []
    benchmark.pedantic(
        lambda: batches.append(seconds(lambda: list(answers(net, words)))),
        rounds=ROUNDS,
        setup=lambda: loops.append(seconds(lambda: [net.answer(word) for word in spread])),
    )
    loop, batch = len(spread) / min(loops), len(words) / min(batches)
    benchmark.extra_info.update(
        {"loop, words/s": loop, "batch, words/s": batch, "batch / loop": batch / loop}
    )
    say(
        f"{name}, words of length {LENGTHS[name]}: loop {loop:,.0f}, batch {batch:,.0f} "
        f"words a second, ratio {batch / loop:.0f}"
    )
