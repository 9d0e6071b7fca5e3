"""Models of a few thousand weights, float64, with weights large enough that every layer matters."""

import pytest
import torch
from torch import nn

transformers = pytest.importorskip("transformers", reason="the extra hf is not installed")

DEPTH, WIDTH, VOCABULARY = 4, 16, 40
_SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": DEPTH,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 32,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
_OWN = {
    "GPT2LMHeadModel": {"n_inner": 32},
    "LlamaForCausalLM": {"num_key_value_heads": 1},
    "AlbertForMaskedLM": {"embedding_size": 8},
    "T5EncoderModel": {"d_kv": 8, "d_ff": 32, "pad_token_id": 0},
    "T5ForConditionalGeneration": {"d_kv": 8, "d_ff": 32, "pad_token_id": 0},
    "XLNetModel": {"d_inner": 32, "d_head": 8},
    "JambaForCausalLM": {
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "num_experts": 1,
        "num_experts_per_tok": 1,
        "num_key_value_heads": 1,
        "mamba_d_state": 4,
        "mamba_dt_rank": 2,
        "use_mamba_kernels": False,
    },
}


def tiny(name, scale=0.3):
    """A model of transformers by the name of its class."""
    made = getattr(transformers, name)
    torch.manual_seed(0)
    options = _SIZES | _OWN.get(name, {})
    for other in ("intermediate_size", "max_position_embeddings") if name == "XLNetModel" else ():
        options.pop(other)
    net = made(made.config_class(**options)).double().eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in net.parameters():
            weight.add_(scale * torch.randn(weight.shape, generator=generator, dtype=torch.float64))
    return net


def runs(net, name):
    """The module of each layer, by the attribute that the class has."""
    if name == "AlbertForMaskedLM":
        return [net.albert.encoder.albert_layer_groups[0]] * DEPTH
    return list(net.transformer.h if name == "GPT2LMHeadModel" else net.model.layers)


class Affine(nn.Module):
    """Layers h -> h A + b on embeddings, and a linear head; `between` scales the stream between
    layers, outside of them."""

    def __init__(self, depth=3, between=1.0):
        super().__init__()
        torch.manual_seed(2)
        self.embed = nn.Embedding(11, 5)
        self.layers = nn.ModuleList(nn.Linear(5, 5) for _ in range(depth))
        self.head = nn.Linear(5, 11)
        self.between = between
        self.double()

    def forward(self, ids):
        hidden = self.embed(ids)
        for layer in self.layers:
            hidden = layer(hidden) * self.between
        return self.head(hidden)
