"""Least depth of tasks: explicit weights that do them in so many layers, and why fewer do not.

Constructions are executed exactly on all short inputs; that a depth does not suffice is shown by
counting, by an identity, by two inputs that it cannot tell apart, or by an exhaustive search.
"""
