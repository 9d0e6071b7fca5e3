"""Rank collapse in nets as they are used: relative residuals by layer at random initialisation."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from depthlaw.theory.claim import Case, Measured, Sample
from depthlaw.theory.rank_collapse.softmax_attention import composite_norm

from .nets import Net, Shape, layer_norm

__all__ = ["MEASURED", "bert_embeddings", "bert_residuals", "relative_residual"]

# BERT's initialisation: every weight and embedding normal with this standard deviation, every bias zero.
STD = 0.02


def relative_residual(hidden: np.ndarray) -> np.ndarray:
    """||h - mean over tokens|| / ||h|| in the composite norm, for hidden states of shape (..., tokens, width).

    >>> float(relative_residual(np.ones((4, 2))))
    0.0
    """
    return np.asarray(composite_norm(hidden - hidden.mean(axis=-2, keepdims=True)) / composite_norm(hidden))


def bert_embeddings(tokens: int, width: int, vocabulary: int, rng: np.random.Generator) -> np.ndarray:
    """Hidden states at BERT's layer 0: word + position + type embeddings, layer-normalised, shape (tokens, width).

    Token ids are independent with Zipf's law, P(id) proportional to 1/id, in place of text. Only the embeddings that occur are drawn.
    """
    law = 1 / np.arange(1, vocabulary + 1)
    _, which = np.unique(rng.choice(vocabulary, size=tokens, p=law / law.sum()), return_inverse=True)
    words, positions, kind = (rng.normal(0, STD, (rows, width)) for rows in (which.max() + 1, tokens, 1))
    return layer_norm(torch.from_numpy(words[which] + positions + kind)).numpy()


def bert_residuals(case: Case, seed: int) -> Sample:
    """The relative residual after `layer` layers of BERT without skip connections and MLPs, one value per random initialisation.

    Each layer is LN(attention), as in the authors' variant "SAN", which keeps the layer normalisation of the attention block. In
    float64 two layers leave nine digits; a third would reach the rounding of the token mean.

    Raises:
        ValueError: for more than two layers.
    """
    if case.layer > 2:
        raise ValueError("after three layers float64 shows only rounding; ask for layer 0, 1 or 2")
    rng, values = case.rng(seed), []
    for _ in range(case.replicas):
        hidden = torch.from_numpy(bert_embeddings(case.tokens, case.width, case.vocabulary, rng))[None, None]
        if case.layer:
            shape = Shape(width=case.width, depth=case.layer, heads=case.heads, residual=False, norm="post", epsilon=1e-12)
            net = Net(shape, std=STD, rng=rng, dtype=torch.float64)
            with torch.no_grad():
                hidden = net(hidden)
        # Six digits: the rest depends on the order in which a machine's linear algebra adds.
        values.append(float(f"{relative_residual(hidden.numpy()[0, 0]):.6g}"))
    return Sample(tuple(values))


# Measurements of claims that `theory` declares without one, by key.
MEASURED: dict[str, Callable[[Case, int], Measured]] = {"rank_collapse/bert_init_collapse": bert_residuals}
