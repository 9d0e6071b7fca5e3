"""Exact nets as values: how they are run and read, and the classes they belong to."""
