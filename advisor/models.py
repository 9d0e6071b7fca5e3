"""Shapes of published models (models.csv), each with the source it was read in."""

from __future__ import annotations

import csv
import difflib
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .architecture import Architecture, Experts, Latent
from .base.quantities import UsageError, quoted
from .model_classes import CLASSES


class Model(NamedTuple):
    """A published shape.

    `parameters`: entries of the weight matrices in the layers, all experts included, without
    embeddings. `status` says how the shape is known, `year_status` how the year of release is.
    """

    name: str
    family: str
    kind: str
    layers: int
    width: int
    heads: int
    parameters: int
    status: str
    source: str
    type: str  # model_type of the Hugging Face configuration, where there is one
    year: int
    year_status: str
    reported: str  # size as its makers or its name give it, such as 6.7B; may be empty
    listed: int  # parameters by the count that came with the table, docs/counting.md; 0: none
    sizes: dict[str, int]  # the other columns of models.csv; 0 where empty
    tied: bool
    difference: str  # why our count is neither the reported nor the listed one, where it is not
    notes: str

    @property
    def complete(self) -> bool:
        """Whether all weights can be counted: patches and heads of vision models are not listed."""
        return self.sizes["vocabulary"] > 0


_SIZES = (
    "kv_heads",
    "head_width",
    "d_ff",
    "matrices",
    "vocabulary",
    "context",
    "experts",
    "experts_active",
    "expert_width",
    "shared_experts",
    "dense_layers",
    "q_rank",
)


@cache
def models() -> tuple[Model, ...]:
    """The rows of models.csv."""
    with (Path(__file__).parent / "models.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Model(
                r["name"],
                r["family"],
                r["kind"],
                int(r["layers"]),
                int(r["width"]),
                int(r["heads"]),
                int(r["parameters"]),
                r["status"],
                r["source"],
                r["type"],
                int(r["year"]),
                r["year_status"],
                r["reported"],
                int(r["listed"] or 0),
                {size: int(r[size] or 0) for size in _SIZES},
                r["tied"] == "yes",
                r["difference"],
                r["notes"],
            )
            for r in csv.DictReader(file)
        )


def model(name: str) -> Model:
    """The published shape of that name; case, spaces, hyphens and underscores do not matter.

    Raises:
        UsageError: for an unknown name, with those like it.
    """
    known = {spelling(m.name): m for m in models()}
    # The Hub puts a maker and a slash before the name; SoViT's own name has a slash.
    for wanted in (spelling(name), spelling(name.rsplit("/", 1)[-1])):
        if wanted in known:
            return known[wanted]
    longer = [key for key in known if wanted and key.startswith(wanted)]
    near = longer[:4] or difflib.get_close_matches(wanted, known, 4)
    tried = ", ".join(known[key].name for key in near) or f"{models()[0].name}, Llama-3-8B"
    raise UsageError(
        f"no model {quoted(name)} among the {len(known)} listed; accepted are the "
        f"names in models.csv and the path of a config.json; try {tried}"
    )


def spelling(name: str) -> str:
    """A name without what people write differently. Dots stay: Llama-3.1-8B is not Llama-31-8B."""
    return re.sub(r"[^a-z0-9.]", "", name.lower())


def models_near(parameters: float, factor: float, known_by: int | None = None) -> list[Model]:
    """Dense decoders, released by some year, whose size without embeddings lies within a factor of
    at least 1, shallowest first; there may be none.

    >>> [m.layers for m in models_near(1.74e11, 1.1)]
    [70, 80, 96, 96]
    >>> [m.name for m in models_near(1.74e11, 1.1, known_by=2021)]
    ['GPT-3 175B']
    """
    near = [
        m
        for m in models()
        if m.kind == "decoder"
        and parameters / factor <= m.parameters <= parameters * factor
        and (known_by is None or m.year <= known_by)
    ]
    return sorted(near, key=lambda m: (m.layers, m.parameters))


# --- what the columns leave open ------------------------------------------------------------------

# By model_type: fields of Architecture that do not follow from the class of Hugging Face and the
# columns; and types without such a class, which differ from LLaMA's by these fields.
_FAMILIES: dict[str, dict[str, Any]] = {
    "albert": {"token_types": 2, "embedding_width": 128, "unique_layers": 1},
    "bert": {"token_types": 2},
    "gopher": {},
    "nanochat": {"norm": "none"},
    # One norm serves attention and feed-forward network, which stand side by side.
    "palm": {"norm": "layernorm", "norms_per_layer": 1},
    "parameter_golf": {"norm": "none"},
    "roberta": {"token_types": 1},
    "t5": {"relative_buckets": 32},
}
# Rows of the table of learned positions beyond the context: OPT and RoBERTa start at position 2.
_POSITIONS = {"gpt2": 0, "gpt_neo": 0, "opt": 2, "bert": 0, "albert": 0, "roberta": 2}
# Tokens that a layer with a sliding window sees, and of how many layers one sees all tokens.
_WINDOWS = {"gemma2": (4096, 2), "gemma3_text": (1024, 6), "gpt_neo": (256, 2), "gpt_oss": (128, 2)}
_ROWS: dict[str, dict[str, Any]] = {
    "Falcon-7B": {"norms_per_layer": 1},
    "Gemma-3-1B": {"window": 512},
    "Gemma-3-270M": {"window": 512},
    "Mistral-7B-v0.1": {"window": 4096, "window_layers": 32},
    # All but the first, fourth, ... layer.
    "ModernBERT-base": {"window": 128, "window_layers": 14},
    "ModernBERT-large": {"window": 128, "window_layers": 18},
    "OPT-350M": {"embedding_width": 512, "final_norm": False},
}


def architecture(m: Model) -> Architecture:
    """The net of a published shape, by its columns and what is known of its family.

    Raises:
        UsageError: where the listed columns do not say what the net consists of.
    """
    if not m.complete:
        raise UsageError(
            f"{m.name} is listed with its layers alone, without vocabulary: its "
            "weights cannot be counted; try another model"
        )
    s, stacks = m.sizes, m.kind == "encoder-decoder"
    fields: dict[str, Any] = {
        **{name: getattr(m, name) for name in ("layers", "width", "heads", "name", "tied")},
        **{name: s[name] for name in ("d_ff", "vocabulary", "kv_heads", "head_width", "context")},
        "kind": m.kind.removesuffix("-moe"),
        "family": m.type,
        "gated": s["matrices"] == 3,
        "encoder_layers": m.layers if stacks else 0,
    }
    if m.type in CLASSES:
        fields = CLASSES[m.type].usual(fields)
    if m.type in _POSITIONS:
        fields["learned_positions"] = s["context"] + _POSITIONS[m.type]
    if m.type in _WINDOWS:
        window, every = _WINDOWS[m.type]
        fields |= {"window": window, "window_layers": m.layers - m.layers // every}
    if s["experts"]:
        fields["experts"] = Experts(
            s["experts"],
            s["experts_active"],
            s["expert_width"] or s["d_ff"],
            s["shared_experts"],
            dense_layers=s["dense_layers"],
            router_bias=m.type == "gpt_oss",
        )
    if m.type in ("deepseek_v2", "deepseek_v3"):
        fields["latent"] = Latent(512, s["q_rank"] or None, 128, 64, 128)
    if m.type == "gopher":
        fields["extra"] = (("projections of relative positions", m.layers * m.width**2),)
    if m.type == "parameter_golf":
        fields["extra"] = (
            ("scales, mixes and gains", m.layers * (4 * m.width + m.heads)),
            ("weights of skip connections", m.layers // 2 * m.width),
        )
    special = _FAMILIES.get(m.type, {}) if m.type in CLASSES else _FAMILIES[m.type]
    return Architecture(**fields | special | _ROWS.get(m.name, {}))
