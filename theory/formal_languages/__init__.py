"""Depth hierarchies on formal languages: masked hard attention, and counting attention (C-RASP).

Rightmost unique hard attention under a strict future mask computes the past operator `since` of
linear temporal logic, soft attention with rounding computes counts, both layer for depth. They run
on all short words; what a depth cannot do is shown by two words that it cannot tell apart.
"""
