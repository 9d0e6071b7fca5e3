"""Residuals of a GPT-2-shaped net as its hidden states pass, next to keeping all of them.

Run with `pytest benchmarks/test_residuals.py --benchmark-only`. The net is 12 layers of width 768
with 12 heads and random weights, reading 8 sequences of 128 tokens. The peer is what one writes
with transformers: `output_hidden_states=True`, then the same norms of what is returned. Both run in
turn on the same net and ids, two threads, without a store of keys and values; printed are medians,
the ratio of each pair, and the time of the whole command with drawing the weights. Aim: under 30 s
in all, and a ratio of at most 1 within what pairs differ by.
"""

from __future__ import annotations

from statistics import median

import numpy as np
import torch

from depthlaw.empirics.architectures.loading import architecture, random_net
from depthlaw.empirics.architectures.residuals import (
    layer_norms,
    matrix_norms,
    measure_residuals,
    zipf_ids,
)

BATCH, TOKENS, ROUNDS, THREADS = 8, 128, 9, 2
KIND = architecture("gpt2")


def test_residuals_of_gpt2(benchmark, say, seconds) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(THREADS)
    try:
        whole = seconds(lambda: measure_residuals("gpt2", batch=BATCH, tokens=TOKENS))
        net = random_net(KIND, tokens=TOKENS)
        ids = zipf_ids(np.random.default_rng(0), BATCH, TOKENS, 50257)

        def passing() -> np.ndarray:
            norms = layer_norms(net, KIND, ids)
            return norms.composite_residual / norms.composite

        @torch.inference_mode()
        def keeping() -> np.ndarray:
            # The last one is returned normalised.
            states = net(input_ids=torch.as_tensor(ids), output_hidden_states=True).hidden_states
            norms = torch.stack([matrix_norms(state) for state in states]).numpy()
            return np.asarray(norms[:, 2] / norms[:, 0])

        np.testing.assert_allclose(passing()[:-1], keeping()[:-1], rtol=1e-5)
        pairs = []
        for turn in range(ROUNDS):
            order = (passing, keeping) if turn % 2 else (keeping, passing)
            taken = {each: seconds(each) for each in order}
            pairs.append((taken[passing], taken[keeping]))
        benchmark.pedantic(passing, rounds=1)
    finally:
        torch.set_num_threads(threads)
    ratios = sorted(ours / theirs for ours, theirs in pairs)
    benchmark.extra_info["ratio"] = median(ratios)
    say(
        f"GPT-2 shape, {BATCH} x {TOKENS} tokens, {THREADS} threads: as they pass "
        f"{median(p[0] for p in pairs):.2f} s, kept {median(p[1] for p in pairs):.2f} s; ratio "
        f"{median(ratios):.3f} (of pairs {ratios[0]:.3f} to {ratios[-1]:.3f}); whole measurement "
        f"with drawing the weights {whole:.1f} s"
    )
