"""One point of the language models by a loop that uses nothing of depthlaw's nets and trainer:
torch's layers, optimiser and schedule; the tokens alone are the package's. Prints the validation
loss in nats a token, to be compared with `depthlaw show depth_width/losses_by_updates`.

    python benchmarks/language_model_by_hand.py [layers] [width] [updates] [log2 of the rate] [seed]

It printed 4.147 and 4.148 for one layer and 1,000 updates, where the package has 4.145, the mean of
eight seeds; and 3.852 for two layers and 4,000 updates, where it has 3.848.
"""

import math
import sys
from functools import partial

import torch
from torch import nn
from torch.nn import functional

from depthlaw.empirics.exercises.corpus import STANDARD, encoded

torch.set_num_threads(1)
given, usual = sys.argv[1:], ["1", "82", "1000", "-8", "0"]
layers, width, updates, exponent, seed = map(int, given + usual[len(given) :])
vocabulary, length, batch, heads = 2000, 64, 8, 2
torch.manual_seed(seed)
tokens = encoded(STANDARD, vocabulary)
training, validation = (
    torch.from_numpy(part.astype("int64")) for part in (tokens.training, tokens.validation)
)


def windows(text: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
    """Windows of one token more than the net reads."""
    return text[starts[:, None] + torch.arange(length + 1)]


class LanguageModel(nn.Module):
    """Pre-norm, causal, with learned positions; the read-out is no copy of the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.position = nn.Parameter(torch.empty(length, width))
        gelu = partial(functional.gelu, approximate="tanh")
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, heads, 4 * width, 0.0, gelu, batch_first=True, norm_first=True
            )
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.read = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits (windows, tokens, vocabulary) of ids (windows, tokens)."""
        x = self.embedding(ids) + self.position
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=True)
        return self.read(self.norm(x))


net = LanguageModel()
for name, weight in net.named_parameters():
    outward = name.endswith(("out_proj.weight", "linear2.weight"))
    if weight.ndim > 1:
        nn.init.normal_(weight, std=0.02 / math.sqrt(2 * layers) if outward else 0.02)
    elif name.endswith("bias"):
        nn.init.zeros_(weight)
parts = [{"params": [w for w in net.parameters() if w.ndim > 1], "weight_decay": 0.1}]
parts.append({"params": [w for w in net.parameters() if w.ndim == 1], "weight_decay": 0.0})
optimiser = torch.optim.AdamW(parts, lr=2.0**exponent, betas=(0.9, 0.95))
warm = updates // 10
schedule = torch.optim.lr_scheduler.LambdaLR(
    optimiser, lambda t: min((t + 1) / warm, (updates - t) / (updates - warm))
)


def loss(drawn: torch.Tensor) -> torch.Tensor:
    """Nats a token."""
    return functional.cross_entropy(net(drawn[:, :-1]).flatten(0, 1), drawn[:, 1:].flatten())


for _ in range(updates):
    value = loss(windows(training, torch.randint(len(training) - length, (batch,))))
    optimiser.zero_grad()
    value.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimiser.step()
    schedule.step()
net.eval()
most = (len(validation) - 1) // length
with torch.no_grad():
    asked = windows(validation, torch.arange(64) * most // 64 * length)
    sys.stdout.write(f"{loss(asked).item():.3f}\n")
