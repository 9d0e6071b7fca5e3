"""Depth against width at a fixed budget: loss surfaces, their fits, and trained ones."""
