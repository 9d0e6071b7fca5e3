"""Rank collapse: what attention alone does to the distance between tokens.

A layer of pure softmax attention cubes the residual, so the tokens become equal doubly
exponentially with depth; skips, masks, other kernels and layer normalisation change that.
"""
