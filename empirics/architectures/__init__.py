"""Architectures in use, through `transformers`: parts removed, hidden states measured by layer."""
