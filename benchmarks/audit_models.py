"""Train the models that docs/audit-results.md audits: Llama shapes of 2 to 16 layers and a looped
one of two layers run four times, on Python's standard library and on lines of the ladder. Most of a
line is random, so its answer weighs more than the rest of it.

    python benchmarks/audit_models.py OUT --layers 2,4,8,16 --loops 2x4

Each model is saved as `save_pretrained` does, with its tokenizer and `held-out.txt`, text that it
was not trained on. Two cores need about an hour for all; a model that lies there is left alone.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np
import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from depthlaw.empirics.audit.rungs import LETTERS, ladder, solved
from depthlaw.empirics.exercises.corpus import standard_library

WIDTH, HEADS, WINDOW, BATCH = 96, 4, 96, 16
RATE, WARM = 4e-3, 0.05
# One seed of training lines for all models, apart from the questions of any seed.
LINES_EACH = 6_000
# Weights in the loss of an answer of the ladder and of the rest of its line; code has 1.
ANSWER, REST = 4.0, 0.5
SYMBOLS = [*"()[]|=0123yn", *LETTERS]


def texts() -> tuple[str, list[str], str]:
    """Code to train on, blocks of solved lines of one rung each, and code that is held out."""
    corpus = standard_library()
    if corpus is None:
        raise SystemExit("this Python has no standard library as files")
    blocks = []
    for rung in ladder():
        lines = solved(rung)
        blocks.append("".join(next(lines) for _ in range(LINES_EACH)))
    return "\n\n".join(corpus.training), blocks, "\n\n".join(corpus.validation)


def tokenizer(code: str, blocks: list[str]) -> PreTrainedTokenizerFast:
    """Byte pairs, 768 in all, in which every symbol of the ladder is one token."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    raw.train_from_iterator(
        [code[:400_000], *(block[:20_000] for block in blocks)],
        trainers.BpeTrainer(vocab_size=740, initial_alphabet=alphabet, show_progress=False),
    )
    single = [f" {symbol}" for symbol in SYMBOLS if len(raw.encode(f" {symbol}").ids) > 1]
    raw.add_tokens([AddedToken(symbol, normalized=False) for symbol in single])
    return PreTrainedTokenizerFast(tokenizer_object=raw)


def model_of(layers: int, loops: int, vocabulary: int) -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=WIDTH,
        intermediate_size=WIDTH * 8 // 3,
        num_attention_heads=HEADS,
        num_hidden_layers=layers * loops,
        max_position_embeddings=256,
        vocab_size=vocabulary,
        tie_word_embeddings=True,
        use_cache=False,
        bos_token_id=None,
        eos_token_id=None,
    )
    net = LlamaForCausalLM(config)
    blocks = net.model.layers
    for place in range(layers, layers * loops):
        blocks[place] = blocks[place % layers]
    return net


def shares() -> np.ndarray:
    """Of each rung among the lines: ladders alike, and of a ladder the k-th rung 1/k as often."""
    names = [rung.ladder for rung in ladder()]
    one = np.array([1 / (1 + names[:place].count(name)) for place, name in enumerate(names)])
    total = {name: sum(one[[n == name for n in names]]) for name in names}
    return one / np.array([total[name] for name in names]) / len(total)


def train(
    net: LlamaForCausalLM, code: np.ndarray, lines: list[np.ndarray], equals: int, steps: int
) -> float:
    """AdamW on windows of code and of lines; `equals` is the id before an answer."""
    rng, often = np.random.default_rng(0), shares()
    matrices = [p for p in net.parameters() if p.ndim > 1]
    vectors = [p for p in net.parameters() if p.ndim <= 1]
    optimiser = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
        lr=RATE,
        betas=(0.9, 0.95),
    )
    net.train()
    mean = math.nan
    for step in range(steps):
        done, warm = step / steps, min(1.0, (step + 1) / (WARM * steps))
        for group in optimiser.param_groups:
            group["lr"] = RATE * warm * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done)))
        windows = []
        for row in range(BATCH):
            text = code if row < BATCH // 4 else lines[int(rng.choice(len(lines), p=often))]
            start = int(rng.integers(len(text) - WINDOW))
            windows.append(text[start : start + WINDOW])
        ids = torch.from_numpy(np.stack(windows))
        weights = torch.where(ids[:, :-1] == equals, ANSWER, REST)
        weights[: BATCH // 4] = 1.0
        logits = net(ids).logits[:, :-1]
        by_token = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none"
        )
        loss = (by_token * weights.flatten()).sum() / weights.sum()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        value = float(loss.detach())
        mean = value if math.isnan(mean) else 0.99 * mean + 0.01 * value
        if step % 100 == 0 or step == steps - 1:
            sys.stderr.write(f"  step {step} of {steps}: loss {mean:.3f}\n")
    return mean


def save(net: LlamaForCausalLM, words: PreTrainedTokenizerFast, held: str, folder: Path) -> None:
    """As `save_pretrained`; a block that is run several times is stored as often."""
    state = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    state.pop("lm_head.weight")
    plain = LlamaForCausalLM(net.config)
    plain.load_state_dict(state, strict=False)
    plain.tie_weights()
    plain.save_pretrained(folder)
    words.save_pretrained(folder)
    (folder / "held-out.txt").write_text(held[:400_000], encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--layers", default="2,4,8,16")
    parser.add_argument("--loops", default="2x4")
    parser.add_argument("--steps", type=int, default=3_000)
    asked = parser.parse_args()
    code, blocks, held = texts()
    words = tokenizer(code, blocks)

    def encoded(text: str) -> np.ndarray:
        return np.array(words(text, verbose=False)["input_ids"], dtype=np.int64)

    ids, lines = encoded(code), [encoded(block) for block in blocks]
    (equals,) = words(" =")["input_ids"]
    shapes = [(int(depth), 1) for depth in asked.layers.split(",") if depth]
    shapes += [tuple(map(int, loop.split("x"))) for loop in asked.loops.split(",") if loop]
    for layers, loops in shapes:
        folder = asked.out / (
            f"{layers}-layers" if loops == 1 else f"{layers}-layers-{loops}-times"
        )
        if (folder / "config.json").is_file():
            continue
        sys.stderr.write(f"{folder.name}: {ids.size:,} tokens of code\n")
        net = model_of(layers, loops, len(words))
        train(net, ids, lines, equals, asked.steps)
        save(net, words, held, folder)


if __name__ == "__main__":
    main()
