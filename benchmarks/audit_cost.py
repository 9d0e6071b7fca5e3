"""What an audit costs beside keeping all hidden states: time and memory of the usual way, in the
same run, on a GPT-2 shape with fresh weights.

    python benchmarks/audit_cost.py --layers 12 --width 768 --documents 64 --tokens 256

Each way runs in a process of its own, so that its peak of memory is its own. CPU seconds are of all
threads, and depend less than seconds on what else runs. The usual way asks for
`output_hidden_states`, keeps the states of all documents, and computes the same three measures.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

STATES = [
    ("block_influence", "mean"),
    ("angular_distance", "last_token"),
    ("residual", "frobenius"),
]


def _now() -> np.ndarray:
    """Seconds, and CPU seconds of all threads."""
    return np.array([time.perf_counter(), time.process_time()])


def net(layers: int, width: int) -> Any:
    """A GPT-2 with heads of width 64 and a vocabulary of 50,257."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    return GPT2LMHeadModel(
        GPT2Config(n_layer=layers, n_embd=width, n_head=max(1, width // 64), use_cache=False)
    ).eval()


def sample(documents: int, tokens: int) -> Any:
    from depthlaw.empirics.audit.documents import random_documents

    return random_documents(50_257, "zipf", tokens, documents, 0)


def kept(layers: int, width: int, documents: int, tokens: int) -> np.ndarray:
    """Block influence, angles and residuals of all documents from states that are all kept."""
    import torch

    model, texts = net(layers, width), sample(documents, tokens)
    start = _now()
    states = []
    with torch.inference_mode():
        for ids in torch.as_tensor(texts.ids).split(8):
            states.append(
                torch.stack(model.transformer(ids, output_hidden_states=True).hidden_states)
            )
        all_states = torch.cat(states, 1)
        for before, after in itertools.pairwise(all_states):
            cosine = torch.cosine_similarity(before.double(), after.double(), dim=-1)
            (1 - cosine).mean(1)
            torch.arccos(cosine[:, -1].clamp(-1, 1)) / torch.pi
            x = after.double()
            (x - x.mean(1, keepdim=True)).norm(dim=(1, 2)) / x.norm(dim=(1, 2))
    return _now() - start


def audited(what: str, layers: int, width: int, documents: int, tokens: int) -> np.ndarray:
    from depthlaw.empirics.audit.layered import layered
    from depthlaw.empirics.audit.measures import measure_all

    model, texts = layered(net(layers, width)), sample(documents, tokens)
    asked = STATES if what == "states" else [("removal", "loss"), ("removal", "divergence")]
    start = _now()
    measure_all(model, texts, asked)
    return _now() - start


def whole(layers: int, width: int, documents: int, tokens: int) -> np.ndarray:
    """The loss of the whole model, once."""
    import torch

    model, texts = net(layers, width), sample(documents, tokens)
    start = _now()
    with torch.inference_mode():
        for ids in torch.as_tensor(texts.ids).split(2):
            model(ids, labels=ids)
    return _now() - start


def child(way: str, shape: list[int]) -> dict[str, float]:
    """Seconds and peak memory of one way, in a process of its own; "idle" loads the model alone."""
    done = subprocess.run(
        [sys.executable, __file__, "--way", way, *_typed(shape)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _typed(shape: list[int]) -> list[str]:
    names = ("--layers", "--width", "--documents", "--tokens")
    return [word for pair in zip(names, map(str, shape), strict=True) for word in pair]


def main() -> None:
    """Run every way and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--documents", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--way", choices=("idle", "kept", "whole", "states", "removal"))
    asked = parser.parse_args()
    shape = [asked.layers, asked.width, asked.documents, asked.tokens]
    if asked.way:
        took = np.zeros(2)
        if asked.way == "idle":
            _ = net(*shape[:2]), sample(*shape[2:])
        elif asked.way in ("kept", "whole"):
            took = {"kept": kept, "whole": whole}[asked.way](*shape)
        else:
            took = audited(asked.way, *shape)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sys.stdout.write(json.dumps({"seconds": took[0], "CPU": took[1], "MiB": peak}))
        return
    found = {way: child(way, shape) for way in ("idle", "kept", "states", "whole", "removal")}
    idle = found["idle"]["MiB"]
    sys.stdout.write(f"{'':34}{'seconds':>9}{'CPU seconds':>13}{'MiB beyond the model':>22}\n")
    for way, label in (
        ("kept", "states, all kept"),
        ("states", "states, by the audit"),
        ("whole", "loss of the whole, once"),
        ("removal", "loss and KL without each layer"),
    ):
        one = found[way]
        more = one["MiB"] - idle
        sys.stdout.write(f"{label:34}{one['seconds']:9.1f}{one['CPU']:13.1f}{more:22.0f}\n")
    passes = found["removal"]["CPU"] / found["whole"]["CPU"]
    sys.stdout.write(
        f"states: {found['states']['CPU'] / found['kept']['CPU']:.2f} times the CPU seconds; "
        f"removal: {passes:.1f} times one loss, for {asked.layers} layers\n"
    )


if __name__ == "__main__":
    main()
