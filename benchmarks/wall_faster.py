"""What makes the training of two layers on cycles faster, tried on one seed: the reach in a row
after as many updates, or as many examples, with a larger batch, another rate or another warm-up,
beside the plain training in the same run.

    python benchmarks/wall_faster.py [softmax|linearised] [updates]

A trial, which no claim rests on; its seed is none of theirs. With softmax and 4,000 updates it
printed a reach of 5.66 (31 s of CPU); at twice the rate 6.70, at half of it 5.57, with a warm-up of
a half 5.43, with beta_2 = 0.95 5.66; with four times the batch 7.52 (99 s), at twice the rate, too,
7.04, and with a quarter of the updates 5.59 (27 s). Not tried: a curriculum of distances, smaller
cycles, a start from the cubing weights with noise.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import torch

from depthlaw.empirics.trained_depth import wall_nets
from depthlaw.empirics.training.trainer import train
from depthlaw.theory.claims.definition import Case

SEED = 2


def main(net: str, updates: int) -> None:
    """Print one line for each training."""
    case = Case(net=net, cycles=2, around=20, depth=2, updates=updates)
    shape, task, plain = wall_nets.training(case, SEED)
    rate = plain.learning_rates[0]
    tried = {
        "plain": {},
        "rate x 2": {"learning_rates": (2 * rate,)},
        "rate / 2": {"learning_rates": (rate / 2,)},
        "warm-up of a half": {"warmup": updates // 2},
        "batch x 4": {"batch": 4 * plain.batch},
        "batch x 4, rate x 2": {"batch": 4 * plain.batch, "learning_rates": (2 * rate,)},
        "batch x 4, a quarter of the updates": {
            "batch": 4 * plain.batch,
            "steps": updates // 4,
            "warmup": updates // 40,
        },
        "beta_2 = 0.95": {"betas": (0.9, 0.95)},
    }
    for name, changes in tried.items():
        before = time.process_time()
        made = train(shape, task, replace(plain, **changes)).net
        made.eval()
        with torch.no_grad():
            found = wall_nets.asked(lambda rows, made=made: made(rows[None])[0], SEED)
        rows = [by for question, by in found.items() if question.startswith("row")]
        shares = [
            sum(by[d].right for by in rows) / sum(by[d].asked for by in rows)
            for d in wall_nets.DISTANCES
        ]
        seen = sum(2 * share - 1 for share in shares)
        spent = time.process_time() - before
        sys.stdout.write(f"{net}, {name}: reach {seen:.2f}, {spent:.0f} s of CPU\n")
        sys.stdout.flush()


if __name__ == "__main__":
    torch.set_num_threads(1)
    given = sys.argv[1:]
    main(given[0] if given else "softmax", int(given[1]) if len(given) > 1 else 15_000)
