"""A stored certificate of a separation rank as a file that the kernel reads: `Exact.v`.

The weights and the prime are those of the certificate. Its graded pieces say that a rank is full;
the kernel is given values of the net instead: tokens, drawn here from small whole numbers until the
matrix of the outputs is invertible modulo the prime, and the inverse. How they were found does not
matter: the kernel computes the outputs anew (theory/formal/Certificate.v).
"""

from __future__ import annotations

import json
import random
import textwrap
from importlib.resources import files
from typing import Any

import flint

NAMES = ("query", "key", "value", "output")
# Tokens have entries up to this size. With smaller ones the rank of the smallest certificate falls
# short.
_REACH = 3
_HEAD = """(* Made by depthlaw.theory.formal.exact_rank of the certificate exact-2-2.json. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import mpoly.
From Depthlaw Require Import LinearAttention Degree Counts SeparationRank Certificate.

Set Implicit Arguments.
Import GRing.Theory.

Section Data.
Local Open Scope Z_scope.
"""
_THEOREM = """End Data.
Local Open Scope ring_scope.

(* For d = {d}, L = {L}, one head and {n} tokens, {h} on either side, the separation rank of the
   first coordinate of the first output is {m} exactly, which is S(d, L), for almost all weights:
   over every ring of characteristic 0 wherever a polynomial in the weights, which is not zero, does
   not vanish.
   The kernel computes the net at the certificate's weights. Informal: that more tokens change
   nothing. *)
Theorem exact_{d}_{L} (R : comRingType) : (forall k, (0 < k)%N -> k%:R != 0 :> R) ->
  exists2 G : {{mpoly R[#|weight_name {L} 1 {d} {d}|]}}, G != 0 &
    forall w : weight_name {L} 1 {d} {d} -> R, G.@[fun k => w (enum_val k)] != 0 ->
      sep_rank (output_sides false (net_of w) (0 : 'I_{n}) (0 : 'I_{d}) (side {n} {h})) {m}.
Proof.
move=> char0.
apply: (@certificate_computed_exact {L} 1 {d} {d} {n} {h} {m} weight_lists {p} 0 0 left_tokens
  right_tokens inverse _ R _ char0).
- vm_cast_no_check (erefl true).
- vm_cast_no_check (erefl (S_value (bin_of_nat {d}) (bin_of_nat {L}))).
Qed.
"""


def exact_file() -> str:
    """The source of `Exact.v`.

    Raises:
        ValueError: where the values do not reach the certificate's rank.
    """
    stored = files("depthlaw.theory.separation_rank") / "certificates" / "exact-2-2.json"
    data = json.loads(stored.read_text(encoding="utf-8"))
    d, L, p, m = (data[name] for name in ("width", "depth", "prime", "rank"))
    n, h = 2 * d + 2, d + 1
    rng = random.Random(0)
    left, right = (
        [[[rng.randint(-_REACH, _REACH) for _ in range(d)] for _ in range(h)] for _ in range(m)]
        for _ in range(2)
    )
    outputs = [_output(data, [*x, *z]) for x in left for z in right]
    values = flint.nmod_mat(m, m, outputs, p)
    if values.rank() < m:
        raise ValueError(f"values at {m} tokens on each side have rank {values.rank()} modulo {p}")
    found = values.inv()
    weights = [[[data["weights"][name][layer][0] for name in NAMES]] for layer in range(L)]
    lists = {
        "weight_lists : seq (seq (seq rows))": weights,
        "left_tokens : seq rows": left,
        "right_tokens : seq rows": [[[0] * d] * h + z for z in right],
        "inverse : rows": [[int(found[i, j]) for j in range(m)] for i in range(m)],
    }
    lines = [
        textwrap.fill(f"Definition {name} := {_listed(value)}.", 100, break_on_hyphens=False)
        for name, value in lists.items()
    ]
    return _HEAD + "\n".join(lines) + "\n" + _THEOREM.format(d=d, L=L, n=n, h=h, m=m, p=p)


def _listed(value: Any) -> str:
    if isinstance(value, list):
        return f"[:: {'; '.join(map(_listed, value))}]"
    return str(value)


def _output(data: dict[str, Any], tokens: list[list[int]]) -> int:
    """The first coordinate of the first output, modulo the prime, by the recursion over tokens."""
    p, y = data["prime"], flint.nmod_mat(tokens, data["prime"])
    for layer in range(data["depth"]):
        query, key, value, output = (
            flint.nmod_mat(data["weights"][name][layer][0], p) for name in NAMES
        )
        scores = y * query.transpose() * (y * key.transpose()).transpose()
        y = scores * (y * value.transpose()) * output.transpose()
    return int(y[0, 0])
