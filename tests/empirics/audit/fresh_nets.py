"""Nets that are themselves draws of their null models, audited as any other: how often a measure
tells them from these, and how often one that was changed on purpose."""

import numpy as np
import torch
from torch import nn

from depthlaw.empirics.audit.audit import audit
from depthlaw.empirics.audit.documents import Documents, random_documents
from depthlaw.empirics.audit.layered import layered

LAYERS, WIDTH, VOCABULARY = 4, 6, 12
NULLS = ("initialised", "permuted", "shuffled")


class Mixing(nn.Linear):
    """A layer that adds what it makes of the mean of all tokens so far."""

    def forward(self, hidden):
        past = hidden.cumsum(1) / torch.arange(1, hidden.shape[1] + 1)[:, None]
        return hidden + super().forward(past).tanh()


class Net(nn.Module):
    """Layers whose weights are independent draws of one law, so that any order is as likely."""

    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Mixing(WIDTH, WIDTH) for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        hidden = self.embed(ids)
        for layer in self.layers:
            hidden = layer(hidden)
        return self.head(hidden)


def doctored(seed):
    """A net with one layer that writes as no draw does."""
    net = Net(seed)
    with torch.no_grad():
        net.layers[2].weight.mul_(30)
    return net


def in_order(seed):
    """Documents whose tokens rise."""
    ids = np.sort(random_documents(VOCABULARY, "uniform", 8, 8, seed).ids, axis=1)
    return Documents(ids, "text", "sorted ids")


def told(net, documents, draws, level, seed, nulls=NULLS):
    """By null model, what each measure of hidden states says of a net: {null: [Telling, ...]}."""
    model = layered(net, name="fresh")
    found = audit(
        model, documents, groups=["states"], nulls=nulls, draws=draws, level=level, seed=seed
    )
    return {null: [table.told[null] for table in found.tables] for null in nulls}


def alarms(seeds, draws=19, level=0.95, nulls=NULLS):
    """Of so many fresh nets on random tokens, by null model in how many each measure tells the net
    from its null: {null: [count, ...]}."""
    hits = dict.fromkeys(nulls, 0)
    for seed in range(seeds):
        documents = random_documents(VOCABULARY, "uniform", 8, 8, seed)
        for null, tellings in told(Net(seed), documents, draws, level, seed, nulls).items():
            assert {telling.about for telling in tellings} == {"law"}
            hits[null] = np.add(hits[null], [telling.told for telling in tellings])
    return hits
