"""The laws of depth as plain functions of the standard library, each one once; claims state them symbolically."""
from __future__ import annotations

# The largest number of hops that the claims hops/depth_* execute; beyond it speaks their argument.
LARGEST_EXECUTED = 64


def layers_for_hops(hops: int) -> int:
    """ceil(log2 k) + 2: layers that suffice for hop_k with one causal head of fixed width; hop_0 needs none.

    >>> [layers_for_hops(hops) for hops in (0, 1, 2, 3, 4, 5, 16)]
    [0, 2, 3, 4, 4, 5, 6]
    """
    if hops < 0:
        raise ValueError(f"hops={hops}: accepted are whole numbers from 0 on")
    return (hops - 1).bit_length() + 2 if hops else 0


def layers_for_hops_printed(hops: int) -> int:
    """floor(log2 k) + 2, as printed; enough with a strict mask, or with about log2 N heads in the first layer.

    >>> [layers_for_hops_printed(hops) for hops in (0, 1, 2, 3, 4, 5, 16)]
    [0, 2, 3, 3, 4, 4, 6]
    """
    if hops < 0:
        raise ValueError(f"hops={hops}: accepted are whole numbers from 0 on")
    return hops.bit_length() + 1 if hops else 0
